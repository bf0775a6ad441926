"""What the restarts of bots know of the games of a contest in this process."""

from __future__ import annotations

import asyncio

import pytest

from arena_server.core.events import Abandoned, Event
from arena_server.core.log_events import GameOver, GameResumed, GameStarted
from arena_server.places.games import ObservedGames

pytestmark = pytest.mark.asyncio


class Contest:
    """Takes what a hosted contest takes."""

    def __init__(self) -> None:
        self.fed: list[Event] = []

    def feed(self, event: Event) -> None:
        self.fed.append(event)


async def test_a_game_is_known_from_its_start_to_its_end() -> None:
    games = ObservedGames(Contest().feed)
    games.happened(GameStarted("g1", ("ann", "bob"), ()))
    games.happened(GameResumed("g2", ("ann", "cid"), 3, (2, 1)))
    assert await games.game_of("ann", 1) == await games.game_of("bob", 1) == "g1"
    assert await games.game_of("ann", 2) == await games.game_of("cid", 1) == "g2"
    assert await games.game_of("bob", 2) is None
    games.happened(GameOver("g1", "complete", (1, 2)))
    assert await games.game_of("ann", 1) is None


async def test_a_game_is_abandoned_until_it_is_over() -> None:
    games = ObservedGames((contest := Contest()).feed)
    games.happened(GameStarted("g1", ("ann", "bob"), ()))
    await games.abandon("ann", 2, "g1", "")  # a slot that is not in it
    await games.abandon("ann", 1, "g0", "")  # a game that is over
    assert contest.fed == []
    waiting = asyncio.create_task(games.abandon("ann", 1, "g1", ""))
    await asyncio.sleep(0)
    assert contest.fed == [Abandoned("ann", 1, "g1")]
    assert not waiting.done()
    games.happened(GameOver("g1", "complete", (1, 2)))
    await waiting
