"""Sockets, descriptors and the listener: options set, limits raised, exhaustion survived."""

from __future__ import annotations

import asyncio
import errno
import resource
import socket
import subprocess
import sys

import pytest

from arena_server.errors import ArenaError
from arena_server.listener import ACCEPTS_A_SECOND, RESERVE, Listener, connection_cap, raise_descriptor_limit
from arena_server.sockets import SO_TIMESTAMPNS, address_of, bind, reason_of, set_up, set_up_accepted


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

    def test_a_dead_link_is_told_apart_from_a_reset(self) -> None:
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


class TestDescriptors:
    def test_the_soft_limit_is_raised_to_the_hard_one(self) -> None:
        program = (
            "import resource; from arena_server.listener import raise_descriptor_limit\n"
            "resource.setrlimit(resource.RLIMIT_NOFILE, (100, 300)); print(raise_descriptor_limit())"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout == "300\n"

    def test_where_there_is_no_limit_none_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
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

    def test_a_client_that_gave_up_in_the_backlog_stops_nobody(self) -> None:
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
        listener.close()  # once more is no harm
        return told, 1 + welcomed.qsize()

    def test_a_flood_of_connections_is_let_in_at_a_steady_pace(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("arena_server.listener.CROWD", 3)

        async def run() -> tuple[float, list[float]]:
            loop = asyncio.get_running_loop()
            sock = bind("127.0.0.1", 0)
            came: list[float] = []
            everybody = asyncio.Event()

            def welcome(connection: socket.socket, peer: str) -> None:
                connection.close()
                came.append(loop.time())
                if len(came) == 13:
                    everybody.set()

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
                await everybody.wait()
            for peer in peers:
                peer.close()
            listener.close()
            return began, came

        began, came = asyncio.run(run())
        for number, moment in enumerate(came, start=1):
            assert number <= 3 + (moment - began) * ACCEPTS_A_SECOND

    def test_who_has_left_again_is_closed_unheard(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("arena_server.listener.CROWD", 3)

        async def run() -> list[bytes]:
            loop = asyncio.get_running_loop()
            sock = bind("127.0.0.1", 0)
            heard: list[bytes] = []
            last = asyncio.Event()

            def welcome(connection: socket.socket, peer: str) -> None:
                with connection:
                    heard.append(connection.recv(100))
                if heard[-1] == b"last\n":
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
                        peer.sendall(b"HELLO\n")  # what it said before it left is heard
            with socket.create_connection(sock.getsockname()) as peer:
                peer.sendall(b"last\n")
                listener.start()
                async with asyncio.timeout(10):
                    await last.wait()
            listener.close()
            return heard

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
