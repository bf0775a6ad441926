"""True records pass the judge: every kind of fault, void games, forfeits, clocks at their limits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_protocol.record import FaultKind, FaultRecord, decode, encode
from arena_protocol.verify import verify

from .records import FORFEIT, MS, ZOMBIE, Faults, a_record, with_ply

COIN = {"coins": 9}
OPTIONS = st.fixed_dictionaries(
    {
        "plies": st.integers(1, 25),
        "seats": st.integers(2, 4),
        "colours": st.integers(3, 7),
        "lookahead": st.integers(1, 9),
        "start": st.sampled_from(["full", "partial", "empty"]),
    }
)
SEAT_FAULTS = st.sampled_from(
    [kind.value for kind in FaultKind if kind not in ("void", "timeout", "illegal", "disconnect")]
)
FAULTS: st.SearchStrategy[Faults] = st.dictionaries(
    st.integers(1, 25), st.tuples(st.integers(1, 2), SEAT_FAULTS), max_size=2
)


@given(OPTIONS, FAULTS, st.integers(0, 2**256), st.integers(0, 25), st.integers(0, 50), st.integers(0, 50))
@settings(max_examples=60)
def test_a_true_record_passes(
    options: dict[str, object], faults: Faults, seed: int, stop: int, increment: int, margin: int
) -> None:
    known = {ply: fault for ply, fault in faults.items() if ply <= min(stop, options["plies"])}
    record = a_record(options=options, faults=known, seed=seed, stop=stop, increment=increment, margin=margin)
    assert record.end == ("void" if stop < options["plies"] else "complete")
    verify(decode(encode(record)))


@pytest.mark.parametrize("kind", [kind for kind in FaultKind if kind is not FaultKind.VOID])
def test_a_fault_of_every_kind_on_the_own_turn_passes(kind: FaultKind) -> None:
    verify(a_record(faults={5: (1, kind.value)}))


@pytest.mark.parametrize("ply", [0, 1])
def test_seats_that_were_never_there_are_zombies_from_the_first_ply(ply: int) -> None:
    record = a_record(faults={ply: (1, "never-ready")})
    assert record.plies[0].zombie
    verify(record)


def test_a_seat_that_was_away_at_the_start_has_no_charge() -> None:
    absent = a_record(faults={1: (1, "quit")})
    faults = (FaultRecord(1, 1, "disconnect", b""),)
    verify(with_ply(replace(absent, faults=faults), 1, arrived_ns=0))


def test_a_second_fault_of_a_zombie_changes_nothing() -> None:
    verify(replace(ZOMBIE, faults=(*ZOMBIE.faults, FaultRecord(2, 9, "quit", b"QUIT"))))
    verify(replace(ZOMBIE, faults=(FaultRecord(2, 9, "quit", b"QUIT"), *ZOMBIE.faults)))


@pytest.mark.parametrize("stop", [0, 1, 7])
def test_a_void_game_may_stop_anywhere(stop: int) -> None:
    record = a_record(stop=stop)
    assert (record.end, len(record.plies)) == ("void", stop)
    verify(record)
    verify(replace(record, faults=(FaultRecord(0, stop + 1, "void", b""),)))


def test_other_games_pass_and_forfeit_without_a_zombie_move() -> None:
    verify(a_record("lastcoin", COIN))
    verify(a_record("lastcoin", COIN, faults={2: (2, "quit")}))
    verify(a_record("xo", {}))
    verify(FORFEIT)
    none_ready = (FaultRecord(1, 1, "never-ready", b""), FaultRecord(2, 1, "never-ready", b""))
    verify(replace(a_record("disc", {}, stop=0), faults=none_ready, end="forfeit", totals=(0, 0)))


def test_a_clock_never_goes_below_zero_and_the_margin_gives_no_time() -> None:
    """20 ms beyond the clock, just the margin: no fault, and the clock is the increment."""
    record = a_record(stop=1)
    late = replace(record.plies[0], handed_ns=0, arrived_ns=1021 * MS - 1, time_ms=1020, clock=(5, 1000))
    verify(replace(record, plies=(late,)))


def test_a_move_that_arrived_before_its_turn_was_handed_over_costs_nothing() -> None:
    record = a_record(stop=1)
    early = replace(record.plies[0], handed_ns=5 * MS, arrived_ns=0, time_ms=0, clock=(1005, 1000))
    verify(replace(record, plies=(early,)))
