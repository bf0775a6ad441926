"""The rules of integration: constant factors, sums, parts and substitutions.

Each is a function from an integral to the reductions it offers. Sums and parts make AND vertices,
a substitution replaces one integral by another. It must not know: searches, other rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sympy as sp

from arena_engines.andor.integrals.problem import Combine, Integral, Step, plain
from arena_engines.andor.integrals.table import table_integral

Rule = Callable[[Integral], Iterator[Step]]


def constant_factor(problem: Integral) -> Iterator[Step]:
    """∫ c f dx = c ∫ f dx."""
    factor, rest = problem.integrand.as_independent(problem.variable, as_Add=False)
    if factor != 1:
        yield Step(
            f"constant factor {plain(factor)}",
            (Integral(rest, problem.variable),),
            combine=lambda answers: factor * answers[0],
        )


def sum_of_functions(problem: Integral) -> Iterator[Step]:
    """∫ (f + g) dx = ∫ f dx + ∫ g dx."""
    if problem.integrand.is_Add:
        parts = tuple(Integral(term, problem.variable) for term in problem.integrand.args)
        yield Step("sum", parts, combine=lambda answers: sp.Add(*answers))


def by_parts(problem: Integral) -> Iterator[Step]:
    """∫ u dv = u v - ∫ v du, for every split whose dv the table has, logarithms and arcs first as u."""
    x = problem.variable
    factors = list(sp.Mul.make_args(problem.integrand))
    splits = [(factor, sp.Mul(*(each for each in factors if each is not factor))) for factor in factors]
    for u, dv in sorted(splits, key=lambda split: _rank_as_u(split[0])):
        v = table_integral(Integral(dv, x))
        if v is None or not problem.depends(u) or _rank_as_u(u) > 1:
            continue
        rest = sp.powsimp(sp.expand_mul(sp.cancel(v * sp.diff(u, x))))
        yield Step(
            f"parts u = {plain(u)}",
            (Integral(dv, x), Integral(rest, x)),
            combine=_product_rule(u),
        )


def _rank_as_u(factor: sp.Expr) -> int:
    """What becomes simpler when differentiated comes first; what does not is no u at all."""
    base = factor.as_base_exp()[0]
    if base.func in (sp.log, sp.atan, sp.asin):
        return 0
    return 1 if factor.is_polynomial() else 2


def inner_function(problem: Integral) -> Iterator[Step]:
    """Put u = g(x) for an inner g: ∫ f(g) g' dx = ∫ f(u) du."""
    x, new = problem.variable, problem.fresh()
    for inner in _inner_functions(problem):
        quotient = sp.simplify(problem.integrand / sp.diff(inner, x))
        replaced = quotient.subs(inner, new)
        if not replaced.has(x) and replaced.has(new):
            yield Step(
                f"{new} = {plain(inner)}",
                (Integral(replaced, new),),
                combine=_put_back(new, inner),
            )


def _inner_functions(problem: Integral) -> list[sp.Expr]:
    """Functions, bases and exponents inside the integrand, the smallest first; never x itself."""
    found: set[sp.Expr] = set()
    for node in sp.preorder_traversal(problem.integrand):
        inside = node.args if isinstance(node, sp.Function | sp.Pow) else ()
        found.update([node] if isinstance(node, sp.Function | sp.exp) else [])
        found.update(arg for arg in inside if problem.depends(arg) and arg != problem.variable)
    usable = (each for each in found if each != problem.integrand or each.args)
    return sorted(usable, key=lambda each: (sp.count_ops(each), sp.default_sort_key(each)))


def tangent(problem: Integral) -> Iterator[Step]:
    """∫ R(tan x) dx = ∫ R(z) / (1 + z^2) dz with z = tan x: the substitution of the seed."""
    x, new = problem.variable, problem.fresh()
    replaced = problem.integrand.subs(sp.tan(x), new)
    if not replaced.has(x):
        yield Step(
            f"{new} = tan({x})",
            (Integral(replaced / (1 + new**2), new),),
            # On each branch of the tangent arctan(tan x) is x and a constant.
            combine=lambda answers: answers[0].subs(new, sp.tan(x)).subs(sp.atan(sp.tan(x)), x),
        )


def circular(problem: Integral) -> Iterator[Step]:
    """X = tan w where 1 + x^2 stands, x = sin w where the root of 1 - x^2 stands."""
    x, new = problem.variable, problem.fresh()
    for square, function, inverse in ((1 + x**2, sp.tan, sp.atan), (1 - x**2, sp.sin, sp.asin)):
        if not problem.integrand.has(square) or sp.diff(problem.integrand, x) == 0:
            continue
        replaced = problem.integrand.subs(x, function(new)) * sp.diff(function(new), new)
        yield Step(
            f"{x} = {function.__name__}({new})",
            (Integral(_on_the_circle(replaced, new), new),),
            combine=_put_back(new, inverse(x)),
        )


def _on_the_circle(expression: sp.Expr, w: sp.Symbol) -> sp.Expr:
    """Simplify with sqrt(cos^2) = cos, true for w between -pi/2 and pi/2, where x = sin w puts it."""
    cosine = sp.Symbol("cosine", positive=True)
    simpler = sp.trigsimp(expression).subs(sp.cos(w), cosine)
    return sp.simplify(sp.sqrtdenest(simpler)).subs(cosine, sp.cos(w))


def _product_rule(u: sp.Expr) -> Combine:
    return lambda answers: u * answers[0] - answers[1]


def _put_back(new: sp.Symbol, old: sp.Expr) -> Combine:
    """The answer in the old variable; sin 2w is written by sin w and cos w, whose arcs are known."""
    return lambda answers: sp.expand_trig(answers[0]).subs(new, old)
