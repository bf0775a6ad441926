"""The sections of RULES.md on the games that are won, lost or drawn: every row of their tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from arena_protocol.games import GAMES, make_game
from arena_protocol.games.base import Deal

TEXT = (Path(__file__).parents[2] / "protocol" / "RULES.md").read_text()


def table(head: str) -> list[list[str]]:
    assert TEXT.count(head + "\n") == 1, head
    rows = TEXT.split(head + "\n")[1].split("\n\n")[0].splitlines()[1:]
    return [[cell.strip(" `") for cell in row.strip("|").split("|")] for row in rows]


KINDS = table("| game | GAME carries | STATE | a move | zombie move |")
PLAYED = table("| game | options | moves | STATE at the end | end | totals |")
OPENINGS = table("| seed | options | board |")


def options(text: str) -> dict[str, str]:
    return dict(item.split("=") for item in text.split())


def test_every_table_has_its_rows() -> None:
    assert [len(rows) for rows in (KINDS, PLAYED, OPENINGS)] == [4, 12, 2]


@pytest.mark.parametrize("row", PLAYED, ids=str)
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
    titles = {"insertion": "# Insertion", "xo": "## XO", "tictactoe": "## Tic-tac-toe"}
    titles |= {"disc": "## The disc game", "lastcoin": "## Last coin loses"}
    assert set(titles) == set(GAMES)
    assert all(f"\n{title}\n" in TEXT for title in titles.values())
