"""One seat of a game: what it is told, how much of that it has heard, and whether it is there.

It must not know: connections, whose turn it is, other seats.

What spectators may see of one game, line by line, each with the moment it was said.

A line is shown once the contest's delay has passed. It must not know: who watches, connections,
the order of play.

Who is told what of one game: the seats, and the spectators' feed.

All seats and all spectators are told of plies and results alike. Of a fault its own seat is
told, the spectators with the line that was it, and the other seats only if the contest says so.
It must not know: the course of the game, connections.
"""

from __future__ import annotations

from dataclasses import dataclass

from arena_protocol.messages import Over, Played, ServerMessage, Start, Turn, Zombie, encode
from arena_protocol.record import FaultRecord
from arena_server.core.deal import Setting

#: A message and its line: a line that goes to many is printed once.
Said = tuple[ServerMessage, bytes]


@dataclass(slots=True)
class Seat:
    """One seat; `said` holds all it was told but its TURNs, the first `sent` on this connection.

    `lag` is that of its connection, `quota` what may still be forgiven for lag in this game, in
    milliseconds. A seat is `awaited` from a restart of the server until it is back for the
    first time.
    """

    number: int
    said: list[Said]
    quota: int
    sent: int = 0
    turn: Turn | None = None
    present: bool = True
    ready: bool = False
    fault: FaultRecord | None = None
    lag: int = 0
    awaited: bool = False

    @property
    def settled(self) -> bool:
        """Whether a game need not wait for this seat to be ready."""
        return self.ready or self.fault is not None

    def leave(self) -> None:
        """Its connection is gone; on the next it has to say READY again."""
        self.present = self.ready = False

    def wait(self) -> None:
        """The server was down: gone through no fault of its own."""
        self.leave()
        self.awaited = True
        self.turn = None

    def back(self) -> None:
        """It has a new connection: of an unknown lag, and nothing was said on it yet."""
        self.present = True
        self.awaited = False
        self.sent = self.lag = 0

    @property
    def behind(self) -> bool:
        """Whether it is there, and has not heard all."""
        return self.present and self.sent < len(self.said)

    def take(self, portion: int) -> tuple[list[Said], Turn | None]:
        """What it is to hear now, each line once a connection: lines, then a TURN.

        It ends with the line that makes it `portion` bytes or more; then the seat is `behind`.
        """
        if not self.present:
            return [], None
        begin, size = self.sent, 0
        while self.sent < len(self.said) and size < portion:
            size += len(self.said[self.sent][1])
            self.sent += 1
        lines = self.said[begin : self.sent]
        if self.behind:
            return lines, None
        turn, self.turn = self.turn, None
        return lines, turn


def printed(messages: list[ServerMessage]) -> list[Said]:
    """Messages with their lines."""
    return [(message, encode(message)) for message in messages]


class Feed:
    """The lines of one game for spectators, oldest first."""

    __slots__ = ("_lines", "_tag", "closed", "game_id", "shown")

    def __init__(self, game_id: str) -> None:
        self.game_id = game_id
        #: Whether the last line has been said.
        self.closed = False
        self._tag = f" game={game_id}\n".encode("ascii")
        self._lines: list[tuple[int, bytes, bool]] = []
        #: So many lines are shown.
        self.shown = 0

    def say(self, now: int, line: bytes) -> None:
        """Add a line that names its game itself."""
        self._lines.append((now, line, False))

    def share(self, now: int, line: bytes) -> None:
        """Add a line just as the players got it; `game=` is put in when somebody sees it."""
        self._lines.append((now, line, True))

    def close(self, now: int, line: bytes) -> None:
        """Add the last line."""
        self.say(now, line)
        self.closed = True

    def show(self, until: int) -> None:
        """Show what was said up to the moment `until`."""
        while self.shown < len(self._lines) and self._lines[self.shown][0] <= until:
            self.shown += 1

    def read(self, begin: int, size: int) -> tuple[bytes, int]:
        """What is shown from line `begin` (0, 1, ...) on, and the line to read on from.

        It ends with the line that makes it `size` bytes or more.
        """
        text, line = b"", begin
        while line < self.shown and len(text) < size:
            _, said, shared = self._lines[line]
            text += said[:-1] + self._tag if shared else said
            line += 1
        return text, line

    @property
    def next(self) -> int | None:
        """The moment at which the first line not shown was said; None if all are shown."""
        return self._lines[self.shown][0] if self.shown < len(self._lines) else None


class Telling:
    """The seats of the game of `setting` and its `feed`; GAME to NEXT are said at the moment `now`."""

    def __init__(self, setting: Setting, now: int) -> None:
        self.feed = Feed(setting.game_id)
        self.seats = [
            Seat(number, printed(setting.offer(number)), setting.plan.lag_quota_ms)
            for number in range(1, setting.game.seats + 1)
        ]
        self._announced = setting.plan.announce_zombies
        self.feed.say(now, b"".join(line for _, line in printed(setting.offer(0))))

    def start(self, now: int) -> None:
        """Say START."""
        self.feed.say(now, self._to_all(Start(self.feed.game_id)))

    def played(self, played: Played, now: int) -> None:
        """Tell of a ply."""
        self.feed.share(now, self._to_all(played))

    def over(self, over: Over, now: int) -> None:
        """Tell the result."""
        self.feed.close(now, self._to_all(over))

    def _to_all(self, message: ServerMessage) -> bytes:
        line = encode(message)
        for seat in self.seats:
            seat.said.append((message, line))
        return line

    def fault(self, fault: FaultRecord, now: int) -> None:
        """Tell of a fault."""
        for seat in self.seats:
            if seat.number == fault.seat or self._announced:
                zombie = Zombie(fault.ply, fault.kind, None if seat.number == fault.seat else fault.seat)
                seat.said.append((zombie, encode(zombie)))
        self.feed.say(now, encode(Zombie(fault.ply, fault.kind, fault.seat, fault.line, self.feed.game_id)))
