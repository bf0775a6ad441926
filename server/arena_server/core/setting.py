"""What is fixed before a game's first ply, and hidden until its last: deal, nonce and commit.

It must not know: who is ready, whose turn it is, clocks that run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena_protocol import messages as wire
from arena_protocol.games.base import Deal, Game
from arena_protocol.record import FaultRecord, GameRecord, PlyRecord, commitment
from arena_server.core import ids
from arena_server.core.plan import ContestPlan
from arena_server.core.schedule import Pairing


@dataclass(frozen=True, slots=True)
class Setting:
    """One game as it is dealt: the same plan and pairing give the same setting."""

    plan: ContestPlan
    game: Game[Any]
    number: int
    game_id: str
    names: tuple[str, ...]
    seed: int
    deal_number: int
    deal: Deal
    nonce: str
    commit: str

    @classmethod
    def of(cls, plan: ContestPlan, game: Game[Any], pairing: Pairing) -> Setting:
        """Deal the game that `pairing` names."""
        game_id = ids.game_id(pairing.number)
        seed = ids.deal_seed(plan.seed, pairing.names, pairing.deal)
        deal = game.deal(seed)
        nonce = ids.nonce(plan.seed, game_id)
        commit = commitment(nonce, deal.board, deal.sequence)
        return cls(
            plan, game, pairing.number, game_id, pairing.names, seed, pairing.deal, deal, nonce, commit
        )

    def offer(self, seat: int) -> list[wire.ServerMessage]:
        """GAME, STATE and, if there is something in sight, NEXT: for `seat`, or for spectators (0)."""
        watched = None if seat else self.game_id
        state = self.game.state_text(self.game.start(self.deal))
        preview = self.game.preview(self.deal)
        lines: list[wire.ServerMessage] = [self._introduction(seat), wire.State(state, watched)]
        if preview is not None:
            lines.append(wire.Next(preview, watched))
        return lines

    def _introduction(self, seat: int) -> wire.Game:
        return wire.Game(
            game_id=self.game_id,
            game=self.game.name,
            seat=seat,
            seats=self.game.seats,
            names=self.names,
            clock=self.plan.clock_ms,
            increment=self.plan.increment_ms,
            zombie=self.game.zombie_move,
            commit=self.commit,
            move_limit=self.plan.move_limit_ms or None,
            byoyomi=self.plan.byoyomi_ms or None,
            lag_quota=self.plan.lag_quota_ms or None,
            options=self.game.options(),
        )

    def over(self, totals: tuple[int, ...], end: str, opened: bool) -> wire.Over:
        """OVER; `opened` tells whether it opens the commit."""
        if not opened:
            return wire.Over(self.game_id, totals, end)
        return wire.Over(self.game_id, totals, end, self.nonce, self.deal.sequence or None)

    def record(
        self,
        plies: tuple[PlyRecord, ...],
        faults: tuple[FaultRecord, ...],
        final: str,
        totals: tuple[int, ...],
        end: str,
    ) -> GameRecord:
        """The record of this game, given how it went."""
        return GameRecord(
            software=self.plan.software,
            contest=self.plan.name,
            game_id=self.game_id,
            game=self.game.name,
            options=self.game.options(),
            names=self.names,
            seed=self.seed,
            nonce=self.nonce,
            commit=self.commit,
            board=self.deal.board,
            sequence=self.deal.sequence,
            clock_ms=self.plan.clock_ms,
            increment_ms=self.plan.increment_ms,
            margin_ms=self.plan.margin_ms,
            move_limit_ms=self.plan.move_limit_ms,
            byoyomi_ms=self.plan.byoyomi_ms,
            lag_quota_ms=self.plan.lag_quota_ms,
            plies=plies,
            faults=faults,
            final=final,
            totals=totals,
            end=end,
        )
