"""Servers with one defect each in server messages, states and log-in: sections 4 to 6 of the clauses."""

from __future__ import annotations

import re

from .mutants import Connection, from_client, from_server, verb

# -- 4 Server messages


@from_server("4.1/1", "6.3/2")
def version_two(line: bytes, _: Connection) -> bytes:
    """Says that it speaks version 2."""
    return line.replace(b"ARENA 1 ", b"ARENA 2 ")


@from_server("4.2/1")
def short_keys(line: bytes, _: Connection) -> bytes:
    """Gives keys of 8 signs."""
    return re.sub(rb" resume=(\S{8})\S+", rb" resume=\1", line)


@from_server("4.3/1")
def own_name_first(line: bytes, _: Connection) -> bytes:
    """Lists the names from the reader's own on."""
    return re.sub(rb" seat=2 (.*)names=([^ ,]+),(\S+)", rb" seat=2 \1names=\3,\2", line)


@from_server("4.4/1")
def floating_picture(line: bytes, _: Connection) -> bytes:
    """Sends a board on which a picture floats."""
    return re.sub(rb"^STATE (\S+).$", rb"STATE \1.", line)


@from_server("4.4/1")
def short_sight(line: bytes, _: Connection) -> bytes:
    """Shows one picture less than lookahead= says."""
    return line[:-1] if verb(line) == b"NEXT" else line


@from_server("4.5/1")
def turn_for_all(line: bytes, _: Connection) -> list[bytes]:
    """Sends TURN to every seat after each ply."""
    return [line, b"TURN 1 clock=1,1 lag=0 credit=0"] if verb(line) == b"PLAYED" else [line]


@from_server("4.5/2")
def turn_after_resume(line: bytes, connection: Connection) -> list[bytes]:
    """Sends TURN to every bot that comes back."""
    due = verb(line) == b"START" and connection.sent_again
    return [line, b"TURN 1 clock=1,1 lag=0 credit=0"] if due else [line]


@from_server("4.6/1")
def wrong_total(line: bytes, _: Connection) -> bytes:
    """Adds 10 to every total."""
    if verb(line) != b"PLAYED":
        return line
    return re.sub(rb" total=(\d+)", lambda found: b" total=%d" % (int(found[1]) + 10), line)


@from_server("4.6/2")
def no_reveal(line: bytes, _: Connection) -> bytes:
    """Shows no picture after NEXT."""
    return re.sub(rb" reveal=\d", b"", line)


@from_server("4.6/2")
def reveals_two(line: bytes, _: Connection) -> bytes:
    """Shows two pictures a ply."""
    return re.sub(rb" reveal=(\d)", rb" reveal=\g<1>1", line)


@from_server("4.7/1")
def tells_of_zombies(line: bytes, connection: Connection) -> bytes:
    """Sends ZOMBIE to every seat, as if it were its own."""
    if verb(line) == b"ZOMBIE":
        for other in connection.relay.connections:
            if other is not connection:
                other.answer(line)
    return line


@from_server("4.8/1")
def wrong_result(line: bytes, _: Connection) -> bytes:
    """Tells another result than that of the last PLAYED."""
    return re.sub(rb"^(OVER \S+ total=)", rb"\g<1>1", line)


@from_server("4.8/1")
def wrong_end(line: bytes, _: Connection) -> bytes:
    """Ends every game by a draw."""
    return line.replace(b" end=complete", b" end=draw")


@from_server("4.9/1")
def last_word(line: bytes, _: Connection) -> list[bytes]:
    """Sends a line behind BYE."""
    return [line, b"PONG after"] if verb(line) == b"BYE" else [line]


@from_server("4.10/1", "4.10/2", "7.2/2")
def closes_at_errors(line: bytes, connection: Connection) -> list[bytes]:
    """Closes the connection after every ERROR."""
    if verb(line) == b"ERROR":
        connection.answer(line)
        connection.close()
        return []
    return [line]


