"""Symbolic integration by reduction: answers differentiated, the seed's solution graph, refusals."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from arena_museum.andor.search import depth_first

from ...slices import rows
from . import fifty

if TYPE_CHECKING:
    import sympy as sp

    from arena_museum.andor import integral_rules
    from arena_museum.andor.integral_rules import Rewriting
    from arena_museum.andor.integral_table import Integral, table_integral
    from arena_museum.andor.integrals import RULES, Integrals, Integrated, integrate, parse


@pytest.fixture(scope="module", autouse=True)
def _names() -> None:
    """What needs sympy: to import it takes half a second, and each worker imports this file to collect it."""
    import sympy

    from arena_museum.andor import integral_rules, integrals

    globals().update(vars(integrals), integral_rules=integral_rules, sp=sympy)


#: Inside the domains of all integrands here.
POINTS = (0.23, 0.45, 0.71)

SOLVED = [
    "tan(x)^4",
    "x*exp(x)",
    "x^2*sin(x)",
    "log(x)",
    "x*log(x)",
    "log(x)^2",
    "sin(x)^3",
    "sin(x)^2*cos(x)^3",
    "cos(x)^4",
    "x*sin(x)^2",
    "sin(3*x)*cos(x)",
    "tan(x)",
    "1/cos(x)^4",
    "1/(x^2-1)",
    "1/(x^3-x)",
    "x^3/(x^2+1)",
    "1/(x^2+2*x+2)",
    "1/(4*x^2+9)",
    "(x^2+1)^2",
    "x*exp(x^2)",
    "exp(x)/(1+exp(x))",
    "1/(x*log(x))",
    "x/sqrt(1-x^2)",
    "sqrt(1-x^2)",
    "1/sqrt(1-x^2)",
    "atan(x)",
    "asin(x)",
    "x*atan(x)",
    "x^2*exp(3*x)",
    "sqrt(2*x+3)",
    "2^x",
    "5",
    "sinh(x) + cosh(2*x)",
]


@cache
def solve(integrand: sp.Expr, variable: sp.Symbol) -> Integrated | None:
    """An integral is solved once for all tests."""
    return integrate(integrand, variable)


def vanishes(expression: sp.Expr, variable: sp.Symbol) -> bool:
    return all(abs(complex(expression.subs(variable, point).evalf())) < 1e-9 for point in POINTS)


@pytest.mark.parametrize("text", rows(fifty.SOLVED, 17))
def test_of_fifty_integrals_these_are_solved(text: str) -> None:
    """Differentiation is the proof: at points within the domain of the integrand."""
    integrand, variable = parse(text)
    solved = solve(integrand, variable)
    assert solved is not None
    assert solved.answer.free_symbols <= {variable}
    assert vanishes(sp.diff(solved.answer, variable) - integrand, variable)


@pytest.mark.parametrize("text", rows(fifty.UNSOLVED, 10))
def test_of_fifty_integrals_these_are_not_solved(text: str) -> None:
    assert solve(*parse(text)) is None


def test_the_docs_state_how_many_of_fifty_are_solved() -> None:
    every = fifty.SOLVED + fifty.UNSOLVED
    assert len(every) == len(set(every)) == 50
    page = (Path(__file__).parents[3] / "docs" / "explain.md").read_text(encoding="utf-8")
    assert f"{len(fifty.SOLVED)} of fifty" in page


def test_integration_by_parts_twice_leads_back_to_the_integral() -> None:
    """∫ exp(x) sin(x) dx, by the equation that two integrations by parts give."""
    solved = solve(*parse("exp(x)*sin(x)"))
    assert solved is not None
    (step,) = [step for step in solved.solution.choices.values() if step is not None]
    assert (step.label, len(step.parts)) == ("parts twice", 1)
    assert sp.simplify(solved.answer - sp.exp(sp.Symbol("x")) * parse("sin(x)-cos(x)")[0] / 2) == 0


def test_the_integral_of_slagles_saint_is_solved_by_its_substitution() -> None:
    """J. R. Slagle's example (1963): x = sin w leads to the fourth power of a tangent."""
    solved = solve(*parse("x^4/(1-x^2)^(5/2)"))
    assert solved is not None
    labels = [step.label for step in solved.solution.choices.values() if step is not None]
    assert "x = sin(z)" in labels


