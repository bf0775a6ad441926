"""Every game obeys the common laws, with small and large options; a new game is entered here."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol.games import GAMES, make_game, title_of
from arena_protocol.games.base import (
    Deal,
    Game,
    GameError,
    Step,
    draw_below,
    draw_bytes,
    draw_some,
)
from arena_protocol.games.disc import Disc
from arena_protocol.games.lastcoin import LastCoin
from arena_protocol.games.mnk import TicTacToe
from arena_protocol.testing import LAWS, Law, check

#: Every game with its defaults, and with options that make it small, large or different.
UNDER_LAW = [
    *(make_game(name, {}) for name in GAMES),
    make_game("insertion", {"plies": 1, "lookahead": 1}),
    make_game("insertion", {"plies": 7, "colours": 3, "lookahead": 3}),
    make_game("insertion", {"plies": 12, "colours": 7, "lookahead": 500, "start": "empty"}),
    make_game("insertion", {"plies": 31, "seats": 3, "start": "partial", "lookahead": 1}),
    make_game("insertion", {"plies": 30, "seats": 4, "colours": 4, "start": "partial"}),
    make_game("insertion", {"plies": 25, "board": "...../....1/2...2/1...1/12312", "colours": 3}),
    make_game("xo", {"size": 14, "opening": 4}),
    make_game("tictactoe", {"size": 4}),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@all_of("game", UNDER_LAW)
def test_law(game: Game[Any], law: Law) -> None:
    check(law, game, 3)


@pytest.mark.soak
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("game", UNDER_LAW, ids=lambda game: f"{game.name}-{game.seats}-{game.options()}")
def test_law_by_many_examples(game: Game[Any], law: Law) -> None:
    check(law, game, 100)


def test_an_unknown_game_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(GameError) as refused:
        make_game("chess", {})
    assert str(refused.value) == f"no game 'chess'; this version has: {', '.join(sorted(GAMES))}"


def test_games_in_words() -> None:
    for name in ("insertion", "xo", "tictactoe", "disc", "lastcoin"):
        assert GAMES[name].title == title_of(name)
        assert title_of(name)[0].isupper()
    assert title_of("chess960") == "chess960"


def test_an_unknown_option_is_ignored_from_a_server_and_refused_from_a_person() -> None:
    assert (
        make_game("xo", {"size": "12", "wind": "north"}).options()
        == make_game("xo", {"size": "12"}).options()
    )
    with pytest.raises(GameError) as refused:
        make_game("xo", {"wind": "north"}, allow_unknown=False)
    assert str(refused.value) == f"xo has no option 'wind'; it has: {', '.join(sorted(GAMES['xo'].OPTIONS))}"


class Smallest(Game[int]):
    """What a plug-in must define; it inherits the rest."""

    name = "smallest"
    zombie_move = None
    seats = 3
    OPTIONS = frozenset()

    @classmethod
    def from_options(cls, options: object) -> Smallest:
        return cls()

    def options(self) -> dict[str, str]:
        return {}

    def deal(self, seed: int) -> Deal:
        return Deal("0")

    def start(self, deal: Deal) -> int:
        return int(deal.board)

    def state_text(self, position: int) -> str:
        return str(position)

    def to_move(self, position: int) -> int:
        return 1

    def legal_moves(self, position: int) -> tuple[str, ...]:
        return ("go",)

    def play(self, position: int, move: str) -> Step[int]:
        return Step(position + 1, 0)

    def totals(self, position: int) -> tuple[int, ...]:
        return (0, 0, 0)

    def end(self, position: int) -> str | None:
        return None


def test_a_game_that_hides_nothing_inherits_the_rest() -> None:
    game = Smallest.from_options({})
    deal = game.deal(1)
    assert (game.preview(deal), game.reveal(deal, 1)) == (None, None)
    assert game.waves(game.start(deal), "1") == 0
    assert game.extend(5, "unasked") == 5
    assert game.is_legal(5, "go")
    assert not game.is_legal(5, "stop")
    assert game.forfeit(5, 2) == (1, 0, 1)


@pytest.mark.parametrize(
    ("name", "text"),
    [("insertion", "11-15 push"), ("xo", "5 in a line"), ("disc", "reaches 13"), ("lastcoin", "loses")],
)
def test_the_brief_of_a_game(name: str, text: str) -> None:
    assert text in make_game(name, {}).brief()


def test_the_brief_is_empty_by_default() -> None:
    assert Game.brief(make_game("disc", {})) == ""


def test_draws_are_even_and_never_repeat_an_item() -> None:
    draws = draw_bytes("test", 1)
    numbers = [draw_below(draws, 3) for _ in range(3000)]
    assert all(900 < numbers.count(number) < 1100 for number in range(3))
    assert sorted(draw_some(draws, range(200), 200)) == list(range(200))


@all_of(
    ("name", "options", "text"),
    [
        ("tictactoe", {"size": 5}, "tictactoe: size is a whole number from 3 to 4, not 5"),
        ("tictactoe", {"win": "4"}, "tictactoe: win is 3, not 4"),
        ("tictactoe", {"size": 4, "win": 5}, "tictactoe: win is a whole number from 3 to 4, not 5"),
        ("disc", {"m": "0"}, "disc: m is a whole number from 1 to 1000, not 0"),
        ("disc", {"m": True}, "disc: m is a whole number from 1 to 1000, not True"),
        ("lastcoin", {"coins": "many"}, "lastcoin: coins is a whole number from 1 to 1000, not 'many'"),
        ("lastcoin", {"seats": 3}, "lastcoin: seats is 2, not 3"),
        ("disc", {"seats": "1"}, "disc: seats is 2, not 1"),
        ("tictactoe", {"seats": 4}, "tictactoe: seats is 2, not 4"),
    ],
)
def test_an_impossible_option_is_refused(name: str, options: dict[str, object], text: str) -> None:
    with pytest.raises(GameError) as refused:
        make_game(name, options)
    assert str(refused.value) == text


@given(st.sampled_from([TicTacToe(3, 3), TicTacToe(4, 3), Disc(40), LastCoin(30)]), st.data())
def test_a_forfeit_is_worth_a_win_of_the_other_seat(game: Game[Any], data: st.DataObject) -> None:
    position = game.start(game.deal(0))
    seat = data.draw(st.sampled_from([1, 2]))
    totals = game.forfeit(position, seat)
    assert totals[2 - seat] == 2
    assert sum(totals) == 2


@given(st.sampled_from([TicTacToe(3, 3), TicTacToe(4, 4), Disc(30), LastCoin(20)]), st.data())
def test_a_finished_game_shares_two_points(game: Game[Any], data: st.DataObject) -> None:
    position = game.start(game.deal(0))
    while moves := game.legal_moves(position):
        assert game.totals(position) == (0, 0)
        position = game.play(position, data.draw(st.sampled_from(moves))).position
    assert game.end(position) in ("win", "draw")
    assert sum(game.totals(position)) == 2
