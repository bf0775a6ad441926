"""Facts of a contest that outlive its journal: written behind it, and found again after a crash."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from queue import Queue

import pytest
from sqlalchemy import text

from arena_protocol.record_codec import decode
from arena_server.core.facts import Annulled, Order
from arena_server.core.journal import CONTEST, Entry, entry_of
from arena_server.errors import StoreError
from arena_server.places.workers.past_games import games_of, workers_of
from arena_server.store.database import LAYOUT, Database
from arena_server.store.engines import open_engine
from arena_server.store.reader import Results

from ..records import Kept, change, game, opening

PAUSE = Order(1, "pause", "", "jan", 1_800_000_000_000, "lunch")
RESUME = Order(2, "resume", "", "eve", 1_800_000_060_000, "")
#: In ns: longer ago than the test can take.
HOUR = 3_600 * 10**9
ENTRIES: tuple[Entry, ...] = ((0, "order", *PAUSE), (0, "order", *RESUME))


def orders(database: Database) -> list[Order]:
    with Results(database) as results:
        return results.facts.orders(results.contest())


def begin(database: Database, *entries: Entry, end: str | None = None) -> None:
    kept = Kept(database)
    kept.start()
    for entry in entries:
        kept.append(entry)
    if entries:
        kept.wait_for(len(entries))
    kept.close(end)


def go_on(database: Database, *entries: Entry, end: str | None = None) -> None:
    kept = Kept(database, opening(new=False))
    kept.start()
    for entry in entries:
        kept.append(entry)
    if entries:
        kept.wait_for(len(entries))
    kept.close(end)


def test_they_stay_when_the_contest_is_over_and_its_journal_gone(database: Database) -> None:
    begin(database, *ENTRIES, end="finished")
    assert orders(database) == [PAUSE, RESUME]


ARCHIVED: tuple[Entry, ...] = ((0, "archived", ""), (0, "order", 3, "archive", "", "jan", 7, ""))


@pytest.mark.parametrize("by", ["the same server", "a later one"])
def test_what_is_said_of_a_contest_that_is_over_is_a_fact_at_once(database: Database, by: str) -> None:
    """It has no journal any more: a server that is killed now leaves the table of facts."""
    if by == "the same server":
        kept = Kept(database)
        kept.start()
        kept.append(*ENTRIES)
        kept.wait_for(1)
        ended = Queue[None]()
        kept.writer.end("finished", lambda: ended.put(None), HOUR)
        ended.get(timeout=150)
        seen = 1
    else:
        begin(database, *ENTRIES, end="finished")
        kept, seen = Kept(database, replace(opening(new=False), keep=True)), 0
        found = kept.find()
        assert found is not None
        assert found.ended == "finished"
        assert 0 <= found.ended_ago < HOUR
    kept.append(*ARCHIVED, (0, "keys", "ann", ()))
    kept.wait_for(seen + 1)
    assert [order.verb for order in orders(database)] == ["pause", "resume", "archive"]
    kept.close()
    again = Kept(database, replace(opening(new=False), keep=True))
    past = again.find()
    again.close()
    assert past is not None
    assert past.past.entries == ENTRIES + ARCHIVED
    assert (past.ended_ago >= HOUR) == (by == "the same server")


def test_they_can_be_read_while_the_contest_goes_on(database: Database) -> None:
    kept = Kept(database)
    kept.start()
    kept.append((0, "run-state", "", "paused"), ENTRIES[0])
    kept.wait_for(1)
    kept.writer.store("g1", game(1))
    assert kept.next() == ["g1"]  # the thread has written all that was before it
    assert orders(database) == [PAUSE]
    kept.close()


@pytest.mark.parametrize("lost", [1, 2])
def test_a_crash_between_journal_and_table_loses_none(database: Database, lost: int) -> None:
    begin(database, *ENTRIES)
    change(database, f"DELETE FROM facts WHERE place > {2 - lost}")
    assert len(orders(database)) == 2 - lost
    go_on(database)
    assert orders(database) == [PAUSE, RESUME]
    go_on(database, (0, "order", *PAUSE._replace(number=3)), end="finished")
    assert [order.number for order in orders(database)] == [1, 2, 3]


def test_a_thread_that_is_idle_writes_them(database: Database) -> None:
    kept = Kept(database)
    kept.start()
    kept.append(ENTRIES[0])
    kept.wait_for(1)
    while not orders(database):  # once the thread has looked after the database
        pass
    kept.close()
    assert orders(database) == [PAUSE]


def test_a_row_that_is_missing_or_changed_is_reported(database: Database) -> None:
    begin(database, *ENTRIES, end="stopped")
    change(database, "UPDATE facts SET place = 3 WHERE place = 2")
    with pytest.raises(StoreError, match="fact 2 of contest 1 is missing"):
        orders(database)
    change(database, "DELETE FROM facts WHERE place = 1")
    with pytest.raises(StoreError, match="fact 1 of contest 1 is missing"):
        orders(database)
    change(database, "UPDATE facts SET place = 1, payload = (SELECT checksum FROM contests)")
    with pytest.raises(StoreError, match="does not match its SHA-256 digest"):
        orders(database)


def test_a_database_of_layout_6_has_none_until_the_next_server(path: Path) -> None:
    begin(path, end="stopped")
    change(path, "DROP TABLE facts")
    for column in ("used_ms", "agents"):
        change(path, f"ALTER TABLE games DROP COLUMN {column}")
    change(path, "PRAGMA user_version=6")
    assert orders(path) == []
    go_on(path, ENTRIES[0], end="stopped")
    assert orders(path) == [PAUSE]
    engine = open_engine(path)
    with engine.connect() as connection:
        assert connection.execute(text("PRAGMA user_version")).scalar() == LAYOUT
    engine.dispose()


def test_a_late_entrant_and_its_games_are_in_the_rows_of_the_contest(database: Database) -> None:
    begin(database, (0, "joined", "late", 7, 1, "", "", "", ""), (0, "games", "", 12), end="finished")
    with Results(database) as results:
        contest = results.contest()
        assert (contest.total, results.bots(contest)) == (12, ["a", "b", "c", "late"])


def test_a_contest_that_was_broken_off_for_good_is_not_gone_on_with(database: Database) -> None:
    begin(database, ENTRIES[0], end="aborted")
    kept = Kept(database, opening(new=False))
    assert kept.start() is None
    kept.close()
    with Results(database) as results:
        assert [contest.status for contest in results.contests()] == ["aborted", "running"]


def ends(database: Database) -> dict[str, str]:
    with Results(database) as results:
        return {row["game_id"]: row["end"] for row in results.games.rows(results.contest())}


def table(database: Database) -> list[tuple[str, int, int]]:
    with Results(database) as results:
        return [(row.name, row.points, row.games) for row in results.sums.standings(results.contest())]


@pytest.mark.parametrize("lost", [False, True])
def test_a_result_that_is_taken_back_is_void_and_its_record_stays(database: Database, lost: bool) -> None:
    kept = Kept(database)
    kept.start()
    for number, worker in enumerate(("w1", "w2", "w1"), start=1):
        kept.writer.store(f"g{number}", replace(game(number), worker=worker, host="box"))
        kept.next()
    kept.append(entry_of(CONTEST, Annulled(1, "w1")))
    kept.wait_for(1)
    kept.close()
    if lost:  # killed between journal and table
        change(database, "DELETE FROM facts")
        go_on(database)
    with Results(database) as results:
        chosen = results.contest()
        assert results.facts.annulled(chosen) == {"g1": "w1"}
        assert [(past.number, past.end, by) for past, by in results.games.played(chosen)] == [
            (1, "void", "w1"),
            (2, "complete", "w2"),
            (3, "complete", "w1"),
        ]
        assert decode(results.games.record(chosen, "g1")).end == "complete"
        assert results.sums.games_played(chosen) == 2
        assert results.latest("trial") is chosen
        assert results.latest("1") is None
    assert ends(database) == {"g1": "void", "g2": "complete", "g3": "complete"}
    assert table(database)[0] == ("a", 60, 2)
    assert [past.number for past in games_of(database, "trial", "w1")] == [1, 3]
    assert workers_of(database, "trial") == ["w1", "w2"]
    assert (workers_of(database, "other"), games_of(database, "other", "w1")) == ([], [])
