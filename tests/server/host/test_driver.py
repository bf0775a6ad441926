"""The host over real loopback sockets: stamps, bounds, muting, closing, refusals, deadlines."""

from __future__ import annotations

import asyncio
import socket
import struct
import time

import pytest
from tests.server.peers import PATIENCE_S, Peer, RunningDriver, echo, on, opened, running_driver

from arena_protocol.framing import CLIENT_LINE_LIMIT
from arena_server.core.effects import (
    CloseConnection,
    Effect,
    Finished,
    Mute,
    Send,
    TurnMark,
    Unmute,
)
from arena_server.core.events import Event, Flushed, LineTooLong, Lost, Opened, Received
from arena_server.core.log_events import BotAbsent
from arena_server.host import connection
from arena_server.host.connection import LINES_PER_WAKEUP
from arena_server.host.output_buffer import OUTPUT_LIMIT
from arena_server.host.sockets import is_reset

pytestmark = pytest.mark.asyncio


async def test_lines_come_whole_stamped_and_in_order() -> None:
    async with running_driver() as here:
        peer = await here.visit()
        before = time.monotonic_ns()
        await peer.say(b"HELLO 1 a\nREADY")
        await peer.say(b" g1\r\n\n")
        last = await here.core.until(Received, 3)
        lines = [event for event in here.core.events if isinstance(event, Received)]
        assert [event.line for event in lines] == [b"HELLO 1 a", b"READY g1", b""]
        for event, now in here.core.seen:
            if isinstance(event, Received):
                assert before - 5_000_000 <= event.arrived <= now
        assert isinstance(last, Received)
        assert last.conn == await opened(here)


async def test_connections_are_told_apart_and_named_for_people() -> None:
    async with running_driver() as here:
        first, second = await here.visit(), await here.visit()
        assert await opened(here, 1) != await opened(here, 2)
        peers = [event.address for event in here.core.events if isinstance(event, Opened)]
        assert peers == ["{}:{}".format(*peer.sock.getsockname()) for peer in (first, second)]
        assert len(here.driver.pool) == 2


async def test_a_line_too_long_is_reported_once_with_its_head() -> None:
    async with running_driver() as here:
        peer = await here.visit()
        await peer.say(b"x" * (3 * CLIENT_LINE_LIMIT) + b"\nPING 1\n")
        await here.core.until(Received)
        long = [event for event in here.core.events if isinstance(event, LineTooLong)]
        assert [event.head[:3] for event in long] == [b"xxx"]


async def test_a_turn_is_handed_when_the_socket_has_it() -> None:
    async with running_driver(echo) as here:
        peer = await here.visit()
        before = time.monotonic_ns()
        await peer.say(b"again\n")
        assert await peer.line() == b"again"
        handed = await here.core.until(Flushed)
        assert isinstance(handed, Flushed)
        assert handed.marker == TurnMark(1, 1)
        assert before <= handed.at <= time.monotonic_ns()


async def test_a_turn_that_waits_in_the_buffer_is_not_handed_yet() -> None:
    piece = b"x" * 1023 + b"\n"

    def fill(event: Event) -> list[Effect]:
        assert isinstance(event, Received)
        size = int(event.line)
        return [*(Send(event.conn, piece) for _ in range(size)), Send(event.conn, b"TURN\n", TurnMark(1, 7))]

    async with running_driver(on(Received, fill)) as here:
        peer = await here.visit(receive_buffer=4096)
        # More than the two sockets hold, less than what makes the host give the peer up.
        room = await _room_of(here, peer)
        assert here.core.count(Lost) == 0
        count = here.core.count(Flushed)
        await peer.say(b"%d\n" % 8)
        await here.core.until(Received, room + 1)
        assert here.core.count(Flushed) == count  # still in our buffer
        while b"TURN" not in await peer.line() or here.core.count(Flushed) <= count:
            assert here.core.count(Lost) == 0


