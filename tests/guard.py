"""A test with a real clock or a process says so by its marker `real`, else it fails: see tests/README.md.

What counts: a process that is started, a browser, a sleep of the test's own thread that has elapsed. What
fixtures of a module or session do does not: a test that reads what they left needs no marker.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
import time
from collections.abc import Generator
from typing import Any

import pytest
import trio
from trio.testing import MockClock

#: `soak` tests run alone anyhow.
MARKERS = ("real", "soak")
#: The fixture of a running browser.
BROWSER = "browser"


class Guard:
    """Notes what the running test does that needs the marker."""

    def __init__(self) -> None:
        self._found: list[str] | None = None

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Watch what starts processes and what sleeps."""
        sleep, async_sleep, trio_sleep = time.sleep, asyncio.sleep, trio.sleep
        start, fork = subprocess.Popen.__init__, os.fork

        def noted_sleep(seconds: float) -> None:
            sleep(seconds)
            self._note(f"time.sleep({seconds})")

        async def noted_async_sleep(delay: float, result: object = None) -> object:
            result = await async_sleep(delay, result)
            # A loop with a clock of its own sleeps in virtual time.
            if delay > 0 and type(asyncio.get_running_loop()).time is asyncio.BaseEventLoop.time:
                self._note(f"asyncio.sleep({delay})")
            return result

        async def noted_trio_sleep(seconds: float) -> None:
            await trio_sleep(seconds)
            if seconds > 0 and not isinstance(trio.lowlevel.current_clock(), MockClock):
                self._note(f"trio.sleep({seconds})")

        def noted_start(process: subprocess.Popen[Any], *arguments: Any, **more: Any) -> None:
            self._note(f"the process {arguments[0] if arguments else more['args']!r:.80}")
            start(process, *arguments, **more)

        def noted_fork() -> int:
            self._note("os.fork()")
            return fork()

        patch.setattr(time, "sleep", noted_sleep)
        patch.setattr(asyncio, "sleep", noted_async_sleep)
        patch.setattr(asyncio.tasks, "sleep", noted_async_sleep)
        patch.setattr(trio, "sleep", noted_trio_sleep)
        patch.setattr(subprocess.Popen, "__init__", noted_start)
        patch.setattr(os, "fork", noted_fork)

    def _note(self, what: str) -> None:
        # A thread of the product may sleep: the test does not wait for it.
        if self._found is not None and threading.current_thread() is threading.main_thread():
            self._found.append(what)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        found, self._found = self._found, None
        try:
            return (yield)
        finally:
            self._found = found

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        self._found = None if any(map(item.get_closest_marker, MARKERS)) else []
        if BROWSER in getattr(item, "fixturenames", ()):
            self._note("a browser")
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        result = yield
        found, self._found = self._found, None
        if found:
            pytest.fail(f"{found[0]}: this test needs the marker `real` (tests/README.md)", pytrace=False)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Generator[None, object, object]:
        self._found = None
        return (yield)
