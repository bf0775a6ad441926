"""The tables of a database, and how those of earlier layouts come to the present one.

    5 -> 6   the table `pairings`, and names and deals in the journal
    6 -> 7   the columns `used_ms` and `agents` of `games`, which stay empty for games played before
    7 -> 8   the table `sums`, of the sums over the first games of a contest
    8 -> 9   without that table: a result that was taken back would be in it still

Up to layout 5 only the number of a game was kept. Its players and its deal followed from the contest's
configuration, by the schedule that `Scheduled` still makes in the same way, and from the repeats in the
journal. From layout 6 on the facts say both.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from sqlalchemy import Connection, insert, select, text
from sqlalchemy.orm import Session

from arena_server.core.deal import number_of
from arena_server.core.formats.base import Pairing
from arena_server.core.journal import OFFER, REPEAT, Entry
from arena_server.store import schema
from arena_server.store.database import APPLICATION_ID, EARLIER, LAYOUT, Database
from arena_server.store.journal import pack, unpack
from arena_server.store.plans import format_of_row
from arena_server.store.preflight import ADDED, COMMENT, COMMENT_QUERY, check_comment

#: The lengths of the entries of earlier versions: (7, "offer", slots) and (0, "repeat", number, void).
_OFFER, _REPEAT = 3, 4
#: Rows that are inserted at once.
ROWS = 1000


class EarlierPairings:
    """The pairings of a contest of an earlier layout. The methods raise ValueError for damaged rows."""

    def __init__(self, session: Session, contest: schema.ContestRow) -> None:
        self._session = session
        self._contest = contest
        self._paired = contest.config.get("deals") == "paired"

    def find(self, number: int) -> Pairing | None:
        """Game `number`; None if the contest has no such game."""
        planned = next(format_of_row(self._contest).planned(number, number + 1), None)
        if planned is not None or number not in self._repeats:
            return planned
        _, _, _, void, *deals = self._repeats[number]
        old = self.find(void)
        if old is None:
            return None
        # The first versions kept no deal of a repeat: it was that of the void game. Where that has not been
        # offered yet, the repeat gets one of its own, as every repeat does now.
        first = old.deal if self._paired or number in self._begun else number
        return Pairing(number, old.names, deals[0] if deals else first)

    def complete(self, entry: Entry) -> Entry:
        """An entry of the journal as the present version writes it."""
        number, kind = entry[:2]
        if kind == REPEAT and len(entry) == _REPEAT and (pairing := self.find(entry[2])) is not None:
            return (*entry, pairing.deal)
        if kind == OFFER and len(entry) == _OFFER and (pairing := self.find(number)) is not None:
            return (number, kind, pairing.names, pairing.deal, entry[2])
        return entry

    @cached_property
    def _repeats(self) -> dict[int, Entry]:
        return {entry[2]: entry for entry in self._entries() if entry[1] == REPEAT}

    @cached_property
    def _begun(self) -> set[int]:
        stored = select(schema.GameRow.game_id).where(schema.GameRow.contest_id == self._contest.id)
        offered = {entry[0] for entry in self._entries() if entry[1] == OFFER}
        return offered | set(map(number_of, self._session.scalars(stored)))

    def _entries(self) -> Iterator[Entry]:
        mine = select(schema.JournalRow.payload).where(schema.JournalRow.contest_id == self._contest.id)
        for payload in self._session.scalars(mine):
            yield from unpack(payload)


def create_tables(database: Database, connection: Connection) -> None:
    """Create the tables that are missing, bring older ones to LAYOUT, and mark the database as ours.

    Within a transaction that excludes other servers.
    """
    if isinstance(database, Path):
        layout = str(connection.exec_driver_sql("PRAGMA user_version").scalar())
        marks = [f"PRAGMA application_id={APPLICATION_ID}", f"PRAGMA user_version={LAYOUT}"]
    else:
        layout = check_comment(database, connection.execute(text(COMMENT_QUERY)).fetchone())
        marks = [f"COMMENT ON TABLE contests IS '{COMMENT} {LAYOUT}'"]
    schema.Base.metadata.create_all(connection)
    if layout in EARLIER:
        with Session(connection) as session:
            migrate(session, int(layout))
    for mark in marks:
        connection.exec_driver_sql(mark)


def migrate(session: Session, layout: int) -> None:
    """Bring every contest of a database of an earlier layout to the present one.

    A digest that is wrong stays wrong, and a contest that is damaged stays as it is.
    """
    session.execute(text("DROP TABLE IF EXISTS sums"))
    for column in ("used_ms", "agents"):
        if layout >= ADDED[f"games.{column}"]:
            continue
        session.execute(text(f"ALTER TABLE games ADD COLUMN {column} JSON"))
    if layout >= ADDED["pairings"]:
        return
    for contest in session.scalars(select(schema.ContestRow)):
        if layout == 4 and contest.checksum == schema.contest_checksum_4(contest):
            contest.checksum = schema.contest_checksum(contest)
        try:
            _add_pairings(session, contest)
        except (ValueError, LookupError, TypeError):
            continue  # reading it is an error
    session.flush()


def _add_pairings(session: Session, contest: schema.ContestRow) -> None:
    earlier = EarlierPairings(session, contest)
    entries = [
        (row, list(map(earlier.complete, unpack(row.payload))))
        for row in session.scalars(
            select(schema.JournalRow).where(schema.JournalRow.contest_id == contest.id)
        )
    ]
    games = select(schema.GameRow.game_id, schema.GameRow.names).where(
        schema.GameRow.contest_id == contest.id
    )
    found = ((row, earlier.find(number_of(row.game_id))) for row in session.execute(games))
    rows = [
        schema.pairing_row(contest.id, row.game_id, row.names, pairing.deal)
        for row, pairing in found
        if pairing is not None
    ]
    for row, completed in entries:
        row.payload = pack(completed)
    for at in range(0, len(rows), ROWS):
        session.execute(insert(schema.PairingRow), rows[at : at + ROWS])
