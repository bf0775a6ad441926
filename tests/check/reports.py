"""Results to be reported."""

from __future__ import annotations

from arena_check.cases import Case, CaseResult, Verdict
from arena_check.runner import BOT_SUITE
from arena_check.wire import LoggedLine

CASE = BOT_SUITE.cases["3.3/1"]


def result(verdict: Verdict, *entries: LoggedLine, stderr: str = "", id_: str = "3.3/1") -> CaseResult:
    """A result of a case of the bot suite."""
    case: Case[object] = BOT_SUITE.cases[id_]  # type: ignore[assignment]  # any bench will do
    if verdict is Verdict.OK:
        return CaseResult(case, verdict, 0.25, log=entries)
    return CaseResult(case, verdict, 0.25, "a legal move at ply 1", "MOVE 0", entries, stderr)
