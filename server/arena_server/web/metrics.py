"""Counters of a running server, and their text form for Prometheus.

`MetricsRecorder` counts events on the loop's thread; the driver measures durations. A ply takes no
lock and makes no call for them. `exposition` turns a snapshot into text on the web thread, where
prometheus-client is loaded. `docs/operating.md` lists all metrics, and a test compares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from arena_server.core.life import HOLDS
from arena_server.core.log_events import (
    CommandDone,
    ConnectionRefused,
    GameOver,
    LeaseEnded,
    LogEvent,
    LoopStalled,
)
from arena_server.core.overview import Progress
from arena_server.host.log_events import BotUsage, WebhookDelivered, WebhookDropped, WebhookFailed
from arena_server.host.observers import Attachment
from arena_server.host.waiting import REASONS
from arena_server.stats.durations import BOUNDS, Durations, Histogram

if TYPE_CHECKING:
    from prometheus_client.core import Metric

NS_PER_S = 1e9


@dataclass(frozen=True, slots=True)
class Counts:
    """Everything counted since the server started, at one moment."""

    endings: dict[str, int]
    faults: dict[str, int]
    refused: dict[str, int]
    orders: dict[str, int]
    stalls: int
    stalled_ms: int
    webhooks: dict[str, int]
    #: What bots that are started here got of the processors in their games, in milliseconds by kind.
    cpu_ms: dict[str, int] = field(default_factory=dict)
    leases_lost: int = 0


@dataclass(frozen=True, slots=True)
class ContestSnapshot:
    """The metrics of a contest at one moment; `progress` is None before it has started."""

    contest: Mapping[str, str]
    counts: Counts
    durations: Durations
    progress: Progress | None
    #: How long the oldest of what is not durable has waited, in whole seconds.
    silent_s: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All metrics of a server at one moment."""

    contests: Sequence[ContestSnapshot]
    connections: int
    cap: int
    #: How many versions of bots wait for each stage of admission, and the longest for how many seconds.
    admissions: Mapping[str, tuple[int, float]] = field(default_factory=dict)


class MetricsRecorder(Attachment):
    """Counts what a server does. Every method runs on the loop's thread."""

    def __init__(self) -> None:
        self._endings: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._orders: Counter[str] = Counter()
        self._webhooks: Counter[str] = Counter()
        self._cpu_ms: Counter[str] = Counter()
        self._stalls = self._stalled_ms = self._leases_lost = 0

    def counts(self) -> Counts:
        return Counts(
            dict(self._endings),
            dict(self._faults),
            dict(self._refused),
            dict(self._orders),
            self._stalls,
            self._stalled_ms,
            dict(self._webhooks),
            dict(self._cpu_ms),
            self._leases_lost,
        )

    def happened(self, event: LogEvent) -> None:
        """Count the events that have a metric."""
        match event:
            case GameOver(end=end, faults=faults):
                self._endings[end] += 1
                self._faults.update(kind for _, kind in faults)
            case LoopStalled(ms):
                self._stalls += 1
                self._stalled_ms += ms
            case ConnectionRefused(code=code):
                self._refused[code] += 1
            case LeaseEnded():
                self._leases_lost += 1
            case CommandDone(verb=verb):
                self._orders[verb] += 1
            case BotUsage(used_ms=used, throttled_ms=throttled, pressure_ms=pressure):
                # Without pressure stall information of the kernel there is no number.
                self._cpu_ms.update(used=used or 0, throttled=throttled or 0, pressure=pressure or 0)
            case WebhookDelivered():
                self._webhooks["delivered"] += 1
            case WebhookFailed():
                self._webhooks["failed"] += 1
            case WebhookDropped():
                self._webhooks["dropped"] += 1


def exposition(snapshot: Snapshot) -> tuple[bytes, str]:
    """The text that Prometheus reads, and its content type."""
    # On the web thread and at the first scrape: 60 ms that the referee does not wait for.
    from prometheus_client import CollectorRegistry, ProcessCollector
    from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

    registry = CollectorRegistry()
    registry.register(_Collector(snapshot))
    ProcessCollector(registry=registry)
    return generate_latest(registry), CONTENT_TYPE_LATEST


