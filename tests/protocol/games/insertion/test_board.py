"""Boards and sequences round-trip as text, bad texts are refused, and deals follow the published recipe."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol.games.base import GameError
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.insertion.board import check_sequence, format_board, parse_board

from ... import oracle
from ...boards import boards

SEEDS = st.integers(0, 2**256)
COLOURS = st.integers(3, 7)


class Recipe:
    """RULES.md, `Deals`, followed word by word."""

    def __init__(self, seed: int) -> None:
        text = [f"insertion:{seed}:{block}" for block in range(200)]
        self.bytes = list(b"".join(hashlib.sha256(line.encode()).digest() for line in text))

    def below(self, n: int) -> int:
        while True:
            byte = self.bytes.pop(0)
            if byte < 256 - (256 % n):
                return byte % n

    def deal(self, start: str, colours: int, plies: int) -> tuple[str, str]:
        heights = [self.below(6) for _ in range(5)] if start == "partial" else [5 * (start == "full")] * 5
        grid = oracle.grid_of("...../...../...../...../.....")
        for column, height in enumerate(heights):
            for row in range(4, 4 - height, -1):
                grid[row][column] = 1 + self.below(colours)
                while oracle.cells_of_runs(grid):
                    grid[row][column] = 1 + self.below(colours)
        return oracle.text_of(grid), "".join(str(1 + self.below(colours)) for _ in range(plies))


@given(SEEDS, COLOURS, st.sampled_from(["full", "partial", "empty"]), st.integers(1, 200))
def test_a_deal_follows_the_published_recipe(seed: int, colours: int, start: str, plies: int) -> None:
    deal = Insertion(colours=colours, plies=plies, start_kind=start).deal(seed)
    assert (deal.board, deal.sequence) == Recipe(seed).deal(start, colours, plies)


@given(SEEDS, COLOURS, st.sampled_from(["full", "partial", "empty"]))
def test_a_start_has_no_run_and_the_size_it_promises(seed: int, colours: int, start: str) -> None:
    deal = Insertion(colours=colours, start_kind=start).deal(seed)
    assert not oracle.cells_of_runs(oracle.grid_of(deal.board))
    assert set(deal.sequence) | set(deal.board) - {".", "/"} <= set("1234567"[:colours])
    assert len(deal.sequence) == 200
    if start != "partial":
        assert deal.board.count(".") == (0 if start == "full" else 25)


def test_a_given_board_is_dealt_as_it_is() -> None:
    board = "...../...../...../...../12..3"
    game = Insertion(plies=12, board=board)
    assert game.deal(2006).board == board
    assert game.deal(2006).sequence == Insertion(plies=12, start_kind="empty").deal(2006).sequence


@pytest.mark.parametrize("colours", [3, 4, 5, 6, 7])
def test_the_colours_of_sequences_are_equally_likely(colours: int) -> None:
    """20,000 pictures of fixed seeds; each colour within five standard deviations of its share."""
    game = Insertion(colours=colours)
    seen = Counter("".join(game.deal(seed).sequence for seed in range(100)))
    share = 20_000 / colours
    allowed = 5 * (share * (1 - 1 / colours)) ** 0.5
    assert len(seen) == colours
    assert all(abs(number - share) < allowed for number in seen.values())


def test_partial_starts_have_every_height() -> None:
    game = Insertion(plies=1, start_kind="partial")
    grids = [oracle.grid_of(game.deal(seed).board) for seed in range(60)]
    heights = {sum(row[x] > 0 for row in grid) for grid in grids for x in range(5)}
    assert heights == {0, 1, 2, 3, 4, 5}


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
    assert parse_board("...../...../...../...../.....") == (0, 0, 0)


@all_of(
    "board",
    ["", "/", "....", BOARD + "/", BOARD[:-1], BOARD + "1", BOARD.replace("/", " "), "./" * 4 + "....."],
)
def test_a_text_that_is_not_five_rows_of_five_is_refused(board: str) -> None:
    with pytest.raises(GameError) as refused:
        parse_board(board)
    assert str(refused.value) == f"a board is five rows of five cells joined by '/', not {board!r}"


@all_of(("cell", "colours"), [("8", 7), ("0", 7), ("x", 7), (" ", 7), ("4", 3), ("٣", 7)])
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
def test_a_picture_above_an_empty_cell_is_refused(board: str, column: int) -> None:
    with pytest.raises(GameError) as refused:
        parse_board(board)
    assert str(refused.value) == f"a picture hangs over an empty cell in column {column} of {board!r}"


@given(st.text("1234", max_size=10))
def test_a_sequence_of_known_colours_passes(sequence: str) -> None:
    assert check_sequence(sequence, 4) == sequence


@all_of(("sequence", "unknown"), [("0", "0"), ("1512", "5"), ("12x34", "x"), ("1 2", " "), ("٣", "٣")])
def test_an_unknown_picture_in_a_sequence_is_refused(sequence: str, unknown: str) -> None:
    with pytest.raises(GameError) as refused:
        check_sequence(sequence, 4)
    assert str(refused.value) == f"a picture of the sequence is a colour from 1 to 4, not {unknown!r}"
