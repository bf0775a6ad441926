"""Calls across threads: a function or a coroutine runs on the thread of one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final, TypeVar

Answer = TypeVar("Answer")


class LoopLink:
    """The way to the thread of `loop`, for any thread. A loop that has ended takes no calls."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop: Final = loop

    def post(self, function: Callable[..., object], *arguments: object) -> None:
        """Have the loop call a function, behind what it was given before; nothing if it has ended."""
        with suppress(RuntimeError):
            self.demand(function, *arguments)

    def demand(self, function: Callable[..., object], *arguments: object) -> None:
        """As `post`, but raises RuntimeError if the loop has ended."""
        self.loop.call_soon_threadsafe(function, *arguments)

    def run(self, work: Coroutine[Any, Any, Answer]) -> Future[Answer]:
        """Have the loop run a coroutine; the future has its result. Raises RuntimeError if it has ended."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)
