"""The disk of the server in virtual time: what is written is durable later, and a crash may take it back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import NamedTuple

from tests.server.core.harness import past_game
from tests.simulation.network import (
    EventQueue,
    FaultProfile,
    one_in,
)

from arena_protocol.record import GameRecord
from arena_protocol.record_codec import decode, encode
from arena_server.core.journal import Entry, Past
from arena_server.store.journal import pack, unpack

ENTRIES, RECORD = "entries", "record"


class Written(NamedTuple):
    """A batch of entries, or a record, as bytes, of a contest; durable since the moment `at` (ns)."""

    kind: str
    data: bytes
    contest: str
    at: int = 0


class Disk:
    """Bytes that outlive the server; `boundary` is called before and after anything becomes durable.

    A write becomes durable a little later, and is reported then. A record is durable after all
    entries that were written before it; later entries may be so earlier. A killed server loses any part
    of what is in progress, from its end. A power cut may take back entries too, back to the
    last record, or the last `sync`: those were synced.
    """

    def __init__(
        self,
        queue: EventQueue,
        faults: FaultProfile,
        rng: Random,
        boundary: Callable[[], None] = lambda: None,
    ) -> None:
        self.boundary = boundary
        self._queue = queue
        self._faults = faults
        self._rng = rng
        #: When the last of the entries, and the last of the records, will be durable.
        self._last = {ENTRIES: 0, RECORD: 0}
        self._in_progress: list[Written] = []
        self._durable: list[Written] = []
        #: How many of the durable ones no power cut takes back.
        self._synced = 0
        #: How often the machine has died.
        self.deaths = 0

    def append(self, contest: str, entries: Sequence[Entry], done: Callable[[], None]) -> bool:
        """Make entries durable, all or none. True: they are; False: `done` will be called."""
        written = Written(ENTRIES, pack(entries), contest)
        waiting = any(each.kind == ENTRIES for each in self._in_progress)
        if not waiting and one_in(self._rng, self._faults.direct_one_in):
            self._in_progress.append(written)
            return self._land(written, self.deaths)
        self._write(written, max(self._last[ENTRIES], self._queue.now), done)
        return False

    def store(self, contest: str, record: GameRecord, done: Callable[[], None]) -> None:
        """Make a record durable, then call `done`."""
        written = Written(RECORD, encode(record), contest)
        self._write(written, max(*self._last.values(), self._queue.now), done)

    def _write(self, written: Written, begun: int, done: Callable[[], None]) -> None:
        """Have it durable a while after the moment `begun`, when what it has to wait for is."""
        self._in_progress.append(written)
        self._last[written.kind] = at = begun + self._rng.randrange(self._faults.longest_commit)
        deaths = self.deaths

        def land() -> None:
            if deaths == self.deaths and self._land(written, deaths):
                done()

        self._queue.after(at - self._queue.now, land)

    def _land(self, written: Written, deaths: int) -> bool:
        """A write becomes durable; the machine may die just before, or before that is reported."""
        self.boundary()
        if deaths == self.deaths:
            self._in_progress.remove(written)
            self._keep([written])
            self.boundary()
        return deaths == self.deaths

    def _keep(self, found: Iterable[Written]) -> None:
        self._durable += [each._replace(at=self._queue.now) for each in found]

    def sync(self) -> None:
        """A contest has ended, or another one is entered: the server waits until all before it is synced."""
        self._synced = len(self._durable)

    def durable(self, contest: str) -> list[Written]:
        """All of a contest that outlives the server, in order."""
        return [each for each in self._durable if each.contest == contest]

    def settle(self) -> None:
        """The server ends in order: what is in progress becomes durable before."""
        self.deaths += 1
        self._keep(self._in_progress)
        self._in_progress.clear()
        self._last = {ENTRIES: 0, RECORD: 0}

    def crash(self, power: bool) -> None:
        """The server is dead: some of what was in progress is durable, and that is not reported."""
        self.deaths += 1
        all_of = self._rng.randrange(len(self._in_progress) + 1)
        entries_of = self._rng.randrange(all_of, len(self._in_progress) + 1)
        self._keep(self._in_progress[:all_of])
        self._keep(each for each in self._in_progress[all_of:entries_of] if each.kind == ENTRIES)
        self._in_progress.clear()
        self._last = {ENTRIES: 0, RECORD: 0}
        if power:
            records = (n for n, written in enumerate(self._durable, 1) if written.kind == RECORD)
            synced = max(self._synced, max(records, default=0))
            del self._durable[self._rng.randrange(synced, len(self._durable) + 1) :]

    def past(self, contest: str) -> Past:
        """What a server finds of a contest that is started again."""
        mine = self.durable(contest)
        records = [decode(each.data) for each in mine if each.kind == RECORD]
        entries = [entry for each in mine if each.kind == ENTRIES for entry in unpack(each.data)]
        results = tuple(past_game(record, entries) for record in records)
        stored = {game.number for game in results}
        return Past(results, tuple(entry for entry in entries if entry[0] not in stored))
