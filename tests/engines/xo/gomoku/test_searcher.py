"""One search: limits and registers, and that every claimed win or loss is a proof."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arena_engines.xo.cells import cell_names
from arena_engines.xo.gomoku import memory
from arena_engines.xo.gomoku.alphabeta import FUTILE_DEPTH, MATE, UNDECIDED, UNPROVEN, evaluate, futile
from arena_engines.xo.gomoku.searcher import Limits, Searcher

from ..oracle import Cells, empty, five, wins_by_threats


def test_a_search_without_any_other_limit_is_stopped_by_its_time() -> None:
    searcher = Searcher(10)
    searcher.set_position([44], [55])
    assert 0 <= searcher.search(0, Limits(seconds=0.05)).cell < 100


class Impatient(Searcher):
    """A searcher whose alarms for one register ring at once, and never for the other."""

    register = memory.STOP

    @contextmanager
    def _alarm(self, seconds: float | None, register: int) -> Iterator[None]:
        if register == self.register:
            self._control[register] = 1
        yield


def test_a_search_stopped_at_once_answers_with_the_first_candidate() -> None:
    searcher = Impatient(10)
    searcher.set_position([44, 45, 46], [55, 3])
    assert searcher.search(1, Limits(seconds=3600)).cell in (43, 47)


def test_without_time_for_threats_the_search_goes_on() -> None:
    searcher = Impatient(10)
    searcher.register = memory.THREATS_STOP
    searcher.set_position([44, 46], [55, 33])
    result = searcher.search(0, Limits(seconds=3600, depth=4))
    assert (result.depth, result.decided) == (4, False)
    assert searcher.vct(0) is None
    searcher.set_position([44, 45, 63, 73], [0, 9, 90, 99])
    assert searcher.vct(0) is not None, "the next search begins afresh"


def test_a_vcf_at_the_root_ends_with_the_time_for_threats() -> None:
    """X wins by fours in seven plies; without time for them alpha-beta finds that."""
    names = cell_names(10)
    marks = ("b5 f6 b2 f1 c3 b4 b7 c5", "g6 c2 d2 e6 b3 g3 d3 f3")
    searcher = Impatient(10)
    searcher.register = memory.THREATS_STOP
    searcher.set_position(*([names.index(name) for name in side.split()] for side in marks))
    result = searcher.search(0, Limits(seconds=3600))
    assert result.decided
    assert result.depth > 0
    assert searcher.vcf(0) is not None, "the register is clear again"


# ---- proofs

SIZE = 10
#: Marks close together, where threats are.
CORNER = [SIZE * row + column for row in range(1, 8) for column in range(1, 8)]
#: O to move wins by five threats that begin with i8.
FIVE_THREATS = (
    "h6 d10 e5 i9 e7 f10 c6 g4 c10 h5 h11 g8",
    "e6 h8 g7 f9 f7 e8 d7 f5 d9 g6 g10",
)
#: X to move: f5 has the highest ordering score and loses, g4 holds.
LOSING_CANDIDATE = ("b8 e7 b2 h8", "g5 e6 h5 h3")


@pytest.fixture(scope="module")
def searcher() -> Searcher:
    return Searcher(SIZE)


@pytest.fixture(scope="module")
def prover() -> Searcher:
    return Searcher(SIZE)


@st.composite
def positions(draw: st.DrawFn) -> tuple[Cells, Cells]:
    """The marks of the side to move, and of the other one."""
    order = draw(st.permutations(CORNER))
    marks = draw(st.integers(8, 26))
    x, o = frozenset(order[:marks:2]), frozenset(order[1:marks:2])
    return (x, o) if marks % 2 == 0 else (o, x)


def proves_win(prover: Searcher, mine: Cells, theirs: Cells, quiet_moves: int = 8) -> bool:
    """Whether the side to move wins by VCF or VCT, or by quiet moves with every answer refuted.

    test_threats.py holds VCF and VCT against slow searches; alpha-beta only suggests the quiet moves.
    """
    prover.set_position(sorted(mine), sorted(theirs))
    if prover.vcf(0) or prover.vct(0, nodes=300_000):
        return True
    if not quiet_moves:
        return False
    moved = mine | {prover.search(0, Limits(nodes=20_000)).cell}
    return proves_loss(prover, theirs, moved, quiet_moves - 1)


def proves_loss(prover: Searcher, mine: Cells, theirs: Cells, quiet_moves: int = 8) -> bool:
    """Whether every legal move of the side to move loses."""
    after = (mine | {cell} for cell in empty(SIZE, mine, theirs))
    return all(not five(SIZE, moved) and proves_win(prover, theirs, moved, quiet_moves) for moved in after)


def marks_of(text: str) -> tuple[Cells, Cells]:
    """`g5 c7 | h5 e6`: the marks of the side to move, and of the other one."""
    names = cell_names(SIZE)
    mine, theirs = (frozenset(names.index(name) for name in side.split()) for side in text.split("|"))
    return mine, theirs


# In these two a search that took cut lists for complete ones claimed a win and a loss.
@example(marks_of("d5 b6 h2 f5 e4 g3 f7 d6 e8 | f8 d2 d7 b4 f3 g7 c2 g2 f2"))
@example(marks_of("d2 b5 f6 g7 f8 c3 h3 g4 h8 b2 | e5 d8 f3 c2 c6 g6 g5 e8 b7 f4"))
@settings(max_examples=60)
@given(positions())
def test_a_claimed_win_or_loss_is_a_proof(
    searcher: Searcher, prover: Searcher, position: tuple[Cells, Cells]
) -> None:
    mine, theirs = position
    if five(SIZE, mine) or five(SIZE, theirs):
        return
    searcher.set_position(sorted(mine), sorted(theirs))
    result = searcher.search(0, Limits(nodes=5000))
    if result.value < -MATE:
        assert proves_loss(prover, mine, theirs)
    elif result.value > MATE:
        moved = mine | {result.cell}
        assert five(SIZE, moved) or proves_loss(prover, theirs, moved)
    else:
        assert abs(result.value) <= UNPROVEN
        assert not wins_by_threats(SIZE, mine, theirs, 2), "threats are searched before depth 1"


@pytest.mark.parametrize("limits", [Limits(depth=1), Limits(nodes=1000), Limits(seconds=60)])
def test_five_threats_are_found_before_alpha_beta(limits: Limits) -> None:
    names = cell_names(14)
    x, o = ([names.index(name) for name in marks.split()] for marks in FIVE_THREATS)
    searcher = Searcher(14)
    searcher.set_position(x[:-1], o)
    searcher.search(0, Limits(depth=3))  # tables filled by an earlier move change nothing
    searcher.set_position(x, o)
    result = searcher.search(1, limits)
    assert (names[result.cell], result.depth, result.decided) == ("i8", 0, True)


def test_a_list_that_was_cut_proves_no_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """The only move tried at the root loses: the value is bounded, and the next depth tries all moves."""
    monkeypatch.setattr("arena_engines.xo.gomoku.searcher.ROOT_MOVES", 1)
    names = cell_names(SIZE)
    searcher = Searcher(SIZE)
    searcher.set_position(*([names.index(name) for name in marks.split()] for marks in LOSING_CANDIDATE))
    first = searcher.search(0, Limits(depth=1))
    assert (names[first.cell], first.value, first.decided) == ("f5", -UNPROVEN, False)
    searcher.reset()
    second = searcher.search(0, Limits(depth=2))
    assert (names[second.cell], second.decided) == ("g4", False)
    assert second.value > -UNPROVEN


def test_a_static_value_cuts_a_node_off_only_near_the_horizon_and_far_from_proofs() -> None:
    names = cell_names(SIZE)
    searcher = Searcher(SIZE)
    board = searcher.board
    x, o = ([names.index(name) for name in marks.split()] for marks in ("d5 e5 d6 e7", "a1 j10 a10"))
    searcher.set_position(x, o)
    value = evaluate(board, 0)
    assert futile(board, 0, 1, value - 1000) == value
    assert futile(board, 0, 1, value) == UNDECIDED
    assert futile(board, 0, 3, value - 700) == UNDECIDED
    assert futile(board, 0, FUTILE_DEPTH + 1, value - 5000) == UNDECIDED
    assert futile(board, 0, 1, -UNPROVEN) == UNDECIDED, "a proven loss may be the truth"
    searcher.set_position(o, [*x, names.index("c5")])
    assert futile(board, 0, 1, -UNPROVEN + 1) == UNDECIDED, "an open four is threatened"


def test_the_static_value_is_bounded() -> None:
    """Rows of open threes everywhere are worth more than any bound."""
    searcher = Searcher(14)
    marks = [14 * row + column for row in range(0, 14, 2) for column in (3, 4, 5, 9, 10, 11)]
    searcher.set_position(marks, [])
    board = searcher.board
    assert evaluate(board, 0) == UNPROVEN
    assert evaluate(board, 1) == -UNPROVEN
