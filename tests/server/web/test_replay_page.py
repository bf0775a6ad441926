"""The replay page in a real browser: boards, keys, sizes, the check."""

from __future__ import annotations

import json
import re
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest
from tests.protocol import oracle
from tests.protocol.records import RECORD, ZOMBIE, a_record

from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game
from arena_protocol.games.lastcoin import LastCoin
from arena_protocol.record import describe_result
from arena_protocol.record_codec import encode
from arena_server.web.documents import record_json

from .browser import DESKTOP, PHONE, Watched, kept_pages, watched
from .replayed import GAMES, LONG, drop, replay_site, show

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet
    from playwright.sync_api import Browser, FloatRect, Page, ViewportSize

pytestmark = pytest.mark.real

LAPTOP: ViewportSize = {"width": 1366, "height": 768}
#: Runs in most plies.
SHORT = a_record(options={"plies": 60, "colours": 3})
#: The page shows them as it shows another of `GAMES`; `make soak` looks at them.
ALIKE = ("three", "tictactoe", "lastcoin", "four", "disc", "forfeit")


def soak(game: str) -> ParameterSet:
    """Only in the soak run."""
    return pytest.param(game, marks=pytest.mark.soak)


kept, pages = kept_pages()
site = replay_site()


def box_of(page: Page, part: str) -> FloatRect:
    box = page.locator(part).last.bounding_box()
    assert box is not None
    return box


def assert_in_one_window(page: Page, height: int) -> None:
    """Board, all seats with their clocks, the sentence and the slider are seen without scrolling."""
    assert page.evaluate("scrollY") == 0
    for part in (".stage .board", ".stage .status", ".seat", ".slider", ".buttons"):
        box = box_of(page, part)
        assert box["height"] > 0
        assert box["y"] + box["height"] <= height, part


def at_each_ply(page: Page, read: str) -> list[Any]:
    """What the JavaScript expression `read` gives at every ply from the first, reached by the slider."""
    found: list[Any] = page.evaluate(
        f"""() => {{
          const slider = document.querySelector(".slider input");
          return Array.from({{ length: Number(slider.max) }}, (_, index) => {{
            slider.value = index + 1;
            slider.dispatchEvent(new Event("input", {{ bubbles: true }}));
            return {read};
          }});
        }}"""
    )
    return found


#: The name that a screen reader is given of the board, and place and digit of each tile as it is drawn.
READ_BOARD = """[
  document.querySelector(".stage .board").getAttribute("aria-label"),
  [...document.querySelectorAll(".stage .tile[data-colour]:not([data-colour=''])")].map((tile) => {
    // What still flies there is not filled.
    const pattern = tile.getAttribute("fill") === "none" ? null : tile.getAttribute("fill").slice(4, -1);
    return [`${tile.getAttribute("x")} ${tile.getAttribute("y")}`,
      pattern ? document.querySelector(pattern).textContent : tile.dataset.colour];
  })
]"""

#: A board has the name of its position once its animation is over.
NAMED = "(name) => document.querySelector('.stage .board').getAttribute('aria-label') === name"
#: Plies enough for runs to be among them.
CUTS = 15
#: Goes forward ply by ply, and ends `phases` phases of each animation before the next ply cuts it off.
#: How many parts of a kind the board has as each animation begins.
CUT_OFF = """async ([plies, phases, part]) => {
  const found = [];
  for (let ply = 0; ply < plies; ply++) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    found.push(document.querySelectorAll(`.stage .board ${part}`).length);
    for (let phase = 0; phase < phases; phase++) {
      for (const animation of document.getAnimations()) animation.finish();
      await new Promise(requestAnimationFrame);
    }
  }
  return found;
}"""


