"""The page of a person who plays, in a real browser, and the requests that it sends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from arena_server.store.reader import Results

from ..programs import PATIENCE_S, contest, inside
from .browser import PHONE, Watched
from .persons import PERSONS, Person, Table, game_of_two, two_persons, wait_for_turn

pytestmark = pytest.mark.real


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
            wait_for_turn(page, 3)
            pages.check_access(page)
            # The legal moves come from the server, and the rules for a hint are not in the page.
            moves = page.eval_on_selector_all("#moves option", "nodes => nodes.map(node => node.value)")
            assert moves == ["2", "6"]
            assert page.get_by_role("button", name="Hint").is_hidden()
            pages.shoot(page, "play-disc")
            page.get_by_label("Your move").fill("6")
            page.keyboard.press("Enter")
            page.locator(".status", has_text="ann wins.").wait_for()
            page.locator(".turn", has_text="The game is over: you win").wait_for()
            page.get_by_role("link", name="The record of game g1").click()
            page.get_by_text("Verified here").wait_for()
            bob.close()
        assert inside("verify", "--database", f"sqlite:///{server.database}").code in (0, 1)
        with Results(server.database) as results:
            assert [row.points for row in results.sums.standings(results.contest("trial"))] == [2, 0]

    @pytest.mark.soak
    def test_a_hint_of_insertion_stands_in_the_field_and_on_the_board(
        self, pages: Watched, tmp_path: Path
    ) -> None:
        with two_persons(tmp_path, "insertion", "plies = 4") as server:
            bob = Person(server, "bob")
            page = pages.open(server.links["ann"], PHONE)
            page.get_by_role("button", name="Take the seat").click()
            page.get_by_role("button", name="Ready").click()
            bob.ready()
            page.get_by_text("It is your turn.").wait_for()
            page.get_by_role("button", name="Hint").click()
            page.locator(".rim.hint").wait_for()
            assert (
                page.locator(".rim.hint").get_attribute("data-move")
                == page.get_by_label("Your move").input_value()
            )
            pages.shoot(page, "play-hint")
            # Both seats are in sight while a person plays.
            first, second = (page.locator(".seat").nth(place).bounding_box() for place in (0, 1))
            assert first is not None
            assert second is not None
            assert page.evaluate("scrollY") == 0
            assert 0 < first["y"] < second["y"] + second["height"] < PHONE[1]
            page.keyboard.press("Tab")
            page.get_by_label("Your move").press("Enter")
            bob.play(2, "1")
            wait_for_turn(page, 3)
            # A click leaves no frame of the browser's around the arrow.
            page.locator('[data-move="6"]').click()
            assert page.evaluate("document.activeElement.dataset.move") == "6"
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "none"
            bob.until(turn=4)
            pages.close()
            bob.close()

    @pytest.mark.soak
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
            thief.get_by_text("This link has been used already").wait_for()
            assert thief.get_by_role("button", name="Take the seat").count() == 0
            pages.shoot(thief, "play-used")
            for page in seats:
                page.get_by_role("button", name="Ready").click()
            for number, cell in enumerate(("a1", "b1", "a2", "b2")):
                page = seats[number % 2]
                wait_for_turn(page, number + 1)
                page.locator(f'[data-move="{cell}"]').click()
            ann, bob = seats
            wait_for_turn(ann, 5)
            # The nine cells are one stop of the tab key; arrow keys go from one to the next.
            assert ann.locator("[data-move][tabindex='0']").count() == 1
            ann.locator("[data-move][tabindex='0']").focus()
            ann.keyboard.press("ArrowUp")
            focused = "document.activeElement.dataset.move"
            assert (
                ann.evaluate(focused)
                == ann.locator("[data-move][tabindex='0']").get_attribute("data-move")
                == "a3"  # from a2, which was clicked
            )
            ann.get_by_label("Your move").fill("a1")
            ann.get_by_role("button", name="Play", exact=True).click()
            ann.get_by_text("a1 is not a legal move here.").wait_for()
            ann.reload()  # the seat stays with this browser
            wait_for_turn(ann, 5)
            assert ann.evaluate("document.documentElement.scrollWidth <= innerWidth")
            pages.shoot(ann, "play-phone")
            ann.locator('[data-move="a3"]').click()
            bob.locator(".status", has_text="ann wins.").wait_for()
            bob.get_by_role("button", name="Next game").click()
            bob.get_by_role("button", name="Ready").wait_for()
            pages.close()  # before the server goes

    @pytest.mark.soak
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

    @pytest.mark.soak
    def test_a_seat_that_is_not_here_is_refused_beside_the_others(self, table: Table) -> None:
        server, (ann, _) = table
        path = f"{server.url}/api/v1/play/events?stream={'0' * 32}&stream={ann.session}"
        with urlopen(path, timeout=PATIENCE_S) as events:
            lines = [line for line in (events.readline().decode().strip() for _ in range(16)) if line]
        assert lines[:5] == [
            *("id:", "event: of", 'data: {"stream":0}', "event: refused"),
            'data: {"error":"this seat is played in another browser"}',
        ]
        assert lines[5:9] == ["id:", "event: of", 'data: {"stream":1}', "event: seat"]

    @pytest.mark.soak
    def test_a_second_answer_to_a_turn_is_refused_and_quit_leaves(self, tmp_path: Path) -> None:
        with game_of_two(tmp_path) as (server, (ann, bob)):
            ann.play(1, "6")
            assert server.post("check", session=ann.session) == (200, {"done": True})
            again = server.post("move", session=ann.session, ply=1, move="7")
            assert again == (409, {"error": "it is not your turn"})
            assert server.post("quit", session=ann.session) == (200, {"done": True})
            ann.until(state="finished")
            bob.until(turn=2)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    """A game that waits for the first move."""
    with game_of_two(tmp_path_factory.mktemp("table")) as (server, persons):
        persons[0].until(turn=1)
        yield server, persons


@pytest.mark.soak
def test_a_person_needs_the_web_page(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text(contest(bots=PERSONS))
    outcome = inside("serve", file, "--no-web", "--port", "0", cwd=tmp_path)
    assert outcome.code == 2
    assert outcome.line.endswith("bot ann: a person plays on the web page; serve it")
