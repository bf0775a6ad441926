"""Ratings on the page: what is rated, by version too, and when a fit is made again."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.server.records import Kept, game, opening, tomorrow

from arena_cli.site import documents
from arena_server.stats.ratings import REASONS
from arena_server.web.archive import Archive
from arena_server.web.bots import RatingHistories
from arena_server.web.bundle import STATIC
from arena_server.web.ratings import LEAST_S, RatingDocuments
from arena_server.web.shown_results import NotFoundError

NOW = datetime(2026, 11, 23, 12)  # before and after every game, by a shift


def play(kept: Kept, *games: tuple[int, tuple[int, int], tuple[str | None, ...]]) -> None:
    for number, totals, agents in games:
        kept.append((number, "offer", ("a", "b"), number, (), agents))
        kept.writer.store(f"g{number}", game(number, totals=totals))
        assert kept.next() == [f"g{number}"]


def test_versions_are_rated_apart_and_a_fit_is_kept_until_the_next_result(path: Path) -> None:
    seconds = [100.0]
    documents = RatingDocuments(lambda: seconds[0])
    archive = Archive(path, tomorrow)
    kept = Kept(path, opening(names=("a", "b")))
    kept.start()
    play(kept, (1, (3, 1), ("new/1", None)), (2, (1, 3), ("new/1", None)))
    first = documents.find(archive, 1)
    assert (first["games"], first["versions"]) == (2, None)
    play(kept, (3, (3, 1), ("new/2", None)), (4, (1, 1), ("new/2", None)))
    assert documents.find(archive, 1) is first, "too soon"
    seconds[0] += LEAST_S
    second = documents.find(archive, 1)
    assert second["games"] == 4
    rows = {(row["bot"], row["version"]): row["games"] for row in second["versions"]["ratings"]}
    assert rows == {("a", "new/1"): 2, ("a", "new/2"): 2, ("b", None): 4}
    assert {row["bot"] for row in second["ratings"]} == {"a", "b"}
    seconds[0] += LEAST_S
    assert documents.find(archive, 1) is second, "nothing new"
    kept.close("finished")


def test_a_game_that_may_not_be_shown_yet_is_not_rated(path: Path) -> None:
    kept = Kept(path, opening(names=("a", "b")))
    kept.start()
    play(kept, (1, (3, 1), ()), (2, (1, 3), ()))
    kept.close("finished")
    long_ago = Archive(path, lambda: datetime(2000, 1, 1), live=True)
    assert RatingDocuments().find(long_ago, 1)["games"] == 0
    later = Archive(path, lambda: NOW + timedelta(days=36_500), live=True)
    assert RatingDocuments().find(later, 1)["games"] == 2


def test_practice_is_shown_without_ratings(path: Path) -> None:
    header = opening(names=("a", "b"))
    kept = Kept(path, replace(header, config=replace(header.config, rated=False)))
    kept.start()
    play(kept, (1, (3, 1), ()), (2, (1, 3), ()))
    kept.close("finished")
    archive = Archive(path, tomorrow)
    assert archive.contest(1)["rated"] is False
    with pytest.raises(NotFoundError, match="this contest is not rated: its games are practice"):
        RatingDocuments().find(archive, 1)
    with pytest.raises(NotFoundError, match="this contest is not rated"):
        RatingHistories().fill(archive, 1)
    written = dict(documents(archive, 1))
    assert not [name for name in written if "ratings" in name or "history" in name]
    assert json.loads(written["contests/1.json"])["rated"] is False


def test_what_cannot_be_rated(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(NotFoundError, match="this server has no numpy"):
        RatingDocuments().find(Archive(path, tomorrow), 1)


def test_the_page_has_the_same_reasons() -> None:
    script = (STATIC / "js" / "ratings.js").read_text(encoding="utf-8")
    found = dict(re.findall(r"^  (\w+): t`([^`]+)`,$", script, re.MULTILINE))
    assert found == REASONS
