"""Packed values order as the tiers do, and add as they add; strategies weigh them as they say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena_engines.engine import Eval
from arena_engines.insertion.evaluation import (
    COOPERATIVE,
    DELETED,
    FELL,
    INFINITY,
    MAX_DEPTH,
    MINE,
    SPOILING,
    Strategy,
    move_gain,
    unpack,
)

#: Up to 20 plies of at most 250 points and 26 deleted cells each, and far beyond.
tiers = st.builds(Eval, st.integers(0, 2**22 - 1), st.integers(0, 2**20 - 1), st.integers(0, 2**20 - 1))


plies = st.lists(st.tuples(st.integers(0, 25), st.integers(0, 1), st.booleans()), max_size=MAX_DEPTH)


def pack(mine: int, deleted: int, theirs: int) -> int:
    """The packed value of three tiers; `deleted` and `theirs` below 2**20, `mine` below 2**22."""
    return mine * MINE - deleted * DELETED - theirs


def rank(tier: Eval) -> tuple[int, int, int]:
    return tier.mine, -tier.deleted, -tier.theirs


@given(tiers)
def test_pack_and_unpack_are_inverse(tier: Eval) -> None:
    assert unpack(pack(*tier)) == tier


@given(tiers, tiers)
def test_packed_values_order_as_the_tiers_do(one: Eval, other: Eval) -> None:
    assert (pack(*one) < pack(*other)) == (rank(one) < rank(other))


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
def test_close_values_order_too(deleted: int, theirs: int, less: int, fewer: int) -> None:
    one, other = Eval(30, deleted, theirs), Eval(30, less, fewer)
    assert (pack(*one) < pack(*other)) == (rank(one) < rank(other))


@given(plies)
def test_gains_add_up_to_the_eval_of_the_line(line: list[tuple[int, int, bool]]) -> None:
    mine = sum(10 * removed for removed, _, my_move in line if my_move)
    theirs = sum(10 * removed for removed, _, my_move in line if not my_move)
    deleted = sum(removed + fell for removed, fell, _ in line)
    value = sum(move_gain(removed, fell, my_move) for removed, fell, my_move in line)
    assert value == pack(mine, deleted, theirs)
    assert unpack(value) == (mine, deleted, theirs)


@given(plies)
def test_a_shifted_window_stays_in_64_bits(line: list[tuple[int, int, bool]]) -> None:
    path = sum(move_gain(removed, fell, my_move) for removed, fell, my_move in line)
    assert abs(path) < INFINITY
    for bound in (-INFINITY, INFINITY):
        assert -(2**63) <= bound - path < 2**63


Line = list[tuple[int, int, bool]]


def sums(line: Line) -> tuple[int, int, int]:
    mine = sum(10 * removed for removed, _, my_move in line if my_move)
    theirs = sum(10 * removed for removed, _, my_move in line if not my_move)
    return mine, sum(removed + fell for removed, fell, _ in line), theirs


def value(strategy: Strategy, line: Line) -> int:
    my_cell, their_cell = strategy.cells
    return sum(removed * (my_cell if mine else their_cell) + fell * FELL for removed, fell, mine in line)


@given(plies, plies)
def test_the_strategies_order_lines_as_they_say(one: Line, other: Line) -> None:
    (mine, deleted, theirs), (my, gone, their) = sums(one), sums(other)
    cooperative = (mine, -deleted, -theirs) < (my, -gone, -their)
    spoiling = (mine - theirs, -deleted, -theirs) < (my - their, -gone, -their)
    assert (value(COOPERATIVE, one) < value(COOPERATIVE, other)) == cooperative
    assert (value(SPOILING, one) < value(SPOILING, other)) == spoiling


@given(plies)
def test_both_give_the_three_tiers_back(line: Line) -> None:
    for strategy in (COOPERATIVE, SPOILING):
        assert strategy.eval_of(value(strategy, line)) == sums(line)
