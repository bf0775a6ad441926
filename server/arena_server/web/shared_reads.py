"""Reading the archive of a site: on one thread, and once for all that ask for the same."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from arena_server.web.archive import Archive
from arena_server.web.security import small_number
from arena_server.web.shown_results import NotFoundError

T = TypeVar("T")
Endpoint = Callable[[Request], Awaitable[Response]]


class SharedReads:
    """Reads `archive` and, of the games of visitors, `played`."""

    def __init__(self, archive: Archive, played: Archive | None = None) -> None:
        self.archive = archive
        self.played = played
        # The database is read on one thread: SQLite and the archive's memory need no lock then.
        self._thread = ThreadPoolExecutor(1, "archive")
        self._turn = asyncio.Lock()
        #: What has been asked of that thread and has not begun.
        self._queued: dict[Hashable, asyncio.Future[Any]] = {}

    async def run(self, function: Callable[..., T], *arguments: object) -> T:
        """Call `function` on the archive's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    async def of(self, contest: str, method: Callable[..., T], *arguments: object) -> T:
        """What `method` of an archive returns for this contest."""

        def read() -> T:
            archive, number = self.find(contest)
            return method(archive, number, *arguments)

        return await self.share((method, contest, *arguments), read)

    async def share(self, key: Hashable, read: Callable[[], T]) -> T:
        """`read` on the archive's thread, once for all that ask before it begins.

        So each of them gets all that was durable when it asked, and of each document two answers at most
        are under way.
        """
        if key not in self._queued:
            self._queued[key] = asyncio.ensure_future(self._begin(key, read))
        found: T = await asyncio.shield(self._queued[key])  # a viewer who leaves ends it for no other
        return found

    async def _begin(self, key: Hashable, read: Callable[[], T]) -> T:
        async with self._turn:
            del self._queued[key]  # who asks from now on may ask for more than is read here
            return await self.run(read)

    def find(self, contest: str) -> tuple[Archive, int]:
        """The archive and the number of a contest: one by its number, a visitor's by its name.

        On the archive's thread. Raises NotFoundError.
        """
        own = small_number(contest)
        if own is not None and str(own) == contest:  # one document has one address
            return self.archive, own
        if self.played is not None and self.played.exists():
            number = self.played.latest(contest)
            if number is not None:
                return self.played, number
        raise NotFoundError(f"no contest {contest:.40}")
