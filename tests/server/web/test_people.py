"""Names of people: the same ones for the server and for the pages."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.terms.people import LONGEST_NAME, MOST_MARKS, looks, person_name

from .node import Node

#: What was typed, and the name that is kept; None: there is none.
NAMES = [
    ("ann.2", "ann.2"),
    ("Жана", "Жана"),
    ("Ελένη Κ.", "Ελένη Κ."),
    ("Šarūnas Žąsis", "Šarūnas Žąsis"),
    ("S\u030carūnas", "Šarūnas"),
    ("ليلى", "ليلى"),
    ("שָׁלוֹם", unicodedata.normalize("NFC", "שָׁלוֹם")),
    ("山田 太郎", "山田 太郎"),
    ("ภาษาไทย", "ภาษาไทย"),
    ("나라", "나라"),
    ("می\u200cخواهم", "می\u200cخواهم"),
    ("क्\u200dष", "क्\u200dष"),
    ("O’Neill-Čapek (2)", "O’Neill-Čapek (2)"),
    ("🐙 7", "🐙 7"),
    ("  a \u00a0 b\u3000", "a b"),
    ("x" * LONGEST_NAME, "x" * LONGEST_NAME),
    ("ệ" * LONGEST_NAME, "ệ" * LONGEST_NAME),
    ("q\u0303" * LONGEST_NAME, "q\u0303" * LONGEST_NAME),
    ("x" * (LONGEST_NAME + 1), None),
    ("", None),
    (" ", None),
    ("...", None),
    ("🐙", None),
    ("\u0301a", None),
    ("a" + "\u0323" * MOST_MARKS, "ạ" + "\u0323" * (MOST_MARKS - 1)),
    ("q" + "\u0323" * (MOST_MARKS + 1), None),
    ("a\nb", None),
    ("a\tb", None),
    ("a\x1b[2J", None),
    ("ann\u202ebob", None),
    ("\u2067ann", None),
    ("ann\u200f", None),
    ("a\u200bb", None),
    ("a\u200db", None),
    ("\u200cمی", None),
    ("می\u200c", None),
    ("می\u200c\u200cخ", None),
    ("a\ufeff", None),
    ("a\u00ad", None),
    ("a\u3164", None),
    ("a\ufe0f", None),
    ("a\u2028b", None),
    ("a\ue000", None),
    ("a\U000e0041", None),
]


def kept(text: str) -> str | None:
    try:
        return person_name(text)
    except ValueError as error:
        line = str(error)
    assert line.isascii()
    assert line.startswith("expected 1 to 32 characters, ")
    return None


@all_of("row", NAMES)
def test_a_name_in_any_script(row: tuple[str, str | None]) -> None:
    text, name = row
    assert kept(text) == name


def test_the_pages_keep_the_same_names(node: Node) -> None:
    assert node("personNames", texts=[text for text, _ in NAMES]) == [name for _, name in NAMES]


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cn"]), max_size=12))
def test_what_is_kept_is_kept_again(text: str) -> None:
    name = kept(text)
    assert name is None or (kept(name) == name and unicodedata.is_normalized("NFC", name))


@pytest.mark.parametrize("other", ["CHAMPION-2", "сhаmрiоn-2", "ｃhampion-2"])
def test_names_that_look_like_that_of_an_engine(other: str) -> None:
    assert looks(other) == looks("champion-2")
    assert looks("шампион-2") != looks("champion-2")
