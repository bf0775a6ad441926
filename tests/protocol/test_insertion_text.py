"""Boards and sequences as text: the round trip, and every way to be refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_protocol.games.base import GameError
from arena_protocol.games.insertion.board import EMPTY_BOARD, check_sequence, format_board, parse_board

from . import oracle
from .boards import boards

BOARD = "5.351/6.423/1.552/44215/44526"


@given(boards(7))
def test_a_board_reads_back(board: str) -> None:
    assert format_board(parse_board(board)) == board


def test_the_bits_of_a_board_are_where_the_rule_book_draws_them() -> None:
    planes = parse_board(BOARD)
    grid = oracle.grid_of(BOARD)
    for x in range(5):
        for y in range(5):
            colour = sum((plane >> 5 * x + y & 1) << k for k, plane in enumerate(planes))
            assert colour == grid[4 - y][x]


def test_the_empty_board() -> None:
    assert parse_board(EMPTY_BOARD) == (0, 0, 0)


@pytest.mark.parametrize(
    "board",
    ["", "/", "....", BOARD + "/", BOARD[:-1], BOARD + "1", BOARD.replace("/", " "), "./" * 4 + "....."],
)
def test_a_text_that_is_not_five_rows_of_five_is_refused(board: str) -> None:
    with pytest.raises(GameError) as refused:
        parse_board(board)
    assert str(refused.value) == f"a board is five rows of five cells joined by '/', not {board!r}"


@pytest.mark.parametrize(("cell", "colours"), [("8", 7), ("0", 7), ("x", 7), (" ", 7), ("4", 3), ("٣", 7)])
def test_a_cell_that_is_no_colour_is_refused(cell: str, colours: int) -> None:
    with pytest.raises(GameError) as refused:
        parse_board(f"...../...../...../...../1{cell}...", colours)
    assert str(refused.value) == f"a cell of the board is '.' or a colour from 1 to {colours}, not {cell!r}"


@pytest.mark.parametrize(
    ("board", "column"),
    [
        ("1..../...../...../...../.....", 1),
        ("...../...../...../..1../11.11", 3),
        ("....1/....1/....1/...../....1", 5),
    ],
)
def test_a_picture_that_hangs_over_an_empty_cell_is_refused(board: str, column: int) -> None:
    with pytest.raises(GameError) as refused:
        parse_board(board)
    assert str(refused.value) == f"a picture hangs over an empty cell in column {column} of {board!r}"


@given(st.text("1234", max_size=10))
def test_a_sequence_of_known_colours_passes(sequence: str) -> None:
    assert check_sequence(sequence, 4) == sequence


@pytest.mark.parametrize(
    ("sequence", "stranger"), [("0", "0"), ("1512", "5"), ("12x34", "x"), ("1 2", " "), ("٣", "٣")]
)
def test_a_stranger_in_a_sequence_is_refused(sequence: str, stranger: str) -> None:
    with pytest.raises(GameError) as refused:
        check_sequence(sequence, 4)
    assert str(refused.value) == f"a picture of the sequence is a colour from 1 to 4, not {stranger!r}"
