"""Servers with exactly one defect each: a real one behind a relay that rewrites lines.

A defect is one function for the lines of the client or of the server: it gets a line, without its end, and
the connection, and returns the lines that are passed on in its place.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

LIMIT_S = 30.0


@dataclass
class Connection:
    """One connection through the relay, with what a defect may want to know of it."""

    relay: MutantServer
    client: socket.socket
    server: socket.socket
    #: Free for the defect: how often something has happened, or whether.
    seen: dict[str, int] = field(default_factory=dict)
    hello: bytes = b""
    #: The verbs that the client has sent.
    sent: set[bytes] = field(default_factory=set)
    on_move: bool = False
    in_game: bool = False

    @property
    def resumed(self) -> bool:
        return b" resume=" in self.hello

    @property
    def sent_again(self) -> bool:
        """Whether what the server sends of a game is sent again: the client has not played here yet."""
        return not self.sent & {b"READY", b"MOVE"}

    def count(self, what: str) -> int:
        """How often this was called, this time included."""
        self.seen[what] = self.seen.get(what, 0) + 1
        return self.seen[what]

    def answer(self, *lines: bytes) -> None:
        """Send lines to the client in the server's place."""
        with suppress(OSError):
            self.client.sendall(b"".join(line + b"\n" for line in lines))

    def close(self) -> None:
        for sock in (self.client, self.server):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


Rewrite = Callable[[bytes, Connection], "bytes | list[bytes]"]


def unchanged(line: bytes, connection: Connection) -> bytes:
    return line


@dataclass(frozen=True)
class Mutant:
    """One defect: the cases that name it, and the verdict that they are to give."""

    cases: tuple[str, ...]
    what: str
    from_client: Rewrite = unchanged
    from_server: Rewrite = unchanged
    #: Instead of `from_client`: how a chunk of the client's bytes is passed on, and what at its end.
    chunk: Callable[[bytes], bytes] | None = None
    at_end: Callable[[bytes], bytes] = field(default=lambda pending: b"")
    verdict: str = "failed"


class MutantServer:
    """Listens on loopback and passes lines on to a server, through the functions of a mutant."""

    def __init__(self, target: int, mutant: Mutant) -> None:
        self.mutant = mutant
        self.connections: list[Connection] = []
        self._target = target
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._begin(self._serve)

    def __enter__(self) -> MutantServer:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for connection in self.connections:
            connection.close()
        for thread in self._threads:
            thread.join(LIMIT_S)
        self._listener.close()

    def _begin(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client = self._listener.accept()[0]
                self._begin(self._relay, client)

    def _relay(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self._target)) as server:
            for sock in (client, server):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(self, client, server)
            self.connections.append(connection)
            back = threading.Thread(target=self._from_client, args=(connection,), daemon=True)
            back.start()
            self._from_server(connection)
            back.join(LIMIT_S)

    def _from_server(self, connection: Connection) -> None:
        with suppress(OSError), connection.server.makefile("rb") as lines:
            for line in lines:
                verb = line.split(b" ")[0]
                connection.in_game = verb == b"START" or (connection.in_game and verb != b"OVER")
                connection.on_move = verb == b"TURN" or (connection.on_move and verb != b"PLAYED")
                connection.client.sendall(_ended(self.mutant.from_server(line[:-1], connection)))
        with suppress(OSError):
            connection.client.shutdown(socket.SHUT_RDWR)

    def _from_client(self, connection: Connection) -> None:
        pending = b""
        with suppress(OSError):
            while data := connection.client.recv(65536):
                if self.mutant.chunk is not None:
                    connection.server.sendall(self.mutant.chunk(data))
                    continue
                *lines, pending = (pending + data).split(b"\n")
                for line in lines:
                    connection.hello = connection.hello or line
                    connection.sent.add(line.split(b" ")[0])
                    connection.server.sendall(_ended(self.mutant.from_client(line, connection)))
            if pending:
                connection.server.sendall(self.mutant.at_end(pending) or pending)
        with suppress(OSError):
            connection.server.shutdown(socket.SHUT_RDWR)


def _ended(lines: bytes | list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in ([lines] if isinstance(lines, bytes) else lines))