def two_boards(label: str, tiles: list[tuple[str, str]]) -> list[str]:
    """The board of the label, and the one of the tiles, as STATE prints them."""
    rows = label.partition(": ")[2].split("; ")
    named = ["".join("." if cell == "empty" else cell[0] for cell in row.split(", ")) for row in rows]
    cells = {
        tuple(int(float(part)) // 100 for part in re.findall(r"-?[\d.]+", place)): digit
        for place, digit in tiles
    }
    drawn = ["".join(cells.get((x, y), ".") for x in range(5)) for y in range(5)]
    return ["/".join(named), "/".join(drawn)]


def test_every_position_is_that_of_the_oracle(pages: Watched, site: str) -> None:
    """By the slider, and every tenth ply also by its animation."""
    page = show(pages, site, SHORT)
    board, boards = SHORT.board, []
    for ply, picture in zip(SHORT.plies, SHORT.sequence, strict=False):
        board = oracle.play(board, int(ply.move), int(picture))[0]
        boards.append(board)
    read = at_each_ply(page, READ_BOARD)
    assert [two_boards(*each) for each in read] == [[board, board] for board in boards]
    page.select_option("select", "8")
    for number in range(10, len(boards) + 1, 10):
        page.fill(".slider input", str(number - 1))
        page.keyboard.press("ArrowRight")
        page.wait_for_function(NAMED, arg=read[number - 1][0])
        assert two_boards(*page.evaluate(READ_BOARD)) == [boards[number - 1]] * 2


@pytest.mark.soak
def test_an_animation_that_is_cut_off_has_a_next_one(pages: Watched, site: str) -> None:
    page = show(pages, site, SHORT)
    drawn = at_each_ply(page, READ_BOARD)
    board, inserted = SHORT.board, []
    for ply, picture in zip(SHORT.plies[:CUTS], SHORT.sequence, strict=False):
        grid = oracle.grid_of(board)
        oracle.insert(grid, int(ply.move), int(picture))
        inserted.append(sum(map(bool, chain(*grid))))
        board = oracle.play(board, int(ply.move), int(picture))[0]
    page.select_option("select", "0.25")
    for phases in (0, 1, 2, 3):
        page.fill(".slider input", "0")
        # Each begins with the tiles of the ply before it, and the one that it inserts; one may leave.
        assert page.evaluate(CUT_OFF, [CUTS, phases, "[data-colour]:not([data-colour=''])"]) == inserted
        # The way back is at once, also from the middle of an animation.
        page.keyboard.press("ArrowLeft")
        assert two_boards(*page.evaluate(READ_BOARD)) == two_boards(*drawn[CUTS - 2])


@pytest.mark.parametrize("game", ["xo", soak("tictactoe")])
@pytest.mark.soak
def test_a_board_without_animations_shows_each_ply_at_once(pages: Watched, site: str, game: str) -> None:
    page = show(pages, site, GAMES[game])
    (first, *rest) = at_each_ply(page, "document.querySelectorAll('.stage .board .mark').length")
    page.fill(".slider input", "0")
    assert page.evaluate(CUT_OFF, [1 + len(rest), 0, ".mark"]) == [first, *rest]
    assert rest[-1] - first == len(rest)


@pytest.mark.parametrize("game", [soak(game) if game in ALIKE else game for game in GAMES])
def test_every_game_is_shown_and_verifies(pages: Watched, site: str, game: str) -> None:
    record = GAMES[game]
    page = show(pages, site, record, DESKTOP)
    assert page.inner_text("h1") == " – ".join(record.names)
    assert page.locator(".badge.true").count() == 1
    page.keyboard.press("End")
    totals = [int(text.replace(",", "")) for text in page.locator(".seat .points").all_text_contents()]
    assert totals == list(record.totals)
    result = describe_result(record.names, record.totals, record.end)
    decided = record.game != "insertion"
    # The points of a game that is only won or lost say nothing.
    shown = re.sub(r",? 2 : 0|, 1 : 1", "", result) if decided else result
    assert page.locator(".status strong").inner_text() == f"{shown}."
    assert page.locator(".shares").is_visible() == page.locator(".seat .points").first.is_visible() != decided
    assert page.locator(".seat.won").count() == (max(record.totals) > min(record.totals))
    page.set_viewport_size(LAPTOP)
    assert_in_one_window(page, LAPTOP["height"])
    if game in ("insertion", "four", "disc"):
        pages.check_schemes(page, f"replay-{game}")


@pytest.mark.parametrize("game", ["insertion", soak("xo"), soak("disc")])
def test_on_a_phone(pages: Watched, site: str, game: str) -> None:
    page = show(pages, site, GAMES[game], PHONE)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".site nav").evaluate("nav => nav.scrollWidth <= nav.clientWidth")
    # A long name has the row of its card to itself, but for the points.
    wide = "card => card.querySelector('h2').offsetWidth / card.offsetWidth"
    assert min(page.locator(".seat").evaluate_all(f"cards => cards.map({wide})")) > 0.6
    assert_in_one_window(page, PHONE[1])
    first, board, second = (box_of(page, part) for part in (".seat.s1", ".stage .board", ".seat.s2"))
    assert first["y"] + first["height"] <= board["y"]
    assert board["y"] + board["height"] <= second["y"]
    # Nothing moves from ply to ply.
    tops = (
        "['.stage .board', '.seat.s2'].map((part) => document.querySelector(part).getBoundingClientRect().y)"
    )
    for _ in range(20):
        page.keyboard.press("ArrowRight")
        assert page.evaluate(tops) == [board["y"], second["y"]]
    if game == "insertion":
        pages.check_access(page)
    pages.shoot(page, f"replay-{game}-phone")


