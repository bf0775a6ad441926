"""Eight contests in eight tabs of one browser, which has six connections to a host."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..programs import contest
from .browser import WITHOUT_SHARED_WORKER, Watched
from .persons import Web, game_of_two, play, wait_for_ply

pytestmark = pytest.mark.real

CONTESTS = TABS = 8
EMPTY = "No game is running."
#: The browser's connections for events; those of the shared worker are not the page's.
OWN_STREAMS = "performance.getEntriesByType('resource').filter((each) => each.name.includes('/live')).length"
HIDE = """(shown) => {
  const state = { configurable: true, get: () => (shown ? "visible" : "hidden") };
  Object.defineProperty(document, "visibilityState", state);
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_eight_contests_in_eight_tabs(pages: Watched, tmp_path: Path) -> None:
    more = []
    for place in range(1, CONTESTS):
        file = tmp_path / f"{place}.toml"
        file.write_text(contest("a", "b").replace('"trial"', f'"trial{place}"'))
        more.append(file)
    with Web(contest("a", "b"), tmp_path, more=more) as server:
        first = pages.open(server.page("index.html"))
        tabs = [first, *(first.context.new_page() for _ in range(TABS - 1))]
        for tab in tabs[1:]:
            tab.goto(server.page("index.html"))
        for tab in tabs:
            tab.locator(".wall-box .empty", has_text=EMPTY).nth(CONTESTS - 1).wait_for()
            assert tab.evaluate(OWN_STREAMS) == 0
        tabs[0].get_by_role("link", name="trial3").first.click()
        tabs[0].locator(".standings tbody tr").nth(1).wait_for()
        pages.close()


def test_a_hidden_page_has_no_stream_and_loses_nothing(pages: Watched, tmp_path: Path) -> None:
    with game_of_two(tmp_path) as (server, persons):
        play(persons, range(1, 4))
        url = server.page("game.html", contest=server.contest, game="g1")
        shared = pages.open(url)
        alone = pages.open(url, prepare=lambda page: page.add_init_script(WITHOUT_SHARED_WORKER))
        watching = shared.context.new_page()
        watching.goto(url)
        for page in (shared, alone, watching):
            wait_for_ply(page, 3)
        for page in (shared, alone):
            page.evaluate(HIDE, False)
            page.locator(".tag", has_text="not live").wait_for()
        play(persons, range(4, 6))
        wait_for_ply(watching, 5)
        for page in (shared, alone):
            assert page.locator(".counter").inner_text() == "ply 3 of 3"
            page.evaluate(HIDE, True)
            wait_for_ply(page, 5)
            page.locator(".tag.live").wait_for()
        assert [page.evaluate(OWN_STREAMS) > 0 for page in (shared, alone)] == [False, True]
        pages.close()
