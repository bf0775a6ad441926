"""Many lines of one client are handled a few at a time; lines of the others come in between."""

from __future__ import annotations

import pytest
from tests.server.peers import RunningDriver, running_driver

from arena_server.core.effects import CloseConnection, Effect, Mute, Send, Unmute
from arena_server.core.events import Event, Lost, Opened, Received
from arena_server.host.connection import BUSY_WAKEUPS, LINES_PER_WAKEUP, THROTTLE_S

pytestmark = pytest.mark.asyncio

MANY = 400
FLOOD = b"".join(b"%03d\n" % number for number in range(MANY))


def lines(here: RunningDriver, conn: int) -> list[bytes]:
    return [e.line for e in here.core.events if isinstance(e, Received) and e.conn == conn]


async def test_a_flooder_waits_for_the_others_and_loses_no_line() -> None:
    async with running_driver() as here:
        flooder, honest = await here.visit(), await here.visit()
        await flooder.say(FLOOD)
        await honest.say(b"MOVE 6\n")
        await here.core.until(Received, MANY + 1)
        received = [e for e in here.core.events if isinstance(e, Received)]
        assert lines(here, 1) == FLOOD.split()
        before = next(number for number, event in enumerate(received) if event.conn == 2)
        assert before <= 4 * LINES_PER_WAKEUP


async def test_an_endless_talker_has_rests() -> None:
    async with running_driver() as here:
        flooder = await here.visit()
        await here.core.until(Opened)
        await flooder.say(FLOOD)
        await here.core.until(Received, MANY)
        moments = [now for event, now in here.core.seen if isinstance(event, Received)]
        at_once = LINES_PER_WAKEUP * (BUSY_WAKEUPS + 1)
        rests = (MANY - at_once) // LINES_PER_WAKEUP
        assert moments[-1] - moments[at_once - 1] >= rests * THROTTLE_S * 1e9


async def test_nothing_is_read_while_lines_wait_and_the_end_comes_after_them() -> None:
    async with running_driver() as here:
        flooder = await here.visit()
        await flooder.say(FLOOD)
        flooder.sock.close()
        await here.core.until(Lost)
        assert lines(here, 1) == FLOOD.split()


@pytest.mark.parametrize("at", [b"003", b"007", b"020"])
async def test_muted_in_the_middle_it_is_heard_from_there_on_later(at: bytes) -> None:
    def mute(event: Event) -> list[Effect]:
        if isinstance(event, Received) and event.line == at:
            return [Mute(event.conn)]
        return [Unmute(1)] if isinstance(event, Received) and event.conn == 2 else []

    async with running_driver(mute) as here:
        flooder, other = await here.visit(), await here.visit()
        await flooder.say(FLOOD)
        await here.core.until(Received, int(at) + 1)
        await other.say(b"go on\n")
        await here.core.until(Received, MANY + 1)
        assert lines(here, 1) == FLOOD.split()


@pytest.mark.parametrize("at", [b"003", b"007"])
async def test_closed_in_the_middle_it_is_told_why_and_let_go(at: bytes) -> None:
    def close(event: Event) -> list[Effect]:
        if isinstance(event, Received) and event.line == at:
            return [Send(event.conn, b"ERROR flood\n"), CloseConnection(event.conn)]
        return []

    async with running_driver(close) as here:
        flooder = await here.visit()
        await flooder.say(FLOOD)
        assert await flooder.everything() == b"ERROR flood\n"
        # Lines of the same wakeup are passed on; the contest ignores a connection that it has closed.
        assert lines(here, 1)[-1] == b"007"
