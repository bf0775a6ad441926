"""Live pages in a real browser: a contest with two persons, of whom the test knows every move."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from arena_server.store.reader import Results

from ..programs import PATIENCE_S, Players, Server, contest, inside
from .browser import PHONE, REBOUND, Watched

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

PERSONS = "".join(f'[[bot]]\nname = "{name}"\nperson = true\n' for name in ("ann", "bob"))
PAGES: dict[str, dict[str, object]] = {
    "index.html": {},
    "contest.html": {"id": 1},
    "game.html": {"contest": 1, "game": "g1"},
    "tv": {},
    "play.html": {},
}
EXAMPLE = Path(__file__).parents[3] / "examples" / "watch.html"
LOST = "The connection is lost"


class Web(Server):
    """A server with the site; `links` are those of its persons."""

    def __init__(self, config: str, folder: Path, persons: int = 0) -> None:
        super().__init__(config, folder, "--web-port", "0")
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().removeprefix("web on ").rstrip()
        lines = [self.process.stdout.readline().rstrip() for _ in range(persons)]
        self.links = dict(line.split(" plays at ") for line in lines)
        try:
            self.contest = self._number()
        except BaseException:
            self.__exit__()
            raise

    def _number(self) -> int:
        """The number of the contest, once it is in the database."""
        while True:
            try:
                with urlopen(f"{self.url}/api/v1/site.json", timeout=PATIENCE_S) as response:
                    number = json.load(response)["contest"]
            except HTTPError as error:
                with error:
                    if error.code != 503:
                        raise
            else:
                if number is not None:
                    return int(number)

    def token(self) -> str:
        (file,) = self.database.parent.glob("*.admin")
        return str(json.loads(file.read_text())["token"])

    def page(self, name: str, **parameters: object) -> str:
        query = "&".join(f"{key}={value}" for key, value in parameters.items())
        return f"{self.url}/{name}?{query}"

    def post(self, verb: str, **body: object) -> tuple[int, dict[str, Any]]:
        request = Request(f"{self.url}/api/v1/play/{verb}", json.dumps(body).encode(), method="POST")
        try:
            with urlopen(request, timeout=PATIENCE_S) as response:
                return response.status, json.load(response)
        except HTTPError as error:
            with error:
                return error.code, json.load(error)


class Person:
    """Plays by requests, as the page does."""

    def __init__(self, server: Web, name: str) -> None:
        self._server = server
        self.seen = ""
        status, answer = server.post("take", key=server.links[name].partition("#")[2])
        assert (status, answer["name"]) == (200, name)
        self.session = answer["session"]
        self._events = urlopen(f"{server.url}/api/v1/play/events?session={self.session}", timeout=PATIENCE_S)

    def close(self) -> None:
        self._events.close()

    def until(self, **wanted: object) -> dict[str, Any]:
        """The next seat event with these values."""
        kind = ""
        for line in self._events:
            text = line.decode().rstrip("\n")
            self.seen += f"{text}\n"
            if text.startswith("event: "):
                kind = text.removeprefix("event: ")
            elif kind == "seat" and text.startswith("data: "):
                seat: dict[str, Any] = json.loads(text.removeprefix("data: "))
                if wanted.items() <= seat.items():
                    return seat
        raise EOFError(wanted)

    def ready(self) -> None:
        self.until(state="invited")
        assert self._server.post("ready", session=self.session) == (200, {"done": True})

    def play(self, ply: int, move: str) -> None:
        self.until(turn=ply)
        body = {"session": self.session, "ply": ply, "move": move}
        assert self._server.post("move", **body) == (200, {"done": True})


@contextmanager
def two_persons(folder: Path, game: str, options: str, more: str = "", delay: str = "0s") -> Iterator[Web]:
    text = contest(
        contest=f'game = "{game}"\nready = "10m"\nspectator_delay = "{delay}"\nprobation = 0',
        game=f'clock = "10m"\n{options}',
        bots=PERSONS + more,
    )
    with Web(text, folder, 2) as server:
        yield server


@contextmanager
def game_of_two(folder: Path, plies: int = 40, more: str = "") -> Iterator[tuple[Web, list[Person]]]:
    with two_persons(folder, "insertion", f"plies = {plies}", more) as server:
        persons = [Person(server, "ann"), Person(server, "bob")]
        for person in persons:
            person.ready()
        yield server, persons
        for person in persons:
            person.close()


Table = tuple[Web, list[Person]]


def play(persons: list[Person], plies: range) -> None:
    for ply in plies:
        persons[(ply - 1) % 2].play(ply, str(1 + ply % 15))


def wait_for_ply(page: Page, ply: int) -> None:
    page.locator(".counter", has_text=re.compile(f"^ply {ply} of {ply}$")).wait_for()


def test_a_contest_is_shown_to_its_final_totals(pages: Watched, tmp_path: Path) -> None:
    text = contest("first", "six", "zero", contest='probation = 0\nspectator_delay = "0s"', game="plies = 30")
    with Web(text, tmp_path) as server:
        index = pages.open(server.page("index.html"))
        index.get_by_text("No game is running.").wait_for()
        pages.check_access(index)
        pages.shoot(index, "index-before")
        page = pages.open(server.page("contest.html", id=1))
        page.locator(".tag", has_text="running").wait_for()
        page.get_by_text("6 games: 6 planned").wait_for()
        Players(
            server.port, [("first", "first-legal"), ("six", "fixed:move=6"), ("zero", "zero-based")]
        ).join()
        page.locator(".tag", has_text="finished").wait_for()
        page.locator(".standings tbody tr").nth(2).wait_for()
        page.get_by_role("heading", name="Running games").wait_for(state="detached")
        shown = [row.split("\t")[1:4] for row in page.locator(".standings tbody tr").all_inner_texts()]
        with Results(server.database) as results:
            rows = results.standings(results.contest("trial"))
        assert shown == [[row.name, f"{row.points:,}", str(row.games)] for row in rows]
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            pages.check_access(page)
            pages.shoot(page, f"contest-{scheme}")
        phone = pages.open(server.page("contest.html", id=1), PHONE)
        phone.locator(".standings").wait_for()
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
        pages.shoot(phone, "contest-phone")
        for name, parameters in PAGES.items():
            before = pages.bytes
            shown = pages.open(server.page(name, **parameters))
            shown.locator("h1").first.wait_for()
            assert 5_000 < pages.bytes - before < 150_000, name
            shown.context.close()  # its streams would go on
        page.locator(".cross a").first.click()
        page.locator(".badge.true").wait_for()
        page.go_back()
        page.locator(".standings a", has_text="zero").click()
        page.get_by_role("heading", name="zero").wait_for()
        pages.check_access(page)
        pages.shoot(page, "bot")
        pages.close()  # before the server goes


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
        rows = [row.split("\t")[0::3] for row in page.locator("#games tbody tr").all_inner_texts()]
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
        assert page.locator(".cross details[open]").inner_text().endswith("1 planned")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            pages.check_access(page)
            pages.shoot(page, f"cells-{scheme}")
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
        pages.check_access(bot)
        pages.close()
        for person in persons:
            person.close()


def test_a_running_game_late_lost_asleep_and_over(pages: Watched, tmp_path: Path) -> None:
    pages.expected += ["ERR_INTERNET_DISCONNECTED", "ERR_INCOMPLETE_CHUNKED_ENCODING"]
    with game_of_two(tmp_path) as (server, persons):
        play(persons, range(1, 8))
        page = pages.open(
            server.page("game.html", contest=server.contest, game="g1"),
            prepare=lambda page: page.clock.install(),
        )
        wait_for_ply(page, 7)  # it came late, and has the plies before
        play(persons, range(8, 10))
        wait_for_ply(page, 9)
        pages.check_access(page)
        pages.shoot(page, "live")
        # Without network: within 22 s the page says that it may be behind, and no clock runs.
        page.context.set_offline(True)
        page.clock.run_for(30_000)
        page.get_by_text(LOST).wait_for()
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
        # A tab that sleeps: ten minutes pass at once, and the next thing shown is the server's position.
        play(persons, range(14, 16))
        page.clock.fast_forward(600_000)
        wait_for_ply(page, 15)
        assert page.locator(".banner").inner_text() == ""
        clock = page.locator(".seat.moving .clock").inner_text()
        assert re.fullmatch(r"(10:00|9:[345]\d).*", clock), (
            "of the server's clock, not of ten minutes of sleep"
        )
        play(persons, range(16, 41))
        page.get_by_text("Verified here").wait_for()
        assert page.locator(".counter").inner_text() == "ply 40 of 40"
        pages.close()


def test_tv_shows_a_game_and_goes_on_to_the_next(pages: Watched, tmp_path: Path) -> None:
    with game_of_two(tmp_path, 4) as (server, persons):
        play(persons, range(1, 3))
        page = pages.open(f"{server.url}/tv", prepare=lambda page: page.clock.install())
        page.locator(".tv .status", has_text="Game g1, ply 2").wait_for()
        pages.check_access(page)
        pages.shoot(page, "tv")
        play(persons, range(3, 5))
        page.get_by_text("The game is over").wait_for()
        pages.shoot(page, "tv-over")
        for person in persons:
            person.ready()
        persons[1].play(1, "3")
        for _ in range(30):
            page.clock.run_for(1000)
        page.locator(".tv .status", has_text="Game g2, ply 1").wait_for()
        phone = pages.open(f"{server.url}/tv", PHONE)
        phone.locator(".tv .status", has_text="Game g2, ply 1").wait_for()
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
        pages.shoot(phone, "tv-phone")
        pages.close()


class TestOrganiser:
    def test_orders(self, pages: Watched, tmp_path: Path) -> None:
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
            page.get_by_role("button", name=re.compile("^Void g")).wait_for()
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                pages.check_access(page)
                pages.shoot(page, f"organiser-{scheme}")
            page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            pages.shoot(page, "organiser-phone")
            page.get_by_role("button", name="Pause").click()
            page.get_by_role("button", name="Resume").click()
            page.get_by_role("button", name="Pause").wait_for()
            page.on("dialog", lambda dialog: dialog.accept())
            page.get_by_role("button", name=re.compile("^Void g")).click()
            page.get_by_text(re.compile("1 void")).wait_for()
            page.get_by_role("button", name="Kick ann").click()
            page.get_by_role("button", name="Lift ann").click()
            page.get_by_text("Done: lift ann").wait_for()
            page.get_by_label("Play a void game again").fill("g99")
            page.get_by_role("button", name="Replay", exact=True).last.click()
            page.get_by_role("alert").filter(has_text="g99").wait_for()
            page.get_by_role("button", name="Make a token").click()
            page.get_by_text(re.compile('token_sha256 = "[0-9a-f]{64}"')).wait_for()
            page.reload()  # the token is kept for the tab
            page.get_by_role("button", name="Drain").wait_for()
            page.get_by_role("button", name="Log out").click()
            field.wait_for()
            assert page.evaluate("sessionStorage.length") == 0
            pages.close()

    def test_a_foreign_page_gives_no_orders(self, pages: Watched, tmp_path: Path) -> None:
        """Its request carries no token, and with a name of its own it is refused before that."""
        with game_of_two(tmp_path) as (server, _), Foreign() as foreign:
            pages.expected += ["401 (Unauthorized)", "has been blocked by CORS policy", "ERR_FAILED"]
            page = pages.open(foreign.url)
            page.evaluate(
                "url => fetch(url, {method: 'POST', mode: 'no-cors', credentials: 'include', "
                "body: JSON.stringify({verb: 'drain', target: ''})})",
                f"{server.url}/orders",
            )
            blocked = page.evaluate(
                "url => fetch(url, {method: 'POST', headers: {authorization: 'Bearer x'}, body: '{}'})"
                ".then(() => 'read', () => 'blocked')",
                f"{server.url}/orders",
            )
            assert blocked == "blocked"
            pages.complaints = [each for each in pages.complaints if "another host" not in each]
            seen = inside("admin", "status", "--json", "--database", f"sqlite:///{server.database}")
            assert json.loads(seen.out)["state"] == "open"

    def test_a_foreign_name_of_this_address_is_refused(self, pages: Watched, tmp_path: Path) -> None:
        """DNS rebinding: a page of that name would be of the same origin as what it asks for."""
        pages.expected.append("421")
        with game_of_two(tmp_path) as (server, _):
            page = pages.open(server.page("organiser.html").replace("127.0.0.1", REBOUND))
            assert "this server is not 'rebound.test:" in page.inner_text("body")
            pages.close()


def test_a_foreign_page_of_100_lines_shows_a_live_game(pages: Watched, tmp_path: Path) -> None:
    assert len(EXAMPLE.read_text().splitlines()) < 100
    with game_of_two(tmp_path) as (server, persons), Foreign(EXAMPLE.read_text()) as foreign:
        play(persons, range(1, 4))
        page = pages.open(f"{foreign.url}?server={server.url}")
        page.get_by_text("g1: ann – bob").wait_for()
        play(persons, range(4, 7))
        page.get_by_text("ply 6: bob plays 7").wait_for()
        with urlopen(f"{server.url}/api/v1/live/games/g1.json", timeout=PATIENCE_S) as response:
            state = json.load(response)["state"]
        cells = page.locator("td").all_inner_texts()
        assert "".join(cell or "." for cell in cells) == state.replace("/", "")
        pages.close()
        pages.complaints = [each for each in pages.complaints if "another host" not in each]


class Foreign:
    """A page of another origin."""

    def __init__(
        self, html: str = "<!doctype html><link rel=icon href=data:,><title>foreign</title>"
    ) -> None:
        self._html = html.replace("<meta", "<link rel=icon href=data:,><meta", 1)

    def __enter__(self) -> Foreign:
        from starlette.responses import HTMLResponse
        from starlette.routing import Route

        from arena_server.web.app import application

        from .running import running

        async def page(_: object) -> HTMLResponse:
            return HTMLResponse(self._html)

        self._server = running(lambda: application([Route("/", page)]))
        self.url = f"http://{self._server.__enter__().address}/"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__(None, None, None)


class TestPlay:
    def test_a_disc_game_is_won_by_keyboard(self, pages: Watched, tmp_path: Path) -> None:
        with two_persons(tmp_path, "disc", "m = 13") as server:
            bob = Person(server, "bob")
            page = pages.open(server.links["ann"])
            pages.check_access(page)
            pages.shoot(page, "play-link")
            page.keyboard.press("Tab")
            take = page.get_by_role("button", name="Take the seat")
            take.focus()
            page.keyboard.press("Enter")
            page.get_by_role("button", name="Ready").focus()
            pages.shoot(page, "play-ready")
            page.keyboard.press("Enter")
            bob.ready()
            page.get_by_text("It is your turn.").wait_for()
            page.locator('[data-move="1"]').focus()
            page.keyboard.press("ArrowLeft")
            assert page.evaluate("document.activeElement.dataset.move") == "6"
            page.keyboard.press("Enter")
            bob.play(2, "1")
            page.get_by_text("It is your turn.").wait_for()
            pages.check_access(page)
            page.get_by_role("button", name="Hint").focus()
            page.keyboard.press("Enter")
            assert page.get_by_label("Your move").input_value() == "6"
            pages.shoot(page, "play-hint")
            page.get_by_label("Your move").focus()
            page.keyboard.press("Enter")
            page.get_by_text("The game is over: won, ann 2, bob 0.").wait_for()
            page.get_by_role("link", name="The record of game g1").click()
            page.get_by_text("Verified here").wait_for()
            bob.close()
        assert inside("verify", "--database", f"sqlite:///{server.database}").code in (0, 1)
        with Results(server.database) as results:
            assert [row.points for row in results.standings(results.contest("trial"))] == [2, 0]

    def test_two_people_and_a_link_that_is_used(self, pages: Watched, tmp_path: Path) -> None:
        with two_persons(tmp_path, "tictactoe", "") as server:
            pages.expected.append("401 (Unauthorized)")
            seats = []
            for name in ("ann", "bob"):
                page = pages.open(server.links[name], PHONE)
                page.get_by_role("button", name="Take the seat").click()
                page.get_by_role("heading", name=f"You play as {name}").wait_for()
                seats.append(page)
            thief = pages.open(server.links["ann"])
            thief.get_by_role("button", name="Take the seat").click()
            thief.get_by_text("This link has been used already").wait_for()
            pages.shoot(thief, "play-used")
            for page in seats:
                page.get_by_role("button", name="Ready").click()
            for number, cell in enumerate(("a1", "b1", "a2", "b2")):
                page = seats[number % 2]
                page.get_by_text("It is your turn.").wait_for()
                page.locator(f'[data-move="{cell}"]').click()
            ann, bob = seats
            ann.get_by_text("It is your turn.").wait_for()
            ann.get_by_label("Your move").fill("a1")
            ann.get_by_role("button", name="Play", exact=True).click()
            ann.get_by_text("a1 is not a legal move here.").wait_for()
            ann.reload()  # the seat stays with this browser
            ann.get_by_text("It is your turn.").wait_for()
            pages.check_access(ann)
            assert ann.evaluate("document.documentElement.scrollWidth <= innerWidth")
            pages.shoot(ann, "play-phone")
            ann.locator('[data-move="a3"]').click()
            bob.get_by_text("The game is over: won, ann 2, bob 0.").wait_for()
            bob.get_by_role("button", name="Next game").click()
            bob.get_by_role("button", name="Ready").wait_for()
            pages.close()  # before the server goes

    def test_a_seat_of_a_server_that_has_started_again(self, pages: Watched, table: Table) -> None:
        pages.expected.append("401 (Unauthorized)")
        server, _ = table
        link = server.links["ann"]
        stored = f"localStorage.setItem('arena-seat-{link.partition('#')[2]}', '0')"
        page = pages.open(link, prepare=lambda page: page.add_init_script(stored))
        page.get_by_text("This seat is lost").wait_for()
        assert page.get_by_role("button", name="Ready").count() == 0
        pages.shoot(page, "play-lost")

    @pytest.mark.parametrize(
        ("verb", "body", "status", "error"),
        [
            ("take", {}, 401, "this link has been used already, or is not complete"),
            ("take", {"key": "0" * 32}, 401, "this link has been used already, or is not complete"),
            ("take", {"key": None}, 401, "this link has been used already, or is not complete"),
            ("move", {"session": "\ud800"}, 401, "this seat is played in another browser"),
            ("move", {"ply": 2, "move": "6"}, 409, "it is not your turn"),
            ("move", {"ply": 1, "move": "6\nQUIT"}, 409, "a move is a word of ASCII characters"),
            ("move", {"ply": 1, "move": 6}, 409, "a move is a word of ASCII characters"),
            ("ready", {}, 409, "no game waits for you"),
        ],
    )
    def test_requests_that_are_refused(
        self, table: Table, verb: str, body: dict[str, object], status: int, error: str
    ) -> None:
        server, (ann, _) = table
        own = {} if verb == "take" else {"session": ann.session}
        assert server.post(verb, **(own | body)) == (status, {"error": error})

    def test_a_second_answer_to_a_turn_is_refused_and_quit_leaves(self, tmp_path: Path) -> None:
        with game_of_two(tmp_path) as (server, (ann, bob)):
            ann.play(1, "6")
            assert server.post("check", session=ann.session) == (200, {"done": True})
            again = server.post("move", session=ann.session, ply=1, move="7")
            assert again == (409, {"error": "it is not your turn"})
            assert server.post("quit", session=ann.session) == (200, {"done": True})
            ann.until(state="finished")
            bob.until(turn=2)


def test_nothing_is_shown_before_the_spectator_delay(tmp_path: Path) -> None:
    """Every byte of every document and stream, while a game runs and after it; and a person's own stream."""
    with two_persons(tmp_path, "insertion", "plies = 6\nlookahead = 1", delay="1h") as server:
        persons = [Person(server, "ann"), Person(server, "bob")]
        for person in persons:
            person.ready()
        play(persons, range(1, 4))
        seen = _public_bytes(server)
        assert b'"ann"' in seen
        for text in (b"g1", b'"move"', b'"board', b'"state":"running"', b'"state":"over"'):
            assert text not in seen, text
        play(persons, range(4, 7))
        persons[0].until(game="g2")  # the first game is over
        seen = _public_bytes(server)
        assert b"g1" not in seen
        assert b'"games_played":0' in seen
        for person in persons:
            person.close()
        own = persons[0].seen
        sequence = re.search(r'"sequence":"([1-6]{6})"', own)
        assert sequence is not None
        over = own.index("event: over")
        assert "nonce" not in own[:over]
        revealed = "".join(re.findall(r'"reveal":"([1-6])"', own[:over]))
        assert sequence[1][1:] == revealed, "one picture in sight, each with its ply"


