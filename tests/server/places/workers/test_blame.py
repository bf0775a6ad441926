"""Whose fault it is that workers give games back, and what follows from it."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random
from types import SimpleNamespace
from typing import Any, cast

from tests.server.places.workers.programs import job
from tests.slices import all_of

from arena_server.core.events import Command, Event, NotPlayed
from arena_server.errors import ArenaError
from arena_server.host.log_events import WorkerMessage
from arena_server.places.base import LocalBot
from arena_server.places.workers.base import JobOutcome, Workers
from arena_server.places.workers.blame import (
    MOST_ATTEMPTS,
    MOST_DROPPED,
    Drop,
    GiveUp,
    LostGames,
    Remove,
    Verdict,
)
from arena_server.places.workers.dispatch import Dispatcher
from arena_server.terms.config import ContestConfig

BOTS = ["ann", "bea", "cyd", "dan"]
LOST = JobOutcome(None, "its process ended by signal 9")


def lose(games: LostGames, game: str, *names: str) -> Verdict:
    """A game is given back as often as it may be; only the last time something follows."""
    for _ in range(MOST_ATTEMPTS - 1):
        assert games.given_back(game, names) is None
    return games.given_back(game, names)


@all_of("seed", range(50))
def test_the_bot_that_ends_its_workers_is_removed_and_no_other(seed: int) -> None:
    random = Random(seed)
    killer = random.choice(BOTS)
    schedule = list(enumerate(combinations(BOTS, 2)))
    random.shuffle(schedule)
    games, verdicts = LostGames(BOTS), list[Verdict]()
    for number, names in schedule:
        if any(isinstance(each, Remove) for each in verdicts):
            break
        lost = killer in names
        verdicts.append(lose(games, f"g{number}", *names) if lost else games.played(f"g{number}", names))
    *before, last = [each for each in verdicts if each is not None]
    assert isinstance(last, Remove)
    assert last.bot == killer
    assert len(last.dropped) == len(before) == sum(isinstance(each, Drop) for each in before)


def test_the_evidence_names_the_games_and_the_bot() -> None:
    games = LostGames(BOTS)
    games.played("g1", ["bea", "cyd"])
    games.given_back("g3", ["ann", "dan"])
    assert lose(games, "g2", "ann", "bea") == Remove(
        "ann", "g3 was given back once, g2 was given back 5 times; ann played in all of them", ()
    )
    assert games.given_back("g4", ["bea", "cyd"]) is None


def test_a_game_that_is_played_at_last_is_no_evidence() -> None:
    games = LostGames(BOTS)
    games.given_back("g1", ["cyd", "dan"])
    assert games.played("g1", ["cyd", "dan"]) is None
    assert isinstance(lose(games, "g2", "ann", "bea"), Drop)


def test_no_bot_is_removed_if_no_game_is_played_at_all() -> None:
    games = LostGames(BOTS)
    for number in range(MOST_DROPPED):
        assert isinstance(lose(games, f"g{number}", "ann", BOTS[1 + number % 3]), Drop)
    assert isinstance(lose(games, "last", "ann", "bea"), GiveUp)


def test_games_without_a_bot_in_common_are_the_fault_of_the_workers() -> None:
    games = LostGames(BOTS)
    assert isinstance(lose(games, "g1", "ann", "bea"), Drop)
    last = lose(games, "g2", "cyd", "dan")
    assert last == GiveUp(
        "g1 was given back 5 times, g2 was given back 5 times; no bot played in all of them"
    )


class Contest(SimpleNamespace):
    """What a dispatcher does to its contest."""

    def __init__(self) -> None:
        spec = SimpleNamespace(config=ContestConfig(name="test", seed=0))
        super().__init__(spec=spec, database=None, results=0)
        self.events: list[Event] = []
        self.lines: list[str] = []
        self.failed: list[str] = []

    def feed(self, event: Event) -> None:
        self.events.append(event)

    def log(self, event: object) -> None:
        assert isinstance(event, WorkerMessage)
        self.lines.append(f"{event.worker}: {event.text}")

    def fail(self, error: ArenaError) -> None:
        self.failed.append(str(error))


def _dispatched(*bots: str) -> tuple[Contest, Dispatcher]:
    contest = Contest()
    programs = {name: LocalBot(name, ["true"], "") for name in bots}
    pool: Any = None
    return contest, Dispatcher(Workers(pool=pool, bots=programs, engines={}, lease_ms=1), cast(Any, contest))


def _lose(dispatcher: Dispatcher, game: str, *names: str, times: int = MOST_ATTEMPTS) -> None:
    lost = replace(job(game), bots=[LocalBot(name, ["true"], "") for name in names])
    for _ in range(times):
        dispatcher.ended(lost, LOST, "w1", "here")


def test_what_follows_is_done_by_orders() -> None:
    contest, dispatcher = _dispatched(*BOTS)
    _lose(dispatcher, "g1", "ann", "bea")
    assert [type(each) for each in contest.events] == [NotPlayed] * (MOST_ATTEMPTS - 1) + [Command]
    dispatcher._judge(dispatcher._lost.played("g2", ["bea", "cyd"]), "g2", "w2", "")
    orders = [each for each in contest.events if isinstance(each, Command)]
    assert [(each.verb, each.target, each.who) for each in orders] == [
        ("void", "g1", "arena"),
        ("replay", "g1", "arena"),
        ("kick", "ann", "arena"),
    ]
    assert all(0 < len(each.reason) <= 300 and each.at > 0 for each in orders)
    assert contest.lines == [
        "w1: game g1 failed there: its process ended by signal 9",
        "w1: g1 is not played again: g1 was given back 5 times; ann and bea played in all of them: "
        "its process ended by signal 9",
        "w2: bot ann is removed: g1 was given back 5 times; ann and bea played in all of them",
    ]
    assert contest.failed == []


def test_two_bots_alone_end_the_contest() -> None:
    contest, dispatcher = _dispatched("ann", "bea")
    _lose(dispatcher, "g1", "ann", "bea")
    assert contest.failed == [
        "g1 was given back 5 times; ann and bea played in all of them; last by w1: "
        "its process ended by signal 9"
    ]
