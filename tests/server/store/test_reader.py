"""What is read back from a database."""

from __future__ import annotations

import re
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sqlalchemy import text

from arena_protocol.record import FaultRecord
from arena_protocol.record_codec import decode
from arena_server.errors import StoreError
from arena_server.store.database import Postgres
from arena_server.store.engines import open_engine
from arena_server.store.preflight import check_writable
from arena_server.store.reader import Results

from ..postgres import Cluster
from ..records import Kept, change, game, keep, opening, shown

OPERATING = Path(__file__).parents[3] / "docs" / "operating.md"


def test_a_role_that_may_only_read_is_enough(postgres: Cluster) -> None:
    """That of the documentation; the URL names two servers, of which one is not there."""
    database = postgres.database()
    keep(database, 1, 2)
    (grant,) = re.findall(r"^GRANT .* TO site;$", OPERATING.read_text(), re.MULTILINE)
    engine = open_engine(database, writing=True)
    with engine.connect() as connection:
        connection.execute(text("CREATE ROLE site LOGIN"))
        connection.execute(text(grant))
        connection.commit()
    engine.dispose()
    name = urlsplit(database.url).path
    site = Postgres(f"postgresql://site@{name}?host=/nowhere,{postgres.folder}&target_session_attrs=any")
    with Results(site) as results:
        assert results.sums.games_played(results.contest()) == 2
    kept = Kept(site)
    kept.start()
    assert "must be owner" in str(kept.next()) or "permission denied" in str(kept.told)
    kept.close()


