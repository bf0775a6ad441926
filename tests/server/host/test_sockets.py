"""Socket options, binding, and arrival stamps in monotonic time."""

from __future__ import annotations

import errno
import os
import socket
import struct
import sys
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.errors import ArenaError
from arena_server.host import sockets
from arena_server.host.connection import (
    ANCILLARY_BYTES,
    DISTRUST_NS,
    STEP_NS,
    ArrivalClock,
)
from arena_server.host.sockets import (
    SO_TIMESTAMPNS,
    address_of,
    bind,
    reason_of,
    set_up,
    set_up_accepted,
    urls_of,
)

HOUR = 3_600_000_000_000
WALL = 1_700_000_000_000_000_000


def accepted(listener: socket.socket) -> tuple[socket.socket, socket.socket]:
    """A peer and the connection accepted from it."""
    peer = socket.create_connection(listener.getsockname())
    listener.setblocking(True)
    connection, _ = listener.accept()
    return peer, connection


class TestSockets:
    def test_an_accepted_connection_sees_dead_peers_and_sends_at_once(self) -> None:
        with bind("127.0.0.1", 0) as listener:
            peer, connection = accepted(listener)
            with peer, connection:
                set_up(connection)
                assert connection.getblocking() is False
                assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
                assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                if sys.platform == "linux":
                    options = [socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT]
                    assert [connection.getsockopt(socket.IPPROTO_TCP, each) for each in options] == [5, 2, 3]
                    assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 10_000

    @pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each connection gets its own")
    def test_an_accepted_connection_has_the_options_of_its_listener(self) -> None:
        with bind("127.0.0.1", 0) as listener:
            peer, connection = accepted(listener)
            with peer, connection:
                set_up_accepted(connection)
                assert connection.getblocking() is False
                assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 10_000
                assert connection.getsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS)

    def test_a_dead_link_and_a_reset_have_different_reasons(self) -> None:
        assert reason_of(OSError(errno.ETIMEDOUT, "timed out")) == "dead-link"
        assert reason_of(ConnectionResetError(errno.ECONNRESET, "reset")) == "reset"

    def test_a_port_is_free_again_at_once(self) -> None:
        with bind("127.0.0.1", 0) as listener:
            port = listener.getsockname()[1]
            peer, connection = accepted(listener)
            connection.close()  # we close first: this side keeps the address for a while
            peer.close()
        bind("127.0.0.1", port).close()

    def test_a_port_in_use_is_refused(self) -> None:
        with bind("127.0.0.1", 0) as listener:
            port = listener.getsockname()[1]
            with pytest.raises(ArenaError, match=rf"^cannot listen on 127.0.0.1:{port}: the port is in use"):
                bind("127.0.0.1", port)

    def test_an_address_that_is_not_ours_is_refused(self) -> None:
        with pytest.raises(ArenaError, match=r"^cannot listen on 203\.0\.113\.7:0: Cannot assign"):
            bind("203.0.113.7", 0)

    def test_addresses_are_printed_as_clients_write_them(self) -> None:
        with bind("127.0.0.1", 0) as listener:
            assert address_of(listener) == f"127.0.0.1:{listener.getsockname()[1]}"

    @pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
    def test_an_ipv6_address_is_printed_in_brackets(self) -> None:
        try:
            listener = bind("::1", 0)
        except ArenaError:
            pytest.skip("no IPv6 loopback here")
        with listener:
            assert address_of(listener) == f"[::1]:{listener.getsockname()[1]}"


# -- arrival stamps


Ancillary = list[tuple[int, int, bytes]]


def stamp(wall: int) -> Ancillary:
    """Ancillary data with this stamp, after other data."""
    other = (socket.SOL_SOCKET, 1, b"xx")
    return [other, (socket.SOL_SOCKET, SO_TIMESTAMPNS, struct.pack("@qq", *divmod(wall, 10**9)))]


def clock() -> ArrivalClock:
    """A clock that has read monotonic 0 at wall time WALL."""
    return ArrivalClock(now_ns=0, wall_ns=WALL)


def at(clock: ArrivalClock, ancillary: Ancillary, now: int, wall: int) -> int:
    clock.read(now, wall)
    return clock.arrived(ancillary)