@pytest.mark.soak
def test_keys_slider_marks_and_links(pages: Watched, site: str) -> None:
    page = show(pages, site, LONG)
    counter = page.locator(".counter")
    for key, ply in (("ArrowRight", 1), ("PageDown", 11), ("End", 120), ("ArrowLeft", 119), ("Home", 0)):
        page.keyboard.press(key)
        assert counter.inner_text() == f"ply {ply} of 120"
    page.get_by_role("button", name="Next fault").click()
    assert counter.inner_text() == "ply 31 of 120"
    page.get_by_role("button", name="Next fault").click()
    assert counter.inner_text() == "ply 77 of 120"
    page.get_by_role("button", name="Previous fault").click()
    assert "zombie since ply 31: illegal" in page.inner_text(".seat.s1")
    page.locator(".tick.fault").nth(1).click()
    assert counter.inner_text() == "ply 77 of 120"
    assert page.url.endswith("#ply=77")
    page.evaluate("location.hash = '#ply=40'")
    page.locator(".counter", has_text="ply 40 of 120").wait_for()
    page.locator(".chart").first.click(position={"x": 200, "y": 50})
    assert counter.inner_text() != "ply 40 of 120"
    page.fill(".slider input", "5")
    assert counter.inner_text() == "ply 5 of 120"
    assert page.locator(".move[aria-current]").inner_text().startswith("5")
    page.locator(".move").nth(7).click()
    assert counter.inner_text() == "ply 8 of 120"


@pytest.mark.soak
def test_the_controls_are_a_few_tabs_away_and_the_moves_are_one_stop(pages: Watched, site: str) -> None:
    page = show(pages, site, LONG)
    focused = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
    stops = []
    for _ in range(30):
        page.keyboard.press("Tab")
        stops.append(page.evaluate(focused))
    assert stops.index("Ply") < stops.index("Play (space)") < 14
    assert stops.index("Play (space)") < stops.index("Moves")
    assert stops[stops.index("Moves") + 1].startswith("1")
    assert page.locator(".moves [tabindex='0']").count() == 1
    page.locator(".moves [tabindex='0']").focus()
    for key, ply in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowDown", 3), ("ArrowUp", 2), ("ArrowRight", 3)):
        page.keyboard.press(key)
        assert page.locator(".counter").inner_text() == f"ply {ply} of 120"
        assert page.evaluate("document.activeElement.className").startswith("move ")
        assert page.evaluate("document.activeElement.firstChild.textContent") == str(ply)
        assert page.locator(".moves [tabindex='0']").count() == 1