MUTANTS: dict[str, Mutant] = {}


def from_client(*cases: str, verdict: str = "failed") -> Callable[[Rewrite], Rewrite]:
    """Enter a defect in what the server takes; its docstring says what is wrong."""

    def enter(rewrite: Rewrite) -> Rewrite:
        MUTANTS[rewrite.__name__] = Mutant(cases, rewrite.__doc__ or "", from_client=rewrite, verdict=verdict)
        return rewrite

    return enter


def from_server(*cases: str, verdict: str = "failed") -> Callable[[Rewrite], Rewrite]:
    """Enter a defect in what the server sends; its docstring says what is wrong."""

    def enter(rewrite: Rewrite) -> Rewrite:
        MUTANTS[rewrite.__name__] = Mutant(cases, rewrite.__doc__ or "", from_server=rewrite, verdict=verdict)
        return rewrite

    return enter


def on(verb: bytes, change: Callable[[bytes], bytes]) -> Rewrite:
    """Change the lines of one verb."""
    return lambda line, _: change(line) if line.split(b" ")[0] == verb else line


def verb(line: bytes) -> bytes:
    return line.split(b" ")[0]


# -- 1 Lines

MUTANTS["one_line_a_read"] = Mutant(
    ("1.1/1",), "Takes each read for one line.", chunk=lambda data: data.split(b"\n")[0] + b"\n"
)
MUTANTS["partial_lines"] = Mutant(
    ("1.1/2",), "Takes a part of a line for a line.", chunk=lambda data: data.removesuffix(b"\n") + b"\n"
)
MUTANTS["acts_at_the_end"] = Mutant(
    ("1.1/3",), "Acts on a line that was cut off.", at_end=lambda pending: pending + b"\n"
)


@from_client("1.2/1")
def no_cr(line: bytes, _: Connection) -> bytes:
    """Refuses a line that ends in CR LF."""
    return b"X" if line.endswith(b"\r") else line


@from_client("1.3/1")
def any_bytes(line: bytes, _: Connection) -> bytes:
    """Takes bytes that are not printable ASCII for letters."""
    return re.sub(rb"[^ -~\r]", b"x", line)


@from_client("1.4/1", "1.4/2", "7.7/1")
def any_spaces(line: bytes, _: Connection) -> bytes:
    """Splits a line at any number of spaces."""
    return b" ".join(line.split(b" ")) if b" " not in line else b" ".join(line.split())


@from_client("1.5/1")
def token_first(line: bytes, _: Connection) -> bytes:
    """Finds token= and resume= by their place."""
    return b"HELLO" if verb(line) == b"HELLO" and b" agent=" in line else line


@from_client("1.5/2")
def any_case(line: bytes, _: Connection) -> bytes:
    """Takes verbs in small letters."""
    return verb(line).upper() + line[len(verb(line)) :]


@from_client("1.6/1")
def counts_the_end(line: bytes, _: Connection) -> bytes:
    """Counts the line end into the limit of 1,024 bytes."""
    return line + b"x" if len(line) == 1024 else line


@from_client("1.6/2", "1.6/3")
def cuts_lines(line: bytes, _: Connection) -> bytes:
    """Takes the first 1,024 bytes of a line that is too long."""
    return line[:1024]


@from_client("1.6/3")
def closes_at_long_lines(line: bytes, connection: Connection) -> list[bytes]:
    """Closes the connection at a line that is much too long."""
    if len(line) > 10_000:
        connection.close()
        return []
    return [line]


@from_client("1.7/1")
def blank_is_a_line(line: bytes, _: Connection) -> bytes:
    """Refuses a blank line."""
    return line or b"X"


@from_client("1.8/1", "7.7/2")
def known_options_only(line: bytes, _: Connection) -> bytes:
    """Refuses options that it does not know."""
    return verb(line) if b" x-new=" in line else line


@from_client("1.8/2")
def last_key_wins(line: bytes, _: Connection) -> bytes:
    """Takes the same key twice."""
    return line.replace(b" agent=a agent=b", b" agent=b")


@from_client("1.10/1")
def default_name(line: bytes, _: Connection) -> bytes:
    """Makes up a name where there is none."""
    return b"HELLO 1 onlooker" if line == b"HELLO 1" else line


