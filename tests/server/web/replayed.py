"""Records for the replay page, and a site that has it alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from tests.protocol.records import FORFEIT, a_record

from arena_protocol.record import GameRecord
from arena_protocol.record_codec import encode
from arena_server.web.app import application
from arena_server.web.documents import record_json
from arena_server.web.pages import Pages
from arena_server.web.scenes import IN_PAGES
from arena_server.web.security import PageHeaders

from .browser import DESKTOP, Watched
from .running import running

if TYPE_CHECKING:
    from playwright.sync_api import Page

LONG = a_record(options={"plies": 120}, faults={31: (1, "illegal"), 77: (2, "flood")})
GAMES = {
    "insertion": LONG,
    "three": a_record(options={"plies": 60, "seats": 3, "colours": 7}),
    "four": a_record(options={"plies": 40, "seats": 4, "colours": 5, "start": "empty"}),
    "xo": a_record("xo", {"opening": 4}),
    "tictactoe": a_record("tictactoe", {}),
    "disc": a_record("disc", {}),
    "lastcoin": a_record("lastcoin", {"coins": 21}),
    "forfeit": FORFEIT,
}


def replay_site() -> Any:
    """The fixture of a site with the replay page, for a module of tests."""

    @pytest.fixture(scope="module")
    def site() -> Iterator[str]:
        from starlette.middleware import Middleware

        with running(
            lambda: application(Pages(["replay"], ["replay"]).routes(), [Middleware(PageHeaders)]), 64
        ) as server:
            yield f"http://{server.address}"

    return site


def drop(page: Page, data: bytes, name: str = "game.record") -> None:
    page.set_input_files("#file", {"name": name, "mimeType": "application/octet-stream", "buffer": data})


def show(pages: Watched, site: str, record: GameRecord, size: tuple[int, int] = DESKTOP) -> Page:
    page = pages.open(f"{site}/replay.html", size)
    # The positions of a game whose rules the page does not have are in its JSON.
    drop(page, encode(record) if record.game in IN_PAGES else json.dumps(record_json(record)).encode())
    page.wait_for_selector(".badge.true, .badge.false")
    return page
