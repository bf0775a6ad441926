"""Servers with one defect each in play: sections 7 to 13 of the clauses."""

from __future__ import annotations

import re

from .mutants import MUTANTS, Connection, Mutant, from_client, from_server, verb

# -- 7 Games


@from_client("7.1/1")
def starts_at_once(line: bytes, connection: Connection) -> bytes:
    """Sends START to a bot as soon as it is ready."""
    if verb(line) == b"READY":
        connection.answer(b"START " + line.split(b" ")[1])
    return line


@from_server("7.1/2")
def no_ready_limit(line: bytes, _: Connection) -> bytes:
    """Takes a bot that was never ready for one whose flag fell."""
    return line.replace(b"reason=never-ready", b"reason=timeout")


@from_client("7.2/1")
def patient_with_moves(line: bytes, connection: Connection) -> list[bytes]:
    """Allows any number of moves out of turn."""
    if verb(line) == b"MOVE" and connection.in_game and not connection.on_move:
        connection.answer(b"ERROR not-your-turn MOVE answers a TURN, and none is open")
        return []
    return [line]


@from_client("7.2/2")
def no_patience(line: bytes, connection: Connection) -> bytes:
    """Makes a bot a zombie at its first move out of turn."""
    if verb(line) == b"MOVE" and connection.in_game and not connection.on_move:
        connection.answer(b"ZOMBIE ply=1 reason=out-of-turn")
    return line


@from_client("7.3/1")
def no_flood(line: bytes, connection: Connection) -> list[bytes]:
    """Takes any number of unasked lines."""
    return [] if verb(line) == b"READY" and connection.count("ready") > 1 else [line]


@from_server("7.4/1")
def wrong_commit(line: bytes, _: Connection) -> bytes:
    """Commits to something else than it plays."""
    return re.sub(rb" commit=..", b" commit=00", line) if b" commit=00" not in line else line[:-1]


@from_server("7.4/1", verdict="non-strict")
def no_nonce(line: bytes, _: Connection) -> bytes:
    """Does not open its commit."""
    return re.sub(rb" nonce=\S+", b"", line)


@from_server("7.4/2")
def other_sequence(line: bytes, _: Connection) -> bytes:
    """Tells another sequence than it has shown."""
    return re.sub(rb" sequence=(\d)", lambda found: b" sequence=%d" % (int(found[1]) % 6 + 1), line)


@from_server("7.5/1")
def two_ledgers(line: bytes, _: Connection) -> bytes:
    """Shows a clock in TURN that is not the one of PLAYED."""
    return re.sub(rb"^TURN (\d+) clock=(\d+)", rb"TURN \1 clock=1\2", line)


@from_server("7.5/2")
def flag_is_illegal(line: bytes, _: Connection) -> bytes:
    """Calls a fallen flag an illegal move."""
    return line.replace(b"reason=timeout", b"reason=illegal")


@from_server("7.6/1")
def charges_zombies(line: bytes, _: Connection) -> bytes:
    """Charges time for the moves of a zombie."""
    return re.sub(rb" move=6 time=0 ", b" move=6 time=9 ", line)


@from_client("7.6/2")
def throws_zombies_out(line: bytes, connection: Connection) -> list[bytes]:
    """Closes the connection of a zombie that moves."""
    if verb(line) == b"MOVE" and "illegal" in connection.seen:
        connection.close()
        return []
    if line == b"MOVE 99":
        connection.count("illegal")
    return [line]


# -- 8 Lost connections


@from_server("8.1/1")
def no_second_turn(line: bytes, connection: Connection) -> list[bytes]:
    """Does not send TURN again."""
    return [] if verb(line) == b"TURN" and connection.sent_again else [line]


@from_server("8.1/2")
def a_cut_is_a_fault(line: bytes, connection: Connection) -> list[bytes]:
    """Makes a bot a zombie that comes back to a game."""
    fault = verb(line) == b"START" and connection.sent_again
    return [line, b"ZOMBIE ply=1 reason=disconnect"] if fault else [line]


@from_server("8.2/1")
def forgets_a_ply(line: bytes, connection: Connection) -> list[bytes]:
    """Leaves the first ply out when it sends a game again."""
    return [] if line.startswith(b"PLAYED 1 ") and connection.sent_again else [line]


@from_server("8.2/2")
def forgets_zombies(line: bytes, connection: Connection) -> list[bytes]:
    """Does not send ZOMBIE again."""
    return [] if verb(line) == b"ZOMBIE" and connection.sent_again else [line]


@from_server("4.2/2", "8.3/1", "8.6/1", "8.6/2")
def any_key(line: bytes, connection: Connection) -> bytes:
    """Takes any key."""
    if line.startswith(b"ERROR token") and connection.resumed:
        return b"WELCOME x session=s resume=0"
    return line


