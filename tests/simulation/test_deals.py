"""No byte of a deal that is still to be played leaves, on any channel: void games, stops, orders, crashes.

Between the events of a simulated contest everything that reads its database is run: page, site, exports and
commands. The same secrets are looked for there and on every connection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from inspect import isgenerator

import pytest
from tests.simulation.bots import HONEST, Spectator
from tests.simulation.invariants import Violation
from tests.simulation.leaks import secrets
from tests.simulation.network import LOCAL, MS, ROUGH, SECOND, seeded
from tests.simulation.publication import publish_every
from tests.simulation.scenario import LIMIT, with_terms
from tests.simulation.world import Order, World
from tests.slices import rows

from arena_protocol.record import VOID
from arena_server.core import fixtures
from arena_server.store import deals
from arena_server.store.game_reader import GameReader
from arena_server.terms.config import ContestConfig

PLIES, SIGHT = 30, 6
#: Of these the even ones stop a contest of paired deals in the midst of a deal. The soak run has 200 more.
SEEDS = rows([26, 15], every=2)


def play(seed: int) -> World:
    """A contest of three bots and a spectator, that is stopped and gets orders; with even seeds paired."""
    rng = seeded(seed)
    config = ContestConfig(
        name="deals",
        seed=rng.getrandbits(256),
        options={"plies": PLIES, "lookahead": SIGHT},
        games_per_pair=2,
        deals="fresh" if seed % 2 else "paired",
        probation=0,
        absent_ms=120_000,
        clock_ms=60_000,
        spectator_delay_ms=rng.choice((0, 300)),
    )
    config = with_terms(config)
    kinds = {"ann": HONEST[0], "bob": HONEST[1], "eve": HONEST[2], "eye": Spectator}
    moments = sorted(rng.randrange(5 * SECOND) for _ in range(6))
    verbs = ("replay", "stop", "replay", "replay", "stop", rng.choice(("void", "stop", "suspend")))
    orders = [Order(at, verb, rng.randrange(9)) for at, verb in zip(moments, verbs, strict=True)]
    faults = replace(rng.choice((LOCAL, ROUGH)), stall_one_in=500, long_stall_one_in=4)
    world = World(seed, config, kinds, faults, orders=orders)
    publish_every(world, lambda: rng.randrange(100 * MS, 4 * SECOND))
    world.run(LIMIT)
    return world


@pytest.mark.parametrize("seed", SEEDS)
def test_no_byte_of_a_deal_that_is_still_to_be_played_leaves(seed: int) -> None:
    world = play(seed)
    assert (world.server.stops > 0, world.server.finished) == (True, "finished")
    void = [record for record in world.records.values() if record.end == VOID]
    assert void
    seeds = Counter(record.seed for record in world.records.values())
    if world.config.deals == "fresh":
        assert set(seeds.values()) == {1}
    else:
        assert min(seeds[record.seed] for record in void) > 2
    shown = {word for record in world.records.values() for _, word in secrets(record.seed, [record])}
    assert all(map(world.checker.leaks.knows, shown)), "all is shown in the end"


@pytest.mark.soak
def test_the_same_for_many_contests() -> None:
    for seed in range(1000, 1200):
        play(seed)


def _repeat_the_old_deal(patch: pytest.MonkeyPatch) -> None:
    """As it was before a repeat had a deal of its own."""
    play_again = fixtures.Fixtures.play_again

    def repeat(self: fixtures.Fixtures, number: int) -> bool:
        self._paired = True
        done = play_again(self, number)
        self._paired = False
        return done

    patch.setattr(fixtures.Fixtures, "play_again", repeat)


def _open_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fixtures, "may_show_deal", lambda **facts: True)


def _take_stopped_for_over(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(deals.Deals, "is_final", property(lambda self: self._contest.status != "running"))


def _count_void_games(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(deals, "VOID", "never")


def _ask_nobody(name: str) -> Callable[[pytest.MonkeyPatch], None]:
    """Let a method of `GameReader` show everything."""

    def ask_nobody(patch: pytest.MonkeyPatch) -> None:
        method = getattr(GameReader, name)

        def call(self: GameReader, *arguments: object, **more: object) -> object:
            with pytest.MonkeyPatch.context() as within:
                within.setattr(deals.Deals, "may_show", lambda self, name, last=None: True)
                found = method(self, *arguments, **more)
                return iter(list(found)) if isgenerator(found) else found

        patch.setattr(GameReader, name, call)

    return ask_nobody


def _share_at_once(patch: pytest.MonkeyPatch) -> None:
    """Tell of every game which others have its deal."""
    sharing = deals.Deals.sharing

    def call(self: deals.Deals, after: int, limit: int, last: int) -> dict[str, list[str]]:
        with pytest.MonkeyPatch.context() as within:
            within.setattr(deals, "may_show_deal", lambda **facts: True)
            return sharing(self, after, limit, last)

    patch.setattr(deals.Deals, "sharing", call)


def _name_in_records(patch: pytest.MonkeyPatch) -> None:
    """Show the results of an anonymous contest that runs."""
    patch.setattr(deals, "may_name", lambda **more: True)


NAMED = r"g\d+ is shown with \[.*\] before its deal is played"
A_SECRET = r"has the (seed|nonce|sequence) at [\d.]+ s of a deal played in g\d+"


@pytest.mark.parametrize(
    ("seed", "broken", "found"),
    rows(
        [
            (5, _repeat_the_old_deal, rf"{A_SECRET}, g\d+ to "),
            (10, _open_at_once, f"a connection {A_SECRET}"),
            (10, _take_stopped_for_over, A_SECRET),
            (10, _ask_nobody("record"), rf"(the page of g\d+|arena replay g\d+ --json) {A_SECRET}"),
            (10, _count_void_games, NAMED),
            (6, _ask_nobody("rows"), rf"(records|objects|tables)/\w+\.\w+ {A_SECRET}"),
            # Of a contest without a delay: files are cut by the clock on the wall.
            (6, _ask_nobody("records"), rf"public/api/g\d+\.\w+ {A_SECRET}"),
            (10, _share_at_once, NAMED),
            (15, _name_in_records, r"the page of g\d+ is shown \[.*\] in "),
        ],
        every=9,
    ),
)
def test_a_server_that_is_broken_on_purpose_is_found(
    seed: int, broken: Callable[[pytest.MonkeyPatch], None], found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch)
    with pytest.raises(Violation, match=found):
        play(seed)
