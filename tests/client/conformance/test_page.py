"""docs/check.md: what is generated there is what the suites and the starters give now."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import page

AGAIN = "`python -m tests.client.conformance.page` writes it again"


def test_the_clauses_are_those_of_the_suites() -> None:
    assert page.part("clauses") == page.clauses(), AGAIN


def test_the_score_is_that_of_the_tests() -> None:
    assert page.part("score") == page.score(), AGAIN


@pytest.mark.slow
@pytest.mark.parametrize("column", page.COLUMNS)
def test_each_starter_is_as_conformant_as_published(column: str, tmp_path: Path) -> None:
    results = page.check(column, tmp_path)
    assert page.cells(results) == page.published(column), AGAIN
    if column != "smallest":
        assert [(each.case.id, each.actual) for each in results if each.verdict != "ok"] == []
