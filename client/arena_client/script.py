"""Scripts: data that says what a client sends when which line arrives, for clients that break the protocol.

A `ScriptedClient` follows a Script without I/O, so that the same script runs in a test in virtual time and,
by `run_script`, on a real connection.
"""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from arena_protocol import messages as wire
from arena_protocol.framing import SERVER_LINE_LIMIT, LineReader, Overlong


@dataclass(frozen=True, slots=True)
class Say:
    """Send a line `times` times, with the fields `{hello}`, `{game}`, `{ply}` and `{move}` filled in."""

    text: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class Raw:
    """Send bytes as they are."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Wait:
    """Neither read nor write for `ms` milliseconds."""

    ms: int


@dataclass(frozen=True, slots=True)
class StopReading:
    """Read nothing more, and keep the connection open."""


@dataclass(frozen=True, slots=True)
class Close:
    """Close the connection; with `reset` by RST, which discards data in transit."""

    reset: bool = False


Act = Say | Raw | Wait | StopReading | Close

#: Pseudo-verb: the connection is open and no line was received.
OPEN = "OPEN"

#: Pseudo-verb: a PLAYED of the own seat, after which another seat has the turn.
MINE = "MINE"


@dataclass(frozen=True, slots=True)
class On:
    """What to do when a line with `verb` arrives.

    With `ply`, only at the first such line of a game whose ply is `ply` or later, and once per game.
    """

    verb: str
    acts: tuple[Act, ...]
    ply: int | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """Rules; of several that match a line, the last one applies."""

    rules: tuple[On, ...]

    def but(self, *rules: On) -> Script:
        """Return the same script with further rules."""
        return Script(self.rules + rules)


#: A client without faults, which always plays the zombie move.
HONEST = Script(
    (
        On("ARENA", (Say("{hello}"),)),
        On("GAME", (Say("READY {game}"),)),
        On("TURN", (Say("MOVE {move}"),)),
        On("PING", (Say("PONG {ply}"),)),
    )
)


def drip(text: str, gap_ms: int) -> tuple[Act, ...]:
    """Return the acts that send a line byte by byte, with `gap_ms` before each byte."""
    return tuple(act for byte in f"{text}\n".encode() for act in (Wait(gap_ms), Raw(bytes([byte]))))


class ScriptedClient:
    """Follows a script on one connection: lines in, acts out.

    `{move}` is the zombie move in GAME, else `1`; `{ply}` is the first value of the current line,
    which for PING is its token.
    """

    def __init__(
        self,
        script: Script,
        name: str,
        token: str | None = None,
        slot: int | None = None,
        contest: str | None = None,
    ) -> None:
        hello = wire.Hello(wire.VERSION, name, token=token, slot=slot, contest=contest)
        self.name = name
        self._script = script
        self._fields = {
            "hello": wire.encode(hello).decode().rstrip(),
            "game": "-",
            "ply": "-",
            "move": "1",
        }
        self._seat: str | None = None
        self._applied: set[On] = set()

    def opened(self) -> tuple[Act, ...]:
        """Return the acts before the first line of the server."""
        return self._follow(OPEN)

    def receive(self, line: bytes) -> tuple[Act, ...]:
        """Return the acts for a line of the server, with the fields of `Say` filled in."""
        verb, *values = line.decode("ascii", "replace").split() or [""]
        self._fields["ply"] = values[0] if values else "-"
        options = dict(value.split("=", 1) for value in values if "=" in value)
        if verb == "GAME":
            self._begin_game(options)
        if verb == "PLAYED" and options.get("seat") == self._seat:
            verb = MINE
        return self._follow(verb)

    def _begin_game(self, options: dict[str, str]) -> None:
        self._fields["game"] = self._fields["ply"]
        self._fields["move"] = options.get("zombie", "1")
        self._seat = options.get("seat")
        self._applied.clear()

    def _follow(self, verb: str) -> tuple[Act, ...]:
        for rule in reversed(self._script.rules):
            if rule.verb == verb and self._applies(rule):
                return tuple(self._fill(act) for act in rule.acts)
        return ()

    def _applies(self, rule: On) -> bool:
        """Whether a rule with this verb applies now; a rule with a ply applies once per game."""
        if rule.ply is None:
            return True
        ply = self._fields["ply"]
        if rule in self._applied or not ply.isdigit() or int(ply) < rule.ply:
            return False
        self._applied.add(rule)
        return True

    def _fill(self, act: Act) -> Act:
        return Say(act.text.format(**self._fields), act.times) if isinstance(act, Say) else act


READ_SIZE = 4096

#: SO_LINGER on with no time: close() then sends RST instead of FIN.
_RESET = struct.pack("ii", 1, 0)


def run_script(
    client: ScriptedClient,
    host: str,
    port: int,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Play the script on one blocking connection; return `closed` (by the script) or `gone` (by the server).

    After StopReading it returns `stopped reading` when the server closes. Raises OSError if the
    connection is refused.
    """
    with socket.create_connection((host, port)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            return _perform(client, sock, sleep)
        except OSError:
            return "gone"


def _perform(client: ScriptedClient, sock: socket.socket, sleep: Callable[[float], None]) -> str:
    lines = LineReader(SERVER_LINE_LIMIT)
    end = _act(client.opened(), sock, sleep)
    while end is None:
        data = sock.recv(READ_SIZE)
        if not data:
            return "gone"
        for line in lines.feed(data):
            if end is None and not isinstance(line, Overlong):
                end = _act(client.receive(line), sock, sleep)
    return end


def _act(acts: Iterable[Act], sock: socket.socket, sleep: Callable[[float], None]) -> str | None:
    """Perform the acts; return how the connection ended, or None if it is still open."""
    for act in acts:
        match act:
            case Say(text, times):
                sock.sendall(f"{text}\n".encode() * times)
            case Raw(data):
                sock.sendall(data)
            case Wait(ms):
                sleep(ms / 1000)
            case StopReading():
                _wait_for_close(sock)
                return "stopped reading"
            case Close(reset):
                if reset:
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                return "closed"
    return None


def _wait_for_close(sock: socket.socket) -> None:
    """Wait until the server has closed its side, without reading."""
    poll = select.poll()
    # Without POLLIN unread lines do not end the wait; Linux reports FIN as POLLRDHUP, see poll(2).
    poll.register(sock, getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR)
    poll.poll()
