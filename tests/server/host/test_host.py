"""A host with several contests in this process: bots of two contests, and contests that fail."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from arena_protocol.record import UsageRecord
from arena_protocol.record_codec import decode
from arena_server.core.contest import Contest
from arena_server.core.events import Event, Stored, Tick
from arena_server.core.transcript import Transcript
from arena_server.errors import HIDDEN, ArenaError, PublicError, StoreError
from arena_server.host.attachments import PaceLog
from arena_server.host.host import Host
from arena_server.host.logs import Log
from arena_server.host.observers import BotPlaces, TranscriptReader
from arena_server.host.run import ContestRun
from arena_server.host.stages import WhenEntered
from arena_server.store.reader import Results
from arena_server.terms.timetable import Timetable, parse_hours
from arena_server.web.bridge import LoopBridge
from arena_server.web.host_view import HostView

from .hosting import running, spec

pytestmark = [pytest.mark.asyncio, pytest.mark.real]


async def test_two_contests_are_played_at_the_same_time(tmp_path: Path) -> None:
    async with running(tmp_path, [spec("friday"), spec("saturday")]) as here:
        assert await here.play_all("friday", "saturday") == ["BYE reason=finished"] * 4
    assert here.results("friday") == ("finished", 4)
    assert here.results("saturday") == ("finished", 4)
    assert " info over contest=friday game=g4 " in here.log
    assert " info over contest=saturday game=g4 " in here.log


@pytest.mark.soak
async def test_each_contest_that_is_taken_up_is_named(tmp_path: Path) -> None:
    for _ in range(2):
        async with running(tmp_path, [spec("friday"), spec("saturday")]):
            pass
    taken_up = [line for line in (tmp_path / "log").read_text().splitlines() if " taking-up " in line]
    assert [line.split(" taking-up ")[1].split()[0] for line in taken_up] == [
        "contest=friday",
        "contest=saturday",
    ]


async def test_a_contest_that_is_over_is_shown_and_a_new_one_is_played(tmp_path: Path) -> None:
    """A folder of contests is started again with one more file: nothing of the first one changes."""
    old, new = spec("friday", keep=True), spec("saturday", keep=True)
    async with running(tmp_path, [old], until_finished=True) as here:
        await here.play_all("friday")
    with Results(here.database) as results:
        before = results.contest("friday")
    async with running(tmp_path, [old, new], until_finished=True) as here:
        played = here.play_all("saturday")
        assert await here.play("friday", "ann") == "BYE reason=finished"
        assert await played == ["BYE reason=finished"] * 2
        state = here.host.contests["friday"]
        assert state.contest is not None
        assert (state.reason, state.results, state.contest.status.overview().state) == (
            "finished",
            4,
            "finished",
        )
    assert " info is-over contest=friday games=4 ended=finished " in here.log
    assert here.results("saturday") == ("finished", 4)
    with Results(here.database) as results:
        again = results.contest("friday")
        assert [each.name for each in results.contests()] in (["friday", "saturday"], ["saturday", "friday"])
    columns = ("id", "status", "ended_at", "head", "checksum")
    assert [getattr(again, each) for each in columns] == [getattr(before, each) for each in columns]


async def test_bots_play_before_the_contests_that_are_over_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host has hundreds of them: a start does not wait, and who asks for one of them does."""
    old, new = spec("friday", keep=True), spec("saturday", keep=True)
    async with running(tmp_path, [old], until_finished=True) as here:
        await here.play_all("friday")
    shown, opened = asyncio.Event(), ContestRun.open

    async def late(run: ContestRun) -> bool:
        if run.spec.over:
            await shown.wait()
        return await opened(run)

    monkeypatch.setattr(ContestRun, "open", late)
    stored: list[list[str]] = []

    def entered() -> None:
        with Results(here.database) as results:
            stored.append(sorted(each.name for each in results.contests()))

    def plan(host: Host, _: Log) -> None:
        host.observe(WhenEntered(entered))

    async with running(tmp_path, [replace(old, over=True), new], plan=plan) as here:
        knocks = asyncio.ensure_future(here.play("friday", "ann"))
        await here.until(lambda: here.host.is_serving)
        view = HostView(here.host, LoopBridge(asyncio.get_running_loop()))
        assert view.problem() is None
        assert [row["phase"] for row in view.rows()] == ["opening", "playing"]
        await here.until(lambda: len(stored) > 0)
        assert stored == [["friday", "saturday"]]
        assert await here.play_all("saturday") == ["BYE reason=finished"] * 2
        assert not knocks.done()
        shown.set()
        assert await knocks == "BYE reason=finished"
        assert view.problem() == "the contest is over: finished"


@pytest.mark.soak
async def test_a_contest_that_is_over_ends_a_server_that_waits_for_it(tmp_path: Path) -> None:
    for _ in range(2):
        async with running(tmp_path, [spec("friday", keep=True)], until_finished=True) as here:
            if not here.host.leaving:
                await here.play_all("friday")
    assert here.results("friday") == ("finished", 4)


