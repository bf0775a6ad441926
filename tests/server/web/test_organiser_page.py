"""The organiser's page in a real browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from arena_server.places.workers.comparison import TIME

from ..programs import contest
from .browser import DESKTOP, PHONE, Watched
from .organised import Organised
from .persons import game_of_two

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Route

pytestmark = pytest.mark.real


#: Whether all buttons of the tables are in view beside the longest names.
LONG_NAMES = """(() => {
  for (const name of document.querySelectorAll("td bdi")) {
    name.textContent = "N".repeat(name.closest(".name-cell") ? 32 : 60);
  }
  const fits = (box) => box.scrollWidth <= box.clientWidth && box.getBoundingClientRect().right <= innerWidth;
  return [...document.querySelectorAll(".scroll:has(.orders)")].every(fits);
})()"""


def with_workers(route: Route) -> None:
    """Answer as a server with workers."""
    benches = [
        {"worker": "w0", "bench": 100_000, "others": 30_000, "slow": False},
        {"worker": "w1", "bench": 30_000, "others": 100_000, "slow": True},
    ]
    stands_out = {"worker": "w1", "what": TIME[0], "games": 200, "chance": 1e-5}
    status = route.fetch().json()
    assert (status["workers"], status["benches"]) == ([], [])
    route.fulfill(json=status | {"workers": [stands_out], "benches": benches})


def test_the_organiser_gives_orders_on_the_page(pages: Watched, tmp_path: Path) -> None:
    pages.expected += ["401 (Unauthorized)", "409 (Conflict)"]
    with game_of_two(tmp_path, more='[[bot]]\nname = "carl"\n') as (server, _):
        page = pages.open(server.page("organiser.html"))
        field, login = page.get_by_label("token"), page.get_by_role("button", name="Log in")
        field.fill("wrong")
        login.click()
        page.get_by_role("alert").filter(has_text="This token is wrong.").wait_for()
        pages.check_access(page)
        pages.shoot(page, "organiser-login")
        field.fill(server.token())
        login.click()
        page.get_by_role("button", name=re.compile("^Break off g")).wait_for()
        pages.check_access(page)
        pages.shoot(page, "organiser")
        page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        pages.shoot(page, "organiser-phone")
        # Each row is a card there: its buttons are in view without scrolling, beside any name and author.
        for width in (PHONE[0], 601, 767, 844, DESKTOP[0]):
            page.set_viewport_size({"width": width, "height": DESKTOP[1]})
            assert page.evaluate(LONG_NAMES), width
        page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name="Resume").click()
        page.get_by_role("button", name="Pause").wait_for()
        asked: list[str] = []
        agree = True

        def answer(dialog: Dialog) -> None:
            asked.append(dialog.message)
            (dialog.accept if agree else dialog.dismiss)()

        page.on("dialog", answer)
        page.get_by_role("button", name=re.compile("^Break off g")).click()
        page.get_by_text(re.compile("1 void")).wait_for()
        page.get_by_label("Your name").fill("jan")
        page.get_by_label("Reason of the next order").fill("<b>floods</b>")
        page.get_by_role("button", name="Kick ann").click()
        page.get_by_role("row").filter(has_text="kick ann").filter(has_text="jan (127.0.0.1)").filter(
            has_text="<b>floods</b>"
        ).wait_for()
        page.get_by_role("button", name="Lift ann").click()
        page.get_by_text("Done: lift ann").wait_for()
        page.get_by_label("Play a void game again").fill("g99")
        page.get_by_role("button", name="Play again", exact=True).last.click()
        page.get_by_role("alert").filter(has_text="g99").wait_for()
        page.get_by_label("Name", exact=True).fill("dora")
        page.get_by_label("Author", exact=True).fill("Dora D.")
        page.get_by_label("Language").fill("C++")
        page.get_by_label("URL").fill("https://example.org/dora")
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_text(re.compile("^The token of dora, shown only now: [0-9a-f]{32}$")).wait_for()
        page.get_by_role("row").filter(has_text="Dora D. (C++)").wait_for()
        pages.shoot(page, "organiser-added")
        page.get_by_label("Or a link for an author").fill("zoe")
        page.get_by_role("button", name="Invite").click()
        page.get_by_text("The link for zoe, good once").wait_for()
        link = page.locator("output code").inner_text()
        author = pages.open(link, locale="bg-BG")
        author.get_by_label("Име на бота").fill("-zoe")
        author.keyboard.press("Enter")  # refused by the form: it asks for a name
        assert author.locator("#name:invalid").count() == 1
        author.get_by_label("Име на бота").fill("zoe")
        pages.check_language(author, "trial")
        pages.check_access(author)
        pages.shoot(author, "register")
        pages.expected.append("400 (Bad Request)")
        author.route("**/api/v1/register", lambda route: route.fulfill(status=400, json={"error": "{...}"}))
        author.get_by_label("Име на бота").press("Enter")
        author.locator(".error-line", has_text=re.compile("^Регистрацията е отказана: ")).wait_for()
        assert "{" not in author.locator(".error-line").inner_text()
        author.unroute("**/api/v1/register")
        author.get_by_label("Име на бота").press("Enter")
        author.get_by_role("heading", name="zoe е регистриран").wait_for()
        author.context.grant_permissions(["clipboard-read", "clipboard-write"])
        author.get_by_role("button", name="Копирай").first.click()
        author.get_by_text("Копирано").wait_for()
        assert author.evaluate("navigator.clipboard.readText()") == author.locator("code").first.inner_text()
        pages.shoot(author, "registered")
        author.goto(link)
        author.get_by_text("С тази връзка е регистриран zoe.").wait_for()
        assert author.get_by_label("Име на бота").input_value() == "zoe"
        author.context.close()
        page.get_by_role("button", name="Token dora").click()
        page.get_by_text("Done: token dora").wait_for()
        page.get_by_role("button", name="Withdraw dora").click()
        page.get_by_role("row").filter(has_text="withdrawn").wait_for()
        page.evaluate("localStorage.setItem('language', 'bg')")
        page.reload()  # the token is kept for the tab
        page.get_by_role("row").filter(has_text="оттеглен").wait_for()
        names = (
            "trial",
            "ann",
            "bob",
            "carl",
            "dora",
            "zoe",
            "jan",
            "Dora D. (C++)",
            "<b>floods</b>",
            "web/1",
            *("leave", "lost"),  # words of an order, to be typed
        )
        pages.check_language(page, *names)
        page.evaluate("localStorage.setItem('language', 'en')")
        page.reload()
        page.get_by_role("button", name="Drain").wait_for()
        page.get_by_label("More games a pair").fill("0")
        page.get_by_role("button", name="Extend").click()
        page.get_by_role("alert").filter(has_text="expected a number of games up to").wait_for()
        page.get_by_label("More games a pair").fill("9999")
        page.get_by_role("button", name="Extend").click()
        page.get_by_text("Done: extend 9999").wait_for()
        assert "more than 10 times" in asked[-1]
        page.get_by_label("Fewer games a pair").fill("9999")
        page.get_by_role("button", name="Shorten").click()
        page.get_by_text("Done: shorten 9999").wait_for()
        page.get_by_text(re.compile("^Length: .* games for each group; ")).wait_for()
        page.get_by_label("More games a pair").fill("4")
        page.get_by_role("button", name="Extend").click()
        page.get_by_text("Done: extend 4").wait_for()
        assert asked[-1] == "Extend the contest by 4?"
        agree = False
        page.get_by_role("button", name="Abort").click()
        assert asked[-1].startswith("End the contest for good, now?")
        assert page.get_by_text(re.compile("^open; ")).count() == 1
        agree = True
        page.get_by_role("button", name="Abort").click()
        page.get_by_text(re.compile("^aborted; ")).wait_for()
        # A contest that is over takes no orders, but one.
        for gone in ("Extend", "Abort", "Add", "Kick ann"):
            page.get_by_role("button", name=gone, exact=True).wait_for(state="hidden")
        page.get_by_label("Reason of the next order").fill("край")
        page.get_by_role("button", name="Archive").click()
        page.get_by_text(re.compile("^aborted, archived; ")).wait_for()
        page.get_by_role("row").filter(has_text="archive").filter(has_text="край").wait_for()
        page.get_by_role("button", name="Archive").wait_for(state="hidden")
        assert page.get_by_label("Reason of the next order").is_hidden()
        page.route("**/status", with_workers)
        page.get_by_role("row").filter(has_text="w1").filter(has_text="30,000").wait_for()
        page.get_by_text("it is slow: the others make 100,000").wait_for()
        page.get_by_text(
            "its games take longer (of equal workers a chance of at most 1.0E-5 in 200 games)"
        ).wait_for()
        # On a phone what is empty has no label.
        page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        rows = page.locator("section", has_text="Workers").locator("tbody tr")
        assert rows.first.locator("[data-label='Stands out']").is_hidden()
        assert rows.last.locator("[data-label='Stands out']").is_visible()
        page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
        pages.shoot(page, "organiser-workers")
        page.evaluate("localStorage.setItem('language', 'bg')")
        page.reload()
        page.get_by_text("партиите му траят повече").wait_for()
        pages.check_language(page, *names, "w0", "w1")
        page.evaluate("localStorage.setItem('language', 'en')")
        page.reload()
        page.get_by_role("button", name="Log out").click()
        field.wait_for()
        assert page.evaluate("sessionStorage.length") == 0
        pages.close()


@pytest.mark.soak
def test_the_organiser_of_several_contests_chooses_one(pages: Watched, tmp_path: Path) -> None:
    pages.expected.append("404 (Not Found)")
    cup = tmp_path / "cup.toml"
    cup.write_text(contest("carl", "dora").replace('"trial"', '"cup"'))
    with Organised(tmp_path, str(cup)) as server:
        server.ready()
        page = pages.open(f"{server.url}/organiser.html")
        page.get_by_label("token").fill(json.loads((tmp_path / "arena.db-cup.admin").read_text())["token"])
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("link", name="trial").wait_for()
        page.get_by_role("link", name="cup").click()
        page.get_by_role("heading", name="cup").wait_for()
        page.get_by_role("row").filter(has_text="dora").wait_for()
        page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name="Resume").wait_for()
        given = {name: server.admin("orders", "--contest", name).out for name in ("cup", "trial")}
        assert {name: "pause" in text for name, text in given.items()} == {"cup": True, "trial": False}
        page.get_by_role("link", name="trial").click()
        page.get_by_role("heading", name="trial").wait_for()
        page.get_by_role("button", name="Pause").wait_for()
        page.goto(f"{server.url}/organiser.html?contest=league")
        page.get_by_text("There is no contest league here.").wait_for()
        page.get_by_role("link", name="cup").wait_for()
        pages.close()