def test_rows_that_are_left_by_an_error_are_closed_in_silence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As after Ctrl-C in the middle of an export."""
    database = tmp_path / "arena.db"
    keep(database, 1, 2)
    with Results(database) as results:
        rows = results.games.rows(results.contest())
        next(rows)
    del rows
    assert caplog.messages == []


class TestReader:
    def test_several_contests_live_in_one_database(self, path: Path) -> None:
        keep(path, 1, 2, contest=opening("spring"))
        keep(path, 1, contest=opening("autumn"))
        keep(path, contest=opening("spring"), status="stopped")
        with Results(path) as results:
            assert [(each.id, each.name) for each in results.contests()] == [
                (1, "spring"),
                (2, "autumn"),
                (3, "spring"),
            ]
            assert results.contest().id == 3
            assert results.contest("spring").id == 3
            assert results.contest("autumn").id == 2
            assert results.contest("1").id == 1
            assert results.sums.games_played(results.contest("1")) == 2
            with pytest.raises(StoreError) as caught:
                results.contest("winter")
            assert str(caught.value) == (
                f"{path}: no contest 'winter' here; there are: 1 spring, 2 autumn, 3 spring"
            )

    @pytest.mark.parametrize("digits", [10, 20, 5000])
    def test_a_number_that_no_contest_has(self, path: Path, digits: int) -> None:
        keep(path, 1)
        with (
            Results(path) as results,
            pytest.raises(StoreError, match=r"no contest '9+'? here; there are: 1 "),
        ):
            results.contest("9" * digits)

    def test_an_empty_database_has_no_contest(self, path: Path) -> None:
        check_writable(path)
        keep(path)
        with closing(sqlite3.connect(path)) as other:
            other.execute("PRAGMA foreign_keys=OFF")
            other.execute("DELETE FROM contests")
            other.commit()
        path.with_name("arena.db-head").unlink()
        with Results(path) as results, pytest.raises(StoreError, match=r"no contest has begun here$"):
            results.contest()

    def test_the_first_fault_of_each_bot_without_void_games(self, path: Path) -> None:
        early, late = FaultRecord(1, 1, "flood", b"a"), FaultRecord(2, 1, "illegal", b"MOVE 0")
        kept = Kept(path)
        kept.start()
        kept.writer.store("g3", game(3, ("b", "c"), (900, 0), (early,), end="void"))
        kept.writer.store("g1", game(1, ("a", "b"), (30, 10), (late,)))
        kept.writer.store("g2", game(2, ("b", "a"), (20, 20), (early, late)))
        kept.close("finished")
        with Results(path) as results:
            assert results.games.first_faults(results.contest()) == {"b": ("g1", late), "a": ("g2", late)}

    def test_the_games_with_their_workers_are_not_in_memory_at_once(self, path: Path) -> None:
        """Of three times as many games no more is kept: a row has 1 KB."""
        keep(path, *range(1, 201), contest=opening("small"))
        keep(path, *range(1, 601), contest=opening("large"))
        most = {}
        with Results(path) as results:
            tracemalloc.start()
            try:
                for name in ("small", "small", "large"):  # the first time what is made once is made
                    contest = results.contest(name)
                    tracemalloc.reset_peak()
                    before = tracemalloc.get_traced_memory()[0]
                    assert {by for _, by in results.games.played(contest)} == {""}
                    most[name] = tracemalloc.get_traced_memory()[1] - before
            finally:
                tracemalloc.stop()
        assert most["large"] < most["small"] + 400 * 100

    def test_standings_leave_void_games_out_and_count_faults(self, path: Path) -> None:
        kept = Kept(path)
        kept.start()
        kept.writer.store("g1", game(1, ("a", "b"), (30, 10), (FaultRecord(2, 1, "illegal", b""),)))
        kept.writer.store("g2", game(2, ("c", "a"), (20, 20)))
        kept.writer.store("g3", game(3, ("b", "c"), (900, 0), (FaultRecord(1, 1, "flood", b""),), end="void"))
        kept.close("finished")
        with Results(path) as results:
            rows = results.sums.standings(results.contest())
        assert [(row.rank, row.name, row.points, row.games, dict(row.faults)) for row in rows] == [
            (1, "a", 50, 2, {}),
            (2, "c", 20, 1, {}),
            (3, "b", 10, 1, {"illegal": 1}),
        ]

    def test_standings_follow_the_scoring_of_the_contest(self, path: Path) -> None:
        kept = Kept(path, opening(scoring="wins"))
        kept.start()
        kept.writer.store("g1", game(1, ("a", "b"), (1, 0)))
        kept.writer.store("g2", game(2, ("b", "c"), (500, 600)))
        kept.writer.store("g3", game(3, ("a", "c"), (2, 1)))
        kept.close("finished")
        with Results(path) as results:
            assert [row.name for row in results.sums.standings(results.contest())] == ["a", "c", "b"]

    def test_records_come_in_the_order_of_the_schedule(self, path: Path) -> None:
        keep(path, 10, 2, 1, 11)
        with Results(path) as results:
            contest = results.contest()
            records = list(results.games.records(contest))
            assert [game_id for game_id, _ in records] == ["g1", "g2", "g10", "g11"]
            assert decode(shown(records[2][1])) == game(10)
            assert decode(results.games.record(contest, "g11")) == game(11)
            with pytest.raises(StoreError, match=r"no game 'g12' in contest 1 trial$"):
                results.games.record(contest, "g12")


class TestChangedRows:
    """`arena verify` compares all columns with the record; the others refuse a row that was changed."""

    @pytest.fixture(autouse=True)
    def _played(self, path: Path) -> None:
        kept = Kept(path)
        kept.start()
        fault = FaultRecord(2, 1, "illegal", b"")
        for number in (1, 2, 3):
            kept.writer.store(f"g{number}", game(number, faults=(fault,)))
        kept.close("stopped")

    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE games SET totals = '[40, 10]' WHERE id = 2",
            'UPDATE games SET names = \'["b", "a"]\' WHERE id = 2',
            "UPDATE games SET \"end\" = 'void' WHERE id = 2",
            "UPDATE games SET game_id = 'g9' WHERE id = 2",
            "UPDATE games SET place = 9 WHERE id = 3",
            "UPDATE games SET chain = x'00' WHERE id = 2",
            "UPDATE faults SET kind = 'flood' WHERE id = 2",
            "UPDATE faults SET game_pk = 1 WHERE id = 2",
            "DELETE FROM faults WHERE id = 2",
        ],
    )
    def test_a_changed_game(self, path: Path, statement: str) -> None:
        path.with_name("arena.db-head").unlink()
        change(path, statement)
        line = r"the database is damaged \(game g\d: its row does not match its SHA-256 digest\); restore it$"
        with pytest.raises(StoreError, match=line), Results(path) as results:
            results.sums.standings(results.contest())
        with pytest.raises(StoreError, match=line), Results(path) as results:
            list(results.games.rows(results.contest()))
        with Results(path) as results:
            assert len(list(results.games.rows(results.contest(), checked=False))) == 3

    def test_a_changed_record(self, path: Path) -> None:
        change(path, "UPDATE games SET record = x'00' WHERE id = 2")
        with pytest.raises(StoreError, match="does not match its SHA-256"), Results(path) as results:
            list(results.games.rows(results.contest()))

    def test_a_missing_game(self, path: Path) -> None:
        path.with_name("arena.db-head").unlink()
        change(path, "DELETE FROM games WHERE id = 2")
        with pytest.raises(StoreError, match=r"result 2 of contest 1 is missing"), Results(path) as results:
            results.sums.standings(results.contest())

    @pytest.mark.parametrize("column", ["name", "scoring", "games", "seed", "config", "started_at"])
    def test_a_changed_contest(self, path: Path, column: str) -> None:
        path.with_name("arena.db-head").unlink()
        value = {"config": "'{}'", "started_at": "'2006-01-01 00:00:00.000000'"}.get(column, "7")
        change(path, f"UPDATE contests SET {column} = {value}")
        with pytest.raises(StoreError, match="contest 1: its row does not match"), Results(path) as results:
            results.contest()

    def test_an_unknown_status(self, path: Path) -> None:
        change(path, "UPDATE contests SET status = 'runninf'")
        with pytest.raises(StoreError, match="contest 1: its row does not match"), Results(path) as results:
            results.contest()