async def _room_of(here: RunningDriver, peer: Peer) -> int:
    """Fill the sockets by 8 KiB a line until a TURN stays in the buffer; returns how many lines it took."""
    asked = 0
    while here.core.count(Flushed) == asked:
        asked += 1
        await peer.say(b"8\n")
        await here.core.until(Received, asked)
        await asyncio.sleep(0)
    return asked


async def test_a_peer_that_does_not_read_is_dropped_at_the_limit() -> None:
    def flood(event: Event) -> list[Effect]:
        return [Send(1, b"x" * OUTPUT_LIMIT) for _ in range(200)]

    async with running_driver(on(Received, flood)) as here:
        peer = await here.visit(receive_buffer=4096)
        await peer.say(b"go\n")
        lost = await here.core.until(Lost)
        assert lost == Lost(1, "backed-up")
        assert here.core.count(Lost) == 1
        assert len(here.driver.pool) == 0


async def test_a_muted_peer_is_not_heard_until_it_is_unmuted() -> None:
    def mute(event: Event) -> list[Effect]:
        assert isinstance(event, Received)
        return [Mute(event.conn)] if event.line == b"one" else []

    async with running_driver(on(Received, mute)) as here:
        peer = await here.visit()
        await peer.say(b"one\n")
        await here.core.until(Received)
        await peer.say(b"two\nthree\n")
        other = await here.visit()
        await other.say(b"honest\n")
        await here.core.until(Received, 2)
        assert [e.line for e in here.core.events if isinstance(e, Received)] == [b"one", b"honest"]
        here.core.answer = lambda event: [Unmute(1)] if isinstance(event, Opened) else []
        await here.visit()
        await here.core.until(Received, 4)
        assert [e.line for e in here.core.events if isinstance(e, Received)][2:] == [b"two", b"three"]


async def test_close_flushes_first_and_tells_the_core_nothing_more() -> None:
    def goodbye(event: Event) -> list[Effect]:
        return [Send(1, b"BYE reason=finished\n"), CloseConnection(1), Send(1, b"never\n")]

    async with running_driver(on(Received, goodbye)) as here:
        peer = await here.visit()
        # Unread input at the moment of closing must not cost the peer its last line.
        await peer.say(b"QUIT\n" + b"x\n" * 2000)
        assert await peer.everything() == b"BYE reason=finished\n"
        peer.sock.close()
        await here.driver.pool.drained(PATIENCE_S)
        # Lines read in the same wakeup are passed on; the contest ignores a connection it has closed.
        assert here.core.count(Received) <= LINES_PER_WAKEUP
        assert here.core.count(Lost) == 0
        assert set(here.recorder.closed) == {1}


async def test_a_peer_that_lingers_is_cut_off() -> None:
    async with running_driver(on(Received, lambda event: [CloseConnection(1)])) as here:
        peer = await here.visit()
        await peer.say(b"QUIT\n")
        assert await peer.everything() == b""
        assert len(here.driver.pool) == 1  # the peer has not closed its side
        await here.driver.pool.drained(0)
        assert len(here.driver.pool) == 0


async def test_the_end_of_a_peer_is_told_with_its_reason() -> None:
    async with running_driver() as here:
        leaver, resetter = await here.visit(), await here.visit()
        await opened(here, 2)
        leaver.sock.close()
        assert await here.core.until(Lost) == Lost(1, "closed")
        resetter.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        resetter.sock.close()
        assert await here.core.until(Lost, 2) == Lost(2, "reset")


MANY = b"LOG a line of a log\n" * 50_000


async def test_a_reader_that_ends_its_input_gets_all_that_is_sent_before_the_close() -> None:
    """Both directions end then, and it does not linger."""
    send = on(Received, lambda event: [Send(1, MANY[:60_000]), CloseConnection(1)])
    async with running_driver(send) as here:
        peer = await here.visit(receive_buffer=4096)
        await peer.say(b"QUIT\n")
        peer.sock.shutdown(socket.SHUT_WR)
        assert await peer.everything() == MANY[:60_000]
        await here.driver.pool.drained(PATIENCE_S)
        assert here.core.count(Lost) == 0


