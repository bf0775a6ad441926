"""The Host check, pages and requests of an address within their limits, and bodies within theirs."""

from __future__ import annotations

import ast
import json
import socket
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from tests.slices import all_of

from arena_server.core import ratelimit
from arena_server.core.ratelimit import Budget
from arena_server.web import security
from arena_server.web.app import _checks, application
from arena_server.web.ports import WebPorts
from arena_server.web.security import (
    REQUESTS_A_PAGE,
    RETRY_S,
    SPREAD_S,
    HostCheck,
    PageHeaders,
    PageLimit,
    RateLimit,
    VisitWatch,
    bearer_of,
    host_name,
    is_page,
    read_body,
)

from .running import parse, running

LIMIT = 4096


async def length(request: Request) -> Response:
    return PlainTextResponse(str(len(await read_body(request, LIMIT))))


def make() -> ASGIApp:
    check = Middleware(HostCheck, names=["arena.example.org"])
    return application([Route("/length", length, methods=["POST"])], [check])


class TestHost:
    @all_of(
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

    @all_of(
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


#: So that a page and a request are whole numbers.
TICK = 10**8


class Clock:
    """In seconds that can be set, read in nanoseconds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> int:
        return round(self.now * 12 * TICK)


@pytest.fixture(scope="class")
def two_pages() -> Iterator[None]:
    """An address may open two pages at once and one a second: few steps reach the limit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(security, "PAGES", Budget(2, 12 * TICK))
        yield


@pytest.mark.usefixtures("two_pages")
class TestPageLimit:
    @given(st.lists(st.sampled_from(["page", "request", "wait"]) | st.integers(2, 40), max_size=60))
    def test_what_belongs_to_a_page_is_never_refused(self, steps: list[str | int]) -> None:
        """Whatever else the address asks for; and in all it gets no more than is stated."""
        clock = Clock()
        limit = PageLimit(clock)
        pages = requests = 0
        owed = 0
        for step in steps:
            if step == "wait":
                clock.now += 1.5
            elif step == "page":
                if limit.allows_page("a"):
                    pages += 1
                    owed = min(owed + REQUESTS_A_PAGE, 2 * REQUESTS_A_PAGE)
            else:
                for _ in range(1 if step == "request" else int(step)):
                    allowed = limit.allows_request("a")
                    assert allowed or owed < 1
                    owed = max(0, owed - 1)
                    requests += allowed
        assert requests <= (2 + clock.now) * REQUESTS_A_PAGE
        assert pages <= 2 + clock.now

    def test_a_refused_page_costs_nothing(self) -> None:
        clock = Clock()
        limit = PageLimit(clock)
        while limit.allows_page("a"):
            pass
        for _ in range(100):
            clock.now += 0.001
            assert not limit.allows_page("a")
        clock.now = 1.0
        assert limit.allows_page("a")
        assert limit.allows_page("b")

    def test_the_addresses_seen_longest_ago_are_forgotten(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(security, "KEPT", 3)
        monkeypatch.setattr(ratelimit, "KEPT", 3)
        limit = PageLimit(Clock())
        for number in range(1000):
            assert limit.allows_page(str(number))
        assert len(limit._paid) == len(limit._limit._full_at) == 3


class FromAddress:
    """ASGI middleware: every request comes from one address."""

    def __init__(self, app: ASGIApp, address: str) -> None:
        self._app = app
        self._address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, "client": (self._address, 1)}, receive, send)


def behind(address: str) -> Callable[[], ASGIApp]:
    async def answer(_: Request) -> Response:
        return PlainTextResponse("here")

    def make() -> ASGIApp:
        middleware = [Middleware(FromAddress, address=address), Middleware(RateLimit)]
        return application([Route("/", answer), Route("/api/v1/site.json", answer)], middleware)

    return make


@all_of(
    ("proxies", "forwarded", "seen"),
    [
        ([], "203.0.113.7", "127.0.0.1"),
        (["10.0.0.0/8"], "203.0.113.7", "127.0.0.1"),
        (["127.0.0.1"], "203.0.113.7", "203.0.113.7"),
        (["127.0.0.0/8"], "127.0.0.1, 203.0.113.7", "203.0.113.7"),
        (["127.0.0.1", "10.0.0.1"], "6.6.6.6, 203.0.113.7, 10.0.0.1", "203.0.113.7"),
        (["127.0.0.1"], "unknown", "unknown"),
        (["127.0.0.1"], "", "127.0.0.1"),
    ],
)
def test_only_a_named_proxy_says_where_a_request_comes_from(
    proxies: list[str], forwarded: str, seen: str
) -> None:
    async def where(request: Request) -> Response:
        return PlainTextResponse(security.address_of(request))

    checks = _checks(WebPorts(proxies=proxies))
    with running(lambda: application([Route("/", where)], checks)) as server:
        status, _, body = server.ask("GET /", f"X-Forwarded-For: {forwarded}\n" if forwarded else "")
    assert (status, body) == (200, seen)


@pytest.mark.parametrize(
    ("path", "accept", "visited"),
    [
        ("/", "text/html,application/xhtml+xml", True),
        ("/replay.html", "text/html", True),
        ("/", "*/*", False),
        ("/api/v1/site.json", "text/html", False),
    ],
)
def test_a_browser_that_opens_a_page_is_a_visit(path: str, accept: str, visited: bool) -> None:
    seen = Event()

    async def answer(_: Request) -> Response:
        return PlainTextResponse("here")

    def make() -> ASGIApp:
        return application([Route(path, answer)], [Middleware(VisitWatch, visited=seen)])

    with running(make) as server:
        assert server.ask(f"GET {path}", f"Accept: {accept}\n")[0] == 200
    assert seen.is_set() == visited


class TestRateLimit:
    def test_a_page_that_is_refused_says_so_and_comes_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(security, "PAGES", Budget(2, 10**18))
        with running(behind("203.0.113.7")) as server:
            pages = [server.ask("GET /") for _ in range(3)]
            documents = [server.ask("GET /api/v1/site.json") for _ in range(2 * int(REQUESTS_A_PAGE) + 2)]
        assert [status for status, _, _ in pages] == [200, 200, 429]
        _, headers, page = pages[2]
        wait = headers["retry-after"]
        assert RETRY_S <= int(wait) < RETRY_S + SPREAD_S
        assert f'<html lang="en" data-wait="{wait}">' in page
        assert f"comes by itself in {wait} s" in page
        assert headers["content-type"] == "text/html; charset=utf-8"
        # The two pages get what they are made of.
        assert {status for status, _, _ in documents[: 2 * int(REQUESTS_A_PAGE)]} == {200}
        status, headers, body = documents[-1]
        assert (status, json.loads(body)) == (429, {"error": "too many requests from this address"})
        assert headers["access-control-allow-origin"] == "*"
        assert int(headers["retry-after"]) >= RETRY_S

    @pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1"])
    def test_loopback_is_not_limited(self, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(security, "PAGES", Budget(0, 10**18))
        with running(behind(address)) as server:
            assert server.ask("GET /")[0] == 200

    @all_of(
        ("path", "page"),
        [
            *((path, True) for path in ("/", "/tv", "/play", "/game.html")),
            *((path, False) for path in ("/site-0a.js", "/api/v1/site.json", "/metrics", "/tv/")),
        ],
    )
    def test_what_a_page_is(self, path: str, page: bool) -> None:
        assert is_page(path) == page


async def document(_: Request) -> Response:
    return HTMLResponse("<p>here")


class TestPageHeaders:
    @all_of(
        ("host", "more", "isolated"),
        [
            ("127.0.0.1:80", "", True),
            ("localhost", "", True),
            ("[::1]:80", "", True),
            ("192.168.1.7:80", "", False),
            ("arena.example.org", "", False),
            ("arena.example.org", "X-Forwarded-Proto: https\n", True),
            ("", "", False),
        ],
    )
    def test_isolation_is_asked_for_where_a_browser_grants_it(
        self, host: str, more: str, isolated: bool
    ) -> None:
        routes = [Route("/", document), Route("/text", length, methods=["POST"])]
        with running(lambda: application(routes, [Middleware(PageHeaders)])) as server:
            _, headers, _ = server.ask("GET /", more, host)
            _, text_headers, _ = server.ask("POST /text", more, host)
        assert headers.get("cross-origin-opener-policy") == ("same-origin" if isolated else None)
        assert "cross-origin-opener-policy" not in text_headers  # it is of documents alone
        assert "script-src 'self'" in headers["content-security-policy"]
        # What is no page shows and runs nothing.
        allowed = {"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"}
        assert set(text_headers["content-security-policy"].split("; ")) == allowed

    @pytest.mark.parametrize("path", ["/game.html", "/", "/game.html/", "/text"])
    def test_a_game_alone_is_shown_in_frames_of_named_origins(self, path: str) -> None:
        routes = [Route(each, document) for each in ("/", "/game.html")]
        origins = ["https://example.org", "http://club.example:8080"]

        def make(embed: list[str]) -> ASGIApp:
            return application(routes, [Middleware(PageHeaders, embed=embed)])

        policies = []
        for embed in ([], origins):
            with running(partial(make, embed)) as server:
                _, headers, _ = server.ask(f"GET {path}")
                policies.append(headers["content-security-policy"].rpartition("; ")[2])
        allowed = f"frame-ancestors {' '.join(origins)}"
        assert policies == ["frame-ancestors 'none'", allowed if path == "/game.html" else policies[0]]


class TestBody:
    @all_of("size", [str(LIMIT + 1), "9" * 9, "9" * 19, "9" * 20, "00000000000000000001"])
    def test_a_content_length_beyond_the_limit_is_refused_unread(self, size: str) -> None:
        with running(make) as server:
            status, _, body = server.ask("POST /length", f"Content-Length: {size}\n")
        assert (status, body) == (413, f'{{"error":"a request may have {LIMIT} bytes at most"}}')

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


@pytest.mark.parametrize(
    ("given", "token"),
    [
        ("Bearer t0k", "t0k"),
        ("bearer t0k", "t0k"),
        ("BEARER  t0k", "t0k"),
        ("t0k", "t0k"),
        ("Basic t0k", "Basic t0k"),
    ],
)
def test_the_scheme_of_a_token_is_of_any_case(given: str, token: str) -> None:
    request = Request({"type": "http", "headers": [(b"authorization", given.encode())]})
    assert bearer_of(request) == token


def test_a_secret_leaves_by_one_function_which_no_cache_keeps() -> None:
    assert security.shown_once({"token": "x"}).headers["cache-control"] == "no-store"
    folder = Path(security.__file__).parent
    for name in ("api", "register"):
        text = (folder / f"{name}.py").read_text(encoding="utf-8")
        calls = [ast.unparse(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        others = [call for call in calls if call.startswith("JSONResponse(")]
        assert any(call.startswith("shown_once(") for call in calls)
        assert not [call for call in others if "'token'" in call or "'link'" in call], name
