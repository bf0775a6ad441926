"""An integral as a problem, and a reduction of it that knows how to build the answer back.

It must not know: which rules there are, searches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import sympy as sp

from arena_engines.andor.graph import Reduction

#: The answers of the parts, in their order, to the answer of the whole.
Combine = Callable[[tuple[sp.Expr, ...]], sp.Expr]

#: The names of new variables; the seed substitutes z = tan x, then z = tan w.
NAMES = "zwtsuv"


class Integral(NamedTuple):
    """The problem of an indefinite integral."""

    integrand: sp.Expr
    variable: sp.Symbol

    def __str__(self) -> str:
        return f"∫ {plain(self.integrand)} d{self.variable}"

    def depends(self, expression: sp.Expr) -> bool:
        """Whether the variable occurs in the expression."""
        return bool(expression.has(self.variable))

    def fresh(self) -> sp.Symbol:
        """A variable that does not occur here: always the same for the same integral."""
        taken = {str(symbol) for symbol in self.integrand.free_symbols} | {str(self.variable)}
        return sp.Symbol(next(name for name in NAMES if name not in taken))


@dataclass(frozen=True, slots=True)
class Step(Reduction[Integral]):
    """A reduction by one rule of integration; two steps are equal if label and parts are."""

    combine: Combine = field(default=lambda answers: answers[0], compare=False, repr=False)


def plain(expression: sp.Expr) -> str:
    """An expression as a person types it: `tan(x)^4`."""
    return str(expression).replace("**", "^")
