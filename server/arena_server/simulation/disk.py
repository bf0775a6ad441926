"""The disk of the simulated referee: journal and results, in the order in which they were written.

What was written is durable a little later, and said to be so a little after that. A result is
durable after all entries that were written before it; later entries may be so earlier. A killed
server loses what the system has not got: any part of what is under way, from its end. A power
cut may take back entries of the journal as well, back to the last result: those were synced.
It must not know: what entries mean, sockets, bots.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from arena_protocol.record import GameRecord, decode, encode
from arena_server.core.ids import number_of
from arena_server.core.journal import Entry, Past, PastGame
from arena_server.simulation.agenda import Agenda
from arena_server.simulation.network import Weather
from arena_server.store.payload import pack, unpack

ENTRIES, RECORD = "entries", "record"
#: A group of entries, or a record, as bytes.
Written = tuple[str, bytes]


class Disk:
    """Bytes that outlive the server; `boundary` is called before and after anything becomes durable."""

    def __init__(
        self, agenda: Agenda, weather: Weather, rng: Random, boundary: Callable[[], None] = lambda: None
    ) -> None:
        self.boundary = boundary
        self._agenda = agenda
        self._weather = weather
        self._rng = rng
        #: When the last of the entries, and the last of the results, will be durable.
        self._last = {ENTRIES: 0, RECORD: 0}
        self._under_way: list[Written] = []
        self._durable: list[Written] = []
        #: Counts the crashes: what was under way before one never becomes durable after it.
        self._life = 0

    def journal(self, entries: tuple[Entry, ...], done: Callable[[], None]) -> None:
        """Make entries durable, then call `done`."""
        self._write((ENTRIES, pack(entries)), max(self._last[ENTRIES], self._agenda.now), done)

    def store(self, record: GameRecord, done: Callable[[], None]) -> None:
        """Make a record durable, then call `done`."""
        self._write((RECORD, encode(record)), max(*self._last.values(), self._agenda.now), done)

    def _write(self, written: Written, begun: int, done: Callable[[], None]) -> None:
        """Have it durable a while after the moment `begun`, when what it has to wait for is."""
        self._under_way.append(written)
        self._last[written[0]] = at = begun + self._rng.randrange(self._weather.longest_commit)
        life = self._life
        self._agenda.after(at - self._agenda.now, lambda: self._land(written, life, done))

    def _land(self, written: Written, life: int, done: Callable[[], None]) -> None:
        """A write becomes durable; the machine may die just before, or before it is told."""
        if life == self._life:
            self.boundary()
        if life == self._life:
            self._under_way.remove(written)
            self._durable.append(written)
            self.boundary()
            if life == self._life:
                done()

    def crash(self, power: bool) -> None:
        """The server is dead: some of what was under way is durable, and nobody is told."""
        self._life += 1
        all_of = self._rng.randrange(len(self._under_way) + 1)
        entries_of = self._rng.randrange(all_of, len(self._under_way) + 1)
        self._durable += self._under_way[:all_of]
        self._durable += [each for each in self._under_way[all_of:entries_of] if each[0] == ENTRIES]
        self._under_way.clear()
        self._last = {ENTRIES: 0, RECORD: 0}
        if power:
            synced = max((n for n, (kind, _) in enumerate(self._durable, 1) if kind == RECORD), default=0)
            del self._durable[self._rng.randrange(synced, len(self._durable) + 1) :]

    def past(self) -> Past:
        """What a server finds that is started again."""
        records = [decode(data) for kind, data in self._durable if kind == RECORD]
        results = tuple(map(_result, records))
        stored = {game.number for game in results}
        entries = [entry for kind, data in self._durable if kind == ENTRIES for entry in unpack(data)]
        return Past(results, tuple(entry for entry in entries if entry[0] not in stored))


def _result(record: GameRecord) -> PastGame:
    faults = tuple((record.names[fault.seat - 1], str(fault.kind)) for fault in record.faults if fault.seat)
    number = number_of(record.game_id)
    return PastGame(number, record.names, record.totals, record.end, len(record.plies), faults)
