"""Games that are played twice: who is excluded, and that every result is accepted once."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.protocol.records import a_record
from tests.server.places.workers.programs import job
from tests.slices import rows

from arena_protocol.record import GameRecord
from arena_protocol.record_codec import encode
from arena_server.core.events import Capacity, Command, Event, NotPlayed, Renewed, Returned
from arena_server.core.log_events import LogEvent, ResultRefused, ResultReturned
from arena_server.core.parts.leases import EXCLUDED, LATE
from arena_server.errors import ArenaError
from arena_server.places.base import LocalBot
from arena_server.places.workers.audit import MOST_WAITING, Audits, Suspicions
from arena_server.places.workers.base import AuditTerms, GameJob, JobOutcome, Workers
from arena_server.places.workers.blame import MOST_ALONE, MOST_FAILURES, LostGames
from arena_server.places.workers.dispatch import Dispatcher
from arena_server.places.workers.process import HANDED_BACK
from arena_server.terms.config import ContestConfig

BOTS = ("ann", "bob")


def record(totals: tuple[int, int] = (30, 10), **changes: Any) -> GameRecord:
    return replace(a_record(), names=BOTS, totals=totals, **changes)


class Pool:
    """A pool that plays nothing by itself."""

    def __init__(self) -> None:
        self.jobs: list[GameJob] = []
        self.excluded: list[str] = []

    async def open(self, events: Any) -> None:
        events.capacity(2)

    def submit(self, each: GameJob) -> None:
        self.jobs.append(each)

    def withdraw(self, key: str) -> None:
        raise AssertionError(key)

    def exclude(self, worker: str) -> None:
        self.excluded.append(worker)

    async def close(self) -> None:
        self.jobs.append(job("closed"))


class Run:
    """Audits of every game, and what they do."""

    def __init__(self, share: float = 1.0) -> None:
        self.pool = Pool()
        self.renewed: list[str] = []
        self.accepted: list[str] = []
        self.excluded: list[str] = []
        self.off: list[str] = []
        self.audits = Audits(
            AuditTerms(share=share, pool=self.pool),
            BOTS,
            ContestConfig(name="test", seed=0),
            renew=lambda each: self.renewed.append(each.key),
            accept=lambda each, result: self.accepted.append(f"{each.key} {result.worker}"),
            exclude=lambda worker, evidence: self.excluded.append(f"{worker}: {evidence}"),
            off=self.off.append,
        )

    def give(self, game: str, there: GameRecord, here: GameRecord | None, worker: str = "w1") -> bool:
        taken = self.audits.takes(job(game), Returned(game, 1, there, worker, "box"), 1.0)
        if taken and here is not None:
            self.end(JobOutcome(encode(here)))
        return taken

    def end(self, outcome: JobOutcome) -> None:
        self.audits.ended(self.pool.jobs[-1], outcome, "local-1", "here")


@pytest.mark.asyncio
async def test_a_worker_that_swaps_programs_is_excluded_and_an_equal_one_not() -> None:
    run, rng = Run(), Random(1)
    await run.audits.open()
    for number in range(60):
        here = (rng.randrange(150, 300), rng.randrange(100))
        equal = (rng.randrange(150, 300), rng.randrange(100))
        assert run.give(f"e{number}", record(equal), record(here), "w2")
        if not run.excluded:
            assert run.give(f"g{number}", record(here[::-1]), record(here))
    (found,) = run.excluded
    assert found.startswith(
        "w1: ann gets fewer points there than here in 15 of 15 games that were played twice and ended "
        "otherwise (of equal workers a chance of at most 4.9e-04)"
    )
    assert len(run.accepted) == 75
    assert run.accepted[-1] == "e59-1 w2"


@pytest.mark.parametrize("contests", rows([80, 200], 2))
def test_equal_workers_are_excluded_in_no_more_contests_than_is_said(contests: int) -> None:
    alpha = 0.2
    excluded = 0
    for seed in range(contests):
        rng, suspicions = Random(seed), Suspicions(2, alpha)
        games = [
            suspicions.add(f"w{rng.randrange(3)}", BOTS, *[[rng.randrange(9) for _ in BOTS] for _ in "th"])
            for _ in range(200)
        ]
        excluded += any(games)
    assert excluded <= alpha * contests


@pytest.mark.asyncio
async def test_a_result_waits_for_its_second_game_with_its_lease() -> None:
    run = Run()
    assert not run.give("early", record(), record()), "the processes here have not started"
    await run.audits.open()
    assert run.give("g1", record(), None)
    assert run.give("g2", record(), None)
    assert (run.audits.held, run.accepted) == (2, [])
    assert not run.give("g3", record(), None), "no process here is free"
    run.audits.renewed(run.pool.jobs[0])
    assert run.renewed == ["g1-1", "g2-1"]
    run.audits.measured("local-1", 5)
    run.audits.said("local-1", "text")
    for problem in ("its process ended", ""):
        run.end(JobOutcome(b"no record" if not problem else None, problem))
        run.pool.jobs.pop()
    assert run.accepted == ["g2-1 w1", "g1-1 w1"]
    assert not run.excluded
    run.audits.renewed(job("g1"))
    run.audits.ended(job("g1"), JobOutcome(None), "local-1", "here")  # once more
    assert len(run.accepted) == 2


@pytest.mark.asyncio
async def test_games_that_say_nothing_are_not_compared() -> None:
    run = Run()
    await run.audits.open()
    for number in range(40):
        run.give(f"v{number}", record((90, 0)), record((0, 90), end="void"))
        run.give(f"n{number}", record((90, 0)), replace(record((0, 90)), names=("cid", "dan")))
        run.give(f"s{number}", record((90, 0)), record((90, 0)))
    assert (len(run.accepted), run.excluded) == (120, [])


@pytest.mark.asyncio
async def test_a_machine_that_lacks_the_programs_plays_no_game_twice() -> None:
    run = Run()
    await run.audits.open()
    run.give("g1", record(), None)
    run.give("g2", record(), None)
    run.end(JobOutcome(None, "bot ann: no program 'ann'", fatal=True))
    assert run.off == ["bot ann: no program 'ann'"]
    assert sorted(run.accepted) == ["g1-1 w1", "g2-1 w1"]
    run.audits.failed("again")
    assert not run.give("g3", record(), None)
    assert len(run.off) == 1
    await run.audits.close()
    assert run.pool.jobs[-1].game_id == "closed"


@pytest.mark.asyncio
async def test_the_games_of_a_suspect_are_all_played_twice_and_a_share_of_the_others() -> None:
    run = Run(share=0.05)
    await run.audits.open()
    result = Returned("s", 1, record(), "w2", "box")
    taken = sum(run.give(f"g{number}", record(), record()) for number in range(1000))
    assert 10 <= taken <= 120
    taken = sum(run.audits.takes(job(f"s{number}"), result, 0.01) for number in range(20))
    assert taken == 2 + MOST_WAITING


class Contest(SimpleNamespace):
    """What a dispatcher does to its contest, which accepts all results but those of workers that `lie`."""

    dispatcher: Dispatcher

    def __init__(self) -> None:
        super().__init__(spec=SimpleNamespace(config=ContestConfig(name="test", seed=0)), database=None)
        self.results = 0
        self.lie: dict[str, str] = {}
        self.events: list[Event] = []
        self.lines: list[str] = []
        self.failed: list[str] = []

    def feed(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, Returned):
            if reason := self.lie.get(event.worker):
                answer: LogEvent = ResultRefused(event.game_id, event.fence, event.worker, reason)
            else:
                answer = ResultReturned(event.game_id, event.record.names, event.worker, event.host)
            self.dispatcher.happened(answer)

    def log(self, event: Any) -> None:
        self.lines.append(f"{event.worker}: {event.text}")

    def fail(self, error: ArenaError) -> None:
        self.failed.append(str(error))

    def of(self, kind: type[Any]) -> list[Any]:
        return [each for each in self.events if type(each) is kind]


def dispatched(audit: AuditTerms | None = None, names: tuple[str, ...] = BOTS) -> tuple[Contest, Dispatcher]:
    contest = Contest()
    bots = {name: LocalBot(name, ["true"], "") for name in names}
    workers = Workers(pool=Pool(), bots=bots, engines={}, lease_ms=1, audit=audit)
    contest.dispatcher = Dispatcher(workers, cast(Any, contest))
    return contest, contest.dispatcher


def of(game: str, names: tuple[str, ...] = BOTS) -> GameJob:
    return replace(job(game), bots=[LocalBot(name, ["true"], "") for name in names])


PLAYED = JobOutcome(encode(record()))
LOST = JobOutcome(None, "ModuleNotFoundError: no arena here")


@pytest.mark.asyncio
async def test_the_worker_of_a_held_result_is_free_and_excluded_before_it_is_accepted() -> None:
    pool = Pool()
    contest, dispatcher = dispatched(AuditTerms(share=1.0, pool=pool))
    assert dispatcher._audits is not None
    await dispatcher._audits.open()
    dispatcher.capacity(3)
    for number in range(30):
        each = of(f"g{number}")
        dispatcher.ended(each, JobOutcome(encode(record((10, 30)))), "w1", "box")
        assert contest.of(Capacity)[-1].games == 4
        dispatcher._audits.renewed(pool.jobs[-1])
        assert contest.events[-1] == Renewed(each.game_id, each.fence)
        dispatcher._audits.ended(pool.jobs[-1], PLAYED, "local-1", "here")
        assert contest.of(Capacity)[-1].games == 3
        if orders := contest.of(Command):
            break
    ((order,),) = [orders]
    assert (order.verb, order.target, order.who) == ("void-worker", "w1", "arena")
    assert contest.events.index(order) < contest.events.index(contest.of(Returned)[-1])
    assert contest.lines[0].startswith("w1: it is excluded, and its games are played again: ann gets fewer")
    await dispatcher.detached()
    dispatcher._after_audit(each, Returned(each.game_id, 1, record(), "w1", "box"))
    assert len(contest.of(Returned)) == number + 1


def test_a_worker_whose_games_fail_is_named_once_and_excluded() -> None:
    contest, dispatcher = dispatched()
    dispatcher.ended(of("g0"), PLAYED, "w2", "box")
    for number in range(MOST_FAILURES):
        dispatcher.ended(of(f"g{number}"), LOST, "w1", "box")
    assert contest.lines == [
        "w1: game g0 failed there: ModuleNotFoundError: no arena here",
        "w1: it is excluded, and its games are played again: its games fail, and others play them: "
        "ModuleNotFoundError: no arena here",
    ]
    assert [(each.verb, each.target) for each in contest.of(Command)] == [("void-worker", "w1")]
    assert len(contest.of(NotPlayed)) == MOST_FAILURES
    dispatcher._excluded.add("w1")
    dispatcher.ended(of("g9"), LOST, "w1", "box")
    assert len(contest.of(Command)) == 1


def test_a_worker_whose_results_are_refused_is_named_once_and_excluded() -> None:
    contest, dispatcher = dispatched()
    dispatcher.ended(of("g0"), PLAYED, "w2", "box")
    contest.lie = {"w1": "of other totals", "w3": LATE, "w4": EXCLUDED}
    for number in range(MOST_FAILURES):
        for worker in ("w1", "w3", "w4"):
            dispatcher.ended(of(f"g{number}"), PLAYED, worker, "box")
    assert contest.lines == [
        "w1: game g0 failed there: its result was refused: of other totals",
        "w1: it is excluded, and its games are played again: its games fail, and others play them: "
        "its result was refused: of other totals",
    ]
    assert [(each.verb, each.target) for each in contest.of(Command)] == [("void-worker", "w1")]
    assert contest.of(NotPlayed) == []
    assert not dispatcher._lost.others_play("w2"), "what is refused is no game that was played"


def test_what_one_worker_cannot_do_and_another_can_ends_no_contest() -> None:
    contest, dispatcher = dispatched()
    dispatcher.ended(of("g0"), PLAYED, "w2", "box")
    dispatcher.ended(of("g1"), JobOutcome(None, "no program 'x'", fatal=True), "w1", "box")
    assert contest.failed == []
    assert [each.target for each in contest.of(Command)] == ["w1"]
    dispatcher.ended(of("g2"), JobOutcome(None, "no program 'x'", fatal=True), "w2", "box")
    assert contest.failed == ["w2: no program 'x'"]


def test_who_leaves_or_meets_a_bot_that_was_not_played_is_not_to_blame() -> None:
    contest, dispatcher = dispatched(names=("ann", "bob", "cid"))
    dispatcher.ended(of("g0"), PLAYED, "w2", "box")
    for _ in range(4):
        dispatcher.ended(of("g1", ("ann", "cid")), LOST, "w1", "box")
    dispatcher.ended(of("g1", ("ann", "cid")), LOST, "w2", "box")
    assert [each.target for each in contest.of(Command)] == ["cid"]
    contest, dispatcher = dispatched()
    dispatcher.ended(of("g0"), PLAYED, "w2", "box")
    for number in range(20):
        dispatcher.ended(of(f"g{number}"), JobOutcome(None, HANDED_BACK), "w3", "box")
    assert (contest.lines, contest.of(Command)) == ([], [])


def test_one_of_several_workers_alone_accuses_no_bot() -> None:
    contest, dispatcher = dispatched()
    dispatcher._benches.update(w1=1000, w2=1000)
    for number in range(MOST_ALONE):
        assert contest.failed == [], number
        dispatcher.ended(of("g1"), LOST, "w1", "box")
    assert len(contest.failed) == 1


def test_failures_are_counted_since_the_last_game() -> None:
    games = LostGames(BOTS)
    for _ in range(20):
        assert not games.failed("w1", BOTS), "no game was played: a fault of all workers"
    games.played("g1", BOTS, "w1")
    assert not games.others_play("w1")
    games.played("g2", BOTS, "w2")
    assert [games.failed("w1", BOTS) for _ in range(MOST_FAILURES)] == [False] * (MOST_FAILURES - 1) + [True]
    games.played("g3", BOTS, "w1")
    assert not games.failed("w1", BOTS)