@from_client("1.10/2")
def empty_is_none(line: bytes, _: Connection) -> bytes:
    """Takes an empty value for none."""
    return line.removesuffix(b" token=")


@from_client("1.10/3")
def empty_ping(line: bytes, _: Connection) -> bytes:
    """Answers a PING without a token."""
    return b"PING x" if line == b"PING" else line


# -- 2 Kinds of values


@from_client("2.1/1")
def lenient_numbers(line: bytes, _: Connection) -> bytes:
    """Reads 01 and +1 as 1."""
    return re.sub(rb"^HELLO (01|\+1) ", b"HELLO 1 ", line)


@from_server("2.1/2")
def padded_numbers(line: bytes, _: Connection) -> bytes:
    """Writes times with leading zeros."""
    return re.sub(rb" time=(\d+)", rb" time=0\1", line)


@from_client("2.2/1")
def any_name(line: bytes, _: Connection) -> bytes:
    """Takes names of any form."""
    return re.sub(rb"^HELLO 1 (my/bot|-bot|b{33})", b"HELLO 1 other", line)


@from_server("2.2/2")
def wrong_name(line: bytes, _: Connection) -> bytes:
    """Welcomes every bot by the same name."""
    return re.sub(rb"^WELCOME \S+", b"WELCOME bot", line)


# -- 3 Client messages


@from_client("3.1/1")
def closed_door(line: bytes, _: Connection) -> bytes:
    """Lets no bot in."""
    return re.sub(rb" (token|resume)=\S+", b" token=bad", line)


@from_server("3.1/2")
def wrong_code(line: bytes, _: Connection) -> bytes:
    """Answers a first line that is not HELLO by another code."""
    return line.replace(b"ERROR login", b"ERROR unexpected")


@from_server("3.2/1")
def no_start(line: bytes, _: Connection) -> list[bytes]:
    """Sends no START."""
    return [] if verb(line) == b"START" else [line]


@from_client("3.2/2")
def any_ready(line: bytes, connection: Connection) -> list[bytes]:
    """Drops a READY for another game without a word."""
    return [] if line == b"READY no-such-game" else [line]


@from_server("3.3/1", "4.6/1")
def tells_another_move(line: bytes, _: Connection) -> bytes:
    """Tells another move than the one that was played."""
    return re.sub(rb" move=(\d+)", lambda found: b" move=%d" % (int(found[1]) % 15 + 1), line)


@from_client("3.3/2")
def takes_any_move(line: bytes, _: Connection) -> bytes:
    """Plays 6 for an illegal move."""
    return b"MOVE 6" if line == b"MOVE 99" else line


@from_client("3.4/1", "3.4/2")
def no_quit(line: bytes, _: Connection) -> list[bytes]:
    """Knows no QUIT."""
    return [] if line == b"QUIT" else [line]


@from_server("3.5/1")
def no_pong(line: bytes, _: Connection) -> list[bytes]:
    """Answers no PING."""
    return [] if verb(line) == b"PONG" else [line]


@from_server("3.5/1")
def no_pong_in_a_game(line: bytes, connection: Connection) -> list[bytes]:
    """Answers no PING in a game."""
    return [] if verb(line) == b"PONG" and connection.in_game else [line]


@from_server("3.5/2")
def drops_pongs(line: bytes, connection: Connection) -> list[bytes]:
    """Answers 100 PINGs on a connection."""
    return [] if verb(line) == b"PONG" and connection.count("pong") > 100 else [line]


@from_client("3.6/1", "7.3/2")
def counts_pongs(line: bytes, connection: Connection) -> bytes:
    """Refuses a PONG that it did not ask for."""
    if verb(line) == b"PONG":
        connection.answer(b"ERROR unexpected there was no PING")
    return line


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


@from_server("6.6/1")
def one_game(line: bytes, _: Connection) -> list[bytes]:
    """Sends the bots away after one game."""
    return [line, b"BYE reason=finished"] if verb(line) == b"OVER" else [line]


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


def all_cases() -> Iterator[str]:
    """Every case that a defect names."""
    for mutant in MUTANTS.values():
        yield from mutant.cases
