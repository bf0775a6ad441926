"""Games that visitors start on the page /play: in a real browser, with the processes that play them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ..programs import inside
from .browser import PHONE, Watched
from .persons import Web, wait_for_turn
from .visitors import play_database, played, server_of, verified

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.real


ARABIC = "كأس 3:1 (2)"
#: Texts from right to left that take along what stands beside them.
STANDS_BARE = """
(() => {
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { parentElement: element, textContent } = texts.currentNode;
    const bare = textContent.replace(/\\u2068[^\\u2069]*\\u2069/g, "");
    const isApart = element.closest("bdi, [dir=auto], script, code");
    if (/[\\u0590-\\u08ff]/.test(bare) && !isApart) found.push(textContent);
  }
  return found;
})()
"""


#: Where the parts of the line of the result begin on the page.
PLACES = """
(texts) => {
  const within = document.createTreeWalker(document.querySelector(".status"), NodeFilter.SHOW_TEXT);
  let text = within.nextNode();
  while (!text.data.includes(texts[0])) text = within.nextNode();
  return texts.map((part) => {
    const range = document.createRange();
    const at = text.data.lastIndexOf(part);
    range.setStart(text, at);
    range.setEnd(text, at + part.length);
    return range.getBoundingClientRect().x;
  });
}
"""


def in_order(page: Page, *texts: str) -> None:
    """The texts of the result stand from left to right: the name from right to left has moved none."""
    places = page.evaluate(PLACES, texts)
    assert places == sorted(places), dict(zip(texts, places, strict=True))


def move_until_the_end(page: Page, moves: list[str]) -> None:
    """Play the first of `moves` that is legal, ply by ply."""
    turn = page.get_by_text("It is your turn.")
    over = page.get_by_text("The game is over", exact=False).first
    while True:
        turn.or_(over).first.wait_for()
        if not turn.is_visible():
            return
        page.locator("[data-move].can").first.wait_for()  # a page that was loaded again has no board yet
        move = next(each for each in moves if page.locator(f'[data-move="{each}"].can').count())
        page.locator(f'[data-move="{move}"]').click()
        page.locator(f'[data-move="{move}"]:not(.can)').first.wait_for()


def test_a_game_against_an_engine_from_the_form_to_the_record(pages: Watched, tmp_path: Path) -> None:
    with server_of(tmp_path) as server:
        page = pages.open(f"{server.url}/play")
        page.get_by_label("Game").wait_for()
        assert page.get_by_label("Game").input_value() == "insertion"
        assert page.get_by_label("Medium").is_checked()
        assert page.get_by_label("Engine, from weak to strong").is_hidden()
        board = page.locator(".preview .board").bounding_box()
        assert board is not None
        assert board["height"] > 150
        pages.check_access(page)
        pages.shoot(page, "start")
        assert pages.bytes < 150_000
        page.get_by_label("Game").select_option("tictactoe")
        strong = page.locator(".choice", has_text="Strong")
        assert strong.inner_text().split() == ["Strong", "perfect"]
        page.get_by_label("Another engine").check()
        page.get_by_label("Engine, from weak to strong").select_option("perfect")
        page.get_by_label("Your seat").select_option("2")
        page.get_by_label("Your name").fill("Мария")
        # The page has the rules of insertion alone.
        assert page.get_by_label("With hints").count() == 0
        assert page.get_by_label("Moves may be taken back").is_checked()
        page.get_by_role("button", name="Start the game").click()
        page.get_by_role("heading", name="You play as Мария").wait_for()
        wait_for_turn(page, 2)  # against an engine the start is all that a person has to press
        assert page.get_by_role("button", name="Hint").is_hidden()
        pages.shoot(page, "casual-game")
        assert page.get_by_role("button", name="Take back").is_disabled()
        page.locator("[data-move].can").first.click()
        wait_for_turn(page, 4)
        # The name of a cell says what stands in it.
        assert page.get_by_role("button", name=re.compile("^Move [abc][123], [xo]$")).count() == 3
        page.get_by_role("button", name="Take back").click()
        wait_for_turn(page, 2)
        page.reload()  # the seat stays with this browser
        move_until_the_end(page, [f"{column}{row}" for column in "abc" for row in "123"])
        page.get_by_role("link", name="Another game").wait_for()
        pages.shoot(page, "casual-over")
        page.get_by_role("button", name="Rematch").click()
        wait_for_turn(page, 1)
        assert page.get_by_role("button", name="Ready").is_hidden()
        assert page.locator(".seat h2").all_inner_texts() == ["Мария", "perfect-2"]
        page.go_back()
        page.get_by_role("link", name="The record of game g2").click()
        page.get_by_text("Verified here").wait_for()
        page.get_by_role("link", name="← The contest").click()
        page.locator(".standings tbody tr").nth(1).wait_for()
        page.goto(f"{server.url}/play.html")
        row = page.locator(".cards .row", has_text="perfect-1 – Мария")
        row.get_by_text("moves taken back: 1").wait_for()
        # Of a game that is only won or lost no list shows points.
        assert not re.search(r"\d : \d", row.inner_text())
        page.get_by_role("link", name="perfect-1 – Мария").click()
        page.get_by_text("Verified here").wait_for()
        beside = page.url.partition("#")[0].replace("game.html", "pair.html").replace("game=g2", "game=g1")
        page.goto(beside)
        page.locator(".pair-game").nth(1).wait_for()
        assert page.locator(".pair-game .seat h2").all_inner_texts() == ["perfect-1", "Мария"] * 2
        pages.close()
        _, game = played(server)
        assert [row[3] == "void" for row in game["rows"]] == [True, False]
        assert verified(server, game["id"]).startswith("verified: 2 games")
        database = f"sqlite:///{play_database(server)}"
        replay = inside("replay", "g2", "--json", "--contest", game["id"], "--database", database)
        record = json.loads(replay.out)
        assert record["names"] == ["perfect-1", "person-2"], "names of the protocol"
        assert [note["text"] for note in record["infos"] if note["seat"] == 2] == [
            "person-2 took back ply 2 of g1; plies 1 to 1 are the same"
        ]


#: Of the first window: whose turn it is, the controls, and the whole board.
IN_SIGHT = """
[".turn", "#move", ".board-row"].every((name) => {
  const { top, bottom } = document.querySelector(name).getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
})
"""


@pytest.mark.soak
@pytest.mark.parametrize("size", [(1280, 800), (640, 400), (390, 844), (844, 390)])
def test_turn_controls_and_board_are_in_the_first_window(
    pages: Watched, tmp_path: Path, size: tuple[int, int]
) -> None:
    """640 x 400 is what a window of 1280 x 800 has at 200 %."""
    with server_of(tmp_path) as server:
        page = pages.open(f"{server.url}/play.html", size)
        page.get_by_role("button", name="Start the game").click()
        wait_for_turn(page, 1)
        assert page.evaluate(IN_SIGHT)
        pages.check_access(page)
        pages.close()


@pytest.mark.soak
def test_a_game_is_played_on_from_a_ply_of_its_record(pages: Watched, tmp_path: Path) -> None:
    with server_of(tmp_path) as server:
        page = pages.open(f"{server.url}/play.html")
        page.get_by_label("Kind of game").select_option("tictactoe")
        page.get_by_role("button", name="Start the game").click()
        wait_for_turn(page, 1)
        move_until_the_end(page, [f"{column}{row}" for column in "abc" for row in "123"])
        page.get_by_role("link", name="The record of game g1").click()
        page.get_by_text("Verified here").wait_for()
        page.goto(f"{page.url.partition('#')[0]}#ply=2")
        page.get_by_role("link", name="Play on").click()
        page.get_by_role("heading", name="Play on from ply 2 of g1").wait_for()
        pages.check_schemes(page, "play-on")
        page.get_by_label("In the place of").select_option("1")
        page.get_by_label("Against").select_option("perfect")
        page.get_by_role("button", name="Play on").click()
        wait_for_turn(page, 3)
        assert page.locator(".seat h2").all_inner_texts() == ["person-1", "perfect-2"]
        move_until_the_end(page, [f"{column}{row}" for column in "abc" for row in "123"])
        page.get_by_role("link", name="Another game").wait_for()
        pages.close()
        newest, _ = played(server)
        assert verified(server, newest["id"]) == "verified: 1 game, 1 of them on the deal of another game\n"
        database = f"sqlite:///{play_database(server)}"
        record = json.loads(
            inside("replay", "g1", "--json", "--contest", newest["id"], "--database", database).out
        )
        assert re.fullmatch(
            r"played on from ply 2 of g1 of play-\S+; plies 1 to 2 are the same",
            next(note["text"] for note in record["infos"] if note["seat"] == 1),
        )


@pytest.mark.soak
def test_two_people_by_a_link(pages: Watched, tmp_path: Path) -> None:
    pages.expected.append("409 (Conflict)")  # the name of the other
    with server_of(tmp_path, about=f'title = "{ARABIC}"\norganiser = "{ARABIC}"\n') as server:
        ann = pages.open(f"{server.url}/play.html", PHONE)
        ann.locator(".start-form .board").wait_for()
        # One column, in whose first window a game can be started.
        columns = "getComputedStyle(document.querySelector('.start-form')).gridTemplateColumns"
        assert len(ann.evaluate(columns).split()) == 1
        button = ann.get_by_role("button", name="Start the game").bounding_box()
        assert button is not None
        assert button["y"] + button["height"] < PHONE[1]
        ann.get_by_label("Game").select_option("lastcoin")
        ann.get_by_label("A second person").check()
        ann.get_by_label("With the contest's clock").check()
        ann.get_by_role("button", name="Start the game").click()
        link = ann.get_by_label("Link of person-2")
        link.wait_for()
        pages.check_access(ann)
        assert ann.evaluate("document.documentElement.scrollWidth <= innerWidth")
        pages.shoot(ann, "start-links-phone")
        guest = link.input_value()
        ann.get_by_role("button", name="Take your seat as person-1").click()
        ann.get_by_text("Waiting for the other players.").wait_for()
        bob = pages.open(guest)
        bob.get_by_label("Your name").fill("person-1")
        bob.get_by_role("button", name="Take the seat").click()
        bob.get_by_text("Another player is called person-1: choose another name.").wait_for()
        pages.shoot(bob, "invited")
        bob.get_by_label("Your name").fill("ليلى 7")
        bob.get_by_role("button", name="Take the seat").click()
        bob.get_by_role("heading", name=re.compile("^You play as .*ليلى 7")).wait_for()
        for page in (ann, bob):
            page.get_by_role("button", name="Ready").click()
        wait_for_turn(ann, 1)
        assert re.fullmatch(r"(10|\d):\d\d.*", ann.locator(".seat .clock").first.inner_text())
        for number in range(4):
            page = (ann, bob)[number % 2]
            wait_for_turn(page, number + 1)
            page.get_by_label("Your move").fill("1" if number == 3 else "2")
            page.get_by_role("button", name="Play", exact=True).click()
        ann.locator(".turn.won", has_text="The game is over: you win.").wait_for()
        bob.locator(".turn:not(.won)", has_text="The game is over: person-1 wins.").wait_for()
        bob.get_by_role("button", name="Rematch").click()
        bob.get_by_role("heading", name=re.compile("^You play as .*ليلى 7")).wait_for()
        assert ann.locator(".seat h2").all_inner_texts() == ["person-1", "ليلى 7"]
        record = pages.open(f"{server.url}/play.html").locator("tr a.whole").first
        assert record.inner_text() == "person-1 – ليلى 7"
        record.click()
        record.page.get_by_role("heading", name="person-1 – ليلى 7").wait_for()
        record.page.get_by_text("names and result are as the contest lists them").wait_for()
        record.page.goto(record.page.url.partition("#")[0] + "#ply=2")
        record.page.locator(".status", has_text="plays 2").wait_for()
        in_order(record.page, "ليلى", "plays", "2")
        pages.shoot(record.page, "named-in-arabic")
        for path in ("", "contest.html?id=1", "play.html"):
            other = pages.open(f"{server.url}/{path}")
            other.locator("bdi", has_text=re.compile("كأس|ليلى")).first.wait_for()
            assert other.evaluate(STANDS_BARE) == []
            pages.shoot(other, f"arabic-{path.partition('.')[0]}")
        ann.get_by_role("button", name="Rematch: the others wait").click()
        ann.get_by_role("heading", name="You play as person-2").wait_for()
        pages.close()
        _, game = played(server)
        assert game["rows"][0][2] == [2, 0], "seven coins: bob had to take the last one"
        verified(server, game["id"])


@pytest.mark.soak
def test_who_gives_up_learns_how_the_game_ended(pages: Watched, web: Web) -> None:
    """The game is won or lost without points; the keyboard goes on where the game does."""
    page = pages.open(f"{web.url}/play")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_label("Game").select_option("tictactoe")
    page.get_by_role("button", name="Start the game").click()
    wait_for_turn(page, 1)
    assert page.evaluate("document.activeElement.classList.contains('turn-panel')")
    page.get_by_role("button", name="Give up").click()
    ended = page.locator(".turn", has_text=re.compile(r"^The game is over: (\S+ wins|you win|a draw)"))
    ended.wait_for()
    page.get_by_role("link", name="The record of game g1").wait_for()
    assert page.locator(".why").inner_text() == "person-1: zombie since ply 1: quit"
    assert page.get_by_role("button", name="Give up").is_hidden()
    for width, height in ((640, 400), PHONE, (844, 390)):
        page.set_viewport_size({"width": width, "height": height})
        onward = page.get_by_role("button", name="Rematch"), page.get_by_role("link", name="Another game")
        rematch, another = (each.bounding_box() for each in onward)
        assert rematch is not None
        assert another is not None
        assert rematch["y"] == another["y"], "what comes next is one row"
    page.context.close()


@pytest.mark.soak
@pytest.mark.parametrize(
    ("game", "size"),
    [
        ("insertion", PHONE),
        ("tictactoe", (844, 390)),
        ("disc", PHONE),
        ("lastcoin", (844, 390)),
        ("xo", (844, 390)),
    ],
)
def test_a_finger_plays_from_the_first_press_to_the_rematch(
    browser: Browser, web: Web, game: str, size: tuple[int, int]
) -> None:
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, has_touch=True, is_mobile=True, locale="en-US"
    )
    page = context.new_page()
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{web.url}/play")
    page.get_by_label("Game").select_option(game)
    page.get_by_role("button", name="Start the game").tap()
    moves, over = page.locator("[data-move].can"), page.locator(".turn.over")
    while True:
        moves.first.or_(over).first.wait_for()
        if over.count():
            break
        box = moves.last.bounding_box()
        assert box is not None
        ply = page.locator(".counter").inner_text()
        moves.last.tap()
        if min(box["width"], box["height"]) < 24:  # less than a finger needs
            page.locator(".turn", has_text="is chosen: touch it again to play it.").wait_for()
            assert page.locator(".chosen").count() == 1
            assert page.locator(".counter").inner_text() == ply
            moves.last.tap()
        page.locator(".counter", has_not_text=ply).wait_for()
    text = over.inner_text()
    assert re.match(r"The game is over: (you win|\S+ wins|a draw)", text), text
    # What comes next is in the first window.
    rematch = page.get_by_role("button", name="Rematch")
    for part in (
        rematch,
        page.get_by_role("link", name="Another game"),
        page.get_by_role("link", name="The record"),
    ):
        part.wait_for()
        box = part.bounding_box()
        assert box is not None
        assert 0 <= box["y"] <= box["y"] + box["height"] <= size[1]
    rematch.tap()
    moves.first.wait_for()
    page.get_by_role("button", name="Give up").tap()  # the next game needs its place
    over.wait_for()
    context.close()


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with server_of(tmp_path_factory.mktemp("casual")) as server:
        yield server
