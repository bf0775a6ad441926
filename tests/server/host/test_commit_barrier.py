"""What the driver holds back until it is durable, and when it says that its loop stood still: free of I/O."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from arena_server.core.effects import Effect, Journal, Send
from arena_server.host.batches import CommitBarrier, StallDetector

MS = 1_000_000


def batch(barrier: CommitBarrier, number: int, *, entry: bool) -> Send:
    """Seal a batch of one effect, with an entry before it or without."""
    send = Send(1, b"%d\n" % number)
    effects: list[Effect] = [Journal(((1, "ready", number),)), send] if entry else [send]
    barrier.add(effects)
    assert barrier.seal(number) == ([(1, "ready", number)] if entry else [])
    return send


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.lists(st.integers(0, 12), max_size=12))
def test_an_effect_is_released_once_all_entries_before_it_are_durable(
    entries: Sequence[bool], reports: Sequence[int]
) -> None:
    """Reports come in any order, as those of two threads do; one of an earlier batch changes nothing."""
    barrier = CommitBarrier()
    sends = [batch(barrier, number, entry=entry) for number, entry in enumerate(entries)]
    needed = [sum(entries[: number + 1]) for number in range(len(entries))]
    released: list[Effect] = []
    durable = 0
    for report in [0, *(min(report, barrier.batch) for report in reports), barrier.batch]:
        barrier.durable(report)
        durable = max(durable, report)
        # What was durable stays durable for what is added now.
        if report < durable:
            needed.append(barrier.batch)
            sends.append(batch(barrier, len(sends), entry=False))
        released += barrier.release()
        assert released == [send for send, after in zip(sends, needed, strict=True) if after <= durable]
        assert (barrier.held_since is None) == (len(released) == len(sends))
    assert released == sends


def test_what_is_durable_stays_so_when_an_earlier_report_comes_late() -> None:
    barrier = CommitBarrier()
    batch(barrier, 1, entry=True)
    batch(barrier, 2, entry=True)
    barrier.durable(2)
    assert len(barrier.release()) == 2
    barrier.durable(1)
    free = batch(barrier, 3, entry=False)
    assert barrier.release() == [free]


def test_a_stall_is_longer_than_200_ms_and_reported_once() -> None:
    """docs/operating.md has the number."""
    detector = StallDetector()
    assert detector.stall(9_000 * MS) is None, "the loop has not begun"
    detector.beat(1_000 * MS)
    assert detector.stall(1_200 * MS) is None
    stall = detector.stall(1_200 * MS + 1)
    assert stall is not None
    assert (stall.began, stall.ended) == (1_000 * MS, 1_200 * MS + 1)
    assert detector.stall(1_300 * MS) is None
    detector.stop()
    assert detector.stall(9_000 * MS) is None
