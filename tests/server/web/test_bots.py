"""What the page of a bot has: its author's words, time and first moves, and how its rating came about."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_protocol.record import FaultRecord, GameRecord, PlyRecord
from arena_protocol.record_codec import encode
from arena_server.core.facts import Joined
from arena_server.stats.rated_games import RatedGame, version_of
from arena_server.stats.ratings import fit, fit_counted
from arena_server.store.bot_games import details
from arena_server.store.database import ContestHeader
from arena_server.store.reader import Results
from arena_server.store.schema import contest_row
from arena_server.terms.config import ContestConfig
from arena_server.web import bots as module
from arena_server.web import filling
from arena_server.web.archive import Archive
from arena_server.web.bots import (
    POINTS,
    BotDocuments,
    RatingHistories,
    SeatMoves,
    _History,
    moves_document,
    seat_moves,
)
from arena_server.web.shown_results import NotFoundError

from ..records import Kept, game, opening, tomorrow


def long_game(number: int, moves: Sequence[tuple[int, str, int, bool]]) -> GameRecord:
    """A game with seat, move, milliseconds and zombie of each ply."""
    plies = tuple(
        PlyRecord(seat, move, ms, 0, 0, (1000, 1000), 0, (0, 0), zombie) for seat, move, ms, zombie in moves
    )
    return replace(game(number), plies=plies, options={"plies": str(len(plies))}, increment_ms=10)


def store(kept: Kept, *records: GameRecord, agents: tuple[str | None, ...] = ()) -> None:
    for record in records:
        kept.append((int(record.game_id[1:]), "offer", record.names, int(record.game_id[1:]), (), agents))
        kept.writer.store(record.game_id, record)
        assert kept.next() == [record.game_id]


class TestMoves:
    def test_of_each_seat_without_those_of_the_server(self) -> None:
        plies = [(1, "4", 30, False), (2, "7", 5, False), (1, "6", 50, False), (2, "6", 0, True)]
        ann, bob = seat_moves(encode(long_game(1, plies)))
        assert ann == ("4", 2, 80, 50, 1020, True)
        assert bob == ("7", 1, 5, 5, 1010, False)

    def test_a_seat_that_never_moved(self) -> None:
        _, bob = seat_moves(encode(long_game(1, [(1, "4", 30, False)])))
        assert bob == SeatMoves(None, 0, 0, 0, 1000, won=False)
        assert moves_document([SeatMoves(None, 0, 0, 0, 1000, won=False)]) == {
            "records": 1,
            "time": {"moves": 0, "mean_ms": None, "most_ms": 0, "share": 0.0},
            "first_moves": [],
        }
        assert moves_document([])["time"] == {"moves": 0, "mean_ms": None, "most_ms": None, "share": None}

    def test_over_several_games(self) -> None:
        games = [
            seat_moves(encode(long_game(number, [(1, move, ms, False)])))[0]
            for number, (move, ms) in enumerate([("4", 30), ("9", 60), ("4", 0), ("10", 10)], start=1)
        ]
        assert moves_document(games) == {
            "records": 4,
            "time": {"moves": 4, "mean_ms": 25.0, "most_ms": 60, "share": round(100 / 4040, 4)},
            "first_moves": [["4", 2, 2], ["10", 1, 1], ["9", 1, 1]],
        }


class TestDocument:
    def test_the_newest_records_are_read_once(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "RECORDS", 2)
        read: list[str] = []
        shown = Archive.records

        def noted(archive: Archive, number: int, games: Sequence[str]) -> object:
            read.extend(games)
            return shown(archive, number, games)

        monkeypatch.setattr(Archive, "records", noted)
        kept = Kept(path, opening(names=("a", "b", "ab")))
        kept.start()
        documents, archive = BotDocuments(), Archive(path, tomorrow)
        store(kept, long_game(1, [(1, "4", 30, False)]), agents=("new/1", None))
        store(kept, long_game(2, [(1, "5", 30, False)]), agents=("new/2", None))
        assert documents.find(archive, 1, 0)["versions"] == [("new/2", 1), ("new/1", 1)]
        store(kept, replace(long_game(3, [(1, "6", 7, False)]), names=("ab", "b")))
        store(kept, replace(game(4), end="void"))
        store(kept, long_game(5, [(1, "8", 9, False)]))
        document = documents.find(archive, 1, 0)
        assert document["first_moves"] == [["5", 1, 1], ["8", 1, 1]]
        assert read == ["g2", "g1", "g5"]
        assert documents.find(archive, 1, 2)["first_moves"] == [["6", 1, 1]], "ab is not a"
        monkeypatch.setattr(Archive, "records", lambda *_: [("g1", b"damaged")])
        assert BotDocuments().find(archive, 1, 0)["records"] == 0, "its own page says so"
        with pytest.raises(NotFoundError, match=r"^contest 1 has no bot 3$"):
            documents.find(archive, 1, 3)
        monkeypatch.setattr(module, "KEPT_RECORDS", 1)
        assert documents.find(archive, 1, 0) == document
        assert len(documents._moves) == 1
        kept.close("finished")

    def test_nothing_of_a_record_that_is_withheld(self, path: Path) -> None:
        header = opening(names=("a", "b"))
        kept = Kept(path, replace(header, config=replace(header.config, deals="paired")))
        kept.start()
        kept.append((1, "offer", ("a", "b"), 1, ()))
        kept.writer.store("g1", game(1))
        assert kept.next() == ["g1"]
        documents, archive = BotDocuments(), Archive(path, tomorrow)
        document = documents.find(archive, 1, 0)
        assert (document["records"], document["first_moves"], document["time"]["moves"]) == (0, [], 0)
        kept.append((2, "offer", ("b", "a"), 1, ()))
        kept.writer.store("g2", game(2, names=("b", "a")))
        assert kept.next() == ["g2"]
        assert documents.find(archive, 1, 0)["records"] == 2
        kept.close()

    def test_the_rows_in_all_contests(self, path: Path) -> None:
        for name, names in (("first", ("a", "b")), ("second", ("b", "c")), ("third", ("b", "a"))):
            kept = Kept(path, opening(name, names=names))
            kept.start()
            kept.writer.store("g1", game(1, names=names))
            kept.close("finished")
        found = Archive(path, tomorrow).bot_contests("a")["contests"]
        assert [(each["name"], each["of"], each["row"]["rank"], each["row"]["points"]) for each in found] == [
            ("third", 2, 2, 10),
            ("first", 2, 1, 30),
        ]
        with pytest.raises(NotFoundError, match=r"^no bot x$"):
            Archive(path, tomorrow).bot_contests("x")


class TestDetails:
    SAID = ("Ann", "Zig", "https://ann.example/bot?a=1")

    def stored(self, path: Path, said: tuple[str, str, str]) -> dict[str, str]:
        header = opening(names=("a", "b"))
        kept = Kept(path, replace(header, config=replace(header.config, details={"a": said})))
        kept.start()
        kept.close("stopped")
        again = Kept(path, replace(header, new=False))  # the words about a bot may change
        again.start()
        again.close("finished")
        with Results(path) as results:
            return results.facts.details(results.contest(), "a")

    def test_they_are_those_of_the_configuration(self, path: Path) -> None:
        assert self.stored(path, self.SAID) == dict(
            zip(("author", "language", "url"), self.SAID, strict=True)
        )

    @pytest.mark.parametrize(
        "url", ["javascript:alert(1)", "ftp://a.example", "http://a b", "https://", " https://a", "//a"]
    )
    def test_only_a_page_is_a_link(self, path: Path, url: str) -> None:
        assert self.stored(path, ("Ann", "", url)) == {"author": "Ann"}

    def test_a_late_entrant_has_said_them_when_it_came(self) -> None:
        contest = contest_row(
            ContestHeader(ContestConfig(name="x", seed=1), {}, ("a",), games=1),
            ContestConfig(name="x", seed=1),
        )
        facts = [Joined("b", 5, 1, "", "Bob", "C", ""), Joined("c", 6, 1, "", "Cid", "D", "")]
        assert details(contest, facts, "b") == {"author": "Bob", "language": "C"}
        assert details(contest, facts, "a") == {}


class TestHistory:
    @pytest.fixture(autouse=True)
    def patient(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """An answer has all, however busy the machine is."""
        monkeypatch.setattr(filling, "WAIT_S", None)

    RESULTS = ((3, 1), (1, 3), (2, 2), (3, 1), (5, 1), (0, 4), (2, 1))

    def test_each_point_is_the_fit_of_the_games_before(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "POINTS", 3)
        kept = Kept(path, opening(names=("a", "b")))
        kept.start()
        histories, archive = RatingHistories(), Archive(path, tomorrow)
        played: list[RatedGame] = []
        versions: list[RatedGame] = []
        for number, totals in enumerate(self.RESULTS, start=1):
            agents = (f"new/{1 + number // 4}", None)
            store(kept, game(number, totals=totals), agents=agents)
            played.append(RatedGame(("a", "b"), totals, number))
            versions.append(RatedGame(tuple(map(version_of, "ab", agents)), totals, number))
            histories.fill(archive, 1)
            stride = 1 if number < 4 else 2
            places = list(range(stride, number + 1, stride))
            shown = histories.document(archive, 1, "a")["points"]
            wanted = [
                [place, *(round(value, 1) for value in (row.rating, row.margin))]
                for place in places
                for row in fit(played[:place]).rows
                if row.name == "a"
            ]
            assert [[place, *rest] for place, _, *rest in shown] == wanted
        apart = histories.document(archive, 1, "a")["versions"]
        assert [name for name, _ in apart] == ["new/1", "new/2"]
        last = {row.name: round(row.rating, 1) for row in fit(versions[:6]).rows}
        assert [points[-1][2] for _, points in apart] == [last["a new/1"], last["a new/2"]]
        with Results(path) as results:
            began = results.contest().started_at
        assert shown[0][1] >= int((began - datetime(1970, 1, 1)).total_seconds())
        kept.close("finished")

    def test_points_are_fitted_once(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        fitted: list[int] = []
        original = fit_counted

        def counted(counts: object) -> object:
            fitted.append(1)
            return original(counts)  # type: ignore[arg-type]

        monkeypatch.setattr(module, "fit_counted", counted)
        monkeypatch.setattr(filling, "PAUSE", 0.0)
        kept = Kept(path, opening(names=("a", "b")))
        kept.start()
        histories, archive = RatingHistories(), Archive(path, tomorrow)
        store(kept, *(game(number, totals=totals) for number, totals in enumerate(self.RESULTS, start=1)))
        for _ in range(3):
            histories.fill(archive, 1)
        assert len(fitted) == len(self.RESULTS)
        store(kept, game(8))
        assert asyncio.run(histories.get(archive, 1, "a"))["whole"] is True
        assert len(fitted) == len(self.RESULTS) + 1
        kept.close("finished")

    def test_the_referee_has_the_processor_between_two_points(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kept = Kept(path, opening(names=("a", "b")))
        kept.start()
        store(kept, *(game(number) for number in range(1, 4)))
        slept: list[float] = []
        clock = iter(range(100))
        monkeypatch.setattr(time, "sleep", slept.append)
        monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))
        RatingHistories().fill(Archive(path, tomorrow), 1, 2.0)
        monkeypatch.undo()
        assert slept == [2.0] * 3
        kept.close("finished")

    @given(st.lists(st.integers(0, 5000), min_size=1, max_size=20))
    def test_there_are_enough_points_and_not_too_many(self, grown: list[int]) -> None:
        """Whatever the numbers of games are when it is asked for; a smaller one is another database."""
        history = _History()
        for last in grown:
            history.thin(last, 0)
            for place in history.missing(last):
                history.endings.place = place
                history.points.append(module._Point(place, 0, {}, {}))
            places = [point.place for point in history.points]
            assert places == list(range(history.stride, last + 1, history.stride))
            assert len(places) <= POINTS
            assert len(places) >= min(last, POINTS // 2)

    def test_a_page_does_not_wait_for_a_long_contest(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kept = Kept(path, opening(names=("a", "b")))
        kept.start()
        store(kept, game(1, totals=(1, 2)), game(2, totals=(2, 1)))
        kept.close("finished")
        archive, goes_on = Archive(path, tomorrow), threading.Event()
        fill = RatingHistories.fill

        def waits(self: RatingHistories, archive: Archive, number: int, pause: float) -> None:
            assert pause == filling.PAUSE > 0
            goes_on.wait()
            fill(self, archive, number)

        monkeypatch.setattr(RatingHistories, "fill", waits)
        monkeypatch.setattr(filling, "WAIT_S", 0.0)
        histories = RatingHistories()

        async def ask() -> None:
            nothing = {"whole": False, "points": [], "versions": []}
            assert await histories.get(archive, 1, "a") == nothing
            goes_on.set()
            await asyncio.wait(histories._filling._running.values())

        asyncio.run(ask())
        assert len(histories.document(archive, 1, "a")["points"]) == 1

    def test_what_has_no_history(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        histories, archive = RatingHistories(), Archive(path, tomorrow)
        kept = Kept(path, opening(names=("a", "b")))
        kept.start()
        store(kept, game(1, faults=(FaultRecord(1, 1, "illegal", b"MOVE 0"),)))
        kept.close("finished")
        with pytest.raises(NotFoundError, match=r"^no contest 2$"):
            asyncio.run(histories.get(archive, 2, "a"))
        monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
        with pytest.raises(NotFoundError, match="this server has no numpy"):
            asyncio.run(histories.get(archive, 1, "a"))
