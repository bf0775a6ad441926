"""The check of a record on the page of its game: what its contest lists, and the head."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.protocol.records import a_record

from arena_protocol.record import GameRecord
from arena_protocol.record_codec import encode
from arena_server.store.database import ContestHeader
from arena_server.terms.config import ContestConfig
from arena_server.web.app import application
from arena_server.web.archive import Archive
from arena_server.web.pages import API, Pages
from arena_server.web.site import PublicApi

from ..records import Kept
from .browser import PHONE, Watched, kept_pages
from .running import running

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.real
GAMES = 5


def record(number: int) -> GameRecord:
    return replace(a_record(seed=number), game_id=f"g{number}")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A contest with five true games, that is over."""
    path = tmp_path_factory.mktemp("proof") / "arena.db"
    header = ContestHeader(ContestConfig(name="test", seed=1), {"plies": "12"}, ("ann", "bob"), games=GAMES)
    kept = Kept(path, header)
    kept.start()
    for number in range(1, GAMES + 1):
        kept.writer.store(f"g{number}", record(number))
    kept.close("finished")
    features = {"software": "test", "name": "test", "organiser": False, "play": False, "start": False}

    def make() -> Any:
        pages = Pages(["index", "contest", "bot", "game", "replay"], ["index", "replay"])
        return application([*PublicApi(Archive(path), features).routes(), *pages.routes()])

    with running(make, 64) as server:
        yield f"http://{server.address}"


kept, pages = kept_pages()


def opened(
    pages: Watched,
    site: str,
    routes: Callable[[Page], object] = lambda page: None,
    size: tuple[int, int] = PHONE,
) -> Page:
    page = pages.open(f"{site}/game.html?contest=1&game=g3", size, routes=routes)
    page.wait_for_selector(".badge.true, .badge.false")
    return page


def forged(pattern: str, change: Callable[[Any], Any]) -> Callable[[Page], object]:
    """A server that sends another document."""

    def answer(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, json=change(json.loads(response.body())))

    return lambda page: page.route(pattern, answer)


def test_names_result_and_head(pages: Watched, site: str) -> None:
    page = opened(pages, site)
    document = page.request.get(f"{site}{API}/contests/1.json").json()
    assert page.inner_text(".badge.true") == (
        "✓ Verified here: names and result are as the contest lists them; deal, moves, points and clocks "
        f"are as recorded; record 3 of the 5 under the head {document['head'][:8]}…{document['head'][-8:]}."
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    pages.check_access(page)
    pages.shoot(page, "proof-phone")


@pytest.mark.soak
def test_a_record_with_other_names(pages: Watched, site: str) -> None:
    other = encode(replace(record(3), names=("bob", "ann")))
    page = opened(
        pages, site, lambda page: page.route("**/g3.record", lambda route: route.fulfill(body=other))
    )
    text = 'list of the contest: names: expected ["ann","bob"], found ["bob","ann"]'
    assert text in page.inner_text(".badge.false")
    pages.shoot(page, "proof-names")


@pytest.mark.soak
def test_a_list_with_other_names_is_not_that_of_the_head(pages: Watched, site: str) -> None:
    """List and record may be changed alike; the chain shows it."""
    other = encode(replace(record(3), names=("bob", "ann")))

    def prepare(page: Page) -> None:
        page.route("**/g3.record", lambda route: route.fulfill(body=other))
        swap = forged("**/games-0.json", lambda rows: [[row[0], row[1][::-1], *row[2:]] for row in rows])
        swap(page)

    page = opened(pages, site, prepare)
    assert "place 3 of the chain: expected a record of digest" in page.inner_text(".badge.false")


@pytest.mark.soak
def test_a_game_that_is_not_listed(pages: Watched, site: str) -> None:
    page = opened(pages, site, forged("**/games-0.json", lambda rows: rows[:2]))
    text = 'list of the contest: game_id: expected null, found "g3"'
    assert text in page.inner_text(".badge.false")


@pytest.mark.soak
def test_another_head(pages: Watched, site: str) -> None:
    page = opened(pages, site, forged("**/contests/1.json", lambda contest: contest | {"head": "00" * 32}))
    assert "head of the chain: expected 0000" in page.inner_text(".badge.false")


@pytest.mark.soak
def test_without_a_head_the_names_are_checked_all_the_same(pages: Watched, site: str) -> None:
    page = opened(pages, site, forged("**/contests/1.json", lambda contest: contest | {"status": "running"}))
    text = page.inner_text(".badge.true")
    assert "names and result are as the contest lists them" in text
    assert "head" not in text


@pytest.mark.soak
def test_in_a_large_contest_the_head_is_checked_on_demand(pages: Watched, site: str) -> None:
    def large(contest: Any) -> Any:
        return contest | {"list": {"games": 2001, "chunk": 2001}}

    page = opened(pages, site, forged("**/contests/1.json", large))
    assert "under the head" not in page.inner_text(".badge.true")
    pages.shoot(page, "proof-on-demand")
    page.get_by_role("button", name="Check it against the head").click()
    page.locator(".badge.true", has_text="record 3 of the 2,001 under the head").wait_for()


@pytest.mark.soak
def test_a_chain_that_cannot_be_read(pages: Watched, site: str) -> None:
    pages.expected += ["404 (Not Found)"]
    refuse = {"error": "the chain of contest 1 is published when the contest is over"}
    page = opened(
        pages,
        site,
        lambda page: page.route("**/chain-0.json", lambda route: route.fulfill(status=404, json=refuse)),
    )
    assert "The chain of the contest cannot be read: the chain of contest 1 is" in page.inner_text(
        ".badge.false"
    )
