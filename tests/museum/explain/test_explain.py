"""What cannot be drawn is one clear line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from arena_engines.engine import EngineError
from arena_museum import explain
from arena_protocol.games.base import GameError

FULL = "53351/34233/13552/44215/44526"


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (lambda: explain.tree("insertion", {}, depth=0), "depth=0: expected at least 1"),
        (lambda: explain.tree("insertion", {}, depth=0, method="maxn"), "depth=0: expected at least 1"),
        (
            lambda: explain.tree("insertion", {}, depth=1, method="guess"),
            "method guess: expected alphabeta, minimax, maxn, expectiminimax",
        ),
        (
            lambda: explain.tree("insertion", {}, depth=5, method="maxn"),
            "more than 4000 vertices: ask for less",
        ),
        (
            lambda: explain.tree("insertion", {}, state=FULL, depth=3, method="expectiminimax"),
            "more than 4000 vertices: ask for less",
        ),
        (
            lambda: explain.tree("insertion", {}, depth=5, method="minimax"),
            "more than 4000 vertices: ask for less depth",
        ),
        (
            lambda: explain.tree("tictactoe", {}, state="xxx/oo./..."),
            "the game is over: there is no tree to draw",
        ),
        (lambda: explain.whole("xo", {}), "has more than 4000 vertices: draw a search instead"),
        (lambda: explain.whole("disc", {"mm": 3}), "disc has no option 'mm'; it has: m, seats"),
        (lambda: explain.hanoi(0), "discs=0: expected 1..60"),
        (lambda: explain.hanoi(61), "discs=61: expected 1..60"),
        (lambda: explain.integral("exp(x^2)"), r"the rules here do not solve the integral of exp\(x\^2\)"),
        (lambda: explain.integral("y"), "'y' is not known here"),
        (
            lambda: explain.strategy("tictactoe", {"size": 4}, seat=1, goal="draw"),
            "tictactoe is too large from here: no strategy among 20000 positions",
        ),
        (
            lambda: explain.strategy("disc", {}, seat=3),
            "seat=3: a strategy is drawn for seat 1 or 2 of a game for two",
        ),
        (
            lambda: explain.strategy("tictactoe", {}, seat=1, goal="draw", everything=True),
            "more than 4000 vertices",
        ),
    ],
)
def test_what_cannot_be_drawn_is_one_clear_line(draw: Callable[[], object], text: str) -> None:
    with pytest.raises((EngineError, GameError), match=text) as refused:
        draw()
    assert "\n" not in str(refused.value)


def test_a_bad_position_is_the_games_error() -> None:
    with pytest.raises(GameError, match="a position of disc is SUM/TOP/SEAT"):
        explain.whole("disc", {}, state="nonsense")


def test_the_table_of_searches_has_a_row_for_each() -> None:
    rows = explain.searches("lastcoin", {"coins": 7}, seat=2).splitlines()
    assert rows[0] == "lastcoin: seat 2, win from 7/1"
    assert [row.rsplit(maxsplit=3)[0] for row in rows[2:]] == [
        "depth first, natural order",
        "depth first, fixed order",
        "iterative deepening, reordered",
        "best first, dynamic order",
    ]
    assert all(row.endswith(" 8 problems") for row in rows[2:])


def test_a_strategy_that_does_not_exist_is_none_in_the_table() -> None:
    rows = explain.searches("tictactoe", {}, seat=1, state="xo./.x./..o").splitlines()
    assert {row.split()[-1] for row in rows[2:]} <= {"none", "problems"}
    assert all(row.endswith("none") for row in explain.searches("lastcoin", {}, seat=1).splitlines()[2:])


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (lambda: explain.searches("xo", {}, seat=1), "xo has no static evaluation to order by"),
        (lambda: explain.searches("insertion", {}, seat=1), "insertion has no static evaluation to order by"),
        (lambda: explain.searches("disc", {}, seat=3), "seat=3: a strategy is drawn for seat 1 or 2"),
        (
            lambda: explain.evaluate("tictactoe", {}, engine="perfect"),
            "engine perfect has no static evaluation",
        ),
        (lambda: explain.evaluate("xo", {}), "engine xo has no static evaluation with terms"),
    ],
)
def test_what_has_no_evaluation_is_one_clear_line(draw: Callable[[], object], text: str) -> None:
    with pytest.raises(EngineError, match=text) as refused:
        draw()
    assert "\n" not in str(refused.value)


def test_the_evaluation_of_a_game_that_is_over() -> None:
    for board, sign in (("xxx/oo./...", "+∞"), ("ooo/xx./x..", "-∞"), ("xox/xoo/oxx", "0")):
        assert (
            explain.evaluate("tictactoe", {}, state=board).splitlines()[1]
            == f"E(P) = {sign}: the game is over"
        )
