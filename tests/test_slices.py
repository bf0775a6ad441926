"""How many tests of `make test` need a process, and which rows of a table it takes."""

from __future__ import annotations

import pytest

from .slices import rows

#: A test with a process, a socket or a browser is dear, and a busy machine makes it late.
MOST_REAL = 250


@pytest.mark.parametrize(
    ("count", "every", "taken"), [(0, 3, []), (1, 3, [0]), (7, 3, [0, 3, 6]), (3, 1, [0, 1, 2])]
)
def test_the_first_of_each_so_many_rows_is_taken(count: int, every: int, taken: list[int]) -> None:
    table = rows(range(count), every)
    assert [each.values for each in table] == [(number,) for number in range(count)]
    assert [number for number, each in enumerate(table) if not each.marks] == taken
    assert {mark.name for each in table for mark in each.marks} <= {"soak"}


def test_a_row_of_several_values_is_a_value_for_each_parameter() -> None:
    assert rows([("a", 1)], 2)[0].values == ("a", 1)


def test_few_tests_need_a_process(request: pytest.FixtureRequest) -> None:
    """Of the tests of this run: with `make test` of all."""
    real = {
        item.nodeid.partition("[")[0]
        for item in request.session.items
        if item.get_closest_marker("real") and not item.get_closest_marker("soak")
    }
    assert len(real) <= MOST_REAL, sorted(real)
