"""The table: scoring by points and by wins, ranks that are shared, faults by kind."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.core.standings import Result, Row, Standings, standings

#: The seed's table of ten programs (seed 001): row i, column j is what i scored against j.
PARADOX = [
    [None, 100, 100, 100, 100, 100, 100, 100, 100, 100],
    *([200] + [None if i == j else 60 for j in range(2, 10)] + [40] for i in range(2, 10)),
    [200, 50, 50, 50, 50, 50, 50, 50, 50, None],
]
NAMES = [str(number) for number in range(1, 11)]


def paradox() -> list[Result]:
    pairs = combinations(range(10), 2)
    return [Result((NAMES[i], NAMES[j]), (PARADOX[i][j], PARADOX[j][i])) for i, j in pairs]  # type: ignore[arg-type]


def test_who_loses_every_game_wins_the_contest_on_points() -> None:
    rows = standings(NAMES, paradox(), "points")
    assert (rows[0].rank, rows[0].name, rows[0].points, rows[0].wins) == (1, "1", 900, 0)
    assert (rows[-1].rank, rows[-1].name, rows[-1].points, rows[-1].wins) == (10, "10", 600, 9)
    assert [(row.rank, row.points) for row in rows[1:-1]] == [(2, 660)] * 8


def test_who_wins_every_game_wins_the_contest_on_wins() -> None:
    rows = standings(NAMES, paradox(), "wins")
    assert (rows[0].rank, rows[0].name, rows[0].wins, rows[0].points) == (1, "10", 9, 600)
    assert (rows[-1].rank, rows[-1].name, rows[-1].wins, rows[-1].points) == (10, "1", 0, 900)
    assert [(row.rank, row.wins) for row in rows[1:-1]] == [(2, 1)] * 8


def test_within_a_shared_rank_the_other_measure_and_then_the_name_decide_the_order() -> None:
    results = [
        Result(("d", "x"), (10, 20)),
        Result(("c", "x"), (10, 0)),
        Result(("b", "x"), (10, 20)),
        Result(("a", "x"), (0, 0)),
    ]
    rows = standings(["d", "c", "b", "a", "x"], results)
    assert [(row.rank, row.name) for row in rows] == [(1, "x"), (2, "c"), (2, "b"), (2, "d"), (5, "a")]


def test_a_draw_is_no_win() -> None:
    rows = standings("ab", [Result(("a", "b"), (30, 30))], "wins")
    assert [row.wins for row in rows] == [0, 0]


def test_three_seats_have_one_winner() -> None:
    rows = standings("abc", [Result(("a", "b", "c"), (30, 40, 10))], "wins")
    assert [(row.name, row.wins) for row in rows] == [("b", 1), ("a", 0), ("c", 0)]


def test_faults_are_counted_by_kind() -> None:
    table = Standings(["a", "b"])
    table.add(Result(("a", "b"), (0, 5), (("a", "timeout"),)))
    table.add(Result(("b", "a"), (0, 5), (("a", "illegal"), ("b", "quit"))))
    table.add(Result(("a", "b"), (0, 5), (("a", "timeout"),)))
    assert table.rows()[1] == Row(2, "a", 5, 3, 1, {"illegal": 1, "timeout": 2})


def test_the_mean_of_no_game_is_zero() -> None:
    first, second = standings("ab", [])
    assert (first.mean, second.rank) == (0.0, 1)
    assert standings("ab", [Result(("a", "b"), (5, 0)), Result(("b", "a"), (0, 4))])[0].mean == 4.5


def test_no_such_scoring() -> None:
    with pytest.raises(ValueError, match="scoring is one of points, wins, not 'goals'"):
        Standings("ab", "goals")


@given(st.lists(st.tuples(st.permutations("abcd"), st.tuples(*[st.integers(-50, 50)] * 4))))
def test_the_order_of_the_results_does_not_matter(games: list[tuple[list[str], tuple[int, ...]]]) -> None:
    results = [Result(tuple(names), totals) for names, totals in games]
    rows = standings("abcd", results)
    assert rows == standings("dcba", reversed(results))
    assert sum(row.points for row in rows) == sum(sum(result.totals) for result in results)
    assert [row.points for row in rows] == sorted((row.points for row in rows), reverse=True)
