"""What `arena report` and `arena site` write, in a real browser: without a server of ours."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.reports import unpacked
from tests.cli.test_rounds import BRACKET, match

from arena_server.web.bundle import packed, report_page

from ..programs import Players, Server, contest, inside
from .browser import DESKTOP, PHONE, Watched

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of three bots, one of which sends illegal moves."""
    folder = tmp_path_factory.mktemp("written")
    more = 'probation = 0\ngames_per_pair = 6\ndeals = "paired"'
    text = contest("first", "six", "zero", contest=more, game='plies = 8\nclock = "10m"')
    plans = [("first", "first-legal"), ("six", "fixed:move=6"), ("zero", "zero-based")]
    with Server(text, folder, "--until-finished") as server:
        Players(server.port, plans).join()
        assert server.end().code == 0
    return folder


def report(played: Path, file: Path, *options: str) -> Path:
    """The file that `arena report` writes."""
    assert inside("report", file, *options, cwd=played).code == 0
    return file


def test_from_the_standings_to_a_verified_game(played: Path, pages: Watched, tmp_path: Path) -> None:
    """A request for anything but the file itself is a complaint of `pages`."""
    file = report(played, tmp_path / "trial.html")
    address = file.as_uri()
    page = pages.open(address, DESKTOP)
    requests: list[str] = []
    page.on("request", lambda made: requests.append(made.url))
    page.get_by_role("heading", name="Faults").wait_for()
    rows = json.loads(unpacked(file)["contests/1.json"])["standings"]
    shown = page.locator(".standings tbody .name-cell").all_inner_texts()
    assert shown == [row["bot"] for row in rows]
    assert page.locator("h2").all_inner_texts() == [
        *("Standings", "Highlights", "Ratings", "Cross-table", "Per game", "Faults", "Games")
    ]
    assert 'zero sent an illegal move "0" at ply' in page.locator(".fault-list").inner_text()
    page.locator(".fault-list a").first.click()
    page.get_by_text("✓ Verified here").wait_for()
    page.get_by_role("link", name="zero", exact=True).click()
    page.get_by_role("heading", name="Opponents").wait_for()
    page.go_back()
    page.get_by_role("link", name="← The contest").click()
    page.get_by_role("heading", name="Faults").wait_for()
    see_a_deal_twice(page)
    pages.check_access(page)
    assert all(each.startswith((address, "blob:", "data:")) for each in requests), requests


def see_a_deal_twice(page: Page) -> None:
    """From a row of the list of games; one slider and the keys move both games."""
    page.locator(".games .deal").first.click()
    page.get_by_text("With the same luck").wait_for()
    status = page.locator(".pair .status")
    page.keyboard.press("Home")
    assert status.all_inner_texts() == ["The start."] * 2
    page.keyboard.press("ArrowRight")
    assert [text.split(":")[0] for text in status.all_inner_texts()] == ["Ply 1", "Ply 1"]
    page.keyboard.press("End")
    assert page.url.endswith("#ply=8")
    page.get_by_role("button", name="Go there (n)").click()
    assert "parted" in str(page.locator(".pair").get_attribute("class"))
    (ply,) = re.findall(r"The games part at ply ([0-9]+):", page.locator(".better").inner_text())
    assert page.url.endswith(f"#ply={ply}")


@pytest.mark.soak
def test_on_a_phone_the_games_of_a_bot_are_pages_of_a_few_cards(
    played: Path, pages: Watched, tmp_path: Path
) -> None:
    address = report(played, tmp_path / "trial.html").as_uri()
    page = pages.open(f"{address}?page=bot&contest=1&bot=zero", PHONE)
    games = page.locator(".games tbody tr")
    page.get_by_text("12 games, page 1 of 2").wait_for()
    assert games.count() == 10
    first = games.first.inner_text()
    page.get_by_role("button", name="Next").click()
    page.get_by_text("12 games, page 2 of 2").wait_for()
    assert games.count() == 2
    # The next ones are read from the first on.
    assert page.locator(".games").bounding_box()["y"] >= 0  # type: ignore[index]
    page.get_by_role("button", name="Previous").click()
    assert games.first.inner_text() == first
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    page.get_by_text(re.compile("^12 games$")).wait_for()
    assert games.count() == 12


