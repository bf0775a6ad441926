"""Contests in which a jury decides: its orders, and the results that count."""

from __future__ import annotations

import random
from collections import Counter

from arena_server.core.deal import number_of
from arena_server.core.facts import Ruled
from arena_server.core.orders import standing
from arena_server.core.rulings import JURY
from arena_server.stats.results import PastGame

from .contest_harness import ONE_PLY, ContestHarness, play_on, seated

FIELD = ("ann", "bob", "cid", "dan")


def stored(harness: ContestHarness) -> dict[int, PastGame]:
    """The games as they were played."""
    return {game.number: game for game in harness.durable().results}


def rule(harness: ContestHarness, verb: str, target: str, reason: str = "seen by the jury") -> str | None:
    about = target.split(" ")[0]
    games = stored(harness).values()
    mine = tuple(each for each in games if about in each.names or each.number == number_of(about))
    return harness.command(verb, target, reason=reason, games=mine)


def paused(*names: str, **more: object) -> ContestHarness:
    """A contest all of whose games that can be played by now are, and which cannot end."""
    harness = seated(*names, ready=False, options=ONE_PLY, **more)
    assert harness.command("pause") is None
    play_on(harness)
    return harness


def rounds_of(harness: ContestHarness, count: int) -> None:
    """Play `count` parts of a contest, each while it is paused from its first game on."""
    for _ in range(count):
        assert harness.command("resume") is None
        if harness.finished is not None:
            return
        assert harness.command("pause") is None
        play_on(harness)


def effective(harness: ContestHarness) -> dict[int, PastGame]:
    """The results that count, from the facts alone."""
    from dataclasses import replace

    from arena_server.core.journal import fact_of

    games = stored(harness)
    for entry in harness.durable().entries:
        if isinstance(fact := fact_of(entry), Ruled):
            games[fact.game] = replace(games[fact.game], totals=fact.totals, end=fact.end)
    return games


def points_of(harness: ContestHarness) -> Counter[str]:
    points: Counter[str] = Counter()
    for game in effective(harness).values():
        if game.end != "void":
            points.update(dict(zip(game.names, game.totals, strict=True)))
    return points


def decide(harness: ContestHarness, chance: random.Random) -> None:
    """Sometimes an order that is not about one game; most are possible in some formats alone."""
    order = chance.choice(
        ("penalty {} 0.5", "penalty {} 2", "disqualify {} lost", "disqualify {} leave", "undo", "")
    )
    verb, _, target = order.format(chance.choice(FIELD)).partition(" ")
    if verb == "undo":
        # Without its pause the contest may end.
        if standing(harness.contest.status.overview().orders)[-1].verb in JURY:
            assert harness.command("undo") is None
    elif verb and not (verb == "disqualify" and chance.random() < 0.5):
        rule(harness, verb, target)
