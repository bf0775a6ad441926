"""A case, its verdict, and how a suite of cases is selected and run.

A case is a function that talks to the peer under test and raises Finding for all but `ok`. A case runs behind
those that it `needs`; if one of them fails, it is `not reached` and does not run, so that one mistake is
reported once. What goes wrong in `reaching()` is `not reached`, too, because another case names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, Literal, TypeVar

from arena_check.clauses import CLAUSE, order
from arena_check.wire import LoggedLine

Kind = Literal["positive", "negative"]
#: A case sends what a peer must accept, or what goes wrong in the field: the edge, the fault, the cut.
POSITIVE: Kind = "positive"
NEGATIVE: Kind = "negative"

SELECTION = re.compile(r"\d+(\.\d+(/\d+)?)?")


class Verdict(StrEnum):
    """How a case ended."""

    OK = "ok"
    NON_STRICT = "non-strict"  # tolerated by the protocol, and not what it recommends
    NOT_IMPLEMENTED = "not implemented"  # an optional part that the peer does not have
    FAILED = "failed"
    NOT_REACHED = "not reached"  # the prerequisites of the case did not come about


class Finding(Exception):  # noqa: N818 - a verdict, not an error
    """Ends a case with a verdict other than ok: what was expected and what came instead.

    `clause` and `advice` say what was broken and what to do, where that is not what the case is about.
    """

    def __init__(
        self, verdict: Verdict, expected: str, actual: str, *, clause: str = "", advice: str = ""
    ) -> None:
        super().__init__(f"expected {expected}; got {actual}")
        assert not clause or clause in CLAUSE, f"no clause of this id: {clause}"
        self.verdict = verdict
        self.expected = expected
        self.actual = actual
        self.clause = clause
        self.advice = advice


class LateFinding(Finding):
    """The peer has taken too long, by a clock that also runs while the machine does something else."""


def failed(expected: str, actual: str, *, clause: str = "", advice: str = "") -> Finding:
    """The finding that a rule is broken; to be raised."""
    return Finding(Verdict.FAILED, expected, actual, clause=clause, advice=advice)


@contextmanager
def reaching() -> Iterator[None]:
    """Mark the prerequisites of a case: whatever is found wrong there becomes `not reached`."""
    try:
        yield
    except Finding as finding:
        raise type(finding)(
            Verdict.NOT_REACHED,
            finding.expected,
            finding.actual,
            clause=finding.clause,
            advice=finding.advice,
        ) from finding


B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Case(Generic[B]):
    """One case of a suite. `run` gets a fresh bench, which is the peer's counterpart.

    `needs` are the ids of the cases that have to pass before this one can show anything. A case with `plain`
    is a part of the plain game (`bot/plain.py`): it is run on the bench of that game when it is over.
    """

    id: str
    kind: Kind
    does: str
    expects: str
    advice: str
    run: Callable[[B], None]
    needs: tuple[str, ...] = ()
    plain: bool = False

    @property
    def clause(self) -> str:
        return self.id.partition("/")[0]


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How one case ended: the clause that it is about, or that was found broken, and what to do.

    `log` is all that was sent and received, `stderr` what the bot wrote there. `needed` is the id of the case
    without which this one was not run.
    """

    case: Case[object]
    verdict: Verdict
    seconds: float
    expected: str = ""
    actual: str = ""
    log: tuple[LoggedLine, ...] = ()
    stderr: str = ""
    clause: str = ""
    advice: str = ""
    needed: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "clause", self.clause or self.case.clause)
        object.__setattr__(self, "advice", self.advice or self.case.advice)


@dataclass
class Suite(Generic[B]):
    """The cases for one kind of peer, in the order of their ids; `needs` where a case does not say itself."""

    needs: tuple[str, ...] = ()
    cases: dict[str, Case[B]] = field(default_factory=dict)

    def case(
        self,
        id_: str,
        kind: Kind,
        *,
        does: str,
        expects: str,
        advice: str,
        needs: tuple[str, ...] | None = None,
        plain: bool = False,
    ) -> Callable[[Callable[[B], None]], Callable[[B], None]]:
        """Enter the decorated function as a case."""
        assert id_.partition("/")[0] in CLAUSE, f"no clause of this id: {id_}"
        assert id_ not in self.cases, f"two cases of this id: {id_}"
        behind = () if plain else self.needs if needs is None else needs

        def enter(run: Callable[[B], None]) -> Callable[[B], None]:
            self.cases[id_] = Case(id_, kind, does, expects, advice, run, behind, plain)
            return run

        return enter

    def select(self, selections: Iterable[str] = ()) -> list[Case[B]]:
        """The cases of these sections (3), clauses (3.3) and ids (3.3/1), all of them without a selection.

        Raises ValueError, one line, for a selection that no case has.
        """
        ordered = sorted(self.cases.values(), key=lambda case: order(case.id))
        wanted = list(selections)
        for selection in wanted:
            if not any(selects(selection, case.id) for case in ordered):
                raise ValueError(f"no case {selection!r}; --list shows all of them")
        return [case for case in ordered if not wanted or any(selects(each, case.id) for each in wanted)]

    def with_needs(self, cases: Iterable[Case[B]]) -> list[Case[B]]:
        """These cases, each behind all that it needs, which is added."""
        found: dict[str, Case[B]] = {}

        def add(case: Case[B]) -> None:
            for needed in case.needs:
                add(self.cases[needed])
            found.setdefault(case.id, case)

        for case in cases:
            add(case)
        return list(found.values())


def selects(selection: str, id_: str) -> bool:
    """Whether a case is in this section (3) or clause (3.3), or has this id."""
    return id_ == selection or id_.startswith((f"{selection}.", f"{selection}/"))


def is_conformant(results: Iterable[CaseResult], *, strict: bool = False) -> bool:
    """Whether nothing failed and all was reached; if `strict`, whether every verdict is ok."""
    bad = {Verdict.FAILED, Verdict.NOT_REACHED}
    if strict:
        bad |= {Verdict.NON_STRICT, Verdict.NOT_IMPLEMENTED}
    return not any(result.verdict in bad for result in results)
