"""Who is told what of one game: the seats, and the spectators' feed.

All seats and all spectators are told of plies and results alike. Of a fault its own seat is
told, the spectators with the line that was it, and the other seats only if the contest says so.
It must not know: the course of the game, connections.
"""

from __future__ import annotations

from arena_protocol.messages import Over, Played, ServerMessage, Start, Zombie, encode
from arena_protocol.record import FaultRecord
from arena_server.core.feed import Feed
from arena_server.core.seat import Seat, printed
from arena_server.core.setting import Setting


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
