"""Databases of the layout before, as that version left them, and what the present one adds."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session
from tests.server.stats.rated import observed_in

from arena_server.core.contest import Contest
from arena_server.core.journal import Entry, fact_of
from arena_server.errors import StoreError
from arena_server.stats.results import PastGame
from arena_server.store.database import LAYOUT, Database
from arena_server.store.engines import open_engine
from arena_server.store.preflight import COMMENT, check_contest, check_readable, check_writable
from arena_server.store.reader import Results
from arena_server.store.schema import GameRow, game_checksum
from arena_server.terms.config import Entrant

from ..records import Kept, change, game, keep, opening

HERE = Path(__file__).parent
NEVER = datetime(9999, 1, 1)


def restore(path: Path, layout: int) -> Path:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.executescript((HERE / f"layout{layout}.sql").read_text())
    shutil.copy(HERE / f"layout{layout}.head", path.with_name("arena.db-head"))
    return path


@pytest.fixture
def older(path: Path) -> Path:
    """A finished contest, one whose server was killed, and a stopped one, in layout 4."""
    return restore(path, 4)


def layout_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        return int(database.execute("PRAGMA user_version").fetchone()[0])


def test_it_is_read_as_it_is(older: Path) -> None:
    with Results(older) as results:
        assert [(each.name, each.status) for each in results.contests()] == [
            ("first", "finished"),
            ("second", "running"),
            ("third", "stopped"),
        ]
        for name, played in (("first", 2), ("second", 1), ("third", 1)):
            contest = results.contest(name)
            assert results.sums.games_played(contest) == played
            assert len(list(results.games.records(contest))) == played
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
    assert found.past.results == (PastGame(1, ("a", "b"), 1, (30, 10), "complete", 1, faults),)
    # Who plays on which deal has been added to the offers.
    entries = [
        (1, "offer", ("b", "c"), 1, ()),
        (0, "keys", "a", ("ab" * 32,)),
        (2, "offer", ("c", "a"), 1, ()),
        (2, "ready", 1),
    ]
    assert list(found.past.entries) == (entries if name == "second" else [])
    kept.writer.store("g2", game(2))
    assert kept.next() == ["g2"]
    kept.close("finished")
    assert layout_of(older) == LAYOUT
    with Results(older) as results:
        assert results.sums.games_played(results.contest(name)) == 2
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


@pytest.fixture
def without_pairings(path: Path) -> Path:
    """A database of layout 5: `layout5.sql` says which contests it has."""
    return restore(path, 5)


#: The deal of each stored game. Of `paired` g5 repeats g2, of `oldest` g5 and g6 repeat g1 and g2.
DEALS = {
    "paired": {"g1": 1, "g2": 1, "g3": 2, "g4": 2, "g5": 1},
    "fresh": {"g1": 1, "g2": 1},
    "open": {"g1": 1},
    "oldest": {"g1": 1, "g2": 2},
}


def deals_of(path: Path) -> dict[str, dict[str, int | None]]:
    """By contest and game, as they are read one by one and all at once."""
    found: dict[str, dict[str, int | None]] = {}
    with Results(path) as results:
        for contest in results.contests():
            deals = results.deals(contest)
            found[contest.name] = {name: deals.number(name) for name, _ in results.games.records(contest)}
            known = {name: deal for name, deal in found[contest.name].items() if deal is not None}
            assert deals.numbers() == known
    return found


def shown_of(path: Path) -> dict[str, list[str]]:
    with Results(path) as results:
        return {
            contest.name: [name for name, record in results.games.records(contest) if record is not None]
            for contest in results.contests()
        }


def test_the_deals_of_earlier_games_are_the_same_before_and_after(without_pairings: Path) -> None:
    shown = {name: [] if name == "open" else list(deals) for name, deals in DEALS.items()}
    assert (deals_of(without_pairings), layout_of(without_pairings)) == (DEALS, 5)
    assert shown_of(without_pairings) == shown
    keep(without_pairings, contest=opening("another"))
    assert layout_of(without_pairings) == LAYOUT
    assert deals_of(without_pairings) == DEALS | {"another": {}}
    assert shown_of(without_pairings) == shown | {"another": []}


@pytest.mark.parametrize(
    ("name", "deals", "names", "results", "entries"),
    [
        (
            "fresh",
            "fresh",
            ("a", "b", "c"),
            [(1, ("b", "c"), 1), (2, ("c", "a"), 1)],
            [
                (1, "offer", ("b", "c"), 1, ()),
                (2, "offer", ("c", "a"), 1, ()),
                (0, "repeat", 7, 2, 7),
                (0, "keys", "a", ("ab" * 32,)),
                (7, "offer", ("c", "a"), 7, ()),
                (7, "ready", 1),
            ],
        ),
        ("open", "paired", ("a", "b"), [(1, ("a", "b"), 1)], [(2, "offer", ("b", "a"), 1, (1, 1))]),
        (
            "oldest",
            "fresh",
            ("a", "b"),
            [(1, ("a", "b"), 1), (2, ("b", "a"), 2)],
            [(0, "repeat", 5, 1, 1), (0, "repeat", 6, 2, 6), (5, "offer", ("a", "b"), 1, ())],
        ),
    ],
)
def test_a_contest_of_layout_5_goes_on_with_its_pairings(
    without_pairings: Path,
    name: str,
    deals: str,
    names: tuple[str, ...],
    results: list[tuple[int, tuple[str, ...], int]],
    entries: list[Entry],
) -> None:
    """What the present version would have written stands in its journal and beside its games."""
    plain = opening(name, names=names, new=False)
    games = 2 if name == "fresh" else 4
    header = replace(plain, config=replace(plain.config, deals=deals, games_per_pair=games))
    kept = Kept(without_pairings, header)
    found = kept.start()
    kept.close()
    assert found is not None
    assert [(game.number, game.names, game.deal) for game in found.past.results] == results
    assert [entry for entry in found.past.entries if entry in entries] == entries
    assert all(fact_of(entry) for entry in found.past.entries)
    entrants = [Entrant(each) for each in names]
    again = Contest(replace(header.config, seed=found.seed), entrants, str, 0, found.past)
    assert again.status.progress().done == sum(game.end != "void" for game in found.past.results)


@pytest.fixture
def without_agents(path: Path) -> Path:
    """A database of layout 6: a finished contest, and one whose server was killed."""
    return restore(path, 6)


def seats_of(path: Path, contest: str) -> list[tuple[object, object]]:
    """Time used and agents of every game."""
    with closing(sqlite3.connect(path)) as database:
        query = (
            "SELECT used_ms, agents FROM games JOIN contests ON contests.id = contest_id"
            " WHERE name = ? ORDER BY place"
        )
        return list(database.execute(query, [contest]))


def test_games_of_layout_6_are_read_before_and_after(without_agents: Path) -> None:
    with Results(without_agents) as results:
        before = [results.sums.standings(each) for each in results.contests()]
        games = [observed_in(results.sums.rated(each, versions=True)) for each in results.contests()]
        assert [len(results.games.summaries(each, 0, 9)) for each in results.contests()] == [2, 1]
        rows = [row for each in results.contests() for row in results.games.rows(each)]
        assert {(row["game_id"], row["used_ms"]) for row in rows} == {("g1", None), ("g2", None)}
    assert layout_of(without_agents) == 6
    keep(without_agents, contest=opening("another"))
    assert layout_of(without_agents) == LAYOUT
    assert seats_of(without_agents, "first") == [(None, None)] * 2
    with Results(without_agents) as results:
        assert [results.sums.standings(each) for each in results.contests()[:2]] == before
        assert [
            observed_in(results.sums.rated(each, versions=True)) for each in results.contests()[:2]
        ] == games


def test_a_contest_of_layout_6_goes_on_with_agents(without_agents: Path) -> None:
    """An offer that was made before has none; a game that is stored from now on has time and agents."""
    kept = Kept(without_agents, opening("second", new=False))
    found = kept.start()
    assert found is not None
    assert (2, "offer", ("c", "a"), 1, ()) in found.past.entries
    assert all(fact_of(entry) for entry in found.past.entries)
    kept.writer.store("g2", game(2, ("c", "a")))
    assert kept.next() == ["g2"]
    kept.append((3, "offer", ("a", "b"), 1, (), ("ann/1", None)))
    kept.writer.store("g3", game(3))
    assert kept.next() == ["g3"]
    kept.close("stopped")
    assert seats_of(without_agents, "second") == [
        (None, None),
        ("[3, 0]", "[]"),
        ("[3, 0]", '["ann/1", null]'),
    ]
    again = Kept(without_agents, opening("second", new=False))
    found = again.start()
    again.close()
    assert found is not None
    assert [(each.used_ms, each.agents) for each in found.past.results] == [
        ((), ()),
        ((3, 0), ()),
        ((3, 0), ("ann/1", None)),
    ]


@pytest.mark.parametrize(("layout", "games"), [(7, 1), (8, 2)])
def test_a_database_of_a_layout_before_goes_on_without_the_table_of_sums(
    path: Path, layout: int, games: int
) -> None:
    """Layout 8 had it, and no digest: what it says of the games is not read."""
    restore(path, layout)
    if layout == 8:
        with closing(sqlite3.connect(path)) as database:
            assert database.execute("SELECT contest_id FROM sums").fetchall() == [(2,)]
            database.execute("UPDATE sums SET players = x'00', endings = x'00'")
            database.commit()
    with Results(path) as results:
        before = [results.sums.standings(each) for each in results.contests()]
        ratings = [observed_in(results.sums.rated(each, versions=True)) for each in results.contests()]
        assert results.sums.games_played(results.contest("second")) == games
        assert max(row.games for row in before[1]) == games
    assert layout_of(path) == layout
    kept = Kept(path, opening("second", new=False))
    found = kept.start()
    assert found is not None
    assert len(found.past.results) == games
    offer = (2, "offer", ("c", "a"), 1, (), ("cy/2", "ann/1"))
    assert offer in found.past.entries
    kept.close()
    assert layout_of(path) == LAYOUT
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT name FROM sqlite_schema WHERE name = 'sums'").fetchall() == []
    with Results(path) as results:
        assert [results.sums.standings(each) for each in results.contests()] == before
        assert [
            observed_in(results.sums.rated(each, versions=True)) for each in results.contests()
        ] == ratings


def test_a_damaged_contest_does_not_keep_the_others_from_going_on(without_pairings: Path) -> None:
    change(without_pairings, "UPDATE journal SET payload = x'00' WHERE contest_id = 2")
    keep(without_pairings, contest=opening("another"))
    deals = deals_of(without_pairings)
    assert deals["paired"] == DEALS["paired"]
    assert deals["fresh"] == {"g1": None, "g2": None}
    plain = opening("fresh", names=("a", "b", "c"), new=False)
    kept = Kept(without_pairings, replace(plain, config=replace(plain.config, games_per_pair=2)))
    kept.start()
    assert "does not match its SHA-256 digest" in str(kept.next())
    kept.close()


def as_older(database: Database) -> None:
    """Take back what the layouts from 5 on have added, of games without a fault."""
    engine = open_engine(database)
    with Session(engine) as session:
        for game in session.scalars(select(GameRow)):
            game.used_ms = game.agents = None
            game.checksum = game_checksum(game, [])
        session.commit()
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE games DROP COLUMN used_ms"))
        connection.execute(text("ALTER TABLE games DROP COLUMN agents"))
        connection.execute(text("DROP TABLE writers"))
        connection.execute(text("DROP TABLE pairings"))
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
    kept.append((2, "offer", ("a", "b"), 1, ()))
    kept.wait_for(1)
    kept.close()


@pytest.mark.parametrize("table", ["writers", "pairings", "facts"])
def test_the_present_layout_needs_them(database: Database, table: str) -> None:
    keep(database, 1, status="stopped")
    change(database, f"DROP TABLE {table}")
    header = opening(new=False)
    with pytest.raises(StoreError, match="the database is damaged"):
        check_contest(database, header.config, header.names, new=False, seeded=True)


@pytest.mark.parametrize("layout", [3, LAYOUT + 1])
def test_other_layouts_are_refused_in_one_line(path: Path, layout: int) -> None:
    keep(path, 1)
    change(path, f"PRAGMA user_version={layout}")
    for check in (check_readable, check_writable):
        with pytest.raises(StoreError) as refused:
            check(path)
        assert str(refused.value) == (
            f"{path}: results of layout {layout}, and this version reads layouts 4 to {LAYOUT}"
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
