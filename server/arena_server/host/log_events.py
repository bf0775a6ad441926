"""Events of the log about the host: its contests, workers, webhooks, submissions and faults."""

from __future__ import annotations

from dataclasses import dataclass

from arena_server.core.log_events import LogEvent


@dataclass(frozen=True, slots=True)
class BotUsage(LogEvent):
    """What a bot got of the processor in a game (`places.cgroup.CpuTime`); None: not known."""

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
class DatabaseReconnected(LogEvent):
    """The connection to the database was lost, and made again after so long; nothing was lost with it."""

    event = "database-reconnected"
    level = "warning"
    seconds: float
    cause: str


@dataclass(frozen=True, slots=True)
class WebhookDelivered(LogEvent):
    """Webhook number `hook` of the contest has taken message `id`."""

    event = "webhook"
    level = "debug"
    hook: int
    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class ContestFailed(LogEvent):
    """A contest goes on no more, and others of the server do."""

    event = "contest-failed"
    level = "error"
    error: str


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
class MachineCrowded(LogEvent):
    """The bots of a contest that begins may want more of the machine at once than it has."""

    event = "crowded"
    level = "warning"
    text: str


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