#: Of the kind of x^4/(1-x^2)^(5/2): other constants, the other two signs, a middle term.
QUADRATIC = {
    "1/(4+x^2)^2": "x = 2*z",
    "x^4/(7-x^2)^(5/2)": "x = sqrt(7)*z",
    "x^4/(9-4*x^2)^(5/2)": "x = 3*z/2",
    "x^4/(pi-x^2)^(5/2)": "x = sqrt(pi)*z",
    "x^2*sqrt(3-x^2)": "x = sqrt(3)*z",
    "x^2/(9+x^2)^(3/2)": "x = 3*z",
    "1/sqrt(x^2-4)": "x = 2*z",
    "sqrt(2*x-x^2)": "x = z + 1",
    "1/(5+4*x-x^2)^(3/2)": "x = 3*z + 2",
}


@pytest.mark.parametrize("text", rows(QUADRATIC, 9))
def test_powers_of_any_quadratic_are_led_back_to_those_with_ones(text: str) -> None:
    integrand, x = parse(text)
    solved = solve(integrand, x)
    assert solved is not None
    assert vanishes(sp.diff(solved.answer, x) - integrand, x)
    labels = [step.label for step in solved.solution.choices.values() if step is not None]
    assert QUADRATIC[text] in labels


@pytest.mark.parametrize(
    "text", ["sqrt(-1-x^2)", "sqrt(1-x^2)", "1/(x^2+4*x+5)", "1/(1+x^2)^2", "(x^3+2)^(1/2)"]
)
def test_quadratics_that_are_negative_or_done_or_of_another_rule_are_left_alone(text: str) -> None:
    assert list(integral_rules.unit_quadratic(Integral(*parse(text)))) == []


@pytest.mark.parametrize("text", rows((text for text in SOLVED if text not in fifty.SOLVED), 4))
def test_the_derivative_of_the_answer_is_the_integrand(text: str) -> None:
    integrand, x = parse(text)
    solved = solve(integrand, x)
    assert solved is not None
    assert solved.answer.free_symbols <= {x}
    assert vanishes(sp.diff(solved.answer, x) - integrand, x)


def test_sympys_own_integrator_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("the integrator of SymPy")

    for module in [module for name, module in sys.modules.items() if name.startswith("sympy.integrals")]:
        for name in ("integrate", "heurisch", "manualintegrate", "ratint", "risch_integrate"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, never)
    monkeypatch.setattr(sp, "integrate", never)
    monkeypatch.setattr(sp.Integral, "doit", never)
    assert integrate(*parse("x^2*sin(x)")) is not None
    with pytest.raises(AssertionError, match="the integrator"):
        sp.integrate(sp.Symbol("x"))


def test_the_seeds_example_has_the_seeds_solution_graph() -> None:
    """Figure 11: z = tan x; the fraction divided out; the sum of three, one elementary, two one step away."""
    solved = solve(*parse("tan(x)^4"))
    assert solved is not None
    choices = solved.solution.choices
    labels = [choice.label for choice in choices.values() if choice is not None]
    assert labels[0] == "z = tan(x)"
    assert sorted(labels) == sorted(["z = tan(x)", "division", "sum", "constant factor -1", "z = tan(w)"])
    (terms,) = [choice.parts for choice in choices.values() if choice is not None and choice.label == "sum"]
    assert sorted(map(str, terms)) == ["∫ -1 dz", "∫ 1/(z^2 + 1) dz", "∫ z^2 dz"]
    elementary = [str(problem) for problem, choice in choices.items() if choice is None]
    assert sorted(elementary) == ["∫ 1 dw", "∫ 1 dz", "∫ z^2 dz"]
    x = sp.Symbol("x")
    assert solved.answer == sp.tan(x) ** 3 / 3 - sp.tan(x) + x


@pytest.mark.parametrize("text", rows(["exp(x^2)", "sin(x)/x", "x^x", "1/log(x)"], 4))
def test_what_the_rules_do_not_solve_has_no_answer(text: str) -> None:
    assert integrate(*parse(text), limit=60) is None


def test_depth_first_solves_simple_integrals_too() -> None:
    integrand, x = parse("x*exp(x) + 3*x^2")
    solution = depth_first(Integrals(), Integral(integrand, x), depth=6).solution
    assert solution is not None
    assert all(choice is None or isinstance(choice, Rewriting) for choice in solution.choices.values())


