"""Running games in a real browser: a game, small boards and /tv; persons play, of whom each move is known."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks.page_speed import SEEN

from arena_protocol.record import describe_result, winning_seats
from arena_server.store.reader import Results

from ..programs import Players, contest
from .browser import DESKTOP, PHONE, WATCH_SHIFTS, WITHOUT_SHARED_WORKER, Watched
from .persons import Person, Web, game_of_two, play, wait_for_ply

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.real

OVER = re.compile("wins|a draw")
LOST = "The connection is lost"
#: The sign before the button that follows the game.
MARK = "getComputedStyle(document.querySelector('.follow'), '::before').content"
#: A wall on which g2 is the next running game after g1.
EVENTS = "text/event-stream"
BOARDS = f"""event: of
data: {{"stream": 1}}

event: boards
data: {
    json.dumps(
        {
            "changed": [
                {"game_id": "g1", "end": None},
                {"game_id": "g3", "end": "complete"},
                {"game_id": "g2", "end": None},
            ],
            "shown": ["g1", "g3", "g2"],
            "live": None,
        }
    )
}

"""
#: Width, height, and the share of the height that the board of /tv takes at least.
LOW_SCREENS = ((844, 390, 0.5), (667, 375, 0.5), (800, 600, 0.5))
FITS = (
    "(({scrollWidth: x, scrollHeight: y}) => x <= innerWidth && y <= innerHeight)(document.documentElement)"
)
#: Rows of moves that come and go, and how often the sentence of a ply changes.
COUNT_CHANGES = """
window.changes = { moves: [0, 0], status: 0 };
const see = (name, note) => new MutationObserver((found) => found.forEach(note))
  .observe(document.querySelector(name), { childList: true, characterData: true, subtree: true });
