"""Databases of the layout before, as that version left them, and what the present one adds."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from arena_server.core.journal import PastGame
from arena_server.errors import StoreError
from arena_server.store.database import LAYOUT, Database
from arena_server.store.preflight import COMMENT, check_contest, check_readable, check_writable
from arena_server.store.reader import Results
from arena_server.store.schema import open_engine

from ..records import Kept, game, keep, opening

HERE = Path(__file__).parent


@pytest.fixture
def older(path: Path) -> Path:
    """A finished contest, one whose server was killed, and a stopped one, in layout 4."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.executescript((HERE / "layout4.sql").read_text())
    shutil.copy(HERE / "layout4.head", path.with_name("arena.db-head"))
    return path


def layout_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        return int(database.execute("PRAGMA user_version").fetchone()[0])


def change(database: Database, statement: str) -> None:
    engine = open_engine(database)
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


def test_it_is_read_as_it_is(older: Path) -> None:
    with Results(older) as results:
        assert [(each.name, each.status) for each in results.contests()] == [
            ("first", "finished"),
            ("second", "running"),
            ("third", "stopped"),
        ]
        for name, played in (("first", 2), ("second", 1), ("third", 1)):
            contest = results.contest(name)
            assert results.games_played(contest) == played
            assert len(list(results.records(contest))) == played
    assert layout_of(older) == 4


@pytest.mark.parametrize("name", ["second", "third"])
def test_its_contests_go_on(older: Path, name: str) -> None:
    header = opening(name, new=False)
    check_writable(older)
    check_contest(older, header.config, header.names, new=False, seeded=True)
    kept = Kept(older, header)
    found = kept.start()
    assert found is not None
    faults = (("b", "illegal"),) if name == "second" else ()
    assert found.past.results == (PastGame(1, ("a", "b"), (30, 10), "complete", 1, faults),)
    entries = [(1, "offer", ()), (0, "keys", "a", ("ab" * 32,)), (2, "offer", ()), (2, "ready", 1)]
    assert list(found.past.entries) == (entries if name == "second" else [])
    kept.writer.store("g2", game(2))
    assert kept.next() == ["g2"]
    kept.close("finished")
    assert layout_of(older) == LAYOUT
    with Results(older) as results:
        assert results.games_played(results.contest(name)) == 2
        assert [results.contest(str(number)).id for number in (1, 2, 3)] == [1, 2, 3]


def test_the_digest_of_every_contest_has_its_status_then(older: Path) -> None:
    keep(older, contest=opening("fourth"))
    for number in (1, 2, 3, 4):
        change(older, f"UPDATE contests SET status = 'incomplete' WHERE id = {number}")
        with Results(older) as results, pytest.raises(ValueError, match="does not match its SHA-256 digest"):
            results.contest(str(number))


def test_a_digest_that_is_wrong_stays_wrong(older: Path) -> None:
    change(older, "UPDATE contests SET scoring = 'wins' WHERE id = 2")
    keep(older, contest=opening("fourth"))
    line = "contest 2: its row does not match its SHA-256 digest"
    with pytest.raises(StoreError, match=line), Results(older) as results:
        results.contest("2")


@pytest.mark.real
@pytest.mark.skipif(sys.platform != "linux", reason="the locks are those of Linux")
def test_beside_a_server_of_the_version_before_nothing_is_changed(older: Path) -> None:
    """It holds the byte of its contest in the file of locks, as a lock of its process."""
    program = (
        "import fcntl, sys; file = open(sys.argv[1], 'w'); "
        "fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 2); print(flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, f"{older}-locks"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        for header in (opening("second", new=False), opening("fourth")):
            with pytest.raises(StoreError, match="contest 2 is being played by another server"):
                check_contest(older, header.config, header.names, new=header.new, seeded=True)
        server.communicate()
    header = opening("fourth")
    check_contest(older, header.config, header.names, new=True, seeded=True)
    assert layout_of(older) == 4


def as_older(database: Database) -> None:
    """Take back what layout 5 has added."""
    engine = open_engine(database)
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE writers"))
        mark = f"COMMENT ON TABLE contests IS '{COMMENT} 4'"
        connection.exec_driver_sql("PRAGMA user_version=4" if isinstance(database, Path) else mark)
    engine.dispose()


def test_tables_without_writers_get_them(database: Database) -> None:
    keep(database, 1, status="stopped")
    as_older(database)
    header = opening(new=False)
    check_writable(database)
    check_readable(database)
    check_contest(database, header.config, header.names, new=False, seeded=True)
    kept = Kept(database, header)
    assert kept.start() is not None
    kept.append((2, "offer", 0))
    kept.wait_for(1)
    kept.close()


def test_the_present_layout_needs_them(database: Database) -> None:
    keep(database, 1, status="stopped")
    change(database, "DROP TABLE writers")
    header = opening(new=False)
    with pytest.raises(StoreError, match="the database is damaged"):
        check_contest(database, header.config, header.names, new=False, seeded=True)


@pytest.mark.parametrize("layout", [3, 6])
def test_other_layouts_are_refused_in_one_line(path: Path, layout: int) -> None:
    keep(path, 1)
    change(path, f"PRAGMA user_version={layout}")
    for check in (check_readable, check_writable):
        with pytest.raises(StoreError) as refused:
            check(path)
        assert str(refused.value) == (
            f"{path}: results of layout {layout}, and this version reads layouts 4 and 5"
        )


@pytest.mark.parametrize(
    ("column", "value"), [("status", "'finished'"), ("head", "NULL"), ("ended_at", "'2026-11-22 10:00:00'")]
)
def test_status_end_and_head_are_under_the_digest(database: Database, column: str, value: str) -> None:
    keep(database, 1, status="stopped")
    change(database, f"UPDATE contests SET {column} = {value}")
    if isinstance(database, Path):
        database.with_name("arena.db-head").unlink(missing_ok=True)
    line = "contest 1: its row does not match its SHA-256 digest"
    if column != "head" or not isinstance(
        database, Path
    ):  # without a head the file beside it is missed first
        with pytest.raises(StoreError, match=line), Results(database) as results:
            results.contest()
    kept = Kept(database, opening(new=False))
    kept.start()
    error = kept.next()
    kept.close()
    assert line in str(error), "it is neither resumed nor followed by a new one"
