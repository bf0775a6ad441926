"""Checks before a server listens: foreign or damaged databases, contests that cannot go on."""

from __future__ import annotations

import re
import socket
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from arena_protocol.games.insertion import Insertion
from arena_server.core.journal import Entry
from arena_server.errors import StoreError
from arena_server.store.database import LAYOUT, ContestHeader, Database, Postgres
from arena_server.store.journal import pack
from arena_server.store.preflight import (
    COLUMNS,
    COMMENT,
    JOURNAL_ROWS,
    StoredContest,
    check_contest,
    check_readable,
    check_same_config,
    check_writable,
    config_json,
)
from arena_server.store.reader import Results
from arena_server.store.schema import Base

from ..postgres import Cluster
from ..programs import Server, contest, inside
from ..records import Kept, change, game, keep, opening

ENTRY: Entry = (1, "offer", ("a", "b"), 1, ())


def look(database: Database, wanted: ContestHeader | None = None) -> None:
    """The check of a server that is about to play this contest."""
    wanted = wanted or opening(new=False)
    check_contest(database, wanted.config, wanted.names, new=wanted.new, seeded=wanted.seeded)


def refused(database: Database, wanted: ContestHeader | None = None) -> str:
    with pytest.raises(StoreError) as caught:
        look(database, wanted)
    return str(caught.value).removeprefix(f"{database}: ")


@pytest.fixture
def kept(database: Database) -> Database:
    """A database with an interrupted contest: one result and a journal row."""
    kept = Kept(database)
    kept.start()
    kept.writer.store("g1", game(1))
    assert kept.next() == ["g1"]
    kept.append(ENTRY)
    kept.close()
    return database


def test_a_contest_that_is_over_is_kept_as_it_is(database: Database) -> None:
    """With `keep` none begins in its place, and its games, field and rules have to be the same."""
    keep(database, 1, status="short")
    wanted = opening(new=False)

    def ended(**changes: object) -> str | None:
        config = replace(wanted.config, **changes)  # type: ignore[arg-type]
        return check_contest(database, config, wanted.names, new=False, seeded=False, keep=True)

    assert ended() == "short"
    assert ended(absent_ms=7, spectator_delay_ms=0) == "short", "it waits for no bot any more"
    with pytest.raises(StoreError) as caught:
        ended(games_per_pair=6)
    assert str(caught.value).removeprefix(f"{database}: ") == (
        "contest 1 trial is over (short), and was begun with games_per_pair=8 where there is 6 now; "
        "show it by the same configuration, or begin a new contest by --new"
    )
    look(database)  # without `keep` another one begins


def test_a_difference_is_named_as_the_file_has_it(kept: Database) -> None:
    wanted = opening(new=False)
    line = refused(kept, replace(wanted, config=replace(wanted.config, absent_ms=30_000)))
    assert "was begun with absent=none where there is '30s' now; " in line
    assert line.endswith("; arena tournament has absent = '30s' where the file has none")


def test_the_columns_are_those_of_the_tables() -> None:
    tables = Base.metadata.tables
    assert {name: tuple(COLUMNS[name]) for name in COLUMNS} == {
        name: tuple(column.name for column in table.columns) for name, table in tables.items()
    }


def test_an_empty_database_and_a_good_one_are_fine(database: Database, tmp_path: Path) -> None:
    check_writable(database)
    look(database)
    kept = Kept(database)
    kept.start()
    kept.append(ENTRY)
    kept.close()
    look(database)
    look(database, opening("other", new=False))


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE faults",
        "ALTER TABLE games RENAME COLUMN chain TO chains",
        "ALTER TABLE journal RENAME TO journals",
    ],
)
def test_tables_that_are_not_ours(kept: Database, damage: str) -> None:
    change(kept, damage)
    line = refused(kept, opening(new=True))
    assert line.startswith("the database is damaged (")
    assert line.endswith("restore it or choose another --database")
    assert "\n" not in line


@pytest.mark.parametrize(("column", "junk"), [("config", "[]"), ("seed", "many")])
def test_a_contest_that_cannot_be_read(kept: Database, column: str, junk: str) -> None:
    change(kept, f"UPDATE contests SET {column} = :junk", junk=junk)
    line = "the database is damaged (contest 1: its config or its seed cannot be read); "
    assert refused(kept) == line + "restore it, or begin a new contest by --new"
    look(kept, opening(new=True))


