"""`arena site`: the files are those that the web page would serve, and need no server."""

from __future__ import annotations

import errno
import json
import os
import re
from base64 import b64encode
from html import unescape
from pathlib import Path

import pytest
from tests.server.programs import Shell
from tests.server.records import change

from arena_cli.site import PAGES, PART
from arena_server.web.archive import Archive


def test_the_documents_are_those_of_the_api(here: Path, shell: Shell) -> None:
    assert shell("site", "public").out == "written: 6 games of trial to public\n"
    api = here / "public" / "api" / "v1"
    archive = Archive(here / "arena.db")
    assert json.loads((api / "contests.json").read_bytes()) == {"contests": archive.contests()}
    assert json.loads((api / "contests" / "1.json").read_bytes()) == archive.contest(1)
    assert (api / "contests" / "1" / "games-0.json").read_bytes() == archive.games(1, 0)
    assert (api / "contests" / "1" / "chain-0.json").read_bytes() == archive.chain(1, 0)
    records = api / "contests" / "1" / "records"
    assert len(list(records.iterdir())) == 2 * 6
    for number in range(1, 7):
        assert (records / f"g{number}.record").read_bytes() == archive.record(1, f"g{number}")
    for page in PAGES:
        assert "Content-Security-Policy" in (here / "public" / f"{page}.html").read_text()
    assert not (here / "public" / "organiser.html").exists()


def test_every_file_that_a_page_or_script_names_is_there(here: Path, shell: Shell) -> None:
    import re

    shell("site", "public")
    public = here / "public"
    for page in PAGES:
        names = re.findall(r'(?:src|href)="([^"]+)"', (public / f"{page}.html").read_text())
        assert {name.rpartition(".")[2] for name in names} == {"js", "css", "svg"}
        for name in names:
            assert (public / name).is_file(), name


def test_a_second_run_replaces_the_data(here: Path, shell: Shell) -> None:
    shell("site", "public")
    scripts = set((here / "public").glob("site-*.js"))
    old = here / "public" / "api" / "v1" / "contests" / "1" / "records" / "g99.json"
    old.write_text("{}")
    script = here / "public" / "site-0123456789abcdef.js"  # of an earlier version
    script.write_text("")
    assert json.loads(shell("site", "public", "--json").out) == {
        "contest": "trial",
        "folder": "public",
        "games": 6,
        "withheld": [],
    }
    assert not old.exists()
    assert not script.exists()
    assert set((here / "public").glob("site-*.js")) == scripts


def test_games_that_are_not_played_are_in_the_schedule(here: Path, shell: Shell) -> None:
    """Without them the folder has no such file; the page asks for it only if games are missing."""
    api = here / "public" / "api" / "v1" / "contests" / "1"
    shell("site", "public")
    assert not (api / "schedule-0.json").exists()
    change(here / "arena.db", "DELETE FROM faults WHERE game_pk IN (SELECT id FROM games WHERE place > 4)")
    change(here / "arena.db", "DELETE FROM games WHERE place > 4")
    assert json.loads(shell("site", "public", "--json").out)["games"] == 4
    document = json.loads((api.parent / "1.json").read_bytes())
    assert (document["games_played"], document["schedule"]["games"]) == (4, 6)
    rows = json.loads((api / "schedule-0.json").read_bytes())
    assert [row[0] for row in rows] == [f"g{number}" for number in range(1, 7)]
    assert all(len(seats) == 2 for _, seats in rows)


def test_a_link_to_a_game_shows_it(here: Path, shell: Shell) -> None:
    """With the address of the folder also by a picture; without one there is no whole address to name."""
    shell("site", "public")
    public = here / "public"
    page = (public / "game-g1.html").read_text()
    assert re.search(r'<html data-shows="contest=1&amp;game=g1" ', page)
    assert re.search(r"<title>\w+ – \w+, g1 · insertion-arena</title>", page)
    assert 'content="summary"' in page
    assert "http" not in "".join(re.findall('content="([^"]*)"', page.partition("<link")[0]))
    contest = (public / "contest.html").read_text()
    assert '<meta property="og:title" content="trial">' in contest
    pictures = public / "api" / "v1" / "contests" / "1" / "pictures"
    assert not pictures.exists()
    shell("site", "public", "--url", "https://example.org/arena/")
    page = (public / "game-g6.html").read_text()
    picture = "https://example.org/arena/api/v1/contests/1/pictures/g6.png"
    assert f'<meta property="og:image" content="{picture}">' in page
    assert '<meta property="og:url" content="https://example.org/arena/game-g6.html">' in page
    assert (pictures / "g6.png").read_bytes().startswith(b"\x89PNG")
    assert len(list(pictures.iterdir())) == len(list(public.glob("game-g*.html"))) == 6
    feed = (public / "api" / "v1" / "contests" / "1" / "feed.atom").read_text()
    assert feed.count("<entry>") == 6
    assert 'href="https://example.org/arena/game.html?contest=1&amp;game=g6"' in feed
    calendar = (public / "api" / "v1" / "contests" / "1" / "contest.ics").read_bytes()
    assert b"\r\nSUMMARY:trial\r\n" in calendar
    assert 'href="api/v1/contests/1/feed.atom"' in (public / "contest.html").read_text()
    front = (public / "index.html").read_text()
    assert '<meta name="description" content="1 contest, 6 games.">' in front
    assert '<meta property="og:url" content="https://example.org/arena/">' in front
    bots = json.loads((public / "api" / "v1" / "contests" / "1.json").read_bytes())["bots"]
    for place, bot in enumerate(bots):
        page = (public / f"bot-{bot}.html").read_text()
        assert f'<html data-shows="contest=1&amp;bot={bot}" ' in page
        assert f'<meta property="og:title" content="{bot}, trial">' in page
        assert f'href="api/v1/contests/1/bots/{place}.atom"' in page
        own = (public / "api" / "v1" / "contests" / "1" / "bots" / f"{place}.atom").read_text()
        assert own.count("<entry>") == 6 * 2 // len(bots)
    (public / "game-g99.html").write_text("of an earlier run")
    shell("site", "public")
    assert len(list(public.glob("game-g*.html"))) == 6
    assert not list(public.rglob("*.atom"))
    assert not pictures.exists()
    refused = shell("site", "public", "--url", "example.org")
    assert refused.code == 2
    assert "--url: expected an address such as https://example.org/arena, got 'example.org'" in refused.err