async def test_a_reader_that_ends_its_input_stays_while_its_lines_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that is gone wholly is found by the look at its socket."""
    looks = asyncio.Event()
    gone: list[bool] = []

    def look(_: socket.socket) -> bool:
        looks.set()
        return bool(gone)

    monkeypatch.setattr(connection, "PROBE_S", 0)
    monkeypatch.setattr(connection, "is_reset", look)
    async with running_driver(echo) as here:
        here.core.readers = {1: b"PING reading\n"}
        peer, other = await here.visit(), await here.visit()
        await peer.say(b"one\n")
        peer.sock.shutdown(socket.SHUT_WR)
        await looks.wait()
        assert [await peer.line(), await peer.line()] == [b"one", b"PING reading"]
        assert here.core.count(Lost) == 0
        await other.say(b"two\n")
        assert await other.line() == b"two"
        gone.append(True)
        assert await here.core.until(Lost) == Lost(1, "closed")


async def test_what_the_system_says_of_a_socket() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        served, _ = listener.accept()
        with served:
            client.shutdown(socket.SHUT_WR)
            assert served.recv(1) == b""
            assert not is_reset(served)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
            assert is_reset(served) == hasattr(socket, "TCP_INFO")
    one, other = socket.socketpair()
    with one, other:
        assert not is_reset(one)


async def test_half_a_line_is_no_line() -> None:
    async with running_driver() as here:
        peer = await here.visit()
        await peer.say(b"MOVE 6")
        peer.sock.shutdown(socket.SHUT_WR)
        await here.core.until(Lost)
        assert here.core.count(Received) == 0


async def test_over_the_cap_a_peer_is_told_so_and_nobody_else_suffers() -> None:
    async with running_driver(echo, cap=2) as here:
        inside = [await here.visit(), await here.visit()]
        await opened(here, 2)
        for _ in range(40):
            late = await here.visit()
            await late.say(b"HELLO 1 late\n")
            line = await late.line()
            assert line == b"ERROR full the server holds as many connections as it may; try later"
            assert await late.everything() == b""
            late.sock.close()
        for peer in inside:
            await peer.say(b"still here\n")
            assert await peer.line() == b"still here"
        assert here.core.count(Opened) == 2
        inside[0].sock.close()
        await here.core.until(Lost)
        newcomer = await here.visit()
        await newcomer.say(b"room now\n")
        assert await newcomer.line() == b"room now"


async def test_the_core_is_told_of_one_event_at_a_time() -> None:
    depth, deepest = 0, 0

    def answer(event: Event) -> list[Effect]:
        nonlocal depth, deepest
        depth += 1
        deepest = max(deepest, depth)
        effects = echo(event)
        depth -= 1
        return effects

    async with running_driver(answer) as here:
        peer = await here.visit()
        await peer.say(b"a\nb\n")
        await here.core.until(Flushed, 2)
        kinds = [type(event).__name__ for event in here.core.events]
        assert kinds == ["Opened", "Received", "Received", "Flushed", "Flushed"]
        assert deepest == 1


async def test_log_events_and_the_end_reach_whoever_runs_the_host() -> None:
    absent = BotAbsent("ann")
    async with running_driver(on(Opened, lambda event: [absent, Finished("finished")])) as here:
        await here.visit()
        await opened(here)
        assert here.recorder.logged == [absent]
        assert here.recorder.reasons == ["finished"]


async def test_effects_for_a_connection_that_is_gone_are_nothing() -> None:
    effects: list[Effect] = [Send(99, b"x\n"), CloseConnection(99), Mute(99), Unmute(99)]
    async with running_driver(on(Opened, lambda event: effects)) as here:
        await here.visit()
        await opened(here)
        assert here.core.count(Lost) == 0