async def test_outside_its_hours_a_contest_misses_no_bot_at_its_beginning(tmp_path: Path) -> None:
    """Its first Tick finds both absent."""
    hour = (time.localtime().tm_hour + 12) % 24
    closed = spec("friday", timetable=Timetable(parse_hours(f"{hour:02}:00-{hour:02}:01")))
    closed = replace(closed, config=replace(closed.config, absent_ms=0))
    async with running(tmp_path, [closed]) as here:
        contest = here.host.contests["friday"].contest
        assert contest is not None
        assert (contest.ended, contest.status.overview().state) == (None, "closed")


@pytest.mark.soak
async def test_the_log_says_how_far_a_contest_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena_server.host.attachments.LOG_PACE_S", 0)
    async with running(tmp_path, [spec("friday")]) as here:
        await here.play_all("friday")
        hosted = here.host.contests["friday"]
        pace_log = hosted.find(PaceLog)
        assert hosted.contest is not None
        assert pace_log is not None
        pace = pace_log.pace(hosted.contest.status.progress())
    assert re.findall(r" info progress done=(\d) total=(\d) ", here.log) == [
        *(("1", "4"), ("2", "4"), ("3", "4"), ("4", "4"))
    ]
    assert pace is not None
    assert pace["left_s"] == 0


async def test_a_contest_comes_and_goes_while_another_is_played(tmp_path: Path) -> None:
    async with running(tmp_path, [spec("friday", 2000)]) as here:
        playing = asyncio.create_task(here.play_all("friday"))
        guest = await here.host.add(spec("guest", listed=False))
        with pytest.raises(ValueError, match=r"^two contests are called guest$"):
            await here.host.add(spec("guest"))
        assert await here.play_all("guest") == ["BYE reason=finished"] * 2
        await here.host.remove("guest")
        assert guest.reason == "finished"
        answer = await here.play("guest", "ann")
        assert answer.startswith("ERROR contest no contest guest here; there are: friday")
        await here.host.remove("friday")
        assert await playing == ["BYE reason=stopped"] * 2
    assert here.results("guest") == ("finished", 4)


async def test_a_contest_that_is_added_while_others_begin(tmp_path: Path) -> None:
    adding: list[asyncio.Future[object]] = []

    def plan(host: Host, _: Log) -> None:
        adding.extend(asyncio.ensure_future(host.add(spec(name))) for name in ("sunday", "guest"))

    async with running(tmp_path, [spec("friday"), spec("sunday")], plan=plan) as here:
        twice, guest = await asyncio.gather(*adding, return_exceptions=True)
        assert str(twice) == "two contests are called sunday"
        assert guest is here.host.contests["guest"]
        for name in ("friday", "sunday", "guest"):
            assert await here.play_all(name) == ["BYE reason=finished"] * 2
        host = here.host
    with pytest.raises(ArenaError, match=r"^the server is stopping$"):
        await host.add(spec("late"))


class Measuring(BotPlaces):
    """A place of the bot ann, who uses a millisecond more in each game; it takes until `measured`."""

    bots: Collection[str] = frozenset({"ann"})

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.measured = asyncio.Event()

    def measures(self, game: str) -> bool:
        return game != "g1"

    async def used_in(self, game: str) -> list[UsageRecord]:
        self.asked.append(game)
        await self.measured.wait()
        return [UsageRecord(1, len(self.asked), 0, None)]


async def test_a_record_has_what_bots_used_before_it_is_stored(tmp_path: Path) -> None:
    place = Measuring()
    async with running(tmp_path, [spec("friday", 4)]) as here:
        here.host.contests["friday"].attach(place)
        playing = asyncio.create_task(here.play_all("friday"))
        await here.until(lambda: place.asked == ["g2"])
        assert here.results("friday") == ("running", 1)
        assert not playing.done()
        place.measured.set()
        assert await playing == ["BYE reason=finished"] * 2
    with Results(here.database) as results:
        records = dict(results.games.records(results.contest("friday")))
    usage = {game: decode(record).usage for game, record in records.items() if record is not None}
    assert usage == {"g1": ()} | {f"g{game}": (UsageRecord(1, game - 1, 0, None),) for game in (2, 3, 4)}


@pytest.mark.soak
async def test_no_record_follows_the_failure_of_its_contest(tmp_path: Path) -> None:
    place = Measuring()
    async with running(tmp_path, [spec("friday")], failure="the disk is full") as here:
        hosted = here.host.contests["friday"]
        hosted.attach(place)
        playing = asyncio.create_task(here.play_all("friday"))
        await here.until(lambda: place.asked == ["g2"])
        hosted.fail(ArenaError("the disk is full"))
        place.measured.set()
        await playing
    assert here.results("friday")[1] == 1


