"""The rows of a table that `make test` takes, all others are for `make soak`; many small rows in one test."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

Test = Callable[..., None]


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


def all_of(names: str | tuple[str, ...], table: Iterable[object]) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, in one test: for many rows of a millisecond, as a test costs five.

    All rows are taken, also behind one that fails; each that fails is shown with its values. Fixtures of
    the function are made once for all rows.
    """
    several = not isinstance(names, str)
    wanted = names if isinstance(names, tuple) else (names,)
    values = [tuple(row) if several else (row,) for row in table]  # type: ignore[arg-type]

    def decorate(function: Test) -> Test:
        @wraps(function)
        def whole(*given: Any, **more: Any) -> None:
            failed: list[BaseException] = []
            for row in values:
                try:
                    function(*given, **more, **dict(zip(wanted, row, strict=True)))
                except (Exception, pytest.fail.Exception, BaseExceptionGroup) as error:
                    error.add_note(f"with {', '.join(wanted)} = {', '.join(map(repr, row)):.300}")
                    failed.append(error)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(values)} rows", failed)

        signature = inspect.signature(function)
        left = [each for name, each in signature.parameters.items() if name not in wanted]
        assert len(left) + len(wanted) == len(signature.parameters), f"expected the parameters {wanted}"
        whole.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return whole

    assert values, "expected rows"
    return decorate
