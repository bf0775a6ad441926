"""Network faults: the plan in its own time, the shell on loopback."""

from __future__ import annotations

import asyncio
import queue
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ports import deaf_port

from arena_check.proxy import GAP_NS, PIECE_BYTES, WINDOW_NS, FaultPlan, Faults, Piece, Proxy

MS = 1_000_000

faults = st.builds(
    Faults,
    delay_ms=st.integers(0, 100),
    jitter_ms=st.integers(0, 50),
    split=st.booleans(),
    join=st.booleans(),
    seed=st.integers(0, 5),
)
#: Chunks with the nanoseconds that pass before each.
arrivals = st.lists(st.tuples(st.binary(max_size=200), st.integers(0, 60 * MS)), max_size=12)


def planned(faults: Faults, chunks: list[tuple[bytes, int]], connection: int = 1) -> list[tuple[int, Piece]]:
    """Every piece with the time at which its bytes came."""
    plan = FaultPlan(faults, connection, "back")
    times = accumulate(gap for _, gap in chunks)
    return [
        (now, piece) for (data, _), now in zip(chunks, times, strict=True) for piece in plan.feed(data, now)
    ]


@given(faults, arrivals)
def test_all_bytes_go_through_in_order(faults: Faults, chunks: list[tuple[bytes, int]]) -> None:
    pieces = [piece for _, piece in planned(faults, chunks)]
    assert b"".join(piece.data for piece in pieces) == b"".join(data for data, _ in chunks)
    assert all(piece.data for piece in pieces)
    assert all(before.at <= after.at for before, after in pairwise(pieces))


@given(faults, arrivals)
def test_no_piece_is_early_and_only_order_makes_one_late(
    faults: Faults, chunks: list[tuple[bytes, int]]
) -> None:
    late = (faults.delay_ms + faults.jitter_ms) * MS + (WINDOW_NS if faults.join else 0)
    last = 0
    for came, piece in planned(faults, chunks):
        assert piece.at >= came + faults.delay_ms * MS
        assert piece.at <= max(came + late, last + (GAP_NS if faults.split else 0))
        last = piece.at


@given(st.binary(min_size=1, max_size=500), st.lists(st.integers(0, 500)), st.integers(0, 5))
def test_cuts_do_not_depend_on_how_the_network_groups_bytes(
    data: bytes, places: list[int], seed: int
) -> None:
    faults = Faults(split=True, seed=seed)
    ends = sorted({*places, 0, len(data)} & set(range(len(data) + 1)))
    chunks = [(data[start:end], 0) for start, end in pairwise(ends)]
    assert segments(planned(faults, chunks)) == segments(planned(faults, [(data, 0)]))


def segments(pieces: list[tuple[int, Piece]]) -> list[bytes]:
    """What goes at the same time, together."""
    joined: dict[int, bytes] = {}
    for _, piece in pieces:
        joined[piece.at] = joined.get(piece.at, b"") + piece.data
    return list(joined.values())


def test_a_line_is_cut_into_short_pieces_that_go_apart() -> None:
    pieces = [piece for _, piece in planned(Faults(split=True), [(b"x" * 1000, 0)])]
    assert len(pieces) > 1000 / PIECE_BYTES
    assert max(len(piece.data) for piece in pieces) <= PIECE_BYTES
    assert all(after.at - before.at == GAP_NS for before, after in pairwise(pieces))


def test_what_comes_within_a_window_goes_together() -> None:
    chunks = [(b"PLAYED 1\n", 1 * MS), (b"PLAYED 2\n", 5 * MS), (b"TURN 3\n", 5 * MS), (b"PING x\n", 30 * MS)]
    assert segments(planned(Faults(join=True), chunks)) == [b"PLAYED 1\nPLAYED 2\nTURN 3\n", b"PING x\n"]


