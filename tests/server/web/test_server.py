"""The HTTP server with real sockets: limits, slow clients, shutdown, faults."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from contextlib import suppress
from random import Random

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from arena_server.host.logs import LineWriter, Log
from arena_server.web import server as module
from arena_server.web.app import application
from arena_server.web.languages import all_codes
from arena_server.web.pages import nothing_here
from arena_server.web.thread import WebThread

from .running import LIMIT_S, parse, read_all, running

CAP = 8


class Endpoints:
    """An application whose `/held` answers once `release` is set."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.release = threading.Event()

    def make(self) -> ASGIApp:
        return application(
            [
                Route("/healthz", self.health),
                Route("/held", self.held),
                Route("/failing", self.failing),
                Route("/big", self.big),
                Route("/taken", self.taken, methods=["POST"]),
            ]
        )

    async def health(self, _: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def held(self, _: Request) -> Response:
        self.entered.release()
        await asyncio.to_thread(self.release.wait, LIMIT_S)
        return PlainTextResponse("released\n")

    async def failing(self, _: Request) -> Response:
        raise ZeroDivisionError

    async def big(self, _: Request) -> Response:
        return PlainTextResponse("x" * 20_000_000)

    async def taken(self, request: Request) -> Response:
        return PlainTextResponse(f"{len(await request.body())}\n")


#: A request of whose body the rest does not come.
HALF = "POST /taken HTTP/1.1\r\nHost: {}\r\nContent-Length: 9\r\n\r\nhalf"


def drip(sock: socket.socket) -> None:
    while True:
        sock.sendall(b"G")


class TestSlowClients:
    @pytest.mark.parametrize("start", ["", "GET /healthz HTTP/1.1\r\nHost: {}", HALF])
    def test_many_of_them_do_not_block_a_probe(self, start: str) -> None:
        with running(Endpoints().make, CAP) as server:
            slow = [server.connect() for _ in range(4 * CAP)]
            for sock in slow:
                sock.sendall(start.format(server.address).encode())
            for _ in range(3):
                assert server.ask("GET /healthz")[0] == 200
            for sock in slow:
                sock.close()
        assert server.log == ""

    def test_the_oldest_idle_connection_makes_room(self) -> None:
        with running(Endpoints().make, CAP) as server:
            slow = [server.connect() for _ in range(CAP)]
            assert server.ask("GET /healthz")[0] == 200
            assert slow[0].recv(1) == b""
            slow[-1].sendall(f"GET /healthz HTTP/1.1\r\nHost: {server.address}\r\n\r\n".encode())
            assert slow[-1].recv(100).startswith(b"HTTP/1.1 200")
            for sock in slow:
                sock.close()

    def test_without_an_idle_one_the_newest_is_closed(self) -> None:
        endpoints = Endpoints()
        with running(endpoints.make, CAP) as server:
            busy = [server.connect() for _ in range(CAP)]
            for sock in busy:
                sock.sendall(
                    f"GET /held HTTP/1.1\r\nHost: {server.address}\r\nConnection: close\r\n\r\n".encode()
                )
                assert endpoints.entered.acquire(timeout=LIMIT_S)
            with server.connect() as beyond:
                assert beyond.recv(1) == b""
            endpoints.release.set()
            for sock in busy:
                with sock:
                    assert read_all(sock).endswith(b"released\n")

    @pytest.mark.parametrize("start", [b"", b"GET /healthz HTTP/1.1\r\n"])
    def test_a_head_that_does_not_come_ends_the_connection(
        self, start: bytes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "IDLE_S", 0.05)
        with running(Endpoints().make) as server, server.connect() as sock:
            sock.sendall(start)
            assert sock.recv(1) == b""

    def test_so_does_one_that_drips_after_a_first_request(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "IDLE_S", 0.05)
        with running(Endpoints().make) as server, server.connect() as sock:
            sock.sendall(f"GET /healthz HTTP/1.1\r\nHost: {server.address}\r\n\r\n".encode())
            assert sock.recv(1000).startswith(b"HTTP/1.1 200")
            with pytest.raises((ConnectionResetError, BrokenPipeError)):
                drip(sock)

    def test_a_request_that_takes_too_long_ends_the_connection(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "REQUEST_S", 0.05)
        endpoints = Endpoints()
        with running(endpoints.make) as server, server.connect() as sock:
            sock.sendall(f"GET /held HTTP/1.1\r\nHost: {server.address}\r\n\r\n".encode())
            assert sock.recv(1) == b""
            endpoints.release.set()
        assert server.log == ""

    def test_a_client_that_does_not_read_is_disconnected(self, monkeypatch: pytest.MonkeyPatch) -> None:
        lost = threading.Event()

        class Protocol(module.BoundedProtocol):
            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                lost.set()

        monkeypatch.setattr(module, "BoundedProtocol", Protocol)
        monkeypatch.setattr(module, "IDLE_S", 0.05)
        with running(Endpoints().make) as server, server.connect() as sock:
            sock.sendall(f"GET /big HTTP/1.1\r\nHost: {server.address}\r\n\r\n".encode())
            assert lost.wait(LIMIT_S)
            assert len(read_all(sock)) < 20_000_000


class TestRequests:
    def test_an_answer(self) -> None:
        with running(Endpoints().make) as server:
            status, headers, body = server.ask("GET /healthz?a=b")
        assert (status, body) == (200, "ok\n")
        assert headers["content-type"] == "text/plain; charset=utf-8"
        assert headers["content-length"] == "3"
        assert headers["server"] == "insertion-arena"

    def test_a_client_that_ends_its_input_gets_the_whole_answer(self) -> None:
        with running(Endpoints().make) as server, server.connect() as sock:
            sock.sendall(f"GET /big HTTP/1.1\r\nHost: {server.address}\r\n\r\n".encode())
            sock.shutdown(socket.SHUT_WR)
            assert len(read_all(sock).partition(b"\r\n\r\n")[2]) == 20_000_000

    @pytest.mark.parametrize("start", ["", HALF])
    def test_one_that_ends_its_input_without_a_request_is_closed(self, start: str) -> None:
        with running(Endpoints().make) as server, server.connect() as sock:
            sock.sendall(start.format(server.address).encode())
            sock.shutdown(socket.SHUT_WR)
            assert read_all(sock) == b""
        assert server.log == ""

    def test_two_requests_on_one_connection(self) -> None:
        with running(Endpoints().make) as server:
            head = f"GET /healthz HTTP/1.1\r\nHost: {server.address}\r\n"
            answer = server.send(f"{head}\r\n{head}Connection: close\r\n\r\n".encode())
        assert answer.count(b"HTTP/1.1 200 OK") == answer.count(b"ok\n") == 2

    def test_an_unknown_path_has_a_line_and_for_a_browser_a_page(self) -> None:
        with running(Endpoints().make) as server:
            assert server.ask("GET /nothing")[::2] == (404, "nothing is at /nothing\n")
            assert server.ask(f"GET /{'x' * 200}")[2] == f"nothing is at /{'x' * 99}\n"
            page = server.ask("GET /nothing", "Accept: text/html,*/*;q=0.8\n")
        assert page[::2] == (404, nothing_here(""))
        assert '<header class="site"><a class="brand" href="/">insertion-arena</a></header>' in page[2]
        assert [f'lang="{code}"' in page[2] for code in all_codes()] == [True] * len(all_codes())

    def test_another_method(self) -> None:
        with running(Endpoints().make) as server:
            assert server.ask("POST /healthz")[0] == 405

    def test_what_is_not_http(self) -> None:
        with running(Endpoints().make) as server:
            assert parse(server.send(b"HELLO 1 mybot\r\n\r\n"))[0] == 400
            with server.connect() as sock, suppress(ConnectionResetError, BrokenPipeError):
                sock.sendall(Random(1).randbytes(100_000))
            assert server.ask("GET /healthz")[0] == 200
        assert server.log == ""

    def test_a_body_that_is_not_http_before_and_in_its_answer(self) -> None:
        """The endpoint answers a connection that is refused already: that is no fault of the server."""
        endpoints = Endpoints()
        with running(endpoints.make) as server:
            head = "HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            assert parse(server.send(f"GET /healthz {head}zz\r\n\r\n".encode()))[0] == 400
            with server.connect() as sock:
                sock.sendall(f"GET /held {head}".encode())
                assert endpoints.entered.acquire(timeout=LIMIT_S)
                sock.sendall(b"zz\r\n")
                assert parse(read_all(sock))[0] == 400
            endpoints.release.set()
            with server.connect() as sock, suppress(ConnectionResetError):
                sock.sendall(f"GET /big {head}".encode())
                assert sock.recv(1000).startswith(b"HTTP/1.1 200 ")
                sock.sendall(b"zz\r\n")
                assert len(read_all(sock)) > 19_000_000, "what is written is sent"
            assert server.ask("GET /healthz")[0] == 200
        assert server.log == ""

    def test_a_head_without_end(self) -> None:
        with running(Endpoints().make) as server:
            head = f"GET /healthz HTTP/1.1\r\nHost: {server.address}\r\n" + "A: b\r\n" * 10_000
            with server.connect() as sock, suppress(ConnectionResetError, BrokenPipeError):
                sock.sendall(head.encode())
                assert parse(read_all(sock))[0] in (400, 431)
            assert server.ask("GET /healthz")[0] == 200

    def test_a_whole_head_that_is_too_long(self) -> None:
        """One that arrives at once is refused as well; one below the limit is not."""
        with running(Endpoints().make) as server:
            assert server.ask("GET /healthz", f"A: {'a' * (module.HEAD_BYTES - 1000)}\n")[0] == 200
            head = f"GET /healthz HTTP/1.1\r\nHost: {server.address}\r\nA: {'a' * 100_000}\r\n\r\n"
            with server.connect() as sock, suppress(ConnectionResetError, BrokenPipeError):
                sock.sendall(head.encode())
                assert parse(read_all(sock))[0] in (400, 431)
            assert server.ask("GET /healthz")[0] == 200

    def test_a_fault_of_an_endpoint_is_logged_and_affects_no_other_request(self) -> None:
        with running(Endpoints().make) as server:
            assert server.ask("GET /failing")[0] == 500
            assert server.ask("GET /healthz")[0] == 200
        lines = server.log.splitlines()
        assert all(" error web-fault trace=" in line for line in lines)
        assert lines[-1].endswith("trace=ZeroDivisionError")


class TestEnd:
    def test_an_idle_client_does_not_delay_it(self) -> None:
        with running(Endpoints().make) as server:
            assert server.ask("GET /healthz")[0] == 200
            silent = server.connect()
        with silent:
            assert silent.recv(1) == b""

    def test_close_before_the_server_is_up(self) -> None:
        with running(Endpoints().make):
            pass

    def test_an_application_that_cannot_be_made(self) -> None:
        def make() -> ASGIApp:
            raise LookupError("no such page")

        with running(make) as server, suppress(ConnectionResetError), server.connect() as sock:
            assert sock.recv(1) == b""
        assert server.log.splitlines()[-1].endswith("error web-fault trace='LookupError: no such page'")

    def test_an_application_whose_parts_end_while_it_is_made(self) -> None:
        """A server that is stopped at its first request; that is no fault."""
        reader, fd = os.pipe()
        lines = LineWriter(fd)
        making = threading.Event()

        def make() -> ASGIApp:
            making.set()
            while not thread._closing:
                time.sleep(0.001)
            raise OSError("Bad file descriptor")

        sock = socket.create_server(("127.0.0.1", 0))
        thread = WebThread(sock, make, CAP, Log(lines))
        with thread, socket.create_connection(sock.getsockname()):
            assert making.wait(LIMIT_S)
        assert lines.close()
        os.close(fd)
        with os.fdopen(reader) as pipe:
            assert pipe.read() == ""

    def test_a_socket_that_is_closed(self) -> None:
        reader, fd = os.pipe()
        lines = LineWriter(fd)
        closed = socket.socket()
        closed.close()
        with WebThread(closed, Starlette, CAP, Log(lines)) as thread:
            thread._thread.join(LIMIT_S)
        assert lines.close()
        os.close(fd)
        with os.fdopen(reader) as pipe:
            assert "error web-fault trace=" in pipe.read()
