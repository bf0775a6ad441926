"""A game that was added by docs/add-a-game.md, in a real browser: watched, replayed, and played."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.protocol.add_a_game import follow

from ... import forked
from ..programs import arena, contest
from .browser import DESKTOP, PHONE, Watched
from .persons import Person, Web, two_persons, wait_for_ply, wait_for_turn

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.real

#: Seat 1 wins in column d.
MOVES = "dededed"
LAST = "." * 14 + "...x..." + "...xo.." * 3


@pytest.fixture(scope="module", autouse=True)
def added(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """All processes have the package of the page."""
    folder = tmp_path_factory.mktemp("added")
    follow(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))  # of the processes that the server starts
        forked.end()  # the next one searches the folder
        yield
    forked.end()


def signs(page: Page, board: str = ".stage .board") -> str:
    """The pieces as they are drawn, row by row from the top."""
    cells = page.locator(f"{board} .cell-group")
    drawn = cells.evaluate_all("nodes => nodes.map(node => node.querySelector('.disc')?.className.baseVal)")
    return "".join({"disc s1": "x", "disc s2": "o", None: "."}[each] for each in drawn)


@pytest.mark.soak
def test_it_is_watched_played_and_replayed(pages: Watched, tmp_path: Path) -> None:
    with two_persons(tmp_path, "connectfour", "columns = 7") as server:
        bob = Person(server, "bob")
        ann = pages.open(server.links["ann"])
        ann.get_by_role("button", name="Take the seat").click()
        ann.get_by_role("button", name="Ready").click()
        bob.ready()
        ann.get_by_text("It is your turn.").wait_for()
        watching = pages.open(server.page("game.html", contest=server.contest, game="g1"))
        wall = pages.open(server.page("index.html"))
        for ply, move in enumerate(MOVES, start=1):
            if ply % 2 == 0:
                bob.play(ply, move)
                continue
            wait_for_turn(ann, ply)
            # Any cell of the column is the move; one of them is a button for the keyboard.
            cells = ann.locator(f'[data-move="{move}"].can')
            assert cells.count() == 6
            assert ann.locator(f'[data-move="{move}"][role="button"]').count() == 1
            if ply == 3:
                pages.check_access(ann)
                pages.shoot(ann, "connectfour-play")
                wait_for_ply(watching, 2)
                assert signs(watching) == "." * 35 + "...xo.."
                assert watching.locator(".stage .cell-group.last").count() == 1
                wall.locator(".card .disc.s2").wait_for()
                assert signs(wall, ".card .board") == signs(watching)
                assert not wall.locator(".card .row b").first.is_visible(), "it is only won or lost"
                pages.shoot(wall, "connectfour-wall")
            cells.nth(ply % 6).click()
        ann.locator(".turn", has_text="The game is over: you win").wait_for()
        assert signs(ann) == LAST
        watching.locator(".status", has_text="ann wins.").wait_for()
        watching.get_by_text("Verified here").wait_for()  # the record has taken the place of the running game
        assert signs(watching) == LAST
        look_at_the_replay(pages, server)
        pages.close()
        bob.close()


def look_at_the_replay(pages: Watched, server: Web) -> None:
    page = pages.open(server.page("game.html", contest=server.contest, game="g1"))
    page.get_by_text("Verified here").wait_for()
    for ply in range(len(MOVES) + 1):
        page.fill(".slider input", str(ply))
        assert len(signs(page).replace(".", "")) == ply
        assert page.locator(".stage .cell-group.last").count() == min(ply, 1)
    times = page.locator(".move .t").evaluate_all("all => all.map((each) => each.getClientRects().length)")
    # Where there is no room for them beside the points they are not shown.
    assert set(times) in ({0}, {1}), "a time stands in one line"
    for size, scheme in ((DESKTOP, "light"), (PHONE, "dark")):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        label = page.get_attribute(".stage .board", "aria-label")
        assert label == "Board of 7 by 6. X: d4 d3 d2 d1. O: e3 e2 e1."
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        pages.shoot(page, f"connectfour-{scheme}")
    pages.check_access(page)


@pytest.mark.soak
def test_a_visitor_plays_it_against_its_engine(pages: Watched, tmp_path: Path) -> None:
    with Web(contest("ann", "bob"), tmp_path) as server:
        page = pages.open(f"{server.url}/play.html")
        page.get_by_label("Game").select_option("connectfour")
        page.get_by_label("Another engine").check()
        page.get_by_label("Engine, from weak to strong").select_option("nosy")
        page.get_by_role("button", name="Start the game").click()
        turn, over = (
            page.get_by_text("It is your turn."),
            page.get_by_text("The game is over", exact=False).first,
        )
        ply = 1
        while True:
            turn.or_(over).first.wait_for()
            if not turn.is_visible():
                break
            page.locator("[data-move].can").first.click()
            ply += 2
            page.locator(".counter", has_text=f"ply {ply - 1} of").or_(over).first.wait_for()
        page.get_by_role("link", name="The record of game g1").click()
        page.get_by_text("Verified here").wait_for()
        pages.close()
        database = f"sqlite:///{server.database.with_name('arena-play.db')}"
        verified = arena("verify", "--database", database)
        assert verified.out.startswith("verified: 1 game"), verified.err
        shown = arena("replay", "g1", "--database", database)
        assert "  a b c d e f g" in shown.out
