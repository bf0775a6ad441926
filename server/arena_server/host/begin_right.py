"""The right of a server to begin contests in its database, which those that begin at the same time share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol


class Held(Protocol):
    """A right that is given up once."""

    def release(self) -> None: ...


class BeginRight:
    """No other server begins contests from the end of a `wait` to the last `release`. For the loop's thread.

    `take` waits for another server that has the right, on a thread, and raises StoreError if that takes too
    long; without it there is no other server. One that is `held` already has a first claim.
    """

    def __init__(self, take: Callable[[], Held] | None = None, held: Held | None = None) -> None:
        self._take = take
        self._held = held
        self._claims = 0 if held is None else 1
        self._taking: asyncio.Future[None] | None = None

    def claim(self) -> None:
        """Keep the right if it is held, or ask for it; each claim needs its `release`."""
        self._claims += 1

    async def wait(self) -> None:
        """Wait until the right is held; call it with a claim. Raises StoreError."""
        if self._take is None or self._held is not None:
            return
        if self._taking is None:
            self._taking = asyncio.ensure_future(self._taken())
        await asyncio.shield(self._taking)  # others wait for the same

    async def _taken(self) -> None:
        assert self._take is not None, "it is asked for"
        try:
            held = await asyncio.to_thread(self._take)
        finally:
            self._taking = None
        if self._claims:
            self._held = held
        else:  # who asked for it does not wait any more
            held.release()

    def release(self) -> None:
        """Give up a claim, and with the last one the right."""
        self._claims -= 1
        if not self._claims and self._held is not None:
            held, self._held = self._held, None
            held.release()
