"""Every game under the common laws, with options small and large; a new game is entered here."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_protocol.games import GAMES, make_game
from arena_protocol.games.base import Deal, Game, GameError, Rim, Step

from .laws import LAWS, Law

UNDER_LAW = [
    make_game("insertion", {}),
    make_game("insertion", {"plies": 1, "lookahead": 1}),
    make_game("insertion", {"plies": 7, "colours": 3, "lookahead": 3}),
    make_game("insertion", {"plies": 12, "colours": 7, "lookahead": 500, "start": "empty"}),
    make_game("insertion", {"plies": 31, "seats": 3, "start": "partial", "lookahead": 1}),
    make_game("insertion", {"plies": 30, "seats": 4, "colours": 4, "start": "partial"}),
    make_game("insertion", {"plies": 25, "board": "...../....1/2...2/1...1/12312", "colours": 3}),
    make_game("xo", {}),
    make_game("xo", {"size": 14, "opening": 4}),
    make_game("tictactoe", {}),
    make_game("tictactoe", {"size": 4}),
    make_game("disc", {}),
    make_game("lastcoin", {}),
]


def test_every_game_of_the_registry_is_under_law() -> None:
    assert {game.name for game in UNDER_LAW} == set(GAMES)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("game", UNDER_LAW, ids=lambda game: f"{game.name}-{game.seats}-{game.options()}")
def test_law(game: Game[Any], law: Law) -> None:
    @settings(max_examples=12)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        law(game, data)

    holds()


def test_an_unknown_game_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(GameError) as refused:
        make_game("chess", {})
    assert str(refused.value) == f"no game 'chess'; this version has: {', '.join(sorted(GAMES))}"


def test_an_option_that_nobody_knows_is_a_newer_servers_or_a_persons_mistake() -> None:
    assert (
        make_game("xo", {"size": "12", "wind": "north"}).options()
        == make_game("xo", {"size": "12"}).options()
    )
    with pytest.raises(GameError) as refused:
        make_game("xo", {"wind": "north"}, strangers=False)
    assert str(refused.value) == f"xo has no option 'wind'; it has: {', '.join(sorted(GAMES['xo'].OPTIONS))}"


class Smallest(Game[int]):
    """What a plug-in must write itself; all the rest it inherits."""

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
    assert game.extend(5, "unasked") == 5
    assert game.is_legal(5, "go")
    assert not game.is_legal(5, "stop")
    assert game.forfeit(5, 2) == (1, 0, 1)


@pytest.mark.parametrize(
    ("name", "told"),
    [("insertion", "11-15 push"), ("xo", "5 in a line"), ("disc", "reaches 13"), ("lastcoin", "loses")],
)
def test_what_a_person_is_told_of_a_game(name: str, told: str) -> None:
    assert told in make_game(name, {}).brief()


def test_the_moves_stand_around_the_board() -> None:
    rim = make_game("insertion", {}).rim()
    assert (rim.left[-1], rim.left[0], rim.top[0], rim.top[-1]) == ("1", "5", "6", "10")
    assert (rim.right[0], rim.right[-1], rim.bottom) == ("11", "15", ())
    cells = make_game("tictactoe", {}).rim()
    assert (cells.bottom, cells.left, cells.top, cells.right) == (("a", "b", "c"), ("3", "2", "1"), (), ())


def test_a_game_need_not_tell_a_person_anything() -> None:
    game = make_game("disc", {})
    assert game.rim() == Rim()
    assert Game.brief(game) == ""