def test_a_plan_that_is_no_json_or_no_text(tmp_path: Path) -> None:
    database = tmp_path / "arena.db"
    kept = Kept(database)
    kept.start()
    kept.close("stopped")
    change(database, "UPDATE contests SET config = '{'")
    assert "its config or its seed cannot be read" in refused(database)
    change(database, "UPDATE contests SET config = CAST(X'ff' AS TEXT)")
    assert refused(database).startswith("the database is damaged (Could not decode to UTF-8 ")


def test_other_rules_of_the_game(kept: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A contest has games of one epoch, also one that is over."""
    monkeypatch.setattr(Insertion, "EPOCH", 2)
    assert "was begun with epoch=1 where there is 2 now" in refused(kept)
    begun = config_json(opening().config, opening().names)
    assert begun["epoch"] == 2
    stored = StoredContest(1, "trial", "1", begun, "running")
    check_same_config(kept, stored, opening().config, opening().names, False)
    monkeypatch.setattr(Insertion, "EPOCH", 1)
    with pytest.raises(StoreError, match="was begun with epoch=2 where there is 1 now"):
        check_same_config(kept, stored, opening().config, opening().names, False)


def test_another_config(kept: Database) -> None:
    line = refused(kept, opening(scoring="wins", new=False))
    assert line.startswith("contest 1 trial is unfinished, and was begun with scoring='points' where ")
    other = replace(opening(new=False), config=replace(opening().config, seed=1))
    assert "was begun with seed=" in refused(kept, other)
    look(kept, replace(other, seeded=False))


def test_a_finished_contest_is_not_compared(database: Database) -> None:
    kept = Kept(database)
    kept.start()
    kept.close("finished")
    look(database, opening(scoring="wins", new=False))


def test_a_damaged_journal(kept: Database) -> None:
    change(kept, "UPDATE journal SET payload = :junk", junk=b"junk" * 20)
    line = "the database is damaged (a row of the journal does not match its SHA-256 digest); "
    assert refused(kept) == line + "restore it, or begin a new contest by --new"


def test_only_the_end_of_a_long_journal_is_checked(tmp_path: Path) -> None:
    database = tmp_path / "arena.db"
    kept = Kept(database)
    kept.start()
    for number in range(1, JOURNAL_ROWS + 2):
        kept.append(ENTRY)
        kept.wait_for(number)
    kept.close()
    change(database, "UPDATE journal SET payload = 'text' WHERE id = (SELECT min(id) FROM journal)")
    look(database)
    change(database, "UPDATE journal SET payload = 7 WHERE id = (SELECT max(id) FROM journal)")
    assert "does not match" in refused(database)


def test_a_contest_that_another_server_plays(postgres: Cluster) -> None:
    """The lock on a file belongs to the process: see test_kill.py."""
    database = postgres.database()
    kept = Kept(database)
    kept.start()
    kept.append(ENTRY)
    kept.batches.get(timeout=150.0)
    assert refused(database).startswith("contest 1 is being played by another server; stop that one, ")
    kept.close()
    look(database)


@pytest.mark.parametrize("name", ["contests", "games", "journal"])
def test_a_table_whose_page_is_junk(tmp_path: Path, name: str) -> None:
    database = tmp_path / "arena.db"
    kept = Kept(database)
    kept.start()
    kept.close("stopped")
    with closing(sqlite3.connect(database)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).fetchone()[0]
    with database.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"junk" * (size // 4))
    assert refused(database).startswith("the database is damaged (database disk image is malformed); restore")


@pytest.mark.parametrize("wal", [b"", None])
def test_a_database_without_its_log_says_how_many_results_are_missing(
    tmp_path: Path, wal: bytes | None
) -> None:
    """A server that is killed leaves pages in the log that those in the file refer to."""
    database, log = tmp_path / "arena.db", tmp_path / "arena.db-wal"
    keep(database, *range(1, 41))
    size = database.stat().st_size
    with database.open("r+b") as file:
        file.truncate(size - 5 * 4096)
    if wal is not None:
        log.write_bytes(wal)
    with pytest.raises(StoreError) as caught, Results(database) as results:
        list(results.games.records(results.contest()))
    line = str(caught.value).removeprefix(f"{database}: the database is damaged (")
    said = re.fullmatch(
        r".*malformed\); restore it .*; ([0-9]+) of 40 announced results cannot be read, "
        r"and arena\.db-wal is empty or was missing",
        line,
    )
    assert said is not None, line
    assert 0 < int(said[1]) <= 40


def test_the_command_reports_damage_before_it_listens(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "arena.db")
    kept.start()
    kept.close("stopped")
    change(tmp_path / "arena.db", "DROP TABLE games")
    (tmp_path / "c.toml").write_text(contest("a", "b"))
    outcome = inside("serve", "c.toml", "--port", "0", cwd=tmp_path)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.line == (
        "arena: arena.db: the database is damaged (no such table: games); "
        "restore it or choose another --database"
    )


@pytest.mark.real
def test_entries_of_no_contest_are_one_line_after_the_start(tmp_path: Path) -> None:
    """A row with the right digest and entries that mean nothing is found when they are applied."""
    text = contest("a", "b")
    with Server(text, tmp_path) as server, socket.create_connection(("127.0.0.1", server.port)) as bot:
        bot.sendall(b"HELLO 1 a\n")
        with bot.makefile("rb") as lines:
            while not lines.readline().startswith(b"WELCOME"):
                pass
        server.process.kill()
    statement = "INSERT INTO journal (contest_id, place, payload) SELECT 1, max(place) + 1, :row FROM journal"
    change(server.database, statement, row=pack([(1, "no such entry")]))
    with Server(text, tmp_path) as again:
        outcome = again.end()
    last = outcome.err.splitlines()[-1]
    assert outcome.code == 1
    assert last.startswith(f"arena: {server.database}: the database is damaged (expected a fact of ")
    assert last.endswith("; restore it, or begin a new contest by --new")


# -- is the database ours


def test_a_database_locked_by_another_program(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena_server.store.database.BUSY_TIMEOUT_S", 0.0)
    keep(path, 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError) as caught:
            check_writable(path)
        assert str(caught.value) == (
            f"{path}: the database is locked by another program; stop it or choose another --database"
        )


@pytest.mark.parametrize(
    "damage", [b"this is no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 2000]
)
def test_a_damaged_file(path: Path, damage: bytes) -> None:
    path.write_bytes(damage)
    for question in (check_writable, check_readable):
        with pytest.raises(StoreError, match=r"the database is damaged .*; restore it or choose another"):
            question(path)


def test_a_database_of_another_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE things (id INTEGER)")
    for question in (check_writable, check_readable):
        with pytest.raises(StoreError, match="a database of another program; choose a file of its own"):
            question(path)


def test_results_of_another_layout(path: Path) -> None:
    keep(path, 1)
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA user_version={LAYOUT + 1}")
    with pytest.raises(StoreError, match=f"results of layout {LAYOUT + 1}, and this version reads"):
        check_writable(path)


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"the folder .*nowhere does not exist$"):
        check_writable(tmp_path / "nowhere" / "arena.db")


def test_a_path_that_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"the database cannot be written .*; check the rights on the file"):
        check_writable(tmp_path)


def test_a_new_file_is_made_by_a_writer_only(path: Path) -> None:
    with pytest.raises(StoreError, match="no such database; has a contest been played here"):
        check_readable(path)
    assert not path.exists()
    check_writable(path)
    with pytest.raises(StoreError, match="an empty database; has a contest been played here"):
        check_readable(path)


# -- PostgreSQL


def test_a_server_is_probed(postgres: Cluster) -> None:
    database = postgres.database()
    check_writable(database)
    with pytest.raises(StoreError, match="an empty database; has a contest been played here"):
        check_readable(database)
    keep(database, 1)
    check_writable(database)
    check_readable(database)


def test_a_database_of_another_program_on_a_server(postgres: Cluster) -> None:
    database = postgres.database()
    change(database, "CREATE TABLE contests (id integer)")
    line = f"{database}: a database of another program; choose one of its own by --database"
    for question in (check_writable, check_readable):
        with pytest.raises(StoreError) as caught:
            question(database)
        assert str(caught.value) == line


def test_results_of_another_layout_on_a_server(postgres: Cluster) -> None:
    database = postgres.database()
    keep(database, 1)
    change(database, f"COMMENT ON TABLE contests IS '{COMMENT} {LAYOUT + 1}'")
    with pytest.raises(StoreError, match=f"results of layout {LAYOUT + 1}, and this version reads"):
        check_writable(database)


def test_a_database_that_can_only_be_read(postgres: Cluster) -> None:
    database = postgres.database()
    read_only = Postgres(f"{database.url}&options=-c%20default_transaction_read_only%3Don")
    with pytest.raises(StoreError, match="the database can only be read"):
        check_writable(read_only)
    keep(database, 1)
    check_readable(read_only)


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    nowhere = Postgres(f"postgresql://me:secret@localhost/x?host={tmp_path}")
    with pytest.raises(StoreError, match="the database does not answer") as caught:
        check_writable(nowhere)
    assert "secret" not in str(caught.value).partition("does not answer")[0]
    assert "\n" not in str(caught.value)
