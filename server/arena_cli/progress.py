"""Progress of long runs on stderr: live in a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from arena_cli.results import PLAIN_WIDTH, standings_table

#: Seconds before the next plain line: the first lines come soon, the last interval repeats.
PLAIN_S = (1.0, 2.0, 5.0)
#: Plies per second are averaged over this many seconds.
WINDOW_S = 3.0
REFRESHES_PER_SECOND = 8
#: The live table has to fit on the screen; the final table has all rows.
ROWS = 20


class Speed:
    """Plies per second over a sliding window."""

    def __init__(self, window: float = WINDOW_S) -> None:
        self._window = window
        self._samples: deque[tuple[float, int]] = deque()

    def at(self, now: float, plies: int) -> float:
        """Add the count at `now` (seconds) and return the speed."""
        self._samples.append((now, plies))
        while len(self._samples) > 2 and self._samples[0][0] < now - self._window:
            self._samples.popleft()
        then, before = self._samples[0]
        return (plies - before) / (now - then) if now > then else 0.0


class Display:
    """Shows the progress of a tournament (a `ProgressListener`); use it in a `with` statement."""

    def __init__(self, name: str, console: Console | None = None) -> None:
        self._name = name
        self._console = console or Console(stderr=True, highlight=False)
        self._live: Live | None = None
        #: Whether the server has reported on the contest.
        self.begun = False
        self._speed = Speed()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("games"),
            TextColumn("{task.fields[speed]:,.0f} plies/s"),
            TimeElapsedColumn(),
            console=self._console,
        )
        self._task = self._bar.add_task(name, total=None, speed=0.0)
        self._next_line = 0.0
        self._intervals = chain(PLAIN_S, repeat(PLAIN_S[-1]))
        if not self._console.is_terminal:
            self._console.width = PLAIN_WIDTH

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Show `what` while the body of the `with` statement runs."""
        if self._console.is_terminal:
            with self._console.status(what):
                yield
        else:
            self.say(what)
            yield

    def say(self, line: str) -> None:
        """Print a line; in a terminal it appears above the live table."""
        self._console.print(line, markup=False, soft_wrap=True)

    def report(self, progress: dict[str, Any]) -> None:
        """Show a report of the server (the fields of `core.standings.Progress`)."""
        self.begun = True
        now = time.monotonic()
        speed = self._speed.at(now, progress["plies"])
        self._bar.update(self._task, completed=progress["done"], total=progress["total"], speed=speed)
        if self._console.is_terminal:
            self._show(progress)
        elif now >= self._next_line or progress["ended"]:
            self._next_line = now + next(self._intervals)
            self.say(_line(progress, speed))

    def _show(self, progress: dict[str, Any]) -> None:
        if self._live is None:
            # transient: the final table on stdout replaces it.
            self._live = Live(console=self._console, refresh_per_second=REFRESHES_PER_SECOND, transient=True)
            self._live.start()
        rows = progress["standings"][:ROWS]
        self._live.update(Group(self._bar, standings_table(rows)))


def _line(progress: dict[str, Any], speed: float) -> str:
    leader = progress["standings"][0]
    lead = f", {leader['bot']} leads with {leader['points']:,} points" if leader["games"] else ""
    return (
        f"games {progress['done']}/{progress['total']}, {speed:,.0f} plies/s, "
        f"{progress['connected']} bots connected{lead}"
    )
