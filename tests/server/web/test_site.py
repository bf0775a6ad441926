"""The site as it is served: compression, what a browser may keep, refusals, what a page asks for."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen
from zoneinfo import ZoneInfo

import brotli
import pytest
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from arena_server.core.ratelimit import SECOND, Budget
from arena_server.errors import HIDDEN
from arena_server.web import security
from arena_server.web.app import application
from arena_server.web.archive import Archive
from arena_server.web.feeds import SocketFeed
from arena_server.web.livestreams import MOST_STREAMS, NO_STREAM, NOT_LIVE
from arena_server.web.pages import API, Pages
from arena_server.web.security import REQUESTS_A_PAGE, PageHeaders, RateLimit
from arena_server.web.site import PublicApi

from ..records import Kept, change, game, opening
from .browser import LIMIT_MS, Watched
from .running import Running, running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

MENU = ("index", "replay")
UNTIL_SCROLLED = """new Promise((done) => {
  const look = () => { if (scrollY > 0) done(); else setTimeout(look, 20); };
  look();
})"""


class FromOutside:
    """ASGI middleware: every request comes from one address that is not loopback."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, "client": ("203.0.113.7", 1)}, receive, send)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A contest with 60 games."""
    path = tmp_path_factory.mktemp("site") / "arena.db"
    kept = Kept(path, opening("trial"))
    kept.start()
    for number in range(1, 61):
        names = ("a", "b") if number % 2 else ("b", "a")
        kept.writer.store(f"g{number}", game(number, names, (10 * number, 0)))
    kept.close("finished")
    return path


@contextmanager
def site(
    database: Path,
    clock: Callable[[], int] = time.monotonic_ns,
    report: Callable[[str], None] = lambda _: None,
) -> Iterator[Running]:
    features = {"software": "test", "name": "trial", "organiser": False, "play": False, "start": False}

    def make() -> ASGIApp:
        pages = Pages(["index", "contest", "bot", "game", "replay"], MENU)
        routes = [*PublicApi(Archive(database), features, 4, report=report).routes(), *pages.routes()]
        limit = Middleware(RateLimit, clock)
        return application(routes, [Middleware(FromOutside), limit, Middleware(PageHeaders)])

    with running(make, 256) as server:
        yield server


def names_in(page: str) -> list[str]:
    return re.findall(r'(?:src|href)="([^"]+)"', page)


#: What a browser says that it takes, what it gets of a file that lasts, and how that is read.
CODINGS = [
    ("gzip", "gzip", gzip.decompress),
    ("gzip, deflate, br, zstd", "br", brotli.decompress),
    ("BR;q=0.5", "br", brotli.decompress),
    ("br;q=0, gzip;q=0.01", "gzip", gzip.decompress),
    ("gzip, brotli, vbr", "gzip", gzip.decompress),
]


