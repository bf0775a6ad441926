"""The orders about bots that are started here, from the contest to who runs them and back."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from arena_protocol.record import UsageRecord
from arena_server.core.effects import SetFrozen
from arena_server.core.events import Event, Thawed
from arena_server.core.log_events import GameOver, GameResumed, GameStarted, LogEvent
from arena_server.host.log_events import BotUsage
from arena_server.host.observers import Attachment
from arena_server.places.base import (
    Answer,
    BotEnded,
    LocalBot,
    Order,
    Running,
)
from arena_server.places.cgroup import CpuTime
from arena_server.places.frozen_bots import StartedBots
from arena_server.places.restarts import BotGroup


@dataclass
class Contest:
    """Takes what a hosted contest takes."""

    fed: list[Event] = field(default_factory=list)
    logged: list[LogEvent] = field(default_factory=list)
    attached: list[Attachment] = field(default_factory=list)

    def feed(self, event: Event) -> None:
        self.fed.append(event)

    def log(self, event: LogEvent) -> None:
        self.logged.append(event)

    def attach(self, attachment: Attachment) -> None:
        self.attached.append(attachment)


def contained() -> tuple[StartedBots, Contest, list[Order]]:
    contest, orders = Contest(), list[Order]()
    bots = StartedBots(contest, {"ann", "bob"}, orders.append)
    assert contest.attached == [bots]
    return bots, contest, orders


def measures(orders: list[Order]) -> list[Order]:
    return [order for order in orders if "measure" in order]


def measured(bot: str, run: str | None, *values: int | None, game: str = "g1", slot: int = 1) -> Answer:
    times = dict(zip(("used", "throttled", "pressure"), values, strict=True))
    return {"measured": bot, "slot": slot, "game": game, "run": run} | times


def test_orders_to_stand_still_and_to_go_on() -> None:
    bots, contest, orders = contained()
    bots.carry_out(SetFrozen("ann", 2, True, 3))
    bots.carry_out(SetFrozen("ann", 2, False, 4))
    assert orders == [
        {"freeze": "ann", "slot": 2, "number": 3},
        {"thaw": "ann", "slot": 2, "number": 4},
    ]
    assert contest.fed == []
    bots.answered({"thawed": "ann", "slot": 2, "number": 4})
    assert contest.fed == [Thawed("ann", 2, 4)]


async def used(bots: StartedBots, *answers: Answer, game: str = "g1") -> list[UsageRecord]:
    """What a game that has ended has used, by these answers."""
    ending = asyncio.ensure_future(bots.used_in(game))
    for answer in answers:
        await asyncio.sleep(0)
        assert not ending.done()
        bots.answered(answer)
    found = await ending
    bots.happened(GameOver(game, "complete", (1, 2)))
    assert not bots.measures(game)
    return found


@pytest.mark.asyncio
async def test_what_a_bot_used_in_a_game_is_the_difference() -> None:
    bots, contest, orders = contained()
    bots.happened(GameStarted("g1", ("cyd", "ann")))
    assert measures(orders) == [{"measure": "ann", "slot": 1, "game": "g1"}]
    assert not bots.measures("g1")
    bots.answered(measured("ann", "run-1", 1_000, 2_000, 3_000))
    assert bots.measures("g1")
    assert await used(bots, measured("ann", "run-1", 51_999, 2_000, 9_000)) == [UsageRecord(2, 50, 0, 6)]
    assert measures(orders)[1:] == measures(orders)[:1]
    assert contest.logged == [BotUsage("g1", "ann", 1, 50, 0, 6)]


@pytest.mark.asyncio
async def test_the_slots_of_a_game() -> None:
    bots, contest, orders = contained()
    bots.happened(GameResumed("g1", ("ann", "bob"), 4, (2, 1)))
    assert [(order["measure"], order["slot"]) for order in measures(orders)] == [("ann", 2), ("bob", 1)]
    bots.answered(measured("bob", "b", 0, 0, None))
    bots.answered(measured("ann", "a", 0, 0, 0, slot=2))
    ends = measured("bob", "b", 4000, 5000, None), measured("ann", "a", 1000, 2000, 3000, slot=2)
    assert await used(bots, *ends) == [UsageRecord(1, 1, 2, 3), UsageRecord(2, 4, 5, None)]
    assert contest.logged == [BotUsage("g1", "ann", 2, 1, 2, 3), BotUsage("g1", "bob", 1, 4, 5, None)]


@pytest.mark.asyncio
@pytest.mark.parametrize(("first", "second"), [(None, "a"), ("a", None), ("a", "b"), (None, None)])
async def test_of_a_bot_that_was_started_again_nothing_is_said(first: str | None, second: str | None) -> None:
    bots, contest, _ = contained()
    bots.happened(GameStarted("g1", ("ann", "cyd")))
    bots.answered(measured("ann", first, 0, 0, 0))
    assert bots.measures("g1") == (first is not None), "what does not run is not waited for"
    if first is not None:
        assert await used(bots, measured("ann", second, 1000, 1000, 1000)) == []
    assert contest.logged == []


@pytest.mark.asyncio
async def test_a_bot_whose_first_answer_is_late_is_not_waited_for() -> None:
    bots, contest, orders = contained()
    bots.happened(GameStarted("g1", ("ann", "bob")))
    bots.answered(measured("bob", "b", 0, 0, 0))
    ending = asyncio.ensure_future(bots.used_in("g1"))
    await asyncio.sleep(0)
    bots.answered(measured("ann", "a", 0, 0, 0))
    bots.answered(measured("bob", "b", 1000, 0, 0))
    assert await ending == [UsageRecord(2, 1, 0, 0)]
    assert [order["measure"] for order in measures(orders)] == ["ann", "bob", "bob"]
    bots.happened(GameOver("g1", "complete", (1, 2)))
    bots.answered(measured("ann", "a", 0, 0, 0))
    bots.happened(GameOver("g9", "complete", (1, 2)))
    assert (len(contest.logged), contest.fed) == (1, [])


@pytest.mark.asyncio
async def test_a_record_waits_for_no_answer_that_never_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    bots, contest, _ = contained()
    bots.happened(GameStarted("g1", ("ann", "bob")))
    bots.answered(measured("ann", "a", 0, 0, 0))
    monkeypatch.setattr("arena_server.places.frozen_bots.MEASURE_S", 0.0)
    assert await bots.used_in("g1") == []
    assert contest.logged == []


class Program:
    """A run of a bot that keeps what was ordered, and runs until the contest is over."""

    def __init__(self) -> None:
        self.orders: list[bool] = []

    async def wait(self) -> BotEnded:
        await asyncio.Event().wait()
        return BotEnded(0)

    async def end(self) -> None:
        self.orders.append(False)

    async def set_frozen(self, frozen: bool) -> None:
        self.orders.append(frozen)

    async def cpu_time(self) -> tuple[str, CpuTime] | None:
        return "mark", CpuTime(5, 6, None)


class Programs:
    """Starts one program."""

    def __init__(self) -> None:
        self.program = Program()
        self.started = asyncio.Event()

    async def start(self, bot: LocalBot) -> Running:
        self.started.set()
        return self.program


@pytest.mark.asyncio
async def test_who_runs_the_bots_carries_orders_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena_server.places.restarts.LEAVE_S", 0.0)
    launcher = Programs()
    group = BotGroup([LocalBot("ann", ["x"], "t")], launcher, None, print)  # type: ignore[arg-type]
    over: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    running = asyncio.ensure_future(group.run_beside(over, lambda: None))
    await launcher.started.wait()
    answers: asyncio.Queue[Any] = asyncio.Queue()
    for order in ("freeze", "thaw"):
        group.obey({order: "ann", "slot": 1, "number": 7}, answers.put_nowait)
    assert await answers.get() == {"thawed": "ann", "slot": 1, "number": 7}
    assert launcher.program.orders == [True, False]
    group.obey({"measure": "ann", "slot": 1, "game": "g1"}, answers.put_nowait)
    assert await answers.get() == measured("ann", "mark", 5, 6, None)
    # Of a bot that does not run: it need not be thawed, and has used nothing.
    for order in ("freeze", "thaw"):
        group.obey({order: "ann", "slot": 2, "number": 8}, answers.put_nowait)
    assert await answers.get() == {"thawed": "ann", "slot": 2, "number": 8}
    group.obey({"measure": "eve", "slot": 1, "game": "g1"}, answers.put_nowait)
    assert await answers.get() == measured("eve", None, 0, 0, None)
    group.contest_over()
    over.set_result(3)
    assert await running == 3
