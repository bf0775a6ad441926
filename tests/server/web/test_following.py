"""The feed and the calendar of a contest, read by parsers of their forms."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.web import archive
from arena_server.web.archive import Archive
from arena_server.web.following import ENTRIES, FOLDED, News, atom_text, calendar_text, expected, news_of

from ..records import Kept, game, opening
from .node import Node
from .test_previews import database, site

__all__ = ["database"]

ATOM = "{http://www.w3.org/2005/Atom}"
BASE = "https://example.org/arena"
NOW = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)
#: A contest of two bots with one game, g1, at 10:00.
DOCUMENT: dict[str, Any] = {
    "id": 3,
    "name": "friday",
    "game": "insertion",
    "format": "round-robin",
    "status": "running",
    "decided": False,
    "games": 6,
    "games_played": 1,
    "started_at": "2026-11-28T09:30:00Z",
    "ended_at": None,
    "pace": None,
    "bots": ["ann", "bob"],
    "scoring": "points",
    "standings": [{"bot": "ann", "rank": 1, "points": 160}, {"bot": "bob", "rank": 2, "points": 30}],
}
AT = int(datetime(2026, 11, 28, 10, 0, tzinfo=UTC).timestamp())
ROW = ["g1", [1, 0], [30, 160], "complete", 9, AT, [], []]


def entries(text: str) -> list[dict[str, str]]:
    root = ElementTree.fromstring(text.encode())
    return [
        {each.tag.removeprefix(ATOM): each.text or each.attrib["href"] for each in entry}
        for entry in root.iter(f"{ATOM}entry")
    ]


def lines(text: str) -> dict[str, str]:
    """The lines of a calendar, unfolded, by their names."""
    assert text.endswith("\r\n")
    assert all(len(line.encode()) <= FOLDED for line in text.split("\r\n"))
    whole = text.replace("\r\n ", "").removesuffix("\r\n").split("\r\n")
    return dict(line.split(":", 1) for line in whole)


def test_a_result_is_an_entry() -> None:
    text = atom_text(News(DOCUMENT, [ROW]), BASE)
    root = ElementTree.fromstring(text.encode())
    assert root.findtext(f"{ATOM}title") == "friday"
    assert root.findtext(f"{ATOM}updated") == "2026-11-28T10:00:00Z"
    assert root.findtext(f"{ATOM}subtitle") == "insertion, round-robin, running: 1 of 6 games; ann leads"
    assert entries(text) == [
        {
            "id": "urn:insertion-arena:20261128093000:3:g1",
            "title": "g1: bob – ann, ann wins 160 : 30",
            "updated": "2026-11-28T10:00:00Z",
            "link": f"{BASE}/game.html?contest=3&game=g1",
        }
    ]
    empty = ElementTree.fromstring(atom_text(News(DOCUMENT, []), BASE).encode())
    assert empty.findtext(f"{ATOM}updated") == "2026-11-28T09:30:00Z", "since it began"


@pytest.mark.parametrize(
    ("totals", "end", "title"),
    [
        ([2, 0], "win", "bob – ann, bob wins"),
        ([1, 1], "draw", "bob – ann, a draw"),
        ([0, 2], "forfeit", "bob – ann, ann wins by forfeit"),
        ([0, 0], "void", "bob – ann, void, it does not count"),
    ],
)
def test_a_game_that_is_only_won_or_lost_has_no_points(totals: list[int], end: str, title: str) -> None:
    row = ["g1", [1, 0], totals, end, 9, AT, [], []]
    (entry,) = entries(atom_text(News(DOCUMENT | {"decided": True}, [row]), BASE))
    assert entry["title"] == f"g1: {title}"


def test_the_newest_results_come_first() -> None:
    rows = [[f"g{number}", *ROW[1:5], AT + number, [], []] for number in range(1, ENTRIES + 10)]
    found = [entry["id"].rpartition(":")[2] for entry in entries(atom_text(News(DOCUMENT, rows), BASE))]
    assert found == [f"g{number}" for number in range(ENTRIES + 9, 9, -1)]


@pytest.mark.parametrize(
    ("change", "end"),
    [
        ({}, None),
        ({"pace": {"games_per_hour": 9.0, "left_s": None}}, None),
        ({"pace": {"games_per_hour": 9.0, "left_s": 3600}}, "20261128T130000Z"),
        ({"ended_at": "2026-11-28T11:00:00Z"}, "20261128T110000Z"),
        # An end is later than its start: a contest of less than a second has none.
        ({"ended_at": "2026-11-28T09:30:00Z"}, None),
    ],
)
def test_the_event_ends_as_far_as_is_known(change: dict[str, Any], end: str | None) -> None:
    found = lines(calendar_text(News(DOCUMENT | change, []), BASE, NOW))
    assert found.get("DTEND") == end
    assert (found["DTSTART"], found["DTSTAMP"]) == ("20261128T093000Z", "20261128T120000Z")
    assert found["UID"] == "urn:insertion-arena:20261128093000:3"
    assert found["URL"] == f"{BASE}/contest.html?id=3"
    assert found["DESCRIPTION"] == "insertion\\, round-robin\\, running: 1 of 6 games\\; ann leads"


def test_a_name_of_any_script_is_set_apart_and_its_id_is_an_address() -> None:
    """The name of a visitor has blanks and quotes, and may be written from right to left."""
    name = 'ليلى "7"'
    row = DOCUMENT["standings"][0] | {"bot": name, "points": 1, "games": 1, "wins": 1}
    document = DOCUMENT | {"bots": [name, *DOCUMENT["bots"][1:]], "standings": [row]}
    news = News(document, [ROW]).of(0)
    root = ElementTree.fromstring(atom_text(news, BASE).encode())
    ids = [each.text or "" for each in root.iter(f"{ATOM}id")]
    assert len(ids) == 2
    assert all(re.fullmatch(r"urn:[!#-;=?-~]+", each) for each in ids)
    titles = [each.text or "" for each in root.iter(f"{ATOM}title")]
    assert all(each.count(name) == each.count(f"\u2068{name}\u2069") > 0 for each in titles)
    assert lines(calendar_text(news, BASE, NOW))["UID"] == ids[0]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_any_name_of_a_contest(name: str) -> None:
    document = DOCUMENT | {"name": name}
    title = ElementTree.fromstring(atom_text(News(document, [ROW]), BASE).encode()).findtext(f"{ATOM}title")
    # A parser reads every end of a line as one.
    shown = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", " ", name)
    assert title == re.sub("\r\n?", "\n", shown)
    said = lines(calendar_text(News(document, []), BASE, NOW))["SUMMARY"]
    plain = re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], said)
    assert plain == re.sub("[\x00-\x09\x0b-\x1f\x7f]", " ", name)


def test_a_site_serves_both_and_its_page_names_the_feed(database: Path) -> None:
    with site(database) as server:
        base = f"http://{server.address}"
        status, headers, text = server.ask("GET /api/v1/contests/1/feed.atom")
        assert (status, headers["content-type"]) == (200, "application/atom+xml; charset=utf-8")
        assert [entry["title"] for entry in entries(text)] == [
            "g2: b – a, a draw, 20 : 20",
            "g1: a – b, a wins 30 : 10",
        ]
        assert entries(text)[1]["link"] == f"{base}/game.html?contest=1&game=g1"
        status, headers, text = server.ask("GET /api/v1/contests/1/contest.ics")
        assert (status, headers["content-type"]) == (200, "text/calendar; charset=utf-8")
        assert lines(text)["SUMMARY"] == "<trial>"
        for name in ("feed.atom", "contest.ics"):
            assert server.ask(f"GET /api/v1/contests/7/{name}")[0] == 404
        page = server.ask("GET /contest.html?id=1")[2]
        feed = 'href="api/v1/contests/1/feed.atom"'
        assert f'<link rel="alternate" type="application/atom+xml" {feed}>' in page
        assert '<link rel="alternate" type="text/calendar" href="api/v1/contests/1/contest.ics">' in page
        assert server.ask("GET /api/v1/contests/1/bots/2.atom")[2].count("<entry>") == 0
        root = ElementTree.fromstring(server.ask("GET /api/v1/contests/1/bots/0.atom")[2])
        assert root.findtext(f"{ATOM}title") == "a, <trial>"
        assert root.findtext(f"{ATOM}subtitle") == "rank 1 of 3: 50 points in 2 games, 1 won"
        calendar = lines(server.ask("GET /api/v1/contests/1/bots/0.ics")[2])
        assert (calendar["SUMMARY"], calendar["URL"]) == ("a\\, <trial>", f"{base}/bot.html?contest=1&bot=a")
        for name in ("atom", "ics"):
            status, _, text = server.ask(f"GET /api/v1/contests/1/bots/3.{name}")
            assert (status, json.loads(text)) == (404, {"error": "contest 1 has no bot 3"})
        page = server.ask("GET /bot.html?contest=1&bot=b")[2]
        assert (
            '<link rel="alternate" type="application/atom+xml" href="api/v1/contests/1/bots/1.atom">' in page
        )


MATCHES: list[dict[str, Any]] = [
    {"names": ["ann", "bob"], "state": "over", "games": [1, 2]},
    {"names": ["cy", None], "state": "bye", "games": []},
]
ROUNDS: list[dict[str, Any]] = [
    {"title": "round 1", "matches": MATCHES},
    {"title": "round 2", "matches": [{"names": ["ann", "cy"], "state": "open", "games": [3]}]},
]
BOTS = DOCUMENT | {
    "bots": ["ann", "bob", "cy"],
    "standings": [
        {"bot": bot, "rank": None, "points": 0, "games": 0, "wins": 0} for bot in ("ann", "bob", "cy")
    ],
}


def test_a_round_is_an_entry_once_its_last_result_is_there() -> None:
    rows = [["g1", *ROW[1:]], ["g2", [0, 1], [1, 0], "complete", 9, AT + 60, [], []]]
    rows += [["g3", [0, 2], [1, 0], "complete", 9, AT + 90, [], []]]
    news = News(BOTS, rows, ROUNDS)
    found = [
        (entry["title"].partition(":")[0], entry["updated"][14:]) for entry in entries(atom_text(news, BASE))
    ]
    assert found == [("g3", "01:30Z"), ("g2", "01:00Z"), ("round 1 is over", "01:00Z"), ("g1", "00:00Z")]
    titles = [entry["title"].partition(":")[0] for entry in entries(atom_text(news.of(1), BASE))]
    assert titles == ["g2", "round 1 is over", "g1"], "of bob alone"
    titles = [entry["title"].partition(":")[0] for entry in entries(atom_text(news.of(2), BASE))]
    assert titles == ["g3"], "none of the results of round 1 is of cy"


def test_games_to_come_are_events_at_their_expected_start() -> None:
    """Two games an hour; each takes 20 minutes of the clocks."""
    rows = [["g1", [0, 1], [1, 0], "complete", 9, AT, [], [600_000, 600_000]]]
    upcoming = [(0, "g2", ("ann", "cy")), (1, "g3", ("bob", "cy"))]
    document = BOTS | {"pace": {"games_per_hour": 2.0, "left_s": None}}
    news = News(document, rows, upcoming=upcoming)
    for shown, at in ((news, ["121000", "124000"]), (news.of(1), ["124000"])):
        text = calendar_text(shown, BASE, NOW).replace("\r\n ", "")
        events = text.split("BEGIN:VEVENT")[2:]
        assert [event.split("DTSTART:20261128T")[1][:6] for event in events] == at
        assert all("DTEND" not in event for event in events)
        assert len({line for line in text.split("\r\n") if line.startswith("UID:")}) == len(events) + 1
    assert "SUMMARY:bob – cy\\, g3\r\n" in calendar_text(news, BASE, NOW)
    without = replace(news, document=BOTS)
    assert calendar_text(without, BASE, NOW).count("BEGIN:VEVENT") == 1, "no pace, nothing to expect"


def test_the_page_expects_a_game_when_the_calendar_does(node: Node) -> None:
    rows = [
        [f"g{n}", [0, 1], [1, 0], "complete", 9, AT, [], [n * 7_000, 500] * (n % 3 > 0)] for n in range(70)
    ]
    upcoming = [(place, f"g{100 + place}", ("ann", "cy")) for place in range(8)]
    document = BOTS | {"status": "running", "frozen_at": None}
    for pace, known in product((None, 0.0, 7.5, 900.0), (rows, rows[:5], rows[:1], [])):
        document |= {"pace": pace and {"games_per_hour": pace, "left_s": None}}
        told: list[float | None] = [
            at.timestamp() for at, _, _ in expected(News(document, known, upcoming=upcoming), NOW)
        ]
        ask = partial(node, "expectedStart", contest=document, rows=known, now=NOW.timestamp())
        assert [ask(before=before) for before in range(len(upcoming))] == (told or [None] * len(upcoming))
    assert node("expectedStart", contest=document | {"frozen_at": "x"}, rows=[], now=0, before=0) is None


@pytest.mark.parametrize("chunk", [2, 5, 2000])
@pytest.mark.parametrize(("frozen", "status"), [(False, None), (True, None), (False, "finished")])
def test_the_games_to_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, frozen: bool, status: str | None
) -> None:
    """Those of a table that stands still would tell which games have ended since."""
    monkeypatch.setattr(archive, "CHUNK", chunk)
    begun = datetime.now(UTC)
    header = opening()
    freeze = round((begun + timedelta(days=1)).timestamp() * 1000) if frozen else None
    header = replace(header, config=replace(header.config, games_per_pair=2, freeze_at_ms=freeze))
    kept = Kept(tmp_path / "arena.db", header)
    kept.start()
    for number in (1, 2, 4):
        kept.writer.store(f"g{number}", game(number))
    kept.close(status)
    clock = (begun + timedelta(days=2)).replace(tzinfo=None)
    reader = Archive(tmp_path / "arena.db", clock=lambda: clock)
    open_games = [] if frozen or status else ["g3", "g5", "g6"][:chunk]
    for _ in range(2):  # the second time it begins behind those that are over
        assert [name for name, _ in reader.upcoming(1)] == open_games
    assert [name for _, name, _ in news_of(reader, 1).upcoming] == open_games
