"""Between a contest whose games workers play, and its pool."""

from __future__ import annotations

import asyncio
import secrets
import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from typing import Any

from arena_protocol.record import VOID, GameRecord, RecordError
from arena_protocol.record_codec import decode
from arena_server.core.deal import number_of
from arena_server.core.effects import Assign, ExcludeWorker, Withdraw
from arena_server.core.events import Capacity, Command, NotPlayed, PlayedBy, Renewed, Returned
from arena_server.core.log_events import BotReplaced, LogEvent, ResultRefused, ResultReturned
from arena_server.core.orders import VOID_WORKER
from arena_server.core.parts.leases import EXCLUDED, LATE
from arena_server.errors import ArenaError
from arena_server.host.log_events import (
    WorkerMeasured,
    WorkerMessage,
    WorkerSlow,
    WorkerStandsOut,
)
from arena_server.host.observers import DispatchedContest, Errand, PlayedElsewhere
from arena_server.places.workers.audit import Audits
from arena_server.places.workers.base import GameJob, JobOutcome, Workers
from arena_server.places.workers.bench import WorkerBench, compared
from arena_server.places.workers.blame import (
    Drop,
    GiveUp,
    LostGames,
    Remove,
    Verdict,
)
from arena_server.places.workers.comparison import Comparison, StandsOut
from arena_server.places.workers.images import images_of
from arena_server.places.workers.past_games import compared_games, games_of, past_game
from arena_server.places.workers.process import HANDED_BACK
from arena_server.terms.config import ContestConfig, contest_of
from arena_server.terms.terms import GameTerms

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
        #: The workers of which a failed game was named.
        self._named: set[str] = set()
        #: The bots of each game of which a result was passed on.
        self._returned: dict[str, list[str]] = {}
        self._closed = False
        self._opening: asyncio.Task[None] | None = None
        self._finding: set[asyncio.Task[None]] = set()
        self._comparison = Comparison(len(workers.bots))
        self._excluded: set[str] = set()
        #: Of workers that were excluded.
        self._proven: list[StandsOut] = []
        self._capacity = 0
        self._audits = None if workers.audit is None else self._make_audits(workers)
        #: The best bench of each worker, and those that are slow.
        self._benches: dict[str, int] = {}
        self._slow: set[str] = set()

    def _make_audits(self, workers: Workers) -> Audits:
        assert workers.audit is not None
        return Audits(
            workers.audit,
            workers.bots,
            self._config,
            renew=self.renewed,
            accept=self._after_audit,
            exclude=self._expel,
            off=lambda problem: self._log(
                WorkerMessage("audit", f"no game is played twice any more: {problem}")
            ),
        )

    @property
    def terms(self) -> GameTerms:
        return self._config

    def started(self) -> None:
        self._opening = asyncio.get_running_loop().create_task(self._open())

    async def _open(self) -> None:
        try:
            if self._contest.results:
                await self._compare_past()
            if self._audits is not None:
                await self._audits.open()
            await self._workers.pool.open(self)
        except ArenaError as error:
            self._fail(error)

    async def _compare_past(self) -> None:
        """Go on with the comparison of the last server. Raises StoreError."""
        without = frozenset(self._excluded)
        bots = len(self._workers.bots)
        found = await asyncio.to_thread(compared_games, self._database, self._name, bots, without)
        if self._excluded == without:
            self._comparison = found
            self._name_all(found.found)

    def happened(self, event: LogEvent) -> None:
        match event:
            case BotReplaced():
                self._lost.replaced(event.bot)
            case ResultReturned(game, names, worker):
                self._returned.pop(game, None)
                self._judge(self._lost.played(game, names, worker), game, worker, "")
            case ResultRefused(game, _, worker, reason) if reason not in (LATE, EXCLUDED):
                # Another worker has the game already, and no bot is to blame for what is not true.
                problem = f"its result was refused: {reason}"
                self._failed_there(worker, game, self._returned.pop(game), problem, fatal=False)

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
        self._comparison.given_out(number_of(assign.game_id), names)
        engines = [workers.engines[name] for name in names] if workers.engines else []
        job = GameJob(
            key=self._key(assign.game_id, assign.fence),
            game_id=assign.game_id,
            fence=assign.fence,
            config=replace(self._config, dealt=(setting.seed, setting.nonce)),
            bots=[*map(workers.program, names, assign.images or [""] * len(names))],
            engines=engines,
            python=sys.executable,
            renew_s=workers.lease_ms / 1000 / RENEWALS,
            stored=assign.stored,
        )
        workers.pool.submit(job)

    def _exclude(self, worker: str) -> None:
        """Let a worker play no game any more, and find those that it has played."""
        if worker not in self._excluded:
            self._excluded.add(worker)
            # The others were compared with it.
            self._proven += [each for each in self._comparison.found if each.worker == worker]
            self._comparison = Comparison(len(self._workers.bots))
        self._workers.pool.exclude(worker)
        task = asyncio.get_running_loop().create_task(self._find_games(worker))
        self._finding.add(task)
        task.add_done_callback(self._finding.discard)

    def _expel(self, worker: str, evidence: str) -> None:
        """Let nothing of a worker count, as the organiser would by an order."""
        if worker not in self._excluded:
            self._log(WorkerMessage(worker, f"it is excluded, and its games are played again: {evidence}"))
            self._order(VOID_WORKER, worker, evidence)

    def recorded(self, record: GameRecord) -> None:
        """Compare the workers before the contest learns that the result is durable, and may end."""
        number = number_of(record.game_id)
        if record.end == VOID or not record.worker or record.worker in self._excluded:
            self._name_all(self._comparison.drop(number))
        else:
            self._name_all(self._comparison.add(past_game(record), record.worker))

    def _name_all(self, found: Sequence[StandsOut]) -> None:
        for each in found:
            self._log(WorkerStandsOut(each.worker, each.what, each.games, f"{each.chance:.1e}"))

    @property
    def stand_outs(self) -> list[StandsOut]:
        """The workers that stand out, the least likely first."""
        found = [*self._proven, *self._comparison.found]
        return sorted(found, key=lambda each: (each.chance, each.worker, each.what))

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
        await asyncio.gather(*opening, *self._finding, return_exceptions=True)
        await self._workers.pool.close()
        if self._audits is not None:
            await self._audits.close()

    # -- what the pool says (base.PoolEvents)

    def capacity(self, games: int) -> None:
        self._capacity = games
        self._report_capacity()

    def _report_capacity(self) -> None:
        # The worker of a result that is held is free.
        held = 0 if self._audits is None else self._audits.held
        self._feed(Capacity(self._capacity + held))

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
        # What an author sends ends neither the contest nor a worker: it is found by the games that it loses.
        fatal = outcome.fatal and not any(map(self._workers.takes_versions, _names(job)))
        if fatal and not self._lost.others_play(worker):
            self._fail(ArenaError(f"{worker}: {outcome.problem}"))
        elif outcome.lost:
            self._feed(NotPlayed(job.game_id, job.fence, worker, outcome.problem))
        elif outcome.record is None:
            self._give_back(job, worker, outcome.problem, fatal=fatal)
        else:
            try:
                record = decode(outcome.record)
            except RecordError as error:
                self._give_back(job, worker, str(error))
                return
            # What the server has sent out, whatever the worker says.
            record = replace(record, images=images_of([bot.sandbox for bot in job.bots]))
            result = Returned(job.game_id, job.fence, record, worker, host, outcome.stored)
            if self._audits and self._audits.takes(job, result, self._comparison.evidence(worker)):
                self._report_capacity()
            else:
                self._accept(job, result)

    def _after_audit(self, job: GameJob, result: Returned) -> None:
        if not self._closed:
            self._accept(job, result)
            self._report_capacity()

    def _accept(self, job: GameJob, result: Returned) -> None:
        """Pass a result on; `happened` gets the verdict of the contest."""
        self._returned[job.game_id] = _names(job)
        self._feed(result)

    def _failed_there(
        self, worker: str, game: str, names: Collection[str], problem: str, *, fatal: bool
    ) -> bool:
        """Name a worker of which a game has failed, once; whether it is excluded for its failures."""
        if worker not in self._named:
            self._named.add(worker)
            self._log(WorkerMessage(worker, f"game {game} failed there: {problem}"))
        is_to_blame = self._lost.failed(worker, names) or fatal
        if is_to_blame:
            self._expel(worker, f"its games fail, and others play them: {problem}")
        return is_to_blame

    def _give_back(self, job: GameJob, worker: str, problem: str, *, fatal: bool = False) -> None:
        if problem != HANDED_BACK and self._failed_there(
            worker, job.game_id, _names(job), problem, fatal=fatal
        ):
            self._feed(NotPlayed(job.game_id, job.fence, worker, problem))
            return
        verdict = self._lost.given_back(
            job.game_id, _names(job), worker, len(self._benches.keys() - self._excluded)
        )
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
        rest_ms=0,
        storage_bytes=config.storage_bytes,
    )
