"""The organiser's API before the contest has started, while it stops, and over a loop that stands still."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette

from arena_server.host.host import Host, HostSetup
from arena_server.host.logs import LineWriter, Log
from arena_server.web.api import OrganiserApi
from arena_server.web.app import organiser_app
from arena_server.web.bridge import LoopBridge
from arena_server.web.host_view import HostView
from arena_server.web.orders import ORDER_BYTES, ORDER_FORM

from .running import LIMIT_S, TOKEN, Running, running

NOT_STARTED = "the contest has not begun yet: the database is being opened"
GUARD = f"Authorization: Bearer {TOKEN}\n"


@pytest.fixture
def host() -> Iterator[Host]:
    """A host that does not run yet."""
    setup = HostSetup(database=Path("arena.db"), max_connections=10, software="insertion-arena/0.1")
    sock, log_fd = socket.socket(), os.open(os.devnull, os.O_WRONLY)
    lines = LineWriter(log_fd)
    yield Host(setup, sock, Log(lines))
    lines.close()
    os.close(log_fd)
    sock.close()


@contextmanager
def loop_that_runs() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop on a thread of its own, as the referee's."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(LIMIT_S)
        loop.close()


@contextmanager
def api(host: Host) -> Iterator[Running]:
    with loop_that_runs() as loop:
        bridge = LoopBridge(loop)
        view = HostView(host, bridge)
        with running(lambda: organiser_app(bridge, view, TOKEN)) as server:
            yield server


def order(server: Running, body: bytes, guard: str = GUARD) -> tuple[int, object]:
    status, headers, text = server.ask_body("POST /orders", body, guard)
    assert headers["content-type"] == "application/json"
    return status, json.loads(text)


def test_before_the_contest_has_started(host: Host) -> None:
    with api(host) as server:
        assert server.ask("GET /healthz")[::2] == (200, "ok\n")
        assert server.ask("GET /readyz")[::2] == (503, f"{NOT_STARTED}\n")
        status, _, body = server.ask("GET /status", GUARD)
        assert (status, json.loads(body)) == (503, {"error": NOT_STARTED})
        assert order(server, b'{"verb": "pause"}') == (503, {"error": NOT_STARTED})
        status, headers, body = server.ask("GET /metrics")
        assert status == 200
        assert headers["content-type"].startswith("text/plain; version=")
        assert "arena_connections_max 0.0" in body
        assert "arena_games{" not in body  # not known yet


def test_on_the_port_of_spectators_metrics_need_the_token(host: Host) -> None:
    """They show running games without the spectator delay."""
    with loop_that_runs() as loop:
        bridge = LoopBridge(loop)
        organiser = OrganiserApi(bridge, HostView(host, bridge), TOKEN, spectators=True)
        with running(lambda: Starlette(routes=organiser.routes())) as server:
            assert server.ask("GET /metrics")[0] == 401
            assert server.ask("GET /metrics", GUARD)[0] == 200


def test_while_the_server_stops(host: Host) -> None:
    host.stop()
    with api(host) as server:
        assert server.ask("GET /readyz")[::2] == (503, "the server is stopping\n")


def test_a_loop_that_stands_still(host: Host) -> None:
    loop = asyncio.new_event_loop()  # it never runs
    bridge = LoopBridge(loop, call_s=0)
    view = HostView(host, bridge)
    with running(lambda: organiser_app(bridge, view, TOKEN)) as server:
        status, _, body = server.ask("GET /healthz")
    loop.close()
    assert (status, json.loads(body)) == (503, {"error": "no answer from the loop within 0 s"})


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Authorization: Bearer wrong\n",
        f"Authorization: Bearer {TOKEN}x\n",
        "Authorization: Bearer\n",
        "Authorization: Bearer \xff\n",
        f"X-Authorization: Bearer {TOKEN}\n",
    ],
)
def test_without_the_token_nothing_is_done(host: Host, header: str) -> None:
    with api(host) as server:
        expected = {"error": "a wrong token, or none"}
        assert order(server, b'{"verb": "pause"}', header) == (401, expected)
        status, _, body = server.ask("GET /status", header)
        assert (status, json.loads(body)) == (401, expected)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[" * ORDER_BYTES,
        b"pause",
        b"\xff",
        b"[]",
        b'"pause"',
        b"{}",
        b'{"verb": 1}',
        b'{"verb": "void", "target": 7}',
        b'{"verb": "void", "why": "x"}',
        b'{"verb": "void", "reason": "two\\nlines"}',
        b'{"verb": "void", "reason": "%s"}' % (b"x" * 301),
    ],
)
def test_a_body_that_is_no_order(host: Host, body: bytes) -> None:
    with api(host) as server:
        assert order(server, body) == (400, {"error": f"expected {ORDER_FORM}"})


def test_a_body_too_long_for_an_order(host: Host) -> None:
    with api(host) as server:
        assert order(server, b"x" * (ORDER_BYTES + 1)) == (
            413,
            {"error": f"a request may have {ORDER_BYTES} bytes at most"},
        )


def test_wrong_tokens_are_limited_and_the_right_one_is_not(host: Host) -> None:
    with api(host) as server:
        statuses = [server.ask("GET /status", "Authorization: Bearer wrong\n")[0] for _ in range(40)]
        assert statuses[0] == 401
        assert statuses[-1] == 429
        assert server.ask("GET /status", GUARD)[0] == 503  # the contest has not begun
