"""A contest with a dead bot takes as long as the games of the dead bot, and the others stay level with it."""

from __future__ import annotations

from collections import Counter

from tests.simulation.bots import Honest
from tests.simulation.network import CALM, MS, SECOND
from tests.simulation.world import World

from arena_server.core.config import ContestConfig
from arena_server.core.formats.balance import AHEAD

BANK = 2 * SECOND
#: More than a game of two that think takes: ten plies of ten milliseconds.
GAME = 110 * MS
FIELD, GAMES = 6, 2


class Steady(Honest):
    """Thinks ten milliseconds a move."""

    def offered(self, game_id: str) -> None:
        self.wire.say(f"READY {game_id}")

    def answer(self, line: str) -> None:
        self.wire.say(line, 10 * MS)


class Dead(Steady):
    """Is ready, and never answers."""

    may = frozenset({"timeout"})

    def answer(self, line: str) -> None:
        pass


def play(*others: type[Honest], probation: int = 0) -> World:
    options = {"plies": 10}
    config = ContestConfig(
        name="field", seed=1, options=options, games_per_pair=GAMES, clock_ms=2000, probation=probation
    )
    kinds = {f"bot{number}": kind for number, kind in enumerate([Steady] * FIELD + list(others))}
    world = World(1, config, kinds, CALM)
    world.run(3600 * SECOND, dict.fromkeys(kinds, 0))
    return world


def last(world: World) -> int:
    """When the last game ended."""
    return max(world.checker.ended.values())


def test_alone_every_bot_plays_nearly_all_the_time() -> None:
    """Fifteen pairs of two games are ten for each bot; half as much again is all that waiting costs."""
    assert last(play()) <= (FIELD - 1) * GAMES * GAME * 3 // 2


def test_the_field_goes_at_the_pace_of_a_dead_bot_that_stays() -> None:
    """It is present: so no other bot gets far ahead of it, and its games are not left for the end."""
    world = play(Dead)
    checker = world.checker
    begun = sorted(checker.ended, key=lambda game: checker.ended[game] - checker.took[game])
    games = Counter(f"bot{number}" for number in range(FIELD + 1))
    for game in begun:
        games.update(world.records[game].names)
        assert max(games.values()) - min(games.values()) <= AHEAD + 1
    # Its own games follow each other: nothing else makes the contest longer.
    assert last(world) <= FIELD * GAMES * (BANK + GAME) + last(play())
    assert {str(fault.kind) for record in world.records.values() for fault in record.faults} == {"timeout"}


def test_with_probation_it_holds_up_three_games() -> None:
    world = play(Dead, probation=3)
    assert sum(bool(record.faults) for record in world.records.values()) == 3
    assert last(world) <= 3 * (BANK + GAME) + 2 * last(play())
