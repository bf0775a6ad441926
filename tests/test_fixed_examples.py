"""`make test` draws few examples, the same every time, whatever ran before."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def drawn() -> list[int]:
    values = []

    @given(st.lists(st.integers(), min_size=10))
    def check(some: list[int]) -> None:
        values.extend(some)

    check()
    return values


DRAWN: list[int] = []


@settings(max_examples=40)
@given(st.integers())
def test_a_property_that_asks_for_forty(number: int) -> None:
    DRAWN.append(number)


def test_a_tenth_of_the_examples_that_a_property_asks_for_are_drawn() -> None:
    DRAWN.clear()
    test_a_property_that_asks_for_forty()
    assert len(DRAWN) == 4


def test_the_examples_of_a_property_are_always_the_same() -> None:
    assert drawn() == drawn()


def test_they_do_not_depend_on_the_modules_that_other_tests_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = drawn()
    (tmp_path / "full_of_constants.py").write_text(f"NUMBERS = {list(range(10**9, 10**9 + 1000))}\n")
    monkeypatch.syspath_prepend(tmp_path)
    import full_of_constants  # noqa: F401

    assert drawn() == before
    monkeypatch.delitem(sys.modules, "full_of_constants")
