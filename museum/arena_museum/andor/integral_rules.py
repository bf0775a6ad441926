"""The rules of integration as reductions.

A rule is a function from an integral to its reductions. Sums and integration by parts make AND vertices, a
substitution or an identity replaces one integral by another. SymPy rewrites expressions; its integrator is
never called.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import sympy as sp
from sympy.simplify.fu import TR8

from arena_museum.andor.integral_table import Integral, plain, table_integral
from arena_museum.andor.search import Reduction

#: From the answers of the parts, in order, to the answer of the whole.
Combine = Callable[[tuple[sp.Expr, ...]], sp.Expr]

#: Longer quotients are not simplified by all means of SymPy, which may take minutes.
MAX_SIMPLIFIED = 40


@dataclass(frozen=True, slots=True)
class Rewriting(Reduction[Integral]):
    """A reduction by one rule; steps are equal if label and parts are equal."""

    combine: Combine = field(default=lambda answers: answers[0], compare=False, repr=False)


Rule = Callable[[Integral], Iterator[Rewriting]]


def constant_factor(problem: Integral) -> Iterator[Rewriting]:
    """∫ c f dx = c ∫ f dx."""
    factor, rest = problem.integrand.as_independent(problem.variable, as_Add=False)
    if factor != 1:
        yield Rewriting(
            f"constant factor {plain(factor)}",
            (Integral(rest, problem.variable),),
            combine=lambda answers: factor * answers[0],
        )


def sum_of_functions(problem: Integral) -> Iterator[Rewriting]:
    """∫ (f + g) dx = ∫ f dx + ∫ g dx."""
    if problem.integrand.is_Add:
        parts = tuple(Integral(term, problem.variable) for term in problem.integrand.args)
        yield Rewriting("sum", parts, combine=lambda answers: sp.Add(*answers))


def by_parts(problem: Integral) -> Iterator[Rewriting]:
    """∫ u dv = u v - ∫ v du for every split whose dv is in the table; logarithms and arcs first as u."""
    x = problem.variable
    factors = list(sp.Mul.make_args(problem.integrand))
    splits = [(factor, sp.Mul(*(each for each in factors if each is not factor))) for factor in factors]
    for u, dv in sorted(splits, key=lambda split: _rank_as_u(split[0])):
        v = table_integral(Integral(dv, x))
        if v is None or not problem.depends(u) or _rank_as_u(u) > 1:
            continue
        rest = sp.powsimp(sp.expand_mul(sp.cancel(v * sp.diff(u, x))))
        yield Rewriting(
            f"parts u = {plain(u)}",
            (Integral(dv, x), Integral(rest, x)),
            combine=_product_rule(u),
        )


def by_parts_twice(problem: Integral) -> Iterator[Rewriting]:
    """∫ e^u s dx = I for s = sin v or cos v, u and v linear: two integrations by parts lead back to I.

    With w = ∫ e^u dx, u' = a and s'' = -b^2 s they give I = s w - s' w / a - (b / a)^2 I.
    """
    x = problem.variable
    factors = sp.Mul.make_args(problem.integrand)
    if len(factors) != 2:
        return
    for power, wave in (factors, factors[::-1]):
        base, exponent = power.as_base_exp()
        if wave.func not in (sp.sin, sp.cos) or problem.depends(base):
            continue
        a, b = sp.log(base) * sp.diff(exponent, x), sp.diff(wave.args[0], x)
        if a != 0 and b != 0 and not problem.depends(a) and not problem.depends(b):
            yield Rewriting(
                "parts twice",
                (Integral(power, x),),
                combine=_twice(wave, sp.diff(wave, x), a, b),
            )


def _twice(wave: sp.Expr, slope: sp.Expr, a: sp.Expr, b: sp.Expr) -> Combine:
    return lambda answers: (wave - slope / a) * answers[0] / (1 + (b / a) ** 2)


def _rank_as_u(factor: sp.Expr) -> int:
    """The order of factors as u: those that differentiation simplifies first; above 1 none."""
    base = factor.as_base_exp()[0]
    if base.func in (sp.log, sp.atan, sp.asin):
        return 0
    return 1 if factor.is_polynomial() else 2


def inner_function(problem: Integral) -> Iterator[Rewriting]:
    """Substitute u = g(x) for an inner g: ∫ f(g) g' dx = ∫ f(u) du."""
    x, new = problem.variable, problem.fresh()
    for inner in _inner_functions(problem):
        quotient = problem.integrand / sp.diff(inner, x)
        quotient = sp.simplify(quotient) if sp.count_ops(quotient) <= MAX_SIMPLIFIED else sp.powsimp(quotient)
        replaced = quotient.subs(inner, new)
        if not replaced.has(x) and replaced.has(new):
            yield Rewriting(
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


def logarithm(problem: Integral) -> Iterator[Rewriting]:
    """Substitute x = e^u in integrands with log x."""
    x, new = problem.variable, problem.fresh()
    if problem.integrand.has(sp.log(x)):
        replaced = (problem.integrand * x).subs(sp.log(x), new).subs(x, sp.exp(new))
        yield Rewriting(f"{x} = exp({new})", (Integral(replaced, new),), combine=_put_back(new, sp.log(x)))


def root(problem: Integral) -> Iterator[Rewriting]:
    """Substitute x = u^n in integrands with n-th roots of x."""
    x, new = problem.variable, problem.fresh()
    powers = [node.exp for node in problem.integrand.atoms(sp.Pow) if node.base == x and node.exp.is_Rational]
    n = math.lcm(*(power.q for power in powers))
    if n > 1:
        positive = sp.Symbol("positive", positive=True)
        replaced = (problem.integrand.subs(x, positive**n) * n * positive ** (n - 1)).subs(positive, new)
        yield Rewriting(
            f"{x} = {new}^{n}", (Integral(replaced, new),), combine=_put_back(new, x ** sp.Rational(1, n))
        )


def half_tangent(problem: Integral) -> Iterator[Rewriting]:
    """∫ R(sin x, cos x) dx with t = tan(x / 2): sin x = 2 t / (1 + t^2), cos x = (1 - t^2) / (1 + t^2)."""
    x, new = problem.variable, problem.fresh()
    sine, cosine = sp.Dummy(), sp.Dummy()
    form = problem.integrand.subs({sp.sin(x): sine, sp.cos(x): cosine, sp.tan(x): sine / cosine})
    if form.has(x) or not form.is_rational_function(sine, cosine):
        return
    square = 1 + new**2
    replaced = form.subs({sine: 2 * new / square, cosine: (1 - new**2) / square}) * 2 / square
    yield Rewriting(
        f"{new} = tan({x}/2)", (Integral(sp.cancel(replaced), new),), combine=_put_back(new, sp.tan(x / 2))
    )


def tangent(problem: Integral) -> Iterator[Rewriting]:
    """∫ R(tan x) dx = ∫ R(z) / (1 + z^2) dz with z = tan x, the substitution of seed 004."""
    x, new = problem.variable, problem.fresh()
    replaced = problem.integrand.subs(sp.tan(x), new)
    if not replaced.has(x):
        yield Rewriting(
            f"{new} = tan({x})",
            (Integral(replaced / (1 + new**2), new),),
            # On each branch of the tangent, arctan(tan x) is x plus a constant.
            combine=lambda answers: answers[0].subs(new, sp.tan(x)).subs(sp.atan(sp.tan(x)), x),
        )


def circular(problem: Integral) -> Iterator[Rewriting]:
    """Substitute x = tan w in integrands with 1 + x^2, x = sin w in those with 1 - x^2."""
    x, new = problem.variable, problem.fresh()
    for square, function, inverse in ((1 + x**2, sp.tan, sp.atan), (1 - x**2, sp.sin, sp.asin)):
        if not problem.integrand.has(square) or sp.diff(problem.integrand, x) == 0:
            continue
        replaced = problem.integrand.subs(x, function(new)) * sp.diff(function(new), new)
        yield Rewriting(
            f"{x} = {function.__name__}({new})",
            (Integral(_on_the_circle(replaced, new), new),),
            combine=_put_back(new, inverse(x)),
        )


def secant(problem: Integral) -> Iterator[Rewriting]:
    """Substitute x = 1 / cos w under a root of x^2 - 1 = tan^2 w, which is real for x > 1."""
    x, new = problem.variable, problem.fresh()
    positive = sp.Symbol("positive", positive=True)
    powers = problem.integrand.atoms(sp.Pow)
    if any(power.base == x**2 - 1 and not power.exp.is_Integer for power in powers):
        replaced = problem.integrand.subs(x**2 - 1, positive**2).subs(x, 1 / sp.cos(new))
        replaced = replaced.subs(positive, sp.sin(new) / sp.cos(new)) * sp.sin(new) / sp.cos(new) ** 2
        yield Rewriting(
            f"{x} = 1/cos({new})", (Integral(replaced, new),), combine=_put_back(new, sp.acos(1 / x))
        )


def unit_quadratic(problem: Integral) -> Iterator[Rewriting]:
    """Substitute x = h + k u in powers of q = b (x - h)^2 + a, where k^2 = |a / b|.

    q becomes |a| times 1 + u^2, 1 - u^2 or u^2 - 1, for `circular` and `secant`. The reciprocal of q alone is
    left to `complete_square`.
    """
    x, new = problem.variable, problem.fresh()
    for q in sorted(_quadratics(problem), key=sp.default_sort_key):
        b, linear, c = sp.Poly(q, x).all_coeffs()
        h = -linear / (2 * b)
        a = sp.simplify(c - b * h**2)
        signs = [1 if each.is_positive else -1 if each.is_negative else 0 for each in (b, a)]
        k = sp.sqrt(sp.Abs(a / b))
        if signs not in ([1, 1], [1, -1], [-1, 1]) or (h, k) == (0, 1):
            continue
        unit = signs[0] * new**2 + signs[1]
        replaced = problem.integrand.replace(
            lambda node, q=q: isinstance(node, sp.Pow) and node.base == q,
            lambda node, a=a, unit=unit: sp.Abs(a) ** node.exp * unit**node.exp,
        )
        yield Rewriting(
            f"{x} = {plain(h + k * new)}",
            (Integral(sp.expand_mul(k * replaced.subs(x, h + k * new)), new),),
            combine=_put_back(new, (x - h) / k),
        )


def _quadratics(problem: Integral) -> set[sp.Expr]:
    """The quadratic bases of roots and of higher powers in the integrand."""
    powers = (node for node in problem.integrand.atoms(sp.Pow) if node.exp.is_number and abs(node.exp) != 1)
    bases = {node.base for node in powers if node.base.is_Add and node.base.is_polynomial(problem.variable)}
    return {base for base in bases if sp.degree(base, problem.variable) == 2}


def _on_the_circle(expression: sp.Expr, w: sp.Symbol) -> sp.Expr:
    """Simplify with sqrt(cos^2) = cos, true for -pi/2 < w < pi/2, the range of w in x = sin w."""
    cosine = sp.Symbol("cosine", positive=True)
    simpler = sp.trigsimp(expression).subs(sp.cos(w), cosine)
    return sp.simplify(sp.sqrtdenest(simpler)).subs(cosine, sp.cos(w))


def _product_rule(u: sp.Expr) -> Combine:
    return lambda answers: u * answers[0] - answers[1]


def _put_back(new: sp.Symbol, old: sp.Expr) -> Combine:
    """Substitute back; sin 2w is expanded first, since sin and cos of an arc simplify."""
    return lambda answers: sp.expand_trig(answers[0]).subs(new, old)


def _another_form(problem: Integral, label: str, form: sp.Expr) -> Iterator[Rewriting]:
    if form != problem.integrand:
        yield Rewriting(label, (Integral(form, problem.variable),))


def division(problem: Integral) -> Iterator[Rewriting]:
    """A quotient of polynomials: the numerator divided by the denominator, or partial fractions."""
    x = problem.variable
    numerator, denominator = sp.fraction(sp.together(problem.integrand))
    if not problem.depends(denominator) or not problem.integrand.is_rational_function(x):
        return
    quotient, remainder = sp.div(numerator, denominator, x)
    if quotient != 0:
        yield from _another_form(problem, "division", quotient + remainder / denominator)
    form = sp.apart(problem.integrand, x)
    yield from _another_form(problem, "partial fractions", form)
    if form == problem.integrand and sp.degree(denominator, x) == 4:
        for root in (sp.sqrt(2), sp.sqrt(3), sp.sqrt(5)):
            yield from _another_form(
                problem, "partial fractions", sp.apart(problem.integrand, x, extension=root)
            )


def linear_over_quadratic(problem: Integral) -> Iterator[Rewriting]:
    """(m x + n) / q with q = a x^2 + b x + c: a multiple of q' / q and a multiple of 1 / q."""
    x = problem.variable
    top, bottom = sp.fraction(sp.together(problem.integrand))
    if not (top.is_polynomial(x) and bottom.is_polynomial(x)):
        return
    if sp.degree(top, x) != 1 or sp.degree(bottom, x) != 2:
        return
    slope = sp.diff(bottom, x)
    share, rest = sp.div(top, slope, x)
    if rest != 0:
        yield Rewriting(
            "numerator as the slope of the denominator",
            (Integral(sp.expand(slope) / bottom, x), Integral(1 / bottom, x)),
            combine=lambda answers: share * answers[0] + rest * answers[1],
        )


def complete_square(problem: Integral) -> Iterator[Rewriting]:
    """1 / (ax^2 + bx + c) without a real root: a constant times 1 / (1 + u^2), u linear in x."""
    x, new = problem.variable, problem.fresh()
    base, exponent = problem.integrand.as_base_exp()
    if exponent != -1 or not base.is_polynomial(x) or sp.degree(base, x) != 2:
        return
    a, b, c = (sp.Poly(base, x).coeff_monomial(x**power) for power in (2, 1, 0))
    rest = c - b**2 / (4 * a)
    if not (a.is_positive and rest.is_positive) or base == 1 + x**2:
        return
    u = sp.sqrt(a / rest) * (x + b / (2 * a))
    yield Rewriting(
        f"complete the square, {new} = {plain(u)}",
        (Integral(1 / (rest * sp.sqrt(a / rest) * (1 + new**2)), new),),
        combine=lambda answers: answers[0].subs(new, u),
    )


def multiply_out(problem: Integral) -> Iterator[Rewriting]:
    """(f + g) h = fh + gh."""
    yield from _another_form(problem, "multiply out", sp.expand(problem.integrand, trig=False))


def odd_power(problem: Integral) -> Iterator[Rewriting]:
    """sin^(2k+1) = sin (1 - cos^2)^k, and the same for cos."""
    f, x = problem
    for function, other in ((sp.sin(x), sp.cos(x)), (sp.cos(x), sp.sin(x))):
        power = _power_of(f, function)
        if power >= 3 and power % 2:
            form = f / function ** (power - 1) * (1 - other**2) ** ((power - 1) // 2)
            yield from _another_form(problem, f"odd power of {plain(function)}", form)


def _power_of(expression: sp.Expr, function: sp.Expr) -> int:
    """The exponent of a factor; 0 if it is not a factor or not a positive integer."""
    for factor in sp.Mul.make_args(expression):
        base, exponent = factor.as_base_exp()
        if base == function and exponent.is_Integer and exponent > 0:
            return int(exponent)
    return 0


def half_angles(problem: Integral) -> Iterator[Rewriting]:
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


def products_as_sums(problem: Integral) -> Iterator[Rewriting]:
    """sin a cos b = (sin(a + b) + sin(a - b)) / 2, and similar identities."""  # noqa: D403
    if problem.integrand.has(sp.sin, sp.cos):
        yield from _another_form(problem, "products as sums", sp.expand(TR8(problem.integrand)))


def secants_as_tangents(problem: Integral) -> Iterator[Rewriting]:
    """1 / cos^2 = 1 + tan^2, in even powers."""
    form = problem.integrand.replace(_is_even_secant, _with_tangent)
    yield from _another_form(problem, "secants as tangents", form)


def quotients_as_tangents(problem: Integral) -> Iterator[Rewriting]:
    """sin^m / cos^n = tan^m / cos^(n - m) for n >= m > 0."""
    x = problem.variable
    sines, cosines = _power_of(problem.integrand, sp.sin(x)), _power_of(1 / problem.integrand, sp.cos(x))
    if 0 < sines <= cosines:
        form = problem.integrand * (sp.cos(x) / sp.sin(x)) ** sines * sp.tan(x) ** sines
        yield from _another_form(problem, "quotient as tangent", form)


def _is_even_secant(node: sp.Basic) -> bool:
    return isinstance(node, sp.Pow) and node.base.func is sp.cos and _is_even(-node.exp)


def _with_tangent(node: sp.Pow) -> sp.Expr:
    return (1 + sp.tan(node.base.args[0]) ** 2) ** (-node.exp / 2)
