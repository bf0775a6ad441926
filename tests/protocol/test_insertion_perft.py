"""The move tree counted: against the oracle, with and without duplicate moves, and refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protocol.perft import Perft, perft

from arena_protocol.games.base import GameError

from . import oracle
from .boards import boards

EMPTY = "...../...../...../...../....."


@given(boards(4), st.text("1234", min_size=2, max_size=2))
@settings(max_examples=15)
def test_two_plies_agree_with_the_oracle(board: str, sequence: str) -> None:
    assert perft(board, sequence, 2) == oracle.perft(board, sequence, 2)


def distinct_by_looking(board: str, sequence: str) -> set[tuple[str, int, int, int]]:
    """The different results of one ply, found by playing all fifteen moves."""
    return {oracle.play(board, move, int(sequence[0])) for move in range(1, 16)}


@given(boards(7), st.sampled_from("1234567"))
def test_leaving_duplicates_out_loses_no_result(board: str, picture: str) -> None:
    distinct = perft(board, picture, 1, distinct=True)
    assert len(distinct_by_looking(board, picture)) <= distinct.leaves <= 15


def test_both_outer_columns_empty_leave_five_moves() -> None:
    assert perft(EMPTY, "1", 1, distinct=True) == Perft(5, 0, 0, 0)
    assert perft(EMPTY, "1", 1) == Perft(15, 0, 0, 0)


def test_no_ply_is_one_path() -> None:
    assert perft(EMPTY, "", 0) == Perft(1, 0, 0, 0)


@pytest.mark.parametrize(
    ("board", "sequence", "depth", "text"),
    [
        (EMPTY, "12", 3, "perft: depth is a whole number from 0 to 2 (the sequence), not 3"),
        (EMPTY, "12", -1, "perft: depth is a whole number from 0 to 2 (the sequence), not -1"),
        ("x", "1", 1, "a board is five rows of five cells joined by '/', not 'x'"),
        (EMPTY, "8", 1, "a picture of the sequence is a colour from 1 to 7, not '8'"),
    ],
)
def test_an_impossible_question_is_refused(board: str, sequence: str, depth: int, text: str) -> None:
    with pytest.raises(GameError) as refused:
        perft(board, sequence, depth)
    assert str(refused.value) == text
