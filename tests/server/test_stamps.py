"""Arrival stamps: told in monotonic time, and not believed when the wall clock has jumped."""

from __future__ import annotations

import socket
import struct
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.sockets import ANCILLARY_BYTES, DISTRUST_NS, SO_TIMESTAMPNS, STEP_NS, ArrivalClock, stamp_of

HOUR = 3_600_000_000_000
WALL = 1_700_000_000_000_000_000


def clock() -> ArrivalClock:
    """A clock that has seen monotonic 0 at wall time WALL."""
    return ArrivalClock(now_ns=0, wall_ns=WALL)


def test_a_stamp_tells_when_the_bytes_came_not_when_they_were_read() -> None:
    assert clock().at(WALL + 5_000_000, now=25_000_000, wall=WALL + 25_000_000) == 5_000_000


def test_without_a_stamp_the_moment_of_reading_counts() -> None:
    assert clock().at(None, now=25, wall=WALL + 25) == 25


def test_a_stamp_of_the_future_is_now() -> None:
    assert clock().at(WALL + 30, now=25, wall=WALL + 25) == 25


@pytest.mark.parametrize("jump", [HOUR, -HOUR, STEP_NS + 1, -STEP_NS - 1])
def test_a_jump_of_the_wall_clock_is_nobodys_time(jump: int) -> None:
    arrivals = clock()
    now = 10_000_000
    assert arrivals.at(WALL + 5_000_000, now, WALL + now + jump) == now
    # Stamps from before the jump may still wait in other sockets.
    later = now + DISTRUST_NS - 1
    assert arrivals.at(WALL + 6_000_000, later, WALL + later + jump) == later
    # After that, stamps are of the new wall time again.
    later = now + DISTRUST_NS
    assert arrivals.at(WALL + jump + later - 700, later, WALL + later + jump) == later - 700


def test_slewing_is_followed() -> None:
    arrivals = clock()
    for step in range(1, 50):
        now, drift = step * HOUR // 1000, step * (STEP_NS - 1)
        assert arrivals.at(WALL + drift + now - 10, now, WALL + drift + now) == now - 10


@given(st.integers(0, 2**62), st.integers(0, HOUR), st.integers(-HOUR, HOUR))
def test_no_arrival_is_later_than_now(stamp: int, now: int, drift: int) -> None:
    assert clock().at(stamp, now, WALL + now + drift) <= now


def test_a_stamp_is_found_among_other_ancillary_data() -> None:
    found = (socket.SOL_SOCKET, SO_TIMESTAMPNS, struct.pack("@qq", 3, 7))
    assert stamp_of([(socket.SOL_SOCKET, 1, b"xx"), found]) == 3_000_000_007
    assert stamp_of([]) is None
    assert stamp_of([(socket.SOL_SOCKET, SO_TIMESTAMPNS, b"short")]) is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux stamps what arrives on TCP")
def test_the_kernel_stamps_what_arrives_over_tcp() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as peer,
        server.accept()[0] as accepted,
    ):
        accepted.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        arrivals = ArrivalClock()
        before = time.monotonic_ns()
        ancillary: list[tuple[int, int, bytes]] = []
        # The kernel begins to stamp a moment after somebody first asks it to.
        while stamp_of(ancillary) is None:
            peer.sendall(b"MOVE 6\n")
            data, ancillary, _, _ = accepted.recvmsg(4096, ANCILLARY_BYTES)
            assert data == b"MOVE 6\n"
        # The two clocks are read one after the other: allow for what passes in between.
        assert before - STEP_NS <= arrivals.arrived(ancillary) <= time.monotonic_ns()
