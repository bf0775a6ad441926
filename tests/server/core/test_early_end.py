"""A contest with `stop = "top:K"`: it ends early once and for all, and the decision is a fact.

The rule itself: `tests/server/stats/test_early_stop.py`.
"""

from __future__ import annotations

from typing import Any

from arena_server.core.events import Tick
from arena_server.core.formats import format_of
from arena_server.core.journal import Entry, Past
from arena_server.core.log_events import FieldSeparated
from arena_server.stats.results import PastGame
from arena_server.terms.config import ContestConfig, Entrant

from .contest_harness import ContestHarness, play_on

RULE: dict[str, Any] = {"stop": "top:1", "games_per_pair": 40}
#: A game of two bots is 1 of 40: the fourth look follows game 16, and needs 3.3 errors where there are 4.
LOOK = 16


def results(games: int) -> tuple[PastGame, ...]:
    """Ann has won the first games of the schedule."""
    config = ContestConfig(name="test", seed=7, **RULE)
    pairings = format_of(config, ("ann", "bob"), 2).planned(1, games + 1)
    totals = {"ann": 500, "bob": 10}
    return tuple(
        PastGame(
            each.number, each.names, each.deal, tuple(totals[name] for name in each.names), "complete", 4
        )
        for each in pairings
    )


def going_on(games: int, *entries: Entry) -> ContestHarness:
    """A contest of ann and bob that goes on after this many games, with both of them."""
    harness = ContestHarness("ann", "bob", past=Past(results(games), entries), **RULE)
    harness.event(Tick())
    harness.log_in("ann")
    harness.log_in("bob")
    return harness


def facts(harness: ContestHarness) -> list[Entry]:
    return [entry for entry in harness.durable().entries if entry[1] == "separated"]


DECISION: Entry = (0, "separated", LOOK, ("ann",))


def test_the_game_that_decides_is_the_last() -> None:
    harness = going_on(LOOK - 1)
    assert facts(harness) == []
    assert harness.contest.status.progress().separated == ()
    play_on(harness)
    progress = harness.contest.status.progress()
    assert (harness.finished, progress.done, progress.total) == ("finished", LOOK, 40)
    assert (progress.separated, progress.unplayed) == (("ann",), {})
    assert facts(harness) == [DECISION]
    assert harness.logged(FieldSeparated) == [FieldSeparated(LOOK, ("ann",))]


def test_a_server_that_was_killed_before_the_fact_decides_again() -> None:
    harness = going_on(LOOK)
    assert (harness.finished, facts(harness)) == ("finished", [DECISION])


def test_the_fact_stands_without_a_look() -> None:
    """Whatever the results say: they may be counted in another way by a later version."""
    harness = going_on(3, (0, "separated", 3, ("bob",)))
    assert harness.finished == "finished"
    assert harness.contest.status.progress().separated == ("bob",)
    assert harness.logged(FieldSeparated) == []


def test_a_game_that_runs_then_is_played_to_its_end_and_never_again() -> None:
    entrants = [Entrant("ann", concurrency=2), Entrant("bob", concurrency=2)]
    harness = ContestHarness(*entrants, past=Past(results(LOOK - 1)), **RULE)
    harness.event(Tick())
    for name in ("ann", "bob"):
        harness.log_in(name, " slot=1", f"{name}1")
        harness.log_in(name, " slot=2", f"{name}2")
    first = {name: conn for name, conn in harness.conns.items() if name.endswith("1")}
    everyone, harness.conns = harness.conns, first
    play_on(harness)
    harness.conns = everyone
    assert harness.contest.status.progress().separated == ("ann",)
    assert harness.finished is None, "a game runs"
    assert [awaited.name for awaited in harness.contest.status.held()[1]] == []
    problem = harness.command("extend", "2")
    assert problem is not None
    assert "the contest ends early: it is certain who is first" in problem
    harness.command("replay", "g17")
    assert harness.finished == "finished"
    assert (harness.contest.status.progress().done, harness.contest.status.progress().void) == (LOOK, 1)


def test_the_end_is_the_same_as_without_a_rule() -> None:
    harness = ContestHarness("ann", "bob", past=Past(results(40)), games_per_pair=40)
    harness.event(Tick())
    assert (harness.finished, facts(harness)) == ("finished", [])
