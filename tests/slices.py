"""The share of a table's rows that `make test` takes; `make soak` takes all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet


def rows(table: Iterable[object], every: int) -> list[ParameterSet]:
    """The rows of a table as parameters, of which all but the first of each `every` are for `make soak`.

    A row that is a plain tuple has a value for each parameter.
    """
    return [
        pytest.param(
            *(row if type(row) is tuple else (row,)), marks=[pytest.mark.soak] * (number % every > 0)
        )
        for number, row in enumerate(table)
    ]
