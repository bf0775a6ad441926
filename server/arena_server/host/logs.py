"""The server's log, and the events of the server itself; those of the contest are in `core/log_events.py`.

A thread writes the lines, so that a full pipe never blocks the event loop. Lines pass through a bounded
queue; those that do not fit are counted, and the count is logged.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields

from arena_server.core.log_events import LogEvent

#: Lines kept while the reader does not read, about 100 KiB; the oldest are dropped.
QUEUE_LINES = 1024
#: How long the end of the program waits for a reader that does not read.
CLOSE_TIMEOUT_S = 0.5


class LineWriter:
    """Writes lines to descriptor `fd` from a daemon thread; `write` never blocks. Call `close` last."""

    def __init__(self, fd: int, limit: int = QUEUE_LINES) -> None:
        self._fd = fd
        self._lines: deque[str] = deque()
        self._limit = limit
        self._dropped = 0
        self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name=f"lines-{fd}", daemon=True)
        self._thread.start()

    def write(self, line: str) -> None:
        """Queue one line, without its line end; if the queue is full its oldest line is dropped."""
        with self._changed:
            if len(self._lines) >= self._limit:
                self._lines.popleft()
                self._dropped += 1
            self._lines.append(line)
            self._changed.notify()

    def close(self, timeout: float = CLOSE_TIMEOUT_S) -> bool:
        """Write what is queued and end. Returns False if lines are left after `timeout` seconds."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (text := self._take()) is not None:
            data = text.encode("utf-8", "backslashreplace")
            # A contest goes on without a reader of its log.
            with suppress(OSError):
                while data:
                    data = data[os.write(self._fd, data) :]

    def _take(self) -> str | None:
        """Everything queued, as one text; None once closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._lines or self._closing)
            if not self._lines:
                return None
            lines = list(self._lines)
            if self._dropped:
                lines.insert(0, f"... {self._dropped} lines dropped: the reader was too slow")
            self._lines.clear()
            self._dropped = 0
        return "\n".join([*lines, ""])


class Log:
    """One line an event, as `text` or as `json`."""

    LEVELS = ("debug", "info", "warning", "error")

    def __init__(self, writer: LineWriter, level: str = "info", form: str = "text") -> None:
        self._writer = writer
        self._threshold = self.LEVELS.index(level)
        self._format = FORMS[form]

    def write(self, event: LogEvent, contest: str | None = None) -> None:
        """Write the line of an event, unless its level is below the log's; with a `contest` it is named."""
        if self.LEVELS.index(event.level) >= self._threshold:
            self._writer.write(self._format(time.time(), event, contest))


def log_fields(event: LogEvent) -> dict[str, int | str | None]:
    """The fields of an event's line, in their order: numbers, booleans and None as they are, others as text.

    A tuple is `a,b`, a tuple in it `a:b`; an empty one has no field.
    """
    values = {each.name: getattr(event, each.name) for each in fields(event)}
    return {key: _value(value) for key, value in values.items() if value != ()}


def format_text(wall: float, event: LogEvent, contest: str | None = None) -> str:
    """`time level event key=value ...`: printable ASCII on one line, whatever a client sent."""
    named = {} if contest is None else {"contest": contest}
    pairs = (f"{key}={_word(str(value))}" for key, value in (named | log_fields(event) | named).items())
    return " ".join([_stamp(wall), event.level, event.event, *pairs])


def format_json(wall: float, event: LogEvent, contest: str | None = None) -> str:
    """One ASCII line with one JSON object: `time`, `level`, `event`, then the event's own fields."""
    head = {"time": _stamp(wall), "level": event.level, "event": event.event}
    named = {} if contest is None else {"contest": contest}
    return json.dumps(head | named | log_fields(event) | named).replace(
        "\x7f", "\\u007f"
    )  # the one that JSON leaves bare


FORMS: Mapping[str, Callable[[float, LogEvent, str | None], str]] = {"text": format_text, "json": format_json}


def _stamp(wall: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(wall)) + f".{int(wall * 1000) % 1000:03d}Z"


def _value(value: object) -> int | str | None:
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, tuple):
        return ",".join(":".join(each) if isinstance(each, tuple) else str(each) for each in value)
    return str(value)


def _word(text: str) -> str:
    simple = text.isascii() and text.isprintable() and " " not in text and text != ""
    return text if simple else ascii(text)


# -- events of the server itself


@dataclass(frozen=True, slots=True)
class BotUsage(LogEvent):
    """What a bot in a container got of the processor in a game (`places.cgroup.CpuTime`); None: not known."""

    event = "usage"
    game: str
    bot: str
    slot: int
    used_ms: int | None
    throttled_ms: int | None
    pressure_ms: int | None


@dataclass(frozen=True, slots=True)
class ContestShown(LogEvent):
    """Contest number `contest` of the database is over, and shown as it is."""

    event = "is-over"
    contest: int
    games: int
    ended: str
    text: str = "it is shown as it ended; another contest of this name begins by --new"


@dataclass(frozen=True, slots=True)
class ContestAdded(LogEvent):
    """The contest was added to the running server."""

    event = "contest-added"
    name: str
    by: str


@dataclass(frozen=True, slots=True)
class ContestTakenUp(LogEvent):
    """The server goes on with contest number `contest` of the database, which has `games` results."""

    event = "taking-up"
    contest: int
    games: int


@dataclass(frozen=True, slots=True)
class WorkerStandsOut(LogEvent):
    """A worker is unlike the others (`workers/comparison.py`); of equal workers none is named in 99 %."""

    event = "worker-stands-out"
    level = "warning"
    worker: str
    what: str
    games: int
    chance: str


