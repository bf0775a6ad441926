"""The rows of a contest's facts that outlive its journal, as its server writes them, and of its bots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import Connection, insert, select
from sqlalchemy.orm import Session

from arena_server.core.deal import game_id as id_of
from arena_server.core.journal import ANNULLED, JOINED, KEPT, RULED, TOTAL, Entry, fact_of
from arena_server.store import schema
from arena_server.store.journal import pack
from arena_server.store.result_rows import ResultRows
from arena_server.store.unfinished import kept_entries


class FactRows:
    """The table of facts of one contest, on the writer's connection and in its transactions.

    What a fact changes in other tables is changed with it. `bots` has the rows of the bots by name.
    """

    def __init__(self, connection: Connection, results: ResultRows) -> None:
        self.connection = connection
        self._results: Final = results
        self._contest = 0
        #: How many entries are in the table.
        self._count = 0
        self.bots: dict[str, int] = {}

    def resume(self, session: Session, contest: int) -> list[Entry]:
        """Have the facts of this contest, and return those that are in the table."""
        self._contest = contest
        kept = list(kept_entries(session, contest))
        self._count = len(kept)
        return kept

    def begin(self, session: Session, contest: int) -> None:
        """Have the bots of this contest, which are in their table."""
        self._contest = contest
        bots = select(schema.BotRow).where(schema.BotRow.contest_id == contest).order_by(schema.BotRow.id)
        self.bots = {bot.name: bot.id for bot in session.scalars(bots)}

    def add(self, entries: Sequence[Entry]) -> None:
        """Put entries that outlive the journal into the table."""
        if not entries:
            return
        for entry in entries:
            if entry[1] == JOINED and entry[2] not in self.bots:
                row = {"contest_id": self._contest, "name": entry[2]}
                added = insert(schema.BotRow).returning(schema.BotRow.id)
                (self.bots[entry[2]],) = self.connection.execute(added, row).one()
        if totals := [entry[3] for entry in entries if entry[1] == TOTAL]:
            with Session(self.connection) as session:
                schema.set_total(session.get_one(schema.ContestRow, self._contest), totals[-1])
                session.flush()
        if rulings := [entry for entry in entries if entry[1] == RULED]:
            self._results.rule(map(fact_of, rulings))  # type: ignore[arg-type] # by their kind
        if annulled := [id_of(entry[2]) for entry in entries if entry[1] == ANNULLED]:
            self._results.annul(annulled)
        rows = [
            {"contest_id": self._contest, "place": place, "payload": pack([entry])}
            for place, entry in enumerate(entries, start=self._count + 1)
        ]
        self.connection.execute(insert(schema.FactRow), rows)
        self._count += len(rows)


def not_in_table(kept: Sequence[Entry], live: Iterable[Entry]) -> list[Entry]:
    """Those of the contest's `live` entries that its last server has not put into the table of facts yet."""
    latest = {entry[1:3]: entry for entry in kept}
    return [entry for entry in live if entry[1] in KEPT and latest.get(entry[1:3]) != entry]
