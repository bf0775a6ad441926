"""Until when a contest may be seen: the rule of `core/cut.py` beside its sentences, one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena_server.core.cut import shown_until

moments = st.integers(0, 10)


@given(at=moments, now=moments, delay=moments, frozen_at=st.none() | moments, over=st.booleans())
def test_a_moment_is_seen_if_every_sentence_lets_it(
    at: int, now: int, delay: int, frozen_at: int | None, over: bool
) -> None:
    delayed = at + delay > now
    frozen = frozen_at is not None and at > frozen_at and not over
    assert (at <= shown_until(now, delay, frozen_at, over=over)) == (not delayed and not frozen)
    written = over or (not delayed and not frozen)
    assert (at <= shown_until(now, delay, frozen_at, over=over, live=False)) == written
