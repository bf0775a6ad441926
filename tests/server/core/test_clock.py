"""The ledger: whole milliseconds, one flag, no time out of nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena_server.core.clock import NS_PER_MS, Ledger, charged

MOMENT = st.integers(0, 10**15)
MILLIS = st.integers(0, 10**6)


def test_parts_of_a_millisecond_are_free() -> None:
    assert charged(5, 5 + NS_PER_MS - 1) == 0
    assert charged(5, 5 + NS_PER_MS) == 1


def test_a_stamp_before_the_turn_costs_nothing() -> None:
    assert charged(5 * NS_PER_MS, 0) == 0


def test_a_ply_is_charged_to_its_seat_alone_and_earns_the_increment() -> None:
    ledger = Ledger(3, bank=1000, increment=50, margin=0)
    assert ledger.spend(2, handed=0, arrived=300 * NS_PER_MS) == 300
    assert ledger.clocks == (1000, 750, 1000)


def test_the_margin_never_makes_a_clock_negative() -> None:
    ledger = Ledger(2, bank=100, increment=5, margin=50)
    assert ledger.spend(1, handed=0, arrived=140 * NS_PER_MS) == 140
    assert ledger.clocks == (5, 100)


def test_the_fallen_flag_shows_the_first_charge_too_high() -> None:
    ledger = Ledger(2, bank=100, increment=5, margin=50)
    assert ledger.fall(2) == 151
    assert ledger.clocks == (100, 0)


def test_a_reading_is_what_is_left_now() -> None:
    ledger = Ledger(2, bank=100, increment=0, margin=50)
    assert ledger.reading(2, handed=0, now=30 * NS_PER_MS) == (100, 70)
    assert ledger.reading(1, handed=0, now=130 * NS_PER_MS) == (0, 100)
    assert ledger.clocks == (100, 100)


@given(bank=MILLIS, margin=MILLIS, handed=MOMENT)
def test_the_flag_falls_exactly_when_the_charge_is_too_high(bank: int, margin: int, handed: int) -> None:
    ledger = Ledger(2, bank, 0, margin)
    flag = ledger.flag_at(1, handed)
    assert charged(handed, flag) > bank + margin
    assert charged(handed, flag - 1) <= bank + margin
    assert ledger.fall(1) == charged(handed, flag)


@given(bank=MILLIS, increment=MILLIS, thoughts=st.lists(MILLIS, max_size=20))
def test_a_clock_never_rises_by_more_than_the_increment(
    bank: int, increment: int, thoughts: list[int]
) -> None:
    ledger = Ledger(1, bank, increment, margin=10**6)
    for thought in thoughts:
        (before,) = ledger.clocks
        ledger.spend(1, 0, thought * NS_PER_MS)
        assert ledger.clocks == (max(0, before - thought) + increment,)


LIMIT = st.one_of(st.just(0), st.integers(1, 10**6))


@given(bank=MILLIS, byoyomi=MILLIS, limit=LIMIT, margin=MILLIS, credit=MILLIS, handed=MOMENT)
def test_byoyomi_and_move_limit_and_credit_move_the_flag_only(
    bank: int, byoyomi: int, limit: int, margin: int, credit: int, handed: int
) -> None:
    ledger = Ledger(2, bank, 0, margin, byoyomi, limit)
    allowance = (min(bank + byoyomi, limit) if limit else bank + byoyomi) + margin
    flag = ledger.flag_at(1, handed, credit)
    assert charged(handed, flag) - credit == allowance + 1
    assert ledger.fall(1) == allowance + 1
    assert ledger.clocks == (0, bank)


def test_byoyomi_is_there_again_for_every_ply() -> None:
    ledger = Ledger(1, bank=10, increment=0, margin=0, byoyomi=5)
    for charge in (12, 5, 4):
        assert ledger.flag_at(1, 0) > charge * NS_PER_MS
        assert ledger.spend(1, 0, charge * NS_PER_MS) == charge
        assert ledger.clocks == (0,)
    assert ledger.flag_at(1, 0) == 6 * NS_PER_MS


def test_a_credit_is_taken_off_the_charge_and_gives_no_time() -> None:
    ledger = Ledger(1, bank=100, increment=0, margin=0)
    assert ledger.reading(1, 0, 30 * NS_PER_MS, credit=20) == (90,)
    assert ledger.spend(1, 0, 30 * NS_PER_MS, credit=20) == 10
    assert ledger.spend(1, 0, 5 * NS_PER_MS, credit=20) == 0
    assert ledger.clocks == (90,)
