"""The rows of a contest's journal as its server writes them, and which of their entries still matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, delete, func, insert, select

from arena_server.core.game_facts import Offered
from arena_server.core.journal import KEPT, OFFER, Entry, Live, Past, fact_of
from arena_server.store.journal import JournalAppender, pack
from arena_server.store.schema import JournalRow

#: The journal is compacted once it has this many entries and four times as many as still matter.
COMPACT_ENTRIES = 20_000
#: Entries rewritten and rows deleted per transaction of a compaction: `append` waits for one of them.
STEP_ENTRIES, STEP_ROWS = 500, 1_000


class JournalRows:
    """The journal of one contest, on the writer's connection and in its transactions.

    `live` has the entries that still matter. `kept` has those that outlive the journal and are not in the
    table of facts yet. `written` counts the rows written here and by the appender.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._contest = 0
        self.appender: JournalAppender | None = None
        self.live = Live()
        self.kept: list[Entry] = []
        self.written = 0
        #: How many entries the journal holds, and its newest row before there is an appender.
        self._entries = self._newest = 0

    def begin(self, contest: int, newest: int = 0, past: Past | None = None) -> None:
        """Have the journal of this contest, up to row `newest`."""
        self._contest, self._newest = contest, newest
        if past is not None:
            self.live.add(past.entries)
            self._entries = len(past.entries)
            for game in past.results:
                self.live.forget(game.number)

    @property
    def newest(self) -> int:
        """The number of the newest row, which the appender counts once it exists."""
        return self._newest if self.appender is None else self.appender.place

    def close(self) -> None:
        """Append nothing more; the caller holds the lock."""
        if self.appender is not None:
            self._newest = self.appender.place
            self.appender.close()
            self.appender = None

    def count_recent(self) -> None:
        """Count what was appended without this thread; the caller holds the lock."""
        if self.appender is not None:
            recent, self.appender.recent = self.appender.recent, []
            for entries in recent:
                self._count(entries)

    def _count(self, entries: Sequence[Entry]) -> None:
        self.kept += (entry for entry in self.live.add(entries) if entry[1] in KEPT)
        self._entries += len(entries)
        self.written += 1

    def add(self, entries: Sequence[Entry]) -> None:
        """Write a row."""
        self._insert(entries)
        self._count(entries)

    def _insert(self, entries: Sequence[Entry]) -> None:
        place = self.newest + 1
        row = {"contest_id": self._contest, "place": place, "payload": pack(entries)}
        self.connection.execute(insert(JournalRow), row)
        self._set_newest(place)

    def _set_newest(self, place: int) -> None:
        if self.appender is None:
            self._newest = place
        else:
            self.appender.place = place

    def offer(self, number: int) -> Offered | None:
        """The offer of an unfinished game; None without one."""
        offers = (entry for entry in self.live.games.get(number, ()) if entry[1] == OFFER)
        fact = next((fact_of(entry) for entry in offers), None)
        return fact if isinstance(fact, Offered) else None

    def delete(self) -> None:
        """Delete all rows: the contest has ended for good."""
        self.live, self._entries = Live(), 0
        self._set_newest(0)
        self.connection.execute(delete(JournalRow).where(JournalRow.contest_id == self._contest))

    # -- compaction

    @property
    def is_long(self) -> bool:
        """Whether it is to be compacted."""
        return self._entries > COMPACT_ENTRIES and self._entries > 4 * len(self.live)

    def compact(self) -> None:
        """Rewrite the entries that still matter and delete all older rows, in one transaction."""
        for _ in self.compaction_steps():
            pass

    def compaction_steps(self) -> Iterator[bool]:
        """Do the same in steps; the journal has the same meaning after each of them.

        The contest's entries replace each other, and a game's first entry replaces all before it.
        """
        self.count_recent()
        mine, rows = JournalRow.contest_id == self._contest, JournalRow.id
        last = self.connection.scalar(select(func.max(rows)).where(mine)) or 0
        self._insert(self.live.contest)  # also without entries: the newest row keeps its place
        size = 0
        for number in list(self.live.games):
            self.count_recent()  # since the last step
            entries = self.live.games.get(number, [])  # none if it was stored between two steps
            if entries:
                self._insert(entries)
            size += len(entries)
            if size >= STEP_ENTRIES:
                size = 0
                yield True
        self._entries = len(self.live)
        old = select(rows).where(mine, rows <= last).order_by(rows).limit(STEP_ROWS)
        while self.connection.execute(delete(JournalRow).where(rows.in_(old))).rowcount:
            yield True
