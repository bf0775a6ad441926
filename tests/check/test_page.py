"""docs/check.md: what is generated there is what the suites and the starters give now."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from arena_check.cases import CaseResult

from . import page

AGAIN = "`python -m tests.check.page` writes it again"


def test_the_clauses_are_those_of_the_suites() -> None:
    assert page.part("clauses") == page.clauses(), AGAIN


def test_the_score_is_that_of_the_tests() -> None:
    assert page.part("score") == page.score(), AGAIN


#: Those that take the cases of `CHOSEN`; in the soak run all take all. A process is started for each case,
#: and that takes most of the time.
SAMPLED = ("python", "smallest")
#: A case for each branch of a starter: lines, verbs and options, PING, seats, games one after the other, and
#: every way in which a connection or a log-in ends.
CHOSEN = (
    *("1.1/2", "1.5/1", "1.7/1", "1.9/1", "1.9/2", "3.6/1", "4.1/2", "4.3/3", "4.9/1", "4.10/1", "6.6/1"),
    *("8.1/3", "8.1/6", "8.2/1", "8.3/1", "8.4/1", "8.6/1", "8.6/2", "11.2/1", "11.2/2", "11.2/3"),
)


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Future[list[CaseResult]]]:
    """The results of every column, checked beside each other: a case waits most of its time."""
    with ThreadPoolExecutor(len(SAMPLED)) as threads:
        return {
            column: threads.submit(page.check, column, tmp_path_factory.mktemp(column), CHOSEN)
            for column in SAMPLED
        }


@pytest.mark.real
@pytest.mark.parametrize("column", SAMPLED)
def test_each_starter_is_as_conformant_as_published(
    column: str, checked: dict[str, Future[list[CaseResult]]]
) -> None:
    results = checked[column].result()  # a skipped build skips here
    published, cells = page.published(column), page.cells(results)
    assert cells == {clause: published[clause] for clause in cells}, AGAIN
    if column != "smallest":
        assert [(each.case.id, each.actual) for each in results if each.verdict != "ok"] == []


@pytest.mark.soak
@pytest.mark.parametrize("column", page.COLUMNS)
def test_in_every_case(column: str, tmp_path: Path) -> None:
    assert page.cells(page.check(column, tmp_path)) == page.published(column), AGAIN
