"""True records pass `verify`; every false value is refused with its place and the true value.

Forged records are signed with a right digest, as a forger would sign them.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol.record import FaultKind, FaultRecord, GameRecord, InfoRecord, RecordError, commitment
from arena_protocol.record_codec import decode, encode
from arena_protocol.verify import verify

from . import oracle
from .records import FLAGGED, FORFEIT, MS, RECORD, ZOMBIE, Faults, a_record, with_ply

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
    options: dict[str, int], faults: Faults, seed: int, stop: int, increment: int, margin: int
) -> None:
    known = {ply: fault for ply, fault in faults.items() if ply <= min(stop, options["plies"])}
    record = a_record(options=options, faults=known, seed=seed, stop=stop, increment=increment, margin=margin)
    assert record.end == ("void" if stop < options["plies"] else "complete")
    verify(decode(encode(record)))


@all_of("kind", [kind for kind in FaultKind if kind is not FaultKind.VOID])
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
    verify(a_record("tictactoe", {"board": "x../.../...|.x./.../...|xo./.../..."}))
    verify(FORFEIT)
    none_ready = (FaultRecord(1, 1, "never-ready", b""), FaultRecord(2, 1, "never-ready", b""))
    verify(replace(a_record("disc", {}, stop=0), faults=none_ready, end="forfeit", totals=(0, 0)))


def test_a_clock_never_goes_below_zero_and_the_margin_gives_no_time() -> None:
    """20 ms beyond the clock, just the margin: no fault, and the clock is the increment."""
    record = a_record(stop=1)
    late = record.plies[0]._replace(handed_ns=0, arrived_ns=1021 * MS - 1, time_ms=1020, clock=(5, 1000))
    verify(replace(record, plies=(late,)))


def test_a_move_that_arrived_together_with_its_turn_costs_nothing() -> None:
    record = a_record(stop=1)
    early = record.plies[0]._replace(handed_ns=5 * MS, arrived_ns=5 * MS, time_ms=0, clock=(1005, 1000))
    verify(replace(record, plies=(early,)))


def refusal(record: GameRecord) -> str:
    """What verify says of a record, which is refused as bytes with a right digest too."""
    with pytest.raises(RecordError) as refused:
        verify(record)
    assert str(refused.value).isprintable()
    with pytest.raises(RecordError):
        verify(decode(encode(record)))  # what has no form of the protocol is not even decoded
    return str(refused.value)


@all_of(
    ("record", "line"),
    [
        (replace(RECORD, game="chess"), "start: no game 'chess'; this version has:"),
        (replace(RECORD, names=("ann",)), "start: insertion: seats is a whole number from 2 to 4, not 1"),
        (replace(RECORD, options={"plies": "x"}), "start: insertion: plies is a whole number from 1 to"),
        (replace(RECORD, board="x"), "start: a board is five rows of five cells joined by '/', not 'x'"),
        (replace(RECORD, seed=7), f"start: board: expected {a_record(seed=7).board}, found {RECORD.board}"),
        (replace(RECORD, sequence="1"), f"start: sequence: expected {RECORD.sequence}, found 1"),
        (replace(RECORD, nonce="ff" * 16), "start: commit: expected "),
        (replace(RECORD, commit="ff" * 32), f"start: commit: expected {RECORD.commit}, found {'ff' * 32}"),
        (replace(RECORD, clock_ms=-1), "start: clock_ms: expected 0 or more, found -1"),
        (replace(RECORD, increment_ms=-1), "start: increment_ms: expected 0 or more, found -1"),
        (replace(RECORD, margin_ms=-1), "start: margin_ms: expected 0 or more, found -1"),
        (replace(RECORD, byoyomi_ms=-1), "start: byoyomi_ms: expected 0 or more, found -1"),
        (replace(RECORD, move_limit_ms=-1), "start: move_limit_ms: expected 0 or more, found -1"),
        (replace(RECORD, lag_quota_ms=-1), "start: lag_quota_ms: expected 0 or more, found -1"),
        (replace(RECORD, final="x\n"), f"end: final position: expected {RECORD.final}, found 'x\\n'"),
        (replace(RECORD, end="void", totals=(1, 1)), f"end: totals: expected {RECORD.totals}, found (1, 1)"),
        (replace(RECORD, plies=RECORD.plies[:-1]), "end: final position: expected "),
        (replace(RECORD, end="draw"), "end: end: expected complete, found draw"),
        (replace(a_record(stop=4), end="complete"), "end: end: expected void (the game is not over), found"),
        (replace(FORFEIT, end="win"), "ply 4: ply of fault illegal: expected 0 to 3, found 4"),
        (replace(FORFEIT, totals=(0, 2)), "end: totals: expected (2, 0), found (0, 2)"),
        (
            replace(a_record("disc", {"m": 30}, stop=5), faults=(FaultRecord(2, 4, "illegal", b""),)),
            "ply 4: plies: expected none after a forfeit, found move ",
        ),
    ],
)
def test_a_forged_frame_is_refused(record: GameRecord, line: str) -> None:
    assert refusal(record).startswith(f"game g7, {line}")


@all_of(
    ("fault", "line"),
    [
        (FaultRecord(1, 3, "sloth", b""), "ply 3: fault: expected one of timeout, illegal, "),
        (FaultRecord(0, 3, "quit", b""), "ply 3: seat of fault quit: expected 1 to 2, found 0"),
        (FaultRecord(3, 3, "quit", b""), "ply 3: seat of fault quit: expected 1 to 2, found 3"),
        (FaultRecord(1, 3, "void", b""), "ply 3: seat of fault void: expected 0 to 0, found 1"),
        (FaultRecord(1, -1, "quit", b""), "ply -1: ply of fault quit: expected 0 to 12, found -1"),
        (FaultRecord(1, 13, "quit", b""), "ply 13: ply of fault quit: expected 0 to 12, found 13"),
        (FaultRecord(2, 3, "illegal", b""), "ply 3: seat of fault illegal: expected 1, found 2"),
        (FaultRecord(2, 3, "timeout", b""), "ply 3: seat of fault timeout: expected 1, found 2"),
        (FaultRecord(1, 3, "quit", b""), "ply 3: zombie: expected True, found False"),
        (FaultRecord(2, 3, "quit", b""), "ply 4: zombie: expected True, found False"),
    ],
)
def test_a_forged_fault_is_refused(fault: FaultRecord, line: str) -> None:
    assert refusal(replace(RECORD, faults=(fault,))).startswith(f"game g7, {line}")


#: The third ply of the true record, and what else the lines below expect.
P3 = RECORD.plies[2]
CLOCK_5, CLOCK_6 = FLAGGED.plies[4].clock, ZOMBIE.plies[5].clock
QUIT_5 = (FaultRecord(1, 5, "quit", b""),)
ONCE_MORE = RECORD.plies + RECORD.plies[-1:]


@all_of(
    ("record", "line"),
    [
        (with_ply(RECORD, 3, seat=2), "3: seat: expected 1, found 2"),
        (with_ply(RECORD, 3, move="16"), "3: move: expected a legal move, found 16"),
        (with_ply(RECORD, 3, move="06"), "3: move: expected a legal move, found 06"),
        (with_ply(RECORD, 3, points=-10), f"3: points: expected {P3.points}, found -10"),
        (with_ply(RECORD, 3, total=(7, 7)), f"3: total: expected {P3.total}, found (7, 7)"),
        (with_ply(RECORD, 3, time_ms=999), f"3: time: expected {P3.time_ms}, found 999"),
        (with_ply(RECORD, 3, clock=(1, 2)), f"3: clock: expected {P3.clock}, found (1, 2)"),
        (with_ply(RECORD, 3, clock=(1,)), f"3: clock: expected {P3.clock}, found (1,)"),
        (with_ply(RECORD, 3, lag_ms=-1), "3: lag: expected 0 or more, found -1"),
        (with_ply(RECORD, 3, lag_ms=1, credit_ms=1), "3: credit: expected 0, found 1"),
        (with_ply(ZOMBIE, 6, credit_ms=1), "6: lag and credit of a zombie: expected (0, 0), found (0, 1)"),
        (with_ply(RECORD, 3, handed_ns=P3.arrived_ns), f"3: time: expected 0, found {P3.time_ms}"),
        (with_ply(RECORD, 3, zombie=True), "3: zombie: expected False, found True"),
        (with_ply(ZOMBIE, 6, zombie=False), "6: zombie: expected True, found False"),
        (with_ply(ZOMBIE, 6, move="7"), "6: move of a zombie: expected 6, found 7"),
        (with_ply(ZOMBIE, 6, time_ms=1), "6: time of a zombie: expected 0, found 1"),
        (with_ply(ZOMBIE, 6, clock=(0, 0)), f"6: clock: expected {CLOCK_6}, found (0, 0)"),
        (replace(ZOMBIE, faults=()), "6: zombie: expected False, found True"),
        (replace(ZOMBIE, faults=QUIT_5), "5: zombie: expected True, found False"),
        (with_ply(FLAGGED, 5, clock=(9, 9)), f"5: clock: expected {CLOCK_5}, found (9, 9)"),
        (
            replace(FLAGGED, faults=QUIT_5),
            f"5: time of a zombie: expected 0, found {FLAGGED.plies[4].time_ms}",
        ),
        (replace(RECORD, plies=ONCE_MORE), "13: plies: expected none after the end (complete), found move "),
    ],
)
def test_a_forged_ply_is_refused(record: GameRecord, line: str) -> None:
    assert refusal(record).startswith(f"game g7, ply {line}")


def test_a_flag_that_fell_too_early_is_refused() -> None:
    before = FLAGGED.plies[2].clock[0]
    at = FLAGGED.plies[4].handed_ns
    early = with_ply(FLAGGED, 5, time_ms=before + 20, arrived_ns=at + (before + 20) * MS)
    line = (
        f"game g7, ply 5: time on which the flag fell: expected more than {before + 20}, found {before + 20}"
    )
    assert refusal(early) == line


def test_a_flag_that_should_have_fallen_is_refused() -> None:
    late = with_ply(a_record(stop=1), 1, handed_ns=0, arrived_ns=1021 * MS, time_ms=1021, clock=(5, 1000))
    assert refusal(late) == "game g7, ply 1: time without a fault: expected at most 1020, found 1021"


def test_the_margin_counts_beyond_the_limit_of_a_ply_too() -> None:
    record = replace(a_record(stop=1), move_limit_ms=500)
    in_time = with_ply(record, 1, handed_ns=0, arrived_ns=520 * MS, time_ms=520, clock=(485, 1000))
    verify(in_time)
    late = with_ply(record, 1, handed_ns=0, arrived_ns=521 * MS, time_ms=521, clock=(484, 1000))
    assert refusal(late) == "game g7, ply 1: time without a fault: expected at most 520, found 521"


def test_the_deal_must_follow_from_the_seed_even_if_the_commit_fits() -> None:
    """A referee that dealt by hand is found out."""
    sequence = RECORD.sequence.translate(str.maketrans("123", "231"))
    forged = replace(RECORD, sequence=sequence, commit=commitment(RECORD.nonce, RECORD.board, sequence))
    assert refusal(forged) == f"game g7, start: sequence: expected {RECORD.sequence}, found {sequence}"


# -- time stamps never run backwards ------------------------------------------------------


def shifted(record: GameRecord, number: int, by: int) -> GameRecord:
    """Move both times of a ply, which leaves its charge as it was."""
    ply = record.plies[number - 1]
    return with_ply(record, number, handed_ns=ply.handed_ns + by, arrived_ns=ply.arrived_ns + by)


@all_of("record", [RECORD, ZOMBIE, FLAGGED])
@all_of("number", range(1, 13))
def test_a_turn_before_the_last_move_is_refused(record: GameRecord, number: int) -> None:
    last = record.plies[number - 2].arrived_ns if number > 1 else 0
    gap = record.plies[number - 1].handed_ns - last
    verify(shifted(record, number, -gap))
    line = f"game g7, ply {number}: handed_ns: expected {last} or later, found {last - 1}"
    assert refusal(shifted(record, number, -gap - 1)) == line


def test_a_move_before_its_turn_is_refused() -> None:
    """Even where the charge is 0 as it is."""
    zombie = ZOMBIE.plies[5]
    assert zombie.time_ms == 0
    forged = with_ply(ZOMBIE, 6, arrived_ns=zombie.handed_ns - 1)
    line = f"game g7, ply 6: arrived_ns: expected {zombie.handed_ns} or later, found {zombie.handed_ns - 1}"
    assert refusal(forged) == line


@given(st.integers(2, 12), st.integers(1, 2**40))
def test_a_ply_in_the_past_is_refused(number: int, by: int) -> None:
    gap = RECORD.plies[number - 1].handed_ns - RECORD.plies[number - 2].arrived_ns
    assert ": handed_ns: expected " in refusal(shifted(RECORD, number, -gap - by))


@given(st.lists(st.integers(0, 2**40), min_size=12, max_size=12))
def test_times_that_never_run_backwards_pass(pauses: list[int]) -> None:
    """Any pauses between the plies, for example of a server that was down."""
    plies, late = [], 0
    for ply, pause in zip(RECORD.plies, pauses, strict=True):
        late += pause
        plies.append(ply._replace(handed_ns=ply.handed_ns + late, arrived_ns=ply.arrived_ns + late))
    verify(replace(RECORD, plies=tuple(plies)))


@pytest.mark.parametrize(
    ("info", "line"),
    [
        (InfoRecord(0, 1), "note of ply 1: seat: expected 1 to 2, found 0"),
        (InfoRecord(3, 1), "note of ply 1: seat: expected 1 to 2, found 3"),
        (InfoRecord(1, 0), "note of ply 0: ply: expected 1 to 13, found 0"),
        (InfoRecord(1, 14), "note of ply 14: ply: expected 1 to 13, found 14"),
    ],
)
def test_a_note_of_no_seat_or_ply_is_refused(info: InfoRecord, line: str) -> None:
    verify(replace(a_record(), infos=(InfoRecord(2, 1), InfoRecord(1, 13, text="any"))))
    assert refusal(replace(a_record(), infos=(info,))) == f"game g7, {line}"


def test_a_long_value_is_cut_in_the_message() -> None:
    record = a_record(options={"plies": 300}, increment=30)
    line = refusal(replace(record, sequence="1" + record.sequence[:-1]))
    assert (
        line
        == f"game g7, start: sequence: expected {record.sequence[:80]}..., found 1{record.sequence[:79]}..."
    )


def replayed(record: GameRecord) -> tuple[list[int], str]:
    """Points ply by ply and the last board, by the oracle."""
    board, points = record.board, []
    for made, picture in zip(record.plies, record.sequence, strict=False):
        board, removed, _, _ = oracle.play(board, int(made.move), int(picture))
        points.append(10 * removed)
    return points, board


@all_of("number", range(1, 13))
def test_no_move_is_exchanged_for_another_unseen(number: int) -> None:
    """Unless it is the same move: coinciding moves give the same game ply by ply."""
    refused = 0
    for move in range(1, 16):
        forged = with_ply(RECORD, number, move=str(move))
        if replayed(forged) == replayed(RECORD):
            verify(forged)
        else:
            refused += 1
            assert refusal(forged).startswith("game g7, ")
    assert refused > 0


@given(st.integers(1, 12), st.sampled_from(["seat", "time_ms", "points"]), st.integers(-1000, 1000))
def test_any_other_number_of_a_ply_is_refused(number: int, field: str, change: int) -> None:
    value = getattr(RECORD.plies[number - 1], field)
    forged = with_ply(RECORD, number, **{field: value + (change or 1)})
    assert refusal(forged).startswith(f"game g7, ply {number}: ")


@given(st.integers(1, 12), st.sampled_from(["clock", "total"]), st.integers(0, 1), st.integers(-1000, 1000))
def test_any_other_clock_or_total_is_refused(number: int, field: str, seat: int, change: int) -> None:
    values = list(getattr(RECORD.plies[number - 1], field))
    values[seat] += change or 1
    forged = with_ply(RECORD, number, **{field: tuple(values)})
    assert refusal(forged).startswith(f"game g7, ply {number}: {field}: expected ")


@given(st.integers(0, 1), st.integers(-1000, 1000))
def test_any_other_result_is_refused(seat: int, change: int) -> None:
    totals = list(RECORD.totals)
    totals[seat] += change or 1
    assert refusal(replace(RECORD, totals=tuple(totals))).startswith("game g7, end: totals: expected ")
