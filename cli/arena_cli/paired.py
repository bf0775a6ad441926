"""A match of two players without lines: what `arena tune` and `arena climb` measure with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena_cli.match_run import MatchPlan, MatchRun, needs_processes
from arena_server.host.interrupts import handled, interrupt


@dataclass(frozen=True, slots=True)
class PairedScore:
    """`lead` is the mean over the deals of the first player's lead, as a share of all points: -1 to 1.

    `answer` is what `arena match --json` prints.
    """

    lead: float
    answer: dict[str, Any]


class _SilentRun(MatchRun):
    def _show(self, lines: Sequence[str]) -> None:
        pass

    @property
    def lead(self) -> float:
        advantages = self._tally.scores.advantages()
        return sum(advantages) / len(advantages)


def play_paired(players: Sequence[str], plan: MatchPlan) -> PairedScore | None:
    """Play a match of two players to its end; None if a stop signal came before.

    Raises ArenaError if games have no result, or both players were at fault in all of them, and ConfigError
    or EngineError for a player that does not exist.
    """
    run = _SilentRun(plan, players)
    if needs_processes(players, plan):
        if run.play_processes(None, None):
            return None
        run.check_complete()
    else:
        try:
            with handled(interrupt):
                run.play_here()
        except KeyboardInterrupt:
            return None
    run.check_faults([0, 1])
    return PairedScore(run.lead, run.answer())
