"""Scenes: what is drawn of a position, and what of it goes to a browser."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game
from arena_protocol.games.mnk import has_line, line_cells
from arena_protocol.games.scene import NO_BOARD, STYLES, BoardLayout, Cell, Label, Scene, grid, rows_scene


def scene_of(name: str, options: dict[str, object], board: str, sequence: str = "") -> Scene:
    game = make_game(name, options)
    return game.scene(game.start(Deal(board, sequence)))


def test_a_board_is_drawn_from_its_text() -> None:
    scene = rows_scene("x.../.o../....")
    assert (scene.layout.width, scene.layout.height, scene.pieces) == (4, 3, "x....o......")
    assert scene.layout.is_grid
    assert scene.rows() == ("x...", ".o..", "....")
    assert scene.describe() == "x.../.o../...."
    assert (scene.style("x"), scene.style("o"), scene.style("q")) == ("cross", "ring", "")


@all_of("text", ["7/1", "0/1/1", "abc", "abc/de/fgh", "ab/cd/ef"])
def test_a_text_that_is_no_board_is_shown_as_it_is(text: str) -> None:
    scene = rows_scene(text)
    assert (scene.layout, scene.pieces, scene.text) == (NO_BOARD, "", text)
    assert scene.describe() == text
    assert scene.to_json() == {"text": text}


def test_the_default_scene_of_a_game_has_the_rows_of_its_text() -> None:
    game = make_game("xo", {})
    position = game.start(game.deal(0))
    assert Game.scene(game, position) == rows_scene(game.state_text(position))


def test_the_moves_of_insertion_are_arrows_at_the_edges() -> None:
    scene = scene_of("insertion", {"lookahead": 2}, "...../...../...../...../12345", "6123")
    at = {label.move: (label.x, label.y, label.style) for label in scene.layout.labels}
    assert (at["1"], at["5"]) == ((-1, 4, "right"), (-1, 0, "right"))
    assert (at["6"], at["10"]) == ((0, -1, "down"), (4, -1, "down"))
    assert (at["11"], at["15"]) == ((5, 0, "left"), (5, 4, "left"))
    assert (scene.pieces[20:], scene.style("3")) == ("12345", "tile-3")
    assert scene.coming == "61", "no more than NEXT shows"
    moved = replace(scene, pieces=scene.pieces[::-1])
    assert moved.after(scene, "7") == moved, "the arrow shows it"


def test_the_cells_of_xo_have_their_moves_and_a_won_line_is_marked() -> None:
    scene = scene_of("tictactoe", {}, "x.o/.x./o.x")
    assert [cell.move for cell in scene.layout.cells] == [
        "a3",
        "b3",
        "c3",
        "a2",
        "b2",
        "c2",
        "a1",
        "b1",
        "c1",
    ]
    assert scene.marks == (("line", (0, 4, 8)),)
    assert [label.text for label in scene.layout.labels] == ["a", "b", "c", "3", "2", "1"]
    assert all(label.move == "" for label in scene.layout.labels)


def test_the_cells_that_the_last_move_has_changed() -> None:
    game = make_game("tictactoe", {})
    start = game.start(game.deal(0))
    before, after = game.scene(start), game.scene(game.play(start, "b1").position)
    assert after.after(before, "b1").marks == (("last", (7,)),)
    assert after.after(after, "b1") == after
    assert before.after(before, None) == before


def test_the_disc_is_a_wheel_with_the_sum_in_its_middle() -> None:
    scene = scene_of("disc", {}, "5/3/1")
    assert (scene.layout.form, scene.turn, scene.marks) == ("wheel", 2, (("chosen", (2,)),))
    assert (scene.text, scene.bar) == ("5", (5, 13))
    assert scene.describe() == "Disc: 3 on top, sum 5, 13 wins."
    assert [cell.move for cell in scene.layout.cells] == list("123456")
    assert scene.layout.cells[0] == Cell(2.5, 0.5, "1")


def test_coins_are_left_or_gone_and_buttons_take_them() -> None:
    scene = scene_of("lastcoin", {"coins": "12"}, "9/1")
    assert (scene.pieces, scene.layout.form) == ("ooooooooo...", "bare")
    assert not scene.layout.is_grid
    assert [(label.text, label.move, label.style) for label in scene.layout.labels] == [
        ("take 1", "1", "button"),
        ("take 2", "2", "button"),
    ]
    assert scene.describe() == "9 of 12 coins are left; the last one loses."
    assert scene_of("lastcoin", {"coins": "1000"}, "900/1").pieces == "o" * 200


def test_a_layout_as_json() -> None:
    board = make_game("tictactoe", {})
    layout = board.scene(board.start(board.deal(0))).layout
    moves = [cell.move for cell in layout.cells]
    assert layout.to_json() == {
        "width": 3,
        "height": 3,
        "form": "square",
        "moves": moves,
        "styles": dict(STYLES),
        "labels": [list(label) for label in layout.labels],
    }
    assert layout.to_json(small=True) == {"width": 3, "height": 3, "form": "square", "styles": dict(STYLES)}
    ring = BoardLayout(2, 1, (Cell(0.5, 0), Cell(1.5, 0)), (Label(0, 1, "go", "go", "button"),), (), "bare")
    assert ring.to_json() == {
        "width": 2,
        "height": 1,
        "form": "bare",
        "cells": [[0.5, 0], [1.5, 0]],
        "styles": {},
        "labels": [[0, 1, "go", "go", "button"]],
    }


def test_a_scene_as_json_has_only_what_there_is() -> None:
    assert Scene(grid(1, 1), ".").to_json() == {"pieces": "."}
    whole = Scene(grid(1, 1), "x", (("line", (0,)),), "t", (1, 2), 3, "12", "w").to_json()
    assert whole == {
        "pieces": "x",
        "marks": {"line": [0]},
        "text": "t",
        "bar": [1, 2],
        "turn": 3,
        "coming": "12",
        "words": "w",
    }


def test_a_ply_of_the_largest_boards_is_small() -> None:
    """What a scene adds to the event of a ply, and the layout, once a game, to the snapshot."""
    game = make_game("xo", {"size": 14})
    scene = game.scene(game.start(game.deal(0)))
    assert len(json.dumps(scene.to_json())) == 14 * 14 + 14
    assert len(json.dumps(scene.layout.to_json())) < 3000
    assert len(json.dumps(scene.layout.to_json(small=True))) < 100


@given(st.integers(0, 2**20 - 1), st.integers(3, 4))
def test_the_marks_of_a_line_are_those_that_a_line_needs(plane: int, size: int) -> None:
    plane &= sum(1 << (size + 1) * row + column for row in range(size) for column in range(size))
    found = line_cells(plane, size, 3)
    assert bool(found) == has_line(plane, size, 3)
    assert found & ~plane == 0
    for bit in (1 << place for place in range(20)):
        if found & bit:
            # Without a mark of a line fewer marks are in lines.
            assert line_cells(plane ^ bit, size, 3) != found
