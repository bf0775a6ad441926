"""The open-lines heuristic and its engine."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engines.positions import played_at_random

from arena_engines.engine import EngineError, Position
from arena_engines.registry import create
from arena_engines.search.adapters import WON
from arena_engines.small.openlines import OpenLines, open_lines, open_lines_table
from arena_protocol.games.base import Deal
from arena_protocol.games.mnk import Marks, TicTacToe

evaluate = OpenLines().evaluate


@pytest.mark.parametrize(
    ("board", "x", "o"),
    [
        (".o../.xx./..../....", 8, 5),  # figure 3 a of the Russian text: E = 8 - 5 = 3
        ("..o./..x./..x./.ox.", 6, 4),  # figure 3 b as rules.md corrects it: E = 6 - 4 = 2
        ("..../..../..../....", 10, 10),
    ],
)
def test_the_figures_of_open_lines(board: str, x: int, o: int) -> None:
    game = TicTacToe(4, 4)
    position = game.start(Deal(board)) if board.count("x") - board.count("o") in (0, 1) else None
    position = position or Marks(*planes(board))
    assert open_lines(game, position) == (x, o)
    assert evaluate(game, position) == x - o
    assert open_lines_table(game, position).splitlines()[-1] == f"E(P) = {x} - {o} = {x - o}"


def test_an_analysis_gives_the_value_and_the_open_lines_at_the_end_of_the_line() -> None:
    game = TicTacToe(4, 4)
    for board, deepest in ((".o../.xx./..../....", 3), ("..o./..x./..x./.ox.", 2)):
        position = Position(rules=game, state=game.start(Deal(board)))
        for depth in range(1, deepest + 1):
            found = create("openlines", "tictactoe").analyse(position, depth)
            value, x, o = found.eval
            assert (value, found.depth) == (x - o, depth)
            assert found.move == create(f"openlines:depth={depth}", "tictactoe").choose(position)


def test_a_won_position_is_analysed_to_its_end() -> None:
    game = TicTacToe(3, 3)
    position = Position(rules=game, state=game.start(Deal("xx./oo./...")))
    found = create("openlines", "tictactoe").analyse(position, 5)
    assert (found.move, found.eval[0], found.depth) == ("c3", WON - 1, 1)


@pytest.mark.parametrize(
    ("board", "depth", "error"),
    [
        ("xxx/oo./...", 1, "the game is over: there is no move to analyse"),
        (".../.../...", 10, "depth=10: expected 1..9"),
        (".../.../...", 0, "depth=0: expected 1..9"),
    ],
)
def test_what_cannot_be_analysed_is_refused(board: str, depth: int, error: str) -> None:
    game = TicTacToe(3, 3)
    with pytest.raises(EngineError) as refused:
        create("openlines", "tictactoe").analyse(Position(rules=game, state=game.start(Deal(board))), depth)
    assert str(refused.value) == error


def planes(board: str) -> tuple[int, int]:
    """Figure 3 b has a mark of X too many for any game, so it is read here."""
    rows = list(reversed(board.split("/")))
    signs = [(5 * y + x, sign) for y, row in enumerate(rows) for x, sign in enumerate(row)]
    return sum(1 << at for at, sign in signs if sign == "x"), sum(
        1 << at for at, sign in signs if sign == "o"
    )


def test_a_finished_game_is_worth_more_than_any_lines() -> None:
    game = TicTacToe(3, 3)
    assert evaluate(game, game.start(Deal("xxx/oo./..."))) == WON
    assert evaluate(game, game.start(Deal("ooo/xx./x.."))) == -WON
    assert evaluate(game, game.start(Deal("xox/xoo/oxx"))) == 0


def plain(game: TicTacToe, position: Marks, depth: int) -> int:
    """Minimax for X without cutting; a won game is worth more the sooner."""
    moves = game.legal_moves(position)
    if not moves or depth == 0:
        value = evaluate(game, position)
        return value + depth * ((value == WON) - (value == -WON))
    values = [plain(game, game.play(position, move).position, depth - 1) for move in moves]
    return max(values) if game.to_move(position) == 1 else min(values)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([TicTacToe(3, 3), TicTacToe(4, 4)]),
    st.integers(2, 7),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)
def test_openlines_plays_the_minimax_move(
    game: TicTacToe, plies: int, depth: int, chance: random.Random
) -> None:
    position = played_at_random(game, chance, plies)
    if game.end(position) is not None:
        return
    sign = 1 if game.to_move(position) == 1 else -1
    moves = game.legal_moves(position)
    values = [sign * plain(game, game.play(position, move).position, depth - 1) for move in moves]
    chosen = create(f"openlines:depth={depth}", "tictactoe").choose(Position(rules=game, state=position))
    assert chosen == moves[values.index(max(values))]
