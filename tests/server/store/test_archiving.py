"""The games of a contest in a file of their own: both kinds of database, and a kill at each step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from arena_protocol.record import FaultKind, FaultRecord
from arena_server.core.facts import Archived, Order
from arena_server.core.journal import CONTEST, entry_of
from arena_server.errors import StoreError
from arena_server.store import archiving
from arena_server.store.archiving import Archiving
from arena_server.store.database import Database
from arena_server.store.engines import open_engine
from arena_server.store.ownership import ContestLock
from arena_server.store.reader import Results
from arena_server.store.schema import (
    FactRow,
    FaultRow,
    GameRow,
    JournalRow,
    PairingRow,
)

from ..records import Kept, game, keep, opening

FAULT = FaultRecord(1, 1, FaultKind.ILLEGAL, b"MOVE 0")


def keep_two(database: Database) -> None:
    """Two contests, the first with a fault."""
    kept = Kept(database)
    kept.start()
    for number in range(1, 6):
        kept.append((number, "offer", ("a", "b"), number, ()))
        kept.writer.store(f"g{number}", game(number, faults=(FAULT,) if number == 2 else ()))
        assert kept.next() == [f"g{number}"]
    kept.close("finished")
    keep(database, 1, 2, contest=opening("other"))


def seen(database: Database) -> dict[str, Any]:
    """What readers see of both contests."""
    found: dict[str, Any] = {}
    with Results(database) as results:
        for contest in results.contests():
            games, mine = results.games, results.contest(str(contest.id))
            stored = games.games_stored(mine)
            found[mine.name] = {
                "rows": [*games.rows(mine)],
                "head": games.head(mine, stored),
                "digests": games.digests(mine, 0, 99),
                "summaries": games.summaries(mine, 0, stored),
                "faults": games.first_faults(mine),
                "past": games.past(mine),
                "played": [*games.played(mine)],
                "newest": games.newest_games(mine, "a", stored, 3),
                "standings": results.sums.standings(mine),
                "deals": results.deals(mine).numbers(),
                "over": games.over(mine, ["g1", "g9"], stored),
            }
    return found


def archive(database: Database, file: Path, step: Callable[[str], None] = lambda _: None) -> int:
    """What the command does with contest 1."""
    with Results(database) as results:
        is_marked = results.contest("1").archive is not None
    with Archiving(database, 1, step=step, pause=lambda _: None) as mine:
        if not is_marked:
            mine.close()
            file.unlink(missing_ok=True)
            mine.copy(file)
            mine.mark(file)
        return mine.remove()


def rows_left(database: Database) -> list[int]:
    """Of both contests together: games, faults, pairings, entries of the journal."""
    engine = open_engine(database)
    with Session(engine) as session:
        tables = (GameRow, FaultRow, PairingRow, JournalRow)
        return [session.scalar(select(func.count()).select_from(table)) or 0 for table in tables]


def test_readers_see_the_same(database: Database, tmp_path: Path) -> None:
    keep_two(database)
    before, file = seen(database), tmp_path / "1.db"
    assert before["trial"]["faults"], "the contest has a fault"
    assert archive(database, file) == 5
    assert seen(database) == before
    assert rows_left(database) == [2, 0, 0, 0]
    assert file.stat().st_mode & 0o777 == 0o600
    # The file alone is a database as any other.
    assert seen(file) == {"trial": before["trial"]}
    assert archive(database, file) == 0


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize(
    "database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.soak)], indirect=True
)
def test_a_kill_at_each_step_loses_nothing(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archiving, "REMOVED_AT_ONCE", 2)
    keep_two(database)
    before, file, steps = seen(database), tmp_path / "1.db", set[str]()
    # Each run gets one step further: what is done is not done again, but for the copy before the mark.
    for last in range(1, 30):
        count = iter(range(last, 0, -1))
        reached: list[str] = []

        def at(name: str, reached: list[str] = reached, count: Any = count) -> None:
            reached.append(name)
            if next(count) == 1:
                raise Killed

        try:
            archive(database, file, at)
        except Killed:
            assert seen(database) == before, f"after {reached}"
            steps |= {*reached}
        else:
            break
    assert steps >= {"closed", "copied", "marked", "removed some", "removed"}
    assert seen(database) == before
    assert rows_left(database) == [2, 0, 0, 0]


def test_a_contest_that_a_server_plays_is_refused(path: Path, tmp_path: Path) -> None:
    keep_two(path)
    lock = ContestLock(path, None, 1)
    with pytest.raises(StoreError, match="contest 1 is being played by another server"):
        archive(path, tmp_path / "1.db")
    lock.release()
    assert archive(path, tmp_path / "1.db") == 5


def test_a_server_shows_it_as_before_and_adds_nothing(database: Database, tmp_path: Path) -> None:
    keep_two(database)
    header = opening(new=False)
    object.__setattr__(header, "keep", True)
    shown = Kept(database, header)
    before = shown.find()
    assert before is not None
    archive(database, tmp_path / "1.db")
    again = Kept(database, header)
    after = again.find()
    assert after is not None
    assert (after.ended, after.past.results) == ("finished", before.past.results)
    assert after.past.entries == (*before.past.entries, entry_of(CONTEST, Archived("")))
    again.close()
    # The server that shows it since before knows nothing of that.
    shown.append(entry_of(CONTEST, Order(1, "pause", "", "me", 0, "")))
    assert f"contest 1 is archived in {tmp_path / '1.db'}: nothing is added to it" in str(shown.batches.get())
    shown.close()


def test_a_file_that_is_missing_or_another(path: Path, tmp_path: Path) -> None:
    keep_two(path)
    file, other = tmp_path / "1.db", tmp_path / "2.db"
    archive(path, file)
    file.rename(other)
    with pytest.raises(StoreError, match=r"archived in .*1\.db, and that file is missing; put it back there"):
        seen(path)
    keep(file, 1, contest=opening("autumn"))
    with pytest.raises(StoreError, match=r"archived in .*1\.db, and that file has another contest"):
        seen(path)
    with Archiving(path, 1) as mine:
        mine.mark(other)
    with Results(path) as results:
        assert results.sums.games_played(results.contest("1")) == 5


def test_a_file_that_lacks_a_game_is_refused(path: Path, tmp_path: Path) -> None:
    keep_two(path)
    file = tmp_path / "1.db"

    def lose(step: str) -> None:
        if step == "marked":
            engine = open_engine(file, writing=True)
            with engine.begin() as connection:
                connection.execute(text("DELETE FROM faults"))
                connection.execute(text("DELETE FROM games WHERE game_id = 'g2'"))
            engine.dispose()

    with pytest.raises(StoreError, match=r"expected the 5 games of contest 1 trial .*, found 4; restore the"):
        archive(path, file, lose)
    assert rows_left(path)[0] == 7, "nothing was deleted"


def test_an_earlier_layout_is_refused(path: Path, tmp_path: Path) -> None:
    keep_two(path)
    engine = open_engine(path, writing=True)
    with engine.begin() as connection:
        connection.execute(text("PRAGMA user_version=8"))
    engine.dispose()
    with pytest.raises(StoreError, match="results of layout 8; `arena serve` brings them to layout"):
        archive(path, tmp_path / "1.db")


def test_the_fact_is_added_once(path: Path, tmp_path: Path) -> None:
    keep_two(path)
    for _ in range(2):
        with Archiving(path, 1) as mine:
            mine.close()
    with Session(open_engine(path)) as session:
        query = select(func.count()).select_from(FactRow).where(FactRow.contest_id == 1)
        assert session.scalar(query) == 1


def test_an_error_of_the_driver_is_one_line(path: Path, tmp_path: Path) -> None:
    keep_two(path)
    engine = open_engine(path, writing=True)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE facts"))
    engine.dispose()
    with pytest.raises(StoreError, match="no such table: facts") as caught:
        archive(path, tmp_path / "1.db")
    assert "\n" not in str(caught.value)
