"""A case, its verdict, and how a suite of cases is selected and run.

A case is a function that talks to the peer under test and raises Finding for all but `ok`. The
prerequisites of a case stand in `reaching()`: what goes wrong there is `not reached`, because another case
names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, Literal, TypeVar

from arena_client.conformance.clauses import CLAUSE, order
from arena_client.conformance.wire import Entry

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
    """Ends a case with a verdict other than ok: what was expected and what came instead."""

    def __init__(self, verdict: Verdict, expected: str, actual: str) -> None:
        super().__init__(f"expected {expected}; got {actual}")
        self.verdict = verdict
        self.expected = expected
        self.actual = actual


def failed(expected: str, actual: str) -> Finding:
    """The finding that a rule is broken; to be raised."""
    return Finding(Verdict.FAILED, expected, actual)


@contextmanager
def reaching() -> Iterator[None]:
    """Mark the prerequisites of a case: whatever is found wrong there becomes `not reached`."""
    try:
        yield
    except Finding as finding:
        raise Finding(Verdict.NOT_REACHED, finding.expected, finding.actual) from finding


B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Case(Generic[B]):
    """One case of a suite. `run` gets a fresh bench, which is the peer's counterpart."""

    id: str
    kind: Kind
    does: str
    expects: str
    advice: str
    run: Callable[[B], None]

    @property
    def clause(self) -> str:
        return self.id.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Result:
    """How one case ended. `log` is all that was sent and received, `stderr` what the bot wrote there."""

    case: Case[object]
    verdict: Verdict
    seconds: float
    expected: str = ""
    actual: str = ""
    log: tuple[Entry, ...] = ()
    stderr: str = ""


@dataclass
class Suite(Generic[B]):
    """The cases for one kind of peer, in the order of their ids."""

    cases: dict[str, Case[B]] = field(default_factory=dict)

    def case(
        self, id_: str, kind: Kind, *, does: str, expects: str, advice: str
    ) -> Callable[[Callable[[B], None]], Callable[[B], None]]:
        """Enter the decorated function as a case."""
        assert id_.partition("/")[0] in CLAUSE, f"no clause of this id: {id_}"
        assert id_ not in self.cases, f"two cases of this id: {id_}"

        def enter(run: Callable[[B], None]) -> Callable[[B], None]:
            self.cases[id_] = Case(id_, kind, does, expects, advice, run)
            return run

        return enter

    def select(self, selections: Iterable[str] = ()) -> list[Case[B]]:
        """The cases of these sections (3), clauses (3.3) and ids (3.3/1), all of them without a selection.

        Raises ValueError, one line, for a selection that no case has.
        """
        ordered = sorted(self.cases.values(), key=lambda case: order(case.id))
        wanted = list(selections)
        for selection in wanted:
            if not any(_selects(selection, case.id) for case in ordered):
                raise ValueError(f"no case {selection!r}; --list shows all of them")
        return [case for case in ordered if not wanted or any(_selects(each, case.id) for each in wanted)]


def _selects(selection: str, id_: str) -> bool:
    return id_ == selection or id_.startswith((f"{selection}.", f"{selection}/"))


def is_conformant(results: Iterable[Result], *, strict: bool = False) -> bool:
    """Whether nothing failed and all was reached; if `strict`, whether every verdict is ok."""
    bad = {Verdict.FAILED, Verdict.NOT_REACHED}
    if strict:
        bad |= {Verdict.NON_STRICT, Verdict.NOT_IMPLEMENTED}
    return not any(result.verdict in bad for result in results)