def test_a_folder_with_other_files_is_left_alone(here: Path, shell: Shell) -> None:
    (here / "docs").mkdir()
    (here / "docs" / "thesis.txt").write_text("mine")
    outcome = shell("site", "docs")
    assert outcome.code == 2
    assert outcome.line == "arena: docs: not empty, and not written by arena site; name a new folder"
    assert [path.name for path in (here / "docs").iterdir()] == ["thesis.txt"]
    outcome = shell("site", "docs/thesis.txt")
    assert (outcome.code, outcome.line) == (2, "arena: docs/thesis.txt: expected a folder, found a file")
    outcome = shell("site", "docs/thesis.txt/public")
    assert (outcome.code, outcome.line) == (
        1,
        "arena: docs/thesis.txt/public: cannot be written: Not a directory",
    )


@pytest.mark.parametrize("file", ["contest.html", "1.json"])
@pytest.mark.parametrize("earlier", [False, True])
def test_after_a_full_disk_the_same_command_goes_on(
    here: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch, file: str, earlier: bool
) -> None:
    if earlier:
        shell("site", "public")
    right = Path.write_bytes

    def write(path: Path, data: bytes) -> int:
        if path.name == file:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return right(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", write)
        outcome = shell("site", "public")
    assert (outcome.code, outcome.line) == (1, "arena: public: cannot be written: No space left on device")
    assert shell("site", "public").code == 0
    assert not (here / "public" / PART).exists()


def test_a_damaged_record(here: Path, shell: Shell) -> None:
    change(here / "arena.db", "UPDATE games SET record = substr(record, 1, 50) WHERE game_id = 'g2'")
    outcome = shell("site", "public")
    assert outcome.code == 1
    assert outcome.line.startswith("arena: game g2: ")
    assert outcome.line.endswith("`arena verify` has the details")


SITE = """[contest]
name = "trial"
[[bot]]
name = "a"
engine = "random"
[[bot]]
name = "b"
engine = "random"
[site]
title = "The cup <2026>"
text = "Every evening."
logo = "logo.svg"
links = { Rules = "https://cup.example/rules" }
"""


@pytest.fixture
def cup(here: Path) -> Path:
    """A configuration with a table [site] in the folder of a contest that is over."""
    (here / "logo.svg").write_text("<svg/>")
    (here / "cup.toml").write_text(SITE)
    return here


def test_the_pages_say_whose_they_are(cup: Path, shell: Shell) -> None:
    shell("site", "public", "--config", "cup.toml")
    said = re.search(r'data-site="([^"]*)"', (cup / "public" / "index.html").read_text())
    assert said is not None
    about = json.loads(unescape(said[1]))
    assert (about["title"], about["text"]) == ("The cup <2026>", "Every evening.")
    assert about["links"] == [["Rules", "https://cup.example/rules"]]
    assert (cup / "public" / about["logo"]).read_text() == "<svg/>"
    shell("site", "public")
    assert "data-site" not in (cup / "public" / "index.html").read_text()
    assert not (cup / "public" / about["logo"]).exists(), "what an earlier run wrote is gone"


def test_a_report_holds_the_logo(cup: Path, shell: Shell) -> None:
    shell("report", "trial.html", "--config", "cup.toml")
    said = re.search(r'data-site="([^"]*)"', Path("trial.html").read_text())
    assert said is not None
    logo = b64encode(b"<svg/>").decode()
    assert json.loads(unescape(said[1]))["logo"] == f"data:image/svg+xml;base64,{logo}"


@pytest.mark.parametrize("words", [("site", "public"), ("report", "trial.html"), ("web",)])
def test_a_configuration_that_cannot_be_read(cup: Path, shell: Shell, words: tuple[str, ...]) -> None:
    (cup / "logo.svg").unlink()
    outcome = shell(*words, "--config", "cup.toml")
    assert outcome.code == 2
    assert outcome.line == "arena: cup.toml: site.logo: logo.svg: No such file or directory"
