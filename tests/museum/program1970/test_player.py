"""The program of 1970 as an engine: its moves, its openings, the clock, wrong parameters."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from arena_engines.engine import AnyPosition, EngineError, Position
from arena_engines.registry import create
from arena_museum.program1970 import engine as program
from arena_museum.program1970.engine import (
    THRESHOLDS,
    Xo1970,
    longest_analysis,
    thresholds_of,
)
from arena_museum.program1970.evaluation import empty_board
from arena_protocol.games import make_game
from arena_protocol.games.mnk import SIZES


def table(x: str, o: str) -> AnyPosition:
    marks = dict.fromkeys(x.split(), "x") | dict.fromkeys(o.split(), "o")
    rows = ["".join(marks.get(f"{column}{row}", ".") for column in "abcdefghij") for row in range(10, 0, -1)]
    return Position.at(make_game("xo", {}), "/".join(rows))


@pytest.mark.parametrize(
    ("x", "o", "move"),
    [
        ("c3 d3 e3 f3", "c7 d7 e7 f7", "b3"),  # five now
        ("c3 d3 e3 f3 b9", "c7 d7 e7 f7", "b7"),  # O's own five before stopping X's
        ("c3 d3 e3 f3 b3", "a3 c7 d7 f7", "g3"),  # lost or stopped: the one cell that stops five
        ("e5", "", "f6"),
    ],
)
def test_xo1970_plays(x: str, o: str, move: str) -> None:
    assert create("xo1970", "xo").choose(table(x, o)) == move


def test_xo1970_opens_its_games_on_different_central_cells() -> None:
    player = create("xo1970", "xo")
    first = [player.choose(table("", "")) for _ in range(5)]
    assert set(first[:4]) == {"e5", "f5", "e6", "f6"}
    assert first[4] == first[0]


def test_xo1970_opens_differently_from_start_to_start_unless_it_has_a_seed() -> None:
    assert len({create("xo1970", "xo").choose(table("", "")) for _ in range(60)}) > 1
    assert len({create("xo1970:seed=7", "xo").choose(table("", "")) for _ in range(20)}) == 1
    assert len({create(f"xo1970:seed={seed}", "xo").choose(table("", "")) for seed in range(60)}) == 4


@pytest.mark.parametrize(
    ("times", "most"),
    [
        ({}, math.inf),
        ({"clock": 900}, 100),
        ({"clock": 60}, 0),
        ({"clock": 900, "move_limit": 100}, 85),
        ({"clock": 8 * 3_600_000, "bank": 8 * 3_600_000}, 2000),
    ],
)
def test_xo1970_takes_a_part_of_the_clock(times: dict[str, Any], most: float) -> None:
    assert longest_analysis(replace(table("", ""), **times), late=5) == most


def test_xo1970_keeps_the_limit_of_a_move(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = count()
    monkeypatch.setattr(program, "perf_counter", lambda: next(looks) / 10_000)
    position = table("c3 d3 e5", "c7 d7 f4")
    nodes = []
    for limit in (None, 100):
        player = create("xo1970:thresholds=2/2/2/5", "xo")
        move = player.choose(replace(position, move_limit=limit))
        assert move in position.rules.legal_moves(position.state)
        assert player.report is not None
        nodes.append(player.report.nodes or 0)
    assert nodes[0] > 850 > nodes[1] > 800


def test_xo1970_computes_its_tables_before_the_first_move() -> None:
    empty_board.cache_clear()
    player = create("xo1970", "xo")
    player.warm_up()
    prepared = empty_board.cache_info().misses
    for size in SIZES:
        rules = make_game("xo", {"size": size, "opening": 4})
        player.choose(Position(rules=rules, state=rules.start(rules.deal(0))))
    assert empty_board.cache_info().misses == prepared == len(SIZES)


def test_xo1970_wins_by_figure_6_where_the_general_procedure_would_not() -> None:
    position = table("b2 c2 d2 b7 d7 f7 h7", "a2 a10 j10 j1 g10 a5 j5")
    assert create("xo1970", "xo").choose(position) == "e7"
    # Thresholds above every value leave the general procedure alone.
    assert create("xo1970:thresholds=5/5", "xo").choose(position) == "c7"


def test_xo1970_beats_a_random_mover_in_either_seat() -> None:
    game = make_game("xo", {"size": 12})
    for seat in (1, 2):
        player, rival = create("xo1970", "xo"), create("random:seed=4", "xo")
        position = game.start(game.deal(0))
        while game.end(position) is None:
            engine = player if game.to_move(position) == seat else rival
            move = engine.choose(Position(rules=game, state=position))
            position = game.play(position, str(move)).position
        assert game.totals(position)[seat - 1] == 2


@pytest.mark.parametrize(
    "text", ["", "3.5", "5/3.5/5", "3.5/4", "3.7/5", "3.5,5", "3.5/" * 12 + "5", "3.50/5"]
)
def test_wrong_thresholds_are_refused(text: str) -> None:
    parameter = Xo1970.parameters[0]
    with pytest.raises(EngineError) as refused:
        parameter.parse(text)
    assert str(refused.value) == (
        f"thresholds={text}: expected 2 to 12 rising numbers of 0.5, 1, ... 5 joined by '/', the last one 5"
    )


def test_the_thresholds_of_the_paper_are_the_default() -> None:
    player = create("xo1970", "xo")
    assert player.spec == "xo1970:thresholds=3.5/3.5/3.5/3.5/4/4/5,nodes=100000"
    assert tuple(thresholds_of(str(player.values["thresholds"]))) == THRESHOLDS
