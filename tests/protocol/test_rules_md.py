"""RULES.md is true: its picture, every row of its tables, and the names and numbers in its text."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.protocol.perft import perft
from tests.slices import all_of, rows

from arena_protocol.games import GAMES, make_game
from arena_protocol.games.base import Deal
from arena_protocol.games.insertion import format_board, parse_board, rules

from . import oracle

PROTOCOL = Path(__file__).parents[2] / "protocol"
TEXT = (PROTOCOL / "RULES.md").read_text()


def table(*columns: str) -> list[list[str]]:
    """The rows of the table that has these columns."""
    head = "| " + " | ".join(columns) + " |\n"
    assert TEXT.count(head) == 1, head
    rows = TEXT.split(head)[1].split("\n\n")[0].splitlines()[1:]
    return [[cell.strip(" `") for cell in row.strip("|").split("|")] for row in rows]


EXAMPLES = table("board", "picture", "move", "removed", "fell", "waves", "board after")
WAVES = table("wave", "before", "run", "after the fall")
DEALS = table("seed", "options", "board", "sequence")
PERFT = table("board", "sequence", "moves", "paths", "removed", "fell", "waves")


def test_every_table_has_its_rows() -> None:
    assert [len(rows) for rows in (EXAMPLES, WAVES, DEALS, PERFT)] == [10, 3, 3, 24]


@all_of("row", EXAMPLES)
def test_a_worked_example(row: list[str]) -> None:
    board, picture, move, removed, fell, waves, after = row
    expected = (after, int(removed), int(fell), int(waves))
    assert oracle.play(board, int(move), int(picture)) == expected
    p0, p1, p2, gone, off, count = rules.play(*parse_board(board), int(move), int(picture))
    assert (format_board((p0, p1, p2)), gone, off, count) == expected


def test_the_waves_of_the_last_example() -> None:
    board, picture, move, *_, after = EXAMPLES[-1]
    grid = oracle.grid_of(board)
    oracle.insert(grid, int(move), int(picture))
    for _, before, run, fallen in WAVES:
        assert oracle.text_of(grid) == before
        cells = oracle.cells_of_runs(grid)
        colours = {str(grid[row][column]) for row, column in cells}
        line = {column for _, column in cells} if "column" in run else {row for row, _ in cells}
        assert line == ({int(run[-1]) - 1} if "column" in run else {4})
        assert (len(cells), colours) == (3, {run.split()[1]})
        for row, column in cells:
            grid[row][column] = 0
        oracle.fall(grid)
        assert oracle.text_of(grid) == fallen
    assert oracle.text_of(grid) == after


def test_the_rim_picture_has_every_move_at_its_place() -> None:
    """On a full board the new picture stands in the cell beside its number."""
    picture = re.search(r"```\n( +6 .*?)```", TEXT, re.DOTALL)
    assert picture is not None
    top, *lines = picture[1].splitlines()
    rim = {int(number): (0, column) for column, number in enumerate(top.split())}
    for row, line in enumerate(line for line in lines if "|   |" in line):
        left, right = re.findall(r"\d+", line)
        rim |= {int(left): (row, 0), int(right): (row, 4)}
    assert sorted(rim) == list(range(1, 16))
    for move, (row, column) in rim.items():
        grid = oracle.grid_of("12312/31231/23123/12312/31231")
        oracle.insert(grid, move, 7)
        assert grid[row][column] == 7, move


@pytest.mark.parametrize("row", DEALS, ids=str)
def test_a_published_deal(row: list[str]) -> None:
    seed, options, board, sequence = row
    game = make_game("insertion", dict(option.split("=") for option in options.split()))
    deal = game.deal(int(seed))
    assert (deal.board, deal.sequence) == (board, sequence)


@pytest.mark.parametrize("row", rows(PERFT, 2), ids=str)
def test_the_counted_move_tree(row: list[str]) -> None:
    board, sequence, moves, *expected = row
    assert moves in ("all", "distinct")
    found = perft(board, sequence, len(sequence), distinct=moves == "distinct")
    assert [str(number) for number in found] == expected


@pytest.mark.parametrize("row", [row for row in PERFT if row[2] == "all" and len(row[1]) <= 2], ids=str)
def test_the_oracle_counts_the_same(row: list[str]) -> None:
    board, sequence, _, *expected = row
    assert [str(number) for number in oracle.perft(board, sequence, len(sequence))] == expected


def test_the_vectors_have_the_fields_the_page_names() -> None:
    first = json.loads((PROTOCOL / "vectors" / "insertion.jsonl").read_text().splitlines()[0])
    for name in ("board", "sequence", "colours", "totals", "plies"):
        assert f"`{name}`" in TEXT
        assert name in first
    assert "[move, colour, points, removed, fell, waves, board after]" in TEXT
    assert len(first["plies"][0]) == 7


def test_the_numbers_in_the_text_are_those_of_the_code() -> None:
    game = make_game("insertion", {})
    assert f"{game.options()['plies']} plies by default" in TEXT
    assert "at most\n  60,000" in TEXT
    make_game("insertion", {"plies": 60_000})
    assert f"`lookahead=`, {game.options()['lookahead']} by" in TEXT
    assert f"with move **{game.zombie_move}** on every ply" in TEXT
    assert f"earns {rules.POINTS_A_CELL} points for each cell" in TEXT


def table_below(head: str) -> list[list[str]]:
    assert TEXT.count(head + "\n") == 1, head
    rows = TEXT.split(head + "\n")[1].split("\n\n")[0].splitlines()[1:]
    return [[cell.strip(" `") for cell in row.strip("|").split("|")] for row in rows]


KINDS = table_below("| game | GAME carries | STATE | a move | zombie move |")
PLAYED = table_below("| game | options | moves | STATE at the end | end | totals |")
OPENINGS = table_below("| seed | options | board |")


def options(text: str) -> dict[str, str]:
    return dict(item.split("=") for item in text.split())


def test_every_table_of_games_has_its_rows() -> None:
    assert [row[0] for row in KINDS] == [name for name in GAMES if name != "insertion"]
    assert [len(rows) for rows in (PLAYED, OPENINGS)] == [12, 2]


@all_of("row", PLAYED)
def test_a_game_of_the_table(row: list[str]) -> None:
    name, given, moves, state, end, totals = row
    game = make_game(name, options(given))
    position = game.start(game.deal(1))
    for move in moves.split():
        assert game.end(position) is None
        assert game.is_legal(position, move)
        position = game.play(position, move).position
    assert (game.state_text(position), game.end(position)) == (state, end)
    assert ",".join(map(str, game.totals(position))) == totals
    assert game.start(Deal(state)) == position


@pytest.mark.parametrize("row", OPENINGS, ids=str)
def test_an_opening_of_the_table(row: list[str]) -> None:
    seed, given, board = row
    assert make_game("xo", options(given)).deal(int(seed)).board == board


@pytest.mark.parametrize("row", KINDS, ids=lambda row: row[0])
def test_the_table_of_games(row: list[str]) -> None:
    name, carries, _, _, zombie = row
    game = make_game(name, {})
    keys = set(re.findall(r"`?(\w+)=", carries))
    assert keys == GAMES[name].OPTIONS - {"seats"}
    assert set(game.options()) <= keys
    assert (game.zombie_move is None) == ("forfeit" in zombie)
    assert game.zombie_move is None or game.zombie_move == zombie
    for key, default in re.findall(r"(\w+)=[^,]*?\((\d+)\)", carries):
        assert game.options()[key] == default


def test_every_game_has_a_section() -> None:
    decided = TEXT.partition("\n# Games that are won, lost or drawn\n")[2]
    sections = re.findall(r"^## (.*)$", decided, re.MULTILINE)
    assert sections[:4] == ["XO", "Tic-tac-toe", "The disc game", "Last coin loses"]
    assert sections[-1].startswith("Reference games")
    assert len(sections) - 1 == len(KINDS)
