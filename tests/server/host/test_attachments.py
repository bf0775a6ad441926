"""What is attached to every run of a contest: its draws, what its bots used, its pace, its readers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.server.records import game

from arena_protocol.record import VOID, GameRecord, UsageRecord
from arena_server.core.contest import Contest
from arena_server.core.effects import ExcludeWorker, SetFrozen, StartDraw, Store
from arena_server.core.events import DrawDone, Event
from arena_server.core.facts import Drawn
from arena_server.core.formats.base import Draw
from arena_server.core.log_events import LogEvent
from arena_server.core.overview import Progress
from arena_server.core.transcript import Transcript
from arena_server.host import attachments
from arena_server.host.attachments import DrawRunner, PaceLog, UsageMeter
from arena_server.host.log_events import ContestPace
from arena_server.host.observers import Attachment, BotPlaces, Errand, TranscriptReader
from arena_server.terms.timetable import Timetable

DRAWN = Drawn(1, 1, 1, (("ann", "bob"),))


@dataclass(frozen=True, slots=True)
class Round(Draw):
    """A draw that raises, or gives DRAWN."""

    problem: str = ""

    def run(self) -> Drawn:
        if self.problem:
            raise ValueError(self.problem)
        return DRAWN


@pytest.mark.parametrize("errand", [SetFrozen("ann", 1, True, 1), ExcludeWorker("w1"), StartDraw(Round())])
def test_an_attachment_carries_out_nothing_that_is_not_its_own(errand: Errand) -> None:
    assert not Attachment().carry_out(errand)
    if not isinstance(errand, StartDraw):
        assert not DrawRunner(lambda _: None, lambda _: None).carry_out(errand)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("draw", "over", "fed", "raised"),
    [
        (Round(), False, [DrawDone(DRAWN)], []),
        (Round(), True, [], []),
        (Round("no round"), False, [], ["no round"]),
    ],
    ids=["drawn", "over meanwhile", "fails"],
)
async def test_a_draw(draw: Draw, over: bool, fed: list[Event], raised: list[str]) -> None:
    events: list[Event] = []
    crashes: list[Exception] = []
    runner = DrawRunner(events.append, crashes.append)
    assert runner.carry_out(StartDraw(draw))
    if over:
        runner.finished(None)
    assert runner._drawing is not None
    await runner._drawing
    assert (events, list(map(str, crashes))) == (fed, raised)
    await runner.detached()


class Place(BotPlaces):
    """Measures that its bots have used this much, once it may."""

    def __init__(self, *used: int) -> None:
        self.used = used
        self.may = asyncio.Event()

    async def used_in(self, game: str) -> list[UsageRecord]:
        await self.may.wait()
        return [UsageRecord(seat, seat, 0, None) for seat in self.used]


@pytest.mark.asyncio
async def test_a_record_gets_what_all_places_measured_by_seat() -> None:
    stored: list[Store] = []
    meter, places = UsageMeter(stored.append), [Place(2, 3), Place(1)]
    meter.measure(Store("g1", game(1)), places)
    assert stored == []
    for place in places:
        place.may.set()
    while not stored:
        await asyncio.sleep(0)
    (store,) = stored
    assert [each.seat for each in store.record.usage] == [1, 2, 3]


@pytest.mark.asyncio
async def test_nothing_is_stored_once_the_contest_is_detached() -> None:
    stored: list[Store] = []
    meter, place = UsageMeter(stored.append), Place(1)
    meter.measure(Store("g1", game(1)), [place])
    await asyncio.sleep(0)
    await meter.detached()
    place.may.set()
    while meter._measuring:
        await asyncio.sleep(0)
    assert stored == []


@pytest.mark.parametrize("ends", [[], [VOID], ["complete"], ["complete", VOID, "complete"]])
def test_the_pace_counts_results_and_no_void_games(ends: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(attachments, "time", SimpleNamespace(monotonic=lambda: now[0]))
    logged: list[LogEvent] = []
    known = Progress(0, 10, 0, 0, 0, 0, None, ())
    contest = SimpleNamespace(status=SimpleNamespace(progress=lambda: known))
    pace = PaceLog(cast(Contest, contest), Timetable(), logged.append)
    pace.started()
    for end in ends:
        now[0] += attachments.LOG_PACE_S
        pace.recorded(cast(GameRecord, SimpleNamespace(end=end)))
    results = sum(end != VOID for end in ends)
    assert sum(isinstance(event, ContestPace) for event in logged) == results
    found: dict[str, Any] | None = pace.pace(known)
    per_hour = None if not results else round(3600 * results / now[0], 1)
    assert (None if found is None else found["games_per_hour"]) == per_hour


@pytest.mark.asyncio
async def test_a_reader_goes_on_after_the_end_and_not_after_a_failure() -> None:
    class Reader(TranscriptReader):
        def __init__(self) -> None:
            self.closings: list[str | None] = []

        def shown(self, transcript: Transcript, end: int) -> None:
            raise AssertionError("no line is shown")

        def closed(self, problem: str | None) -> None:
            self.closings.append(problem)

    reader = Reader()
    reader.finished(None)
    assert reader.closings == []
    reader.finished("the disk is full")
    await reader.detached()
    assert reader.closings == ["the disk is full", None]
