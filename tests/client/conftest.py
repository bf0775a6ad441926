"""A scripted server, and drivers that run the same test on asyncio and on trio."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import trio
import trio.testing

from arena_client import asyncio_client, trio_client
from arena_client.retry import RetryPolicy

from .fake_server import FakeServer, serving

#: Two further tries without a wait.
EAGER = RetryPolicy(delays=lambda: iter([0.0, 0.0]))


@pytest.fixture
def server() -> Iterator[FakeServer]:
    yield from serving()


class VirtualTime:
    """The clock of a client that runs: it stands until another thread lets time pass."""

    def __init__(self) -> None:
        self._post: Callable[[Callable[[], None]], object] | None = None
        self._jump: Callable[[float], object] | None = None
        self._passed = threading.Event()

    def begin(self, post: Callable[[Callable[[], None]], object], jump: Callable[[float], object]) -> None:
        """`jump(seconds)` sets the clock, in the event loop; `post` runs a function there."""
        self._post, self._jump = post, jump

    def end(self) -> None:
        """The event loop has ended."""
        self._passed.set()

    def let_pass(self, seconds: float) -> None:
        """Return when the event loop has seen it, or has ended."""
        assert self._post is not None

        def passes() -> None:
            assert self._jump is not None
            self._jump(seconds)
            self._passed.set()

        self._passed.clear()
        with suppress(RuntimeError, trio.RunFinishedError):
            self._post(passes)
            self._passed.wait()


class StandingLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock is set by the test."""

    now = 0.0

    def time(self) -> float:
        return self.now

    def jump(self, seconds: float) -> None:
        self.now += seconds


class Asyncio:
    """Drives `asyncio_client`."""

    shell = asyncio_client

    def play_in(self, time: VirtualTime, bot: Any, port: int, policy: RetryPolicy) -> str:
        """As `play`, by this clock."""
        try:
            with asyncio.Runner(loop_factory=StandingLoop) as runner:
                loop = runner.get_loop()
                assert isinstance(loop, StandingLoop)
                time.begin(loop.call_soon_threadsafe, loop.jump)
                return runner.run(asyncio_client.play(bot, "127.0.0.1", port, name="me", policy=policy))
        finally:
            time.end()

    def play(self, bot: Any, port: int, *, name: str = "me", policy: RetryPolicy = EAGER, **more: Any) -> str:
        return asyncio_client.run(bot, "127.0.0.1", port, name=name, policy=policy, **more)

    def play_until(self, event: threading.Event, bot: Any, port: int) -> bool:
        """Cancel the client when the event is set; return whether it ended as cancelled."""

        async def main() -> bool:
            client = asyncio.create_task(asyncio_client.play(bot, "127.0.0.1", port, name="me"))
            await asyncio.to_thread(event.wait)
            client.cancel()
            await asyncio.wait([client])
            return client.cancelled()

        return asyncio.run(main())

    def reading_limit(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[], float | None]:
        """Return a function that gives the final deadline of the last time limit, None for none."""
        made: list[asyncio.Timeout] = []
        real = asyncio.timeout

        def recorded(seconds: float | None) -> asyncio.Timeout:
            made.append(real(seconds))
            return made[-1]

        monkeypatch.setattr(asyncio, "timeout", recorded)
        return lambda: made[-1].when()


class Trio:
    """Drives `trio_client`."""

    shell = trio_client

    def play_in(self, time: VirtualTime, bot: Any, port: int, policy: RetryPolicy) -> str:
        """As `play`, by this clock."""
        clock = trio.testing.MockClock()

        async def main() -> str:
            time.begin(trio.lowlevel.current_trio_token().run_sync_soon, clock.jump)
            return await trio_client.play(bot, "127.0.0.1", port, name="me", policy=policy)

        try:
            return trio.run(main, clock=clock)
        finally:
            time.end()

    def play(self, bot: Any, port: int, *, name: str = "me", policy: RetryPolicy = EAGER, **more: Any) -> str:
        return trio_client.run(bot, "127.0.0.1", port, name=name, policy=policy, **more)

    def play_until(self, event: threading.Event, bot: Any, port: int) -> bool:
        """Cancel the client when the event is set; return whether it ended as cancelled."""

        async def main() -> bool:
            async with trio.open_nursery() as nursery:

                async def client() -> None:
                    await trio_client.play(bot, "127.0.0.1", port, name="me")

                nursery.start_soon(client)
                await trio.to_thread.run_sync(event.wait)
                nursery.cancel_scope.cancel()
            return nursery.cancel_scope.cancelled_caught

        return trio.run(main)

    def reading_limit(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[], float | None]:
        """Return a function that gives the final deadline of the last time limit, None for none."""
        made: list[trio.CancelScope] = []
        real = trio.move_on_after

        def recorded(seconds: float) -> trio.CancelScope:
            made.append(real(seconds))
            return made[-1]

        monkeypatch.setattr(trio, "move_on_after", recorded)
        return lambda: None if made[-1].deadline == math.inf else made[-1].deadline


Driver = Asyncio | Trio


@pytest.fixture(params=[Asyncio, Trio])
def driver(request: pytest.FixtureRequest) -> Driver:
    made: Driver = request.param()
    return made
