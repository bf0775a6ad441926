"""What a visitor takes along from a game: frames in foreign pages, copies, files; in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote
from urllib.request import urlopen
from xml.etree import ElementTree

import pytest
from tests.protocol.records import a_record

from arena_server.store.database import ContestHeader, database_of
from arena_server.terms.config import ContestConfig
from arena_server.web.app import archive_app
from arena_server.web.ports import WebPorts

from ..records import Kept
from .browser import DESKTOP, PHONE, WATCH_SHIFTS, Watched
from .running import running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.real
PLIES = 12
#: A column narrower than a frame cuts nothing of it.
FRAME = 'width="560" height="640" style="max-width: 100%"'


class Foreign(BaseHTTPRequestHandler):
    """A foreign page that shows the address of its query in a frame."""

    def do_GET(self) -> None:
        address = unquote(self.path.partition("?")[2])
        frame = f"<iframe src='{address}' width=560 height=640></iframe>"
        body = f"<!doctype html><title>Mine</title>{frame}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def foreign() -> Iterator[int]:
    """The port of a server of foreign pages; by 127.0.0.1 and by localhost it is two origins."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Foreign) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, foreign: int) -> Iterator[str]:
    """What `arena web --embed http://127.0.0.1:FOREIGN` serves: a contest with one game."""
    path = tmp_path_factory.mktemp("along") / "arena.db"
    header = ContestHeader(
        ContestConfig(name="test", seed=1, spectator_delay_ms=0),
        {"plies": str(PLIES)},
        ("ann", "bob"),
        games=1,
    )
    kept = Kept(path, header)
    kept.start()
    kept.writer.store("g1", replace(a_record(options={"plies": PLIES}), game_id="g1"))
    kept.close("finished")
    ports = WebPorts(embed=(f"http://127.0.0.1:{foreign}",), painter=lambda _, ply: f"ply {ply}".encode())
    errors: list[str] = []
    with running(
        lambda: archive_app(database_of(f"sqlite:///{path}"), [], ports, errors.append), 64
    ) as server:
        yield f"http://{server.address}"
    assert errors == []


def test_a_foreign_page_shows_a_game_if_it_is_allowed(browser: Browser, site: str, foreign: int) -> None:
    page = browser.new_context().new_page()
    told: list[str] = []
    page.on("console", lambda message: told.append(message.text))
    code = f"{site}/game.html?contest=1&game=g1&embed=1#ply=3"
    page.goto(f"http://127.0.0.1:{foreign}/?{quote(code)}")
    frame = page.frame_locator("iframe")
    frame.locator(".counter", has_text=f"ply 3 of {PLIES}").wait_for()
    for part in (".board", ".seat", ".slider", ".buttons"):
        box = frame.locator(part).last.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 648, part  # of 640 in the frame, which begins at 8
    # A low frame has all of it, too, on a phone and on a wide page.
    for width, height in ((640, 480), (844, 390), (1000, 440), (1280, 720)):
        page.locator("iframe").evaluate(
            "(each, [w, h]) => { each.width = w; each.height = h; }", [width, height]
        )
        inner = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        page.frames[1].wait_for_function(f"innerHeight === {height}")
        assert page.frames[1].evaluate(inner) == [width, height]
    assert not frame.locator(".site").is_visible()
    assert told == []
    page.context.close()


@pytest.mark.soak
@pytest.mark.parametrize(("host", "target"), [("localhost", "game.html"), ("127.0.0.1", "contest.html")])
def test_every_other_frame_is_refused(
    browser: Browser, site: str, foreign: int, host: str, target: str
) -> None:
    page = browser.new_context().new_page()
    address = quote(f"{site}/{target}?contest=1&id=1&game=g1")
    with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
        page.goto(f"http://{host}:{foreign}/?{address}")
    assert page.frame_locator("iframe").locator("#main").count() == 0
    page.context.close()


def opened(pages: Watched, site: str, size: tuple[int, int] = DESKTOP) -> Page:
    page = pages.open(f"{site}/game.html?contest=1&game=g1#ply=5", size)
    page.wait_for_selector(".badge.true")
    page.get_by_text("Share").click()
    return page


