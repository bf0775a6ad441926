"""`arena report`: one file with all pages and documents of a contest, within its bound, without a network."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.server.programs import Shell
from tests.server.records import Kept, game, opening
from tests.server.web.browser import DESKTOP, PHONE, Watched, chromium, watched

from arena_protocol.record_codec import decode
from arena_server.store.reader import Results
from arena_server.web.archive import Archive
from arena_server.web.bundle import packed, report_page
from arena_server.web.scenes import record_scenes

from .reports import unpacked
from .test_rounds import BRACKET, match

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_the_documents_are_those_of_the_api(here: Path, shell: Shell) -> None:
    outcome = shell("report", "trial.html")
    assert re.fullmatch(r"written: 6 games of trial to trial.html, 0\.\d MB\n", outcome.out)
    held = unpacked(Path("trial.html"))
    archive = Archive(here / "arena.db")
    records = {f"contests/1/records/g{number}.record" for number in range(1, 7)}
    assert set(held) - records == {
        "site.json",
        *(f"contests/1{each}.json" for each in ("", "/games-0", "/ratings", "/faults", "/chain-0")),
    }
    assert json.loads(held["contests/1.json"]) == archive.contest(1)
    assert json.loads(held["contests/1/faults.json"]) == archive.faults(1)
    assert held["contests/1/chain-0.json"] == archive.chain(1, 0)
    for path in records:
        assert held[path] == archive.record(1, path.rpartition("/")[2].removesuffix(".record"))


def test_nothing_is_asked_of_another_address(here: Path, shell: Shell) -> None:
    shell("report", "trial.html")
    text = Path("trial.html").read_text()
    assert set(re.findall(r"https?://[^\s\"'`<]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert re.search(r"content=\"default-src 'none'; script-src 'sha256-[^;]+; style-src 'sha256-", text)


@pytest.mark.real
def test_scenes_of_a_game_whose_rules_the_page_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell
) -> None:
    monkeypatch.chdir(tmp_path)
    head = '[contest]\nname = "cup"\ngame = "tictactoe"\ngames_per_pair = 2\n'
    bots = "".join(f'[[bot]]\nname = "{name}"\nengine = "random"\n' for name in ("ann", "bob"))
    Path("cup.toml").write_text(head + bots)
    assert shell("tournament", "cup.toml", "--no-web").code == 0
    shell("report", "cup.html")
    held = unpacked(Path("cup.html"))
    for name in ("g1", "g2"):
        record = decode(held[f"contests/1/records/{name}.record"])
        assert json.loads(held[f"contests/1/records/{name}.json"]) == {"scenes": record_scenes(record)}


@pytest.mark.parametrize("command", ["report", "site"])
def test_nothing_that_was_stored_after_the_table_was_frozen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell, command: str
) -> None:
    kept = Kept(tmp_path / "arena.db", opening())
    kept.start()
    kept.writer.store("g1", game(1, ("a", "b"), (30, 10)))
    kept.writer.store("g2", game(2, ("c", "a"), (20, 20)))
    kept.close("stopped")
    monkeypatch.chdir(tmp_path)
    with Results(tmp_path / "arena.db") as results:
        first = results.stored_last(results.contest(), 1)
    monkeypatch.setattr(Archive, "_until", lambda *_: first)
    out = shell(command, "out").out
    assert out.startswith("written: 1 games of trial to out")
    assert "withheld" not in out
    path = Path("out")
    names = [str(each) for each in path.rglob("*")] if path.is_dir() else list(unpacked(path))
    assert not [name for name in names if "g2" in name or "chain" in name]


class TestBound:
    def test_the_newest_games_come_first(self, here: Path, shell: Shell) -> None:
        shell("report", "all.html")
        held = unpacked(Path("all.html"))
        ids = [row[0] for row in json.loads(held["contests/1/games-0.json"])]
        files = re.findall(r'data-path="([^"]+)">([^<]*)<', Path("all.html").read_text())
        sizes = {path: len(path) + len(text) for path, text in files if path != "site.json"}
        tables = sum(size for path, size in sizes.items() if "records" not in path)
        newest = [sizes[f"contests/1/records/{name}.record"] for name in ids[-2:]]
        bound = str((tables + sum(newest) + 0.5) / 1e6)
        outcome = shell("report", "some.html", "--megabytes", bound)
        assert re.fullmatch(
            r"written: 2 games of trial to some.html, 0\.\d MB; 4 older games are listed without a replay"
            r" \(--megabytes\)\n",
            outcome.out,
        )
        some = unpacked(Path("some.html"))
        assert json.loads(some["site.json"])["left_out"] == ids[:-2]
        assert {path for path in some if "records" in path} == {
            f"contests/1/records/{name}.record" for name in ids[-2:]
        }
        answer = json.loads(shell("report", "some.html", "--megabytes", bound, "--json").out)
        assert answer == {
            "contest": "trial",
            "file": "some.html",
            "bytes": Path("some.html").stat().st_size,
            "games": 2,
            "left_out": 4,
            "withheld": [],
        }

    def test_tables_that_are_too_large_alone(self, here: Path, shell: Shell) -> None:
        outcome = shell("report", "trial.html", "--megabytes", "0.001")
        assert (outcome.code, outcome.line) == (
            1,
            "arena: the tables of trial alone are more than 0.001 MB: raise --megabytes, or let `arena site`"
            " write a folder, which has no bound",
        )
        assert not Path("trial.html").exists()


def test_a_file_that_cannot_be_written(here: Path, shell: Shell) -> None:
    outcome = shell("report", "nowhere/trial.html")
    assert (outcome.code, outcome.line) == (
        1,
        "arena: nowhere/trial.html: cannot be written: No such file or directory",
    )


def test_a_damaged_record(here: Path, shell: Shell) -> None:
    with closing(sqlite3.connect("arena.db")) as database:
        database.execute("UPDATE games SET record = substr(record, 1, 50) WHERE game_id = 'g2'")
        database.commit()
    outcome = shell("report", "trial.html")
    assert outcome.code == 1
    assert outcome.line.startswith("arena: game g2: ")
    assert outcome.line.endswith("`arena verify` has the details")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def pages(browser: Browser) -> Iterator[Watched]:
    with watched(browser) as pages:
        yield pages


@pytest.mark.real
class TestInTheBrowser:
    """From the disk: a request for anything but the file itself is a complaint of `pages`."""

    def test_from_the_standings_to_a_verified_game(self, here: Path, shell: Shell, pages: Watched) -> None:
        shell("report", "trial.html")
        address = (here / "trial.html").as_uri()
        page = pages.open(address, DESKTOP)
        requests: list[str] = []
        page.on("request", lambda made: requests.append(made.url))
        page.get_by_role("heading", name="Faults").wait_for()
        rows = json.loads(unpacked(Path("trial.html"))["contests/1.json"])["standings"]
        shown = page.locator(".standings tbody .name-cell").all_inner_texts()
        assert shown == [row["bot"] for row in rows]
        assert page.locator("h2").all_inner_texts() == [
            *("Standings", "Ratings", "Cross-table", "Per game", "Faults", "Games")
        ]
        assert 'zero sent an illegal move "0" at ply' in page.locator(".fault-list").inner_text()
        pages.check_access(page)
        page.locator(".fault-list a").first.click()
        page.get_by_text("✓ Verified here").wait_for()
        page.get_by_role("link", name="zero").click()
        page.get_by_role("heading", name="Opponents").wait_for()
        page.go_back()
        page.get_by_role("link", name="← The contest").click()
        page.get_by_role("heading", name="Faults").wait_for()
        assert all(each.startswith((address, "blob:", "data:")) for each in requests), requests

    def test_a_game_that_was_left_out(self, here: Path, shell: Shell, pages: Watched) -> None:
        shell("report", "all.html")
        files = re.findall(r'data-path="([^"]+)">([^<]*)<', Path("all.html").read_text())
        tables = sum(len(path) + len(text) for path, text in files if "records" not in path)
        shell("report", "trial.html", "--megabytes", str((tables + 0.5) / 1e6))
        page = pages.open((here / "trial.html").as_uri() + "?page=game&contest=1&game=g1", PHONE, "dark")
        page.get_by_text("Game g1 was left out of this file for its size").wait_for()

    def test_a_bracket_and_rounds(self, tmp_path: Path, pages: Watched) -> None:
        """Groups, rounds and levels of a document; the winner, walkovers, and who is not known yet."""
        group = {"title": "group A", "kind": "group", "ranking": ["ann", "bob"], "matches": []}
        swiss = [
            match("ann", "bob", scores=(1.5, 0.5), winner="ann", games=(1, 3)),
            match("cid", None, "bye"),
        ]
        rounds = [group, {"title": "round 1", "kind": "round", "matches": swiss}, *BRACKET]
        names = ["ann", "bob", "cid", "dan", "eve", "fay", "gus"]
        row = {"points": 0, "games": 0, "mean": 0.0, "wins": 0, "faults": {}, "score": 0}
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
            "bots": names,
            "list": {"games": 0, "chunk": 9},
            "ranked_by": "x",
            "schedule": {"games": 0, "chunk": 9},
            "standings": [{"rank": None, "bot": name, **row} for name in names],
        }
        site = {"live": False, "state": False}
        texts = {
            "site.json": json.dumps(site),
            "contests/1.json": json.dumps(document),
            "contests/1/rounds.json": json.dumps({"ranked_by": "x", "rounds": rounds}),
        }
        path = tmp_path / "cup.html"
        path.write_text(report_page("cup", 1, {name: packed(text.encode()) for name, text in texts.items()}))
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
        assert page.locator("table.rounds tbody tr").first.inner_text().split() == [
            *("1", "ann", "1.5", "0.5", "bob", "over", "g1", "g3")
        ]
        assert page.get_by_text("Order: ann, bob").count() == 1
        pages.check_access(page)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE[0]
        pages.shoot(page, "rounds")
