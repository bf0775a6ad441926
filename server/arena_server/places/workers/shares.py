"""How many games a contest has on a cluster that others use, too.

Each contest has its part of the threads, whatever the others do, and beyond that the threads for which they
have no tasks. So the games in flight follow the shares as far as there are games, and no thread is idle that
one of them could use. A contest that comes later waits for the games that run.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from math import inf
from typing import Any, Final

#: Seconds for a scheduler to say how many tasks there are.
ANSWER_S: Final = 10.0
#: A thread is left by the others if they have had no task for it at as many looks in a row: one that has just
#: ended a game is about to give out the next one.
LOOKS: Final = 4


class ClusterPart:
    """The games of a contest with this share of the threads."""

    def __init__(self, share: float) -> None:
        self._share = share
        #: Else it takes all threads, and more games wait at the scheduler.
        self.is_shared = share < 1
        #: The tasks of others at the last looks; infinite: it is not known.
        self._others: deque[float] = deque([inf], maxlen=LOOKS)

    async def look(self, client: Any, keys: Collection[str]) -> None:
        """Count the tasks of the scheduler that have none of these keys, for a part that is shared."""
        if not self.is_shared:
            return
        self._others.append(inf)
        with suppress(Exception):  # it may be gone, and what it sends may be anything
            async with asyncio.timeout(ANSWER_S):
                self._others[-1] = int(await client.run_on_scheduler(_counts_without(keys)))

    def games(self, threads: int) -> int:
        """How many it has at once, of as many threads as there are."""
        part = max(1, int(self._share * threads))
        return int(min(threads, max(part, threads - max(self._others))))


def _counts_without(keys: Collection[str]) -> Any:
    """What runs on the scheduler: a function in a function is sent whole, and needs no package there."""

    def count(dask_scheduler: Any = None) -> int:
        busy = ("processing", "queued", "no-worker")
        return sum(task.state in busy and key not in keys for key, task in dask_scheduler.tasks.items())

    return count
