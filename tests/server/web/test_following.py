"""The feed and the calendar of a contest, read by parsers of their forms."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.web.following import ENTRIES, FOLDED, atom_text, calendar_text

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
    "standings": [{"bot": "ann", "rank": 1}, {"bot": "bob", "rank": 2}],
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
    text = atom_text(DOCUMENT, [ROW], BASE)
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
    empty = ElementTree.fromstring(atom_text(DOCUMENT, [], BASE).encode())
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
    (entry,) = entries(atom_text(DOCUMENT | {"decided": True}, [row], BASE))
    assert entry["title"] == f"g1: {title}"


def test_the_newest_results_come_first() -> None:
    rows = [[f"g{number}", *ROW[1:5], AT + number, [], []] for number in range(1, ENTRIES + 10)]
    found = [entry["id"].rpartition(":")[2] for entry in entries(atom_text(DOCUMENT, rows, BASE))]
    assert found == [f"g{number}" for number in range(ENTRIES + 9, 9, -1)]


@pytest.mark.parametrize(
    ("change", "end"),
    [
        ({}, None),
        ({"pace": {"games_per_hour": 9.0, "left_s": None}}, None),
        ({"pace": {"games_per_hour": 9.0, "left_s": 3600}}, "20261128T130000Z"),
        ({"ended_at": "2026-11-28T11:00:00Z"}, "20261128T110000Z"),
    ],
)
def test_the_event_ends_as_far_as_is_known(change: dict[str, Any], end: str | None) -> None:
    found = lines(calendar_text(DOCUMENT | change, BASE, NOW))
    assert found.get("DTEND") == end
    assert (found["DTSTART"], found["DTSTAMP"]) == ("20261128T093000Z", "20261128T120000Z")
    assert found["UID"] == "urn:insertion-arena:20261128093000:3"
    assert found["URL"] == f"{BASE}/contest.html?id=3"
    assert found["DESCRIPTION"] == "insertion\\, round-robin\\, running: 1 of 6 games\\; ann leads"


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_any_name_of_a_contest(name: str) -> None:
    document = DOCUMENT | {"name": name}
    title = ElementTree.fromstring(atom_text(document, [ROW], BASE).encode()).findtext(f"{ATOM}title")
    # A parser reads every end of a line as one.
    shown = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", " ", name)
    assert title == re.sub("\r\n?", "\n", shown)
    said = lines(calendar_text(document, BASE, NOW))["SUMMARY"]
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
