"""The pages that live by streams, play and verify, in Firefox: what a visitor sees, and no error."""

from __future__ import annotations

from pathlib import Path

import pytest

from .browser import PHONE
from .firefox import FirefoxPage, firefox
from .persons import Person, game_of_two, play, two_persons

pytestmark = [pytest.mark.real, pytest.mark.soak]


def at_ply(page: FirefoxPage, ply: int) -> None:
    page.see(f"ply {ply} of {ply}", ".counter")


def test_a_game_is_watched_on_all_pages_and_verified(tmp_path: Path) -> None:
    """Four tabs share one stream; one of them comes late, and one is a phone."""
    with firefox(tmp_path) as browser, game_of_two(tmp_path, plies=12) as (server, persons):
        wall = browser.open(server.page("index.html"))
        contest = browser.open(server.page("contest.html", id=1))
        play(persons, range(1, 5))
        game = browser.open(server.page("game.html", contest=1, game="g1"))
        at_ply(game, 4)
        phone = browser.open(server.page("game.html", contest=1, game="g1"), PHONE)
        tv = browser.open(f"{server.url}/tv")
        play(persons, range(5, 9))
        for page in (game, phone):
            at_ply(page, 8)
        wall.see("ann", ".card")
        contest.see("1 running")
        tv.see("ann")
        play(persons, range(9, 13))
        for page in (game, phone):
            page.see("Verified here", ".badge.true")
            at_ply(page, 12)
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
        contest.see("1 of 2 games")
        # By a key, and back to the contest.
        game.wait("(document.activeElement?.blur(), true)")
        game.press("\ue012")  # left
        game.see("ply 11 of 12", ".counter")
        game.click("main a", "The contest")
        game.see("1 of 2 games")
        for page in (wall, contest, game, phone, tv):
            page.close()  # before the server goes


def test_a_person_plays_by_mouse_to_the_end(tmp_path: Path) -> None:
    with firefox(tmp_path) as browser, two_persons(tmp_path, "tictactoe", "") as server:
        bob = Person(server, "bob")
        page = browser.open(server.links["ann"], PHONE)
        page.click("button", "Take the seat")
        page.click("button", "Ready")
        bob.ready()
        for number, cell in enumerate(("a1", "a2", "a3")):
            if number > 0:  # until an event comes the page shows the turn before
                at_ply(page, 2 * number)
            page.see("It is your turn.")
            page.click(f'[data-move="{cell}"]')
            if number < 2:
                bob.play(2 * number + 2, f"b{number + 1}")
        page.see("The game is over: you win", ".turn")
        page.click("a", "The record of game g1")
        page.see("Verified here", ".badge.true")
        page.close()
        bob.close()


def test_a_visitor_plays_an_engine_by_keys(tmp_path: Path) -> None:
    """The form's own choice of game and engine."""
    with firefox(tmp_path) as browser, game_of_two(tmp_path, plies=2) as (server, _):
        page = browser.open(f"{server.url}/play.html")
        page.click(".start-form button", "Start the game")
        page.see("It is your turn.")
        page.wait("(document.querySelector('.board [data-move][tabindex=\"0\"]')?.focus(), true)")
        page.press("\ue006")  # Enter
        page.wait("/ply [1-9]/.test(document.querySelector('.counter')?.textContent ?? '')")
        page.close()
