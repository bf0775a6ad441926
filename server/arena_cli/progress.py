"""How far a long run is: a bar in a terminal, a plain line now and then elsewhere. It goes to stderr.

What a person sees of a running tournament: a live table in a terminal, plain lines elsewhere.

It goes to stderr; stdout is for the final table. It must not know: processes, the database.
"""

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
    TimeRemainingColumn,
)

from arena_cli.results import PLAIN_WIDTH, standings_table

#: Plain lines come at most this often.
GAMES_LINE_S = 5.0


class Counting:
    """Counts to `total`; use it in a `with` statement."""

    def __init__(self, what: str, total: int, console: Console | None = None) -> None:
        self._what = what
        self._total = total
        self._console = console or Console(stderr=True, highlight=False)
        self._bar = Progress(
            TextColumn(what),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task(what, total=total)
        self._next_line = time.monotonic() + GAMES_LINE_S

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def reach(self, count: int) -> None:
        """So many are done."""
        self._bar.update(self._task, completed=min(count, self._total))
        if not self._console.is_terminal and time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + GAMES_LINE_S
            self._console.print(f"{count:,} of {self._total:,} {self._what}", markup=False)


#: The seconds between plain lines: the first soon, the last of these again and again.
PLAIN_S = (1.0, 2.0, 5.0)
#: Plies a second are counted over the last so many seconds.
WINDOW_S = 3.0
REFRESHES_A_SECOND = 8
#: A live table must fit the screen; who plays for the last places is seen at the end.
ROWS = 20


class Speed:
    """Plies a second over a sliding window."""

    def __init__(self, window: float = WINDOW_S) -> None:
        self._window = window
        self._seen: deque[tuple[float, int]] = deque()

    def at(self, now: float, plies: int) -> float:
        """Note the count at `now` (seconds) and return the speed."""
        self._seen.append((now, plies))
        while len(self._seen) > 2 and self._seen[0][0] < now - self._window:
            self._seen.popleft()
        then, before = self._seen[0]
        return (plies - before) / (now - then) if now > then else 0.0


class Display:
    """Shows a tournament's progress; use it in a `with` statement (it is an `Audience`)."""

    def __init__(self, name: str, console: Console | None = None) -> None:
        self._name = name
        self._console = console or Console(stderr=True, highlight=False)
        self._live: Live | None = None
        #: Whether the contest has begun: the server has reported of it.
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
        self._pauses = chain(PLAIN_S, repeat(PLAIN_S[-1]))
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
        """Show that `what` is being done."""
        if self._console.is_terminal:
            with self._console.status(what):
                yield
        else:
            self.say(what)
            yield

    def say(self, line: str) -> None:
        """Print a line; in a terminal it stands above the live table."""
        self._console.print(line, markup=False, soft_wrap=True)

    def report(self, progress: dict[str, Any]) -> None:
        """Show how far the contest is; `progress` is a report of the server."""
        self.begun = True
        now = time.monotonic()
        speed = self._speed.at(now, progress["plies"])
        self._bar.update(self._task, completed=progress["done"], total=progress["total"], speed=speed)
        if self._console.is_terminal:
            self._show(progress)
        elif now >= self._next_line or progress["ended"]:
            self._next_line = now + next(self._pauses)
            self.say(_line(progress, speed))

    def _show(self, progress: dict[str, Any]) -> None:
        if self._live is None:
            # transient: the final table on stdout takes its place.
            self._live = Live(console=self._console, refresh_per_second=REFRESHES_A_SECOND, transient=True)
            self._live.start()
        rows = progress["standings"][:ROWS]
        self._live.update(Group(self._bar, standings_table(rows)))


def _line(progress: dict[str, Any], speed: float) -> str:
    """One plain line of progress."""
    leader = progress["standings"][0]
    ahead = f", {leader['bot']} leads with {leader['points']:,} points" if leader["games"] else ""
    return (
        f"games {progress['done']}/{progress['total']}, {speed:,.0f} plies/s, "
        f"{progress['connected']} bots connected{ahead}"
    )