# -- 5 States


@from_server("5.1/1")
def starts_twice(line: bytes, _: Connection) -> list[bytes]:
    """Sends START twice."""
    return [line, line] if verb(line) == b"START" else [line]


@from_client("5.2/1")
def hello_begins_again(line: bytes, connection: Connection) -> list[bytes]:
    """Closes the connection at a second HELLO."""
    if verb(line) == b"HELLO" and connection.count("hello") > 1:
        connection.close()
        return []
    return [line]


@from_client("5.1/2", "5.2/2")
def ready_once(line: bytes, connection: Connection) -> list[bytes]:
    """Refuses a second READY."""
    if verb(line) == b"READY" and connection.count("ready") > 1:
        connection.answer(b"ERROR unexpected READY was said before")
        return []
    return [line]


# -- 6 Log-in


@from_server("6.1/1")
def waits_for_ever(line: bytes, connection: Connection) -> list[bytes]:
    """Knows no limit for HELLO."""
    if line.startswith(b"ERROR login"):
        connection.client.recv(1)  # until the client has gone
        return []
    return [line]


@from_server("6.1/2")
def empties_the_lobby(line: bytes, _: Connection) -> list[bytes]:
    """Sends every bot away that waits."""
    return [line, b"BYE reason=kicked"] if verb(line) == b"WELCOME" else [line]


@from_server("6.2/1")
def tells_names(line: bytes, connection: Connection) -> bytes:
    """Tells an unknown name from a wrong token."""
    if line.startswith(b"ERROR token") and b"no-such-bot" in connection.hello:
        return b"ERROR token there is no such bot"
    return line


@from_client("6.2/2")
def never_forgives(line: bytes, connection: Connection) -> bytes:
    """Refuses every bot after one wrong token."""
    if b"certainly-wrong" in line:
        connection.relay.connections[0].count("wrong")
    if "wrong" in connection.relay.connections[0].seen:
        return re.sub(rb" (token|resume)=\S+", b" token=bad", line)
    return line


@from_server("6.3/1")
def version_is_syntax(line: bytes, _: Connection) -> bytes:
    """Answers another version by ERROR syntax."""
    return line.replace(b"ERROR version", b"ERROR syntax")


@from_server("6.4/1")
def many_of_a_name(line: bytes, connection: Connection) -> bytes:
    """Lets a name in that is connected."""
    name = connection.hello.split(b" ")[2] if connection.hello.count(b" ") > 1 else b"x"
    return b"WELCOME " + name + b" session=s resume=0" if line.startswith(b"ERROR name-taken") else line


@from_client("6.4/2")
def names_stay_taken(line: bytes, connection: Connection) -> list[bytes]:
    """Keeps a name taken when its connection has ended."""
    known = [other.hello for other in connection.relay.connections if other is not connection]
    if verb(line) == b"HELLO" and any(hello.split(b" ")[:3] == line.split(b" ")[:3] for hello in known):
        connection.answer(b"ERROR name-taken this name is connected already")
        connection.close()
        return []
    return [line]


@from_client("6.5/1")
def any_game(line: bytes, _: Connection) -> bytes:
    """Does not look at games=."""
    return re.sub(rb" games=\S+", b"", line)


@from_client("6.7/1")
def any_slot(line: bytes, _: Connection) -> bytes:
    """Does not look at slot=."""
    return re.sub(rb" slot=\S+", b"", line)


@from_client("6.7/2")
def no_first_slot(line: bytes, connection: Connection) -> list[bytes]:
    """Counts slots from 2."""
    if b" slot=1 " in line + b" ":
        connection.answer(b"ERROR slot there is no slot 1")
        connection.close()
        return []
    return [line]


@from_server("6.6/1")
def one_game(line: bytes, _: Connection) -> list[bytes]:
    """Sends the bots away after one game."""
    return [line, b"BYE reason=finished"] if verb(line) == b"OVER" else [line]