@pytest.mark.parametrize(
    "rule",
    [
        "division",
        "multiply_out",
        "odd_power",
        "half_angles",
        "products_as_sums",
        "secants_as_tangents",
    ],
)
def test_another_form_of_an_integrand_has_the_same_values(
    rule: str,
) -> None:
    found = 0
    for text in [*SOLVED, "sin(x)^5*cos(x)^2", "cos(x)^3", "sin(x)^4", "x*(x+1)^2/(x-2)"]:
        integrand, x = parse(text)
        for step in getattr(integral_rules, rule)(Integral(integrand, x)):
            (part,) = step.parts
            assert vanishes(part.integrand - integrand, x)
            assert part.integrand != integrand
            assert step.combine((x,)) == x
            found += 1
    assert found >= 1


@pytest.mark.soak
def test_every_rule_finds_something_among_the_examples() -> None:
    texts = [*SOLVED, *fifty.SOLVED, *QUADRATIC, "1/(1+x^2)", "sin(x)^2/cos(x)^3", "1/sqrt(x^2-1)"]
    examples = [Integral(*parse(text)) for text in texts]
    for rule in RULES:
        assert any(True for example in examples for _ in rule(example)), rule.__name__


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("1", "x"),
        ("x^3", "x^4/4"),
        ("1/x", "log(x)"),
        ("1/(2*x+1)", "log(2*x+1)/2"),
        ("cos(3*x)", "sin(3*x)/3"),
        ("3^(2*x)", "3^(2*x)/log(3)/2"),
        ("1/cos(2*x)^2", "tan(2*x)/2"),
        ("1/sin(x)^2", "-1/tan(x)"),
    ],
)
def test_the_table(text: str, answer: str) -> None:
    integrand, x = parse(text)
    assert vanishes(table_integral(Integral(integrand, x)) - parse(answer)[0], x)


@pytest.mark.parametrize("text", ["x*x*sin(x)", "1/(1+x^2)", "cos(x^2)", "x^x", "(-2)^x", "2"])
def test_what_is_not_in_the_table(text: str) -> None:
    integrand, x = parse(text)
    assert table_integral(Integral(integrand, x)) is None


def test_a_new_variable_is_one_that_does_not_occur() -> None:
    x, z, w = sp.symbols("x z w")
    assert Integral(x, x).fresh() == z
    assert Integral(z, z).fresh() == w
    assert Integral(z * w, w).fresh() == sp.Symbol("t")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y^2", "'y' is not known here; known are x, sin, cos, tan, exp, log, sqrt, atan, asin, sinh, cosh"),
        ("__import__('os')", "'__import__' is not known here"),
        ("x[0]", r"'x\[0\]' is no expression in x"),
        ("x +* 2", r"'x \+\* 2' is no expression in x"),
        ("()", r"'\(\)' is no expression in x"),
        ("1/0 + x", r"'1/0 \+ x' is no expression in x"),
        ("sin", "'sin' is no expression in x"),
        ("", "'' is no expression in x"),
        ("х^2", "'х' is not known here"),  # a Cyrillic letter that looks like x is no constant
        ("β*x", "'β' is not known here"),
        ("٣*x", r"'٣\*x' is no expression in x"),
        ("9^9^9^9", r"'9\^9\^9\^9' has a power or a number of more than 1000 digits"),
        ("((9^900)^900)^x", "more than 1000 digits"),
        ("x^1001", "more than 1000 digits"),
        ("(x*9)^-9999", "more than 1000 digits"),
        ("sin(99^999)", "more than 1000 digits"),
        ("1" + "+x" * 500, "an integrand has at most 1000 characters, not 1001"),
        ("(" * 400 + "x" + ")" * 400, "is no expression in x"),
    ],
)  # fmt: skip
def test_what_is_no_integrand_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as refused:
        parse(text)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("variable", ["", "2", "pi", "sin", "lambda", "ж", "x y", "_"])
def test_what_is_no_variable_is_refused(variable: str) -> None:
    with pytest.raises(ValueError, match="a variable is a name such as x, and no function's, not "):
        parse("5", variable)


def test_large_powers_and_long_sums_are_read() -> None:
    assert str(parse("x^1000")[0]) == "x**1000"
    assert str(parse(" t^2 + 10^99*t", "t")[0]) == f"t**2 + {10**99}*t"
    assert parse("+".join(["x^2"] * 200))[0] == parse("200*x^2")[0]
