"""The highlights of a contest as the site shows them: nothing that may not be seen, each record read once."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from arena_protocol.record import FaultRecord, GameRecord, PlyRecord
from arena_server.store.database import ContestHeader
from arena_server.web import filling
from arena_server.web import highlights as module
from arena_server.web.archive import Archive
from arena_server.web.highlights import HighlightDocuments
from arena_server.web.shared_reads import SharedReads
from arena_server.web.shown_results import NotFoundError
from arena_server.web.stored import StoredDocuments

from ..records import Kept, game, opening, tomorrow
from .node import Node


def comeback(number: int, names: tuple[str, str] = ("a", "b"), behind: int = 20) -> GameRecord:
    """A game whose first seat wins after being behind."""
    totals = [(0, behind), (behind + 30, behind)]
    plies = tuple(
        PlyRecord(seat, "6", 3, 0, 0, (997, 1000), 0, total, False)
        for seat, total in zip((2, 1), totals, strict=True)
    )
    return replace(game(number, names, totals[-1]), plies=plies)


def store(kept: Kept, *records: GameRecord, deal: int | None = None) -> None:
    for record in records:
        number = int(record.game_id[1:])
        kept.append((number, "offer", record.names, deal or number, ()))
        kept.writer.store(record.game_id, record)
        assert kept.next() == [record.game_id]


def header(**changes: Any) -> ContestHeader:
    made = opening(names=("a", "b"))
    return replace(made, config=replace(made.config, **changes))


def games_of(document: dict[str, Any]) -> list[str]:
    return [each["game"] for each in document["highlights"]]


def test_each_record_is_read_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PART", 2)
    read: list[str] = []
    shown = Archive.records

    def noted(archive: Archive, number: int, games: Sequence[str]) -> object:
        read.extend(games)
        return shown(archive, number, games)

    monkeypatch.setattr(Archive, "records", noted)
    kept = Kept(path, opening(names=("a", "b")))
    kept.start()
    documents, archive = HighlightDocuments(), Archive(path, tomorrow)
    store(kept, *map(comeback, (1, 2, 3)))
    found = documents.find(archive, 1)
    assert (found["games"], found["whole"]) == (3, True)
    store(kept, comeback(4, behind=50))
    first = documents.find(archive, 1)["highlights"][0]
    assert first == {
        "kind": "swing",
        "game": "g4",
        "names": ("a", "b"),
        "totals": (80, 50),
        "end": "complete",
        "ply": 1,
        "seat": 1,
        "value": 50,
        "text": "",
        "at": first["at"],
    }
    assert read == ["g1", "g2", "g3", "g4"]
    kept.close("finished")


def test_nothing_of_a_record_that_is_withheld(path: Path) -> None:
    kept = Kept(path, header(deals="paired"))
    kept.start()
    documents, archive = HighlightDocuments(), Archive(path, tomorrow)
    store(kept, replace(comeback(1), faults=(FaultRecord(1, 2, "timeout", b""),)), deal=1)
    assert documents.find(archive, 1)["highlights"] == []
    store(kept, comeback(2, ("b", "a")), deal=1)
    assert games_of(documents.find(archive, 1)) == ["g2", "g2", "g1"], "its deal is over"
    store(kept, comeback(3, behind=90), deal=2)
    assert "g3" not in games_of(documents.find(archive, 1))
    kept.close("finished")
    assert games_of(documents.find(archive, 1))[0] == "g3", "no further game can be played on its deal"


@pytest.mark.parametrize(
    "change",
    [
        {"anonymous": True},
        {"freeze_at_ms": 0},
        {"spectator_delay_ms": 3_600_000},
    ],
)
def test_nothing_before_it_may_be_seen(path: Path, change: dict[str, Any]) -> None:
    kept = Kept(path, header(**change))
    kept.start()
    store(kept, comeback(1))
    later = [timedelta(0)]

    def clock() -> datetime:
        return tomorrow() - timedelta(days=1) + later[0]

    documents, archive = HighlightDocuments(), Archive(path, clock, live=True)
    assert documents.find(archive, 1) == {"whole": True, "games": 0, "highlights": []}
    kept.close("finished")
    later[0] = timedelta(days=1)
    assert games_of(documents.find(archive, 1)) == ["g1", "g1"]


def test_they_are_found_again_when_a_result_was_changed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept(path, opening(names=("a", "b")))
    kept.start()
    store(kept, comeback(1))
    kept.close("finished")
    documents, archive = HighlightDocuments(), Archive(path, tomorrow)
    assert documents.find(archive, 1)["games"] == 1
    monkeypatch.setattr(Archive, "shown_place", lambda *_: (1, 1))
    assert documents.find(archive, 1)["games"] == 1, "not counted twice"
    monkeypatch.setattr(Archive, "shown_place", lambda *_: (0, 1))
    assert documents.find(archive, 1)["games"] == 0, "an older database is in its place"
    monkeypatch.setattr(module, "KEPT", 0)
    documents.fill(archive, 1)
    assert documents.document(archive, 1, {}, archive.contest(1))["games"] == 0


def test_a_damaged_record_is_left_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept(path, opening(names=("a", "b")))
    kept.start()
    store(kept, comeback(1))
    kept.close("finished")
    monkeypatch.setattr(Archive, "records", lambda *_: [("g1", b"damaged")])
    assert HighlightDocuments().find(Archive(path, tomorrow), 1)["games"] == 0


@pytest.mark.asyncio
async def test_a_page_gets_what_is_known_by_then(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filling, "WAIT_S", 0.0)
    goes_on, fill = threading.Event(), HighlightDocuments.fill

    def waits(documents: HighlightDocuments, archive: Archive, number: int, pause: float) -> None:
        assert pause == filling.PAUSE > 0
        goes_on.wait()
        fill(documents, archive, number)

    monkeypatch.setattr(HighlightDocuments, "fill", waits)
    kept = Kept(path, opening(names=("a", "b")))
    kept.start()
    store(kept, comeback(1))
    kept.close("finished")
    documents, archive = HighlightDocuments(), Archive(path, tomorrow)
    about = archive.contest(1)
    first = await documents.get(archive, 1, {}, about)
    assert first == {"whole": False, "games": 0, "highlights": []}
    goes_on.set()
    await documents._filling._running[archive, 1]
    assert games_of(documents.document(archive, 1, {}, about)) == ["g1", "g1"]
    monkeypatch.setattr(HighlightDocuments, "fill", lambda *_: 1 / 0)
    monkeypatch.setattr(filling, "WAIT_S", None)
    with pytest.raises(ZeroDivisionError):
        await HighlightDocuments().get(archive, 1, {}, about)


@pytest.mark.asyncio
async def test_the_api_has_them(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filling, "WAIT_S", None)
    kept = Kept(path, opening(names=("a", "b")))
    kept.start()
    store(kept, comeback(1), comeback(2, ("b", "a")))
    kept.close("finished")
    endpoint = StoredDocuments(SharedReads(Archive(path, tomorrow))).endpoints()[
        "contests/{number}/highlights.json"
    ]
    answer = await endpoint(Request({"type": "http", "path_params": {"number": "1"}}))
    assert sorted(games_of(json.loads(bytes(answer.body)))) == ["g1", "g1", "g2"]
    with pytest.raises(NotFoundError, match=r"^no contest 7$"):
        await endpoint(Request({"type": "http", "path_params": {"number": "7"}}))


SAID = [
    ({"kind": "upset", "value": 120}, ["Upset", "b wins against a, rated 120 points higher"]),
    ({"kind": "swing", "value": 1}, ["Comeback", "b wins after being 1 point behind at ply 7"]),
    ({"kind": "cascade", "value": 4}, ["Cascade", "b: 4 waves by one move, ply 7"]),
    ({"kind": "fault", "text": "timeout"}, ["First fault", "b: timeout"]),
    ({"kind": "day", "text": "2026-11-28"}, ["Game of the day", "the longest one"]),
    ({"kind": "day", "text": "2026-11-28", "value": 1}, ["Game of the day", "the lead changes once"]),
    ({"kind": "day", "text": "2026-11-28", "value": 3}, ["Game of the day", "the lead changes 3 times"]),
]


@pytest.mark.parametrize(("given", "texts"), SAID)
def test_the_page_says_what_has_happened(node: Node, given: dict[str, Any], texts: list[str]) -> None:
    whole = {"names": ["a", "b"], "seat": 2, "ply": 7, "value": 0, "text": ""} | given
    title, text = node("highlight", found=whole)
    assert text == texts[1]
    assert title.partition(",")[0] == texts[0]
