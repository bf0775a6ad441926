"""The epoch of a game's rules: printed behind its options if it is not the first, and never mixed."""

from __future__ import annotations

import pytest
from tests.slices import all_of

from arena_protocol import messages as wire
from arena_protocol.games import GAMES, make_game, printed_game, printed_options
from arena_protocol.games.base import GameError
from arena_protocol.games.mnk import TicTacToe


@pytest.fixture
def second(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules of tictactoe have changed."""
    monkeypatch.setattr(TicTacToe, "EPOCH", 2)


@all_of("name", sorted(GAMES))
def test_the_first_epoch_is_not_printed(name: str) -> None:
    game = make_game(name, {})
    assert GAMES[name].EPOCH == 1
    assert printed_options(game) == game.options()
    assert printed_game(name, printed_options(game), game.seats) == game


@pytest.mark.usefixtures("second")
def test_a_later_epoch_stands_behind_the_options() -> None:
    game = make_game("tictactoe", {})
    printed = printed_options(game)
    assert list(printed.items()) == [*game.options().items(), ("epoch", "2")]
    assert printed_game("tictactoe", printed, 2) == game


@pytest.mark.usefixtures("second")
@pytest.mark.parametrize(
    ("printed", "epoch"), [({}, "1"), ({"epoch": "1"}, "1"), ({"epoch": "x" * 99}, "x" * 20)]
)
def test_rules_of_another_epoch_are_refused(printed: dict[str, str], epoch: str) -> None:
    with pytest.raises(GameError) as caught:
        printed_game("tictactoe", printed, 2)
    assert str(caught.value) == (f"tictactoe: its rules are of epoch {epoch}, and this version has epoch 2")


def test_a_game_that_is_not_known() -> None:
    with pytest.raises(GameError, match=r"^no game 'go'; this version has: "):
        printed_game("go", {}, 2)


def test_welcome_may_have_it() -> None:
    assert wire.parse_server(b"WELCOME a session=s resume=k") == wire.Welcome("a", "s", "k")
    line = "WELCOME a session=s resume=k epoch=2"
    assert wire.parse_server(line.encode()) == wire.Welcome("a", "s", "k", 2)
    assert wire.encode(wire.Welcome("a", "s", "k", 2)) == f"{line}\n".encode()