@pytest.mark.soak
async def test_a_contest_is_removed_in_the_middle(tmp_path: Path) -> None:
    async with running(tmp_path, [spec("friday"), spec("long", 1000)]) as here:
        playing = asyncio.create_task(here.play_all("long"))
        await here.until(lambda: " over contest=long game=g3 " in here.log)
        await here.host.remove("long")
        assert await playing == ["BYE reason=stopped"] * 2
        assert await here.play_all("friday") == ["BYE reason=finished"] * 2
    status, games = here.results("long")
    assert status == "stopped"
    assert games >= 3


async def test_a_contest_that_raises_is_closed_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = Contest.feed

    def faulty(contest: Contest, event: Event, now: int) -> None:
        if contest.name == "broken" and event == Stored("g3"):
            raise RuntimeError("a bug")
        feed(contest, event, now)

    monkeypatch.setattr(Contest, "feed", faulty)
    async with running(tmp_path, [spec("broken", 40), spec("sound", 40)]) as here:
        broken, other, *sound = await here.play_all("broken", "sound")
        assert sound == ["BYE reason=finished"] * 2
        assert not broken.startswith("BYE")
        assert not other.startswith("BYE")
        failure = here.host.contests["broken"].failure
        assert str(failure) == "contest broken was closed at a fault of the server's own; the log has it"
        assert " error crash contest=broken trace='RuntimeError: a bug'" in here.log
        assert " error contest-failed contest=broken error=" in here.log
    monkeypatch.setattr(Contest, "feed", feed)
    # Its journal is intact: the contest goes on from there.
    assert here.results("broken") == ("running", 3)
    async with running(tmp_path, [spec("broken", 40)]) as again:
        assert await again.play_all("broken") == ["BYE reason=finished"] * 2
    assert again.results("broken") == ("finished", 40)


@pytest.mark.soak
async def test_the_server_fails_with_its_last_contest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(contest: Contest, event: Event, now: int) -> None:
        raise RuntimeError("a bug")

    async with running(tmp_path, [spec("friday"), spec("saturday")], "^contest friday was closed") as here:
        monkeypatch.setattr(Contest, "feed", faulty)
        first, last = here.host.contests.values()
        first.feed(Tick())
        assert not here.host.leaving
        last.feed(Tick())
        assert here.host.leaving


@pytest.mark.soak
async def test_a_database_that_does_not_open(tmp_path: Path) -> None:
    (tmp_path / "arena.db").write_text("no database at all, and longer than a hundred bytes " * 10)
    async with running(tmp_path, [spec("friday"), spec("saturday")], "damaged") as here:
        await here.until(lambda: here.host.leaving)


@pytest.mark.soak
async def test_a_folder_of_logs_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    logged = spec("friday", bot_logs=tmp_path / "file")
    async with running(tmp_path, [logged], "^bot logs: .*file/friday: cannot be used: File exists") as here:
        await here.until(lambda: here.host.leaving)


class Pages(TranscriptReader):
    """A reader of transcripts that keeps the texts of its ends."""

    def __init__(self) -> None:
        self.closings: list[str | None] = []

    def shown(self, transcript: Transcript, end: int) -> None:
        pass

    def closed(self, problem: str | None) -> None:
        self.closings.append(problem)


@pytest.mark.parametrize(
    ("failure", "shown"),
    [(StoreError("arena.db: the disk is full"), HIDDEN), (PublicError("too many games"), "too many games")],
)
async def test_pages_show_an_end_without_the_path(tmp_path: Path, failure: ArenaError, shown: str) -> None:
    pages = Pages()
    async with running(tmp_path, [spec("friday")], f"^{failure}$") as here:
        hosted = here.host.contests["friday"]
        hosted.attach(pages)
        hosted.fail(failure)
        await here.until(lambda: here.host.leaving)
    assert pages.closings[0] == shown


@pytest.mark.soak
async def test_a_contest_that_cannot_begin_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(hosted: ContestRun, *_: object) -> None:
        raise StoreError("no room for it")

    async with running(tmp_path, [spec("friday")]) as here:
        with monkeypatch.context() as patch:
            patch.setattr(ContestRun, "start", fail)
            with pytest.raises(StoreError, match=r"^no room for it$"):
                await here.host.add(spec("guest"))
        assert list(here.host.contests) == ["friday"]
        assert await here.play_all("friday") == ["BYE reason=finished"] * 2


@pytest.mark.soak
async def test_the_inner_port_is_not_encrypted(tmp_path: Path) -> None:
    def cipher() -> None:
        raise AssertionError("not for the inner port")

    async with running(tmp_path, [spec("friday")], cipher=cipher) as here:
        reader, writer = await asyncio.open_connection("127.0.0.1", here.inner)
        assert await reader.readline() == b"ARENA 1 arena/test\n"
        writer.close()


@pytest.mark.soak
async def test_a_contest_that_is_removed_twice(tmp_path: Path) -> None:
    async with running(tmp_path, [spec("friday")]) as here:
        await here.host.add(spec("guest", listed=False))
        await asyncio.gather(here.host.remove("guest"), here.host.remove("guest"))
        await here.host.remove("guest")
        assert list(here.host.contests) == ["friday"]
