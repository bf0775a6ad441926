"""The progress of a tournament: plain lines in a pipe, a live table in a terminal."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

from arena_cli import progress
from arena_cli.progress import Display, Speed


def report(done: int, plies: int, ended: str | None = None) -> dict[str, Any]:
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
    return {"done": done, "total": 8, "plies": plies, "connected": 2, "ended": ended, "standings": rows}


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
        "games 0/8, 0 plies/s, 2 bots connected",
        "games 0/8, 50 plies/s, 2 bots connected",
        "games 0/8, 50 plies/s, 2 bots connected",
        "games 2/8, 50 plies/s, 2 bots connected, ahead leads with 20 points",
        "games 3/8, 50 plies/s, 2 bots connected, ahead leads with 30 points",
        "games 4/8, 50 plies/s, 2 bots connected, ahead leads with 40 points",
        "games 8/8, 400 plies/s, 2 bots connected, ahead leads with 80 points",
    ]


def test_in_a_terminal_the_table_is_live(clock: Clock) -> None:
    console = screen(terminal=True)
    with Display("local", console) as shown:
        shown.report(report(2, 100))
        clock.now += 1
        shown.report(report(4, 400))
        shown.say("bot behind ended with status 1; starting it again")
    seen = text(console)
    assert "4/8 games" in seen
    assert "300 plies/s" in seen
    assert "ahead" in seen
    assert "quit 1" in seen
    assert "bot behind ended with status 1; starting it again" in seen


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