@pytest.mark.soak
def test_a_game_that_was_left_out(played: Path, pages: Watched, tmp_path: Path) -> None:
    whole = report(played, tmp_path / "all.html").read_text()
    files = re.findall(r'data-path="([^"]+)">([^<]*)<', whole)
    tables = sum(len(path) + len(text) for path, text in files if "records" not in path)
    file = report(played, tmp_path / "trial.html", "--megabytes", str((tables + 0.5) / 1e6))
    page = pages.open(f"{file.as_uri()}?page=game&contest=1&game=g1", PHONE, "dark")
    page.get_by_text("Game g1 was left out of this file for its size").wait_for()


def written(
    folder: Path,
    standings: list[dict[str, Any]],
    rounds: list[dict[str, Any]] | None = None,
    documents: dict[str, Any] | None = None,
    cards: Sequence[dict[str, Any]] = (),
    **more: Any,
) -> Path:
    """The page of a contest with this table, as one file."""
    document = {
        "id": 1,
        "name": "cup",
        "game": "tictactoe",
        "format": "knockout",
        "status": "finished",
        "games": 9,
        "games_played": 0,
        "games_void": 0,
        "clock_ms": 1000,
        "scoring": "points",
        "head": None,
        "bots": [row["bot"] for row in standings],
        "list": {"games": 0, "chunk": 9},
        "schedule": {"games": 0, "chunk": 9},
        "standings": standings,
    }
    texts = {
        "site.json": {"live": False, "state": False},
        "contests/1.json": document | more,
        "contests/1/rounds.json": {"ranked_by": "x", "rounds": rounds or [], "cards": cards},
    } | (documents or {})
    path = folder / "cup.html"
    packs = {name: packed(json.dumps(text).encode()) for name, text in texts.items()}
    path.write_text(report_page("cup", 1, packs))
    return path


@pytest.mark.parametrize(
    ("scoring", "games", "bold"),
    [("wins", 3, ["2", "1"]), ("points", 3, ["40", "50"]), ("points", 4, ["13.3", "12.5"])],
)
@pytest.mark.soak
def test_what_the_table_ranks_by_stands_out(
    scoring: str, games: int, bold: list[str], tmp_path: Path, pages: Watched
) -> None:
    """Wins, points, or points a game where the bots have different numbers of games."""
    row: dict[str, Any] = {"rank": 1, "bot": "ann", "points": 40, "games": 3, "mean": 40 / 3, "wins": 2}
    other = {"rank": 2, "bot": "bob", "points": 50, "games": games, "mean": 50 / games, "wins": 1}
    one, other = row | {"faults": {}}, other | {"faults": {}}
    page = pages.open(written(tmp_path, [one, other], format="round-robin", scoring=scoring).as_uri())
    page.get_by_role("heading", name="Standings").wait_for()
    assert page.locator(".standings td b").all_inner_texts() == bold


#: What of the head of a contest ends outside its box: links to the latest results, and what the leader has.
OUTSIDE = """[...document.querySelectorAll(".latest a, .leader > *")].filter((part) => {
  const [box, own] = [part.parentElement, part].map((each) => each.getBoundingClientRect());
  return own.right > box.right + 1 || own.bottom > box.bottom + 1
    || !part.matches(".who, .latest a") && part.scrollWidth > part.clientWidth;
}).map((part) => part.textContent)"""