@from_server("8.3/2")
def one_key(line: bytes, connection: Connection) -> bytes:
    """Gives keys that do not work to a bot that comes back."""
    return re.sub(rb" resume=\S+", b" resume=bad", line) if connection.resumed else line


@from_server("8.4/1")
def kicks(line: bytes, _: Connection) -> bytes:
    """Calls a connection that was replaced one that was sent away."""
    return line.replace(b"reason=replaced", b"reason=kicked")


@from_server("6.6/2", "8.5/1")
def no_second_offer(line: bytes, connection: Connection) -> list[bytes]:
    """Offers no game to a bot that comes back."""
    return (
        []
        if verb(line) in (b"GAME", b"STATE", b"NEXT") and connection.resumed and _late(connection)
        else [line]
    )


def _late(connection: Connection) -> bool:
    """Whether the bot of this connection has said READY on another one."""
    name = connection.hello.split(b" ")[2]
    return any(
        b"READY" in other.sent and other.hello.split(b" ")[2:3] == [name]
        for other in connection.relay.connections
        if other is not connection
    )


# -- 9 Watching


@from_server("9.1/1", "9.2/2")
def seats_spectators(line: bytes, _: Connection) -> bytes:
    """Sends spectators the GAME of seat 1."""
    return line.replace(b" seat=0 ", b" seat=1 ")


@from_server("9.1/1")
def nameless_lines(line: bytes, _: Connection) -> bytes:
    """Leaves out which game a spectator's line is about."""
    return re.sub(rb" game=\S+$", b"", line)


@from_client("9.1/2")
def spectators_play(line: bytes, connection: Connection) -> list[bytes]:
    """Plays a spectator's MOVE."""
    if verb(line) == b"MOVE" and b"role=spectator" in connection.hello:
        for other in connection.relay.connections:
            other.answer(b"PLAYED 1 seat=1 move=1 time=1 clock=999,1000 points=0 total=0,0")
        return []
    return [line]


@from_server("9.2/1")
def silent_watch(line: bytes, _: Connection) -> list[bytes]:
    """Does not answer a WATCH of an unknown game."""
    return [] if line.startswith(b"ERROR no-such-game") else [line]


# -- 10 TLS

MUTANTS["no_tls"] = Mutant(("10.1/1", "10.1/2"), "Encrypts nothing.")


# -- 11 Errors


@from_server("11.1/1", "11.1/2")
def one_code(line: bytes, _: Connection) -> bytes:
    """Has one code for all causes."""
    return line.replace(b"ERROR unknown-verb", b"ERROR syntax")


@from_server("11.2/1", verdict="non-strict")
def no_rate(line: bytes, _: Connection) -> bytes:
    """Looks at any number of wrong tokens."""
    return re.sub(rb"^ERROR rate .*", b"ERROR token this name or token is wrong", line)


@from_server("11.2/1")
def no_retry_after(line: bytes, _: Connection) -> bytes:
    """Does not say how long to wait."""
    return re.sub(rb" retry_after=\d+", b"", line)


# -- 12 Notes, 13 The log of a bot


@from_client("12.1/2")
def shows_notes(line: bytes, connection: Connection) -> list[bytes]:
    """Sends notes to all seats."""
    if verb(line) == b"INFO":
        for other in connection.relay.connections:
            if b"role=" not in other.hello:
                other.answer(line)
    return [line]


@from_server("12.1/1")
def whose_note(line: bytes, _: Connection) -> bytes:
    """Does not say whose note it is."""
    return re.sub(rb" seat=\d", b"", line) if verb(line) == b"INFO" else line


@from_client("12.2/1")
def notes_are_a_flood(line: bytes, connection: Connection) -> list[bytes]:
    """Calls the 33rd note a flood."""
    if verb(line) == b"INFO" and connection.count("notes") == 33:
        connection.answer(b"ERROR flood too many notes")
    return [line]


@from_client("12.2/2")
def a_bad_note_is_a_fault(line: bytes, connection: Connection) -> list[bytes]:
    """Takes a note that cannot be parsed for a fault."""
    return [b"MOVE  1"] if line.endswith(b" ply=soon") else [line]


@from_client("13.1/2")
def anyone_reads_logs(line: bytes, connection: Connection) -> list[bytes]:
    """Sends a log to a wrong token."""
    if b" role=log" in line and b"token=guess" in line:
        connection.answer(b"WELCOME x session=s resume=r", b"BYE reason=log")
        return []
    return [line]


@from_server("13.1/1")
def log_without_bye(line: bytes, _: Connection) -> bytes:
    """Ends a log like a contest."""
    return line.replace(b"BYE reason=log", b"BYE reason=finished")
