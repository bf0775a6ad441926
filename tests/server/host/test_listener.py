"""Descriptors and the listener: limits raised, exhaustion survived, floods paced."""

from __future__ import annotations

import asyncio
import errno
import resource
import socket
import subprocess
import sys
from typing import Any

import pytest

from arena_server.host.listener import (
    ACCEPTS_PER_SECOND,
    MAX_REFUSALS,
    RESERVE,
    ConnectionPool,
    Listener,
    connection_cap,
    raise_descriptor_limit,
)
from arena_server.host.sockets import bind


class TestDescriptors:
    @pytest.mark.real
    def test_the_soft_limit_is_raised_to_the_hard_one(self) -> None:
        program = (
            "import resource; from arena_server.host.listener import raise_descriptor_limit\n"
            "resource.setrlimit(resource.RLIMIT_NOFILE, (100, 300)); print(raise_descriptor_limit())"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout == "300\n"

    def test_without_a_limit_none_is_returned(self, monkeypatch: pytest.MonkeyPatch) -> None:
        endless = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        monkeypatch.setattr(resource, "getrlimit", lambda _: endless)
        assert raise_descriptor_limit() is None

    def test_the_cap_stays_below_the_descriptors(self) -> None:
        assert connection_cap(4000, None) == 4000
        assert connection_cap(4000, 20_000) == 4000
        assert connection_cap(4000, 1024) == 1024 - RESERVE
        assert connection_cap(4000, 1024, 100) == 1024 - RESERVE - 100
        assert connection_cap(4000, 10) == 1


class Exhausted:
    """A listening socket that now and then finds no descriptor left."""

    def __init__(self, sock: socket.socket, failures: list[int]) -> None:
        self._sock = sock
        self._failures = failures

    def fileno(self) -> int:
        return self._sock.fileno()

    def accept(self) -> tuple[socket.socket, object]:
        if self._failures:
            raise OSError(self._failures.pop(0), "scripted")
        return self._sock.accept()

    def close(self) -> None:
        self._sock.close()


class TestListener:
    @pytest.mark.parametrize("failure", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
    def test_out_of_descriptors_it_pauses_and_comes_back(self, failure: int) -> None:
        told, welcomed = asyncio.run(self.visit([failure]))
        assert told == [failure]
        assert welcomed == 1

    def test_a_client_that_gave_up_in_the_backlog_is_skipped(self) -> None:
        told, welcomed = asyncio.run(self.visit([errno.ECONNABORTED, errno.EPERM]))
        assert told == []
        assert welcomed == 1

    async def visit(self, failures: list[int]) -> tuple[list[int | None], int]:
        """What a listener that meets these failures tells, and how many it welcomes in the end."""
        loop = asyncio.get_running_loop()
        sock = bind("127.0.0.1", 0)
        told: list[int | None] = []
        welcomed: asyncio.Queue[socket.socket] = asyncio.Queue()
        listener = Listener(
            Exhausted(sock, failures),  # type: ignore[arg-type]
            loop,
            has_room=lambda: True,
            welcome=lambda connection, peer: welcomed.put_nowait(connection),
            refuse=lambda connection: connection.close(),
            exhausted=lambda error: told.append(error.errno),
        )
        listener.start()
        with socket.create_connection(sock.getsockname()):
            async with asyncio.timeout(10):
                (await welcomed.get()).close()
        listener.close()
        listener.close()  # closing again is allowed
        return told, 1 + welcomed.qsize()

    def test_a_flood_of_connections_is_accepted_at_a_steady_rate(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("arena_server.host.listener.BURST", 3)

        async def run() -> tuple[float, list[float]]:
            loop = asyncio.get_running_loop()
            sock = bind("127.0.0.1", 0)
            came: list[float] = []
            accepted_all = asyncio.Event()

            def welcome(connection: socket.socket, peer: str) -> None:
                connection.close()
                came.append(loop.time())
                if len(came) == 13:
                    accepted_all.set()

            began = loop.time()
            listener = Listener(
                sock,
                loop,
                has_room=lambda: True,
                welcome=welcome,
                refuse=lambda connection: connection.close(),
                exhausted=lambda error: None,
            )
            peers = [socket.create_connection(sock.getsockname()) for _ in range(13)]
            listener.start()
            async with asyncio.timeout(10):
                await accepted_all.wait()
            for peer in peers:
                peer.close()
            listener.close()
            return began, came

        began, came = asyncio.run(run())
        for number, moment in enumerate(came, start=1):
            assert number <= 3 + (moment - began) * ACCEPTS_PER_SECOND

    def test_an_abandoned_connection_is_closed_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("arena_server.host.listener.BURST", 3)

        async def run() -> list[bytes]:
            loop = asyncio.get_running_loop()
            sock = bind("127.0.0.1", 0)
            received: list[bytes] = []
            last = asyncio.Event()

            def welcome(connection: socket.socket, peer: str) -> None:
                with connection:
                    received.append(connection.recv(100))
                if received[-1] == b"last\n":
                    last.set()

            listener = Listener(
                sock,
                loop,
                has_room=lambda: True,
                welcome=welcome,
                refuse=lambda connection: connection.close(),
                exhausted=lambda error: None,
            )
            for number in range(40):
                with socket.create_connection(sock.getsockname()) as peer:
                    if number == 20:
                        peer.sendall(b"HELLO\n")  # sent before it closed, so it is read
            with socket.create_connection(sock.getsockname()) as peer:
                peer.sendall(b"last\n")
                listener.start()
                async with asyncio.timeout(10):
                    await last.wait()
            listener.close()
            return received

        assert asyncio.run(run()) == [b"HELLO\n", b"last\n"]

    def test_closed_in_a_pause_it_stays_closed(self) -> None:
        async def run() -> int:
            loop = asyncio.get_running_loop()
            sock = bind("127.0.0.1", 0)
            paused = asyncio.Event()
            listener = Listener(
                Exhausted(sock, [errno.EMFILE] * 9),  # type: ignore[arg-type]
                loop,
                has_room=lambda: True,
                welcome=lambda connection, peer: connection.close(),
                refuse=lambda connection: connection.close(),
                exhausted=lambda error: paused.set(),
            )
            listener.start()
            with socket.create_connection(sock.getsockname()):
                await paused.wait()
                listener.close()
            return sock.fileno()

        assert asyncio.run(run()) == -1


class Refused:
    """A connection that its peer keeps open until it is aborted."""

    def __init__(self, number: int, sock: socket.socket, pool: list[ConnectionPool]) -> None:
        self.number = number
        self.said = b""
        self.aborted = False
        self._sock = sock
        self._pool = pool

    def start(self) -> None: ...

    def send(self, data: bytes) -> None:
        self.said += data

    def close(self) -> None: ...

    def abort(self) -> None:
        self.aborted = True
        self._sock.close()
        self._pool[0].released(self.number)


def test_of_refused_connections_that_stay_the_oldest_are_aborted() -> None:
    count = MAX_REFUSALS + 3

    async def run() -> list[Refused]:
        made: list[Refused] = []
        all_made, pools = asyncio.Event(), list[ConnectionPool]()

        def make(number: int, sock: socket.socket, plain: bool) -> Any:
            made.append(Refused(number, sock, pools))
            if number == count:
                all_made.set()
            return made[-1]

        pool = ConnectionPool(
            asyncio.get_running_loop(), 0, make, lambda number, peer: None, lambda error: None
        )
        pools.append(pool)
        sock = bind("127.0.0.1", 0)
        listener = pool.listen(sock)
        peers = [socket.create_connection(sock.getsockname()) for _ in range(count)]
        async with asyncio.timeout(10):
            await all_made.wait()
        listener.close()
        found = [each.aborted for each in made]
        await pool.drained(0)  # the rest
        for peer in peers:
            peer.close()
        assert all(each.aborted for each in made)
        return [made[number] for number, aborted in enumerate(found) if aborted]

    oldest = asyncio.run(run())
    assert [each.number for each in oldest] == [1, 2, 3]
    assert all(each.said.startswith(b"ERROR full ") for each in oldest)
