"""How many tests of `make test` need a process, and which rows of a table it takes."""

from __future__ import annotations

import inspect

import pytest

from .slices import all_of, rows

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


def test_all_rows_are_one_test_which_shows_each_that_fails() -> None:
    taken = []

    @all_of("left", [1, 2])
    @all_of(("right", "third"), [(3, 4), (5, 6)])
    def sums(left: int, right: int, third: int, least: int) -> None:
        taken.append((left, right, third))
        assert left + right > least
        if third == 6:
            pytest.fail("no six")

    assert list(inspect.signature(sums).parameters) == ["least"]
    with pytest.raises(BaseExceptionGroup, match="2 of 2 rows") as found:
        sums(least=4)
    assert taken == [(1, 3, 4), (1, 5, 6), (2, 3, 4), (2, 5, 6)]
    first, second = found.value.exceptions
    assert isinstance(first, BaseExceptionGroup)
    assert [type(each) for each in first.exceptions] == [AssertionError, pytest.fail.Exception]
    assert first.exceptions[0].__notes__ == ["with right, third = 3, 4"]
    assert second.__notes__ == ["with left = 2"]


def test_a_table_without_the_parameters_of_its_test_or_without_rows_is_refused() -> None:
    with pytest.raises(AssertionError, match="expected the parameters"):
        all_of("other", [1])(print)
    with pytest.raises(AssertionError, match="expected rows"):
        all_of("one", [])


def test_few_tests_need_a_process(request: pytest.FixtureRequest) -> None:
    """Of the tests of this run: with `make test` of all."""
    real = {
        item.nodeid.partition("[")[0]
        for item in request.session.items
        if item.get_closest_marker("real") and not item.get_closest_marker("soak")
    }
    assert len(real) <= MOST_REAL, sorted(real)
