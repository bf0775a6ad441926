"""The ratings of a contest as the site shows them: fitted when a page asks, on a thread of their own.

A fit is kept as long as the chain of records that it was made of has the same head, and no
result was changed. While games are played a new one is made at most once in PAUSE times as long as the last
one took, so that it takes a small share of a processor however many pages ask.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final

from arena_server.stats.rated_games import Games
from arena_server.stats.ratings import fit_counted, plain
from arena_server.web.shown_results import NotFoundError, ShownResults

#: A new fit waits for this many times what the last one took, and for LEAST_S.
PAUSE: Final = 10.0
LEAST_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class _Fit:
    """`document` was made of the results of `state`; no new one is made before `next_at`."""

    state: tuple[bytes, int]
    next_at: float
    document: dict[str, Any]


class RatingDocuments:
    """The documents `contests/N/ratings.json`. `clock` is in seconds."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._kept: dict[tuple[ShownResults, int], _Fit] = {}
        self._thread = ThreadPoolExecutor(1, "ratings")

    async def get(self, shown: ShownResults, number: int) -> dict[str, Any]:
        """The ratings of what may be shown now. Raises NotFoundError and StoreError."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self.find, shown, number)

    def find(self, shown: ShownResults, number: int) -> dict[str, Any]:
        """The same on this thread."""
        if importlib.util.find_spec("numpy") is None:
            raise NotFoundError("this server has no numpy, which ratings need: it lacks the extra [ratings]")
        kept, now = self._kept.get((shown, number)), self._clock()
        state = shown.shown_state(number)
        if kept is not None and (kept.state == state or now < kept.next_at):
            return kept.document
        document = rating_document(*shown.rated(number))
        next_at = self._clock() + max(LEAST_S, PAUSE * (self._clock() - now))
        self._kept[shown, number] = _Fit(state, next_at, document)
        return document


def rating_document(bots: Games, versions: Games) -> dict[str, Any]:
    """The document; its `versions` is None unless a bot has played with more than one."""
    has_versions = len(bots.names) < len(versions.names)
    rated = plain(fit_counted(versions), versions=True) if has_versions else None
    return plain(fit_counted(bots)) | {"versions": rated}