class TestServed:
    def test_compressed_and_kept(self, database: Path) -> None:
        with site(database) as server:
            _, page_headers, page = server.ask("GET /index.html")
            assert page_headers["cache-control"] == "no-cache"
            for name in names_in(page):
                plain = server.send(f"GET /{name} HTTP/1.0\n\n").partition(b"\r\n\r\n")
                assert b"content-encoding" not in plain[0].lower()
                for given, coding, unpack in CODINGS:
                    packed = server.send(f"GET /{name} HTTP/1.0\nAccept-Encoding: {given}\n\n")
                    head, _, body = packed.partition(b"\r\n\r\n")
                    assert f"content-encoding: {coding}".encode() in head.lower(), given
                    assert b"vary: accept-encoding" in head.lower()
                    assert b"cache-control: public, max-age=31536000, immutable" in head.lower()
                    assert unpack(body) == plain[2]
            tag = page_headers["etag"]
            for known in (tag, f"W/{tag}", f'"x", {tag}', "*"):
                status, headers, text = server.ask("GET /index.html", f"If-None-Match: {known}\n")
                assert (status, headers["etag"], text) == (304, tag, "")
            assert server.ask("GET /index.html", 'If-None-Match: "x"\n')[0] == 200

    def test_documents_are_compressed(self, database: Path) -> None:
        with site(database) as server:
            path = f"GET {API}/contests/1/games-0.json"
            _, _, plain = server.ask(path)
            head, _, body = server.send(f"{path} HTTP/1.0\nAccept-Encoding: gzip\n\n").partition(b"\r\n\r\n")
            assert b"content-encoding: gzip" in head.lower()
            assert gzip.decompress(body).decode() == plain
            assert len(body) < len(plain) / 3
            for refused in ("gzip;q=0", "br, GZIP; q=0.000, *", "identity", "gzip;q=0, gzip", "x-gzip-like"):
                for target in (path, "GET /index.html"):
                    _, headers, text = server.ask(target, f"Accept-Encoding: {refused}\n")
                    assert "content-encoding" not in headers, refused
                    assert text == plain or target != path
            head = server.send(f"{path} HTTP/1.0\nAccept-Encoding: br;q=0, gzip;q=0.01\n\n").partition(
                b"\r\n\r\n"
            )[0]
            assert b"content-encoding: gzip" in head.lower()

    def test_one_answer_for_all_that_ask_before_it_is_begun(
        self, database: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The second request waits for the first; eight more meanwhile have one answer in common."""
        contest, reads = Archive.contest, []
        begun, go_on = threading.Event(), threading.Event()

        def slow(archive: Archive, number: int) -> dict[str, Any]:
            reads.append(number)
            begun.set()
            assert go_on.wait(20)
            return contest(archive, number)

        async def ask() -> list[dict[str, Any]]:
            get = PublicApi(Archive(database), {}).stored.endpoints()["contests/{number}.json"]
            first = asyncio.ensure_future(get(request))
            await asyncio.to_thread(begun.wait, 20)
            others = [asyncio.ensure_future(get(request)) for _ in range(8)]
            await asyncio.sleep(0)
            others.pop().cancel()
            go_on.set()
            return [json.loads(bytes((await each).body)) for each in (first, *others)]

        monkeypatch.setattr(Archive, "contest", slow)
        request = Request({"type": "http", "path_params": {"number": "1"}})
        answers = asyncio.run(ask())
        assert reads == [1, 1]
        assert len(answers) == 8
        assert all(each == answers[0] for each in answers)

    @pytest.mark.parametrize("damage", ["nothing", "text", "rows"])
    def test_an_error_names_no_path(self, database: Path, tmp_path: Path, damage: str) -> None:
        path = tmp_path / "arena.db"
        if damage != "nothing":
            shutil.copy(database, path)
        if damage == "text":
            path.write_bytes(b"no database at all, and longer than a hundred bytes" * 10)
        elif damage == "rows":
            change(path, "UPDATE games SET totals = '[1' WHERE place = 60")
        documents = (
            "contests",
            "contests/1",
            "contests/1/games-0",
            "contests/1/ratings",
            "contests/1/faults",
        )
        reported: list[str] = []
        with site(path, report=reported.append) as server:
            answers = {name: server.ask(f"GET {API}/{name}.json") for name in documents}
        assert len(reported) == 1, "one line in a minute"
        assert reported[0].startswith(f"{path}: ")
        failed = {name: text for name, (status, _, text) in answers.items() if status == 503}
        assert set(failed.values()) == {json.dumps({"error": HIDDEN}, separators=(",", ":"))}
        assert failed.keys() >= {"contests/1", "contests/1/games-0"}
        assert not any("arena.db" in text or str(tmp_path) in text for _, _, text in answers.values())

    def test_a_stream_without_its_database_is_refused(self, tmp_path: Path) -> None:
        reported: list[str] = []
        path = tmp_path / "arena.db"
        path.write_bytes(b"no database at all, and longer than a hundred bytes" * 10)

        def make() -> ASGIApp:
            archive = Archive(path)
            feed = partial(SocketFeed, ())
            return application(PublicApi(archive, {}, 10, feed=feed, report=reported.append).routes())

        with running(make) as server:
            status, _, text = server.ask(f"GET {API}/live/contest?contest=1")
            assert (status, json.loads(text)) == (503, {"error": HIDDEN})
        with running(make) as server, server.connect() as sock:
            sock.sendall(f"GET {API}/live?stream=boards HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            got = b""
            while HIDDEN.encode() not in got:
                got += sock.recv(65536)
        assert b"event: refused" in got
        assert [line.partition(" ")[0] for line in reported] == [f"{path}:"] * 2

    @pytest.mark.parametrize(
        ("asked", "error"),
        [
            ("boards", NOT_LIVE),
            ("boards%3Fcontest%3D7", NOT_LIVE),
            ("boards%2Fg1", "no stream boards/g1: there are contest, boards and games/ID"),
            ("games", "no stream games: there are contest, boards and games/ID"),
            ("other", "no stream other: there are contest, boards and games/ID"),
        ],
    )
    def test_a_stream_that_is_not_here_is_refused_among_the_others(
        self, database: Path, asked: str, error: str
    ) -> None:
        with site(database) as server, server.connect() as sock:
            sock.sendall(f"GET {API}/live?stream={asked} HTTP/1.1\r\nHost: {server.address}\r\n\r\n".encode())
            got = b""
            while error.encode() not in got:
                got += sock.recv(65536)
        assert b'event: of\ndata: {"stream":0}\n\nevent: refused' in got

    @pytest.mark.parametrize("count", [0, MOST_STREAMS + 1])
    def test_a_connection_has_one_to_a_hundred_streams(self, database: Path, count: int) -> None:
        with site(database) as server:
            status, _, text = server.ask(f"GET {API}/live?{'stream=boards&' * count}")
            assert (status, json.loads(text)) == (400, {"error": NO_STREAM})
            status, headers, _ = server.ask(f"POST {API}/live?stream=boards")
            assert (status, headers["allow"]) == (405, "GET")

    def test_a_wrong_address_or_method_of_the_api_has_an_error_in_json(self, database: Path) -> None:
        with site(database) as server:
            for ask in ("GET {}/nothing", "GET {}/contests/01.json", "GET {}/contests/1/games-00.json"):
                status, headers, text = server.ask(ask.format(API), "Accept: text/html\n")
                assert (status, headers["access-control-allow-origin"]) == (404, "*")
                assert list(json.loads(text)) == ["error"]
            status, headers, text = server.ask(f"POST {API}/contests.json")
            assert (status, json.loads(text)) == (405, {"error": "Method Not Allowed"})


@pytest.mark.real
class TestInABrowser:
    @pytest.mark.soak
    def test_thirty_pages_of_one_address_at_once(self, pages: Watched, database: Path) -> None:
        """What a browser asks for to show a page, thirty times over without a cache: nothing is refused."""
        with site(database) as server:
            asked: list[str] = []
            page = pages.open(
                f"http://{server.address}/contest.html?id=1",
                prepare=lambda page: page.on("request", lambda request: asked.append(request.url)),
            )
            page.locator(".pager", has_text="60 games").wait_for()
            page.wait_for_load_state("networkidle")
            pages.close()
        paths = [url.partition(server.address)[2] for url in asked]
        assert paths[0].startswith("/contest.html")
        assert 4 < len(paths) <= 1 + REQUESTS_A_PAGE
        with site(database) as server:
            answers = [server.ask(f"GET {path}")[0] for _ in range(30) for path in paths]
        assert set(answers) == {200}

    @pytest.mark.soak
    def test_back_leads_to_the_filter_and_the_place_and_all_times_are_of_one_zone(
        self, browser: Browser, database: Path
    ) -> None:
        with site(database) as server:
            context = browser.new_context(timezone_id="Asia/Kolkata", locale="en-US")
            page = context.new_page()
            page.set_default_timeout(LIMIT_MS)
            page.goto(f"http://{server.address}/")
            started = page.locator(".list tbody td").nth(3).inner_text()
            with urlopen(f"http://{server.address}{API}/contests.json", timeout=LIMIT_MS / 1000) as response:
                at = json.load(response)["contests"][0]["started_at"]
            shown = datetime.fromisoformat(at).astimezone(ZoneInfo("Asia/Kolkata"))
            assert started.replace("\u202f", " ") == f"{shown:%-m/%-d/%y}, {shown:%-I:%M %p}"
            page.goto(f"http://{server.address}/contest.html?id=1")
            page.locator(".pager", has_text="60 games").wait_for()
            page.get_by_label("Result").select_option("win")
            address = page.url
            assert address.endswith("/contest.html?id=1&result=win")
            page.locator("#games .row .whole").last.click()
            page.wait_for_url("**/game.html**")
            page.go_back()
            page.evaluate(UNTIL_SCROLLED)
            assert page.get_by_label("Result").input_value() == "win"
            page.goto(f"{address}&state=over&against=x&list=9")
            page.locator(".pager", has_text="60 games, page 2 of 2").wait_for()
            context.close()

    @pytest.mark.soak
    def test_a_refused_page_comes_by_itself(
        self, pages: Watched, database: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pages.expected += ["429 (Too Many Requests)"]
        monkeypatch.setattr(security, "PAGES", Budget(1, SECOND // 6))
        now = 0
        with site(database, lambda: now) as server:
            assert server.ask("GET /")[0] == 200
            page = pages.open(
                f"http://{server.address}/contest.html?id=1#here", prepare=lambda page: page.clock.install()
            )
            page.get_by_text("Very many pages are being opened from your address").wait_for()
            pages.check_access(page)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                pages.shoot(page, f"refused-page-{scheme}")
            now = SECOND  # enough for a page
            page.clock.fast_forward(1000 * (security.RETRY_S + security.SPREAD_S))
            page.locator(".pager", has_text="60 games").wait_for()
            assert page.url.endswith("/contest.html?id=1#here")
            pages.close()

    @pytest.mark.soak
    def test_a_document_that_is_refused_is_asked_for_again(self, pages: Watched, database: Path) -> None:
        pages.expected += ["429 (Too Many Requests)"]
        seen = False

        def refuse(route: Route) -> None:
            if seen:
                route.continue_()
            else:
                route.fulfill(status=429, headers={"Retry-After": "1"}, json={"error": "too many requests"})

        with site(database) as server:
            page = pages.open(
                f"http://{server.address}/contest.html?id=1",
                prepare=lambda page: page.route("**/contests/1.json", refuse),
            )
            page.get_by_text("Too many requests. This page asks again in 1 s").wait_for()
            pages.check_access(page)
            pages.shoot(page, "refused-document")
            seen = True
            page.locator(".pager", has_text="60 games").wait_for()
            assert page.locator(".notice").inner_text() == ""
            pages.close()
