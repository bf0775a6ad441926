"""The rules against the published games, the slow oracle, facts by hand, and counted move trees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol.games.base import GameError
from arena_protocol.games.insertion import format_board, parse_board, rules

from ... import oracle
from ...boards import board_text, boards, plies
from ...perft import Perft, perft

VECTORS = Path(__file__).parents[4] / "protocol" / "vectors" / "insertion.jsonl"
GAMES = [json.loads(line) for line in VECTORS.read_text().splitlines()]


def test_the_published_games_are_all_here() -> None:
    assert len(GAMES) == 30
    assert sum(len(game["plies"]) for game in GAMES) == 4880
    assert {game["colours"] for game in GAMES} == {3, 4, 5, 6, 7}


@all_of("game", GAMES)
def test_every_ply_of_the_published_games(game: dict[str, Any]) -> None:
    (p0, p1, p2), totals = parse_board(game["board"], game["colours"]), [0, 0]
    for number, (move, colour, points, *effect, after) in enumerate(game["plies"]):
        assert int(game["sequence"][number]) == colour
        p0, p1, p2, removed, fell, waves = rules.play(p0, p1, p2, move, colour)
        assert [removed, fell, waves, format_board((p0, p1, p2))] == [*effect, after]
        assert rules.POINTS_A_CELL * removed == points
        totals[number % 2] += points
    assert totals == game["totals"]


@given(plies())
@settings(max_examples=400)
def test_all_moves_agree_with_the_oracle(ply: tuple[str, int]) -> None:
    board, colour = ply
    for move in range(1, 16):
        p0, p1, p2, removed, fell, waves = rules.play(*parse_board(board), move, colour)
        assert (format_board((p0, p1, p2)), removed, fell, waves) == oracle.play(board, move, colour)


@given(plies())
@settings(max_examples=200)
def test_insertion_alone_agrees_with_the_oracle(ply: tuple[str, int]) -> None:
    board, colour = ply
    for move in range(1, 16):
        grid = oracle.grid_of(board)
        expected = oracle.insert(grid, move, colour)
        p0, p1, p2, fell = rules.insert(*parse_board(board), move, colour)
        assert (format_board((p0, p1, p2)), fell) == (oracle.text_of(grid), expected)


@given(boards(3))
@settings(max_examples=200)
def test_runs_and_settling_agree_with_the_oracle(board: str) -> None:
    grid = oracle.grid_of(board)
    cells = rules.runs(*parse_board(board))
    assert {(4 - bit % 5, bit // 5) for bit in range(25) if cells >> bit & 1} == oracle.cells_of_runs(grid)
    p0, p1, p2, removed, waves = rules.settle(*parse_board(board))
    assert (removed, waves) == oracle.settle(grid)
    assert format_board((p0, p1, p2)) == oracle.text_of(grid)


@given(boards(7), st.sets(st.integers(0, 24)))
def test_whatever_is_removed_the_rest_falls_as_in_the_oracle(board: str, gone: set[int]) -> None:
    grid = oracle.grid_of(board)
    for bit in gone:
        grid[4 - bit % 5][bit // 5] = 0
    oracle.fall(grid)
    planes = rules.remove(*parse_board(board), sum(1 << bit for bit in gone))
    assert format_board(planes) == oracle.text_of(grid)


@given(st.integers(0, rules.BOARD))
def test_count_is_the_number_of_set_bits(cells: int) -> None:
    assert rules.count(cells) == cells.bit_count()


def test_count_of_the_full_board() -> None:
    assert rules.count(rules.BOARD) == 25


@given(boards(7))
def test_height_is_the_number_of_pictures_in_a_column(board: str) -> None:
    for x in range(5):
        column = [row[x] for row in board.split("/")]
        assert rules.height(*parse_board(board), x) == 5 - column.count(".")


@given(plies())
def test_a_dropped_move_does_what_a_kept_move_with_a_lower_number_does(ply: tuple[str, int]) -> None:
    board, colour = ply
    distinct = rules.distinct_moves(*parse_board(board))
    effect = {move: oracle.play(board, move, colour) for move in range(1, 16)}
    kept = [move for move in range(1, 16) if distinct >> move & 1]
    for move in set(range(1, 16)) - set(kept):
        assert any(effect[move] == effect[lower] for lower in kept if lower < move)


@given(st.lists(st.integers(0, 5), min_size=5, max_size=5))
def test_kept_moves_are_exactly_the_lowest_of_those_that_coincide(heights: list[int]) -> None:
    """Seen on a board where every picture is one of its kind, so that nothing agrees by accident."""
    grid = [[10 * x + y if y <= heights[x] else 0 for x in range(5)] for y in range(5, 0, -1)]
    lowest: dict[str, int] = {}
    for move in range(1, 16):
        after = [row.copy() for row in grid]
        oracle.insert(after, move, 99)
        lowest.setdefault(repr(after), move)
    board = board_text([[1] * height for height in heights])
    distinct = rules.distinct_moves(*parse_board(board))
    assert [move for move in range(16) if distinct >> move & 1] == sorted(lowest.values())


@all_of(
    ("board", "expected"),
    [
        ("...../...../...../...../.....", [1, 7, 8, 9, 10]),
        ("...../...../...../...../1....", [1, 2, 7, 8, 9, 10]),
        ("...../...../...../...../....1", [1, 7, 8, 9, 10, 15]),
        ("1..../2..../1..../2..../1....", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        ("53351/34233/13552/44215/44526", list(range(1, 16))),
    ],
)
def test_distinct_moves_by_hand(board: str, expected: list[int]) -> None:
    distinct = rules.distinct_moves(*parse_board(board))
    assert [move for move in range(16) if distinct >> move & 1] == expected


@st.composite
def _games(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    colours = draw(st.integers(3, 7))
    ply = st.tuples(st.integers(1, 15), st.integers(1, colours))
    return draw(boards(colours)), draw(st.lists(ply, max_size=60))


@given(_games())
def test_no_picture_is_lost_or_made(game: tuple[str, list[tuple[int, int]]]) -> None:
    """So at most plies + 25 pictures ever leave, and there are at most (plies + 25) / 3 runs."""
    board, moves = game
    planes, pictures = parse_board(board), 25 - board.count(".")
    for move, colour in moves:
        p0, p1, p2, removed, fell, waves = rules.play(*planes, move, colour)
        planes, pictures = (p0, p1, p2), pictures + 1 - removed - fell
        assert 3 * waves <= removed
        assert rules.runs(*planes) == 0
    assert pictures == 25 - format_board(planes).count(".")


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
