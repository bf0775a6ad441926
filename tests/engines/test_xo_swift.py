"""The compiled twin of the program of 1970 against the readable one: same cell, same count of nodes."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_engines.engine import AnyPosition, EngineError, Position
from arena_engines.registry import create
from arena_engines.xo.estimates import estimates_of, line_value
from arena_engines.xo.minimax import THRESHOLDS, Analysis1970, Vector, double_threat, winning_cell
from arena_engines.xo.procedure import general_procedure
from arena_engines.xo.program1970 import Xo1970
from arena_engines.xo.swift import board, player, search, tables
from arena_engines.xo.swift.player import Swift1970, swift_or_none
from arena_protocol.games.mnk import Marks, Xo, board_of

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


@pytest.mark.parametrize("tree", [(), (0, 10), (7,) * player.MOST_LEVELS + (10,)])
def test_thresholds_that_no_tree_has_are_refused(tree: Sequence[int]) -> None:
    with pytest.raises(ValueError, match="expected 1 to 16 numbers from 1 on"):
        Swift1970(10, tree)


# ---- the board and its tables


def pattern_of(back: int, ahead: int, *, foe: int) -> int:
    """The pattern of ten neighbours of which two views tell, the marks of `foe` being foes."""
    digits = [*reversed(tables.places_of(back)), *tables.places_of(ahead)]
    return sum((0, 2 - (foe != 1), 2 - (foe != 2), 2)[digit] * 3**place for place, digit in enumerate(digits))


@given(st.integers(0, tables.VIEWS - 1), st.integers(0, tables.VIEWS - 1))
def test_every_two_views_have_the_line_values_of_the_paper(back: int, ahead: int) -> None:
    kinds = tables.kinds()
    both = tables.tables()[board.LINES + board.KINDS * kinds[back] + kinds[ahead]]
    assert both % board.ONE_O == line_value(pattern_of(back, ahead, foe=2))
    assert both // board.ONE_O == line_value(pattern_of(back, ahead, foe=1))


@given(st.integers(0, tables.VIEWS - 1), st.sampled_from([X, NOUGHT]))
def test_a_mark_leads_from_the_kind_of_a_view_to_that_of_the_view_with_it(view: int, side: int) -> None:
    kinds, places = tables.kinds(), tables.places_of(view)
    seen = int(tables.visits()[kinds[view]])
    visible = [seen >> 3 * at & 7 for at in range(5) if seen >> 3 * at]
    blocked = [at for at in range(5) if {1, 2} <= {*places[:at]} or 3 in places[:at]]
    assert visible == [at + 1 for at in range(5) if places[at] == 0 and at not in blocked]
    for place in (each - 1 for each in visible):
        after = tables.tables()[board.STEP * kinds[view] + board.PLACES * side + place]
        assert after == kinds[view + ((1 + side) << 2 * place)]


@pytest.mark.parametrize("size", [10, 13])
@pytest.mark.parametrize("before", [0, 9, 40])
def test_marks_change_the_values_as_in_the_readable_board_and_give_them_back(size: int, before: int) -> None:
    world = tables.new_world(size, player.MOST_LEVELS)
    cells = random.Random(size + before).sample(range(size * size), before + player.MOST_LEVELS)
    for number, cell in enumerate(cells[:before]):
        board.mark(world, cell, number % 2, 0, 0)
    made = cells[before:-2]
    seen = [shown(world, 0)]
    for level, cell in enumerate(made):
        board.make(world, cell, level % 2, level)
        seen.append(shown(world, level + 1))
        board.look(world, cells[-1], 0, level + 1)
        assert shown(world, level + 1) == seen[-1], "to look changes the counts of the next row only"
    for level in reversed(range(len(made))):
        board.unmake(world, level)
        marks = [*cells[:before][::2], *made[:level][::2]], [*cells[:before][1::2], *made[:level][1::2]]
        values = [list(each) for each in estimates_of(size, *marks).values]
        assert shown(world, level) == seen[level] == (values, *counted(values))


Shown = tuple[list[list[int]], list[Counter[object]], dict[int, list[int]]]


def shown(world: board.World, row: int) -> Shown:
    """The values for both sides, and what a row counts: each side's and the higher values, and the pairs."""
    states, _, counts, where, *_ = world
    values = [[int(state) >> board.PAIR + up & 15 for state in states] for up in (4, 0)]
    start = board.COUNTS * row
    parts = [(0, 11), (board.FOR_SIDE, 11), (board.HIGHS, 11), (board.PAIRS, 11 * board.ONE_X)]
    found: list[Counter[object]] = []
    for part, length in parts:
        column = counts[start + part : start + part + length].tolist()
        found.append(Counter({value: number for value, number in enumerate(column) if value and number}))
    words = where[board.WHERE * row :]
    cells = {
        value: [cell for cell in range(len(states)) if words[4 * value + cell // 49] >> cell % 49 & 1]
        for value in range(1, 11)
    }
    return values, found, cells


def counted(values: list[list[int]]) -> tuple[list[Counter[object]], dict[int, list[int]]]:
    """What the counts should be, counted anew."""
    pairs = [(x, o) for x, o in zip(*values, strict=True) if x or o]
    higher = [max(pair) for pair in zip(*values, strict=True)]
    found: list[Counter[object]] = [
        Counter(x for x, _ in pairs),
        Counter(o for _, o in pairs),
        Counter(max(pair) for pair in pairs),
        Counter(board.ONE_X * x + o for x, o in pairs),
    ]
    return found, {value: [at for at, each in enumerate(higher) if each == value] for value in range(1, 11)}


@given(st.lists(st.tuples(st.integers(-20, 20), st.integers(-196, 196), st.integers(1, 11)), min_size=2))
def test_a_vector_in_one_number_compares_as_the_vector(parts: list[tuple[int, int, int]]) -> None:
    def vector(p: int, q: int, level: int) -> Vector:
        return Vector(p / 4, q, -level if p > 0 else level if p < 0 else 0)

    by_number = sorted(parts, key=lambda each: search.hastened(*each))
    assert [vector(*each) for each in by_number] == sorted(vector(*each) for each in parts)


# ---- the player


def a_table() -> AnyPosition:
    bits = board_of(10).cells
    planes = [sum(bits[name] for name in names.split()) for names in ("c3 d3 e3 e5", "c7 d7 f4")]
    return Position(rules=Xo(size=10), state=Marks(*planes))


def test_xo1970_plays_the_same_without_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise EngineError("this engine needs numba")

    spec = "xo1970:thresholds=3/3.5/3.5/5,nodes=500"
    swift, slow = create(spec, "xo"), create(spec, "xo")
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
        "from arena_engines.engine import Position\n"
        "from arena_protocol.games import make_game\n"
        "rows = ['.' * 10] * 5 + ['..ooo.....', '..xxx.....'] + ['.' * 10] * 3\n"
        "player = create('xo1970', 'xo'); player.warm_up()\n"
        "print(player.choose(Position.at(make_game('xo', {}), '/'.join(rows))))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout in ("b4\n", "f4\n"), done.stderr


@pytest.mark.parametrize("values", [{"thresholds": "3/3/5", "nodes": 30}, {"nodes": 10**9}])
def test_xo1970_moves_by_its_thresholds_and_its_nodes(values: dict[str, int | str | None]) -> None:
    engine = Xo1970(values)
    cell = engine.move_on(estimates_of(10, [22, 23, 24, 44], [62, 63, 35]), NOUGHT)
    assert engine.choose(a_table()) == list(board_of(10).cells)[cell]
