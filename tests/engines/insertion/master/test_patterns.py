"""The search beside a zombie where few pictures are visible, against a slow one written from its contract."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_cli.engine_games import play_game
from arena_engines.insertion.baselines import Dummy
from arena_engines.insertion.master.engine import ENOUGH_KNOWN
from arena_engines.insertion.master.patterns import (
    FADING_PLIES,
    KINDS,
    KINDS_AT,
    SCALE,
    SIGNATURE,
    SIX,
    WINDOWS,
    WORTHS_AT,
    PatternSearch,
    board_worth,
    new_memory,
    search_known,
    stages,
)
from arena_engines.jit import compiled
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.insertion.board import Planes, parse_board
from arena_protocol.games.insertion.rules import distinct_moves, play

from .games import master

MEMORY = new_memory()
MEMORY[WORTHS_AT:] = np.random.default_rng(7).integers(-300, 300, len(MEMORY) - WORTHS_AT)
COLOURS = 3


def moves_of(planes: Planes) -> list[int]:
    return [move for move in range(1, 16) if distinct_moves(*planes) >> move & 1]


def mean_gain(planes: Planes, left: int) -> int:
    """The best own move with each hidden picture, `left` plies before the end."""
    values = []
    for colour in range(1, COLOURS + 1):
        after = [play(*planes, move, colour) for move in moves_of(planes)]
        values.append(max(each[3] * SCALE + worth(each[:3], left - 1) for each in after))
    return sum(values)


def worth(planes: Planes, left: int) -> int:
    """Of a board after my move, with `left` plies to come."""
    return int(board_worth(*planes, max(left - 1, 0), MEMORY))


def slow(planes: Planes, pictures: str, left: int, further: bool) -> dict[int, int]:
    """Every move's value, by the contract of `search_known`."""
    values = {}
    for move in moves_of(planes):
        p0, p1, p2, removed, _, _ = play(*planes, move, int(pictures[0]))
        value = removed * SCALE
        if left > 2 and len(pictures) > 2:
            zombie = play(p0, p1, p2, SIX, int(pictures[1]))[:3]
            value += max(slow(zombie, pictures[2:], left - 2, further).values())
        elif left > 2 and further:
            theirs = [int(pictures[1])] if len(pictures) == 2 else range(1, COLOURS + 1)
            sums = [mean_gain(play(p0, p1, p2, SIX, each)[:3], left - 2) for each in theirs]
            value += sum(sums) // (len(sums) * COLOURS)
        else:
            value += worth((p0, p1, p2), left - 1)
        values[move] = value
    return values


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**32), st.text("123", min_size=1, max_size=4), st.integers(1, 30), st.booleans())
def test_the_search_is_that_of_its_contract(seed: int, pictures: str, left: int, further: bool) -> None:
    planes = parse_board(Insertion.from_options({"colours": COLOURS, "start": "partial"}).deal(seed).board)
    pictures = pictures[:left]
    packed = sum(int(picture) << 3 * ply for ply, picture in enumerate(pictures))
    kernel = compiled(search_known, SIGNATURE)
    value, move = kernel(*planes, packed, len(pictures), left, 15 * further, COLOURS, MEMORY)
    values = slow(planes, pictures, left, further)
    assert value == max(values.values())
    assert values[move] == value


def test_of_the_last_moves_only_the_best_are_looked_at_further() -> None:
    kernel = compiled(search_known, SIGNATURE)
    grown = 0
    for seed in range(20):
        planes = parse_board(Insertion().deal(seed).board)
        rest = (3, 1, 50)
        assert kernel(*planes, *rest, 1, 6, MEMORY)[1] == kernel(*planes, *rest, 0, 6, MEMORY)[1]
        values = [kernel(*planes, *rest, further, 6, MEMORY)[0] for further in range(1, 16)]
        assert values == sorted(values)
        grown += values[0] < values[-1]
    assert grown > 5


def test_patterns_are_alike_up_to_the_names_of_colours() -> None:
    kinds = MEMORY[KINDS_AT:WORTHS_AT]
    assert {*kinds} == {*range(KINDS)}
    assert len({*WINDOWS}) == len(WINDOWS)
    cells = "51.36/26.45/53.63/41624/36251"
    value = board_worth(*parse_board(cells), 9, MEMORY)
    for names in list(permutations("123456"))[::97]:
        renamed = cells.translate(str.maketrans("123456", "".join(names)))
        assert board_worth(*parse_board(renamed), 9, MEMORY) == value
    assert board_worth(*parse_board(cells.replace("1", "2")), 9, MEMORY) != value


def test_worths_fade_towards_the_end() -> None:
    planes = parse_board("51436/26245/53163/41624/36251")
    whole = board_worth(*planes, 200, MEMORY)
    assert board_worth(*planes, FADING_PLIES, MEMORY) == whole != 0
    assert board_worth(*planes, FADING_PLIES // 2, MEMORY) == whole // 2
    assert board_worth(*planes, 0, MEMORY) == 0


@all_of("known", range(1, ENOUGH_KNOWN))
def test_searches_grow_with_the_time(known: int) -> None:
    """The first is of one move, the last of all visible pictures and one more of mine."""
    order = list(stages(known))
    assert order[0][:2] == (1, 0)
    assert [each[0] for each in order if not each[1]] == [*range(1, known + 1, 2)]
    assert order[-1][0] == known
    assert order[-1][1] > 1


def test_without_time_a_move_is_made_and_with_time_the_last_search() -> None:
    search = PatternSearch()
    planes = parse_board("51436/26245/53163/41624/36251")
    one = search.best_move(planes, "142", 80, 6, lambda: 0.0)
    last = search.best_move(planes, "142", 80, 6, lambda: 9.0)
    packed = 1 | 4 << 3 | 2 << 6
    assert one == search._search(*planes, packed, 1, 80, 0, 6, search._mem)[1]
    known, further, _ = list(stages(3))[-1]
    assert last == search._search(*planes, packed, known, 80, further, 6, search._mem)[1]


@pytest.mark.parametrize(("options", "asked"), [({}, True), ({"lookahead": 8}, False), ({"seats": 3}, False)])
def test_it_moves_beside_a_zombie_while_few_pictures_are_visible(
    options: dict[str, Any], asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: list[int] = []
    search = PatternSearch.best_move

    def noted(self: PatternSearch, planes: Planes, pictures: str, *rest: Any) -> int:
        known.append(len(pictures))
        return search(self, planes, pictures, *rest)

    monkeypatch.setattr(PatternSearch, "best_move", noted)
    rules = Insertion.from_options({"plies": 60, "lookahead": 3, **options})
    play_game(rules, rules.deal(3), (master(millis=5), *(Dummy() for _ in range(rules.seats - 1))))
    assert set(known) == ({3} if asked else set())
