"""Live pages in a real browser: a contest with two persons, of whom the test knows every move."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.request import urlopen

import pytest
from tests.slices import rows

from arena_server.store.reader import Results
from arena_server.web.languages import asked

from ..programs import PATIENCE_S, Players, contest
from .browser import PHONE, WATCH_SHIFTS, Watched
from .persons import PERSONS, Person, Web, play

pytestmark = pytest.mark.real

#: The address of each page, and what it shows when it is complete.
PAGES = {
    "index.html": ".list table",
    "contest.html?id=1": "#games .row",
    "bot.html?contest=1&bot=zero": ".range",
    "game.html?contest=1&game=g1": ".badge.true",
    "replay.html": ".drop",
    "tv": ".tv-leaders li",
    "play.html": ".start-form .board",
    "organiser.html": "#token",
    "register.html": ".empty",
}
#: The pages of which `make test` looks at the size and the language.
SOME = tuple(PAGES)[1::3]


@pytest.mark.parametrize("addresses", rows([(SOME,), (tuple(PAGES),)], 2), ids=["some pages", "all pages"])
def test_a_contest_is_shown_to_its_final_totals(
    pages: Watched, tmp_path: Path, addresses: tuple[str, ...]
) -> None:
    text = contest("first", "six", "zero", contest='probation = 0\nspectator_delay = "0s"', game="plies = 30")
    with Web(text, tmp_path) as server:
        index, page = (
            pages.open(address, prepare=lambda page: page.add_init_script(WATCH_SHIFTS))
            for address in (server.page("index.html"), server.page("contest.html", id=1))
        )
        for each in (index, page):
            each.get_by_text("No game is running").wait_for()
            each.locator("h1 .tag", has_text="planned").wait_for()
            each.get_by_text("No bot leads yet.").wait_for()
        pages.shoot(index, "index-before")
        page.get_by_text("6 games: 6 planned").wait_for()
        assert page.locator(".standings tbody td:first-child").all_text_contents() == ["–"] * 3
        bot = pages.open(server.page("bot.html", contest=1, bot="six"))
        bot.get_by_text("No rank before the first result").wait_for()
        Players(
            server.port, [("first", "first-legal"), ("six", "fixed:move=6"), ("zero", "zero-based")]
        ).join()
        page.locator(".tag", has_text="finished").wait_for()
        page.locator(".standings tbody tr").nth(2).wait_for()
        page.get_by_role("heading", name="Running games").wait_for(state="detached")
        # Boards, the leader, the pace, results: each had its place before the first game.
        index.locator("h1 .tag", has_text="finished").wait_for()
        # Less than 0.00005 is a digit: `page_speed` prints it as 0.0000, too.
        pages.check_still(index, 0.00005)
        pages.check_still(page, 0.00005)
        index.context.close()
        # Its page goes along, too.
        bot.get_by_text(re.compile(r"^Rank \d of 3: [\d,]+ points in 4 games")).wait_for()
        shown = [row.split("\t")[1:4] for row in page.locator(".standings tbody tr").all_inner_texts()]
        with Results(server.database) as results:
            rows = results.sums.standings(results.contest("trial"))
        assert shown == [[row.name, f"{row.points:,}", str(row.games)] for row in rows]
        first = [row for row in rows if row.rank == 1]
        words = f"{', '.join(row.name for row in first)} {'is' if len(first) == 1 else 'are'} first with"
        value = f"{first[0].points:,} points in 4 games"
        assert page.locator(".leader").text_content() == f"{words} {value}"
        assert page.locator("progress").evaluate("bar => [bar.value, bar.max]") == [6, 6]
        assert page.locator(".happens .latest a").count() == 3
        assert [cell.inner_text() for cell in page.locator(".cross thead th").all()] == ["1", "2", "3"]
        titles = [cell.get_attribute("title") for cell in page.locator(".cross thead th").all()]
        assert titles == [row.name for row in rows]
        assert page.locator(".cross .dots").count() == 0  # cells with few games have links alone
        pages.check_schemes(page, "contest")
        phone = pages.open(server.page("contest.html", id=1), PHONE)
        phone.locator(".standings").wait_for()
        phone.locator("#games .row").nth(2).wait_for()
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for table in (".standings", "#games table"):
            assert phone.locator(table).evaluate("table => table.scrollWidth <= table.clientWidth")
        assert not phone.locator(".standings thead").is_visible()
        label = (
            "getComputedStyle(document.querySelector('.standings td.num:nth-child(3)'), '::before').content"
        )
        assert "Points" in phone.evaluate(label) or phone.evaluate(label) == "attr(data-label)"
        pages.shoot(phone, "contest-phone")
        phone.get_by_role("button", name="Български").click()
        phone.get_by_role("heading", name="Класиране").wait_for()
        phone.locator("#games .row").nth(2).wait_for()
        assert phone.evaluate("document.documentElement.lang") == "bg"
        words = phone.locator("main").inner_text()
        assert not [key for key in asked()["texts"] if " " in key.strip() and key in words]
        pages.check_access(phone)
        pages.shoot(phone, "contest-phone-bg")
        # Anywhere in a row is the game.
        row = phone.locator("#games .row").first
        width = row.evaluate("row => row.offsetWidth")
        row.click(position={"x": width - 3, "y": 4})
        phone.locator(".badge.true").wait_for()
        assert "game.html" in phone.url
        phone.context.close()  # what it still loads would count below
        with urlopen(f"{server.url}/api/v1/play/offer.json", timeout=PATIENCE_S) as response:
            engines = {engine for game in json.load(response)["games"] for engine in game["engines"]}
        # The language that has a file of its own beside the script.
        page_of = pages.open(server.page("index.html"), locale="bg-BG")
        for address in addresses:
            before = pages.bytes
            page_of.goto(f"{server.url}/{address}")
            page_of.locator(PAGES[address]).first.wait_for()
            assert 5_000 < pages.bytes - before < 130_000, address
            pages.check_language(page_of, "trial", "first", "six", "zero", *engines)
        page_of.context.close()  # its streams would go on
        page.locator(".cross a").first.click()
        page.locator(".badge.true").wait_for()
        page.go_back()
        page.locator(".standings a", has_text="zero").click()
        page.get_by_role("heading", name="zero").wait_for()
        pages.check_access(page)
        pages.shoot(page, "bot")
        pages.close()  # before the server goes


@pytest.mark.soak
def test_every_game_of_a_cell_has_its_link(pages: Watched, tmp_path: Path) -> None:
    """Four games over, one running, one planned: in the cross-table and in the list, as they change."""
    more = 'ready = "10m"\nspectator_delay = "0s"\nprobation = 0\ngames_per_pair = 6'
    with Web(contest(contest=more, game='clock = "10m"\nplies = 2', bots=PERSONS), tmp_path, 2) as server:
        persons = [Person(server, "ann"), Person(server, "bob")]

        def begin() -> None:
            for person in persons:
                person.ready()

        for number in range(4):
            begin()
            play(persons if number % 2 == 0 else persons[::-1], range(1, 3))
        begin()
        play(persons, range(1, 2))
        page = pages.open(server.page("contest.html", id=1))
        page.get_by_text("6 games: 4 over, 1 running, 1 planned").wait_for()
        page.get_by_role("button", name="Show 1 planned").click()
        rows = [row.split("\t")[0:4:3] for row in page.locator("#games tbody tr").all_inner_texts()]
        assert rows == [
            *(["g5", "running"], ["g4", "complete"], ["g3", "complete"], ["g2", "complete"]),
            *(["g1", "complete"], ["g6", "planned"]),
        ]
        page.get_by_label("State").select_option("planned")
        page.get_by_text("1 game: 1 planned").wait_for()
        assert page.locator("#games tbody tr a[href^='game.html']").count() == 0
        page.get_by_label("State").select_option("")
        page.locator(".cross summary").first.focus()
        page.keyboard.press("Enter")
        links = page.locator(".cross details[open] a")
        links.nth(4).wait_for()
        assert [link.get_attribute("href") for link in links.all()] == [
            f"game.html?contest=1&game=g{number}#ply={2 if number < 5 else 1}" for number in range(1, 6)
        ]
        assert links.last.inner_text().startswith("▸")
        assert page.locator(".cross .dots").first.locator("i").count() == 4
        assert page.locator(".cross details[open]").inner_text().endswith("1 planned")
        pages.check_access(page)
        pages.shoot(page, "cells")
        page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        pages.shoot(page, "cells-phone")
        links.last.focus()
        persons[1].play(2, "3")
        page.locator(".cross details[open] a:not(:has-text('▸'))").nth(4).wait_for()  # it stays open
        assert page.evaluate("document.activeElement.dataset.focus") == "g5-1"
        page.keyboard.press("Enter")
        page.locator(".counter", has_text="ply 2 of 2").wait_for()
        assert page.url.endswith("game.html?contest=1&game=g5#ply=2")
        bot = pages.open(server.page("bot.html", contest=1, bot="ann"))
        bot.get_by_text("6 games: 5 over, 1").wait_for()
        bot.get_by_role("heading", name="Per game").wait_for()
        assert bot.locator(".ratings tbody tr .name-cell").all_inner_texts() == ["ann", "ann"]
        results = bot.locator(".panel", has_text="All contests of this bot")
        assert results.locator("tbody .name-cell").all_inner_texts() == ["trial"]
        bot.get_by_role("heading", name="Time and first moves").wait_for()
        assert bot.locator(".facts dt").all_inner_texts() == [
            "Mean time a move",
            "Longest move",
            "Share of its clock",
        ]
        pages.close()
        for person in persons:
            person.close()
