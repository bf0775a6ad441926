"""When the driver waits itself and what it holds meanwhile; when it wakes a contest."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest
from tests.server.peers import RunningDriver, echo, on, opened, running_driver

from arena_server.core.effects import CloseConnection, Effect, Journal, Marker, Send, TurnMark
from arena_server.core.events import Event, Flushed, Received, Tick
from arena_server.host import driver
from arena_server.host.connection import LINES_PER_WAKEUP, Connection

pytestmark = pytest.mark.asyncio


async def test_a_driver_that_stays_joins_what_it_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines of a connection wait for its TURN, for any other effect, or until no line comes."""
    monkeypatch.setattr(driver, "STAY_NS", 10**15)
    pieces: list[bytes] = []
    send = Connection.send

    def seen(self: Connection, data: bytes, marker: Marker | None = None) -> bool:
        pieces.append(data)
        return send(self, data, marker)

    monkeypatch.setattr(Connection, "send", seen)

    def answer(event: Event) -> list[Effect]:
        assert isinstance(event, Received)
        if event.line == b"leave":
            return [Send(event.conn, b"bye\n"), CloseConnection(event.conn)]
        other = next(number for number in here.driver.pool.connections if number != event.conn)
        # Nothing follows the line of the other one, and the last is for a connection that is gone.
        mine = Send(event.conn, b"one\n"), Send(event.conn, b"turn\n", TurnMark(1, 1))
        return [mine[0], Send(other, b"two\n"), Send(other, b"three\n"), mine[1], Send(99, b"lost\n")]

    async with running_driver(on(Received, answer)) as here:
        first, second = await here.visit(), await here.visit()
        await opened(here, 2)
        await first.say(b"go\n")
        assert [await first.line(), await first.line()] == [b"one", b"turn"]
        assert [await second.line(), await second.line()] == [b"two", b"three"]
        assert pieces == [b"one\nturn\n", b"two\nthree\n"]
        assert here.core.count(Flushed) == 1
        await first.say(b"leave\n")
        assert await first.line() == b"bye"
        await second.say(b"leave\n")
        assert await second.line() == b"bye"


@pytest.mark.parametrize("long", [False, True])
async def test_what_is_held_for_long_is_sent_before_a_wait(
    monkeypatch: pytest.MonkeyPatch, *, long: bool
) -> None:
    monkeypatch.setattr(driver, "STAY_NS", 10**15)
    monkeypatch.setattr(driver, "ROUND_NS", 10**15)
    monkeypatch.setattr(driver, "HOLD_NS", 0 if long else 10**15)
    holds: list[bool] = []

    async with running_driver(on(Received, lambda event: [Send(1, b"one\n")])) as here:
        poller = here.driver._poller
        poll = poller.poll

        def polled(seconds: float) -> list[tuple[int, int]]:
            if seconds:
                holds.append(bool(here.driver._held))
            return poll(0)

        monkeypatch.setattr(poller, "poll", polled)
        peer = await here.visit()
        await opened(here)
        await peer.say(b"go\n")
        assert await peer.line() == b"one"
        assert holds == [not long]


@pytest.mark.parametrize(
    ("said", "waits"),
    [(b"quick\n", True), (b"entry\n", False), (b"quick\n" * (LINES_PER_WAKEUP + 1), False)],
    ids=["nothing", "commit", "lines"],
)
async def test_a_driver_waits_itself_unless_the_loop_has_what_it_waits_for(
    monkeypatch: pytest.MonkeyPatch, said: bytes, *, waits: bool
) -> None:
    monkeypatch.setattr(driver, "STAY_NS", 10**15)
    waited: list[float] = []

    def answer(event: Event) -> list[Effect]:
        assert isinstance(event, Received)
        return [Journal(((1, "ready", 1),))] if event.line == b"entry" else []

    async with running_driver(on(Received, answer)) as here:
        poller = here.driver._poller
        poll = poller.poll

        def polled(seconds: float) -> list[tuple[int, int]]:
            waited.append(seconds)
            return poll(0)

        monkeypatch.setattr(poller, "poll", polled)
        peer = await here.visit()
        await opened(here)
        await peer.say(said)
        await here.core.until(Received, said.count(b"\n"))
        await asyncio.sleep(0)
        assert any(waited) == waits, waited


class TestDeadlines:
    async def test_the_core_is_woken_at_its_deadline_and_not_before(self) -> None:
        async with running_driver() as here:
            due = time.monotonic_ns() + 20_000_000
            here.core.alarm = due
            await here.visit()
            await here.core.until(Tick)
            _, now = next(seen for seen in here.core.seen if isinstance(seen[0], Tick))
            assert now >= due

    async def test_a_deadline_that_moves_closer_is_kept(self) -> None:
        async with running_driver() as here:
            here.core.alarm = time.monotonic_ns() + 3600 * 10**9
            here.core.answer = _closer_on(here)
            peer = await here.visit()
            await opened(here)
            await peer.say(b"sooner\n")
            await here.core.until(Tick)

    async def test_every_line_that_was_in_time_is_judged_before_the_deadline(self) -> None:
        """The loop stalls while lines and deadlines come: no Tick overtakes a line from before it."""
        async with running_driver() as here:
            peer = await here.visit()
            await opened(here)

            def answer(event: Event) -> list[Effect]:
                if isinstance(event, Received):
                    begun = time.monotonic_ns()
                    here.core.alarm = begun + 500_000
                    peer.sock.send(b"MOVE 6\n")  # in the kernel at once, and the loop is not looking
                    while time.monotonic_ns() < begun + 1_000_000:
                        pass
                return []

            here.core.answer = answer
            await peer.say(b"MOVE 6\n")
            await here.core.until(Tick, 10)
            here.core.answer = lambda event: []
            here.core.alarm = None
            judged_until = 0
            for event, now in here.core.seen:
                if isinstance(event, Tick):
                    judged_until = now
                elif isinstance(event, Received):
                    # The stamp is computed from two clocks that are read one after the other.
                    assert event.arrived > judged_until - 100_000


def _closer_on(here: RunningDriver) -> Callable[[Event], list[Effect]]:
    def answer(event: Event) -> list[Effect]:
        if isinstance(event, Received):
            here.core.alarm = time.monotonic_ns()
        elif isinstance(event, Tick):
            here.core.alarm = None
        return []

    return answer


async def test_the_time_from_a_batch_to_its_turns_is_reported() -> None:
    def answer(event: Event) -> list[Effect]:
        return echo(event) if isinstance(event, Received) and event.line == b"move" else []

    async with running_driver(answer) as here:
        peer = await here.visit()
        await peer.say(b"ping\nmove\nping\nmove\n")
        await here.core.until(Flushed, 2)
        assert sum(here.run.durations.turns.counts) == 2
        assert here.run.durations.turns.total > 0
