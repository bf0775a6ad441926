"""The program of 1970: the general procedure, the opening rule, the analysis in depth, its vectors."""

from __future__ import annotations

from functools import partial
from itertools import repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_museum.program1970.engine import (
    THRESHOLDS,
    Analysis1970,
    Choice,
    Vector,
    central_cells,
    general_procedure,
    immediate_end,
    initiative,
    opening_move,
    static_vector,
    winning_cell,
)
from arena_museum.program1970.evaluation import Estimates, empty_board, estimates_of
from arena_protocol.games.mnk import board_of

SIZE = 10
NAMES = list(board_of(SIZE).cells)
X, NOUGHT = 0, 1


def cells(names: str) -> list[int]:
    return [NAMES.index(name) for name in names.split()]


def board(x: str, o: str = "") -> Estimates:
    return estimates_of(SIZE, cells(x), cells(o))


def value(position: Estimates, side: int, name: str) -> float:
    """A component in the paper's units."""
    return position.values[side][NAMES.index(name)] / 2


# ---- the general procedure


def slow_procedure(position: Estimates, side: int) -> Choice:
    """The paper's sets A and B, word for word."""
    triples = [
        (position.values[side][cell], position.values[1 - side][cell], cell) for cell in position.empty
    ]
    if max(a for a, _, _ in triples) >= max(b for _, b, _ in triples):
        chosen = [each for each in triples if each[0] == max(a for a, _, _ in triples)]
        most = max(b for _, b, _ in chosen)
        return next(Choice(cell, a, b) for a, b, cell in chosen if b == most)
    chosen = [each for each in triples if each[1] == max(b for _, b, _ in triples)]
    most = max(a for a, _, _ in chosen)
    return next(Choice(cell, a, b) for a, b, cell in chosen if a == most)


@given(st.permutations(range(100)), st.integers(0, 60), st.sampled_from([X, NOUGHT]))
def test_the_general_procedure_is_the_papers(order: list[int], marks: int, side: int) -> None:
    position = estimates_of(SIZE, order[:marks:2], order[1:marks:2])
    assert general_procedure(position, side) == slow_procedure(position, side)


def test_with_the_initiative_it_attacks_and_without_it_defends() -> None:
    position = board("c3 d3 e3", "c7 d7")
    assert NAMES[general_procedure(position, X).cell] in ("b3", "f3")
    assert NAMES[general_procedure(position, NOUGHT).cell] in ("b3", "f3")


def test_of_equal_attacks_it_takes_the_one_that_hinders_most() -> None:
    position = board("c2 d2 e2", "f7 f6 f5")
    assert value(position, X, "b2") == value(position, X, "f2") == 4
    assert value(position, NOUGHT, "b2") < value(position, NOUGHT, "f2")
    assert NAMES[general_procedure(position, X).cell] == "f2"


def test_of_wholly_equal_cells_it_takes_the_first_in_scan_order() -> None:
    position = empty_board(SIZE)
    first = next(cell for cell, worth in enumerate(position.values[0]) if worth == max(position.values[0]))
    assert general_procedure(position, X).cell == first


# ---- the opening rule


@pytest.mark.parametrize(
    ("size", "names"),
    [(10, "e5 f5 e6 f6"), (11, "f6 g6 f7 g7"), (12, "f6 g6 f7 g7"), (13, "g7 h7 g8 h8"), (14, "g7 h7 g8 h8")],
)
def test_the_central_cells(size: int, names: str) -> None:
    assert [list(board_of(size).cells)[cell] for cell in central_cells(size)] == names.split()


def test_alone_it_takes_each_central_cell_in_turn() -> None:
    assert [NAMES[opening_move(SIZE, None, turn)] for turn in range(5)] == ["e5", "f5", "e6", "f6", "e5"]


@pytest.mark.parametrize(
    ("marked", "answer"),
    [
        ("e5", "f6"),
        ("f6", "e5"),
        ("f5", "e6"),
        ("e6", "f5"),
        ("a1", "b2"),
        ("j10", "i9"),
        ("a5", "b6"),
        ("e3", "f4"),
        ("h8", "g7"),
    ],
)
def test_the_answer_to_the_first_mark(marked: str, answer: str) -> None:
    assert NAMES[opening_move(SIZE, NAMES.index(marked), 0)] == answer


