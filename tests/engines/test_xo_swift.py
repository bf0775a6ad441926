"""The compiled twin of the program of 1970 against the readable one: same cell, same count of nodes."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_engines.engine import EngineError
from arena_engines.registry import create
from arena_engines.table import Table, TableEngine
from arena_engines.xo.estimates import empty_board, estimates_of, line_value
from arena_engines.xo.minimax import THRESHOLDS, Analysis1970, Vector, double_threat, winning_cell
from arena_engines.xo.procedure import general_procedure
from arena_engines.xo.program1970 import Xo1970
from arena_engines.xo.swift import board, player, search, tables
from arena_engines.xo.swift.player import Swift1970, swift_or_none
from arena_protocol.games.marks import Marks, board_of
from arena_protocol.games.xo import Xo

X, NOUGHT = 0, 1
#: The paper's, wider and narrower ones, ones that rise at once, and the widest of all.
TREES = (
    THRESHOLDS,
    (6, 6, 6, 6, 7, 8, 10),
    (5, 6, 7, 8, 10),
    (4, 10),
    (10, 10),
    (7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 10),
    (1, 1, 1, 10),
)
LIMITS = (1, 2, 40, 1000)


def readable(
    size: int, x: Sequence[int], o: Sequence[int], side: int, tree: Sequence[int], limit: int
) -> tuple[int, int]:
    """The cell of Xo1970.move_on, and the nodes of its analysis."""
    position = estimates_of(size, x, o)
    win = winning_cell(position, side)
    if win is not None:
        return win, 0
    analysis = Analysis1970(side, tree, limit)
    found = None if double_threat(position, 1 - side) else analysis.best_move(position)
    return (general_procedure(position, side).cell if found is None else found[0]), analysis.nodes


def both_agree(
    size: int, x: Sequence[int], o: Sequence[int], side: int, tree: Sequence[int], limit: int
) -> None:
    twin = Swift1970(size, tree, limit)
    assert (twin.reply(x, o, side), twin.nodes) == readable(size, x, o, side, tree, limit), (size, x, o, side)


# ---- the same replies


@settings(max_examples=250)
@given(
    st.integers(10, 14),
    st.integers(3, 14),
    st.integers(0, 2**32),
    st.floats(0, 1),
    st.sampled_from([X, NOUGHT]),
    st.sampled_from(TREES),
    st.sampled_from(LIMITS),
)
def test_it_replies_as_the_readable_program_anywhere(
    size: int, near: int, seed: int, full: float, side: int, tree: Sequence[int], limit: int
) -> None:
    """Marks all over a corner of the board, so that few of them meet too: from two to all cells but one."""
    columns = range(min(near, size))
    cells = [size * row + column for row in columns for column in columns]
    random.Random(seed).shuffle(cells)
    marks = cells[: max(2, min(int(full * len(cells)), size * size - 1))]
    both_agree(size, marks[::2], marks[1::2], side, tree, limit)


@pytest.mark.parametrize("size", range(10, 15))
def test_it_replies_as_the_readable_program_on_nearly_full_boards(size: int) -> None:
    chance = random.Random(size)
    for empty in (1, 2, 3, 5, 9, 20):
        marks = chance.sample(range(size * size), size * size - empty)
        for side, tree in zip((X, NOUGHT), (THRESHOLDS, (1, 1, 1, 1, 10)), strict=True):
            both_agree(size, marks[::2], marks[1::2], side, tree, 2000)


def game(size: int, seed: int, *, rival: bool) -> Iterator[tuple[list[int], list[int]]]:
    """The positions of a game of the program against itself, or as X against a random mover."""
    chance, twin = random.Random(seed), Swift1970(size)
    sides: tuple[list[int], list[int]] = ([], [])
    middle = [size * (size // 2 + up) + size // 2 + across for up in (-1, 0, 1) for across in (-1, 0, 1)]
    for ply, cell in enumerate(chance.sample(middle, 3)):
        sides[ply % 2].append(cell)
    for ply in range(3, size * size):
        yield sides
        position = estimates_of(size, *sides)
        cell = chance.choice(position.empty) if rival and ply % 2 else twin.reply(*sides, ply % 2)
        if cell == winning_cell(position, ply % 2):
            return
        sides[ply % 2].append(cell)


@pytest.mark.parametrize(("size", "seed", "rival"), [(10, 1, False), (14, 2, False), (12, 3, True)])
def test_it_replies_as_the_readable_program_all_along_a_game(size: int, seed: int, rival: bool) -> None:
    for number, (x, o) in enumerate(game(size, seed, rival=rival)):
        both_agree(size, x, o, len(x) - len(o), TREES[number % 2], 1500)


def test_a_reply_forgets_the_one_before() -> None:
    twin = Swift1970(10)
    first = twin.reply([44, 45, 46], [54, 55], NOUGHT), twin.nodes
    assert twin.reply([3, 4, 5, 6], [54, 55, 56], NOUGHT) in range(100)
    assert twin.nodes == 0, "two fives against it: nothing to look at"
    assert (twin.reply([44, 45, 46], [54, 55], NOUGHT), twin.nodes) == first
    assert first[1] > 0


def test_uncompiled_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "run", lambda: search.run)
    both_agree(10, [44, 45, 36, 63], [54, 55, 47], NOUGHT, (6, 6, 7, 10), 60)


@pytest.mark.parametrize("tree", [(), (0, 10)])
def test_thresholds_that_no_tree_has_are_refused(tree: Sequence[int]) -> None:
    with pytest.raises(ValueError, match="expected one or more numbers from 1 on"):
        Swift1970(10, tree)


# ---- the board and its tables


def test_every_line_value_is_that_of_the_paper() -> None:
    values = list(tables.line_values())
    assert len(values) == board.FOLDS
    assert all(values[pattern] == line_value(pattern) for pattern in range(0, board.FOLDS, 5))


@pytest.mark.parametrize("size", [10, 13])
def test_marks_change_the_values_as_in_the_readable_board_and_give_them_back(size: int) -> None:
    blank = tables.blank_board(size)
    world = (blank.copy(), tables.reach_table(size), tables.tables())
    cells = random.Random(size).sample(range(size * size), 45)
    position = empty_board(size)
    for number, cell in enumerate(cells):
        board.make(world, cell, number % 2)
        position = position.after(cell, number % 2)
        assert world[0][board.VALUE : board.VALUE + 2, :-1].tolist() == [
            list(each) for each in position.values
        ]
    for number, cell in reversed(list(enumerate(cells))):
        board.unmake(world, cell, number % 2)
    assert np.array_equal(counted(world[0]), counted(blank))


def counted(rows: board.Array) -> board.Array:
    """A board without the counts of the value 0, which mean nothing."""
    rows = rows.copy()
    rows[board.COUNT : board.COUNT + 3, 0] = 0
    rows[board.PAIRS, 0] = 0
    return rows


@given(st.lists(st.tuples(st.integers(-20, 20), st.integers(-196, 196), st.integers(1, 11)), min_size=2))
def test_a_vector_in_one_number_compares_as_the_vector(parts: list[tuple[int, int, int]]) -> None:
    def vector(p: int, q: int, level: int) -> Vector:
        return Vector(p / 4, q, -level if p > 0 else level if p < 0 else 0)

    by_number = sorted(parts, key=lambda each: search.hastened(*each))
    assert [vector(*each) for each in by_number] == sorted(vector(*each) for each in parts)


# ---- the player


def a_table() -> Table:
    bits = board_of(10).cells
    planes = [sum(bits[name] for name in names.split()) for names in ("c3 d3 e3 e5", "c7 d7 f4")]
    return Table(rules=Xo(size=10), position=Marks(*planes))


def test_xo1970_plays_the_same_without_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise EngineError("this engine needs numba")

    spec = "xo1970:thresholds=3/3.5/3.5/5,nodes=500"
    swift, slow = create(spec, "xo"), create(spec, "xo")
    assert isinstance(swift, TableEngine)
    assert isinstance(slow, TableEngine)
    swift.warm_up()
    move = swift.choose(a_table())
    monkeypatch.setattr(player, "run", absent)
    slow.warm_up()
    assert swift_or_none(10, THRESHOLDS, 1) is None
    assert slow.choose(a_table()) == move


def test_xo1970_needs_neither_numba_nor_numpy() -> None:
    program = (
        "import sys; sys.modules['numba'] = sys.modules['numpy'] = None\n"
        "from arena_engines.registry import create\n"
        "from arena_engines.table import table_at\n"
        "from arena_protocol.games import make_game\n"
        "rows = ['.' * 10] * 5 + ['..ooo.....', '..xxx.....'] + ['.' * 10] * 3\n"
        "player = create('xo1970', 'xo'); player.warm_up()\n"
        "print(player.choose(table_at(make_game('xo', {}), '/'.join(rows))))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout in ("b4\n", "f4\n"), done.stderr


@pytest.mark.parametrize("values", [{"thresholds": "3/3/5", "nodes": 30}, {"nodes": 10**9}])
def test_xo1970_moves_by_its_thresholds_and_its_nodes(values: dict[str, int | str | None]) -> None:
    engine = Xo1970(values)
    cell = engine.move_on(estimates_of(10, [22, 23, 24, 44], [62, 63, 35]), NOUGHT)
    assert engine.choose(a_table()) == list(board_of(10).cells)[cell]
