"""Webhooks in the simulated host: each result is delivered at least once, in order, and not before its time.

A result comes twice after a confirmed delivery only if the server was killed before that was kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.simulation.hooks import SimulatedHook
from tests.simulation.invariants import Violation
from tests.simulation.network import LOCAL, seeded
from tests.simulation.process import SimulatedProcess
from tests.simulation.scenario import LIMIT
from tests.simulation.shown import Cut
from tests.simulation.test_shown import KINDS, config_of, freeze, never_freeze_results
from tests.simulation.wall import Wall
from tests.simulation.world import World
from tests.slices import rows

from arena_server.store import deals
from arena_server.terms.spec import Webhook
from arena_server.webhooks.delivery import Cursors, Delivery
from arena_server.webhooks.message import Message


def play(seed: int, folder: Path) -> SimulatedHook:
    """A contest with a delay or a freeze, whose server is killed now and then."""
    rng = seeded(seed)
    config, frozen_at = config_of(seed, rng)
    world, wall = World(seed, config, KINDS, replace(LOCAL, crash_one_in=400)), Wall()
    cut = world.checker.shown.cut = Cut(config, frozen_at)
    hook = SimulatedHook(world, wall, cut, rng, folder, rng.choice((1, 1, 3)))

    def begin(process: SimulatedProcess) -> None:
        hook.begin(process)
        if frozen_at is not None:
            freeze(process, config.name, frozen_at)

    crash = world.server.disk.boundary

    def boundary() -> None:
        crash()
        hook.wake()

    world.server.begins = begin
    world.server.disk.boundary = boundary
    world.server.looked_at = lambda name, status: hook.wake()
    with wall.in_place():
        world.run(LIMIT)
    hook.over()
    return hook


def play_all(seeds: range, folder: Path) -> list[SimulatedHook]:
    found = []
    for seed in seeds:
        (of_seed := folder / str(seed)).mkdir()
        found.append(play(seed, of_seed))
    return found


def test_results_are_delivered_once_in_order_and_in_time(tmp_path: Path) -> None:
    hooks = play_all(range(1, 3), tmp_path)
    assert sum(hook.kills for hook in hooks) > 5
    assert sum(hook.repeats for hook in hooks) > 0
    assert sum(hook.attempts - len(hook.confirmed) for hook in hooks) > 10


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 200))
def test_the_same_in_many_contests(seed: int, tmp_path: Path) -> None:
    play(seed, tmp_path)


def _deliver_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(deals, "shown_until", lambda now, *terms, **more: now)


def _take_before_it_is_sent(patch: pytest.MonkeyPatch) -> None:
    right = Delivery._next_results

    def first_take(self: Delivery) -> Message:
        message = right(self)
        assert message.at is not None
        self._cursors.take(self._hook, message.at)
        return message

    patch.setattr(Delivery, "_next_results", first_take)


def _keep_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Cursors, "take", lambda self, hook, cursor: None)


def _take_every_answer_for_yes(patch: pytest.MonkeyPatch) -> None:
    right = SimulatedHook._send
    patch.setattr(
        SimulatedHook, "_send", lambda self, message, seconds: right(self, message, seconds) and None
    )


def _begin_again_with_the_newest(patch: pytest.MonkeyPatch) -> None:
    right = Cursors.place

    def newest(self: Cursors, hook: Webhook, contest: int, started: int) -> int | None:
        place = right(self, hook, contest, started)
        return None if place is None else place + (place > 2)

    patch.setattr(Cursors, "place", newest)


@pytest.mark.parametrize(
    ("broken", "found"),
    rows(
        [
            (_deliver_at_once, r"place \d+ is delivered before its time"),
            (never_freeze_results, r"place \d+ is delivered before its time"),
            (_take_before_it_is_sent, r"place \d+ is kept, and \d+ was confirmed"),
            (_keep_nothing, r"\d+ results were confirmed, and are not kept|place 1 came where \d+ is next"),
            (_take_every_answer_for_yes, r"place \d+ came where \d+ is next"),
            (_begin_again_with_the_newest, r"place \d+ came where \d+ is next"),
        ],
        6,
    ),
)
def test_a_delivery_that_is_broken_on_purpose_is_found(
    broken: Callable[[pytest.MonkeyPatch], None],
    found: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    broken(monkeypatch)
    with pytest.raises(Violation, match=found):
        play_all(range(1, 9), tmp_path)