@dataclass(frozen=True, slots=True)
class WorkerMeasured(LogEvent):
    """How fast a worker is before its first game, in plies a second (`places/workers/bench.py`)."""

    event = "worker-bench"
    worker: str
    plies_s: int


@dataclass(frozen=True, slots=True)
class WorkerSlow(LogEvent):
    """A worker is slow before its first game, beside the `others` in the median."""

    event = "worker-slow"
    level = "warning"
    worker: str
    plies_s: int
    others: int


@dataclass(frozen=True, slots=True)
class WorkerMessage(LogEvent):
    """What a worker says of the bots that it has started, such as why one ended."""

    event = "worker"
    level = "warning"
    worker: str
    text: str


def stands_out_line(worker: str, what: str, games: int, chance: str) -> str:
    """What `WorkerStandsOut` says, for a person."""
    odds = f"of equal workers a chance of at most {chance} in {games} games"
    return f"worker {worker} stands out: {what} ({odds})"


def slow_line(worker: str, bench: int, others: int) -> str:
    """What `WorkerSlow` says, for a person."""
    return f"worker {worker} is slow: {bench:,} plies/s before its first game, the others {others:,}"


def worker_line(event: LogEvent) -> str | None:
    """What an event says of a worker, for a person; None for all other events."""
    match event:
        case WorkerMessage(worker, text):
            return f"{worker}: {text}"
        case WorkerSlow(worker, bench, others):
            return slow_line(worker, bench, others)
        case WorkerStandsOut(worker, what, games, chance):
            return stands_out_line(worker, what, games, chance)
    return None


@dataclass(frozen=True, slots=True)
class ContestWaiting(LogEvent):
    """No game runs, and games wait for this many bots; `text` names them with the reasons."""

    event = "waiting"
    bots: int
    text: str


@dataclass(frozen=True, slots=True)
class ContestPace(LogEvent):
    """How many games have a result, of how many (None: the contest is open); the rest is `pace_json`'s."""

    event = "progress"
    done: int
    total: int | None
    games_per_hour: int
    left_s: int | None


@dataclass(frozen=True, slots=True)
class PowerCut(LogEvent):
    """The last rows of the journal did not reach the disk before the last server ended."""

    event = "power-cut"
    level = "warning"
    lost_journal_rows: int


@dataclass(frozen=True, slots=True)
class DatabaseSilent(LogEvent):
    """For so long the database has not made durable what it was given."""

    event = "database-silent"
    level = "warning"
    seconds: int


@dataclass(frozen=True, slots=True)
class DatabaseAnswers(LogEvent):
    """It does again, after so long."""

    event = "database-answers"
    seconds: int


@dataclass(frozen=True, slots=True)
class WebhookDelivered(LogEvent):
    """Webhook number `hook` of the contest has taken message `id`."""

    event = "webhook"
    level = "debug"
    hook: int
    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class WebhookFailed(LogEvent):
    """A message could not be delivered; the next attempt is in `retry_s` seconds."""

    event = "webhook-failed"
    level = "warning"
    hook: int
    error: str
    retry_s: int


@dataclass(frozen=True, slots=True)
class WebhookDropped(LogEvent):
    """A message that is no result was dropped, because too many wait."""

    event = "webhook-dropped"
    level = "warning"
    hook: int


@dataclass(frozen=True, slots=True)
class ConnectionsLimited(LogEvent):
    """The process may open `open_files` files: it holds `cap` connections instead of the `wanted`."""

    event = "connection-cap"
    level = "warning"
    cap: int
    wanted: int
    open_files: int | None


@dataclass(frozen=True, slots=True)
class ContestDoubtful(LogEvent):
    """A contest begins that may end before all of its games are played, by its configuration."""

    event = "doubtful"
    level = "warning"
    text: str


@dataclass(frozen=True, slots=True)
class SeasonStageBegun(LogEvent):
    """The stages before this contest are over, and it has begun; `bots` by their seeds."""

    event = "stage-begun"
    stage: str
    bots: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SeasonStageNotBegun(LogEvent):
    """The stages before this contest are over, and it cannot begin; the next server tries it again."""

    event = "stage-not-begun"
    level = "error"
    stage: str
    text: str


@dataclass(frozen=True, slots=True)
class ProgramsNotStarted(LogEvent):
    """These bots have a program in the file; the server waits for them as for all others."""

    event = "programs-not-started"
    level = "info"
    bots: str
    text: str = "this command starts no bots: arena tournament FILE does, or start each by hand"


@dataclass(frozen=True, slots=True)
class DescriptorsExhausted(LogEvent):
    """A connection could not be accepted."""

    event = "no-descriptor"
    level = "warning"
    error: str


@dataclass(frozen=True, slots=True)
class BotLogLinesDropped(LogEvent):
    """The disk did not take these lines of logs of bots in time."""

    event = "bot-logs-dropped"
    level = "warning"
    lines: int


@dataclass(frozen=True, slots=True)
class ServerStopping(LogEvent):
    """The server accepts no more connections."""

    event = "stopping"
    why: str


@dataclass(frozen=True, slots=True)
class SubmissionNoted(LogEvent):
    """What has happened to version `number` of a bot: a word for the fact, or the stage that begins."""

    event = "submission"
    bot: str
    number: int
    what: str
    reason: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageError(LogEvent):
    """What the page could not answer; the visitor is not told why."""

    event = "page-error"
    level = "warning"
    error: str


@dataclass(frozen=True, slots=True)
class WebFault(LogEvent):
    """A line of an error of the web server."""

    event = "web-fault"
    level = "error"
    trace: str


@dataclass(frozen=True, slots=True)
class ServerFault(LogEvent):
    """A line of the traceback of an error that ends the server."""

    event = "crash"
    level = "error"
    trace: str
