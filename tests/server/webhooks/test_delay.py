"""What a webhook learns no sooner than spectators do: the delay, and what is frozen."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from arena_server.webhooks.message import Message

from .world import HOOK, World


def test_nothing_before_the_spectator_delay(world: World) -> None:
    world.store(1, 2, delay_ms=60_000)
    delivery = world.delivery()
    pause = world.run(delivery)
    assert pause is not None
    assert 50 < pause <= 60
    assert world.sent == []
    world.now += pause
    world.run(delivery)
    world.run(delivery)
    assert world.games == ["g1", "g2"]


def test_the_end_thaws_after_the_delay(world: World) -> None:
    """A hook that has read of the end before is awake then."""
    world.store(1, 2, delay_ms=60_000, freeze_at_ms=0, status="finished")
    delivery = world.delivery()
    pause = world.run(delivery)
    assert pause is not None
    assert 50 < pause <= 60
    assert world.sent == []
    world.now += pause
    world.run(delivery)
    assert world.games == ["g1", "g2"]


@pytest.mark.parametrize("late", [0, 0.0001, 0.0005, 0.002])
def test_the_end_thaws_also_for_a_hook_that_wakes_in_its_millisecond(
    world: World, monkeypatch: pytest.MonkeyPatch, late: float
) -> None:
    """Nothing wakes it later: the end was the last event."""
    end = int(world.now) + 0.000472
    for module in ("schema", "contest_store"):
        ended = datetime.fromtimestamp(end, UTC).replace(tzinfo=None)
        monkeypatch.setattr(f"arena_server.store.{module}.now", lambda ended=ended: ended)
    world.store(1, 2, delay_ms=60_000, freeze_at_ms=0, status="finished")
    delivery = world.delivery()
    world.now = end + 60 + late
    if (pause := world.step(delivery)) is not None:
        world.now += pause
        world.step(delivery)
    assert world.games == ["g1", "g2"]


def test_what_is_stopped_stays_frozen(world: World) -> None:
    world.store(1, freeze_at_ms=0)
    assert world.run(world.delivery()) is None


def test_nothing_behind_a_freeze_before_the_end(world: World) -> None:
    frozen = int((world.now - 60) * 1000)
    world.store(1, freeze_at_ms=frozen)
    delivery = world.delivery()
    assert world.run(delivery) is None
    assert world.sent == []
    world.store(2, freeze_at_ms=frozen, status="finished")
    world.run(delivery)
    assert world.games == ["g1", "g2"]


@pytest.mark.parametrize("with_results", [False, True])
def test_a_hook_with_results_learns_all_else_as_late(world: World, with_results: bool) -> None:
    """One without is the organiser's."""
    events = frozenset({"over", *(["game"] if with_results else [])})
    world.store()
    delivery = world.delivery(hook=replace(HOOK, events=events), delay_ms=60_000)
    delivery.notice(Message("over-1-1", "over", b'{"type": "over"}'))
    if with_results:
        pause = world.run(delivery)
        assert pause is not None
        assert world.sent == []
        world.now += pause
    world.run(delivery)
    assert [each["type"] for each in world.sent] == ["over"]
