"""Between a contest whose games workers play, and its pool."""

from __future__ import annotations

import asyncio
import secrets
import sys
import time
from dataclasses import asdict, replace
from typing import Any

from arena_protocol.record import VOID, GameRecord, RecordError
from arena_protocol.record_codec import decode
from arena_server.core.deal import game_id
from arena_server.core.effects import Assign, ExcludeWorker, Withdraw
from arena_server.core.events import Capacity, Command, NotPlayed, PlayedBy, Renewed, Returned
from arena_server.errors import ArenaError
from arena_server.host.log_events import (
    WorkerMeasured,
    WorkerMessage,
    WorkerSlow,
    WorkerStandsOut,
)
from arena_server.host.observers import DispatchedContest, Errand, PlayedElsewhere
from arena_server.places.workers.base import GameJob, JobOutcome, Workers
from arena_server.places.workers.bench import WorkerBench, compared
from arena_server.places.workers.blame import (
    Drop,
    GiveUp,
    LostGames,
    Remove,
    Verdict,
)
from arena_server.places.workers.comparison import StandsOut, look_at, stand_out
from arena_server.stats.results import PastGame
from arena_server.store.database import Database
from arena_server.terms.config import ContestConfig, contest_of

#: The number of an order that awaits no answer, who gives it, and the longest reason of an order.
ORDER_NUMBER = 0
ORDERED_BY = "arena"
LONGEST_REASON = 300
#: A worker gives a game back whose bot stays away longer.
ABSENT_MS = 30_000
#: The renewals in the time that a lease holds: two may be late.
RENEWALS = 3