@pytest.mark.soak
def test_it_plays_to_the_end_and_pauses(pages: Watched, site: str) -> None:
    page = show(pages, site, RECORD)
    page.select_option("select", "16")
    page.keyboard.press("Space")
    page.locator(".counter", has_text="ply 12 of 12").wait_for()
    page.get_by_role("button", name="Play (space)").wait_for()
    page.select_option("select", "0.25")  # 38 s to the end
    page.keyboard.press("Space")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play (space)").wait_for()


@pytest.mark.soak
def test_without_motion_nothing_moves(pages: Watched, site: str) -> None:
    page = pages.open(f"{site}/replay.html", motion="reduce")
    drop(page, encode(LONG))
    page.wait_for_selector(".badge.true, .badge.false")
    for _ in range(20):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.getAnimations().length") == 0
    assert page.locator(".counter").inner_text() == "ply 20 of 120"


@pytest.mark.soak
def test_the_last_ply_is_a_live_region(pages: Watched, site: str) -> None:
    page = show(pages, site, ZOMBIE)
    page.keyboard.press("ArrowRight")
    status = page.locator(".status")
    assert status.get_attribute("role") == "status"
    ply = ZOMBIE.plies[0]
    assert status.inner_text().startswith(f"Ply 1: ann plays {ply.move}, {ply.points} points")


@pytest.mark.parametrize("game", ["xo", "tictactoe"])
@pytest.mark.soak
def test_the_board_of_scenes_is_that_of_the_rules(pages: Watched, site: str, game: str) -> None:
    """Marks, the cell of the last move and a line that has won, at every ply."""
    record = GAMES[game]
    rules = make_game(record.game, record.options)
    position = rules.start(Deal(record.board, record.sequence))
    page = show(pages, site, record)
    shown = at_each_ply(
        page,
        """[
          document.querySelector(".stage .board").getAttribute("aria-label"),
          [...document.querySelectorAll(".stage .cell-group")].map((cell) => [
            cell.dataset.sign, cell.classList.contains("last") ? cell.dataset.move : null,
            cell.querySelectorAll("path.mark").length, cell.querySelectorAll("circle.mark").length])
        ]""",
    )
    for ply, (label, cells) in zip(record.plies, shown, strict=True):
        position = rules.play(position, ply.move).position
        signs = rules.state_text(position).replace("/", "")
        assert "".join(sign for sign, *_ in cells) == signs
        assert [(crosses, rings) for _, _, crosses, rings in cells] == [
            (int(sign == "x"), int(sign == "o")) for sign in signs
        ]
        assert [last for _, last, *_ in cells if last is not None] == [ply.move]
        assert f"{'X' if 'x' in signs else 'O'}: " in label
    won = page.locator(".stage .cell-group.line").count()
    assert (won >= 3) == (record.end == "win")


@pytest.mark.soak
def test_a_game_whose_position_is_no_board_is_a_text(
    pages: Watched, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scene that a game has without one of its own."""
    monkeypatch.setattr(LastCoin, "scene", Game.scene)
    page = show(pages, site, GAMES["lastcoin"])
    assert page.text_content(".stage .board") == "21/1"
    assert page.get_attribute(".stage .board", "aria-label") == "21/1"
    page.keyboard.press("End")
    assert (page.text_content(".stage .board") or "").startswith("0/")
    pages.check_access(page)
    pages.shoot(page, "replay-text")


@pytest.mark.soak
def test_styles_that_the_page_does_not_have_are_letters(pages: Watched, site: str) -> None:
    record = record_json(GAMES["xo"])
    styles = {"x": "tile-99", "o": "<b>disc-7"}
    record["scenes"]["layout"]["styles"] = styles
    page = pages.open(f"{site}/replay.html")
    drop(page, json.dumps(record).encode(), "g7.json")
    page.wait_for_selector(".badge.true")
    assert set(page.locator(".stage .letter").all_text_contents()) == {"x", "o"}
    pages.shoot(page, "replay-letters")


@pytest.mark.soak
def test_the_page_is_light(browser: Browser, site: str) -> None:
    with watched(browser) as pages:
        page = show(pages, site, RECORD)
        assert 10_000 < pages.bytes < 150_000
        page.wait_for_function("performance.getEntriesByName('first-contentful-paint')[0]?.startTime > 0")
