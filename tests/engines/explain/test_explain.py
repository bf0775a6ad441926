"""What cannot be drawn is one clear line."""

from __future__ import annotations

import pytest

from arena_engines import explain
from arena_engines.engine import EngineError
from arena_protocol.games.base import GameError


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (lambda: explain.tree("insertion", {}, depth=0), "depth=0: expected at least 1"),
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
def test_what_cannot_be_drawn_is_one_clear_line(draw, text: str) -> None:
    with pytest.raises((EngineError, GameError), match=text) as refused:
        draw()
    assert "\n" not in str(refused.value)


def test_a_bad_position_is_the_games_error() -> None:
    with pytest.raises(GameError, match="a position of disc is SUM/TOP/SEAT"):
        explain.whole("disc", {}, state="nonsense")