class Dispatcher(PlayedElsewhere):
    """Passes games to the pool and what it says to the contest (`base.PoolEvents`), on the loop's thread."""

    def __init__(self, workers: Workers, contest: DispatchedContest) -> None:
        self._workers = workers
        self.lease_ms = workers.lease_ms
        config = contest.spec.config
        self._name = config.name
        self._database = contest.database
        # Only the deal of its own game is known to a worker: the secret of all deals stays here.
        self._config = _of_one_game(config)
        self._feed = contest.feed
        self._log = contest.log
        self._fail = contest.fail
        self._contest = contest
        #: Unlike that of any other run: a scheduler may still know the jobs of the last one.
        self._run = secrets.token_hex(8)
        self._lost = LostGames(set(workers.bots))
        self._closed = False
        self._opening: asyncio.Task[None] | None = None
        self._finding: set[asyncio.Task[None]] = set()
        self._comparing: set[asyncio.Task[None]] = set()
        #: The workers that stood out at the last look.
        self.stand_outs: list[StandsOut] = []
        #: The best bench of each worker, and those that are slow.
        self._benches: dict[str, int] = {}
        self._slow: set[str] = set()

    def started(self) -> None:
        self._opening = asyncio.get_running_loop().create_task(self._open())

    async def _open(self) -> None:
        try:
            await self._workers.pool.open(self)
        except ArenaError as error:
            self._fail(error)

    def carry_out(self, errand: Errand) -> bool:
        match errand:
            case Assign():
                self._assign(errand)
            case Withdraw(game_id, fence):
                self._workers.pool.withdraw(self._key(game_id, fence))
            case ExcludeWorker(worker):
                self._exclude(worker)
            case _:
                return False
        return True

    def _assign(self, assign: Assign) -> None:
        setting, workers = assign.setting, self._workers
        names = setting.names
        engines = [workers.engines[name] for name in names] if workers.engines else []
        job = GameJob(
            key=self._key(assign.game_id, assign.fence),
            game_id=assign.game_id,
            fence=assign.fence,
            config=replace(self._config, dealt=(setting.seed, setting.nonce)),
            bots=[workers.bots[name] for name in names],
            engines=engines,
            python=sys.executable,
            renew_s=workers.lease_ms / 1000 / RENEWALS,
        )
        workers.pool.submit(job)

    def _exclude(self, worker: str) -> None:
        """Let a worker play no game any more, and find those that it has played."""
        self._workers.pool.exclude(worker)
        task = asyncio.get_running_loop().create_task(self._find_games(worker))
        self._finding.add(task)
        task.add_done_callback(self._finding.discard)

    def recorded(self, record: GameRecord) -> None:
        """Look now and then which workers stand out."""
        if record.end != VOID and (look := look_at(self._contest.results)):
            task = asyncio.get_running_loop().create_task(self._compare(look))
            self._comparing.add(task)
            task.add_done_callback(self._comparing.discard)

    async def _compare(self, look: int) -> None:
        try:
            self.stand_outs = await asyncio.to_thread(_stand_out, self._database, self._name, look)
        except ArenaError as error:
            if not self._closed:  # else the contest has ended, whatever becomes of its database
                self._fail(error)
            return
        for each in self.stand_outs:
            self._log(WorkerStandsOut(each.worker, each.what, each.games, f"{each.chance:.1e}"))

    def status(self) -> dict[str, Any]:
        return {
            "workers": [asdict(each) for each in self.stand_outs],
            "benches": [{**asdict(each), "slow": each.slow} for each in self.benches],
        }

    @property
    def benches(self) -> list[WorkerBench]:
        """How fast the workers are that have had a game."""
        return compared(self._benches)

    async def _find_games(self, worker: str) -> None:
        try:
            games = await asyncio.to_thread(games_of, self._database, self._name, worker)
        except ArenaError as error:
            self._fail(error)
        else:
            self._feed(PlayedBy(worker, games))

    def _key(self, game_id: str, fence: int) -> str:
        return f"arena-{self._run}-{game_id}-{fence}"

    async def detached(self) -> None:
        """End all jobs; nothing is reported any more."""
        self._closed = True
        opening = [] if self._opening is None else [self._opening]
        for task in opening:
            task.cancel()
        for task in self._finding:
            task.cancel()
        # A look at the last result is not lost: many contests have 100, 200 or 400 games.
        await asyncio.gather(*opening, *self._finding, *self._comparing, return_exceptions=True)
        await self._workers.pool.close()

    # -- what the pool says (base.PoolEvents)

    def capacity(self, games: int) -> None:
        self._feed(Capacity(games))

    def renewed(self, job: GameJob) -> None:
        self._feed(Renewed(job.game_id, job.fence))

    def measured(self, worker: str, bench: int) -> None:
        if bench <= self._benches.get(worker, 0):
            return
        if worker not in self._benches:
            self._log(WorkerMeasured(worker, bench))
        self._benches[worker] = bench
        for each in self.benches:
            if each.slow and each.worker not in self._slow:
                self._slow.add(each.worker)
                self._log(WorkerSlow(each.worker, each.bench, each.others))

    def said(self, worker: str, line: str) -> None:
        self._log(WorkerMessage(worker, line))

    def failed(self, problem: str) -> None:
        if not self._closed:
            self._fail(ArenaError(problem))

    def ended(self, job: GameJob, outcome: JobOutcome, worker: str, host: str) -> None:
        if self._closed:
            return
        if outcome.fatal:
            self._fail(ArenaError(f"{worker}: {outcome.problem}"))
        elif outcome.lost:
            self._feed(NotPlayed(job.game_id, job.fence, worker, outcome.problem))
        elif outcome.record is None:
            self._give_back(job, worker, outcome.problem)
        else:
            try:
                record = decode(outcome.record)
            except RecordError as error:
                self._give_back(job, worker, str(error))
                return
            self._feed(Returned(job.game_id, job.fence, record, worker, host))
            self._judge(self._lost.played(job.game_id, _names(job)), job.game_id, worker, "")

    def _give_back(self, job: GameJob, worker: str, problem: str) -> None:
        verdict = self._lost.given_back(job.game_id, _names(job))
        if verdict is None:
            self._feed(NotPlayed(job.game_id, job.fence, worker, problem))
        self._judge(verdict, job.game_id, worker, f": {problem}")

    def _judge(self, verdict: Verdict, game_id: str, worker: str, problem: str) -> None:
        """Do what follows from the games that were given back, as the organiser would by orders."""
        match verdict:
            case Remove(bot, evidence, dropped):
                self._log(WorkerMessage(worker, f"bot {bot} is removed: {evidence}{problem}"))
                for each in dropped:  # they count as games of the bot that is removed
                    self._order("replay", each, evidence)
                self._order("kick", bot, evidence)
            case Drop(evidence):
                self._log(WorkerMessage(worker, f"{game_id} is not played again: {evidence}{problem}"))
                self._order("void", game_id, evidence)
            case GiveUp(evidence):
                self._fail(ArenaError(f"{evidence}; last by {worker}{problem}"))

    def _order(self, verb: str, target: str, reason: str) -> None:
        at = time.time_ns() // 1_000_000
        self._feed(Command(ORDER_NUMBER, verb, target, ORDERED_BY, at, reason[:LONGEST_REASON]))


def _names(job: GameJob) -> list[str]:
    return [bot.name for bot in job.bots]


def games_of(database: Database, contest: str, worker: str) -> list[PastGame]:
    """The durable results of a worker in the contest of this name. Raises StoreError."""
    from arena_server.store.reader import Results

    with Results(database) as results:
        found = results.latest(contest)
        if found is None:
            return []
        deals = results.deals(found).numbers()
        mine = (game for game, by in results.games.played(found) if by == worker)
        return [replace(game, deal=deals.get(game_id(game.number), 0)) for game in mine]


def _stand_out(database: Database, contest: str, look: int) -> list[StandsOut]:
    """Raises StoreError."""
    from arena_server.store.reader import Results

    with Results(database) as results:
        found = results.latest(contest)
        return [] if found is None else stand_out(results.games.played(found), look)


def workers_of(database: Database, contest: str) -> list[str]:
    """The names of the workers that have durable results in the contest of this name. Raises StoreError."""
    from arena_server.store.reader import Results

    with Results(database) as results:
        found = results.latest(contest)
        return [] if found is None else sorted({by for _, by in results.games.played(found)} - {""})


def _of_one_game(config: ContestConfig) -> ContestConfig:
    """The contest of a game on a worker; what is decided over several games is decided here."""
    return contest_of(
        config,
        name=config.name,
        seed=0,
        format="single",
        games_per_pair=1,
        absent_ms=ABSENT_MS,
        probation=0,
        guests=False,
    )
