"""What the site does not show of a database yet: delay, freeze, paired deals."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from arena_protocol.record_codec import encode
from arena_server.store.chain import GENESIS
from arena_server.store.engines import open_engine
from arena_server.store.schema import ContestRow, set_status
from arena_server.web.archive import Archive
from arena_server.web.shown_results import NotFoundError

from ..records import Kept, game, opening
from .archives import ILLEGAL, Clock, fill, later


class TestFreeze:
    def test_nothing_that_was_stored_since_is_shown_until_the_contest_is_over(self, path: Path) -> None:
        clock = Clock()
        header = opening()
        frozen = int(clock.now.replace(tzinfo=UTC).timestamp() * 1000) + 3_600_000
        header = replace(header, config=replace(header.config, freeze_at_ms=frozen))
        kept = Kept(path, header)
        kept.start()
        for number in (1, 2):
            kept.writer.store(f"g{number}", game(number))
        kept.close("stopped")
        archive = Archive(path, clock)
        clock.forward(10)
        assert archive.contest(1)["games_played"] == 2
        assert archive.contest(1)["frozen_at"] is None
        engine = open_engine(path)
        with engine.begin() as connection:  # as if it had been played after the freeze
            later = datetime.fromtimestamp(frozen / 1000 + 60, UTC).replace(tzinfo=None)
            change = text("UPDATE games SET stored_at = :at WHERE game_id = 'g2'")
            connection.execute(change, {"at": str(later)})
        engine.dispose()
        clock.forward(7200)
        archive = Archive(path, clock, live=True)
        assert archive.contest(1)["frozen_at"] is not None
        assert archive.contest(1)["games_played"] == archive.contests()[0]["games_played"] == 1
        assert [row["games"] for row in archive.contest(1)["standings"]] == [1, 1, 0]
        assert len(json.loads(archive.games(1, 0))) == 1
        assert archive.state(1, "g2") is None
        assert archive.shown_state(1) != (GENESIS, 0)
        with pytest.raises(NotFoundError):
            archive.record(1, "g2")
        engine = open_engine(path)
        with Session(engine) as session, session.begin():
            set_status(session.get_one(ContestRow, 1), "aborted", clock.now, b"")
        engine.dispose()
        over = Archive(path, clock)
        assert (over.contest(1)["games_played"], over.contest(1)["frozen_at"]) == (2, None)
        assert over.state(1, "g2") == "over"


class TestDelay:
    def test_a_game_is_shown_once_the_delay_has_passed(self, path: Path) -> None:
        fill(path, None, delay_ms=60_000)
        clock = Clock()
        archive = Archive(path, clock, live=True)
        assert archive.contest(1)["games_played"] == 0
        assert json.loads(archive.games(1, 0)) == []
        assert archive.state(1, "g1") is None
        with pytest.raises(NotFoundError, match=r"^no game g1 with a result in contest 1$"):
            archive.record(1, "g1")
        clock.forward(61)
        assert archive.contest(1)["games_played"] == 2
        assert [row[0] for row in json.loads(archive.games(1, 0))] == ["g1", "g2", "g3"]
        assert archive.state(1, "g1") == "over"
        assert archive.record(1, "g1") == encode(game(1, ("a", "b"), (30, 10), ILLEGAL))

    def test_each_contest_has_its_own(self, path: Path) -> None:
        """On the page of any server of the database."""
        fill(path, None, "prompt")
        fill(path, None, "late", delay_ms=60_000)
        archive = Archive(path, Clock(), live=True)
        assert [archive.contest(number)["games_played"] for number in (1, 2)] == [2, 0]
        assert [archive.state(number, "g1") for number in (1, 2)] == ["over", None]

    def test_the_end_of_a_contest_changes_nothing_of_it(self, path: Path) -> None:
        fill(path, delay_ms=60_000)
        clock = Clock()
        archive = Archive(path, clock, live=True)
        assert archive.contest(1)["games_played"] == 0
        clock.forward(61)
        assert archive.contest(1)["games_played"] == 2


class TestPairedDeals:
    def test_a_record_is_withheld_until_its_deal_is_over(self, path: Path) -> None:
        """On the page of a contest that is over, too: it may go on."""
        header = opening(names=("a", "b"), new=False)
        header = replace(header, config=replace(header.config, deals="paired", games_per_pair=2), games=2)
        for number, status in ((1, "stopped"), (2, None)):
            kept = Kept(path, header)
            kept.start()
            kept.append((number, "offer", ("a", "b"), 1, ()))
            kept.writer.store(f"g{number}", game(number))
            kept.close(status)
            archive, _ = later(path)
            states = [archive.state(1, name) for name in ("g1", "g2")]
            if number == 1:
                assert states == ["withheld", None]
                with pytest.raises(
                    NotFoundError, match=r"^g1 is shown when all games on its deal have a result"
                ):
                    archive.record(1, "g1")
            else:
                assert states == ["over", "over"]
                assert archive.record(1, "g1") == encode(game(1))
