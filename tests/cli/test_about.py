"""What a contest is called: the words of the file on every channel, and after a restart."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.server.programs import inside
from tests.server.records import Kept, keep, opening
from tests.slices import all_of

from arena_cli.publish import page
from arena_server.errors import ConfigError
from arena_server.store.database import ContestHeader
from arena_server.store.published import PublishedHead
from arena_server.terms.about import headline, lines_about
from arena_server.terms.file import config_of, parse_contest
from arena_server.web.archive import Archive
from arena_server.web.following import News, atom_text, calendar_text
from arena_server.web.previews import contest_preview

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "announce.md").read_text(encoding="utf-8")
FILE = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[0]
ABOUT = {
    "title": "Friday Cup",
    "text": "Two games against each other bot; the first three play the final.",
    "date": "2026-12-04",
    "place": "Room 12",
    "organiser": "Chess Club North",
    "links": {"Rules": "https://example.org/rules"},
}


def stored(folder: Path, about: Mapping[str, Any], status: str = "finished") -> Path:
    """A contest of these words, which goes on or begins."""
    database, wanted = folder / "arena.db", opening(new=False)
    keep(
        database,
        status=status,
        contest=replace(wanted, config=replace(wanted.config, about=about)),
    )
    return database


def document(database: Path) -> dict[str, Any]:
    return Archive(database).contest(1)


def test_the_words_of_a_file() -> None:
    assert config_of(parse_contest(FILE, "c.toml")).about == ABOUT
    plain = FILE.replace("date = 2026-12-04", 'date = "every Friday"')
    assert config_of(parse_contest(plain, "c.toml")).about["date"] == "every Friday"
    assert (
        config_of(parse_contest(re.sub(r"(?m)^(title|text|date|place|org|links).*\n", "", FILE), "c")).about
        == {}
    )


@all_of(
    ("line", "text"),
    [
        ("place = 12", "contest.place: expected a text of one line with 1 to 80 characters, got 12"),
        ('title = ""', "contest.title: expected a text of one line with 1 to 80 characters, got ''"),
        (
            'text = "a\\nb"',
            "contest.text: expected a text of one line with 1 to 1000 characters, got 'a\\nb'",
        ),
        (
            "date = 2026-12-04T18:00:00",
            "contest.date: expected a date such as 2026-12-24, or a text of one line with 1 to 40 characters"
            ", got 2026-12-04T18:00:00",
        ),
        (
            'links = { Rules = "ftp://example.org" }',
            "contest.links: expected TEXT = \"https://HOST/PATH\" with at most 40 characters, got 'Rules'",
        ),
    ],
)
def test_wrong_words(line: str, text: str) -> None:
    key = line.partition(" ")[0]
    with pytest.raises(ConfigError) as caught:
        parse_contest(re.sub(rf"(?m)^{key} .*\n", f"{line}\n".replace("\\", "\\\\"), FILE), "c.toml")
    assert str(caught.value) == f"c.toml: {text}"


def test_the_example_of_the_page(tmp_path: Path) -> None:
    file = parse_contest(FILE, "c.toml")
    config = replace(config_of(file), seed=5)
    kept = Kept(tmp_path / "arena.db", ContestHeader(config, {}, ("ann", "bob"), games=2))
    kept.start()
    kept.close("finished")
    outcome = inside("standings", cwd=tmp_path)
    lines = [line.rstrip() for line in outcome.out.splitlines()]
    printed = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)[0].splitlines()
    assert lines[0].replace("0 of 2", "2 of 2") == printed[0]
    assert lines[-4:-1] == printed[-3:], "the last line has the secret"
    assert document(tmp_path / "arena.db")["game_title"] == "Tic-tac-toe"


def test_every_channel_has_the_words(tmp_path: Path) -> None:
    found = document(stored(tmp_path, ABOUT))
    assert (found["about"], found["game_title"], found["name"]) == (ABOUT, "Insertion", "trial")
    preview = contest_preview(found)
    assert preview.title == "Friday Cup (trial)"
    assert preview.description.startswith("Insertion, round-robin, 2026-12-04, Room 12, finished: ")
    moment = datetime(2026, 12, 4, tzinfo=UTC)
    assert "<title>Friday Cup (trial)</title>" in atom_text(News(found, []), "https://example.org")
    event = calendar_text(News(found, []), "https://example.org", moment).splitlines()
    assert {"SUMMARY:Friday Cup (trial)", "LOCATION:Room 12"} <= set(event)
    html = page(found, PublishedHead(1, "trial", found["started_at"], 0, "ab", found["started_at"]))
    for words in (
        'og:title" content="Friday Cup (trial)"',
        "<h1><bdi>Friday Cup</bdi></h1>",
        "<bdi>Room 12</bdi>, <bdi>Chess Club North</bdi>",
        "play the final",
        "><bdi>Rules</bdi></a>",
    ):
        assert words in html
    outcome = inside("report", "out.html", cwd=tmp_path)
    assert outcome.code == 0
    assert "<title>Friday Cup (trial): report" in (tmp_path / "out.html").read_text()
    plain = json.loads(inside("standings", "--json", cwd=tmp_path).out)["contest"]
    assert (plain["about"], plain["game_title"]) == (ABOUT, "Insertion")
    assert inside("verify", cwd=tmp_path).code == 0


def test_a_contest_without_words_is_called_by_its_name(tmp_path: Path) -> None:
    found = document(stored(tmp_path, {}))
    assert found["about"] == {}
    assert contest_preview(found).title == "trial"
    title = inside("standings", cwd=tmp_path).out.splitlines()[0]
    assert title == "trial: insertion, 0 of 6 games, scored by points, finished"


def test_a_contest_that_goes_on_takes_the_words_of_its_file(tmp_path: Path) -> None:
    """One that is over keeps them."""
    database = stored(tmp_path, ABOUT, "stopped")
    stored(tmp_path, ABOUT | {"place": "Room 13"}, "stopped")
    assert document(database)["about"]["place"] == "Room 13"
    assert inside("verify", cwd=tmp_path).code == 0


def test_lines_for_a_terminal() -> None:
    assert list(lines_about({})) == []
    assert list(lines_about({"organiser": "jan"})) == ["organised by jan"]
    assert headline("c", {"text": "x"}) == "c"