# ---- dead positions and their vectors


@pytest.mark.parametrize(
    ("alpha", "beta", "machine_moves", "p"),
    [
        (3.5, 2, True, 3.5),
        (3, 3, True, 3),
        (2, 3.5, True, -3.25),
        (3.5, 2, False, 3.25),
        (3, 3, False, -3),
        (2, 3.5, False, -3.5),
    ],
)
def test_table_1(alpha: float, beta: float, machine_moves: bool, p: float) -> None:
    assert initiative(alpha, beta, machine_moves=machine_moves) == p


def test_vectors_compare_element_by_element() -> None:
    assert Vector(3.5, -9, -6) > Vector(3.25, 9, 0)
    assert Vector(3.5, 2, -6) > Vector(3.5, 1, 0)
    assert Vector(5.0, 0, -1) > Vector(5.0, 0, -3)
    assert Vector(-5.0, 0, 3) > Vector(-5.0, 0, 1)


def test_the_static_vector_counts_the_cells_that_carry_the_initiative() -> None:
    position = board("d4 e4 f4", "c7 e7")
    mine = static_vector(position, X, X, 2)
    assert mine == Vector(4.0, 2, -2)  # c4 and g4 make an open four; O has no cell of that value
    theirs = static_vector(position, X, NOUGHT, 2)
    assert theirs == Vector(-4.0, -2, 2)
    assert static_vector(position, NOUGHT, NOUGHT, 3) == Vector(-3.75, -2, 3)
    assert static_vector(position, NOUGHT, X, 3) == Vector(3.75, 2, -3)


def test_a_full_board_is_level() -> None:
    order = [NAMES.index(name) for name in NAMES]
    full = estimates_of(SIZE, order[::2], order[1::2])
    assert static_vector(full, X, NOUGHT, 4) == Vector(0.0, 0, 0)


@pytest.mark.parametrize(
    ("x", "o", "mover", "ends"),
    [
        ("c3 d3 e3 f3", "c7", NOUGHT, Vector(5.0, 0, -1)),  # two cells make five for X: O cannot stop both
        ("c3 d3 e3 f3", "b3", NOUGHT, None),  # one cell: O can
        ("c3 d3 e3 f3", "b3", X, Vector(5.0, 0, -1)),
        ("c3 d3 e3 f3", "c7 d7 e7 f7 b7", NOUGHT, Vector(-5.0, 0, 1)),  # O wins first
        ("c3 d3", "c7 d7", X, None),
    ],
)
def test_one_move_wins_and_double_threats_stop_the_analysis(
    x: str, o: str, mover: int, ends: Vector | None
) -> None:
    assert immediate_end(board(x, o), mover, X, 1) == ends


# ---- the figures, as far as the text gives them


def test_figure_4_two_fours_cannot_be_parried() -> None:
    """a: one four is parried; b: the same line value twice, and the game is won."""
    one, two = board("c3 d3 e3", "b3"), board("c3 d3 e3 f4 f5 f6", "b3 f7")
    assert value(one, X, "f3") == 3.5
    assert value(two, X, "f3") == 4
    assert immediate_end(one.after(NAMES.index("f3"), X), NOUGHT, X, 1) is None
    assert immediate_end(two.after(NAMES.index("f3"), X), NOUGHT, X, 1) == Vector(5.0, 0, -1)


def test_figure_6_equal_values_and_only_one_of_them_wins() -> None:
    """a: a four that is parried at once; b: X wins wherever O plays, unless O has five in one move.

    Both are worth 3.5 to X and 1 to O, so the general procedure cannot tell them apart.
    """
    position = board("b2 c2 d2 b7 d7 f7 h7", "a2 a10 j10 j1 g10 a5 j5")
    a, b = NAMES.index("e2"), NAMES.index("e7")
    for name in ("e2", "e7"):
        assert (value(position, X, name), value(position, NOUGHT, name)) == (3.5, 1)
    assert immediate_end(position.after(a, X), NOUGHT, X, 1) is None
    assert immediate_end(position.after(b, X), NOUGHT, X, 1) == Vector(5.0, 0, -1)
    assert general_procedure(position, X).cell != b  # c7 is 3.5 too, and worth more to O
    assert Analysis1970(X).best_move(position) == (b, Vector(5.0, 0, -1))


