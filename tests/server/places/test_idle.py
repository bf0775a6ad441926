"""A program that does not play stands still, and runs before anything is passed on to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.places.test_contained import contained
from tests.slices import all_of

from arena_server.core.log_events import (
    BotValidated,
    GameOver,
    GameStarted,
    LogEvent,
    LoggedIn,
    ValidationFailed,
    ValidationStarted,
)
from arena_server.places import relay
from arena_server.places.base import Order
from arena_server.places.idle import IDLE_S, IdleFreezer
from arena_server.places.restarts import Orders


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


def login(bot: str, slot: int = 1) -> LoggedIn:
    return LoggedIn(1, "127.0.0.1:9", bot, None, False, slot)


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

    class Resting:
        async def set_resting(self, resting: bool) -> None:
            asked.append(resting)

    orders: Any = Orders()
    for running in (None, object(), Resting()):
        for verb in ("rests", "plays"):
            orders.give(running, {verb: "ann", "slot": 1}, pytest.fail)
    while len(asked) < 2:
        await asyncio.sleep(0)
    assert asked == [True, False]