def test_the_seed_decides_for_each_connection_and_direction() -> None:
    chunks = [(b"x" * 300, 0)]
    faults = Faults(split=True, jitter_ms=50, seed=7)
    assert planned(faults, chunks) == planned(faults, chunks)
    assert planned(faults, chunks) != planned(faults, chunks, connection=2)
    assert planned(faults, chunks) != planned(Faults(split=True, jitter_ms=50, seed=8), chunks)
    assert FaultPlan(faults, 1, "back").feed(b"x" * 300, 0) != FaultPlan(faults, 1, "to").feed(b"x" * 300, 0)


def test_without_faults_nothing_changes() -> None:
    chunks = [(b"TURN", 5), (b" 1\n", 7)]
    assert planned(Faults(), chunks) == [(5, Piece(5, b"TURN")), (12, Piece(12, b" 1\n"))]


class Running:
    """A proxy in a thread of its own; `reported` gives its lines, one after the other."""

    def __init__(self, target: int, faults: Faults) -> None:
        self._lines: queue.Queue[str] = queue.Queue()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._proxy = Proxy(("127.0.0.1", target), faults, self._lines.put)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), daemon=True)
        self._thread.start()
        self._ready.wait(30)

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._proxy.serve(self._listener))
        self._ready.set()
        with suppress(asyncio.CancelledError):
            await self._task

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join(150)
        self._listener.close()

    def reported(self) -> str:
        """The next line of its report."""
        return self._lines.get(timeout=150)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=150)


Start = Callable[[Faults], Running]


@pytest.fixture
def echo() -> Iterator[socket.socket]:
    """A server that sends each connection back what it says, until its end."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection = listener.accept()[0]
                with connection, suppress(OSError):
                    while data := connection.recv(4096):
                        connection.sendall(data)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener
    with suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(150)


@pytest.fixture
def start(echo: socket.socket) -> Iterator[Start]:
    """Start a proxy before the echo."""
    running: list[Running] = []

    def begin(faults: Faults) -> Running:
        running.append(Running(echo.getsockname()[1], faults))
        return running[-1]

    yield begin
    for each in running:
        each.stop()


def read_all(sock: socket.socket) -> bytes:
    data = b""
    while chunk := sock.recv(4096):
        data += chunk
    return data


@pytest.mark.parametrize("faults", [Faults(), Faults(split=True, join=True, delay_ms=1, jitter_ms=1, seed=3)])
def test_a_conversation_goes_through_to_its_end(start: Start, faults: Faults) -> None:
    proxy = start(faults)
    text = b"".join(b"MOVE %d\n" % number for number in range(50))
    with proxy.connect() as sock:
        sock.sendall(text)
        sock.shutdown(socket.SHUT_WR)
        assert read_all(sock) == text
    assert proxy.reported() == (
        f"connection 1: closed, {len(text)} bytes to the server, {len(text)} bytes back"
    )


def test_a_connection_is_reset_after_its_time(start: Start) -> None:
    proxy = start(Faults(reset_after_ms=20))
    for number in (1, 2):
        with proxy.connect() as sock:
            sock.sendall(b"x")
            with pytest.raises(ConnectionResetError):
                read_all(sock)
        assert proxy.reported().startswith(f"connection {number}: reset by the proxy, ")


def test_a_peer_that_breaks_the_connection_breaks_it_for_the_other(start: Start) -> None:
    proxy = start(Faults())
    with proxy.connect() as sock:
        sock.sendall(b"x")
        assert sock.recv(1) == b"x"
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    assert proxy.reported() == "connection 1: broken by a peer, 1 bytes to the server, 1 bytes back"


def test_a_target_that_is_not_there_is_reported() -> None:
    with deaf_port() as port:
        proxy = Running(port, Faults())
        with proxy.connect() as sock:
            assert sock.recv(1) == b""
        assert proxy.reported() == f"connection 1: cannot reach 127.0.0.1:{port}: Connection refused"
        proxy.stop()


def test_stopping_cuts_what_is_open(start: Start) -> None:
    proxy = start(Faults())
    with proxy.connect() as sock:
        sock.sendall(b"x")
        assert sock.recv(1) == b"x"
        proxy.stop()
        with suppress(ConnectionResetError):
            assert read_all(sock) == b""
