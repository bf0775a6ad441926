"""The table: scoring by points and by wins, shared ranks, faults by kind."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.stats.results import GameResult
from arena_server.stats.standings import (
    Row,
    Standings,
    row_json,
    standings,
)
from arena_server.stats.tiebreaks import HeadToHead

#: The seed's table of ten programs (seed 001): row i, column j is what i scored against j.
PARADOX = [
    [None, 100, 100, 100, 100, 100, 100, 100, 100, 100],
    *([200] + [None if i == j else 60 for j in range(2, 10)] + [40] for i in range(2, 10)),
    [200, 50, 50, 50, 50, 50, 50, 50, 50, None],
]


NAMES = [str(number) for number in range(1, 11)]


def paradox() -> list[GameResult]:
    pairs = combinations(range(10), 2)
    return [GameResult((NAMES[i], NAMES[j]), (PARADOX[i][j], PARADOX[j][i])) for i, j in pairs]  # type: ignore[arg-type]


def test_a_bot_that_loses_every_game_may_win_on_points() -> None:
    rows = standings(NAMES, paradox(), "points")
    assert (rows[0].rank, rows[0].name, rows[0].points, rows[0].wins) == (1, "1", 900, 0)
    assert (rows[-1].rank, rows[-1].name, rows[-1].points, rows[-1].wins) == (10, "10", 600, 9)
    assert [(row.rank, row.points) for row in rows[1:-1]] == [(2, 660)] * 8


def test_the_games_against_each_opponent() -> None:
    table = Standings(NAMES)
    for result in paradox():
        table.add(result)
    won, lost, drawn = HeadToHead(1, 2), HeadToHead(1, 0), HeadToHead(1, 1, 1)
    assert table.against("10") == dict.fromkeys(NAMES[:9], won)
    assert table.against("2") == {"1": won, **dict.fromkeys(NAMES[2:9], drawn), "10": lost}


def test_a_bot_that_wins_every_game_wins_on_wins() -> None:
    rows = standings(NAMES, paradox(), "wins")
    assert (rows[0].rank, rows[0].name, rows[0].wins, rows[0].points) == (1, "10", 9, 600)
    assert (rows[-1].rank, rows[-1].name, rows[-1].wins, rows[-1].points) == (10, "1", 0, 900)
    assert [(row.rank, row.wins) for row in rows[1:-1]] == [(2, 1)] * 8


def test_within_a_shared_rank_the_other_measure_and_then_the_name_decide_the_order() -> None:
    results = [
        GameResult(("d", "w"), (10, 20)),
        GameResult(("c", "x"), (10, 0)),
        GameResult(("b", "y"), (10, 20)),
        GameResult(("a", "z"), (0, 0)),
    ]
    rows = standings("dcbawxyz", results)
    ranks = [(row.rank, row.name) for row in rows]
    assert ranks == [(1, "w"), (1, "y"), (3, "c"), (3, "b"), (3, "d"), (6, "a"), (6, "x"), (6, "z")]


def test_of_as_many_wins_more_points_come_first_and_share_the_rank() -> None:
    results = [
        GameResult(("a", "z"), (10, 0)),
        GameResult(("b", "y"), (30, 20)),
        GameResult(("c", "x"), (20, 10)),
    ]
    rows = standings("abcxyz", results, "wins")
    ranks = [(row.rank, row.name) for row in rows]
    assert ranks == [(1, "b"), (1, "c"), (1, "a"), (4, "y"), (4, "x"), (4, "z")]


@pytest.mark.parametrize("scoring", ["points", "wins"])
def test_the_score_a_game_decides_while_the_numbers_of_games_differ(scoring: str) -> None:
    table = Standings("abc", scoring)
    assert not table.by_mean
    for _ in range(3):
        table.add(GameResult(("a", "b"), (10, 5)))
    table.add(GameResult(("b", "a"), (11, 0)))
    table.add(GameResult(("c", "b"), (20, 0)))
    assert table.by_mean
    assert [(row.rank, row.name) for row in table.rows()] == [(1, "c"), (2, "a"), (3, "b")]


@given(st.lists(st.tuples(st.sampled_from(["ab", "bc", "ca"]), st.tuples(*[st.integers(0, 9)] * 2))))
def test_ranks_follow_the_means_while_the_numbers_of_games_differ(
    games: list[tuple[str, tuple[int, int]]],
) -> None:
    table = Standings("abc")
    for names, totals in games:
        table.add(GameResult(tuple(names), totals))
    rows = table.rows()
    score = [Fraction(row.points, max(1, row.games)) if table.by_mean else row.points for row in rows]
    assert score == sorted(score, reverse=True)
    assert [row.rank for row in rows] == [1 + score.index(each) for each in score]


def test_a_draw_is_no_win() -> None:
    rows = standings("ab", [GameResult(("a", "b"), (30, 30))], "wins")
    assert [row.wins for row in rows] == [0, 0]


def test_a_draw_is_half_of_a_win() -> None:
    """18 won and 10 lost are less than 16 won, 6 drawn and 6 lost: 19 of 28."""
    table = Standings("abc", "wins")
    for names, totals, games in (
        (("a", "c"), (28, 0), 18), (("a", "c"), (0, 28), 10),
        (("b", "c"), (28, 0), 16), (("b", "c"), (9, 9), 6), (("b", "c"), (0, 28), 6),
    ):  # fmt: skip
        table.add(GameResult(names, totals, games=games))
    rows = [row_json(row) for row in table.rows()]
    shown = [(row["rank"], row["bot"], row["wins"], row["score"]) for row in rows]
    assert shown == [(1, "b", 16, 0.6786), (2, "a", 18, 0.6429), (3, "c", 16, 0.3393)]


@given(
    st.lists(
        st.tuples(st.sampled_from(list(combinations("abcd", 2))), st.tuples(*[st.integers(0, 2)] * 2)),
        min_size=1,
        max_size=25,
    )
)
def test_by_wins_the_table_agrees_with_its_cross_table_and_tie_breaks(
    games: list[tuple[tuple[str, str], tuple[int, int]]],
) -> None:
    table = Standings("abcd", "wins", ["head-to-head", "buchholz"])
    for names, totals in games:
        table.add(GameResult(names, totals))
    rows = table.rows()
    cross: dict[str, Fraction] = {}
    for row in rows:
        score = sum((pair.score for pair in table.against(row.name).values()), Fraction(0))
        cross[row.name] = score / max(1, row.games) if table.by_mean else score
        assert row.wins + Fraction(table.players[row.name].draws, 2) == score
        assert row.score is None or any(one == other for _, (one, other) in games)
        assert row.score in (None, cross[row.name])
    order = [cross[row.name] for row in rows]
    assert order == sorted(order, reverse=True)
    for row in rows:
        against = table.against(row.name)
        strength = sum((pair.games * cross[other] for other, pair in against.items()), Fraction(0))
        assert row.tie_breaks["buchholz"] == (strength / max(1, row.games) if table.by_mean else strength)
        tied = [other.name for other in rows if cross[other.name] == cross[row.name] and other != row]
        pairs = [against[name] for name in tied if name in against]
        assert row.tie_breaks["head-to-head"] in (0, sum((pair.score for pair in pairs), Fraction(0)))


def test_three_seats_have_one_winner() -> None:
    rows = standings("abc", [GameResult(("a", "b", "c"), (30, 40, 10))], "wins")
    assert [(row.name, row.wins) for row in rows] == [("b", 1), ("a", 0), ("c", 0)]


def test_faults_are_counted_by_kind() -> None:
    table = Standings(["a", "b"])
    table.add(GameResult(("a", "b"), (0, 5), (("a", "timeout"),)))
    table.add(GameResult(("b", "a"), (0, 5), (("a", "illegal"), ("b", "quit"))))
    table.add(GameResult(("a", "b"), (0, 5), (("a", "timeout"),)))
    assert table.rows()[1] == Row(2, "a", 5, 3, 1, {"illegal": 1, "timeout": 2})


def test_the_mean_of_no_game_is_zero() -> None:
    first, second = standings("ab", [])
    assert (first.mean, second.rank) == (0.0, 1)
    assert standings("ab", [GameResult(("a", "b"), (5, 0)), GameResult(("b", "a"), (0, 4))])[0].mean == 4.5


def test_a_row_as_json_types() -> None:
    (row, _) = standings("ab", [GameResult(("a", "b"), (5, 0), (("a", "quit"),))])
    assert row_json(row) == {
        "rank": 1, "bot": "a", "points": 5, "games": 1, "mean": 5.0, "wins": 1,
        "faults": {"quit": 1},
    }  # fmt: skip


def test_tie_breaks_separate_and_what_they_leave_equal_shares_a_rank() -> None:
    """Three bots with one win and one loss each: by points a, then b and c together."""
    table = Standings("abc", "wins", ["points"])
    for names, totals in ((("a", "b"), (9, 1)), (("b", "c"), (4, 2)), (("c", "a"), (3, 2))):
        table.add(GameResult(tuple(names), totals))
    rows = table.rows()
    shown = [(row.rank, row.name, int(row.tie_breaks["points"])) for row in rows]
    assert shown == [(1, "a", 11), (2, "b", 5), (2, "c", 5)]
    assert row_json(rows[0])["tie_breaks"] == {"points": 11}
    plain = Standings("abc", "wins")
    assert [row.rank for row in plain.rows()] == [1, 1, 1]
    assert "tie_breaks" not in row_json(plain.rows()[0])


def test_a_half_is_a_number_of_json() -> None:
    table = Standings("ab", "points", ["sonneborn-berger"])
    table.add(GameResult(("a", "b"), (1, 1)))
    assert row_json(table.rows()[0])["tie_breaks"] == {"sonneborn-berger": 0.25}


def test_no_such_tie_break() -> None:
    with pytest.raises(ValueError, match=r"^a tie-break is one of points, .*, lot, not 'luck'$"):
        Standings("ab", "wins", ["luck"])


def test_no_such_scoring() -> None:
    with pytest.raises(ValueError, match="expected points, wins or values such as 3-1-0, got 'goals'"):
        Standings("ab", "goals")


@given(st.lists(st.tuples(st.permutations("abcd"), st.tuples(*[st.integers(-50, 50)] * 4))))
def test_the_order_of_the_results_does_not_matter(games: list[tuple[list[str], tuple[int, ...]]]) -> None:
    results = [GameResult(tuple(names), totals) for names, totals in games]
    rows = standings("abcd", results)
    assert rows == standings("dcba", reversed(results))
    assert sum(row.points for row in rows) == sum(sum(result.totals) for result in results)
    assert [row.points for row in rows] == sorted((row.points for row in rows), reverse=True)


def test_scores_of_a_format_rank_before_points() -> None:
    """The loser of a final may have more points a game than its winner; a bye counts without a game."""
    scores = {"ann": Fraction(2), "bob": Fraction(1), "cid": Fraction(1), "dan": Fraction(0)}
    table = Standings(scores, ranked_by=lambda: scores)
    table.add(GameResult(("ann", "dan"), (2, 1)))
    table.add(GameResult(("bob", "dan"), (90, 0)))
    table.add(GameResult(("ann", "bob"), (2, 1)))
    rows = table.rows()
    assert [(row.rank, row.name) for row in rows] == [(1, "ann"), (2, "bob"), (2, "cid"), (4, "dan")]
    assert [row_json(row)["score"] for row in rows] == [2, 1, 1, 0]
    assert [row_json(row)["rank"] for row in rows] == [1, 2, 2, 4]
    assert "score" not in row_json(Standings(("ann",)).rows()[0])


def test_buchholz_adds_up_the_scores_of_the_format() -> None:
    """ann's opponents have 1 and 2 points of the rounds (cid had a bye), and 0 and 1 a game."""
    scores = {"ann": Fraction(1), "bob": Fraction(1), "cid": Fraction(2)}
    for ranked_by, expected in ((lambda: scores, 3), (lambda: None, Fraction(1, 2))):
        table = Standings(scores, "wins", ("buchholz",), ranked_by=ranked_by)
        table.add(GameResult(("ann", "bob"), (1, 0)))
        table.add(GameResult(("cid", "ann"), (1, 0)))
        (row,) = (row for row in table.rows() if row.name == "ann")
        assert row.tie_breaks == {"buchholz": expected}


def test_a_penalty_before_any_game_is_no_place() -> None:
    """A bye is one, also if the jury has taken its points."""
    table = Standings(("ann", "bob"), scoring="wins")
    table.penalise("ann", Fraction(1))
    assert [(row["bot"], row["rank"]) for row in map(row_json, table.rows())] == [
        ("bob", None),
        ("ann", None),
    ]
    scores = {"ann": Fraction(0), "bob": Fraction(-1)}
    drawn = Standings(("ann", "bob"), scoring="wins", ranked_by=lambda: scores)
    for name in scores:
        drawn.penalise(name, Fraction(1))
    assert [(row["bot"], row["rank"]) for row in map(row_json, drawn.rows())] == [("ann", 1), ("bob", None)]
