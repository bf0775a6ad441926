"""XO against a slow oracle, its openings, tic-tac-toe, and what both refuse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, GameError
from arena_protocol.games.mnk import Marks, Xo, board_of, has_line

from .play import play_all

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


def slow_has_line(cells: set[tuple[int, int]], length: int) -> bool:
    """Walks from every cell in every direction: no bits, no spare column."""
    return any(
        all((row + step * down, column + step * across) in cells for step in range(length))
        for row, column in cells
        for down, across in DIRECTIONS
    )


@given(st.integers(3, 14), st.integers(3, 5), st.data())
def test_lines_agree_with_the_slow_oracle(size: int, length: int, data: st.DataObject) -> None:
    side = st.integers(0, size - 1)
    cells = data.draw(st.sets(st.tuples(side, side), max_size=size * size // 2))
    row, column = data.draw(st.tuples(side, side))
    down, across = data.draw(st.sampled_from(DIRECTIONS))
    line = {(row + step * down, column + step * across) for step in range(data.draw(st.integers(0, 6)))}
    cells |= {(r, c) for r, c in line if 0 <= r < size and 0 <= c < size}
    plane = sum(1 << (size + 1) * r + c for r, c in cells)
    assert has_line(plane, size, length) == slow_has_line(cells, length)


@all_of(
    ("marks", "won"),
    [
        ("a1 b1 c1 d1 e1", True),
        ("a1 b1 c1 d1 e1 f1", True),
        ("a1 b1 c1 d1", False),
        ("j1 a2 b2 c2 d2", False),
        ("g10 h10 i10 j10 f10", True),
        ("f1 g2 h3 i4 j5", True),
        ("j6 i7 h8 g9 f10", True),
        ("e1 d2 c3 b4 a5", True),
        ("j6 j7 j8 j9 j10", True),
        ("a6 b7 c8 d9 e10", True),
        ("a1 b1 c1 e1 f1", False),
    ],
)
def test_five_or_more_neighbours_win(marks: str, won: bool) -> None:
    cells = board_of(10).cells
    plane = sum(cells[name] for name in marks.split())
    rest = [bit for name, bit in cells.items() if not bit & plane and name[0] in "bdfhj"][::3]
    game = Xo(10)
    position = Marks(plane, sum(rest[: len(marks.split())]))
    assert game.winner(position) == (1 if won else None)


def test_a_cell_is_a_letter_and_a_row_counted_from_the_bottom() -> None:
    game = make_game("xo", {"size": "14"})
    start = game.start(game.deal(5))
    assert game.legal_moves(start)[:3] == ("a1", "b1", "c1")
    assert game.legal_moves(start)[-1] == "n14"
    after = game.play(game.play(start, "a1").position, "n14").position
    rows = game.state_text(after).split("/")
    assert (rows[-1], rows[0]) == ("x" + "." * 13, "." * 13 + "o")


def test_seat_1_is_x_and_moves_first() -> None:
    game = Xo(10)
    start = game.start(game.deal(0))
    assert game.to_move(start) == 1
    assert game.to_move(game.play(start, "e5").position) == 2


def test_the_mover_of_the_fifth_mark_gets_the_points_at_once() -> None:
    game = Xo(10)
    position = game.start(game.deal(0))
    steps = []
    for move in ["a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2", "e1"]:
        steps.append(game.play(position, move))
        position = steps[-1].position
    assert [step.points for step in steps] == [0] * 8 + [2]
    assert (game.end(position), game.totals(position), game.legal_moves(position)) == ("win", (2, 0), ())
    assert not game.is_legal(position, "j10")


def test_the_last_mark_of_a_draw_gives_the_mover_one_point() -> None:
    rows = ["xxooxxooxx", "ooxxooxxoo"] * 5
    before = "/".join(rows)[:-1] + "."
    game = Xo(10)
    step = game.play(game.start(Deal(before)), "j1")
    assert (step.points, game.totals(step.position), game.end(step.position)) == (1, (1, 1), "draw")


@given(st.integers(0, 2**64), st.integers(0, 8), st.integers(10, 14))
def test_an_opening_is_drawn_from_the_middle_and_the_same_for_a_seed(
    seed: int, marks: int, size: int
) -> None:
    game = make_game("xo", {"size": size, "opening": marks})
    deal = game.deal(seed)
    assert deal == game.deal(seed)
    position = game.start(deal)
    assert (position.x.bit_count(), position.o.bit_count()) == ((marks + 1) // 2, marks // 2)
    rim = [name for name in board_of(size).cells if name[0] in "ab" or name[1:] in ("1", "2")]
    assert set(rim) <= set(game.legal_moves(position))


def test_the_opening_of_a_seed_stands_for_good() -> None:
    """Other languages and later versions must deal the same; this text is the golden one."""
    golden = (
        "........../........../...x....../....x...../......o.../.....x.o../........../..o......./"
        "........../.........."
    )
    assert Xo(10, opening=6).deal(2006).board == golden


EMPTY = "/".join(["." * 10] * 10)
WON = "/".join(["xxxxx.....", "oooo......", *["." * 10] * 8])


@all_of(
    ("options", "text"),
    [
        ({"size": 9}, "xo: size is a whole number from 10 to 14, not 9"),
        ({"size": "15"}, "xo: size is a whole number from 10 to 14, not 15"),
        ({"opening": 9}, "xo: opening is a whole number from 0 to 8, not 9"),
        ({"win": 4}, "xo: win is 5, not 4"),
        ({"seats": 3}, "xo: seats is 2, not 3"),
        ({"board": EMPTY, "opening": 2}, "xo: give either opening or board, not both"),
        ({"board": 7}, "xo: board is 1 to 256 boards joined by '|', not 7"),
        ({"board": f"{EMPTY}|{WON}"}, f"xo: board is the start of a game, and this one is over: '{WON}'"),
        ({"board": "x"}, "a board is 10 rows of 10 cells joined by '/', not 'x'"),
    ],
)
def test_an_impossible_option_of_xo_is_refused(options: dict[str, object], text: str) -> None:
    with pytest.raises(GameError) as refused:
        make_game("xo", options)
    assert str(refused.value) == text


def test_options_are_printed_so_that_they_make_the_same_game() -> None:
    assert Xo(12).options() == {"size": "12", "win": "5"}
    assert make_game("xo", Xo(11, opening=4).options()) == Xo(11, opening=4)


def test_a_misbehaving_seat_forfeits() -> None:
    game = Xo(10)
    assert game.zombie_move is None
    start = game.start(game.deal(0))
    assert (game.forfeit(start, 1), game.forfeit(start, 2)) == ((0, 2), (2, 0))


@all_of(
    ("moves", "end", "totals"),
    [
        ("a1 a2 b1 b2 c1", "win", (2, 0)),
        ("a2 a1 b2 b1 c3 c1", "win", (0, 2)),
        ("a3 a2 b2 a1 c1", "win", (2, 0)),
        ("a1 b1 c1 a2 c2 b2 b3 c3 a3", "draw", (1, 1)),
        ("a1 b1 c1 a2", None, (0, 0)),
    ],
)
def test_tictactoe_ends_in_a_win_or_a_draw(moves: str, end: str | None, totals: tuple[int, int]) -> None:
    game = make_game("tictactoe", {})
    position = play_all(game, moves)
    assert (game.end(position), game.totals(position)) == (end, totals)
    assert bool(game.legal_moves(position)) == (end is None)


def test_tictactoe_4x4_has_rows_from_the_top_and_needs_four() -> None:
    game = make_game("tictactoe", {"size": "4"})
    assert game.options() == {"size": "4", "win": "4"}
    position = play_all(game, "b3 b4 c3")
    assert game.state_text(position) == ".o../.xx./..../...."
    assert game.start(Deal(".o../.xx./..../....")) == position
    assert game.to_move(position) == 2
    assert game.end(play_all(game, "a1 a2 b1 b2 c1 c2")) is None
    three = make_game("tictactoe", {"size": 4, "win": 3})
    assert three.end(play_all(three, "a1 a2 b1 b2 c1")) == "win"


def test_moves_of_tictactoe_stand_in_scan_order() -> None:
    game = make_game("tictactoe", {})
    assert game.legal_moves(game.start(game.deal(0))) == (
        "a1",
        "b1",
        "c1",
        "a2",
        "b2",
        "c2",
        "a3",
        "b3",
        "c3",
    )


@pytest.mark.parametrize(
    ("before", "move", "text"),
    [
        ("a1", "a1", "a1 is taken"),
        ("", "d1", "a move of tictactoe is a cell from a1 to c3, not 'd1'"),
        ("", "a01", "a move of tictactoe is a cell from a1 to c3, not 'a01'"),
        ("a1 a2 b1 b2 c1", "c3", "the game is over"),
    ],
)
def test_tictactoe_refuses_a_move(before: str, move: str, text: str) -> None:
    game = make_game("tictactoe", {})
    position = play_all(game, before)
    assert not game.is_legal(position, move)
    with pytest.raises(GameError) as refused:
        game.play(position, move)
    assert str(refused.value) == text


@all_of(
    ("board", "text"),
    [
        ("x../...", "a board is 3 rows of 3 cells joined by '/', not 'x../...'"),
        ("x../..../..", "a board is 3 rows of 3 cells joined by '/', not 'x../..../..'"),
        ("x../.?./...", "a cell of the board is '.', 'x' or 'o', not '?'"),
        ("xx./.../...", "x has as many marks as o or one more, not 2 and 0"),
        ("o../.../...", "x has as many marks as o or one more, not 0 and 1"),
        ("xxx/.../ooo", "x and o cannot both have 3 in a line: 'xxx/.../ooo'"),
    ],
)
def test_tictactoe_refuses_a_position(board: str, text: str) -> None:
    with pytest.raises(GameError) as refused:
        make_game("tictactoe", {}).start(Deal(board))
    assert str(refused.value) == text