see(".moves", ({ addedNodes, removedNodes }) => {
  window.changes.moves[0] += addedNodes.length;
  window.changes.moves[1] += removedNodes.length;
});
see(".status", () => window.changes.status++);
"""
#: What is seen with the colours of the reader.
LINED = """
[".seat.moving", ".seat:not(.moving)", ".move[aria-current]", ".dot"].filter((selector) => {
  const { outlineStyle, backgroundColor } = getComputedStyle(document.querySelector(selector));
  const ground = getComputedStyle(document.querySelector(".seat")).backgroundColor;
  return outlineStyle !== "none" || selector === ".dot" && backgroundColor !== ground;
})
"""
#: How many tones a page has made.
COUNT_TONES = """
window.tones = 0;
const made = AudioContext.prototype.createOscillator;
AudioContext.prototype.createOscillator = function () { window.tones++; return made.call(this); };
"""


@pytest.mark.soak
def test_a_running_game_late_lost_asleep_and_over(pages: Watched, tmp_path: Path) -> None:
    def alone(page: Page) -> None:
        page.clock.install()
        page.add_init_script(WITHOUT_SHARED_WORKER)
        page.add_init_script(WATCH_SHIFTS)

    pages.expected += ["ERR_INTERNET_DISCONNECTED", "ERR_INCOMPLETE_CHUNKED_ENCODING"]
    with game_of_two(tmp_path) as (server, persons):
        play(persons, range(1, 8))
        page = pages.open(
            server.page("game.html", contest=server.contest, game="g1"),
            prepare=alone,
        )
        wait_for_ply(page, 7)  # it came late, and has the plies before
        page.evaluate(COUNT_CHANGES)
        page.evaluate("window.rolling = document.getAnimations()")
        play(persons, range(8, 10))
        wait_for_ply(page, 9)
        # To begin an animation takes two frames: that of a clock goes on when the other clock runs.
        assert page.evaluate("window.rolling.map(each => each.playState)") == ["running"]
        page.clock.run_for(2_500)  # the list of moves follows a quick game every two seconds
        # A ply adds its row, and its sentence is said once, or not where another one comes in the same frame.
        changes = page.evaluate("window.changes")
        assert changes["moves"] == [2, 0]
        assert 1 <= changes["status"] <= 2
        # A text that is not flush left would count as moved if it changed in place.
        assert page.evaluate("window.shifts") == []
        assert page.locator(".moves .n").all_inner_texts() == [str(number) for number in range(1, 10)]
        # What is out of sight of hundreds of rows is not drawn with each ply.
        block = page.locator(".moves > ol").evaluate("each => getComputedStyle(each).contentVisibility")
        assert block == "auto"
        page.locator(".seat.moving .clock", has_text=re.compile(r"^(10|9):\d\d\.\d$")).wait_for()
        # Its digits are seen on a strip, its text is of less than two seconds ago.
        seen = page.evaluate(f"() => {{ {SEEN} return seen(document.querySelector('.moving .clock')); }}")
        assert re.fullmatch(r"(10|9):\d\d\.\d", seen)
        assert page.locator(".clock.runs").count() == 1
        pages.check_access(page)
        pages.shoot(page, "live")
        # The tree that a screen reader reads: the last ply, its players, and the board by its rows.
        tree = page.locator(".game").aria_snapshot()
        assert re.search(r'- status: "Ply 9: \W*ann\W* plays \d+, \d+ points\."', tree), tree
        assert 'region "Seat 1: ann"' in tree
        assert 'img "Board, rows from the top: ' in tree
        # With the colours of the reader who moves and what is shown has a line, a seat its sign.
        page.emulate_media(forced_colors="active")
        assert page.evaluate(LINED) == [".seat.moving", ".move[aria-current]", ".dot"]
        page.emulate_media(forced_colors="none")
        # All of it is in a small window, also with every button and with longer words.
        page.set_viewport_size({"width": 1366, "height": 768})
        page.evaluate(
            "document.querySelector('.game').classList.add('long-names');"
            "document.querySelector('.follow').textContent = 'На живо';"
            "for (const each of document.querySelectorAll('.buttons .group')) each.hidden = false"
        )
        assert page.evaluate("document.documentElement.scrollHeight") == 768
        # Without network: within 22 s the page says that it may be behind, and no clock runs.
        page.context.set_offline(True)
        page.clock.run_for(30_000)
        page.get_by_text(LOST).wait_for()
        assert page.locator(".tag").inner_text() == "○ not live"
        assert page.evaluate(MARK) == '"○"'
        assert page.locator(".clock.runs").count() == 0
        clocks = page.locator(".seat .clock").all_inner_texts()
        play(persons, range(10, 14))
        page.clock.run_for(60_000)
        assert page.locator(".counter").inner_text() == "ply 9 of 9"
        assert page.locator(".seat .clock").all_inner_texts() == clocks
        pages.shoot(page, "live-lost")
        page.context.set_offline(False)
        page.clock.run_for(11_000)
        wait_for_ply(page, 13)
        assert not page.get_by_text(LOST).is_visible()
        assert page.locator(".tag.live").inner_text() == "● live"
        assert page.evaluate(MARK) == '"●"'
        # A tab that sleeps: ten minutes pass at once, and the next thing shown is the server's position.
        play(persons, range(14, 16))
        page.clock.fast_forward(600_000)
        wait_for_ply(page, 15)
        assert page.locator(".banner").inner_text() == ""
        clock = page.locator(".seat.moving .clock").inner_text()
        # Of the server's clock, not of ten minutes of sleep, after which it would stand at 0:00.
        assert re.fullmatch(r"(10|[1-9]):\d\d.*", clock)
        play(persons, range(16, 41))
        page.get_by_text("Verified here").wait_for()
        assert page.locator(".counter").inner_text() == "ply 40 of 40"
        # An address without a ply is that of the newest one.
        after = pages.open(server.page("game.html", contest=server.contest, game="g1"))
        after.locator(".counter", has_text="ply 40 of 40").wait_for()
        with Results(server.database) as results:
            (ended,) = results.games.rows(results.contest("trial"))
        sentence = describe_result(ended["names"], ended["totals"], ended["end"])
        assert after.locator(".status").inner_text() == f"{sentence}."
        pages.close()


@pytest.mark.soak
def test_small_boards_mark_the_mover_zombies_and_what_is_over(pages: Watched, tmp_path: Path) -> None:
    text = contest(
        contest='ready = "10m"\nspectator_delay = "0s"\nprobation = 0\nannounce_zombies = true',
        game='clock = "10m"\nplies = 4',
        bots='[[bot]]\nname = "ann"\nperson = true\n[[bot]]\nname = "tom"\n',
    )
    with Web(text, tmp_path, 1) as server:
        page = pages.open(server.page("index.html"), prepare=lambda page: page.add_init_script(COUNT_TONES))
        sound = page.get_by_role("button", name="Sound at the end of a game")
        assert sound.get_attribute("aria-pressed") == "false"
        sound.click()
        page.wait_for_function("window.tones === 2")
        page.reload()  # it is remembered
        assert sound.get_attribute("aria-pressed") == "true"
        page.keyboard.press("Tab")
        bots = Players(server.port, [("tom", "illegal:ply=2")])
        ann = Person(server, "ann")
        ann.ready()
        moving = page.locator(".card .row.moving")
        assert moving.locator(".key").inner_text() == "ann"
        assert (moving.locator(".mark").text_content() or "").startswith("to move ▸")
        ann.play(1, "6")
        zombie = page.locator(".card .row.zombie")
        zombie.wait_for()
        assert (zombie.locator(".key").inner_text(), zombie.locator(".mark").inner_text()) == (
            "tom",
            "zombie",
        )
        assert moving.locator(".key").inner_text() == "ann"
        pages.check_schemes(page, "wall")
        ann.play(3, "7")
        over = page.locator(".card.over")
        over.wait_for()
        page.wait_for_function("window.tones === 2")
        assert page.locator(".card.over .row.moving").count() == 0
        with Results(server.database) as results:
            (ended,) = results.games.rows(results.contest("trial"))
        sentence = describe_result(ended["names"], ended["totals"], ended["end"])
        assert over.inner_text().replace("\xa0", " ").endswith(f"g1, ply 4. Over: {sentence}")
        winners = winning_seats(ended["totals"], ended["end"])
        won = [ended["names"][seat - 1] for seat in winners] if len(winners) == 1 else []
        assert over.locator(".row.won .key").all_inner_texts() == won
        page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        # The search for names comes with the fifth game.
        where = "document.querySelector('.card').getBoundingClientRect().top"
        before = page.evaluate(where)
        page.evaluate("document.querySelector('.search').hidden = false")
        assert page.evaluate(where) == before
        pages.shoot(page, "wall-over-phone")
        pages.close()
        ann.close()
        server.process.kill()
        bots.join()


@pytest.mark.soak
def test_a_stream_that_is_refused_says_so_and_comes(pages: Watched, tmp_path: Path) -> None:
    pages.expected += ["503 (Service Unavailable)"]
    refused, seen = 0, False

    def refuse(route: Route) -> None:
        nonlocal refused
        if not seen:
            refused += 1
            error = {"error": "too many viewers; try later"}
            route.fulfill(status=503, headers={"Retry-After": "1"}, json=error)
        else:
            route.continue_()

    with game_of_two(tmp_path) as (server, persons):
        play(persons, range(1, 4))
        page = pages.open(
            server.page("game.html", contest=server.contest, game="g1"),
            prepare=lambda page: (
                page.add_init_script(WITHOUT_SHARED_WORKER),
                page.route("**/api/v1/live?**", refuse),
            ),
        )
        page.get_by_text("Too many viewers; try later. This page asks again in 1 s").wait_for()
        assert not page.get_by_text(LOST).is_visible()
        assert refused >= 2  # the stream, and the question why
        seen = True
        wait_for_ply(page, 3)
        assert page.locator(".notice").inner_text() == ""
        page.get_by_role("button", name="Next running game").click()
        assert page.get_by_role("button", name="No other game is running").is_disabled()
        page.route("**/api/v1/live?*boards*", lambda route: route.fulfill(content_type=EVENTS, body=BOARDS))
        page.reload()
        page.get_by_role("button", name="Next running game").click()
        page.wait_for_url("**/game.html?contest=1&game=g2")
        pages.close()


@pytest.mark.soak
def test_tv_shows_a_game_and_goes_on_to_the_next(pages: Watched, tmp_path: Path) -> None:
    with game_of_two(tmp_path, 4) as (server, persons):
        play(persons, range(1, 3))
        page = pages.open(f"{server.url}/tv", prepare=lambda page: page.clock.install())
        page.locator(".tv .status", has_text="Game g1, ply 2").wait_for()
        pages.check_access(page)
        pages.shoot(page, "tv")
        page.locator(".tv-foot b", has_text="trial").wait_for()
        # The menu may have gone away by now.
        page.get_by_role("button", name="Pin", include_hidden=True).dispatch_event("click")
        assert page.locator("[aria-pressed=true]").count() == 1
        link = page.get_by_role("link", name="Open the game", include_hidden=True).first.get_attribute("href")
        assert link == f"game.html?contest={server.contest}&game=g1"
        said = page.locator(".tv .status .sub")
        said.evaluate("part => { part.textContent += ' a long name, and another one'.repeat(4); }")
        for width, height, least in LOW_SCREENS:
            page.set_viewport_size({"width": width, "height": height})
            board = page.locator(".tv-board .board").bounding_box()
            assert board is not None
            assert min(board["width"], board["height"]) >= least * height, (width, height, board)
            assert 0 <= board["y"] <= board["y"] + board["height"] <= height
            assert page.evaluate(FITS), (width, height)
            pages.shoot(page, f"tv-{width}x{height}")
        page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
        page.clock.run_for(4000)
        assert page.evaluate("document.body.className") == "idle"
        play(persons, range(3, 5))
        page.locator(".tv .status", has_text=OVER).wait_for()
        pages.shoot(page, "tv-over")
        assert page.locator(".tv-board .shares b").all_inner_texts() == (
            page.locator(".tv-seats .points").all_inner_texts()
        )
        for person in persons:
            person.ready()
        persons[1].play(1, "3")
        for _ in range(30):
            page.clock.run_for(1000)
        page.locator(".tv .status", has_text="Game g2, ply 1: ").wait_for()
        assert "Game 2 of 2" in page.inner_text(".tv-foot")
        phone = pages.open(f"{server.url}/tv", PHONE)
        phone.locator(".tv .status", has_text="Game g2, ply 1").wait_for()
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
        board = phone.locator(".tv-board .board").bounding_box()
        assert board is not None
        assert board["width"] >= 0.8 * PHONE[0], "the board takes the width"
        assert phone.evaluate("document.documentElement.scrollHeight") == PHONE[1]
        pages.shoot(phone, "tv-phone")
        play(persons[::-1], range(2, 5))
        phone.locator(".tv .status", has_text=OVER).wait_for()
        page.locator(".tv .status", has_text=OVER).wait_for()
        for _ in range(12):
            page.clock.run_for(1000)
        with Results(server.database) as results:
            leaders = [row.name for row in results.sums.standings(results.contest("trial")) if row.rank == 1]
        page.get_by_text(f"trial is finished, 2 games played, first: {', '.join(leaders)}.").wait_for()
        # The best moments of a contest that is over, one ply after another.
        page.clock.run_for(2000)
        page.locator(".tv-caption").wait_for()
        before = page.inner_text(".tv-board .status")
        page.clock.run_for(1500)
        page.locator(".tv-board .status", has_not_text=before).wait_for()
        pages.check_access(page)
        pages.shoot(page, "tv-highlights")
        pages.close()
