"""Integrals, and the table of elementary ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import sympy as sp

#: Names of new variables, in the order of their use (seed 004 writes z = tan x, then z = tan w).
NAMES = "zwtsuv"


class Integral(NamedTuple):
    integrand: sp.Expr
    variable: sp.Symbol

    def __str__(self) -> str:
        return f"∫ {plain(self.integrand)} d{self.variable}"

    def depends(self, expression: sp.Expr) -> bool:
        """Whether the variable occurs in the expression."""
        return bool(expression.has(self.variable))

    def fresh(self) -> sp.Symbol:
        """A variable that does not occur here, the same one for the same integral."""
        taken = {str(symbol) for symbol in self.integrand.free_symbols} | {str(self.variable)}
        return sp.Symbol(next(name for name in NAMES if name not in taken))


def plain(expression: sp.Expr) -> str:
    """An expression in the notation of `parse`: `tan(x)^4`."""
    return str(expression).replace("**", "^")


_ARGUMENT = sp.Wild("argument")

#: Schemes f(u) -> its integral over u, for u = ax + b; a scheme stands for infinitely many problems.
_SCHEMES: tuple[tuple[Callable[[sp.Expr], sp.Expr], Callable[[sp.Expr], sp.Expr]], ...] = (
    (lambda u: sp.exp(u), lambda u: sp.exp(u)),
    (lambda u: sp.sin(u), lambda u: -sp.cos(u)),
    (lambda u: sp.cos(u), lambda u: sp.sin(u)),
    (lambda u: 1 / sp.cos(u) ** 2, lambda u: sp.tan(u)),
    (lambda u: 1 / sp.sin(u) ** 2, lambda u: -1 / sp.tan(u)),
    (lambda u: sp.sinh(u), lambda u: sp.cosh(u)),
    (lambda u: sp.cosh(u), lambda u: sp.sinh(u)),
)


@cache
def table_integral(problem: Integral) -> sp.Expr | None:
    """The answer from the table of elementary integrals, or None."""
    integrand, variable = problem
    if integrand == 1:
        return variable
    power = _power(problem)
    if power is not None:
        return power
    for function, integral in _SCHEMES:
        found = integrand.match(function(_ARGUMENT))
        slope = _slope(found[_ARGUMENT], variable) if found else None
        if found and slope is not None:
            return integral(found[_ARGUMENT]) / slope
    return None


def _power(problem: Integral) -> sp.Expr | None:
    """∫ (ax + b)^n dx and ∫ c^(ax + b) dx."""
    integrand, variable = problem
    base, exponent = integrand.as_base_exp()
    if not problem.depends(exponent):
        slope = _slope(base, variable)
        if slope is None:
            return None
        return sp.log(base) / slope if exponent == -1 else base ** (exponent + 1) / (exponent + 1) / slope
    slope = _slope(exponent, variable)
    if problem.depends(base) or slope is None or not base.is_positive:
        return None
    return integrand / sp.log(base) / slope


def _slope(expression: sp.Expr, variable: sp.Symbol) -> sp.Expr | None:
    """The a of ax + b, None if the expression is not of this form or a is 0."""
    slope = sp.diff(expression, variable)
    return None if slope == 0 or slope.has(variable) else slope
