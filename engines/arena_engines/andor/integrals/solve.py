"""Integrals solved by best-first search over the rules, the answer built from the solution graph.

SymPy rewrites expressions here; its own integrator is never called. It must not know: drawings,
the command line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import sympy as sp

from arena_engines.andor.bestfirst import best_first
from arena_engines.andor.graph import ProblemSpace, Reduction, Solution
from arena_engines.andor.integrals import identities, rules
from arena_engines.andor.integrals.problem import Integral, Step
from arena_engines.andor.integrals.table import table_integral

#: The most promising first, as seed 004 advises: sums and parts before substitutions and identities.
RULES: tuple[rules.Rule, ...] = (
    rules.constant_factor,
    rules.sum_of_functions,
    rules.by_parts,
    rules.inner_function,
    rules.tangent,
    identities.division,
    identities.complete_square,
    identities.odd_power,
    identities.secants_as_tangents,
    rules.circular,
    identities.multiply_out,
    identities.half_angles,
    identities.products_as_sums,
)

#: An integrand of more operations is no progress.
MAX_OPERATIONS = 80
#: What an operation of the integrand is guessed to cost, in steps.
STEPS_PER_OPERATION = 0.25
MAX_EXPANDED = 400


class Integrals(ProblemSpace[Integral]):
    """The AND/OR graph of integrals."""

    def is_elementary(self, problem: Integral) -> bool:
        """Whether the table has it."""
        return table_integral(problem) is not None

    def reductions(self, problem: Integral) -> Iterable[Reduction[Integral]]:
        """What the rules offer; a factor or a sum taken apart leaves nothing better to do."""
        for rule in RULES:
            offered = [step for step in rule(problem) if self._is_useful(problem, step)]
            yield from offered
            if offered and rule in (rules.constant_factor, rules.sum_of_functions):
                return

    def _is_useful(self, problem: Integral, step: Step) -> bool:
        return all(part != problem and sp.count_ops(part.integrand) <= MAX_OPERATIONS for part in step.parts)

    def estimate(self, problem: Integral) -> float:
        """A guess: the longer the integrand, the more steps."""
        return 1 + STEPS_PER_OPERATION * float(sp.count_ops(problem.integrand))


@dataclass(frozen=True, slots=True)
class Integrated:
    """An integral solved: the answer (without its constant) and the solution graph that proves it."""

    answer: sp.Expr
    solution: Solution[Integral]
    expanded: int


def integrate(integrand: sp.Expr, variable: sp.Symbol, *, limit: int = MAX_EXPANDED) -> Integrated | None:
    """Solve an indefinite integral, or return None if the rules do not within `limit` problems."""
    search = best_first(Integrals(), Integral(integrand, variable), limit=limit)
    if search.solution is None:
        return None
    answer = _answer(search.solution, search.solution.root)
    return Integrated(answer, search.solution, search.expanded)


def _answer(solution: Solution[Integral], problem: Integral) -> sp.Expr:
    step = solution.choices[problem]
    if step is None:
        return table_integral(problem)
    assert isinstance(step, Step), "every rule makes steps"
    return step.combine(tuple(_answer(solution, part) for part in step.parts))
