"""A program that does not play stands still, and runs before anything is passed on to it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.places.test_contained import Contest, contained
from tests.server.places.test_restarts import SilentGames
from tests.slices import all_of

from arena_server.core.log_events import (
    BotValidated,
    ConnectionLost,
    GameOver,
    GameStarted,
    LogEvent,
    LoggedIn,
    ValidationFailed,
    ValidationStarted,
)
from arena_server.places import process, relay, restarts
from arena_server.places.base import LocalBot, Order
from arena_server.places.frozen_bots import StartedBots
from arena_server.places.idle import IDLE_S, IdleFreezer, Rests
from arena_server.places.process import BotProcess
from arena_server.places.restarts import BotGroup, Orders


class Timers:
    """Takes the place of `call_later`; `pass_` is the end of the time of the one that is set."""

    def __init__(self) -> None:
        self.set: Callable[[], None] | None = None

    def call_later(self, delay: float, call: Callable[[], None]) -> Timers:
        assert (delay, self.set) == (IDLE_S, None), "one timer at most"
        self.set = call
        return self

    def cancel(self) -> None:
        self.set = None

    def pass_(self) -> None:
        if self.set is not None:
            call, self.set = self.set, None
            call()


async def run(steps: list[str]) -> list[bool]:
    """What was ordered of the program in these steps; after each it is as it has to be."""
    timers, orders = Timers(), list[bool]()
    asyncio.get_running_loop().call_later = timers.call_later  # type: ignore[assignment, method-assign]

    async def set_frozen(frozen: bool) -> None:
        orders.append(frozen)

    freezer = IdleFreezer(set_frozen)
    resting = frozen = False
    for step in steps:
        match step:
            case "rests" | "plays":
                resting, frozen = step == "rests", False
                await freezer.set_resting(resting)
            case "line":
                frozen = False
                await freezer.wake()
            case _:
                frozen = frozen or resting
                timers.pass_()
                await asyncio.sleep(0)
        assert (bool(orders) and orders[-1]) == frozen
    freezer.close()
    assert timers.set is None
    await freezer.wake()
    assert timers.set is None, "an ended program is not frozen"
    return orders


@given(st.lists(st.sampled_from(["rests", "plays", "line", "time"]), max_size=12))
def test_it_stands_still_just_when_it_rests_and_nothing_comes(steps: list[str]) -> None:
    orders = asyncio.run(run(steps))
    assert all(before != after for before, after in zip([False, *orders], orders, strict=False))


@pytest.mark.asyncio
async def test_a_line_is_passed_on_when_the_program_runs(tmp_path: Path) -> None:
    """The relay waits for `before`, in the direction to the program alone."""
    said: list[str] = []
    go_on = asyncio.Event()

    async def before() -> None:
        said.append("thawing")
        await go_on.wait()
        said.append("thawed")

    class Writer:
        def write(self, data: bytes) -> None:
            said.append(data.decode())

        async def drain(self) -> None: ...
        def write_eof(self) -> None: ...
        def close(self) -> None: ...
        def get_extra_info(self, _: str) -> Any:
            return type("Socket", (), {"family": None})

    def reader(data: bytes) -> asyncio.StreamReader:
        found = asyncio.StreamReader()
        found.feed_data(data)
        found.feed_eof()
        return found

    joining = asyncio.ensure_future(
        relay.join((reader(b"from it"), Writer()), (reader(b"to it"), Writer()), before)
    )
    while len(said) < 2:
        await asyncio.sleep(0)
    assert sorted(said) == ["from it", "thawing"]
    go_on.set()
    await joining
    assert said[2:] == ["thawed", "to it"]


def rests(orders: list[Order]) -> list[tuple[str, str, int]]:
    return [
        (verb, order[verb], order["slot"]) for order in orders for verb in ("rests", "plays") if verb in order
    ]


CONNECTIONS = count(1)


def login(bot: str, slot: int = 1) -> LoggedIn:
    return LoggedIn(next(CONNECTIONS), "127.0.0.1:9", bot, None, False, slot)


def lost(login: LoggedIn) -> ConnectionLost:
    return ConnectionLost(login.conn, login.peer, login.bot, "closed")


ANN = login("ann")


PLAYED: list[tuple[list[LogEvent], list[tuple[str, str, int]]]] = [
    ([login("ann"), login("eve")], [("rests", "ann", 1)]),
    (
        [GameStarted("g1", ("ann", "eve"), (2, 1)), login("ann", 2), login("ann", 1)],
        [("plays", "ann", 2), ("rests", "ann", 1)],
    ),
    (
        [
            GameStarted("g1", ("ann", "bob")),
            GameOver("g1", "complete", (1, 2)),
            GameOver("g1", "complete", (1, 2)),
        ],
        [("plays", "ann", 1), ("plays", "bob", 1), ("rests", "ann", 1), ("rests", "bob", 1)],
    ),
    (
        [login("ann"), login("bob"), ValidationStarted("ann", "v1"), BotValidated("ann", "v1")],
        [("rests", "ann", 1), ("rests", "bob", 1), ("plays", "ann", 1), ("rests", "ann", 1)],
    ),
    (
        [login("ann"), ValidationStarted("ann", "v1"), ValidationFailed("ann", "v1", "illegal", 3)],
        [("rests", "ann", 1), ("plays", "ann", 1), ("rests", "ann", 1)],
    ),
    ([ANN, lost(ANN), lost(ANN), lost(login("eve"))], [("rests", "ann", 1), ("plays", "ann", 1)]),
    ([ANN, login("ann"), lost(ANN)], [("rests", "ann", 1), ("rests", "ann", 1)]),
]


@all_of(("events", "expected"), PLAYED)
def test_who_plays_no_game_rests(events: list[LogEvent], expected: list[tuple[str, str, int]]) -> None:
    bots, _, orders = contained()
    for event in events:
        bots.happened(event)
    assert rests(orders) == expected


@pytest.mark.asyncio
async def test_a_place_that_cannot_freeze_is_not_asked() -> None:
    asked: list[bool] = []

    class Resting(Rests):
        async def set_resting(self, resting: bool) -> None:
            asked.append(resting)

    orders: Any = Orders()
    for running in (None, object(), Resting()):
        for verb in ("rests", "plays"):
            orders.give(running, {verb: "ann", "slot": 1}, pytest.fail)
    while len(asked) < 2:
        await asyncio.sleep(0)
    assert asked == [True, False]


class Script:
    """A group of one bot as a process, whose signals are kept, in the time of `Timers`."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.timers, self.done = Timers(), ""
        self.watches = True
        self.started = asyncio.Event()
        self.group = BotGroup([LocalBot("ann", ["x"], "t")], self, SilentGames(), lambda _: None)
        bots = StartedBots(Contest(), {"ann"}, lambda order: self.group.obey(order, lambda _: None))
        self.bots = bots
        self.child = FakeChild(self)
        patch.setattr(process, "signal_session", self.signal)
        loop = asyncio.get_running_loop()
        later = loop.call_later
        patch.setattr(
            loop,
            "call_later",
            lambda delay, call, *more: (
                self.timers.call_later(delay, call) if delay == IDLE_S else later(delay, call, *more)
            ),
        )

    def signal(self, group: int, number: int) -> None:
        assert group == self.child.process.pid
        self.done += {signal.SIGSTOP: "S", signal.SIGCONT: "C"}[signal.Signals(number)]

    async def start(self, _: LocalBot) -> BotProcess:
        self.child = FakeChild(self)
        self.started.set()
        return BotProcess(self.child, self, False)  # type: ignore[arg-type] # what it needs of them

    def watch(self, group: int) -> None:
        self.done += "+"

    def forget(self, group: int) -> None:
        self.done += "-"

    async def take(self, step: str) -> None:
        match step:
            case "time":
                self.timers.pass_()
            case "login":
                self.group.logged_in("ann", 1)
                self.bots.happened(ANN)
            case "game":
                self.bots.happened(GameStarted("g1", ("ann", "eve")))
            case "over":
                self.bots.happened(GameOver("g1", "complete", (1, 2)))
            case "closed":  # kicked, another version, the end of the contest: BYE
                self.bots.closing(ANN.conn)
            case "crash":
                self.started.clear()
                self.child.ended.set()
                await self.started.wait()
            case "end":
                self.group.contest_over()
            case "no_sweeper":
                self.watches = False
        for _ in range(10):
            await asyncio.sleep(0)


