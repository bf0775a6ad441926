"""A contest whose format draws, read from its database: table, number of games, rounds, verification."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from arena_server.core.facts import Drawn, Repeat
from arena_server.core.formats.base import PairingError
from arena_server.core.journal import entry_of
from arena_server.store.plans import history_of_plan
from arena_server.store.reader import Results
from arena_server.web.archive import Archive
from arena_server.web.shown_results import NotFoundError

from ..records import Kept, game, opening

#: b loses the final, and has more points in every other game.
SEMI = Drawn(1, 1, 1, (("a", "d"), ("b", "c")))
FINAL = Drawn(2, 4, 1, (("a", "b"),))


def play(path: Path, delay_ms: int = 0, *, end: str | None = "finished") -> None:
    header = opening(names=("a", "b", "c", "d"))
    config = replace(header.config, format="knockout", games_per_pair=1, spectator_delay_ms=delay_ms)
    kept = Kept(path, replace(header, config=config, games=3))
    kept.start()
    kept.append(entry_of(0, SEMI))
    kept.writer.store("g1", game(1, ("a", "d"), (2, 1)))
    kept.writer.store("g2", game(2, ("b", "c"), (0, 0), end="void"))
    kept.append(entry_of(0, Repeat(3, 2, 3)))
    kept.writer.store("g3", game(3, ("b", "c"), (99, 0)))
    kept.append(entry_of(0, FINAL))
    kept.writer.store("g4", game(4, ("a", "b"), (2, 1)))
    kept.wait_for(3)
    kept.close(end)


def test_the_first_of_the_table_has_won_the_bracket(tmp_path: Path) -> None:
    play(tmp_path / "arena.db")
    with Results(tmp_path / "arena.db") as results:
        contest = results.contest()
        rows = results.sums.standings(contest)
        assert [(row.rank, row.name, row.points) for row in rows] == [
            (1, "a", 4),
            (2, "b", 100),
            (3, "d", 1),
            (3, "c", 0),
        ]
        assert [row.name for row in results.sums.standings(contest, "wins")][:2] == ["a", "b"]
        assert (results.sums.games_played(contest), results.sums.total(contest)) == (3, 3)
        history = results.sums.history(contest)
        assert history is not None
        history.check(over=True)
        final = history.document()["rounds"][-1]["matches"][0]
        assert (final["names"], final["games"], final["winner"]) == (["a", "b"], [4], "a")


@pytest.mark.parametrize(
    ("scoring", "winner", "decided_by", "order"),
    [("points", "b", "points", ["b", "a"]), ("wins", "a", "seed", ["a", "b"])],
)
def test_points_decide_a_tie_only_where_the_contest_is_scored_by_points(
    tmp_path: Path, scoring: str, winner: str, decided_by: str, order: list[str]
) -> None:
    """Each has won a game, b with more points; the readers of the database say what the server did."""
    header = opening(names=("a", "b"))
    options: dict[str, int | str] = {"extra_pairs": 0}
    config = replace(
        header.config, format="knockout", games_per_pair=2, scoring=scoring, format_options=options
    )
    kept = Kept(tmp_path / "arena.db", replace(header, config=config, games=2))
    kept.start()
    kept.append(entry_of(0, Drawn(1, 1, 2, (("a", "b"),))))
    kept.writer.store("g1", game(1, ("a", "b"), (2, 1)))
    kept.writer.store("g2", game(2, ("b", "a"), (90, 1)))
    kept.wait_for(1)
    kept.close("finished")
    with Results(tmp_path / "arena.db") as results:
        contest = results.contest()
        assert [row.name for row in results.sums.standings(contest)] == order
        plan = json.loads(json.dumps(results.sums.plan(contest)))
        exported = history_of_plan(plan)
        for past, _ in results.games.played(contest):
            exported.add(past)
        own = results.sums.history(contest)
    assert own is not None
    for history in (own, exported):
        history.check(over=True)
        (match,) = history.document()["rounds"][0]["matches"]
        assert (match["winner"], match["decided_by"]) == (winner, decided_by)


def rounds_of(archive: Archive) -> Any:
    return json.loads(archive.rounds(1))["rounds"]


def test_rounds_are_made_again_only_after_a_change(tmp_path: Path) -> None:
    play(tmp_path / "arena.db", 60_000, end=None)
    now = [datetime.now(UTC).replace(tzinfo=None)]
    archive = Archive(tmp_path / "arena.db", lambda: now[0], live=True)
    first = archive.rounds(1)
    assert archive.rounds(1) is first
    now[0] += timedelta(seconds=120)
    assert archive.rounds(1) != first


def test_a_format_that_draws_nothing_has_no_rounds(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "arena.db", opening())
    kept.start()
    kept.close()
    with pytest.raises(NotFoundError, match=r"^contest 1 draws no rounds$"):
        Archive(tmp_path / "arena.db").rounds(1)


def test_the_page_ranks_and_counts_the_same(tmp_path: Path) -> None:
    play(tmp_path / "arena.db")
    document = Archive(tmp_path / "arena.db").contest(1)
    assert [(row["bot"], row["score"]) for row in document["standings"][:2]] == [("a", 2), ("b", 1)]
    assert (document["games_played"], document["games_void"], document["games"]) == (3, 1, 3)
    assert "rounds" not in document
    assert document["ranked_by"] == "levels of the bracket passed"
    assert rounds_of(Archive(tmp_path / "arena.db"))[-1]["matches"][0]["winner"] == "a"
    assert Archive(tmp_path / "arena.db").contests()[0]["games"] == 3


def test_with_a_delay_no_draw_tells_a_result_before_its_time(tmp_path: Path) -> None:
    play(tmp_path / "arena.db", 60_000, end=None)
    begin = datetime.now(UTC).replace(tzinfo=None)
    now = [begin]
    archive = Archive(tmp_path / "arena.db", lambda: now[0], live=True)
    document, (semi, final) = archive.contest(1), rounds_of(archive)
    assert [match["state"] for match in semi["matches"]] == ["open", "open"]
    assert final["matches"][0]["names"] == [None, None]
    assert {row["score"] for row in document["standings"]} == {0}
    now[0] = begin + timedelta(seconds=120)
    assert rounds_of(archive)[-1]["matches"][0]["winner"] == "a"


@pytest.mark.parametrize(
    ("place", "text"),
    [(3, "g4 was played, and was not drawn"), (2, "g3 was played, and was not drawn")],
)
def test_games_that_were_not_drawn_are_found(tmp_path: Path, place: int, text: str) -> None:
    play(tmp_path / "arena.db")
    with sqlite3.connect(tmp_path / "arena.db") as connection:
        connection.execute("DELETE FROM facts WHERE place >= ?", [place])
    connection.close()
    with Results(tmp_path / "arena.db") as results:
        history = results.sums.history(results.contest())
        assert history is not None
        with pytest.raises(PairingError) as caught:
            history.check(over=True)
        assert str(caught.value) == text
