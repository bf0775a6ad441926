"""Games against the program of 1970 as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_museum.program1970.gametext import PaperGame, format_game, parse_game
from arena_protocol.games.base import GameError
from arena_protocol.games.mnk import board_of

THRESHOLDS = "3.5/3.5/3.5/3.5/4/4/5"
WON = PaperGame(10, THRESHOLDS, True, ("a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2", "e1"))


@given(st.integers(10, 14), st.booleans(), st.data())
def test_what_is_formatted_is_read_back(size: int, machine_begins: bool, data: st.DataObject) -> None:
    moves: list[str] = []
    game = PaperGame(size, THRESHOLDS, machine_begins)
    for move in data.draw(st.lists(st.sampled_from(list(board_of(size).cells)), unique=True, max_size=40)):
        if game.rules.end(game.positions()[-1]) is None:
            moves.append(move)
            game = PaperGame(size, THRESHOLDS, machine_begins, tuple(moves))
    assert parse_game(format_game(game)) == game


def test_a_won_game_in_full() -> None:
    assert format_game(WON) == (
        "XO 10x10, 3.5/3.5/3.5/3.5/4/4/5\n №   М X   П O\n 1   a1    a2\n 2   b1    b2\n"
        " 3   c1    c2\n 4   d1    d2\n 5   e1\nМ wins\n"
    )
    assert PaperGame(10, THRESHOLDS, False, WON.moves).result() == "П wins"
    assert PaperGame(10, THRESHOLDS, False, WON.moves[:-1]).result() == "unfinished"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "a game of XO begins with a line such as 'XO 10x10, 3.5/3.5/3.5/3.5/4/4/5'"),
        ("XO 99x99, 5/5\n\n\n", "a game of XO begins with a line such as"),
        (
            format_game(WON).replace("М wins", "П wins"),
            "line 8 of a game of XO: expected 'М wins', got 'П wins'",
        ),
        (format_game(WON).replace(" 2 ", " 3 "), "line 4 of a game of XO: expected ' 2   b1    b2'"),
        (format_game(WON).replace("c1", "a1"), "a1 is taken"),
        (format_game(WON).replace("10x10", "10x11"), "line 1 of a game of XO: expected 'XO 10x10"),
    ],
)
def test_another_text_is_refused(text: str, error: str) -> None:
    with pytest.raises(GameError) as refused:
        parse_game(text)
    assert str(refused.value).startswith(error)