class _Collector:
    """Yields the families of one snapshot to a registry.

    A server with one contest has no label for it; with several every sample has the label `contest`.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        snapshot = self._snapshot
        yield GaugeMetricFamily("arena_connections", "Connections held.", value=snapshot.connections)
        yield GaugeMetricFamily("arena_connections_max", "Connections that may be held.", value=snapshot.cap)
        if snapshot.admissions:
            yield from _admission_families(snapshot.admissions)
        families: dict[str, Metric] = {}
        for contest in snapshot.contests:
            for family in _families(contest):
                if len(snapshot.contests) > 1:
                    _label(family, contest.contest["name"])
                families.setdefault(family.name, family)
                if families[family.name] is not family:
                    families[family.name].samples += family.samples
        yield from families.values()


def _admission_families(admissions: Mapping[str, tuple[int, float]]) -> Iterator[Metric]:
    from prometheus_client.core import GaugeMetricFamily

    waiting = GaugeMetricFamily("arena_admissions_waiting", "Versions of bots that wait.", labels=["stage"])
    words = "How long one of them has waited."
    oldest = GaugeMetricFamily("arena_admission_oldest_seconds", words, labels=["stage"])
    for stage, (number, oldest_s) in admissions.items():
        waiting.add_metric([stage], number)
        oldest.add_metric([stage], oldest_s)
    yield from (waiting, oldest)


def _families(contest: ContestSnapshot) -> Iterator[Metric]:
    from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily

    yield InfoMetricFamily("arena_contest", "Which contest is played.", value=dict(contest.contest))
    yield from _count_families(contest.counts)
    yield from _duration_families(contest.durations)
    words = "Age of the oldest entry or result that is not durable."
    yield GaugeMetricFamily("arena_store_silent_seconds", words, value=contest.silent_s)
    if contest.progress is not None:
        yield from _progress_families(contest.progress)


def _label(family: Metric, contest: str) -> None:
    family.samples = [
        sample._replace(labels={"contest": contest, **sample.labels}) for sample in family.samples
    ]


def _progress_families(progress: Progress) -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    games = GaugeMetricFamily("arena_games", "Games of the contest by state.", labels=["state"])
    # An open contest has always more to play, and no number of it.
    pending = max(0, (progress.total or 0) - progress.done - progress.running)
    states = {"pending": pending, "running": progress.running, "done": progress.done, "void": progress.void}
    for state, number in states.items():
        games.add_metric([state], number)
    yield games
    yield GaugeMetricFamily("arena_bots_connected", "Bots that are logged in.", value=progress.connected)
    waiting = GaugeMetricFamily("arena_bots_waiting_for", "Bots that games wait for.", labels=["reason"])
    for reason in REASONS:
        waiting.add_metric([reason], sum(each.reason == reason for each in progress.waiting))
    yield waiting
    held = GaugeMetricFamily("arena_holds", "What holds the games, by kind.", labels=["hold"])
    kinds = {hold.kind for hold in progress.holds}
    for kind in HOLDS:
        held.add_metric([kind], kind in kinds)
    yield held
    yield CounterMetricFamily("arena_plies", "Plies of the contest.", value=progress.plies)


def _count_families(counts: Counts) -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily

    yield _counter("arena_games_ended", "Games ended since the server started.", "end", counts.endings)
    yield _counter("arena_faults", "Faults since the server started.", "kind", counts.faults)
    yield _counter("arena_refusals", "Connections refused by an ERROR.", "code", counts.refused)
    yield _counter("arena_orders", "Orders of the organiser that were carried out.", "verb", counts.orders)
    yield _counter("arena_webhooks", "Attempts to deliver a message to a webhook.", "result", counts.webhooks)
    seconds_of = {kind: ms / 1000 for kind, ms in counts.cpu_ms.items()}
    words = "Processor time of bots that are started here, in their games."
    yield _counter("arena_bot_cpu_seconds", words, "kind", seconds_of)
    yield CounterMetricFamily(
        "arena_leases_lost", "Games that a worker gave back, or was silent in.", value=counts.leases_lost
    )
    yield CounterMetricFamily("arena_loop_stalls", "Stalls of the event loop.", value=counts.stalls)
    seconds = counts.stalled_ms / 1000
    yield CounterMetricFamily("arena_loop_stalled_seconds", "Duration of all stalls.", value=seconds)


def _duration_families(durations: Durations) -> Iterator[Metric]:
    yield _histogram("arena_ply_latency_seconds", "From a move read to the next TURN sent.", durations.turns)
    yield _histogram(
        "arena_journal_delay_seconds", "From journal entries to their durability.", durations.journal
    )
    yield _histogram(
        "arena_store_delay_seconds", "From the end of a game to its durable record.", durations.store
    )


def _counter(name: str, words: str, label: str, numbers: Mapping[str, float]) -> Metric:
    from prometheus_client.core import CounterMetricFamily

    family = CounterMetricFamily(name, words, labels=[label])
    for value, number in sorted(numbers.items()):
        family.add_metric([value], number)
    return family


def _histogram(name: str, words: str, histogram: Histogram) -> Metric:
    """Prometheus expects cumulative buckets in seconds."""
    from prometheus_client.core import HistogramMetricFamily

    family = HistogramMetricFamily(name, words)
    buckets, reached = [], 0
    for bound, count in zip([*BOUNDS, None], histogram.counts, strict=True):
        reached += count
        buckets.append(("+Inf" if bound is None else repr(bound / NS_PER_S), reached))
    family.add_metric([], buckets, histogram.total / NS_PER_S)
    return family
