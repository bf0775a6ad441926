"""Results for people, for programs (JSON) and for build servers (JUnit XML)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from xml.etree import ElementTree

from arena_check.cases import Case, CaseResult, Verdict, selects
from arena_check.clauses import CLAUSE
from arena_check.wire import LoggedLine

#: As many bytes of a line as the text for people shows; JSON has all of them.
SHOWN_BYTES = 160
#: As many last lines of a long log as the text for people shows.
SHOWN_LINES = 40

#: The cases of `arena check bot` by what a failure costs: games of every contest; games with other options,
#: clocks or events; games in which the connection is lost. All others cost none.
_COSTS = (
    ("1.1/1", "1.1/2", "3.2", "3.3", "4.3/2", "5.1/1", "6.6"),
    ("3.6", "4.3", "4.4", "4.5", "4.7", "4.8", "4.10", "5", "6", "7"),
    ("8.1", "8.2", "8.3", "8.5", "8.6"),
)

#: What to do about a case that was not reached.
_FIRST = "Put right first what this case needs: a connection, log-in, READY, a move (clauses 3.1 to 3.3)."


def listing(cases: Iterable[Case[Any]]) -> str:
    """Every case with its clause: id, kind, what is done and what is expected."""
    lines: list[str] = []
    clause = ""
    for case in cases:
        if case.clause != clause:
            clause = case.clause
            lines.append(f"{clause}  {CLAUSE[clause].section}: {CLAUSE[clause].text}")
        lines.append(f"  {case.id:<7} {case.kind}: {case.does}; expects: {case.expects}")
    return "\n".join(lines)


def line(result: CaseResult) -> str:
    """One case on one line."""
    other = "" if result.clause == result.case.clause else f"clause {result.clause}, "
    why = "" if result.verdict is Verdict.OK else f": {other}expected {result.expected}; got {result.actual}"
    is_part = result.case.plain and result.verdict is Verdict.OK
    what = f"plain game: {result.case.expects}" if is_part else result.case.does
    return f"{result.verdict:<15} {result.case.id:<7} {what}{why}"


def not_run(results: Iterable[CaseResult]) -> list[str]:
    """A line for each failure that kept other cases from running: how many, and which."""
    groups: dict[str, list[str]] = {}
    for result in results:
        if result.needed:
            groups.setdefault(result.needed, []).append(result.case.id)
    return [
        f"{Verdict.NOT_REACHED:<15} {len(ids)} that need {needed}: {ids[0]}"
        + (f" to {ids[-1]}" if len(ids) > 1 else "")
        for needed, ids in groups.items()
    ]


def costliest(results: Sequence[CaseResult], peer: str) -> CaseResult | None:
    """The failure to put right first; None without one.

    Of a bot it is the one that costs most games, and of equals the one that kept most cases from running.
    """
    found = [result for result in results if result.verdict is Verdict.FAILED]
    found = found or [result for result in results if result.verdict is Verdict.NOT_REACHED]
    if peer != "bot" or not found:
        return found[0] if found else None
    kept = Counter(result.needed for result in results)
    return min(found, key=lambda result: (_cost(result), -kept[result.case.id]))


def _cost(result: CaseResult) -> int:
    for cost, selections in enumerate(_COSTS):
        if any(selects(each, result.case.id) for each in selections):
            return cost
    return len(_COSTS)


def detail(result: CaseResult, peer: str) -> str:
    """A failure in full: clause, description, expectation, what both sides sent, stderr, what to do next.

    `peer` is what was checked, `bot` or `server`.
    """
    case, clause = result.case, CLAUSE[result.clause]
    server, client = ("arena check", "the bot") if peer == "bot" else ("the server", "arena check")
    entries = result.log[-SHOWN_LINES:]
    left_out = len(result.log) - len(entries)
    parts = [
        f"{case.id} {result.verdict} ({case.kind}, {result.seconds:.2f} s)",
        f"  clause    PROTOCOL.md, {clause.section}, {clause.id}: {clause.text}",
        f"  the case  {case.does}",
        f"  expects   {case.expects}",
        f"  expected  {result.expected}",
        f"  got       {result.actual}",
        f"  lines     seconds, connection, S is {server}, C is {client}"
        + (f"; the first {left_out} are left out" if left_out else ""),
        *(f"    {shown(entry)}" for entry in entries),
    ]
    if peer == "bot":
        parts.append("  stderr" if result.stderr.strip() else "  stderr    nothing")
        parts += [f"    {text}" for text in result.stderr.splitlines()]
    parts.append(f"  next      {_FIRST if result.verdict is Verdict.NOT_REACHED else result.advice}")
    return "\n".join(parts)


def shown(entry: LoggedLine) -> str:
    """One line of the log; what is not printable ASCII stands as an escape."""
    text = repr(entry.data)[2:-1]
    cut = f"... ({len(entry.data)} bytes)" if len(text) > SHOWN_BYTES else ""
    return f"{entry.at:7.3f} #{entry.connection} {entry.side}  {text[:SHOWN_BYTES]}{cut}"


def summary(results: Sequence[CaseResult]) -> str:
    """How many cases have each verdict."""
    counts = Counter(result.verdict for result in results)
    return f"{len(results)} cases: " + ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict)


def case_json(case: Case[Any], clause: str) -> dict[str, Any]:
    """A case with its clause, or with the one that its run has failed."""
    return {
        "id": case.id,
        "section": CLAUSE[clause].section,
        "clause": CLAUSE[clause].text,
        "kind": case.kind,
        "does": case.does,
        "expects": case.expects,
    }


def as_json(results: Iterable[CaseResult], peer: str) -> dict[str, Any]:
    """All results with all lines. Bytes are Latin-1 text: one character a byte."""
    return {
        "peer": peer,
        "cases": [
            {
                **case_json(result.case, result.clause),
                "verdict": str(result.verdict),
                "needed": result.needed or None,
                "expected": result.expected,
                "actual": result.actual,
                "advice": result.advice,
                "seconds": round(result.seconds, 3),
                "stderr": result.stderr,
                "lines": [
                    {
                        "at": round(entry.at, 4),
                        "connection": entry.connection,
                        "side": entry.side,
                        "text": entry.data.decode("latin-1"),
                    }
                    for entry in result.log
                ],
            }
            for result in results
        ],
    }


def as_junit(results: Sequence[CaseResult], peer: str, *, strict: bool) -> str:
    """A JUnit test suite: failed and not reached are failures, and what is not strict too if `strict`."""
    bad = {Verdict.FAILED, Verdict.NOT_REACHED}
    if strict:
        bad |= {Verdict.NON_STRICT, Verdict.NOT_IMPLEMENTED}
    suite = ElementTree.Element("testsuite", name=f"arena check {peer}", tests=str(len(results)))
    suite.set("failures", str(sum(result.verdict in bad for result in results)))
    suite.set(
        "skipped", str(sum(result.verdict is Verdict.NOT_IMPLEMENTED for result in results) * (not strict))
    )
    for result in results:
        case = ElementTree.SubElement(suite, "testcase", classname=f"{peer}.{result.case.clause}")
        case.set("name", f"{result.case.id} {result.case.does}")
        case.set("time", f"{result.seconds:.3f}")
        if result.verdict in bad:
            failure = ElementTree.SubElement(case, "failure", type=str(result.verdict))
            failure.set("message", _xml(f"expected {result.expected}; got {result.actual}"))
            failure.text = _xml(detail(result, peer))
        elif result.verdict is Verdict.NOT_IMPLEMENTED:
            ElementTree.SubElement(case, "skipped", message=_xml(f"not implemented: {result.actual}"))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _xml(text: str) -> str:
    """The text without the control characters that XML cannot hold."""
    return "".join(sign if sign >= " " or sign in "\n\t" else "?" for sign in text)
