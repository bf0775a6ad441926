"""Faults, results and usage as sentences, for terminals, pictures and the page; the commitment of a deal."""

from __future__ import annotations

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol.record import (
    FaultKind,
    UsageRecord,
    commitment,
    describe_fault,
    describe_result,
    describe_usage,
    winning_seats,
)


def test_the_commitment_is_the_hash_of_the_text_that_the_protocol_names() -> None:
    expected = sha256(b"ab:...../...../...../...../.....:123").hexdigest()
    assert commitment("ab", "...../...../...../...../.....", "123") == expected


# -- faults: every kind, any line, one line of printable ASCII

PLAYED = "; the referee plays 6 for it until the game ends"


@all_of(
    ("kind", "ply", "line", "sentence"),
    [
        ("illegal", 2, b"MOVE 0", 'mine sent an illegal move "0" at ply 2'),
        ("illegal", 2, b"", "mine sent an illegal move at ply 2"),
        ("malformed", 3, b"MOV\xff 4", 'mine sent a line that cannot be parsed, "MOV\\u00ff 4" at ply 3'),
        ("malformed", 3, b"", "mine sent a line that cannot be parsed at ply 3"),
        ("timeout", 17, b"MOVE 4", "mine used up its clock at ply 17"),
        ("never-ready", 0, b"", "mine did not send READY in time before the first ply"),
        ("quit", 5, b"QUIT", "mine sent QUIT at ply 5"),
        ("resource", 5, b"", "mine was stopped by a limit of its container at ply 5"),
        (
            *("resource", 5, b"more than 64 MB of memory"),
            'mine was stopped by a limit of its container, "more than 64 MB of memory" at ply 5',
        ),
        ("haste", 5, b"", "mine is at fault (haste) at ply 5"),
    ],
)
def test_a_sentence_names_bot_cause_ply_and_line(kind: str, ply: int, line: bytes, sentence: str) -> None:
    assert describe_fault("mine", kind, ply, line, zombie_move="6") == sentence + PLAYED


def test_a_long_line_is_cut() -> None:
    sentence = describe_fault("mine", "malformed", 1, b"x" * 1000, zombie_move="6")
    assert '"' + "x" * 40 + '"... at ply 1;' in sentence


def test_without_a_move_for_zombies_the_seat_loses() -> None:
    sentence = describe_fault("mine", "timeout", 9, zombie_move=None)
    assert sentence == "mine used up its clock at ply 9; the seat loses the game"


@given(st.sampled_from(FaultKind), st.integers(0, 10**6), st.binary(max_size=2000), st.none() | st.just("6"))
def test_it_is_always_one_short_line_of_printable_ascii(
    kind: FaultKind, ply: int, line: bytes, zombie_move: str | None
) -> None:
    sentence = describe_fault("n" * 32, kind, ply, line, zombie_move=zombie_move)
    assert sentence.isascii()
    assert sentence.isprintable()
    assert len(sentence) < 450


# -- how a game ended


@all_of(
    ("totals", "end", "sentence"),
    [
        ((240, 250), "complete", "boris wins 250 : 240"),
        ((1250, 0), "complete", "anna wins 1,250 : 0"),
        ((240, 240), "complete", "a draw, 240 : 240"),
        ((0, 2), "win", "boris wins 2 : 0"),
        ((1, 1), "draw", "a draw, 1 : 1"),
        ((2, 0), "forfeit", "anna wins 2 : 0 by forfeit"),
        ((0, 0), "forfeit", "no winner, 0 : 0 by forfeit"),
        ((30, 10), "void", "void, it does not count"),
        ((30, 10, 20), "complete", "anna wins: anna 30, boris 10, cleo 20"),
        ((30, 30, 20), "complete", "a draw of anna and boris: anna 30, boris 30, cleo 20"),
        ((5, 5, 5), "complete", "a draw: anna 5, boris 5, cleo 5"),
        ((0, 9, 9), "forfeit", "no winner by forfeit: anna 0, boris 9, cleo 9"),
    ],
)
def test_the_winner_is_named_with_all_totals(totals: tuple[int, ...], end: str, sentence: str) -> None:
    assert describe_result(("anna", "boris", "cleo")[: len(totals)], totals, end) == sentence


def test_the_seats_that_win() -> None:
    assert winning_seats((30, 10, 30), "complete") == [1, 3]
    assert winning_seats((30, 10), "void") == []


def test_what_a_bot_got_of_the_processor_in_words() -> None:
    assert describe_usage(UsageRecord(1, 1500, 20, None)) == (
        "1,500 ms of processor time, 20 ms held back by its own limit, "
        "an unknown time kept waiting by a busy machine"
    )
