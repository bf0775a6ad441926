"""Whom a contest waits for: the words, what is logged, and what spectators may see."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import cast

import pytest
from tests.slices import all_of

from arena_server.core.life import HOLDS, WAITING, Hold
from arena_server.core.log_events import ConnectionLost, GameVoided, LogEvent, LoggedIn
from arena_server.core.overview import Awaited
from arena_server.core.status import ContestStatus
from arena_server.host.log_events import ContestWaiting
from arena_server.host.waiting import (
    LOOK_S,
    WaitingList,
    holds_json,
    holds_line,
    waiting_json,
    waiting_line,
)

S = 1_000_000_000
#: 2026-11-23 12:30:00 UTC.
NOON = 1_795_437_000.0
ANN = Awaited("ann", "never-connected", None, 0)
BOB = Awaited("bob", "probation", None, 3)


@all_of(
    ("awaited", "last_seen", "text"),
    [
        (ANN, None, "never connected"),
        (Awaited("a", "away", 8380 * S, 0), "2026-11-23T12:03:00Z", "last seen 12:03 UTC"),
        (Awaited("a", "away", -80_000 * S, 0), "2026-11-22T11:30:00Z", "last seen 2026-11-22 11:30 UTC"),
        (Awaited("a", "away", None, 0), None, "not connected since the server started"),
        (
            BOB,
            None,
            "on probation: paired no more after 3 faulty games, until `arena admin lift bob`",
        ),
        (
            Awaited("bob", "probation", 10_000 * S, 1),
            "2026-11-23T12:30:00Z",
            "on probation: paired no more after 1 faulty game, until `arena admin lift bob`",
        ),
        (
            Awaited("bob", "probation", 10_000 * S, 0, 1),
            "2026-11-23T12:30:00Z",
            "on probation: paired no more after 1 faulty validation game, until `arena admin lift bob`",
        ),
        (
            Awaited("bob", "probation", 10_000 * S, 1, 3),
            "2026-11-23T12:30:00Z",
            "on probation: paired no more after 3 faulty validation games, until `arena admin lift bob`",
        ),
        (
            Awaited("bob", "probation", 10_000 * S, 3, returns=True),
            "2026-11-23T12:30:00Z",
            "on probation: paired no more after 3 faulty games, "
            "until a validation game without a fault, or `arena admin lift bob`",
        ),
        (Awaited("a", "kicked", None, 0), None, "kicked by the organiser, until `arena admin lift a`"),
    ],
)
def test_the_words(awaited: Awaited, last_seen: str | None, text: str) -> None:
    assert waiting_json([awaited], 10_000 * S, NOON) == [
        {"bot": awaited.name, "reason": awaited.reason, "last_seen": last_seen, "text": text}
    ]


def test_a_line_names_five() -> None:
    assert waiting_line([]) == ""
    bots = [{"bot": f"b{number}", "text": "kicked"} for number in range(7)]
    assert waiting_line(bots[:2]) == "waiting for b0 (kicked), b1 (kicked)"
    assert waiting_line(bots).endswith(", b4 (kicked) and 2 more")


@all_of(
    ("hold", "until", "text"),
    [
        (Hold("not-begun", here=1, quorum=4), None, "not begun: 1 of 4 bots are there"),
        (Hold("paused"), None, "paused by the organiser"),
        (Hold("closed", 1_795_437_000_000), "2026-11-23T12:30:00Z", "closed until 2026-11-23 12:30 UTC"),
        (Hold("closed"), None, "closed by its hours"),
        (Hold("draining"), None, "draining: the contest stops once no game runs"),
        (Hold("time-up"), None, "the time of the contest is over: it ends once no game runs"),
        (Hold("drawing"), None, "a round is being drawn"),
        (Hold("waiting"), None, "waiting for ann (never connected)"),
    ],
)
def test_the_words_of_a_hold(hold: Hold, until: str | None, text: str) -> None:
    assert hold.kind in HOLDS
    plain = holds_json([hold], waiting_json([ANN], 0, NOON))
    assert plain == [{"hold": hold.kind, "until": until, "text": text}]
    assert holds_line(plain * 2) == f"{text}; {text}"


class ScriptedStatus:
    """What the list reads of a contest."""

    def __init__(self) -> None:
        self.list: tuple[Awaited, ...] = ()
        self.idle = True

    def held(self) -> tuple[tuple[Hold, ...], tuple[Awaited, ...]]:
        return ((Hold(WAITING),) if self.list else ()), self.list


class Looked:
    """A list that is read once a second."""

    def __init__(self, delay_s: int = 0) -> None:
        self.status = ScriptedStatus()
        self.logged: list[LogEvent] = []
        self.list = WaitingList(cast(ContestStatus, self.status), delay_s * S, self.logged.append)
        self.now = 0

    def look(self, seconds: int, *waiting: Awaited, idle: bool = True) -> list[LogEvent]:
        """What is logged in this many seconds."""
        self.status.list, self.status.idle = waiting, idle
        for _ in range(seconds):
            self.list.look(self.now, NOON)
            self.now += S
        events, self.logged[:] = list(self.logged), []
        return events


def test_the_log_has_a_list_once_when_it_stands_and_no_game_runs() -> None:
    looked = Looked()
    assert looked.look(20, ANN, idle=False) == []
    assert looked.look(1, ANN) == []
    assert looked.look(100, ANN) == [ContestWaiting(1, "waiting for ann (never connected)")]
    assert looked.look(100) == []


def test_the_log_has_a_changed_list_after_ten_seconds() -> None:
    looked = Looked()
    looked.look(2, ANN)
    assert looked.look(9, ANN, BOB) == []
    (event,) = looked.look(9, ANN, BOB)
    assert isinstance(event, ContestWaiting)
    assert event.bots == 2


def test_a_list_that_changes_at_every_look_is_not_logged() -> None:
    looked = Looked()
    for number in range(30):
        assert looked.look(1, Awaited("ann", "away", number, 0)) == []


def test_spectators_see_what_the_list_was_a_delay_ago() -> None:
    looked = Looked(delay_s=5)
    looked.look(10, ANN)
    looked.look(4, ANN, BOB)  # probation tells of a game that they have not seen to its end
    assert looked.list.shown(looked.now) == ((Hold("waiting"),), (ANN,))
    looked.look(1, ANN, BOB)
    assert looked.list.shown(looked.now).waiting == (ANN, BOB)
    looked.look(100)
    assert looked.list.shown(looked.now) == ((), ())


def test_before_the_delay_has_passed_once_spectators_see_nobody() -> None:
    looked = Looked(delay_s=5)
    looked.look(3, ANN)
    assert looked.list.shown(looked.now) == ((), ())
    assert looked.list.shown(5 * S).waiting == (ANN,)


def login(conn: int) -> LoggedIn:
    return LoggedIn(conn, "here:1", "ann", None, resumed=False, slot=1)


class ScriptedLoop:
    """Its timers are called by the test."""

    def __init__(self) -> None:
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def call_later(self, seconds: float, call: Callable[[], None]) -> ScriptedLoop:
        self.timers.append((seconds, call))
        return self

    def cancel(self) -> None:
        """As of a timer."""


def test_who_logs_in_is_not_awaited_until_the_next_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short game is over before: the page said of its bots that they had never connected."""
    loop, looked = ScriptedLoop(), Looked()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: loop)
    looked.status.list = (ANN,)
    looked.list.happened(login(1))  # before the list is read at all
    looked.list.started()
    looked.status.list = ()
    for conn in (1, 2):
        looked.list.happened(login(conn))
    looked.list.happened(GameVoided("g1", "organiser", again=False))
    (_, interval), (soon, read) = loop.timers
    assert soon < LOOK_S
    read()
    assert looked.list.shown(time.monotonic_ns()) == ((), ())
    looked.list.happened(ConnectionLost(1, "here:1", "ann", "it is gone"))
    assert len(loop.timers) == 3
    interval()
    assert len(loop.timers) == 4
    looked.list.finished("the disk is full")
    looked.list.happened(login(3))
    assert len(loop.timers) == 4
