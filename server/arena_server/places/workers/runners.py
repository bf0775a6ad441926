"""The workers with a container engine, which alone play games with bots in containers.

joined -> offer_engine -> the resource ENGINE -> Runners.there -> the jobs that waited are submitted
the last one gone -> all such jobs are given back, and wait: Dask offers none to an engine that comes later
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from typing import Any, Final

from arena_server.places.base import LaunchError
from arena_server.places.workers.base import GameJob
from arena_server.places.workers.images import SavedImages, offer_engine, receive
from arena_server.terms.sandbox import Sandbox

#: How often a worker is sent the same image.
MOST_SENT: Final = 3
NO_ENGINE: Final = "no worker has a container engine; games with a bot in a container wait for one"

#: Runs a function with arguments on the worker at an address, and returns its answer.
Run = Callable[..., Awaitable[Any]]


def is_contained(job: GameJob) -> bool:
    """Whether a container engine is needed for its game."""
    return any(bot.sandbox is not None for bot in job.bots)


class Runners:
    """The runners of a pool, and the images that they may ask for by its `topic`."""

    def __init__(self, topic: str, run: Run, images: SavedImages | None = None) -> None:
        self._topic = topic
        self._run = run
        self._images = images or SavedImages()
        #: Their addresses, and how often each was sent what.
        self._engines: set[str] = set()
        self._sent: Counter[tuple[str, str]] = Counter()
        self._said = False
        #: Set while there are any.
        self.there: Final = asyncio.Event()

    def expect(self, job: GameJob) -> None:
        """The images of this job may be asked for."""
        for bot in job.bots:
            if bot.sandbox is not None:
                self.offer(bot.sandbox)

    def offer(self, sandbox: Sandbox) -> None:
        """Its image may be asked for."""
        self._images.add(sandbox)

    @property
    def addresses(self) -> Collection[str]:
        return self._engines

    async def ask(self, address: str) -> None:
        """Learn whether the worker at this address has an engine."""
        with suppress(Exception):  # it may be gone, and what it sends may be anything
            if await self._run(address, offer_engine) is True:
                self._engines.add(address)
                self.there.set()

    def keep(self, addresses: Collection[str]) -> bool:
        """All other workers are gone. Returns whether the last runner has just gone."""
        had = bool(self._engines)
        self._engines.intersection_update(addresses)
        if not self._engines:
            self.there.clear()
        return had and not self._engines

    def said_to_wait(self) -> bool:
        """Whether it is to be said that games wait for an engine: once."""
        says = not self._engines and not self._said
        self._said = self._said or says
        return says

    async def send(self, image: str, address: str) -> int:
        """Send an image to a worker that lacks it; returns its bytes, 0 if it does not get it.

        Its address may be that of another one, which takes nothing that it has not asked for.
        """

        async def put(offset: int, data: bytes, last: bool, problem: str) -> bool:
            try:
                answer = await self._run(address, receive, image, self._topic, offset, data, last, problem)
            except (OSError, ValueError) as error:  # it is gone
                raise LaunchError(str(error)) from None
            return answer is True

        if image not in self._images:
            return 0
        with suppress(LaunchError):  # said by the worker, with its game
            if self._sent[address, image] == MOST_SENT:  # a worker that asks for ever
                await put(0, b"", True, f"it was sent {MOST_SENT} times")
                return 0
            self._sent[address, image] += 1
            return await self._images.send(image, put)
        self._sent[address, image] -= 1
        return 0

    async def close(self) -> None:
        await self._images.close()
