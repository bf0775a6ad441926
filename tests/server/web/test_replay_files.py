"""Files that are given to the replay page, whole, forged and damaged, and the page as one file."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from tests.protocol.records import RECORD

from arena_protocol.record_codec import encode, to_json
from arena_server.web.bundle import replay_page
from arena_server.web.scenes import record_scenes

from .browser import Watched, kept_pages
from .replayed import GAMES, LONG, drop, replay_site, show

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.real

kept, pages = kept_pages()
site = replay_site()


class TestFiles:
    @pytest.mark.soak
    def test_json_of_arena_replay(self, pages: Watched, site: str) -> None:
        page = pages.open(f"{site}/replay.html")
        drop(page, json.dumps(to_json(RECORD), indent=2).encode(), "g7.json")
        page.wait_for_selector(".badge.true")

    @pytest.mark.soak
    def test_a_file_that_is_no_record(self, pages: Watched, site: str) -> None:
        page = pages.open(f"{site}/replay.html")
        for number, (data, text) in enumerate(
            [
                (b"", "not a record"),
                (b"hello", "not a record"),
                (b"{", "not a record"),
                (b"[]", "not a record"),
                (encode(RECORD)[:-1], "do not match its SHA-256 digest"),
                (b'{"format": 9}', "this page reads format"),
            ]
        ):
            drop(page, data, f"<b>{number}.record")
            page.locator(".error-line", has_text=f"<b>{number}.record: ").filter(has_text=text).wait_for()
        drop(page, encode(RECORD))
        page.wait_for_selector(".badge.true")

    @pytest.mark.soak
    def test_another_file_after_the_first(self, pages: Watched, site: str) -> None:
        page = show(pages, site, RECORD)
        assert page.get_by_text("Choose another file").is_visible()
        pages.check_access(page)
        pages.shoot(page, "replay-another")
        drop(page, b"hello", "second.record")
        page.locator(".error-line", has_text="second.record: not a record").wait_for()
        assert page.inner_text(".counter") == "ply 0 of 12"  # the first one is still there
        for record, plies in ((LONG, 120), (RECORD, 12), (RECORD, 12)):
            drop(page, encode(record))
            # The whole text: "ply 0 of 12" is also in that of the longer game, which may still be shown.
            page.locator(".counter", has_text=re.compile(f"^ply 0 of {plies}$")).wait_for()
            assert page.inner_text(".error-line") == ""
            page.keyboard.press("ArrowRight")
            assert page.inner_text(".counter") == f"ply 1 of {plies}"
            page.keyboard.press("Home")
        assert page.locator(".game").count() == 1

    def test_a_forged_record_is_shown_and_does_not_verify(self, pages: Watched, site: str) -> None:
        page = show(pages, site, replace(RECORD, totals=(990, 0)))
        assert "end: totals" in page.inner_text(".badge.false")

    @pytest.mark.soak
    def test_a_record_with_an_impossible_ply_ends_before_it(self, pages: Watched, site: str) -> None:
        plies = (*RECORD.plies[:3], RECORD.plies[3]._replace(move="16"), *RECORD.plies[4:])
        page = show(pages, site, replace(RECORD, plies=plies))
        assert page.inner_text(".counter") == "ply 0 of 3"
        assert "ply 4: move" in page.inner_text(".badge.false")

    @pytest.mark.soak
    def test_a_record_of_an_impossible_start(self, pages: Watched, site: str) -> None:
        page = pages.open(f"{site}/replay.html")
        drop(page, encode(replace(RECORD, board="x")))
        page.get_by_role("alert").filter(has_text="five rows of five cells").wait_for()

    @pytest.mark.soak
    def test_a_file_without_the_positions_that_the_page_needs(self, pages: Watched, site: str) -> None:
        page = pages.open(f"{site}/replay.html")
        drop(page, encode(GAMES["xo"]))
        page.get_by_role("alert").filter(has_text="this page has no rules of xo").wait_for()

    @pytest.mark.soak
    def test_a_game_shown_from_its_scenes_ends_before_an_impossible_ply(
        self, pages: Watched, site: str
    ) -> None:
        record = GAMES["xo"]
        plies = (*record.plies[:3], record.plies[3]._replace(move="a99"), *record.plies[4:])
        page = show(pages, site, replace(record, plies=plies))
        page.keyboard.press("End")
        assert page.inner_text(".counter") == "ply 3 of 3"
        assert "ply 4: move" in page.inner_text(".badge.false")

    @pytest.mark.soak
    def test_hostile_names_are_text(self, pages: Watched, site: str) -> None:
        names = ("<img src=x onerror=alert(1)>", "\u202e\"'&<script>" + "x" * 500)
        record = replace(RECORD, names=names, contest="<b>bold", game_id="<i>g")
        page = show(pages, site, record)
        assert page.locator(".seat h2").all_inner_texts() == list(names)
        own = ":not(.shares *, .leaning *, .strips *)"
        assert page.locator(f"main :is(img, b, i, script){own}").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        pages.shoot(page, "replay-hostile")


@pytest.mark.soak
def test_one_file_plays_a_game_of_scenes_without_a_server(pages: Watched, tmp_path: Path) -> None:
    record = GAMES["xo"]
    file = tmp_path / "game.html"
    file.write_text(replay_page("xo", encode(record), record_scenes(record)), encoding="utf-8")
    page = pages.open(f"file://{file}#ply=2")
    page.wait_for_selector(".badge.true, .badge.false")
    assert page.inner_text(".counter") == f"ply 2 of {len(record.plies)}"
    assert "arena verify" in page.inner_text(".badge.true")
    assert page.locator(".cell-group[data-sign='x'], .cell-group[data-sign='o']").count() == 4 + 2


@pytest.mark.soak
def test_one_file_plays_without_a_server(pages: Watched, tmp_path: Path) -> None:
    file = tmp_path / "game.html"
    file.write_text(replay_page("<title>", encode(LONG)), encoding="utf-8")
    page = pages.open(f"file://{file}#ply=31")
    page.wait_for_selector(".badge.true, .badge.false")
    assert page.inner_text(".counter") == "ply 31 of 120"
    with page.expect_download() as download:
        page.get_by_text("Share").click()
        page.get_by_role("link", name="Save: Record").click()
    assert download.value.suggested_filename == "g7.record"
    assert Path(download.value.path()).read_bytes() == encode(LONG)
    with page.expect_download() as picture:
        page.get_by_role("button", name="Save: Board as SVG").click()
    assert picture.value.suggested_filename == "g7-31.svg"
    root = ElementTree.parse(Path(picture.value.path())).getroot()
    parts = list(root.iter())
    tiles = [part.get("fill", "") for part in parts if part.get("class") == "tile" and part.get("fill")]
    assert len(tiles) == 25
    # Each is filled by a pattern of the same file.
    patterns = {f"url(#{part.get('id')})" for part in parts if part.tag.endswith("pattern")}
    assert {tile for tile in tiles if tile != "none"} == patterns != set()
    assert "--c1" in (root[0].text or "")
    pages.shoot(page, "replay-share")
