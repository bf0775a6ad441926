"""The counters, and the bucket into which a duration falls."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena_server.core.log_events import (
    CommandDone,
    ConnectionRefused,
    GameOver,
    LoggedIn,
    LoopStalled,
)
from arena_server.host.log_events import BotUsage
from arena_server.host.observers import Attachment
from arena_server.stats.durations import BOUNDS, Histogram
from arena_server.web.metrics import MetricsRecorder


class TestMetricsRecorder:
    def test_the_bounds_of_the_buckets(self) -> None:
        milliseconds = [bound / 1e6 for bound in BOUNDS]
        assert milliseconds[:5] == [0.05, 0.1, 0.2, 0.5, 1]
        assert milliseconds[-3:] == [2000, 5000, 10000]
        assert milliseconds == sorted(set(milliseconds))

    @given(st.lists(st.integers(0, 2 * 10**10) | st.sampled_from(BOUNDS)))
    def test_a_histogram_counts_every_duration_once_and_in_its_bucket(self, durations: list[int]) -> None:
        histogram = Histogram()
        for duration in durations:
            histogram.observe(duration)
        for index, bound in enumerate(BOUNDS):
            assert sum(histogram.counts[: index + 1]) == sum(each <= bound for each in durations)
        assert sum(histogram.counts) == len(durations)
        assert histogram.total == sum(durations)

    def test_a_copy_does_not_change_any_more(self) -> None:
        monitor = MetricsRecorder()
        before = monitor.counts()
        monitor.happened(LoopStalled(250))
        assert (before.stalls, monitor.counts().stalls) == (0, 1)

    def test_the_events_with_a_metric(self) -> None:
        monitor = MetricsRecorder()
        for event in (
            GameOver("g1", "complete", (1, 0)),
            GameOver("g2", "complete", (1, 0), (("a", "flood"), ("b", "quit"))),
            GameOver("g3", "void", (1, 0), (("b", "quit"),)),
            LoopStalled(250),
            LoopStalled(3250),
            ConnectionRefused(1, "p", None, "token"),
            CommandDone("kick", "a"),
            BotUsage("g1", "a", 1, 900, 0, None),
            BotUsage("g2", "a", 1, 100, 7, 5),
            BotUsage("g3", "a", 1, None, None, None),
            LoggedIn(1, "p", "a", None, resumed=False, slot=1),
        ):
            monitor.happened(event)
        counts = monitor.counts()
        assert counts.endings == {"complete": 2, "void": 1}
        assert counts.faults == {"flood": 1, "quit": 2}
        assert (counts.stalls, counts.stalled_ms) == (2, 3500)
        assert counts.cpu_ms == {"used": 1000, "throttled": 7, "pressure": 5}
        assert counts.refused == {"token": 1}
        assert counts.orders == {"kick": 1}

    def test_the_default_watcher_does_nothing(self) -> None:
        watcher = Attachment()
        watcher.happened(LoopStalled(250))
