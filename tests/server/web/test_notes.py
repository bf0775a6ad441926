"""Notes of bots in the browser: in a replay, in a running game, and not before the spectator delay."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest
from tests.protocol.records import a_record

from arena_client import asyncio_client
from arena_client.bot import Bot
from arena_protocol.record import InfoRecord
from arena_protocol.record_codec import encode
from arena_protocol.view import GameView
from arena_server.web.app import application
from arena_server.web.pages import Pages

from ..programs import EAGER, PATIENCE_S, contest
from .browser import DESKTOP, PHONE, Watched
from .persons import Person, Web, wait_for_ply
from .running import running

if TYPE_CHECKING:
    from playwright.sync_api import Locator

pytestmark = pytest.mark.real

NOTES = (
    InfoRecord(1, 1, 4, 30, 1200, "4,7,12", "two runs ahead"),
    InfoRecord(2, 2, 2, -30),
    InfoRecord(1, 3, 4, 60),
    InfoRecord(1, 3, text="<b>that is enough</b>"),
    InfoRecord(1, 3, 9, 90),
)
TITLE = "Evaluation: up is better for"


def said_of(note: Locator) -> list[str]:
    """The parts of a note, each number with its label."""
    parts = "parts => parts.map((part) => part.innerText.replace(/\\s+/g, ' ').trim())"
    found: list[str] = note.locator(":scope > span, .numbers > div").evaluate_all(parts)
    return found


@pytest.mark.soak
def test_a_replay_has_the_notes_up_to_the_ply_that_is_shown(pages: Watched) -> None:
    with running(lambda: application(Pages(["replay"], ["replay"]).routes()), 64) as server:
        for size, name in ((DESKTOP, "desktop"), (PHONE, "phone")):
            page = pages.open(f"http://{server.address}/replay.html", size)
            record = replace(a_record(options={"plies": 12}), infos=NOTES)
            page.set_input_files("#file", {"name": "g", "mimeType": "", "buffer": encode(record)})
            page.wait_for_selector(".badge.true, .badge.false")
            note = page.locator(".seat.s1 .note")
            assert note.inner_text() == ""
            page.keyboard.press("ArrowRight")
            assert said_of(note) == [
                *("Note about ply 1", "score +30", "depth 4", "nodes 1,200", "nodes/s 71K"),
                *("best line 4 7 12", "“two runs ahead”"),
            ]
            assert page.locator(".seat.s2 .note").inner_text() == ""
            page.fill(".slider input", "3")
            assert said_of(note) == ["Note about ply 3", "score +90", "depth 9", "“<b>that is enough</b>”"]
            assert said_of(page.locator(".seat.s2 .note")) == ["Note about ply 2", "score -30", "depth 2"]
            # Seat 1 is ahead above, in its own colour, by the share of each bot's own numbers.
            bar = page.locator(".leaning b")
            assert re.fullmatch(r"\+\d+", bar.inner_text())
            said = page.locator(".leaning").get_attribute("title") or ""
            assert f" {bar.inner_text().removeprefix('+')} of 100" in said
            page.get_by_role("tab", name="Evaluation").click()
            chart = page.locator("figure", has_text=TITLE)
            lines = chart.locator("polyline.line")
            # The last of each ply; a single point is a line to itself, so that it is drawn.
            assert [len((line.get_attribute("points") or "").split()) for line in lines.all()] == [2, 2]
            if size == DESKTOP:
                pages.check_schemes(page, f"notes-{name}")
            else:
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                pages.shoot(page, f"notes-{name}")


@pytest.mark.soak
def test_a_replay_without_evaluations_has_no_graph_of_them(pages: Watched) -> None:
    with running(lambda: application(Pages(["replay"], ["replay"]).routes()), 64) as server:
        page = pages.open(f"http://{server.address}/replay.html")
        record = replace(a_record(options={"plies": 12}), infos=(InfoRecord(1, 1, text="hm"),))
        page.set_input_files("#file", {"name": "g", "mimeType": "", "buffer": encode(record)})
        page.wait_for_selector(".badge.true, .badge.false")
        assert page.get_by_role("tab").all_inner_texts() == ["Points", "Time left"]
        assert not page.get_by_text(TITLE).is_visible()
        first = page.get_by_role("tab", name="Points")
        first.press("ArrowLeft")
        assert page.evaluate("document.activeElement.id") == "tab-time"
        assert page.get_by_role("tabpanel").count() == 1
        assert page.inner_text(".counter") == "ply 0 of 12"


class Thinker(Bot):
    """Notes about its ply, then waits until the test lets it move."""

    def __init__(self) -> None:
        self.noted = threading.Event()
        self.free = threading.Event()

    def choose(self, view: GameView) -> str:
        view.note("two runs ahead game=g2", depth=9, eval=10 * view.ply, nodes=120_000, line=(4, 7, 12))
        self.noted.set()
        assert self.free.wait(PATIENCE_S)
        return "6"


@contextmanager
def thinking(folder: Path, delay: str) -> Iterator[tuple[Web, Thinker]]:
    """A running game in which ann has moved and tom has said what it thinks of ply 2."""
    text = contest(
        contest=f'ready = "10m"\nprobation = 0\nspectator_delay = "{delay}"',
        game='clock = "10m"\nplies = 4',
        bots='[[bot]]\nname = "ann"\nperson = true\n[[bot]]\nname = "tom"\n',
    )
    bot = Thinker()
    with ThreadPoolExecutor(1) as thread, Web(text, folder, 1) as server:
        thread.submit(asyncio_client.run, bot, "127.0.0.1", server.port, name="tom", policy=EAGER)
        ann = Person(server, "ann")
        ann.ready()
        ann.play(1, "6")
        assert bot.noted.wait(PATIENCE_S)
        yield server, bot
        bot.free.set()
        ann.close()


@pytest.mark.soak
def test_a_running_game_has_them_as_they_come(pages: Watched, tmp_path: Path) -> None:
    with thinking(tmp_path, "0s") as (server, bot):
        page = pages.open(server.page("game.html", contest=server.contest, game="g1"))
        wait_for_ply(page, 1)
        note = page.locator(".seat.s2 .note")
        said = ["Note about ply 2", "score +20", "depth 9", "nodes 120K"]
        end = ["best line 4 7 12", "“two runs ahead game=g2”"]
        note.filter(has_text="game=g2").wait_for()
        assert said_of(note) == [*said, *end]
        page.get_by_role("tab", name="Evaluation").click()
        page.locator("figure", has_text=TITLE).wait_for()
        # What it expects from here, in the order of the turns.
        assert page.locator(".plan.s2 text").all_text_contents() == ["1", "2", "3"]
        page.get_by_role("button", name="Line").click()
        assert page.locator(".plan").count() == 0
        page.get_by_role("button", name="Line").click()
        pages.shoot(page, "notes-live")
        page.evaluate("window.before = document.querySelector('main .game')")
        bot.free.set()
        wait_for_ply(page, 2)
        *first, speed, line, text = said_of(note)
        assert (first, [line, text]) == (said, end)
        assert re.fullmatch(r"nodes/s [\d.,]+[KMB]?", speed), "the clock has charged the ply"
        assert page.evaluate("window.before === document.querySelector('main .game')"), "events, no snapshot"
        pages.close()


def test_no_note_is_shown_before_the_spectator_delay(tmp_path: Path) -> None:
    with (
        thinking(tmp_path, "1h") as (server, _),
        urlopen(f"{server.url}/api/v1/live/boards", timeout=PATIENCE_S) as boards,
    ):
        assert boards.readline() == b"event: boards\n"
        assert boards.readline() == b'data: {"changed":[],"shown":[],"live":null}\n'
