"""A contest with a dead bot takes as long as the games of the dead bot, and the others stay level with it."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from tests.simulation.bots import Honest
from tests.simulation.network import CALM, MS, SECOND
from tests.simulation.world import World

from arena_server.terms.config import ContestConfig

from ..slices import rows

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


@cache
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
        assert max(games.values()) - min(games.values()) <= 3
    # Its own games follow each other: nothing else makes the contest longer.
    assert last(world) <= FIELD * GAMES * (BANK + GAME) + last(play())
    assert {str(fault.kind) for record in world.records.values() for fault in record.faults} == {"timeout"}


def test_with_probation_it_holds_up_three_games() -> None:
    world = play(Dead, probation=3)
    assert sum(bool(record.faults) for record in world.records.values()) == 3
    assert last(world) <= 3 * (BANK + GAME) + 2 * last(play())


#: A slow bot thinks fifty times longer; of the ten plies of a game it has five.
SLOWER = 50
SLOW_GAME = 5 * SLOWER * 10 * MS + GAME
EIGHT = [f"bot{number}" for number in range(8)]


class Slow(Steady):
    def answer(self, line: str) -> None:
        self.wire.say(line, SLOWER * 10 * MS)


@cache
def field_of(name: str, slow: str | None) -> World:
    """A contest of this format of eight bots, of which one may be slow; look at it only."""
    kinds: dict[str, type[Honest]] = {bot: Slow if bot == slow else Steady for bot in EIGHT}
    config = ContestConfig(
        name="field",
        seed=1,
        options={"plies": 10},
        games_per_pair=GAMES,
        clock_ms=20_000,
        format=name,
        format_options=FORMATS_OF_TWO[name],
    )
    world = World(1, config, kinds, CALM)
    world.run(3600 * SECOND, dict.fromkeys(kinds, 0))
    return world


def with_one_slow(name: str, slow: str) -> tuple[int, World]:
    """How long the contest takes if no bot is slow, and the contest in which `slow` is."""
    return last(field_of(name, None)), field_of(name, slow)


FORMATS_OF_TWO: dict[str, dict[str, int | str]] = {
    "round-robin": {},
    "swiss": {},
    "gauntlet": {"challengers": 2},
    "ladder": {"games": 60},
    "groups": {"groups": 2},
    "knockout": {},
}


@pytest.mark.parametrize("slow", rows(["bot7", "bot0"], 2))
@pytest.mark.parametrize("name", rows(FORMATS_OF_TWO, 3))
def test_a_slow_bot_costs_its_own_games_and_no_more(name: str, slow: str) -> None:
    """They follow each other: in no format is anything waited for beside them and the contest without it."""
    alone, world = with_one_slow(name, slow)
    own = sum(slow in record.names for record in world.records.values())
    assert own
    assert last(world) <= own * SLOW_GAME + alone


@pytest.mark.parametrize(
    ("name", "slow"), rows([("ladder", "bot0"), ("gauntlet", "bot7"), ("gauntlet", "bot0")], 3)
)
def test_without_a_barrier_the_others_lose_only_their_own_games_with_it(name: str, slow: str) -> None:
    alone, world = with_one_slow(name, slow)
    ended = world.checker.ended
    others = [ended[game] for game in ended if slow not in world.records[game].names]
    most = max(
        sum({slow, other} == set(record.names) for record in world.records.values()) for other in EIGHT
    )
    assert max(others) <= most * SLOW_GAME + alone


def test_the_groups_do_not_wait_for_each_other() -> None:
    """Games of other groups end as if no bot were slow; those of its own wait for the games against it."""
    alone, world = with_one_slow("groups", "bot0")
    ended = world.checker.ended
    of_groups = [f"g{number}" for number in range(1, 2 * 6 * GAMES + 1)]
    mates = {name for game in of_groups if "bot0" in (names := world.records[game].names) for name in names}
    assert len(mates) == 4
    elsewhere = [ended[game] for game in of_groups if mates.isdisjoint(world.records[game].names)]
    assert max(elsewhere) <= alone
    beside = [ended[game] for game in of_groups if "bot0" not in world.records[game].names]
    assert max(beside) <= GAMES * SLOW_GAME + alone
