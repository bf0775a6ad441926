"""Positions from played games, on which the engines are compared."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

import pytest

from arena_engines.insertion.baselines import Greedy
from arena_protocol.games.insertion import Insertion

from .positions import at

if TYPE_CHECKING:
    from arena_engines.insertion.fixed_depth import InsertionPosition


class Case(NamedTuple):
    """One position as an analysis takes it."""

    board: str
    visible: str
    colours: int

    @property
    def position(self) -> InsertionPosition:
        return at(self.board, self.visible)


def played_game(seed: int, colours: int, start: str, plies: int = 48) -> list[Case]:
    """A game of a greedy seat against a random one, every third position of it."""
    game = Insertion.from_options({"colours": colours, "start": start, "plies": plies + 12})
    position = game.start(game.deal(seed))
    chance = random.Random(seed)
    cases = []
    for ply in range(plies):
        if ply % 3 == 0:
            cases.append(Case(position.board, position.visible[:10], colours))
        greedy = Greedy().analyse(at(position.board, position.visible), 1).move
        move = greedy if ply % 2 else chance.randint(1, 15)
        position = game.play(position, str(move)).position
    return cases


@pytest.fixture(scope="session")
def cases() -> list[Case]:
    """240 positions: 3 to 7 colours, boards full, half empty and sparse."""
    starts = ("full", "partial", "empty")
    return [
        case
        for colours in range(3, 8)
        for number, start in enumerate(starts)
        for case in played_game(100 * colours + number, colours, start)
    ]
