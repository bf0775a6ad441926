"""The engine `weighted`: its terms, its weights, and that they matter."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_cli.match_league import league
from arena_cli.match_run import MatchPlan
from arena_engines.engine import EngineError, Position
from arena_engines.registry import create
from arena_engines.small.weighted import TERMS, Weighted, terms_table
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game
from arena_protocol.games.mnk import Marks, TicTacToe, board_of

ROOT = Path(__file__).parents[3]


def engine(spec: str, game: str) -> Weighted:
    made = create(spec, game)
    assert isinstance(made, Weighted)
    return made


def lines(size: int, win: int) -> list[list[tuple[int, int]]]:
    steps = ((1, 0), (0, 1), (1, 1), (1, -1))
    starts = [(x, y, dx, dy) for x in range(size) for y in range(size) for dx, dy in steps]
    found = [[(x + n * dx, y + n * dy) for n in range(win)] for x, y, dx, dy in starts]
    return [line for line in found if all(0 <= x < size and 0 <= y < size for x, y in line)]


def slow_terms(size: int, win: int, marks: dict[tuple[int, int], str]) -> tuple[int, ...]:
    """Space, threats and shape from their definitions."""
    space = threats = shape = 0
    for line in lines(size, win):
        signs = [marks.get(cell, ".") for cell in line]
        for mine, theirs, sign in (("x", "o", 1), ("o", "x", -1)):
            space += sign * (theirs not in signs)
            threats += sign * (theirs not in signs and signs.count(mine) == win - 1)
            shape += sign * signs.count(mine)
    return space, threats, shape


@given(st.sampled_from([(3, 3), (4, 3), (4, 4)]), st.data())
def test_the_terms_of_tictactoe_are_those_of_the_definition(
    shape: tuple[int, int], data: st.DataObject
) -> None:
    size, win = shape
    cells = [(x, y) for y in range(size) for x in range(size)]
    marks = {cell: sign for cell in cells if (sign := data.draw(st.sampled_from(".xo"))) != "."}
    bits = dict(zip(cells, board_of(size).cells.values(), strict=True))
    planes = [sum(bits[cell] for cell, sign in marks.items() if sign == each) for each in "xo"]
    found = engine("weighted", "tictactoe").terms(TicTacToe(size, win), Marks(*planes))
    assert found == slow_terms(size, win, marks)


@all_of(
    ("game", "options", "state", "expected"),
    [
        ("disc", {"m": 13}, "0/1/1", (0, 2, 6)),
        ("disc", {"m": 13}, "11/1/2", (-1, -2, -6)),  # both moves end the game
        ("disc", {"m": 13}, "9/3/1", (1, 1, 4)),
        ("lastcoin", {}, "7/1", (0, 2, -1)),
        ("lastcoin", {}, "1/2", (1, -1, 1)),
        ("lastcoin", {}, "6/2", (0, -2, -1)),
    ],
)
def test_the_terms_of_the_other_games(
    game: str, options: dict[str, object], state: str, expected: tuple[int, ...]
) -> None:
    rules = make_game(game, options)
    assert engine("weighted", game).terms(rules, rules.start(Deal(state))) == expected


def test_a_value_is_the_weighted_sum_of_the_terms() -> None:
    rules = make_game("tictactoe", {"size": 4})
    state = rules.start(Deal("..o./..x./..x./.ox."))
    assert engine("weighted:k=3/1/2", "tictactoe").evaluate(rules, state) == 3 * 2 + 1 * 0 + 2 * 4
    assert terms_table(engine("weighted:k=3/1/2", "tictactoe"), rules, state).splitlines()[-1] == "E(P) = 14"


@pytest.mark.parametrize("game", TERMS)
def test_without_weights_the_first_legal_move_is_played(game: str) -> None:
    rules: Game[Any] = make_game(game, {})
    at = Position(rules=rules, state=rules.start(rules.deal(0)))
    assert create("weighted:k=0/0/0", game).choose(at) == rules.legal_moves(at.state)[0]


def test_the_right_weight_wins_every_won_heap_and_the_others_do_not() -> None:
    """The special term of last coin is the whole theory of the game; mobility alone knows nothing of it."""
    for coins in (5, 6, 8, 9, 20, 21):
        rules = make_game("lastcoin", {"coins": coins})
        at = Position(rules=rules, state=rules.start(rules.deal(0)))
        assert create("weighted:k=0/0/1", "lastcoin").choose(at) == str((coins - 1) % 3)
    losing = [create("weighted:k=0/1/0", "lastcoin").choose(at) for at in map(heap, (5, 6, 8, 9))]
    assert losing != ["1", "2", "1", "2"]


def heap(coins: int) -> Position[Any, Any]:
    rules = make_game("lastcoin", {"coins": coins})
    return Position(rules=rules, state=rules.start(rules.deal(0)))


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ("weighted:k=3/1", "engine weighted: k=3/1: expected 3 weights (space, threats, shape)"),
        ("weighted:k=3/x/1", "engine weighted: k=3/x/1: expected numbers from -99 to 99 joined by '/'"),
        ("weighted:k=100/1/1", "engine weighted: k=100/1/1: expected numbers from -99 to 99 joined by '/'"),
        ("weighted:k=--1/1/1", "engine weighted: k=--1/1/1: expected numbers from -99 to 99 joined by '/'"),
    ],
)
def test_wrong_weights_are_refused(spec: str, error: str) -> None:
    with pytest.raises(EngineError) as refused:
        create(spec, "tictactoe")
    assert str(refused.value) == error


def test_the_example_tournament_ranks_the_weights() -> None:
    config = tomllib.loads((ROOT / "examples" / "weights.toml").read_text(encoding="utf-8"))
    names = {bot["engine"]: bot["name"] for bot in config["bot"]}
    options = {"size": config["game"]["size"]}
    plan = MatchPlan(game=config["contest"]["game"], options=options, deals=1, clock_ms=20_000, seed=2006)
    table = league(list(names), 2, plan)[0]["standings"]
    ranking = [names[row["engine"]] for row in table]
    assert ranking[-1] == "opposite"
    assert ranking.index("learned") < ranking.index("space") < ranking.index("none")
