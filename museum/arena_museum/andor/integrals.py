"""Indefinite integrals solved by best-first search over integral_rules.py; the parser of integrands.

`parse` accepts arithmetic and a few functions; any other text is one clear ValueError, and numbers are
bounded before they are evaluated. SymPy rewrites expressions; its integrator is never called.
"""

from __future__ import annotations

import ast
import keyword
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import sympy as sp

from arena_museum.andor import integral_rules
from arena_museum.andor.integral_rules import Rewriting
from arena_museum.andor.integral_table import Integral, table_integral
from arena_museum.andor.search import ProblemSpace, Reduction, Solution, best_first

FUNCTIONS = ("sin", "cos", "tan", "exp", "log", "sqrt", "atan", "asin", "sinh", "cosh", "pi", "E")
#: The longest integrand; longer ones could nest too deeply for Python's parser.
MAX_CHARACTERS = 1000
#: The most digits of a number in it, and the largest power of the variable: 9^9^9^9 must not be evaluated.
MAX_DIGITS = 1000.0
#: Digits of an exponent are clipped here: too many for MAX_DIGITS, few enough for a float.
LARGE = 100.0

_WORD = re.compile(r"[^\W\d]\w*")
_SIGNS = re.compile(r"[\w\s+\-*/^().]+", re.ASCII)


def parse(text: str, variable: str = "x") -> tuple[sp.Expr, sp.Symbol]:
    """Read an integrand such as `tan(x)^4`.

    Raises ValueError, one line, for an invalid variable, a name that is neither the variable nor a known
    function, a number that is too large, and a text that is not an expression.
    """
    symbol = _symbol(variable)
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"an integrand has at most {MAX_CHARACTERS} characters, not {len(text)}")
    strangers = [word for word in _WORD.findall(text) if word != variable and word not in FUNCTIONS]
    if strangers:
        raise ValueError(f"{strangers[0]!r} is not known here; known are {variable}, {', '.join(FUNCTIONS)}")
    return _expression(text, symbol), symbol


def _symbol(variable: str) -> sp.Symbol:
    named = re.fullmatch(r"[A-Za-z]\w*", variable, re.ASCII) and not keyword.iskeyword(variable)
    if not named or variable in FUNCTIONS:
        raise ValueError(f"a variable is a name such as x, and no function's, not {variable!r}")
    return sp.Symbol(variable)


def _expression(text: str, symbol: sp.Symbol) -> sp.Expr:
    """Evaluate the text. Only arithmetic and known names reach SymPy's parser."""
    none = f"{text!r} is no expression in {symbol}"
    if not _SIGNS.fullmatch(text):
        raise ValueError(none)
    python = text.strip().replace("^", "**")
    try:
        digits = _digits(ast.parse(python, mode="eval").body)
        if digits > MAX_DIGITS:
            raise ValueError(f"{text!r} has a power or a number of more than {MAX_DIGITS:.0f} digits")
        expression = sp.sympify(python, locals={symbol.name: symbol})
    except (sp.SympifyError, TypeError, SyntaxError, AttributeError, RecursionError, MemoryError) as error:
        raise ValueError(none) from error
    if not isinstance(expression, sp.Expr) or not _is_finite(expression):
        raise ValueError(none)
    return expression


def _digits(node: ast.expr) -> float:
    """A bound of the digits of this number; the variable counts as one digit."""
    match node:
        case ast.Constant(int() | float() as number):
            return math.log10(max(abs(number), 1))
        case ast.BinOp(left, ast.Pow(), right):
            return max(_digits(left), 1.0) * math.pow(10, min(_digits(right), LARGE))
        case ast.BinOp(left, ast.Add() | ast.Sub(), right):
            return max(_digits(left), _digits(right)) + math.log10(2)
        case ast.BinOp(left, _, right):
            return _digits(left) + _digits(right)
        case ast.UnaryOp(_, inner) | ast.Call(_, [inner]):
            return _digits(inner)
    return 1.0


def _is_finite(expression: sp.Expr) -> bool:
    return not expression.has(sp.nan, sp.zoo, sp.oo, -sp.oo)


__all__ = ["Integrated", "integrate", "parse"]


#: In the order that seed 004 advises: sums and parts before substitutions and identities.
RULES: tuple[integral_rules.Rule, ...] = (
    integral_rules.constant_factor,
    integral_rules.sum_of_functions,
    integral_rules.by_parts,
    integral_rules.by_parts_twice,
    integral_rules.inner_function,
    integral_rules.tangent,
    integral_rules.quotients_as_tangents,
    integral_rules.division,
    integral_rules.linear_over_quadratic,
    integral_rules.complete_square,
    integral_rules.odd_power,
    integral_rules.secants_as_tangents,
    integral_rules.circular,
    integral_rules.secant,
    integral_rules.unit_quadratic,
    integral_rules.logarithm,
    integral_rules.root,
    integral_rules.multiply_out,
    integral_rules.half_angles,
    integral_rules.products_as_sums,
    integral_rules.half_tangent,
)

#: Reductions to integrands with more operations are dropped.
MAX_OPERATIONS = 50
#: The estimated cost of one operation of the integrand, in steps.
STEPS_PER_OPERATION = 0.25
MAX_EXPANDED = 400


class Integrals(ProblemSpace[Integral]):
    """The AND/OR graph of integrals."""

    def is_elementary(self, problem: Integral) -> bool:
        return table_integral(problem) is not None

    def reductions(self, problem: Integral) -> Iterable[Reduction[Integral]]:
        """The reductions of all rules; if a constant factor or a sum is split off, of that rule only."""
        for rule in RULES:
            offered = [step for step in rule(problem) if self._is_useful(problem, step)]
            yield from offered
            if offered and rule in (integral_rules.constant_factor, integral_rules.sum_of_functions):
                return

    def _is_useful(self, problem: Integral, step: Rewriting) -> bool:
        return all(part != problem and sp.count_ops(part.integrand) <= MAX_OPERATIONS for part in step.parts)

    def estimate(self, problem: Integral) -> float:
        """The longer the integrand, the more steps; not a lower bound."""
        return 1 + STEPS_PER_OPERATION * float(sp.count_ops(problem.integrand))


@dataclass(frozen=True, slots=True)
class Integrated:
    """The answer without its constant, the solution graph, and the number of expanded problems."""

    answer: sp.Expr
    solution: Solution[Integral]
    expanded: int


def integrate(integrand: sp.Expr, variable: sp.Symbol, *, limit: int = MAX_EXPANDED) -> Integrated | None:
    """Solve an indefinite integral; None if the rules do not solve it within `limit` expanded problems."""
    search = best_first(Integrals(), Integral(integrand, variable), limit=limit)
    if search.solution is None:
        return None
    answer = _answer(search.solution, search.solution.root)
    return Integrated(answer, search.solution, search.expanded)


def _answer(solution: Solution[Integral], problem: Integral) -> sp.Expr:
    step = solution.choices[problem]
    if step is None:
        return table_integral(problem)
    assert isinstance(step, Rewriting), "every rule makes steps"
    return step.combine(tuple(_answer(solution, part) for part in step.parts))
