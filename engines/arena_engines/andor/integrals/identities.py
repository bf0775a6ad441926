"""Algebraic and trigonometric identities: another form of the same integrand.

Division of polynomials, partial fractions, completing the square, multiplying out; odd powers,
half angles, products as sums, secants as tangents. It must not know: searches, other rules.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp
from sympy.simplify.fu import TR8

from arena_engines.andor.integrals.problem import Integral, Step, plain


def _another_form(problem: Integral, label: str, form: sp.Expr) -> Iterator[Step]:
    if form != problem.integrand:
        yield Step(label, (Integral(form, problem.variable),))


def division(problem: Integral) -> Iterator[Step]:
    """A quotient of polynomials: the numerator divided by the denominator, or partial fractions."""
    x = problem.variable
    numerator, denominator = sp.fraction(sp.together(problem.integrand))
    if not problem.depends(denominator) or not problem.integrand.is_rational_function(x):
        return
    quotient, remainder = sp.div(numerator, denominator, x)
    if quotient != 0:
        yield from _another_form(problem, "division", quotient + remainder / denominator)
    yield from _another_form(problem, "partial fractions", sp.apart(problem.integrand, x))


def complete_square(problem: Integral) -> Iterator[Step]:
    """1 / (ax^2 + bx + c) without a real root: a number times 1 / (1 + u^2), u linear in x."""
    x, new = problem.variable, problem.fresh()
    base, exponent = problem.integrand.as_base_exp()
    if exponent != -1 or not base.is_polynomial(x) or sp.degree(base, x) != 2:
        return
    a, b, c = (sp.Poly(base, x).coeff_monomial(x**power) for power in (2, 1, 0))
    rest = c - b**2 / (4 * a)
    if not (a.is_positive and rest.is_positive) or base == 1 + x**2:
        return
    u = sp.sqrt(a / rest) * (x + b / (2 * a))
    yield Step(
        f"complete the square, {new} = {plain(u)}",
        (Integral(1 / (rest * sp.sqrt(a / rest) * (1 + new**2)), new),),
        combine=lambda answers: answers[0].subs(new, u),
    )


def multiply_out(problem: Integral) -> Iterator[Step]:
    """(f + g) h = fh + gh."""
    yield from _another_form(problem, "multiply out", sp.expand(problem.integrand, trig=False))


def odd_power(problem: Integral) -> Iterator[Step]:
    """sin^(2k+1) = sin (1 - cos^2)^k, and the same with the roles changed."""
    f, x = problem
    for function, other in ((sp.sin(x), sp.cos(x)), (sp.cos(x), sp.sin(x))):
        power = _power_of(f, function)
        if power >= 3 and power % 2:
            form = f / function ** (power - 1) * (1 - other**2) ** ((power - 1) // 2)
            yield from _another_form(problem, f"odd power of {plain(function)}", form)


def _power_of(expression: sp.Expr, function: sp.Expr) -> int:
    """The exponent of a factor, 0 if it is no factor or its exponent no positive integer."""
    for factor in sp.Mul.make_args(expression):
        base, exponent = factor.as_base_exp()
        if base == function and exponent.is_Integer and exponent > 0:
            return int(exponent)
    return 0


def half_angles(problem: Integral) -> Iterator[Step]:
    """sin^2 = (1 - cos 2x) / 2, cos^2 = (1 + cos 2x) / 2."""
    form = problem.integrand.replace(_is_even_power, _with_double_angle)
    yield from _another_form(problem, "half angles", sp.expand(form))


def _is_even_power(node: sp.Basic) -> bool:
    return isinstance(node, sp.Pow) and node.base.func in (sp.sin, sp.cos) and _is_even(node.exp)


def _is_even(exponent: sp.Expr) -> bool:
    return bool(exponent.is_Integer and exponent > 0 and exponent % 2 == 0)


def _with_double_angle(node: sp.Pow) -> sp.Expr:
    sign = -1 if node.base.func is sp.sin else 1
    return ((1 + sign * sp.cos(2 * node.base.args[0])) / 2) ** (node.exp / 2)


def products_as_sums(problem: Integral) -> Iterator[Step]:
    """sin a cos b = (sin(a + b) + sin(a - b)) / 2, and its kin."""  # noqa: D403
    if problem.integrand.has(sp.sin, sp.cos):
        yield from _another_form(problem, "products as sums", sp.expand(TR8(problem.integrand)))


def secants_as_tangents(problem: Integral) -> Iterator[Step]:
    """1 / cos^2 = 1 + tan^2, in even powers."""
    form = problem.integrand.replace(_is_even_secant, _with_tangent)
    yield from _another_form(problem, "secants as tangents", form)


def _is_even_secant(node: sp.Basic) -> bool:
    return isinstance(node, sp.Pow) and node.base.func is sp.cos and _is_even(-node.exp)


def _with_tangent(node: sp.Pow) -> sp.Expr:
    return (1 + sp.tan(node.base.args[0]) ** 2) ** (-node.exp / 2)
