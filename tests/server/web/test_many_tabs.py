"""Eight contests, or seven seats, in tabs of one browser, which has six connections to a host."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..programs import contest
from .browser import WITHOUT_SHARED_WORKER, Watched
from .persons import Web, game_of_two, play, wait_for_ply

pytestmark = pytest.mark.real

CONTESTS = TABS = 8
SEATS = 7
INVITED = "A game waits for you."
EMPTY = "No game is running; the next one appears here by itself."
#: The browser's connections for events; those of the shared worker are not the page's.
OWN_STREAMS = (
    "performance.getEntriesByType('resource').filter((each) => /[/]live|[/]events/.test(each.name)).length"
)
HIDE = """(shown) => {
  const state = { configurable: true, get: () => (shown ? "visible" : "hidden") };
  Object.defineProperty(document, "visibilityState", state);
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.mark.soak
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
            tab.locator(".wall-box .empty", has_text=EMPTY).nth(CONTESTS - 1).wait_for(state="attached")
            assert tab.evaluate(OWN_STREAMS) == 0
        tabs[0].get_by_role("link", name="trial3").first.click()
        tabs[0].locator(".standings tbody tr").nth(1).wait_for()
        pages.close()


@pytest.mark.soak
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


@pytest.mark.soak
def test_seven_seats_of_persons_in_one_browser(pages: Watched, tmp_path: Path) -> None:
    """Hidden or not, a seat keeps its stream: all are one connection, and no page waits for another."""
    bots = "".join(f'[[bot]]\nname = "p{place}"\nperson = true\n' for place in range(SEATS))
    text = contest(contest='game = "lastcoin"\nready = "10m"', game='clock = "10m"', bots=bots)
    with Web(text, tmp_path, SEATS) as server:
        seats = [pages.open(server.links["p0"])]
        for name in list(server.links)[1:]:
            seats.append(seats[0].context.new_page())
            seats[-1].goto(server.links[name])
        for page in seats:
            page.get_by_role("button", name="Take the seat").click()
        for name, page in zip(server.links, seats, strict=True):
            page.get_by_role("heading", name=f"You play as {name}").wait_for()
            page.evaluate(HIDE, False)
            assert page.evaluate(OWN_STREAMS) == 0
        invited = [page for page in seats if page.locator(".turn", has_text=INVITED).count()]
        assert len(invited) >= 2
        invited[0].get_by_role("button", name="Ready").click()
        invited[0].get_by_text("Waiting for the other players to be ready").wait_for()
        seats[0].goto(server.page("contest.html", id=server.contest))
        seats[0].locator(".standings tbody tr").nth(SEATS - 1).wait_for()
        pages.close()
