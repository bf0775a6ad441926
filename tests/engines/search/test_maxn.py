"""Max^n against its definition."""

from __future__ import annotations

import pytest
from tests.slices import rows

from arena_engines.search.adapters import AllSeats, TwoSides
from arena_engines.search.maxn import SharedNode, maxn
from arena_engines.search.minimax import minimax
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal
from arena_protocol.games.insertion import Insertion

from .toys import ManyToy, Path


def best_for_each(toy: ManyToy, position: Path, depth: int) -> tuple[tuple[int, ...], Path]:
    """Max^n by its definition, from lists."""
    moves = toy.moves(position) if depth else []
    if not moves:
        return toy.horizon(position), ()
    answers = []
    for move in moves:
        child, gains = toy.play(position, move)
        values, line = best_for_each(toy, child, depth - 1)
        answers.append((tuple(a + b for a, b in zip(gains, values, strict=True)), (move, *line)))
    return max(answers, key=lambda answer: answer[0][toy.to_move(position)])


@pytest.mark.parametrize("toys", rows([120, 500], 2))
@pytest.mark.parametrize("seats", [1, 2, 3, 4])
def test_maxn_is_best_for_each_in_turn(seats: int, toys: int) -> None:
    for seed in range(toys):
        toy = ManyToy(seed, seats)
        told: list[SharedNode] = []
        found = maxn(toy, (), 5, told.append)
        assert (found.values, found.line) == best_for_each(toy, (), 5)
        assert found.nodes == len(told) == len({node.path for node in told})
        assert all(node.seat == toy.to_move(node.path[:-1]) for node in told)


def test_maxn_of_two_rivals_is_minimax() -> None:
    game = make_game("disc", {"m": 9})
    for state in ("0/1/1", "3/2/2", "5/6/1", "2/3/1"):
        position = game.start(Deal(state))
        seat = game.to_move(position)
        wins = maxn(AllSeats(game), position, 12).values[seat - 1] > 0
        assert wins == (minimax(TwoSides(game, seat), position, 12).value > 0)


def test_three_seats_of_insertion_each_for_itself() -> None:
    game = Insertion.from_options({"seats": 3, "plies": 9, "colours": 3, "start": "empty"})
    position = game.start(game.deal(4))
    for move in ("7", "8", "7", "8", "9", "9"):
        position = game.play(position, move).position
    seats = AllSeats(game)
    found = maxn(seats, position, 3)
    assert found.nodes == 15 + 15**2 + 15**3
    end = position
    for move in found.line:
        end = game.play(end, move).position
    assert found.values == tuple(b - a for a, b in zip(position.totals, end.totals, strict=True))
    mine = []
    for move in game.legal_moves(position):
        child, gains = seats.play(position, move)
        mine.append(gains[0] + maxn(seats, child, 2).values[0])
    assert found.values[0] == max(mine)
    assert found.line[0] == game.legal_moves(position)[mine.index(max(mine))]
