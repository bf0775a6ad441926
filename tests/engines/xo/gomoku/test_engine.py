"""The engine `xo`: good moves, reproducible, on every size, within its time."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_engines.engine import AnyPosition, Engine, EngineError, Position
from arena_engines.registry import create
from arena_engines.xo.gomoku.alphabeta import MATE
from arena_engines.xo.gomoku.engine import ENOUGH, MOST, Gomoku, budget
from arena_protocol.games import make_game
from arena_protocol.games.mnk import Marks, Xo, board_of

from ..oracle import fives


def player(spec: str = "xo:nodes=2000") -> Engine:
    return create(spec, "xo")


def table(x: str, o: str, size: int = 10) -> AnyPosition:
    bits = board_of(size).cells
    planes = [sum(bits[name] for name in names.split()) for names in (x, o)]
    return Position(rules=Xo(size=size), state=Marks(planes[0], planes[1]))


@pytest.mark.parametrize(
    ("x", "o", "moves"),
    [
        ("c3 d3 e3 f3", "c7 d7 e7 f7", "b3 g3"),  # five before anything else
        ("c7 d7 e8 a1 a9", "c3 d3 e3 f3", "b3 g3"),  # a four: either end, both lose
        ("c3 d3 e3", "b7 d7 e2", "b3 f3"),  # an open four
        ("a1 j1 e9", "d5 e5 f5", "b5 c5 g5 h5"),  # an open three against it
        ("e5 f5 d6 d7", "a1 j10 a10 j1", "d5"),  # two open threes
    ],
)
def test_it_sees_what_is_forced(x: str, o: str, moves: str) -> None:
    assert player().choose(table(x, o)) in moves.split()


def test_an_analysis_is_reproducible_and_has_the_value_for_the_seat_to_move() -> None:
    engine = player("xo")
    won, lost = table("c3 d3 e3 f3", "c7 d7 e7 f7"), table("c3 d3 e3 f3 j9", "c7 d7 e6 f9")
    answers = [engine.analyse(each, 3) for each in (won, lost)]
    assert answers[0].move in {"b3", "g3"}
    assert answers[0].eval[0] > MATE
    assert answers[1].move in {"b3", "g3"}
    assert answers[1].eval[0] < -MATE
    again = player("xo").analyse(won, 3)
    assert (again.move, again.eval, again.nodes) == (answers[0].move, answers[0].eval, answers[0].nodes)


def test_an_analysis_refuses_a_wrong_depth_and_a_game_that_is_over() -> None:
    with pytest.raises(EngineError, match=r"depth=0: expected 1\.\.60"):
        player("xo").analyse(table("", ""), 0)
    with pytest.raises(EngineError, match="the game is over: there is no move to analyse"):
        player("xo").analyse(table("c3 d3 e3 f3 g3", "c7 d7 e7 f7"), 2)


def test_it_begins_near_the_middle() -> None:
    column, row = tuple(str(player().choose(table("", ""))))
    assert column in "defg"
    assert row in "4567"


@pytest.mark.parametrize("spec", ["xo:nodes=3000", "xo:depth=4", "xo:depth=4,nodes=500"])
def test_without_a_clock_the_same_position_has_the_same_answer(spec: str) -> None:
    first = player(spec)
    tables = [table("e5 f6", "e6 d7"), table("e5", ""), table("e5 f6 c3", "e6 d7 j9")]
    answers = [first.choose(each) for each in tables]
    assert [first.choose(each) for each in reversed(tables)] == answers[::-1]
    assert [player(spec).choose(each) for each in tables] == answers


@settings(max_examples=20)
@given(st.integers(10, 14), st.randoms(use_true_random=False))
def test_it_plays_legal_moves_on_every_size_to_the_last_cell(size: int, chance: random.Random) -> None:
    rules = make_game("xo", {"size": size})
    names = list(board_of(size).cells)
    chance.shuffle(names)
    position = rules.start(rules.deal(0))
    engine = player("xo:nodes=100")
    for name in names:
        if rules.end(position) is not None:
            break
        move = str(engine.choose(Position(rules=rules, state=position)))
        assert rules.is_legal(position, move)
        if rules.is_legal(position, name):
            position = rules.play(position, name).position


def test_the_last_cell_of_a_board_is_taken() -> None:
    rows = ["xxoo" * 2 + "xx", "ooxx" * 2 + "oo"] * 5
    state = "/".join([*rows[:-1], rows[-1][:-1] + "."])
    at: Position[Any, Any] = Position.at(make_game("xo", {}), state)
    assert player().choose(at) == "j1"


def test_time_is_kept_even_if_there_is_none() -> None:
    at = table("e5 f6", "e6 d7")
    for clock in (0, 1, 50):
        quick = Position(rules=at.rules, state=at.state, clock=clock, bank=20_000)
        assert at.rules.is_legal(at.state, player("xo").choose(quick))
    assert at.rules.is_legal(at.state, player("xo:time=1").choose(at))


@all_of(
    ("spec", "bank", "move_limit", "seconds"),
    [
        ("xo", 20_000, None, MOST * 19_595 / 12 / 1000),
        ("xo", 20_000, 1000, 0.895),
        ("xo", 20_000, 1, 0.0),
        ("xo", None, 500, 0.445),
        ("xo", 864_000_000, None, 2.0),
        ("xo", 864_000_000, 1_800_000, 2.0),
        ("xo", 864_000_000, 1000, 0.895),
        ("xo:time=30000", 864_000_000, 1_800_000, 30.0),
        ("xo:time=100", 864_000_000, 1_800_000, 0.1),
    ],
)
def test_a_search_keeps_the_move_limit_and_does_not_spend_a_bank_of_hours(
    spec: str, bank: int | None, move_limit: int | None, seconds: float
) -> None:
    engine = Gomoku(player(spec).values)
    at = replace(table("", ""), clock=bank, bank=bank, move_limit=move_limit)
    assert engine.limits(at, empty=100).seconds == pytest.approx(seconds)


@all_of(
    ("clock", "bank", "increment", "empty", "share", "free"),
    [
        (20_000, 20_000, 0, 100, 19_595 / 12, 19_595),
        (20_000, 20_000, 1000, 100, 19_595 / 12 + 800, 19_595),
        (20_000, 20_000, 0, 4, 19_595 / 2, 19_595),
        (20_000, None, 0, 1, 19_595, 19_595),
        (100, 1000, 0, 50, 0, 0),
        (165, 1000, 5000, 50, 60 / 12 + 4000, 60),
    ],
)
def test_the_bank_is_shared_out(
    clock: int, bank: int | None, increment: int, empty: int, share: float, free: float
) -> None:
    expected = min(free, ENOUGH * share), min(free, MOST * share)
    assert budget(clock, bank, increment, empty) == pytest.approx(expected)


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.integers(0, 10**4), st.integers(1, 196))
def test_a_budget_is_never_more_than_the_clock(clock: int, bank: int, increment: int, empty: int) -> None:
    enough, most = budget(clock, bank, increment, empty)
    assert 0 <= enough <= most <= clock


def test_a_position_won_by_fours_is_won_against_1970() -> None:
    at = table("d4 e4 f4 d5 e6", "c4 a1 j1 a10 j10")
    rules, position = at.rules, at.state
    seats = {1: player("xo:nodes=5000"), 2: player("xo1970")}
    while rules.end(position) is None:
        move = seats[rules.to_move(position)].choose(Position(rules=rules, state=position))
        position = rules.play(position, move).position
    assert rules.totals(position) == (2, 0)


def test_it_never_leaves_a_four_unanswered() -> None:
    at = table("a1 c9 j4 a6", "d5 e5 f5 g5")
    bits = list(board_of(10).cells.values())
    x, o = (
        frozenset(cell for cell, bit in enumerate(bits) if plane & bit) for plane in (at.state.x, at.state.o)
    )
    names = list(board_of(10).cells)
    assert player("xo:nodes=50").choose(at) in {names[cell] for cell in fives(10, o, x)}


@pytest.mark.real
def test_making_it_loads_no_compiler() -> None:
    program = (
        "import sys; from arena_engines.registry import create; create('xo', 'xo'); "
        "sys.exit('numba' in sys.modules or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_its_specification_has_what_is_given() -> None:
    assert create("xo", "xo").spec == "xo"
    assert create("xo:time=50,depth=3", "xo").spec == "xo:time=50,depth=3"
    assert Gomoku.game == "xo"