@pytest.mark.soak
@pytest.mark.parametrize("size", [PHONE, (844, 390), (1280, 800)])
def test_the_head_of_a_contest_is_whole_beside_the_longest_names(
    size: tuple[int, int], tmp_path: Path, pages: Watched
) -> None:
    """The name of the leader gives way, and so do the results before the latest one."""
    names = ["Wolfgang-Amadeus-Mozart-engin-01", "n" * 32]
    row: dict[str, Any] = {"points": 1485, "games": 10, "mean": 148.5, "wins": 5, "faults": {}}
    standings = [{"rank": n + 1, "bot": name, **row, "games": 10 + n} for n, name in enumerate(names)]
    over = [[f"g{n}", [0, 1], [1000, 900], "complete", 9, 0, [], [1, 1]] for n in range(1, 4)]
    listed = {"games": 3, "chunk": 9}
    counts: dict[str, Any] = {"games": 3, "games_played": 3, "list": listed, "format": "round-robin"}
    documents = {"contests/1/games-0.json": over}
    page = pages.open(written(tmp_path, standings, documents=documents, **counts).as_uri(), size)
    page.locator(".latest a").nth(2).wait_for(state="attached")
    assert "points a game in 10 games" in (page.locator(".leader").text_content() or "")
    assert page.evaluate(OUTSIDE) == []
    first = page.locator(".latest a").first.bounding_box()
    assert first is not None
    assert first["width"] > 200
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.soak
def test_the_cards_of_a_swiss(tmp_path: Path, pages: Watched) -> None:
    """A column a round in the standings, and the cards, folded up; each field is a link to its games."""
    names = [f"deep-{number}" for number in range(1, 43)]
    swiss = [
        match("deep-1", "deep-2", scores=(1, 0), winner="deep-1", games=(7,)),
        match("deep-3", None, "bye"),
    ]
    fields = {"deep-1": "2w1", "deep-2": "1b0", "deep-3": "bye"}
    row = {"rank": 1, "points": 0, "games": 0, "mean": 0.0, "wins": 0, "faults": {}, "score": 1.5}
    cards = [
        {"no": number, "bot": name, "rounds": [fields.get(name, "-")], "score": 1.5}
        for number, name in enumerate(names, start=1)
    ]
    rounds = [{"title": "round 1", "kind": "round", "matches": swiss}]
    for count in (3, 42):
        standings = [{"bot": name, **row} for name in names[:count]]
        path = written(tmp_path, standings, rounds, cards=cards[:count], ranked_by="x", format="swiss")
        page = pages.open(path.as_uri(), PHONE, "dark")
        page.get_by_role("heading", name="Player cards").wait_for()
        shown = page.locator(".swiss tbody .round").all_inner_texts()
        assert shown == ["+2", "-1", "(+)\nround 1: a bye", *["·\nround 1: not paired"] * (count - 3)]
        played = page.locator(".swiss").get_by_role("link", name="round 1: lost to deep-1")
        assert "game=g7" in (played.get_attribute("href") or "")
        assert page.locator(".cross tbody tr").count() == 0
        page.get_by_text(f"{count} bots").click()
        page.locator(".cross tbody tr").first.wait_for()
        texts = [" ".join(text.split()) for text in page.locator(".cross tbody tr").all_inner_texts()]
        assert texts[:3] == ["1 deep-1 2w1 1.5", "2 deep-2 1b0 1.5", "3 deep-3 bye 1.5"]
        assert len(texts) == count
        assert "game=g7" in (page.get_by_role("link", name="2w1").get_attribute("href") or "")
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE[0]
    pages.check_access(page)


