"""Progress of long runs on stderr: live in a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from types import TracebackType
from typing import Any, Self

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from arena_cli.options import DEFAULT_DATABASE, print_json
from arena_cli.results import (
    open_results,
    print_standings,
    standings_json,
    standings_table,
    unplayed_message,
)
from arena_cli.tables import PLAIN_WIDTH
from arena_server.host.waiting import holds_line
from arena_server.places.supervisor import ProgressListener
from arena_server.stats.pace import GamePace, pace_text

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
        # Two samples are kept, however old: a speed needs both.
        while len(self._samples) > 2 and self._samples[0][0] < now - self._window:
            self._samples.popleft()
        then, before = self._samples[0]
        return (plies - before) / (now - then) if now > then else 0.0


class Display(ProgressListener):
    """Shows the progress of a tournament; use it in a `with` statement.

    The address goes to stdout, or to stderr too if stdout is for JSON.
    """

    def __init__(self, name: str, console: Console | None = None, *, json: bool = False) -> None:
        self._name = name
        self._console = console or Console(stderr=True, highlight=False)
        self._json = json
        self._live: Live | None = None
        #: The last report of the server; None before the contest has begun.
        self.last: dict[str, Any] | None = None
        self._speed = Speed()
        self._pace = GamePace()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("games"),
            TextColumn("{task.fields[speed]:,.0f} plies/s"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[pace]}"),
            console=self._console,
        )
        self._task = self._bar.add_task(name, total=None, speed=0.0, pace=pace_text(None))
        self._next_line = self._last_line = 0.0
        self._holds: list[dict[str, Any]] = []
        self._intervals = chain(PLAIN_S, repeat(PLAIN_S[-1]))
        if not self._console.is_terminal:
            # A log file has no width, and rich would break lines at 80.
            self._console.width = PLAIN_WIDTH

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Remove the live table."""
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

    def listening(self, address: str) -> None:
        """Print the server's address as `arena serve` does."""
        typer.echo(f"listening on {address}", err=self._json)

    def web(self, url: str) -> None:
        """Print the address of the web page, likewise."""
        typer.echo(f"web on {url}", err=self._json)

    def play_link(self, name: str, url: str) -> None:
        """Print the link of a person; it is not the progress of the contest, and goes where `web` goes."""
        typer.echo(f"{name} plays at {url}", err=self._json)

    def report(self, progress: dict[str, Any]) -> None:
        """Show a report of the server, see `arena_server.places.reporter`."""
        self.last = progress
        now = time.monotonic()
        speed = self._speed.at(now, progress["plies"])
        self._pace.see(now, progress["done"])
        total = progress["total"]
        left = None if total is None else total - progress["done"]
        pace = pace_text(self._pace.plain(now, left))
        if self._console.is_terminal:
            self._bar.update(self._task, completed=progress["done"], total=total, speed=speed, pace=pace)
            self._show(progress)
        elif self._line_due(now, progress):
            self.say(_line(progress, speed, pace))

    def _line_due(self, now: float, progress: dict[str, Any]) -> bool:
        """Whether to print a plain line: at intervals, at the end, and when another thing holds games."""
        regular = now >= self._next_line
        # A bot that comes and goes would print a line each time.
        changed = progress["holds"] != self._holds and now >= self._last_line + PLAIN_S[0]
        if not (regular or changed or progress["ended"]):
            return False
        if regular:
            self._next_line = now + next(self._intervals)
        self._last_line, self._holds = now, progress["holds"]
        return True

    def _show(self, progress: dict[str, Any]) -> None:
        if self._live is None:
            # transient: the final table on stdout replaces it.
            self._live = Live(console=self._console, refresh_per_second=REFRESHES_PER_SECOND, transient=True)
            self._live.start()
        table = standings_table("", progress["standings"][:ROWS]).as_rich()
        self._live.update(Group(self._bar, Text(_connected(progress)), table))


class TournamentDisplay(Display):
    """The display of a tournament with results in `database`; the final table is printed on stdout once."""

    def __init__(
        self, name: str, database: str, console: Console | None = None, *, json: bool = False
    ) -> None:
        super().__init__(name, console, json=json)
        self._database = database
        #: Where the server and its page are; None before it has said so.
        self.address: str | None = None
        self._url: str | None = None
        self._shown = self._kept = False

    def listening(self, address: str) -> None:
        """Print the server's address."""
        self.address = address
        super().listening(address)

    @property
    def url(self) -> str | None:
        """The address of the web page."""
        return self._url

    def web(self, url: str) -> None:
        """Print the address of the web page."""
        self._url = url
        super().web(url)

    def page_kept(self) -> None:
        """Print the outcome, and how long the page stays."""
        self._kept = True
        self.show_outcome()
        assert self.last is not None
        if self.last["ended"] != "finished":
            self.say(unplayed_message(self.last))
        self.say(f"the page stays at {self._url} until Ctrl-C; {self._way_to_store_it()}")

    def show_outcome(self) -> None:
        """Print the standings as they are, once; nothing if the contest has not begun."""
        if self._shown or self.last is None:
            return
        self._shown = True
        self.stop()
        if self._json:
            print_json(self.outcome())
            return
        with open_results(self._database) as results:
            print_standings(results, results.contest(self._name))

    def outcome(self) -> dict[str, Any]:
        """The standings as JSON types, and what was not played."""
        last = self.last or {"ended": "finished"}
        unplayed = {key: last[key] for key in ("missing", "unplayed") if last["ended"] != "finished"}
        with open_results(self._database) as results:
            return standings_json(results, results.contest(self._name)) | unplayed

    def page_gone(self) -> None:
        """Say in a terminal that the page has gone, and how to store it, unless it was kept."""
        if self._url is not None and self._console.is_terminal and not self._kept:
            self.say(f"the page has ended; {self._way_to_store_it()}")

    def _way_to_store_it(self) -> str:
        database = "" if self._database == DEFAULT_DATABASE else f" --database {self._database}"
        return f"to keep it as files: arena site FOLDER --contest {self._name}{database}"


def _line(progress: dict[str, Any], speed: float, pace: str) -> str:
    leader = progress["standings"][0]
    lead = f", {leader['bot']} leads with {_sum(leader, progress['scoring'])}" if leader["games"] else ""
    total = progress["total"]
    games = f"games {progress['done']}" + ("" if total is None else f"/{total}")
    if progress["ended"]:
        return f"{games}, {progress['ended']}{lead}"
    return f"{games}, {speed:,.0f} plies/s, {pace}, {_connected(progress)}{lead}"


def _sum(row: dict[str, Any], scoring: str) -> str:
    """What the table ranks by: a format may have a score of its own."""
    if row.get("score") is not None:
        return f"a score of {row['score']:g}"
    if scoring == "wins":
        return f"{row['wins']:,} win{'' if row['wins'] == 1 else 's'}"
    return f"{row['points']:,} points"


def _connected(progress: dict[str, Any]) -> str:
    """Return how many bots are connected, and why no game is offered, or not all."""
    text = f"{progress['connected']} of {len(progress['standings'])} bots connected"
    holds = holds_line(progress["holds"])
    return f"{text}, {holds}" if holds else text