class FakeChild:
    """What `BotProcess` needs of a `Child`; it ends by itself, or is ended."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.ended = asyncio.Event()
        self.process = SimpleNamespace(pid=7, returncode=None)

    async def wait(self) -> int:
        await self.ended.wait()
        self.process.returncode = 0
        return 0

    async def end(self) -> None:
        self._script.done += "E"

    def last_error(self) -> str:
        return ""

    def trace(self) -> list[str]:
        return []

    def last_lines(self, _: int) -> list[str]:
        return []


#: What is done to a process: + it is watched, S stopped, C goes on, E is ended, - is forgotten.
LIVES = {
    "before it has logged in it runs": ("time end", "+E-"),
    "before its first game": ("login time game time end", "+SCE-"),
    "between two games": ("login game over time game over time end", "+SCSCE-"),
    "it has time for what it has learned": ("login game over end time", "+E-"),
    "it is thawed once, and not stopped in its game": ("login time game time time over end", "+SCE-"),
    "the server stops while it stands still": ("login time end", "+SCE-"),
    "it is kicked, reads BYE and comes back": ("login time closed time login time end", "+SCSCE-"),
    "another version plays for it": ("login time closed end", "+SCE-"),
    "it has crashed while it stood still, and is started again": ("login time crash time end", "+SE-+E-"),
    "its second start rests, too": ("login crash login time game end", "+E-+SCE-"),
    "without a sweeper it runs": ("no_sweeper login time game end", "+CE-"),
    "it is thawed without a sweeper": ("login time no_sweeper game end", "+SCE-"),
}


@pytest.mark.asyncio
@pytest.mark.parametrize("life", LIVES)
async def test_a_process_runs_when_it_plays_and_is_stopped_when_it_rests(
    life: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restarts, "RESTARTS_S", (0.0,))
    monkeypatch.setattr(restarts, "REPORT_S", 0.0)
    monkeypatch.setattr(restarts, "LEAVE_S", 0.0)
    steps, expected = LIVES[life]
    script = Script(monkeypatch)
    over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    running = asyncio.ensure_future(script.group.run_beside(over, lambda: None))
    await script.started.wait()
    for step in steps.split():
        await script.take(step)
    over.set_result(None)
    await running
    assert script.done == expected


@pytest.mark.asyncio
async def test_what_is_woken_at_the_last_moment_is_not_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    timers, orders = Timers(), list[bool]()
    monkeypatch.setattr(asyncio.get_running_loop(), "call_later", timers.call_later)

    async def set_frozen(frozen: bool) -> None:
        orders.append(frozen)

    freezer = IdleFreezer(set_frozen)
    await freezer.set_resting(True)
    timers.pass_()
    await freezer.set_resting(False)
    await asyncio.sleep(0)
    assert orders == []
