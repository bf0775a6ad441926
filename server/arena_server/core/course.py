"""The course of one game so far: the position it has come to, its plies and faults as recorded.

It must not know: clocks, who is there, who is told.
"""

from __future__ import annotations

from arena_protocol.messages import Played
from arena_protocol.record import FaultRecord, GameRecord, PlyRecord
from arena_server.core.setting import Setting
from arena_server.core.timing import Took


class Course:
    """The game of `setting`, from its first ply on; the moments of plies count from `started`."""

    def __init__(self, setting: Setting, started: int) -> None:
        self.started = started
        self.plies: list[PlyRecord] = []
        self.faults: list[FaultRecord] = []
        self._setting = setting
        self._game = setting.game
        self._position = setting.game.start(setting.deal)

    @property
    def ply(self) -> int:
        """The ply to be played now."""
        return len(self.plies) + 1

    @property
    def end(self) -> str | None:
        """How the game has ended by its rules; None while it goes on."""
        return self._game.end(self._position)

    @property
    def to_move(self) -> int:
        """The seat that is to move, of a game that goes on."""
        return self._game.to_move(self._position)

    @property
    def totals(self) -> tuple[int, ...]:
        """The points of all seats."""
        return self._game.totals(self._position)

    @property
    def forfeited(self) -> tuple[int, ...]:
        """The points of all seats if whoever is at fault has lost; several at once have all lost."""
        lost = [self._game.forfeit(self._position, fault.seat) for fault in self.faults]
        return tuple(min(totals) for totals in zip(*lost, strict=True))

    def is_legal(self, move: str) -> bool:
        """Whether `move` may be played now."""
        return self._game.is_legal(self._position, move)

    def play(self, seat: int, move: str, took: Took, clocks: tuple[int, ...], zombie: bool) -> Played:
        """Play a legal move for `seat`, after which the clocks stand so. Returns what there is to tell."""
        ply, start = self.ply, self.started
        step = self._game.play(self._position, move)
        self._position = step.position
        total = self.totals
        stamps = took.time, took.handed - start, took.arrived - start
        self.plies.append(
            PlyRecord(seat, move, *stamps, clocks, step.points, total, zombie, took.lag, took.credit)
        )
        reveal = self._game.reveal(self._setting.deal, ply)
        return Played(ply, seat, move, took.time, clocks, step.points, total, reveal)

    def record(self, totals: tuple[int, ...], end: str) -> GameRecord:
        """All that happened, to this end."""
        final = self._game.state_text(self._position)
        return self._setting.record(tuple(self.plies), tuple(self.faults), final, totals, end)
