"""Texts of people: what an editor adds to them is no part of the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_protocol.text import MARK, text_of, unmarked

LINES = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\ufeff")))


@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_a_text_is_the_same_whatever_editor_has_written_it(lines: list[str], end: str, marked: bool) -> None:
    data = end.join(lines).encode("utf-8")
    assert text_of(MARK + data if marked else data) == "\n".join(lines)


@given(st.binary())
def test_one_mark_is_taken_away_and_no_other_byte(data: bytes) -> None:
    assert unmarked(MARK + data) == data
    assert unmarked(b"x" + MARK + data) == b"x" + MARK + data


def test_what_is_not_utf_8_is_no_text() -> None:
    with pytest.raises(UnicodeDecodeError):
        text_of("Größe".encode("latin-1"))
