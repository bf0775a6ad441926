"""The host holds back what is not durable yet, judges no deadline meanwhile, and tells of stalls."""

from __future__ import annotations

import asyncio
import time

import pytest
from tests.server.peers import Peer, RunningDriver, running_driver
from tests.server.records import game

from arena_server.core.effects import CloseConnection, Effect, Finished, Journal, Reply, Send, Store, TurnMark
from arena_server.core.events import Event, Flushed, Opened, Received, Stalled, Tick
from arena_server.core.log_events import BotAbsent
from arena_server.host import batches

pytestmark = pytest.mark.asyncio

ENTRY = (1, "move", 1, "6", 0, 0)


def judge(event: Event) -> list[Effect]:
    """Answer `j...` behind an entry, and any other line at once."""
    if not isinstance(event, Received):
        return []
    entries: list[Effect] = [Journal((ENTRY,))] if event.line.startswith(b"j") else []
    return [*entries, Send(event.conn, event.line + b"\n", TurnMark(1, 1))]


async def visit(here: RunningDriver) -> Peer:
    peer = await here.visit()
    await here.core.until(Opened)
    return peer


async def test_nothing_is_told_before_it_is_durable() -> None:
    async with running_driver(judge) as here:
        peer = await visit(here)
        await peer.say(b"j1\n")
        await here.core.until(Received)
        await peer.say(b"j2\nj3\n")
        await here.core.until(Received, 3)
        assert here.recorder.batches == [[ENTRY], [ENTRY, ENTRY]], "one commit for each batch of lines"
        assert here.core.count(Flushed) == 0
        here.driver.committed(here.run, 1, [])
        assert await peer.line() == b"j1"
        assert here.core.count(Flushed) == 1
        here.driver.committed(here.run, 2, [])
        assert await peer.line() == b"j2"


async def test_what_is_durable_at_once_waits_for_nothing() -> None:
    """And takes along what waits before it."""
    async with running_driver(judge) as here:
        peer = await visit(here)
        lines = b"j1", b"j2", b"free", b"j3", b"j4"
        for number, line in enumerate(lines, start=1):
            here.recorder.durable = line in (b"j1", b"j3")
            await peer.say(line + b"\n")
            await here.core.until(Received, number)
            assert here.core.count(Flushed) == (0, 1, 1, 1, 4, 4)[number]
        here.driver.committed(here.run, 2, [])
        assert here.core.count(Flushed) == 4
        here.driver.committed(here.run, 4, [])
        assert [await peer.line() for _ in lines] == list(lines)
        assert sum(here.run.durations.journal.counts) == 4
        assert here.run.unanswered_since is None


async def test_what_comes_later_waits_behind_it_whoever_it_is_for() -> None:
    async with running_driver(judge) as here:
        first, second = await visit(here), await here.visit()
        await here.core.until(Opened, 2)
        await first.say(b"j\n")
        await here.core.until(Received)
        await second.say(b"free\n")
        await here.core.until(Received, 2)
        assert here.core.count(Flushed) == 0
        here.driver.committed(here.run, 1, [])
        assert (await first.line(), await second.line()) == (b"j", b"free")
        await second.say(b"free again\n")
        assert await second.line() == b"free again"


async def test_records_go_ahead_and_all_else_waits() -> None:
    record = game(1)

    def answer(event: Event) -> list[Effect]:
        if not isinstance(event, Received):
            return []
        absent = BotAbsent("ann")
        return [
            Journal((ENTRY,)),
            Store("g1", record),
            absent,
            Reply(7, "no"),
            Finished("finished"),
            CloseConnection(event.conn),
        ]

    async with running_driver(answer) as here:
        peer = await visit(here)
        await peer.say(b"go\n")
        await here.core.until(Received)
        recorder = here.recorder
        assert recorder.stored == [("g1", record)]
        assert (recorder.logged, recorder.replies, recorder.reasons) == ([], [], [])
        here.driver.committed(here.run, 1, [])
        assert recorder.logged == [BotAbsent("ann")]
        assert (recorder.replies, recorder.reasons) == ([(7, "no")], ["finished"])
        assert await peer.everything() == b""


async def test_a_slow_disk_lets_no_deadline_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "HELD_NS", 1_000_000)
    async with running_driver(judge) as here:
        peer = await visit(here)
        await peer.say(b"j\n")
        await here.core.until(Received)
        held_since = time.monotonic_ns()
        here.core.alarm = held_since + 2_000_000
        await peer.say(b"look\n")
        await here.core.until(Received, 2)
        while time.monotonic_ns() < held_since + 20_000_000:
            await asyncio.sleep(0)
        assert here.core.count(Tick) == 0
        here.driver.committed(here.run, 1, [])
        assert await peer.line() == b"j"
        await here.core.until(Tick)


async def test_a_loop_that_stood_still_is_told_of_first() -> None:
    async with running_driver(judge) as here:
        peer = await visit(here)
        here.driver.start()
        begun = time.monotonic_ns()
        peer.sock.send(b"late\n")
        while time.monotonic_ns() < begun + batches.STALL_NS + 20_000_000:
            pass
        await here.core.until(Received)
        kinds = [type(event) for event in here.core.events]
        assert kinds.index(Stalled) < kinds.index(Received)
        stall = next(event for event in here.core.events if isinstance(event, Stalled))
        assert stall.ended - stall.began > batches.STALL_NS


async def test_a_loop_that_runs_is_no_stall() -> None:
    async with running_driver(judge) as here:
        peer = await visit(here)
        await peer.say(b"x\n")
        assert await peer.line() == b"x"
        assert here.core.count(Stalled) == 0