class TestUrls:
    """What a browser is given for a port: an address that it can open."""

    def test_of_an_address_it_is_that_address(self) -> None:
        with bind("127.0.0.1", 0) as listener:
            assert urls_of(listener) == (f"http://{address_of(listener)}", None)

    def test_of_all_addresses_it_is_loopback_and_that_which_others_see(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sockets, "_own_address", lambda family: "192.168.1.7")
        with bind("0.0.0.0", 0) as listener:
            port = listener.getsockname()[1]
            assert urls_of(listener) == (f"http://127.0.0.1:{port}", f"http://192.168.1.7:{port}")

    def test_of_all_ipv6_addresses(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sockets, "_own_address", lambda family: "2001:db8::7")
        try:
            listener = bind("::", 0)
        except ArenaError:
            pytest.skip("no IPv6 here")
        with listener:
            port = listener.getsockname()[1]
            assert urls_of(listener) == (f"http://[::1]:{port}", f"http://[2001:db8::7]:{port}")

    def test_the_own_address_is_one_of_this_machine(self) -> None:
        """Whatever the machine's network is: where a route leads out, its address can be listened on."""
        for family in (socket.AF_INET, socket.AF_INET6):
            own = sockets._own_address(family)
            if own is not None:
                bind(own, 0).close()

    def test_without_a_network_there_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class NoRoute(socket.socket):
            def connect(self, address: object) -> None:
                raise OSError(errno.ENETUNREACH, "Network is unreachable")

        monkeypatch.setattr(socket, "socket", NoRoute)
        with bind("0.0.0.0", 0) as listener:
            assert urls_of(listener) == (f"http://127.0.0.1:{listener.getsockname()[1]}", None)


def test_a_stamp_is_the_arrival_of_the_bytes() -> None:
    assert at(clock(), stamp(WALL + 5_000_000), now=25_000_000, wall=WALL + 25_000_000) == 5_000_000


@pytest.mark.parametrize("ancillary", [[], [(socket.SOL_SOCKET, SO_TIMESTAMPNS, b"short")]])
def test_without_a_stamp_the_time_of_reading_counts(ancillary: Ancillary) -> None:
    assert at(clock(), ancillary, now=25, wall=WALL + 25) == 25


def test_a_stamp_of_the_future_is_now() -> None:
    assert at(clock(), stamp(WALL + 30), now=25, wall=WALL + 25) == 25


@pytest.mark.parametrize("jump", [HOUR, -HOUR, STEP_NS + 1, -STEP_NS - 1])
def test_a_step_of_the_wall_clock_is_charged_to_no_bot(jump: int) -> None:
    arrivals = clock()
    now = 10_000_000
    assert at(arrivals, stamp(WALL + 5_000_000), now, WALL + now + jump) == now
    # Stamps from before the step may still wait in other sockets.
    later = now + DISTRUST_NS - 1
    assert at(arrivals, stamp(WALL + 6_000_000), later, WALL + later + jump) == later
    # After that, stamps are of the new wall time.
    later = now + DISTRUST_NS
    assert at(arrivals, stamp(WALL + jump + later - 700), later, WALL + later + jump) == later - 700


def test_slewing_is_followed() -> None:
    arrivals = clock()
    for step in range(1, 50):
        now, drift = step * HOUR // 1000, step * (STEP_NS - 1)
        assert at(arrivals, stamp(WALL + drift + now - 10), now, WALL + drift + now) == now - 10


@given(st.integers(0, 2**62), st.integers(0, HOUR), st.integers(-HOUR, HOUR))
def test_no_arrival_is_later_than_now(wall: int, now: int, drift: int) -> None:
    assert at(clock(), stamp(wall), now, WALL + now + drift) <= now


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
        ancillary: Ancillary = []
        # The kernel starts to stamp a moment after the first request for it.
        while not ancillary:
            peer.sendall(b"MOVE 6\n")
            data, ancillary, _, _ = accepted.recvmsg(4096, ANCILLARY_BYTES)
            assert data == b"MOVE 6\n"
        arrivals.read(time.monotonic_ns(), time.time_ns())
        # The two clocks are read one after the other: allow for the time between.
        assert before - STEP_NS <= arrivals.arrived(ancillary) <= time.monotonic_ns()


class TestSocketsOfSystemd:
    """What it hands over is taken by its port; a client that has connected before is in the backlog."""

    @pytest.fixture
    def port(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            monkeypatch.setattr(sockets, "FIRST_HANDED_OVER", listener.fileno())
            monkeypatch.setenv("LISTEN_PID", str(os.getpid()))
            monkeypatch.setenv("LISTEN_FDS", "1")
            yield listener.getsockname()[1]

    def test_each_server_takes_it_over_from_the_one_before(self, port: int) -> None:
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", port)) as client, bind("127.0.0.1", port) as taken:
                assert not taken.getblocking()
                accepted, address = taken.accept()
                accepted.close()
                assert address == client.getsockname()

    def test_another_port_is_bound(self, port: int) -> None:
        with bind("127.0.0.1", 0) as bound:
            assert bound.getsockname()[1] != port

    @pytest.mark.parametrize(
        ("variable", "value"), [("LISTEN_PID", "1"), ("LISTEN_FDS", "0"), ("LISTEN_FDS", "x")]
    )
    def test_variables_that_are_not_for_this_process(
        self, port: int, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
    ) -> None:
        monkeypatch.setenv(variable, value)
        with pytest.raises(ArenaError, match="the port is in use"):
            bind("127.0.0.1", port)
