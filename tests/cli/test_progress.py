"""The progress of a tournament: plain lines in a pipe, a live table in a terminal."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console

from arena_cli import progress
from arena_cli.progress import Display, Speed, TournamentDisplay
from arena_server.core.life import WAITING, Hold
from arena_server.host.waiting import holds_json


def report(
    done: int,
    plies: int,
    ended: str | None = None,
    connected: int = 2,
    waiting: Sequence[str] = (),
    bots: int = 2,
) -> dict[str, Any]:
    """A report of the server."""
    rows = [
        {
            "rank": 1,
            "bot": "ahead",
            "points": 10 * done,
            "games": done,
            "mean": 10.0,
            "wins": 0,
            "faults": {},
        },
        {
            "rank": 2,
            "bot": "behind",
            "points": 0,
            "games": done,
            "mean": 0.0,
            "wins": 0,
            "faults": {"quit": 1},
        },
    ]
    rows += ({**rows[1], "bot": f"more-{number}"} for number in range(bots - 2))
    return {
        "done": done,
        "total": 8,
        "plies": plies,
        "connected": connected,
        "waiting": (absent := [{"bot": name, "text": "never connected"} for name in waiting]),
        "holds": holds_json([Hold(WAITING)] if waiting else [], absent),
        "ended": ended,
        "scoring": "points",
        "standings": rows,
    }


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def screen(*, terminal: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=100, highlight=False)


def text(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", console.file.getvalue())


def test_in_a_pipe_plain_lines_come_less_and_less_often(clock: Clock) -> None:
    console = screen(terminal=False)
    with Display("local", console) as shown, shown.step("compiling engines ..."):
        for second in range(20):
            clock.now = 100.0 + second
            shown.report(report(second // 4, 50 * second))
        shown.report(report(8, 2000, ended="finished"))
    assert text(console).splitlines() == [
        "compiling engines ...",
        "games 0/8, 0 plies/s, ETA -, 2 of 2 bots connected",
        "games 0/8, 50 plies/s, ETA -, 2 of 2 bots connected",
        "games 0/8, 50 plies/s, ETA -, 2 of 2 bots connected",
        "games 2/8, 50 plies/s, ETA 0:24, 2 of 2 bots connected, ahead leads with 20 points",
        "games 3/8, 50 plies/s, ETA 0:22, 2 of 2 bots connected, ahead leads with 30 points",
        "games 4/8, 50 plies/s, ETA 0:18, 2 of 2 bots connected, ahead leads with 40 points",
        "games 8/8, finished, ahead leads with 80 points",
    ]


def test_a_line_names_the_bots_that_are_missing_and_comes_when_they_change(clock: Clock) -> None:
    console = screen(terminal=False)
    with Display("local", console) as shown:
        shown.report(report(0, 0, connected=0, waiting=[f"b{number}" for number in range(7)], bots=7))
        clock.now += 0.5
        shown.report(report(0, 0, connected=6, waiting=["b6"], bots=7))  # the lines have a least distance
        clock.now += 0.5
        shown.report(report(0, 0, connected=6, waiting=["b6"], bots=7))
        clock.now += 1.0
        shown.report(report(0, 0, connected=7, bots=7))
    assert text(console).splitlines() == [
        "games 0/8, 0 plies/s, ETA -, 0 of 7 bots connected, waiting for "
        + ", ".join(f"b{number} (never connected)" for number in range(5))
        + " and 2 more",
        "games 0/8, 0 plies/s, ETA -, 6 of 7 bots connected, waiting for b6 (never connected)",
        "games 0/8, 0 plies/s, ETA -, 7 of 7 bots connected",
    ]


@pytest.mark.parametrize("json", [False, True])
def test_the_address_is_printed_like_that_of_serve(capsys: pytest.CaptureFixture[str], json: bool) -> None:
    Display("local", screen(terminal=False), json=json).listening("127.0.0.1:2006")
    out, err = capsys.readouterr()
    assert (err if json else out) == "listening on 127.0.0.1:2006\n"
    assert (out if json else err) == ""


@pytest.mark.parametrize(
    ("row", "ahead"),
    [({"wins": 1}, "1 win"), ({"wins": 1200}, "1,200 wins"), ({"wins": 3, "score": 1.5}, "a score of 1.5")],
)
def test_who_leads_is_said_by_what_the_table_ranks_by(
    row: dict[str, float], ahead: str, clock: Clock
) -> None:
    progress = report(3, 30) | {"scoring": "wins"}
    progress["standings"][0] |= row
    console = screen(terminal=False)
    with Display("won", console) as shown:
        shown.report(progress)
    assert text(console).rstrip().endswith(f", ahead leads with {ahead}")


def test_of_an_open_contest_the_pace_is_said(clock: Clock) -> None:
    console = screen(terminal=False)
    with Display("ladder", console) as shown:
        shown.report(report(5, 50) | {"total": None})
        clock.now += 60
        shown.report(report(25, 650) | {"total": None})
    assert text(console).splitlines() == [
        "games 5, 0 plies/s, ETA -, 2 of 2 bots connected, ahead leads with 50 points",
        "games 25, 10 plies/s, 1,200 games an hour, 2 of 2 bots connected, ahead leads with 250 points",
    ]


def test_in_a_terminal_the_table_is_live(clock: Clock) -> None:
    console = screen(terminal=True)
    with Display("local", console) as shown:
        shown.report(report(2, 100))
        clock.now += 1
        shown.report(report(4, 400, connected=1, waiting=["behind"]))
        shown.say("bot behind ended with status 1; starting it again")
    seen = text(console)
    assert "4/8 games" in seen
    assert "ETA 0:02" in seen
    assert "1 of 2 bots connected, waiting for behind (never connected)" in seen
    assert "300 plies/s" in seen
    assert "ahead" in seen
    assert "quit 1" in seen
    assert "bot behind ended with status 1; starting it again" in seen


@pytest.mark.parametrize("kept", [True, False])
def test_the_way_to_keep_the_page_is_said_once(monkeypatch: pytest.MonkeyPatch, kept: bool) -> None:
    console = screen(terminal=True)
    monkeypatch.setattr(TournamentDisplay, "show_outcome", lambda _: None)
    with TournamentDisplay("club", "sqlite:///x.db", console) as shown:
        shown.web("http://127.0.0.1:2080")
        shown.report(report(8, 100, ended="finished"))
        if kept:
            shown.page_kept()
        shown.page_gone()
    when = "the page stays at http://127.0.0.1:2080 until Ctrl-C" if kept else "the page has ended"
    way = "to keep it as files: arena site FOLDER --contest club --database sqlite:///x.db"
    assert f"{when}; {way}\n" in text(console)
    assert text(console).count("arena site") == 1


def test_the_output_of_bots_is_not_markup(clock: Clock) -> None:
    console = screen(terminal=False)
    with Display("local", console) as shown:
        shown.say("  mine: [bold]Traceback[/nonsense] " + "x" * 200)
    assert text(console) == "  mine: [bold]Traceback[/nonsense] " + "x" * 200 + "\n"


def test_speed_is_that_of_the_last_seconds() -> None:
    speed = Speed(window=3.0)
    assert speed.at(0.0, 0) == 0.0
    assert speed.at(1.0, 100) == 100.0
    for second in range(2, 20):
        last = speed.at(float(second), 100)
    assert last == 0.0