@pytest.mark.soak
def test_copies_say_that_they_were_made(pages: Watched, site: str) -> None:
    page = opened(pages, site)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    said = page.locator(".said")
    for title, begin in (
        ("Link to this ply", f"{site}/game.html?contest=1&game=g1&ply=5#ply=5"),
        ("Moves as text", '[Contest "test"]'),
        ("Board as SVG", "<svg "),
        (
            "Code to embed the game",
            f'<iframe src="{site}/game.html?contest=1&amp;game=g1&amp;embed=1#ply=5" {FRAME}',
        ),
    ):
        page.get_by_role("button", name=f"Copy: {title}").click()
        said.get_by_text(f"{title}: copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()").startswith(begin)
    # Over plain http from another machine a browser has no clipboard for pages.
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.evaluate(
        "document.addEventListener('copy', () => { window.copied = document.getSelection().toString(); })"
    )
    page.get_by_role("button", name="Copy: Link to this ply").click()
    said.get_by_text("Link to this ply: copied").wait_for()
    pages.check_access(page)
    pages.shoot(page, "share")


@pytest.mark.soak
def test_a_link_whose_fragment_is_lost_leads_to_the_ply(pages: Watched, site: str) -> None:
    """Other sites show what the parameters say; from then on the ply stands behind `#` alone."""
    page = pages.open(f"{site}/game.html?contest=1&game=g1&ply=5")
    page.locator(".counter", has_text=f"ply 5 of {PLIES}").wait_for()
    page.wait_for_url(f"{site}/game.html?contest=1&game=g1#ply=5")
    page.get_by_text("Share").click()
    with page.expect_download() as card:
        page.get_by_role("link", name="Save: Seats and board as PNG").click()
    assert card.value.suggested_filename == "g1-5.png"
    assert Path(card.value.path()).read_text() == "ply 5"


@pytest.mark.soak
def test_files_of_a_game(pages: Watched, site: str) -> None:
    image = pytest.importorskip("PIL.Image")
    page = opened(pages, site, PHONE)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    with page.expect_download() as film:
        page.get_by_role("button", name="Save: Game as GIF").click()
    assert film.value.suggested_filename == "g1.gif"
    with image.open(Path(film.value.path())) as gif:
        assert (gif.n_frames, gif.width) == (PLIES + 1, 400)
        # Green, blue, orange ...: the tiles of the position have their colours.
        assert len(gif.convert("RGB").getcolors(100_000)) > 20
    with page.expect_download() as picture:
        page.get_by_role("button", name="Save: Board as SVG").click()
    assert picture.value.suggested_filename == "g1-5.svg"
    words = [node.text for node in ElementTree.parse(Path(picture.value.path())).getroot() if node.text]
    assert words[-1] == f"ply 5 of {PLIES}"
    with page.expect_download() as text:
        page.get_by_role("button", name="Save: Moves as text").click()
    assert Path(text.value.path()).read_text().startswith('[Contest "test"]\n[Id "g1"]')
    pages.shoot(page, "share-phone")


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.soak
def test_nothing_moves_while_a_game_is_shown(pages: Watched, site: str, size: tuple[int, int]) -> None:
    url = f"{site}/game.html?contest=1&game=g1#ply=0"
    page = pages.open(url, size, prepare=lambda page: page.add_init_script(WATCH_SHIFTS))
    page.wait_for_selector(".badge.true")
    page.evaluate("document.querySelector('.speed').value = 16")
    page.dispatch_event(".speed", "change")
    page.dispatch_event("[aria-label='Play (space)']", "click")  # no input of a visitor, which excuses a move
    page.locator(".counter", has_text=f"ply {PLIES} of {PLIES}").wait_for()
    pages.check_still(page)


@pytest.mark.soak
def test_only_a_site_that_may_be_framed_offers_the_code(site: str) -> None:
    with urlopen(f"{site}/api/v1/site.json") as response:
        assert json.load(response)["embed"] is True
