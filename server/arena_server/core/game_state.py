"""The state of one game: a fold of its facts, from the offer to the end.

    OFFERED --every seat ready or at fault--> PLAYING --last ply, forfeit, void--> OVER

`apply(fact)` is the only writer of it, live, in recovery and in the verification of a record; `core/match.py`
decides the facts. The turn in progress and who is connected are no part of it. Seats and plies count from 1;
moments are integer nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

from arena_protocol.record import FaultRecord, GameRecord, InfoRecord, PlyRecord
from arena_server.core.clock import elapsed_ms
from arena_server.core.deal import Setting
from arena_server.core.game_facts import Away, Ended, GameFact, Offered, Ready, Started


class Phase(Enum):
    """How far a match has come."""

    OFFERED = "offered"
    PLAYING = "playing"
    OVER = "over"


class GameState:
    """The state of the game of `setting`, offered at the moment `now`; `apply` alone writes it."""

    __slots__ = (
        "_computed",
        "_game",
        "_origin",
        "_quota",
        "clocks",
        "end",
        "faults",
        "infos",
        "phase",
        "plies",
        "position",
        "ready",
        "setting",
        "totals",
        "zombies",
    )

    def __init__(self, setting: Setting, now: int) -> None:
        self.setting = setting
        self._game = setting.game
        #: A ply that `Match.decide` has just computed, with the position after it, for `apply`.
        self._computed: tuple[PlyRecord | None, Any] = (None, None)
        self._reset(now)

    def _reset(self, now: int) -> None:
        terms, seats = self.setting.terms, self._game.seats
        self.phase = Phase.OFFERED
        self.position: Any = self._game.start(self.setting.deal)
        self.ready = [seat in self.setting.own_seats for seat in range(1, seats + 1)]
        self.zombies = [False] * seats
        self.clocks: tuple[int, ...] = (terms.clock_ms,) * seats
        self._quota = [terms.lag_quota_ms] * seats
        self.plies: list[PlyRecord] = []
        self.faults: list[FaultRecord] = []
        self.infos: list[InfoRecord] = []
        self.totals: tuple[int, ...] = ()
        self.end = ""
        #: The moment that the record counts from: START, later by the time the server was down.
        self._origin = now

    @property
    def over(self) -> bool:
        return self.phase is Phase.OVER

    @property
    def ply(self) -> int:
        """The ply to be played now; 1 before START."""
        return len(self.plies) + 1

    def awaits(self, seat: int) -> bool:
        """Whether START waits for `seat`."""
        return not (self.ready[seat - 1] or self.zombies[seat - 1])

    def forfeited(self, seats: Iterable[int] = ()) -> tuple[int, ...]:
        """The totals if `seats` forfeit, beside those at fault already: several at once all lose."""
        at_fault = [fault.seat for fault in self.faults] + list(seats)
        lost = [self._game.forfeit(self.position, seat) for seat in at_fault]
        # Who forfeits loses, whatever the fault of another would have given it.
        return tuple(min(totals) for totals in zip(*lost, strict=True))

    def record(self) -> GameRecord:
        """All that happened; for a match that is over."""
        final = self._game.state_text(self.position)
        return self.setting.record(
            tuple(self.plies), tuple(self.faults), final, self.totals, self.end, tuple(self.infos)
        )

    def apply(self, fact: GameFact, now: int) -> None:
        """Write one fact into the state of the game."""
        if type(fact) is PlyRecord:
            computed, position = self._computed
            # A fact from the journal, or decided for another position: the ply is played again.
            if fact is not computed:
                position = self._game.play(self.position, fact.move).position
            self.position = position
            self.clocks = fact.clock
            self.plies.append(fact)
            if fact.credit_ms:
                # A ply that took less than its credit uses up only what it took.
                self._quota[fact.seat - 1] -= min(fact.credit_ms, elapsed_ms(fact.handed_ns, fact.arrived_ns))
            return
        match fact:
            case Offered():
                self._reset(now)
            case Ready(seat):
                self.ready[seat - 1] = True
            case Away(seat):
                self.ready[seat - 1] = False
            case Started():
                self.phase = Phase.PLAYING
                self._origin = now
            case FaultRecord(seat):
                self.faults.append(fact)
                if seat:
                    self.zombies[seat - 1] = True
            case InfoRecord():
                self.infos.append(fact)
            case Ended(totals, end):
                self.phase, self.totals, self.end = Phase.OVER, totals, end
