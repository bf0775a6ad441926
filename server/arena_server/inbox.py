"""What the writer is still to be given: entries and records, in their order, a few at a time.

Each commit costs, so what one turn of the loop brings is given together; but not more than a
few groups, so that whoever moved first in a turn need not wait for all who moved in it.
It must not know: what the entries mean, who waits for them.
"""

from __future__ import annotations

import asyncio
from collections import deque

from arena_protocol.record import GameRecord
from arena_server.core.journal import Entry
from arena_server.store.writer import Result, Writer

#: Groups of entries given together at most: a commit costs a tenth of a ply.
GROUPS = 8
#: How soon the writer is asked again that could not take entries at once.
RETRY_S = 0.001


class Inbox:
    """Stands before a writer, on the loop's thread; neither method ever waits."""

    def __init__(self, writer: Writer, loop: asyncio.AbstractEventLoop) -> None:
        self._writer = writer
        self._loop = loop
        self._waiting: deque[tuple[Entry, ...] | Result] = deque()
        #: Whether `_come` is called by itself.
        self._coming = False

    def journal(self, entries: tuple[Entry, ...]) -> None:
        """Have a group of entries written. The writer may say at once that it is durable."""
        self._waiting.append(entries)
        if len(self._waiting) == GROUPS:
            self._pass_on()
        elif not self._coming:
            self._coming = True
            self._loop.call_soon(self._come)

    def store(self, game_id: str, record: GameRecord) -> None:
        """Have a record written, behind the entries that lead to it."""
        self._waiting.append(Result(game_id, record))
        self._pass_on()

    def _come(self) -> None:
        self._coming = False
        self._pass_on()

    def _pass_on(self) -> None:
        while self._waiting:
            groups = self._take_groups()
            if groups and not self._writer.journal(groups):
                self._waiting.extendleft(reversed(groups))
                self._come_again()
                return
            while self._waiting and isinstance(result := self._waiting[0], Result):
                self._waiting.popleft()
                self._writer.put(result.game_id, result.record)

    def _take_groups(self) -> list[tuple[Entry, ...]]:
        """Take all entries up to the next record."""
        groups: list[tuple[Entry, ...]] = []
        while self._waiting and not isinstance(first := self._waiting[0], Result):
            groups.append(first)
            self._waiting.popleft()
        return groups

    def _come_again(self) -> None:
        if not self._coming:
            self._coming = True
            self._loop.call_later(RETRY_S, self._come)
