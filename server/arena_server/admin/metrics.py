"""What is known of a server in the words of Prometheus.

A registry of its own, filled at each scrape from numbers that somebody else has counted: the
loop's thread never touches a lock of the library's. It must not know: HTTP, threads, where
the numbers come from. `docs/operating.md` lists all of them, and a test compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from arena_server.admin.monitor import BOUNDS, Counts, Histogram
from arena_server.admin.view import Snapshot
from arena_server.core.standings import Progress

CONTENT_TYPE = CONTENT_TYPE_LATEST
NS_PER_S = 1e9


def exposition(snapshot: Snapshot) -> bytes:
    """The text that Prometheus reads."""
    registry = CollectorRegistry()
    registry.register(_Collector(snapshot))
    ProcessCollector(registry=registry)
    return generate_latest(registry)


class _Collector:
    """Shows a snapshot to a registry."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def collect(self) -> Iterator[Metric]:
        snapshot = self._snapshot
        yield InfoMetricFamily("arena_contest", "Which contest is played.", value=dict(snapshot.contest))
        yield GaugeMetricFamily("arena_connections", "Connections held.", value=snapshot.connections)
        yield GaugeMetricFamily("arena_connections_max", "Connections that may be held.", value=snapshot.cap)
        yield from _of_counts(snapshot.counts)
        if snapshot.progress is not None:
            yield from _of_progress(snapshot.progress)


def _of_progress(progress: Progress) -> Iterator[Metric]:
    games = GaugeMetricFamily("arena_games", "Games of the contest by state.", labels=["state"])
    pending = max(0, progress.total - progress.done - progress.running)
    states = {"pending": pending, "running": progress.running, "done": progress.done, "void": progress.void}
    for state, number in states.items():
        games.add_metric([state], number)
    yield games
    yield GaugeMetricFamily("arena_bots_connected", "Bots that are logged in.", value=progress.connected)
    yield CounterMetricFamily("arena_plies", "Plies of the contest.", value=progress.plies)


def _of_counts(counts: Counts) -> Iterator[Metric]:
    yield _counter("arena_games_ended", "Games ended since the server started.", "end", counts.endings)
    yield _counter("arena_faults", "Faults since the server started.", "kind", counts.faults)
    yield _counter("arena_refusals", "Connections turned away by an ERROR.", "code", counts.refused)
    yield _counter("arena_orders", "Orders of the organiser that were obeyed.", "verb", counts.orders)
    yield _histogram("arena_ply_latency_seconds", "From a move read to the next TURN sent.", counts.plies)
    yield _histogram(
        "arena_journal_delay_seconds", "From journal entries to their durability.", counts.journal
    )
    yield _histogram(
        "arena_store_delay_seconds", "From the end of a game to its durable record.", counts.store
    )
    yield CounterMetricFamily("arena_loop_stalls", "Times that the loop stood still.", value=counts.stalls)
    seconds = counts.stalled_ms / 1000
    yield CounterMetricFamily("arena_loop_stalled_seconds", "For how long it stood still.", value=seconds)


def _counter(name: str, words: str, label: str, numbers: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(name, words, labels=[label])
    for value, number in sorted(numbers.items()):
        family.add_metric([value], number)
    return family


def _histogram(name: str, words: str, histogram: Histogram) -> Metric:
    """Prometheus wants cumulative buckets in seconds."""
    family = HistogramMetricFamily(name, words)
    buckets, reached = [], 0
    for bound, count in zip([*BOUNDS, None], histogram.counts, strict=True):
        reached += count
        buckets.append(("+Inf" if bound is None else repr(bound / NS_PER_S), reached))
    family.add_metric([], buckets, histogram.total / NS_PER_S)
    return family