def _public_bytes(server: Web) -> bytes:
    """What the API sends; of a stream, what comes until 1.5 s pass without a byte."""
    paths = (
        *("site.json", "contests.json", "contests/1.json", "contests/1/games-0.json"),
        *("contests/1/state/g1.json", "contests/1/records/g1.json", "contests/1/records/g1.record"),
        *("live/games/g1.json", "live/games/g1", "live/boards", "live/contest", "played.json"),
    )

    def read(path: str) -> bytes:
        seen = b""
        try:
            with urlopen(f"{server.url}/api/v1/{path}", timeout=1.5) as response:
                while data := response.read1():
                    seen += data
        except HTTPError as error:
            with error:
                error.read()  # it names the game that was asked for
        except TimeoutError:
            pass
        return seen

    with ThreadPoolExecutor(len(paths)) as readers:  # a stream takes as long as it is silent
        return b"".join(readers.map(read, paths))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    """A game that waits for the first move."""
    with game_of_two(tmp_path_factory.mktemp("table")) as (server, persons):
        persons[0].until(turn=1)
        yield server, persons


def test_a_person_needs_the_web_page(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text(contest(bots=PERSONS))
    outcome = inside("serve", file, "--no-web", "--port", "0", cwd=tmp_path)
    assert outcome.code == 2
    assert outcome.line.endswith("bot ann: a person plays on the web page; serve it")