@pytest.mark.soak
def test_a_bracket_and_rounds(tmp_path: Path, pages: Watched) -> None:
    """Groups, rounds and levels of a document; the winner, walkovers, and who is not known yet."""
    group = {"title": "group A", "kind": "group", "ranking": ["ann", "bob"], "matches": []}
    swiss = [
        match("ann", "bob", scores=(8.5, 0.5), winner="ann", games=tuple(range(1, 10))),
        match("cid", None, "bye"),
    ]
    rounds: list[dict[str, Any]] = [group, {"title": "round 1", "kind": "round", "matches": swiss}, *BRACKET]
    rounds[1]["by_hand"] = "one hall"
    names = ["ann", "bob", "cid", "dan", "eve", "fay", "gus"]
    row = {"points": 0, "games": 0, "mean": 0.0, "wins": 0, "faults": {}, "score": 0}
    standings = [{"rank": None, "bot": name, **row} for name in names]
    path = written(tmp_path, standings, rounds, ranked_by="x")
    page = pages.open(path.as_uri(), PHONE, "dark")
    page.get_by_role("heading", name="Rounds").wait_for()
    players = page.locator(".bracket .player")
    assert [" ".join(text.split()) for text in players.all_inner_texts()] == [
        *("1 ann", "bye", "4 dan 1.5", "5 eve 0.5", "2 bob", "7 gus w/o", "3 cid 1", "6 fay 0"),
        *("1 ann 0", "4 dan 2", "7 gus", "?", "4 dan", "?"),
    ]
    won = page.locator(".player.won .who").all_inner_texts()
    assert won == ["ann", "dan", "gus", "dan"]
    page.get_by_text("round 1, 2 matches").click()
    assert page.get_by_text("Paired by hand: one hall").count() == 1
    assert page.locator("table.rounds tbody tr").first.inner_text().split() == [
        *("1", "ann", "8.5", "0.5", "bob", "over", *(f"g{number}" for number in range(1, 10)))
    ]
    is_whole = "table => table.parentElement.scrollWidth === table.parentElement.clientWidth"
    assert page.locator("table.rounds").evaluate(is_whole), "both bots of a match are in view"
    assert page.get_by_text("Order: ann, bob").count() == 1
    # On paper all rounds are open.
    folded = page.locator(".rounds-panel > details:not([open])")
    before = folded.count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert (before > 0, folded.count()) == (True, 0)
    assert page.locator("table.rounds").count() == 2
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert folded.count() == before
    pages.check_access(page)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE[0]
    pages.shoot(page, "rounds")


@pytest.mark.soak
def test_a_swiss_of_32_bots_in_its_first_round(tmp_path: Path, pages: Watched) -> None:
    """A cell is a sign, and the pair in words; who has won all its games is rated before all."""
    bots = [f"b{place:02}" for place in range(32)]
    row = {"points": 3, "games": 1, "mean": 3.0, "wins": 1, "faults": {}, "score": 1}
    standings = [{"rank": place + 1, "bot": name, **row} for place, name in enumerate(bots)]
    over = [[f"g{n + 1}", [2 * n, 2 * n + 1], [3, 0], "complete", 9, 0, [], [1, 1]] for n in range(16)]
    pairs = [[first, second] for first in range(32) for second in range(first)]
    planned = [[f"g{17 + n}", pair] for n, pair in enumerate(pairs)]
    rated = {"rating": 9.0, "interval": [1.0, 17.0], "games": 1, "score": 0.5}
    ratings = {
        "games": 16,
        "seats": [0.0],
        "ratings": [{"bot": "b02", "ranks": [1, 2], **rated}, {"bot": "b03", "ranks": [2, 2], **rated}],
        "unrated": {"b01": "winless", "b00": "unbeaten", "b04": "unbeaten", "b05": "unconnected"},
    }
    documents = {
        "contests/1/games-0.json": over,
        "contests/1/schedule-0.json": planned,
        "contests/1/ratings.json": ratings,
    }
    counts: dict[str, Any] = {
        "games": 16 + len(planned),
        "games_played": 16,
        "list": {"games": 16, "chunk": 1000},
    }
    more: dict[str, Any] = counts | {"schedule": {"games": len(planned), "chunk": 1000}, "status": "stopped"}
    page = pages.open(written(tmp_path, standings, documents=documents, **more).as_uri())
    cells = page.locator(".cross td:not(.self)")
    cells.nth(32 * 31).wait_for()  # one stands over the names
    assert sorted({text.strip() for text in cells.all_inner_texts()}) == ["", "+", "-"]
    fits = "panel => panel.offsetHeight <= 800 && panel.scrollWidth === panel.clientWidth"
    assert page.locator(".panel:has(> .scroll > .cross)").evaluate(fits), "32 bots are in one window"
    link = page.get_by_role("link", name="b00 against b01: 3 : 0 in 1 game, 1 planned", exact=True).last
    link.focus()
    assert "game=g1#ply=9" in (link.get_attribute("href") or "")
    page.keyboard.press("ArrowDown")  # beyond the diagonal
    focused = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(focused) == page.locator(".pair-said").inner_text() == "b02 against b01: 1 planned"
    page.locator("[data-focus='31,30']").hover()
    assert page.locator(".pair-said").inner_text() == "b31 against b30: 0 : 3 in 1 game, 1 planned"
    pages.check_access(page)
    assert page.get_by_label("Ratings").locator("tbody tr").evaluate_all(
        "rows => rows.map((row) => [0, 1, 4].map((place) => row.cells[place].innerText.trim()).join())"
    ) == [
        *("b00,above the others,1–2", "b04,above the others,1–2"),
        *("b02,9,3–4", "b03,9,4", "b01,no rating,", "b05,no rating,"),
    ]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    pages.shoot(page, "swiss-of-32")


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder behind the plain file server of the standard library."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(*_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


