"""Waits between tries, and when the client gives up."""

from __future__ import annotations

from itertools import repeat

import pytest

from arena_client import ClientError
from arena_client.retry import FIRST, LONGEST, TRIES, RetryPolicy, RetryState, backoff


def test_waits_double_up_to_the_longest() -> None:
    waits = list(backoff(8, first=1.0, longest=10.0, jitter=lambda: 0.0))
    assert waits == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 10.0]


def test_jitter_shortens_by_up_to_a_half() -> None:
    assert list(backoff(4, first=1.0, longest=9.0, jitter=lambda: 0.5)) == [0.75, 1.5, 3.0]


def test_the_real_jitter_stays_within_its_bounds() -> None:
    waits = list(backoff())
    assert len(waits) == TRIES - 1
    assert all(FIRST / 2 <= wait <= LONGEST for wait in waits)
    assert list(backoff()) != waits, "two bots reconnect at different moments"


def test_giving_up_is_one_line() -> None:
    retry = RetryState(RetryPolicy(delays=lambda: iter([1.0, 2.0])), "here:1")
    assert [retry.after("refused", welcomed=False) for _ in range(2)] == [1.0, 2.0]
    with pytest.raises(ClientError, match=r"^gave up on here:1 after 3 tries: refused$"):
        retry.after("refused", welcomed=False)


def test_a_log_in_resets_the_count() -> None:
    retry = RetryState(RetryPolicy(delays=lambda: iter([1.0])), "here:1")
    assert [retry.after("lost", welcomed=True) for _ in range(5)] == [1.0] * 5
    with pytest.raises(ClientError, match=r"^gave up on here:1: gone$"):
        retry.after("gone", welcomed=False)


def test_time_without_a_log_in_is_limited() -> None:
    retry = RetryState(RetryPolicy(delays=lambda: repeat(1.0), login_budget_s=25.0), "here:1")
    assert [retry.after("no answer", welcomed=False, lasted=10.0) for _ in range(2)] == [1.0, 1.0]
    assert retry.after("lost", welcomed=True, lasted=1000.0) == 1.0
    assert [retry.after("no answer", welcomed=False, lasted=10.0) for _ in range(2)] == [1.0, 1.0]
    with pytest.raises(ClientError, match=r"^gave up on here:1 after 3 tries: no answer$"):
        retry.after("no answer", welcomed=False, lasted=10.0)


def test_the_server_may_ask_for_more() -> None:
    retry = RetryState(RetryPolicy(delays=lambda: iter([1.0, 9.0])), "here:1")
    assert retry.after("rate", welcomed=False, at_least=7) == 7
    assert retry.after("rate", welcomed=False, at_least=7) == 9.0


def test_by_default_the_client_gives_up_after_16_to_32_seconds() -> None:
    """The numbers of docs/write-a-bot.md."""
    assert sum(backoff(jitter=lambda: 0.0)) == pytest.approx(31.3)
    assert sum(backoff(jitter=lambda: 1.0)) == pytest.approx(31.3 / 2)
