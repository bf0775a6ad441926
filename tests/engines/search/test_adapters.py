"""Games of the arena as trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from arena_engines.search.adapters import TwoSides
from arena_engines.search.alphabeta import alphabeta
from arena_engines.search.minimax import minimax
from arena_protocol.games import make_game
from arena_protocol.games.base import WIN_POINTS, Deal, GameError
from arena_protocol.games.insertion import Insertion


def test_tic_tac_toe_is_a_draw_and_the_disc_game_the_first_players() -> None:
    for name, options, value in (
        ("tictactoe", {"size": 3}, 0),
        ("disc", {"m": 13}, WIN_POINTS),
        ("lastcoin", {"coins": 7}, -WIN_POINTS),
    ):
        game = make_game(name, options)
        assert alphabeta(TwoSides(game), game.start(game.deal(0)), 20).value == value
        assert alphabeta(TwoSides(game, 2), game.start(game.deal(0)), 20).value == -value


@pytest.mark.parametrize("search", [minimax, alphabeta])
def test_a_game_that_hides_pictures_is_searched_as_far_as_they_are_known(
    search: Callable[..., Any],
) -> None:
    game = Insertion.from_options({"plies": 10, "lookahead": 2})
    deal = game.deal(3)
    position = game.start(Deal(deal.board, game.preview(deal)))
    assert search(TwoSides(game), position, 2).nodes > 15
    with pytest.raises(GameError, match="the picture of ply 3 is not known"):
        search(TwoSides(game), position, 3)
