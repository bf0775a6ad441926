"""The Host check, and bodies within their limits."""

from __future__ import annotations

import json
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from arena_server.web.app import application
from arena_server.web.security import HostCheck, host_name, read_body

from .running import parse, running

LIMIT = 4096


async def length(request: Request) -> Response:
    return PlainTextResponse(str(len(await read_body(request, LIMIT))))


def make() -> ASGIApp:
    check = Middleware(HostCheck, names=["arena.example.org"])
    return application([Route("/length", length, methods=["POST"])], [check])


class TestHost:
    @pytest.mark.parametrize(
        "host",
        [
            "127.0.0.1",
            "127.0.0.1:2008",
            "[::1]:2008",
            "[::1]",
            "192.168.1.7:80",
            "localhost",
            "LOCALHOST:80",
            "localhost.",
            "arena.example.org",
            "Arena.Example.org:443",
            socket.gethostname(),
        ],
    )
    def test_a_name_of_this_server(self, host: str) -> None:
        with running(make) as server:
            assert server.ask("POST /length", "Content-Length: 0\n", host)[0] == 200

    @pytest.mark.parametrize(
        "host",
        [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "127.0.0.1:80@evil.example",
            "evil.example:127",
            "",
            ":80",
            "[::1",
            "[evil.example]",
            "localhost:999999",
            "localhost:x",
            "127.0.0.1, evil.example",
        ],
    )
    def test_any_other(self, host: str) -> None:
        with running(make) as server:
            status, _, body = server.ask("POST /length", "Content-Length: 0\n", host)
        text = f"this server is not {host!r}; use its address, or name it in server.web_names"
        assert (status, json.loads(body)) == (421, {"error": text})

    def test_a_request_without_one_is_no_browsers(self) -> None:
        with running(make) as server:
            assert server.send("POST /length HTTP/1.0\n\n").startswith(b"HTTP/1.1 200 OK")

    @given(st.text(st.characters(max_codepoint=255)))
    def test_any_text_is_judged(self, text: str) -> None:
        name = host_name(text)
        assert name is None or name == name.lower()
        if HostCheck(Starlette()).accepts(text):
            assert name is not None


class TestBody:
    @pytest.mark.parametrize("size", [str(LIMIT + 1), "9" * 9, "9" * 19, "9" * 20, "00000000000000000001"])
    def test_a_content_length_beyond_the_limit_is_refused_unread(self, size: str) -> None:
        with running(make) as server:
            status, _, body = server.ask("POST /length", f"Content-Length: {size}\n")
        assert (status, body) == (413, f"a request may have {LIMIT} bytes at most\n")

    @pytest.mark.parametrize("size", ["9" * 30, "-1", "many", "\xb2"])
    def test_a_content_length_that_is_none(self, size: str) -> None:
        with running(make) as server:
            assert server.ask("POST /length", f"Content-Length: {size}\n")[0] == 400

    @pytest.mark.parametrize("size", [0, 1, LIMIT])
    def test_a_body_within_the_limit(self, size: int) -> None:
        with running(make) as server:
            head = f"POST /length HTTP/1.1\r\nHost: {server.address}\r\nContent-Length: {size}\r\n"
            data = f"{head}Connection: close\r\n\r\n{'x' * size}".encode()
            assert parse(server.send(data))[::2] == (200, str(size))

    def test_a_chunked_body_beyond_the_limit(self) -> None:
        with running(make) as server:
            head = f"POST /length HTTP/1.1\r\nHost: {server.address}\r\nTransfer-Encoding: chunked\r\n"
            chunk = b"800\r\n" + b"x" * 0x800 + b"\r\n"
            data = f"{head}Connection: close\r\n\r\n".encode() + 3 * chunk + b"0\r\n\r\n"
            assert server.send(data).startswith(b"HTTP/1.1 413 ")
