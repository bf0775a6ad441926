"""Moves that follow from earlier moves are no random ones, whatever the board is."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from arena_engines.engine import Engine
from arena_engines.insertion.baselines import Random
from arena_engines.insertion.fixed_depth import InsertionPosition
from arena_engines.insertion.master.engine import HABIT_RATE
from arena_engines.insertion.master.habits import Habits

from .games import master, positions

#: By my last move and its own.
RULES: dict[str, Callable[[int, int], int]] = {
    "copies": lambda mine, own: mine or 1,
    "mirrors": lambda mine, own: 16 - mine if mine else 1,
    "counts": lambda mine, own: 1 + (own + 3) % 15,
    "stays": lambda mine, own: 11,
}


class Counter(Engine):
    """Inserts four places further each time."""

    game = "insertion"
    name = "counter"

    def warm_up(self) -> None:
        """Nothing is compiled."""

    def choose(self, position: InsertionPosition) -> int:
        return 1 + len(position.moves) // 2 * 4 % 15


def rates(rule: Callable[[int, int], int], seed: int, moves: int = 100) -> list[float]:
    """The rates after each move of a game against a random player."""
    habits, chance, found = Habits(), random.Random(seed), []
    mine = own = 0
    for _ in range(moves):
        own = rule(mine, own)
        habits.note(mine, own)
        found.append(habits.rate)
        mine = chance.randint(1, 15)
    return found


@pytest.mark.parametrize("name", RULES)
def test_a_habit_is_found_within_eight_moves(name: str) -> None:
    for seed in range(20):
        found = rates(RULES[name], seed)
        assert min(found[8:]) > HABIT_RATE
        assert found[-1] > 0.9


def test_a_random_player_has_hardly_ever_one() -> None:
    chance = random.Random(1)
    found = [rate for seed in range(40) for rate in rates(lambda *_: chance.randint(1, 15), seed)]
    assert sum(rate >= HABIT_RATE for rate in found) <= len(found) / 500


@pytest.mark.parametrize(
    ("opponent", "text"),
    [(Counter({}), "against the worst reply"), (Random({"seed": 4}), "against random replies")],
)
def test_only_an_opponent_without_habits_is_planned_against_as_a_random_player(
    opponent: Engine, text: str
) -> None:
    player = master()
    said = []
    for position in positions(opponent, plies=60):
        player._tracker.follow(position, lambda: False)
        said.append(player._reason(player._model(position)))
    assert sum(each.startswith(text) for each in said[12:]) >= 12
    assert "random" in text or not any("random" in each for each in said[12:])