def test_figure_6_the_winning_move_is_too_slow_if_o_wins_first() -> None:
    position = board("b2 c2 d2 b7 d7 f7 h7", "a2 b10 c10 d10 e10 j1 a6")
    assert value(position, NOUGHT, "f10") >= 4.5
    after = position.after(NAMES.index("e7"), X)
    assert immediate_end(after, NOUGHT, X, 1) == Vector(-5.0, 0, 1)


# ---- the analysis


def plain_minimax(position: Estimates, analysis: Analysis1970, level: int) -> Vector:
    """The same tree without cutting anything."""
    machine = analysis.machine
    mover = machine if level % 2 == 0 else 1 - machine
    ended = immediate_end(position, mover, machine, level) if level else None
    if ended is not None:
        return ended
    moves = analysis.perspective_moves(position, level)
    if not moves:
        return static_vector(position, mover, machine, level)
    children = [plain_minimax(position.after(cell, mover), analysis, level + 1) for cell in moves]
    return max(children) if mover == machine else min(children)


@settings(max_examples=40)
@given(
    st.permutations([10 * y + x for y in range(3, 7) for x in range(3, 7)]),
    st.integers(4, 9),
    st.sampled_from([X, NOUGHT]),
)
def test_cutting_branches_changes_no_value(order: list[int], marks: int, machine: int) -> None:
    position = estimates_of(SIZE, order[:marks:2], order[1:marks:2])
    if immediate_end(position, machine, machine, 0) is not None:
        return
    analysis = Analysis1970(machine, thresholds=(6, 7, 7, 10))
    found = analysis.best_move(position)
    if found is None:
        assert analysis.perspective_moves(position, 0) == []
    else:
        assert found[1] == plain_minimax(position, analysis, 0)
        after = position.after(found[0], machine)
        assert plain_minimax(after, analysis, 1) == found[1]


def test_perspective_moves_reach_the_threshold_of_their_level_for_either_side() -> None:
    position = board("c3 d3 e3", "c7 d7")
    analysis = Analysis1970(X)
    for level, threshold in enumerate(THRESHOLDS[:-1]):
        expected = {
            cell for cell in position.empty if max(each[cell] for each in position.values) >= threshold
        }
        assert set(analysis.perspective_moves(position, level)) == expected
    assert analysis.perspective_moves(position, len(THRESHOLDS) - 1) == []


def test_a_quiet_position_has_no_perspective_moves() -> None:
    assert Analysis1970(X).best_move(board("e5", "f6")) is None


def test_lower_thresholds_look_at_more() -> None:
    position = board("c3 d3 e3 e5", "c7 d7 f4")
    nodes = []
    for lowest in (8, 7, 6):
        analysis = Analysis1970(X, thresholds=(lowest, lowest, lowest, 10))
        analysis.best_move(position)
        nodes.append(analysis.nodes)
    assert nodes[0] < nodes[1] < nodes[2]


def test_the_node_limit_ends_an_analysis_that_would_take_too_long() -> None:
    position = board("c3 d3 e3 e5", "c7 d7 f4")
    wide, limited = Analysis1970(X, thresholds=(4, 4, 4, 10)), Analysis1970(X, (4, 4, 4, 10), node_limit=50)
    assert limited.best_move(position) is not None
    wide.best_move(position)
    assert wide.nodes > 10 * limited.nodes


def test_at_the_end_of_its_time_an_analysis_has_the_moves_analysed_by_then() -> None:
    position = board("c3 d3 e5", "c7 d7 f4")
    whole = Analysis1970(X, thresholds=(4, 4, 4, 10))
    best = whole.best_move(position)
    found = []
    for most in (0, whole.nodes // 2, whole.nodes):
        looks = repeat(False, most)
        analysis = Analysis1970(X, (4, 4, 4, 10), stop=partial(next, looks, True))
        found.append(analysis.best_move(position))
        assert analysis.nodes == most
    assert found == [None, best, best]


def test_the_winning_cell_is_the_first_in_scan_order() -> None:
    assert NAMES[winning_cell(board("c3 d3 e3 f3"), X) or 0] == "b3"
    assert winning_cell(board("c3 d3 e3"), X) is None
