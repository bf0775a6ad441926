"""One seat of a game: what it is told, how much of that it has heard, and whether it is there.

It must not know: connections, whose turn it is, other seats.
"""

from __future__ import annotations

from dataclasses import dataclass

from arena_protocol.messages import ServerMessage, Turn, encode
from arena_protocol.record import FaultRecord

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
