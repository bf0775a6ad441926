"""A match of two players without lines: what `arena tune` and `arena climb` measure with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena_cli.match_resume import finished_results
from arena_cli.match_run import CONTEST, MatchPlan, MatchRun, needs_processes
from arena_server.host.interrupts import handled, interrupt
from arena_server.store.database import database_of


@dataclass(frozen=True, slots=True)
class PairedScore:
    """`lead` is the mean over the deals of the first player's lead, as a share of all points: -1 to 1.

    `answer` is what `arena match --json` prints, `faults` has a line for each fault of each player; `kept`:
    all games were played before.
    """

    lead: float
    answer: dict[str, Any]
    faults: Sequence[Sequence[str]] = ((), ())
    kept: bool = False


class _SilentRun(MatchRun):
    def _show(self, lines: Sequence[str]) -> None:
        pass

    @property
    def lead(self) -> float:
        advantages = self._tally.scores.advantages()
        return sum(advantages) / len(advantages)

    def take(self, database: str) -> bool:
        """Count the games that `database` has of this match; return whether those are all."""
        finished = finished_results(database_of(database), self.spec)
        for result in finished or ():
            self._count(result)
        if finished is None:
            self.resume(database)
        return finished is not None

    def say(self, line: str) -> None:
        if not line.startswith("match: "):  # that it goes on is said once, and not for this match
            super().say(line)


def play_paired(
    players: Sequence[str], plan: MatchPlan, name: str = CONTEST, database: str | None = None
) -> PairedScore | None:
    """Play a match of two players to its end; None if a stop signal came before.

    `database` keeps it as the contest `name`; what it has of it is not played again. Raises ArenaError if
    games have no result, or both players were at fault in all of them, and ConfigError or EngineError for a
    player that does not exist.
    """
    run = _SilentRun(plan, players, name=name)
    kept = database is not None and run.take(database)
    if kept:
        pass
    elif database is not None or needs_processes(players, plan):
        if run.play_processes(database, None):
            return None
        run.check_complete()
    else:
        try:
            with handled(interrupt):
                run.play_here()
        except KeyboardInterrupt:
            return None
    run.check_faults([0, 1])
    return PairedScore(run.lead, run.answer(), [run.faults_of(0), run.faults_of(1)], kept)
