"""Until when a contest may be seen: the rule of `core/cut.py` beside its sentences, one by one."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.core.cut import (
    alias,
    end_is_seen,
    is_alias,
    may_name,
    recorded_line,
    shown_names,
    shown_until,
)

MOMENTS = range(4)


@all_of(
    ("at", "now", "delay", "frozen_at", "over"),
    product(MOMENTS, MOMENTS, MOMENTS, (None, *MOMENTS), (False, True)),
)
def test_a_moment_is_seen_if_every_sentence_lets_it(
    at: int, now: int, delay: int, frozen_at: int | None, over: bool
) -> None:
    delayed = at + delay > now
    frozen = frozen_at is not None and at > frozen_at and not over
    assert (at <= shown_until(now, delay, frozen_at, over=over)) == (not delayed and not frozen)
    written = over or (not delayed and not frozen)
    assert (at <= shown_until(now, delay, frozen_at, over=over, live=False)) == written
    # An end is not frozen: it thaws.
    assert end_is_seen(now, delay, at, over=over) == (not delayed)
    assert end_is_seen(now, delay, at, over=over, live=False) == (over or not delayed)


@given(anonymous=st.booleans(), over=st.booleans(), live=st.booleans())
def test_nothing_that_names_players_is_seen_of_an_anonymous_contest_that_is_not_over(
    anonymous: bool, over: bool, live: bool
) -> None:
    named = may_name(anonymous=anonymous, over=over)
    assert named == (not anonymous or over)
    assert (shown_until(9, 0, None, over=over, live=live, named=named) >= 0) == named


@given(names=st.lists(st.from_regex(r"[a-z]{1,4}", fullmatch=True), min_size=2, max_size=4, unique=True))
def test_a_seat_sees_its_own_name_alone(names: list[str]) -> None:
    for seat in range(len(names) + 1):
        shown = shown_names(names, seat, anonymous=True)
        own = [name for name in shown if name in names]
        assert own == ([] if seat == 0 else [names[seat - 1]])
        assert all(is_alias(name) for at, name in enumerate(shown, start=1) if at != seat)
        assert shown_names(names, seat, anonymous=False) == tuple(names)
    assert not any(map(is_alias, names))
    assert [alias(seat) for seat in (1, 2)] == ["player-1", "player-2"]


@given(st.binary())
def test_a_line_of_a_fault_is_recorded_as_it_came_but_for_secrets(line: bytes) -> None:
    kept = recorded_line(line)
    assert kept == line or line.split()[0].upper() in (b"HELLO", b"STORE")
    assert recorded_line(b"STORE " + line) in (b"STORE", b"STORE " + line * (not line.split()))
    assert b"token=" not in recorded_line(b"hello 1 token=" + line)
    assert b"token=" not in recorded_line(b"HELLO 1 ann token=" + line)
