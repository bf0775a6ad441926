"""Faults as sentences: every kind, any line, one line of printable ASCII."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_protocol.record import FaultKind, describe_fault

PLAYED = "; the referee plays 6 for it until the game ends"


@pytest.mark.parametrize(
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
