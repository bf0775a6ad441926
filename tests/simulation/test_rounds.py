"""Formats that draw, with a server that is killed in every stage, and bots that vanish between rounds."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from tests.simulation.bots import Honest
from tests.simulation.crashes import QUEUED, Steady, at, run
from tests.simulation.network import MS, SECOND
from tests.simulation.world import World
from tests.slices import rows

from arena_client.script import Close
from arena_server.core.facts import Drawn
from arena_server.core.formats import FORMATS
from arena_server.core.journal import fact_of
from arena_server.stats.standings import Row
from arena_server.store.journal import unpack
from arena_server.terms.config import ContestConfig

#: Draws and writes take a while, in which the server may be killed.
SLOW = replace(QUEUED, longest_draw=50 * MS)
DRAWING = [name for name, form in FORMATS.items() if form.DRAWS]
drawing = pytest.mark.parametrize("name", DRAWING)


def config(name: str, games: int) -> ContestConfig:
    return ContestConfig(
        name="drawn",
        seed=5,
        options={"plies": 4, "lookahead": 2},
        format=name,
        games_per_pair=games,
        absent_ms=120_000,
        storage_bytes=16,
    )


class Vanishing(Steady):
    """Leaves for good when its first game is over, perhaps into the offer of the second one."""

    may = frozenset({"disconnect"})

    def event(self, verb: str) -> None:
        if verb == "OVER":
            self.wire.act(Close())


def play(
    name: str,
    kinds: dict[str, type[Honest]],
    crash: int = 0,
    *,
    power: bool = False,
    games: int = 2,
    **more: Any,
) -> tuple[World, int]:
    """A contest; the server is killed at boundary `crash` of its disk. Returns how many there were."""
    world = World(1, replace(config(name, games), **more), kinds, SLOW)
    return world, run(world, at(crash, power=power))


def facts(world: World, word: str) -> dict[int, object]:
    """The facts of this word in the journal, by number of the draw."""
    entries = (
        entry
        for kind, data, *_ in world.server.disk.durable("drawn")
        if kind == "entries"
        for entry in unpack(data)
    )
    return {entry[2]: fact_of(entry) for entry in entries if entry[1] == word}


def table(world: World) -> tuple[Row, ...]:
    return world.contest.status.progress().standings


STEADY: dict[str, type[Honest]] = {f"b{number}": Steady for number in range(5)}


def spread(boundaries: int, kills: int) -> range:
    """As many boundaries, none at the beginning or the end."""
    return range(boundaries // (kills + 1), boundaries, boundaries // (kills + 1) + 1)


@pytest.mark.parametrize("name", rows(DRAWING, 2))
@pytest.mark.parametrize("kills", rows([1, 2], 2))
def test_killed_at_boundaries_it_draws_the_same_and_ends_the_same(name: str, kills: int) -> None:
    whole, boundaries = play(name, STEADY, anonymous=True)
    assert whole.server.finished == "finished"
    assert boundaries > 60
    for number in spread(boundaries, kills):
        world, _ = play(name, STEADY, number, power=number % 2 == 0, anonymous=True)
        assert (world.server.crashes, world.server.finished) == (1, "finished")
        assert facts(world, "drawn") == facts(whole, "drawn")
        assert table(world) == table(whole)
        assert sorted(world.records) == sorted(whole.records)


@pytest.mark.soak
@drawing
def test_killed_at_every_boundary(name: str) -> None:
    whole, boundaries = play(name, STEADY)
    for number in range(1, boundaries):
        world, _ = play(name, STEADY, number)
        assert facts(world, "drawn") == facts(whole, "drawn")
        assert table(world) == table(whole)


@pytest.mark.parametrize("name", rows(DRAWING, 2))
@pytest.mark.parametrize("kills", rows([1, 2, 40], 3))
def test_a_bot_that_vanishes_between_rounds_loses_by_walkover(name: str, kills: int) -> None:
    """Its opponent goes on, no round waits for it longer than `absent`, and the contest has a whole table."""
    kinds: dict[str, type[Honest]] = {**STEADY, "b4": Vanishing}
    world, boundaries = play(name, kinds, games=4)
    assert world.server.finished == "finished"
    # With two brackets it is out after two lost pairings.
    lost = [("b4",)] * (2 if name == "double-elimination" else 1)
    assert [fact.absent for fact in facts(world, "walkover").values()] == lost  # type: ignore[attr-defined]
    assert world.queue.now < 600 * SECOND
    for number in range(5, boundaries, boundaries // kills):
        again, _ = play(name, kinds, number, games=4)
        assert again.server.finished == "finished"
        assert len(facts(again, "walkover")) == len(lost)


#: In the usual order of a first round the bots of each owner meet.
OWNERS = {
    "swiss": {"b0": "x", "b3": "x", "b1": "y", "b4": "y", "b2": "z", "b5": "z"},
    "knockout": {"b3": "x", "b4": "x", "b2": "y", "b5": "y"},
    "double-elimination": {"b3": "x", "b4": "x", "b2": "y", "b5": "y"},
    "groups": {"b0": "x", "b3": "x", "b1": "y", "b2": "y"},
}
SIX: dict[str, type[Honest]] = {f"b{number}": Steady for number in range(6)}


def first_meetings(world: World) -> set[frozenset[str]]:
    """Who meets whom by the first draw."""
    drawn = facts(world, "drawn")[1]
    assert isinstance(drawn, Drawn)
    return {frozenset(pair) for group in drawn.groups for pair in combinations(group, 2)}


def of_one_owner(name: str) -> set[frozenset[str]]:
    owners = OWNERS[name]
    return {frozenset(pair) for pair in combinations(owners, 2) if owners[pair[0]] == owners[pair[1]]}


@pytest.mark.parametrize("kills", rows([1, 2, 20], 3))
@pytest.mark.parametrize("name", rows(OWNERS, 2))
def test_bots_of_one_owner_do_not_meet_first_whatever_the_server_does(name: str, kills: int) -> None:
    options: dict[str, Any] = {"format_options": {"groups": 2} if name == "groups" else {}}
    without, _ = play(name, SIX, **options)
    assert of_one_owner(name) <= first_meetings(without), "or the test would show nothing"
    options["owners"] = OWNERS[name]
    whole, boundaries = play(name, SIX, **options)
    assert not of_one_owner(name) & first_meetings(whole)
    for number in spread(boundaries, kills):
        world, _ = play(name, SIX, number, power=number % 2 == 0, **options)
        assert facts(world, "drawn") == facts(whole, "drawn")
        assert table(world) == table(whole)


@pytest.mark.parametrize("kills", rows([1, 2, 20], 3))
def test_bots_of_one_owner_never_meet_if_the_swiss_says_so(kills: int) -> None:
    owners, options = OWNERS["swiss"], {"rounds": 4, "same_owner": "never"}
    whole, boundaries = play("swiss", SIX, owners=owners, format_options=options)
    moments = (0, *spread(boundaries, kills))
    for number in moments:
        world, _ = play("swiss", SIX, number, owners=owners, format_options=options) if number else (whole, 0)
        assert len(facts(world, "drawn")) == 4
        met = {frozenset(record.names) for record in world.records.values()}
        assert len(met) == 12
        assert not met & of_one_owner("swiss")
        assert facts(world, "drawn") == facts(whole, "drawn")
