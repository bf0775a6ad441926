"""A call goes to the thread of a loop, in order, and to none that has ended."""

from __future__ import annotations

import asyncio
import threading

import pytest

from arena_server.host.loop_link import LoopLink


@pytest.mark.asyncio
async def test_calls_run_on_the_thread_of_the_loop_in_their_order() -> None:
    link, done = LoopLink(asyncio.get_running_loop()), asyncio.Event()
    found: list[tuple[int, bool]] = []
    here = threading.get_ident()

    def call(number: int) -> None:
        found.append((number, threading.get_ident() == here))

    def post() -> None:
        link.post(call, 1)
        link.demand(call, 2)
        link.post(done.set)

    await asyncio.to_thread(post)
    await done.wait()
    assert found == [(1, True), (2, True)]


@pytest.mark.asyncio
async def test_a_coroutine_gives_its_result_or_its_error_to_the_other_thread() -> None:
    link = LoopLink(asyncio.get_running_loop())

    async def half(number: int) -> int:
        if number % 2:
            raise ValueError(f"{number} is odd")
        return number // 2

    assert await asyncio.to_thread(lambda: link.run(half(8)).result()) == 4
    with pytest.raises(ValueError, match=r"^3 is odd$"):
        await asyncio.to_thread(lambda: link.run(half(3)).result())


def test_a_loop_that_has_ended_takes_no_calls() -> None:
    loop = asyncio.new_event_loop()
    link = LoopLink(loop)
    loop.close()
    link.post(pytest.fail, "it was called")
    with pytest.raises(RuntimeError, match=r"^Event loop is closed$"):
        link.demand(pytest.fail, "it was called")

    async def never() -> None:
        raise AssertionError

    work = never()
    with pytest.raises(RuntimeError, match=r"^Event loop is closed$"):
        link.run(work)
    work.close()
