"""What pages of other origins may do in a real browser: watch, and give no orders."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.request import urlopen

import pytest

from ..programs import PATIENCE_S, inside
from .browser import REBOUND, Watched
from .persons import game_of_two, play

pytestmark = pytest.mark.real

EXAMPLES = Path(__file__).parents[3] / "examples"
EXAMPLE, DOCUMENTED = EXAMPLES / "watch.html", EXAMPLES / "live.html"


class Foreign:
    """A page of another origin."""

    def __init__(
        self, html: str = "<!doctype html><link rel=icon href=data:,><title>foreign</title>"
    ) -> None:
        self._html = html.replace("<meta", "<link rel=icon href=data:,><meta", 1)

    def __enter__(self) -> Foreign:
        from starlette.responses import HTMLResponse
        from starlette.routing import Route

        from arena_server.web.app import application

        from .running import running

        async def page(_: object) -> HTMLResponse:
            return HTMLResponse(self._html)

        self._server = running(lambda: application([Route("/", page)]))
        self.url = f"http://{self._server.__enter__().address}/"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__(None, None, None)


@pytest.mark.soak
def test_a_foreign_page_gives_no_orders(pages: Watched, tmp_path: Path) -> None:
    """Its request carries no token, and with a name of its own it is refused before that."""
    with game_of_two(tmp_path) as (server, _), Foreign() as foreign:
        pages.expected += ["401 (Unauthorized)", "has been blocked by CORS policy", "ERR_FAILED"]
        page = pages.open(foreign.url)
        page.evaluate(
            "url => fetch(url, {method: 'POST', mode: 'no-cors', credentials: 'include', "
            "body: JSON.stringify({verb: 'drain', target: ''})})",
            f"{server.url}/orders",
        )
        blocked = page.evaluate(
            "url => fetch(url, {method: 'POST', headers: {authorization: 'Bearer x'}, body: '{}'})"
            ".then(() => 'read', () => 'blocked')",
            f"{server.url}/orders",
        )
        assert blocked == "blocked"
        pages.complaints = [each for each in pages.complaints if "another host" not in each]
        seen = inside("admin", "status", "--json", "--database", f"sqlite:///{server.database}")
        assert json.loads(seen.out)["state"] == "open"


@pytest.mark.soak
def test_a_foreign_name_of_this_address_is_refused(pages: Watched, tmp_path: Path) -> None:
    """DNS rebinding: a page of that name would be of the same origin as what it asks for."""
    pages.expected.append("421")
    with game_of_two(tmp_path) as (server, _):
        page = pages.open(server.page("organiser.html").replace("127.0.0.1", REBOUND))
        assert "this server is not 'rebound.test:" in page.inner_text("body")
        pages.close()


@pytest.mark.soak
def test_a_foreign_page_of_100_lines_shows_a_live_game(pages: Watched, tmp_path: Path) -> None:
    assert len(EXAMPLE.read_text().splitlines()) < 100
    with game_of_two(tmp_path) as (server, persons), Foreign(EXAMPLE.read_text()) as foreign:
        play(persons, range(1, 4))
        page = pages.open(f"{foreign.url}?server={server.url}")
        page.get_by_text("g1: ann – bob").wait_for()
        play(persons, range(4, 7))
        page.get_by_text("ply 6: bob plays 7").wait_for()
        with urlopen(f"{server.url}/api/v1/live/games/g1.json", timeout=PATIENCE_S) as response:
            state = json.load(response)["state"]
        cells = page.locator("td").all_inner_texts()
        assert "".join(cell or "." for cell in cells) == state.replace("/", "")
        pages.close()
        pages.complaints = [each for each in pages.complaints if "another host" not in each]


@pytest.mark.soak
def test_the_example_of_the_docs_shows_a_game_from_another_origin(pages: Watched, tmp_path: Path) -> None:
    with game_of_two(tmp_path, plies=6) as (server, persons), Foreign(DOCUMENTED.read_text()) as foreign:
        play(persons, range(1, 3))
        shown = pages.open(f"{foreign.url}?server={server.url}")
        shown.get_by_text("g1: ann - bob").wait_for()
        play(persons, range(3, 5))
        shown.get_by_text("Ply 4: bob plays 5").wait_for()
        assert re.fullmatch(r"([1-7.]{5}\n?){5}", shown.locator("#board").inner_text())
        play(persons, range(5, 7))
        shown.get_by_text("Over, complete").wait_for()
        pages.close()
        # Another host is what it is for.
        pages.complaints = [each for each in pages.complaints if f"another host: {server.url}" not in each]
