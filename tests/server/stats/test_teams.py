"""Teams against their definition: the sum of the k highest values of an owner's bots."""

from __future__ import annotations

from fractions import Fraction
from heapq import nlargest

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.stats.results import GameResult
from arena_server.stats.standings import Row, Standings
from arena_server.stats.teams import TeamRow, best_of, team_json, team_rows

NAMES = "abcdef"
GAMES = st.lists(
    st.tuples(st.permutations(NAMES).map(lambda names: names[:2]), st.integers(0, 3), st.integers(0, 3)),
    max_size=20,
)
OWNERS = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["x", "y", "z"]))


def table_of(games: list[tuple[list[str], int, int]], scoring: str) -> Standings:
    table = Standings(NAMES, scoring)
    for names, first, second in games:
        table.add(GameResult(tuple(names), (first, second)))
    return table


def worth(row: Row, games: list[tuple[list[str], int, int]], scoring: str, *, by_mean: bool) -> Fraction:
    """What the table ranks by, counted again from the games."""
    total = Fraction(0)
    for names, *points in games:
        if row.name in names:
            own = points[names.index(row.name)]
            other = sum(points) - own
            if scoring == "points":
                total += own
            else:
                values = (3, 1, 0) if scoring == "3-1-0" else (1, Fraction(1, 2), 0)
                total += values[0] if own > other else values[1] if own == other else values[2]
    return total / max(1, row.games) if by_mean else total


@given(GAMES, OWNERS, st.integers(1, 4), st.sampled_from(["points", "wins", "3-1-0"]))
def test_a_team_has_the_sum_of_its_best(
    games: list[tuple[list[str], int, int]], owners: dict[str, str], best: int, scoring: str
) -> None:
    table = table_of(games, scoring)
    rows = team_rows(table, owners, best)
    of = {
        owner: [
            worth(row, games, scoring, by_mean=table.by_mean)
            for row in table.rows()
            if owners.get(row.name) == owner
        ]
        for owner in owners.values()
    }
    assert {row.owner: row.score for row in rows} == {
        owner: sum(nlargest(best, values), Fraction(0)) for owner, values in of.items()
    }
    assert {row.owner for row in rows} == set(owners.values())
    assert [row.score for row in rows] == sorted((row.score for row in rows), reverse=True)
    for row in rows:
        assert len(row.counted) == min(best, row.bots)
        assert all(owners[name] == row.owner for name in row.counted)
        assert row.rank in (None, 1 + sum(each.score > row.score for each in rows))


def test_equal_sums_share_their_rank_and_who_has_not_played_has_none() -> None:
    table = table_of([(["a", "b"], 2, 1), (["c", "d"], 1, 2)], "points")
    owners = {"a": "x", "b": "y", "c": "x", "d": "y", "e": "z"}
    table_rows = team_rows(table, owners, 2)
    assert [(row.rank, row.owner) for row in table_rows] == [(1, "x"), (1, "y"), (None, "z")]
    assert table_rows[0] == TeamRow(1, "x", Fraction(3), ("a", "c"), 2)
    assert team_json(table_rows[2]) == {"rank": None, "team": "z", "score": 0, "counted": ["e"], "bots": 1}


@all_of("table", [{}, {"best": 0}, {"best": True}, {"best": 1.5}, {"best": 2, "worst": 1}])
def test_what_is_no_rule_of_teams(table: dict[str, object]) -> None:
    with pytest.raises(
        ValueError, match=r"expected \{ best = k \}, how many bots of a team count, 1 to 1,000"
    ):
        best_of(table)
    assert best_of({"best": 2}) == 2