#: `chromium --headless --print-to-pdf` prints what there is at this event.
AT_LOAD = (
    "addEventListener('load', () => { window.atLoad = [...document.querySelectorAll('h2')]"
    ".filter((head) => head.parentElement.querySelector('tr')).map((head) => head.innerText); })"
)


@pytest.mark.soak
@pytest.mark.parametrize("locale", ["en-US", "bg-BG"])
@pytest.mark.parametrize("command", ["report", "site"])
def test_all_tables_are_drawn_before_the_page_is_loaded(
    played: Path, pages: Watched, tmp_path: Path, command: str, locale: str
) -> None:
    assert inside(command, tmp_path / "out", cwd=played).code == 0
    with served(tmp_path) as url:
        if command == "report":
            (tmp_path / "out").rename(tmp_path / "out.html")
        address = f"{url}/{'out.html' if command == 'report' else 'out/contest.html?id=1'}"
        page = pages.open(address, prepare=lambda page: page.add_init_script(AT_LOAD), locale=locale)
        page.wait_for_function("window.atLoad")
        names = ("Standings", "Ratings", "Cross-table", "Per game", "Faults", "Games")
        assert len(page.evaluate("window.atLoad")) == len(names)
        assert locale != "en-US" or page.evaluate("window.atLoad") == list(names)
        assert page.locator("iframe").count() == 0
        pages.close()


@pytest.mark.soak
def test_the_records_of_a_folder_on_a_plain_file_server(played: Path, pages: Watched, tmp_path: Path) -> None:
    """From the list of contests by links to the last ply of a game."""
    assert inside("site", tmp_path / "public", cwd=played).code == 0
    with served(tmp_path / "public") as url:
        page = pages.open(url)
        page.get_by_role("link", name="trial").click()
        page.locator(".cross summary").first.click()
        page.locator(".cross td a").first.wait_for()
        assert page.locator(".site nav a").all_inner_texts() == ["Contests", "Replay a file"]
        page.locator("#games td.num a[href$='game=g1#ply=8']").click()
        page.get_by_text("✓ Verified here").wait_for()
        assert page.url.endswith("game.html?contest=1&game=g1#ply=8")
        assert page.locator(".site nav a").all_inner_texts() == ["Contests", "Replay a file"]
        # One page of each kind: none asks for a file that is not there, which would be on the console.
        kinds: set[str] = set()
        todo = [url, f"{url}/game-g1.html", f"{url}/bot-six.html"]
        while todo:
            address = todo.pop()
            kind = re.sub(r"\bg\d+|bot=\w+|against=\w+|ply=\d+", "", address)
            if kind in kinds or not address.startswith(url):
                continue
            kinds.add(kind)
            page.goto(address)
            page.wait_for_load_state("networkidle")
            links = "links => links.filter((each) => !each.download).map((each) => each.href)"
            todo += page.locator("a[href]").evaluate_all(links)
        seen = {kind.removeprefix(url).strip("/").partition(".html")[0] for kind in kinds}
        assert seen >= {"index", "contest", "bot", "game", "pair", "replay", "game-", "bot-six"}
        pages.close()
