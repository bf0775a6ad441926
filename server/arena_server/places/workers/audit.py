"""Games that are played twice: by a worker, and by a process of this machine, which is trusted.

    a worker's record -> chosen? -> held, its lease renewed -> the same game here -> compared -> accepted
                                                                                         '-> worker excluded

A share of all games is chosen by chance, and every game of a worker that is suspect, as far as this machine
has time. A worker does not learn which. For each bot the two games are a pair (`comparison.py`): the chance
that any of equal workers is ever excluded is at most ALPHA.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from random import SystemRandom
from typing import Final

from arena_protocol.record import VOID, RecordError
from arena_protocol.record_codec import decode
from arena_server.core.events import Returned
from arena_server.places.workers.base import AuditTerms, GameJob, JobOutcome
from arena_server.places.workers.comparison import ALPHA, PairCount, margins, points_of, share_of
from arena_server.terms.terms import GameTerms

#: A worker is suspect whose results had at most this chance among equal workers.
SUSPECT: Final = 0.1
#: How many results of suspects may wait for a process of this machine.
MOST_WAITING: Final = 8
KEY: Final = "{}-audit"


class Suspicions:
    """The points of a number of `bots` on workers, beside those of the same games here."""

    def __init__(self, bots: int, alpha: float = ALPHA) -> None:
        self._alpha = alpha / max(1, bots)
        self._tallies: dict[str, dict[str, PairCount]] = {}

    def add(self, worker: str, names: Sequence[str], there: Sequence[int], here: Sequence[int]) -> str | None:
        """Take a game that was played twice; returns the evidence if the worker is to be excluded."""
        tallies = self._tallies.setdefault(worker, {})
        rank = [*self._tallies].index(worker) + 1
        for name, own, other in zip(names, margins(there), margins(here), strict=True):
            tally = tallies.setdefault(name, PairCount())
            tally.add(own, other)
            if tally.chance <= self._alpha * share_of(rank):
                return _evidence(name, tally)
        return None

    def chance(self, worker: str) -> float:
        """The least chance of what is known of a worker."""
        return min((tally.chance for tally in self._tallies.get(worker, {}).values()), default=1.0)


def _evidence(bot: str, tally: PairCount) -> str:
    what = points_of(bot)[tally.above < tally.below]
    most, pairs = max(tally.above, tally.below), tally.above + tally.below
    return (
        f"{what} than here in {most} of {pairs} games that were played twice and ended otherwise "
        f"(of equal workers a chance of at most {tally.chance:.1e})"
    )


@dataclass(frozen=True, slots=True)
class _Held:
    job: GameJob
    result: Returned


class Audits:
    """Has games played again by a pool of this machine, and takes its reports (`base.PoolEvents`).

    `accept` is called for each result that was held, after `exclude` if that is to be; `off` once, with the
    reason, if this machine cannot play the games.
    """

    def __init__(
        self,
        terms: AuditTerms,
        bots: Collection[str],
        game: GameTerms,
        *,
        renew: Callable[[GameJob], None],
        accept: Callable[[GameJob, Returned], None],
        exclude: Callable[[str, str], None],
        off: Callable[[str], None],
    ) -> None:
        self._audit = terms
        #: For the pool.
        self.terms = game
        self._suspicions = Suspicions(len(bots))
        self._renew, self._accept, self._exclude, self._off = renew, accept, exclude, off
        self._rng = SystemRandom()
        self._held: dict[str, _Held] = {}
        self._free = 0
        self._works = True

    async def open(self) -> None:
        """Begin. Raises ArenaError."""
        await self._audit.pool.open(self)

    async def close(self) -> None:
        self._works = False
        await self._audit.pool.close()

    @property
    def held(self) -> int:
        """How many results wait for their second game."""
        return len(self._held)

    def takes(self, job: GameJob, result: Returned, chance: float) -> bool:
        """Hold this result, if its game is chosen; `chance` is that of all results of the worker."""
        if not self._works or not self._free or result.worker in self._audit.trusted:
            return False
        # Decided by what is known before this game, so that its result has no part in it.
        suspect = min(chance, self._suspicions.chance(result.worker)) <= SUSPECT
        if len(self._held) >= self._free + (MOST_WAITING if suspect else 0):
            return False
        if not suspect and self._rng.random() >= self._audit.share:
            return False
        key = KEY.format(job.key)
        self._held[key] = _Held(job, result)
        self._audit.pool.submit(replace(job, key=key))
        return True

    # -- what the pool says

    def capacity(self, games: int) -> None:
        self._free = games

    def renewed(self, job: GameJob) -> None:
        if job.key in self._held:
            for held in self._held.values():  # also those that wait for this one
                self._renew(held.job)

    def measured(self, worker: str, bench: int) -> None:
        """It is no worker of the contest."""

    def said(self, worker: str, line: str) -> None:
        """What its bots say was said by those of the first game."""

    def ended(self, job: GameJob, outcome: JobOutcome, worker: str, host: str) -> None:
        held = self._held.pop(job.key, None)
        if held is None:
            return
        if outcome.fatal:
            self.failed(outcome.problem)
        elif outcome.record is not None and self._works:
            self._compare(held, outcome.record)
        self._accept(held.job, held.result)

    def failed(self, problem: str) -> None:
        if not self._works:
            return
        self._works = False
        self._off(problem)
        for held in self._held.values():
            self._accept(held.job, held.result)
        self._held.clear()

    def _compare(self, held: _Held, data: bytes) -> None:
        try:
            here = decode(data)
        except RecordError:
            return
        there = held.result.record
        if VOID in (here.end, there.end) or here.names != there.names:
            return
        evidence = self._suspicions.add(held.result.worker, there.names, there.totals, here.totals)
        if evidence is not None:
            self._exclude(held.result.worker, evidence)
