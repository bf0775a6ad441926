"""Calls from another thread into a loop: results, errors, time limits, orders."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from arena_server.core.events import Command, Observe
from arena_server.web.bridge import LoopBridge, UnavailableError

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

    async def test_no_contest_takes_orders_yet(self) -> None:
        bridge = LoopBridge(asyncio.get_running_loop())

        def missing() -> ScriptedContest:
            raise LookupError

        with pytest.raises(LookupError):
            await elsewhere(lambda: bridge.order(missing, Command(0, "pause")))
