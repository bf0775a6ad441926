"""Calls from another thread into a loop: results, errors, time limits, orders."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import pytest
from tests.slices import all_of

from arena_server.core.events import Command, Observe
from arena_server.host.host import Host
from arena_server.host.silence import StoreWatch
from arena_server.terms.config import ContestConfig
from arena_server.web.bridge import LoopBridge, UnavailableError
from arena_server.web.host_view import HostView, NewcomerError

Value = TypeVar("Value")


class ScriptedContest:
    """Takes orders and answers each with `problem`."""

    def __init__(self, bridge: LoopBridge, problem: str | None, *, answers: bool = True) -> None:
        self.commands: list[Command | Observe] = []
        self._bridge = bridge
        self._problem = problem
        self._answers = answers

    def feed(self, event: Command | Observe) -> None:
        self.commands.append(event)
        if self._answers:
            self._bridge.replied(event.number, self._problem)


async def elsewhere(call: Callable[[], Awaitable[Value]]) -> Value:
    """Await on another thread's loop, as the web application does."""

    async def run() -> Value:
        return await call()

    return await asyncio.to_thread(asyncio.run, run())


@pytest.mark.asyncio
class TestCall:
    async def test_it_runs_on_the_loops_thread(self) -> None:
        bridge = LoopBridge(asyncio.get_running_loop())
        assert await elsewhere(lambda: bridge.call(threading.get_ident)) == threading.get_ident()

    async def test_its_exception_is_the_callers(self) -> None:
        bridge = LoopBridge(asyncio.get_running_loop())
        with pytest.raises(ZeroDivisionError):
            await elsewhere(lambda: bridge.call(lambda: 1 // 0))

    async def test_a_loop_that_does_not_answer(self) -> None:
        loop = asyncio.new_event_loop()  # it never runs
        bridge = LoopBridge(loop, call_s=0)
        with pytest.raises(UnavailableError, match=r"^no answer from the loop within 0 s$"):
            await elsewhere(lambda: bridge.call(lambda: None))
        loop.close()
        with pytest.raises(UnavailableError, match=r"^the server has ended$"):
            await elsewhere(lambda: bridge.call(lambda: None))

    async def test_a_late_answer_harms_nothing(self) -> None:
        loop = asyncio.new_event_loop()
        bridge = LoopBridge(loop, call_s=0)
        failures: list[object] = []
        loop.set_exception_handler(lambda _, context: failures.append(context))
        with pytest.raises(UnavailableError):
            await elsewhere(lambda: bridge.call(lambda: None))
        await asyncio.to_thread(loop.run_until_complete, asyncio.sleep(0))
        loop.close()
        assert failures == []


@pytest.mark.asyncio
class TestOrder:
    @pytest.mark.parametrize("problem", [None, "no bot of this contest is called 'x'"])
    async def test_an_order_and_its_answer(self, problem: str | None) -> None:
        bridge = LoopBridge(asyncio.get_running_loop())
        contest = ScriptedContest(bridge, problem)
        for _ in range(2):
            assert await elsewhere(lambda: bridge.order(lambda: contest, Command(0, "kick", "x"))) == problem
        assert contest.commands == [Command(1, "kick", "x"), Command(2, "kick", "x")]

    async def test_an_order_that_is_not_durable_in_time(self) -> None:
        bridge = LoopBridge(asyncio.get_running_loop(), order_s=0)
        contest = ScriptedContest(bridge, None, answers=False)
        with pytest.raises(UnavailableError) as caught:
            await elsewhere(lambda: bridge.order(lambda: contest, Command(0, "pause")))
        assert str(caught.value) == (
            "no answer from the contest (the order may still be carried out: pause) within 0 s"
        )
        bridge.replied(1, None)  # late, and one that was never asked for
        bridge.replied(7, None)

    async def test_no_order_waits_for_a_contest_that_has_ended(self) -> None:
        bridge = LoopBridge(asyncio.get_running_loop())
        contest = ScriptedContest(bridge, None, answers=False)
        giving = asyncio.ensure_future(elsewhere(lambda: bridge.order(lambda: contest, Command(0, "pause"))))
        while not contest.commands:
            await asyncio.sleep(0)
        bridge.end()
        for order in (giving, elsewhere(lambda: bridge.order(lambda: contest, Command(0, "resume")))):
            with pytest.raises(
                UnavailableError, match=r"^the server is stopping; an order without an answer"
            ):
                await order
        assert contest.commands == [Command(1, "pause")]

    async def test_no_contest_takes_orders_yet(self) -> None:
        bridge = LoopBridge(asyncio.get_running_loop())

        def missing() -> ScriptedContest:
            raise LookupError

        with pytest.raises(LookupError):
            await elsewhere(lambda: bridge.order(missing, Command(0, "pause")))


def view(*contests: str, serving: bool = True, leaving: bool = False) -> HostView:
    """Of a host with contests: `before` their beginning, `open`, `failed`, or over as the word says."""

    def hosted(name: str, state: str) -> Any:
        ended = None if state in ("open", "silent") else state
        run = SimpleNamespace(unanswered_since=-(10**18) if state == "silent" else None)
        late = SimpleNamespace(most=0)
        return SimpleNamespace(
            name=name,
            failure=OSError() if state == "failed" else None,
            contest=None
            if state in ("before", "failed")
            else SimpleNamespace(ended=ended, tells_end=lambda now: state != "untold"),
            spec=SimpleNamespace(listed=True, late=late, entrants=(), over=False),
            find=lambda kind: StoreWatch(run, lambda event: None) if kind is StoreWatch else None,
        )

    found = {f"c{number}": hosted(f"c{number}", state) for number, state in enumerate(contests)}
    host = SimpleNamespace(
        listed=list(found.values()),
        contests=found,
        is_serving=serving,
        leaving=leaving,
        observe=lambda observer: None,
    )
    return HostView(cast(Host, host), LoopBridge(cast(asyncio.AbstractEventLoop, None)))


@all_of(
    ("host", "problem"),
    [
        (view(), "the contest has not begun yet: the database is being opened"),
        (view("before", serving=False), "the contest has not begun yet: the database is being opened"),
        (
            view("open", "before", serving=False),
            "the contest has not begun yet: the database is being opened",
        ),
        (view("open", "open", serving=False), "the contest has not begun yet: the database is being opened"),
        (view("open", "open"), None),
        (view("open", "silent"), r"the database has not answered for \d+ s"),
        (view("finished", "open"), None),
        (view("failed", "open"), None),
        (view("failed", "finished"), "the contest is over: finished"),
        (view("finished", "untold"), "the contest is over: untold"),
        (view("open", leaving=True), "the server is stopping"),
    ],
)
def test_a_host_is_ready_once_bots_and_orders_of_all_its_contests_are_served(
    host: HostView, problem: str | None
) -> None:
    if problem == "the contest is over: untold":
        assert host.problem(public=True) is None
        assert [host.hides_end(name) for name in host.names()] == [False, True]
    found = host.problem()
    assert found == problem or re.fullmatch(problem or "", found or "none")


@all_of("url", ["javascript:alert(1)", "data:text/html,x", "//a.org", "a.org", "http:"])
def test_a_bot_is_added_with_the_address_of_a_page_only(url: str) -> None:
    """An order and a registration both make their entrant here."""
    with pytest.raises(NewcomerError, match=r"^expected a url such as https://HOST/PATH, or none$"):
        view("open").newcomer("c0", "ann", "0" * 64, url=url)
    for good in ("", "https://example.org/ann", "HTTP://example.org"):
        assert view("open").newcomer("c0", "ann", "0" * 64, url=good).url == good


def test_a_page_shows_live_games_on_terms_of_its_own() -> None:
    """As of a match, whose port admits no guests: its page was given other terms than the host."""
    closed = view("open", "open")
    host = closed._host
    for hosted in host.listed:
        hosted.contest.life = SimpleNamespace(is_archived=False)  # type: ignore[union-attr]
        hosted.spec.config = ContestConfig(name=hosted.name, seed=1, guests=False)  # type: ignore[misc]
    assert closed.served() == {"c0": False, "c1": False}
    pages = [ContestConfig(name=name, seed=1) for name in ("c0", "to come")]
    shown = HostView(host, closed._bridge, pages)
    assert shown.served() == {"c0": True, "to come": True, "c1": False}
