"""Reports for people and for programs."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.slices import all_of

from arena_check import report
from arena_check.cases import CaseResult, Suite, Verdict
from arena_check.clauses import CLAUSE
from arena_check.runner import BOT_SUITE, SERVER_SUITE
from arena_check.wire import LoggedLine

from .reports import CASE, result

LINES = (
    LoggedLine(0.0, 1, "S", b"TURN 1"),
    LoggedLine(0.0125, 1, "C", b"MOVE 0\r"),
    LoggedLine(1.5, 1, "#", b"C closed"),
)


def test_a_line_for_each_case() -> None:
    assert report.line(result(Verdict.OK)) == (
        "ok              3.3/1   plain game: one legal MOVE for each TURN, and no other"
    )
    cut = result(Verdict.OK, id_="8.1/2")
    assert report.line(cut) == f"ok              8.1/2   {cut.case.does}"
    assert report.line(result(Verdict.FAILED)) == (
        "failed          3.3/1   plays the plain game: expected a legal move at ply 1; got MOVE 0"
    )


def test_a_clause_that_is_not_the_case_s_is_named() -> None:
    case = result(Verdict.FAILED).case
    found = CaseResult(
        case, Verdict.FAILED, 1.0, "MOVE in time", "MOVE late", clause="7.5", advice="Be quick."
    )
    assert report.line(found) == (
        "failed          3.3/1   plays the plain game: clause 7.5, expected MOVE in time; got MOVE late"
    )
    text = report.detail(found, "bot")
    assert f"\n  clause    PROTOCOL.md, A game, 7.5: {CLAUSE['7.5'].text}\n" in text
    assert text.endswith("\n  next      Be quick.")
    (plain,) = report.as_json([found], "bot")["cases"]
    assert (plain["id"], plain["section"], plain["advice"]) == ("3.3/1", "A game", "Be quick.")


@all_of(
    ("failures", "bot", "server"),
    [
        ((), None, None),
        (("1.6/1",), "1.6/1", "1.6/1"),
        (("1.6/1", "8.1/2"), "8.1/2", "1.6/1"),
        (("1.6/1", "8.1/2", "4.4/2"), "4.4/2", "1.6/1"),
        (("1.6/1", "4.3/3", "4.3/2"), "4.3/2", "1.6/1"),
        (("1.2/1", "7.5/3"), "7.5/3", "1.2/1"),
        (("4.9/1", "8.3/1"), "8.3/1", "4.9/1"),
        (("3.1/2", "6.6/2"), "6.6/2", "3.1/2"),
        (("11.2/1", "4.1/1"), "11.2/1", "11.2/1"),
    ],
)
def test_the_failure_that_costs_most_is_the_one_to_show(
    failures: tuple[str, ...], bot: str | None, server: str | None
) -> None:
    results = [
        result(Verdict.NOT_REACHED, id_="4.4/1"),
        *(result(Verdict.FAILED, id_=id_) for id_ in failures),
    ]
    if not failures:
        results = []
    for peer, expected in (("bot", bot), ("server", server)):
        worst = report.costliest([result(Verdict.OK), *results], peer)
        assert (None if worst is None else worst.case.id) == expected


def test_of_equal_failures_the_one_that_others_wait_for_is_shown() -> None:
    def missed(id_: str, needed: str) -> CaseResult:
        case = result(Verdict.NOT_REACHED, id_=id_).case
        return CaseResult(case, Verdict.NOT_REACHED, 0.0, needed=needed)

    failures = [result(Verdict.FAILED, id_=id_) for id_ in ("3.2/1", "4.3/2", "6.6/1")]
    waiting = [missed("4.4/1", "4.3/2"), missed("4.4/2", "6.6/1"), missed("4.4/3", "6.6/1")]
    worst = report.costliest([*failures, *waiting], "bot")
    assert worst is not None
    assert worst.case.id == "6.6/1"
    only = report.costliest(waiting, "bot")
    assert only is not None
    assert only.verdict is Verdict.NOT_REACHED


def test_what_was_not_run_is_a_line_for_each_failure() -> None:
    def missed(id_: str, needed: str) -> CaseResult:
        case = result(Verdict.NOT_REACHED, id_=id_).case
        return CaseResult(case, Verdict.NOT_REACHED, 0.0, needed=needed)

    results = [result(Verdict.FAILED), missed("8.1/1", "6.6/1"), missed("1.1/1", "3.3/1")]
    assert report.not_run([*results, missed("8.3/1", "6.6/1")]) == [
        "not reached     2 that need 6.6/1: 8.1/1 to 8.3/1",
        "not reached     1 that need 3.3/1: 1.1/1",
    ]


def test_a_failure_in_full() -> None:
    said = "Traceback\nValueError"
    text = report.detail(result(Verdict.FAILED, *LINES, stderr=said), "bot")
    assert text.splitlines() == [
        "3.3/1 failed (positive, 0.25 s)",
        f"  clause    PROTOCOL.md, Messages of a client, 3.3: {CLAUSE['3.3'].text}",
        f"  the case  {CASE.does}",
        f"  expects   {CASE.expects}",
        "  expected  a legal move at ply 1",
        "  got       MOVE 0",
        "  lines     seconds, connection, S is arena check, C is the bot",
        "      0.000 #1 S  TURN 1",
        "      0.013 #1 C  MOVE 0\\r",
        "      1.500 #1 #  C closed",
        "  stderr",
        "    Traceback",
        "    ValueError",
        f"  next      {CASE.advice}",
    ]


def test_a_silent_stderr_a_long_log_and_what_was_not_reached() -> None:
    text = report.detail(result(Verdict.NOT_REACHED, *LINES * 20), "bot")
    assert "; the first 20 are left out" in text
    assert text.count("TURN 1") == report.SHOWN_LINES // 2 - 7
    assert "\n  stderr    nothing\n" in text
    assert "  next      Put right first what this case needs" in text


def test_a_server_has_no_stderr() -> None:
    text = report.detail(result(Verdict.FAILED, *LINES), "server")
    assert "S is the server, C is arena check" in text
    assert "stderr" not in text


def test_long_and_unprintable_lines_are_shown_short() -> None:
    shown = report.shown(LoggedLine(2.0, 3, "C", b"\xff" * 1000))
    assert shown == f"  2.000 #3 C  {chr(92)}xff{(chr(92) + 'xff') * 39}... (1000 bytes)"


def test_the_sum() -> None:
    results = [result(Verdict.OK), result(Verdict.OK), result(Verdict.FAILED), result(Verdict.NON_STRICT)]
    assert report.summary(results) == (
        "4 cases: 2 ok, 1 non-strict, 0 not implemented, 1 failed, 0 not reached"
    )


def test_json_has_every_byte() -> None:
    everything = bytes(range(256))
    made = report.as_json([result(Verdict.FAILED, LoggedLine(1.0, 1, "C", everything))], "bot")
    (case,) = json.loads(json.dumps(made))["cases"]
    assert case["lines"][0]["text"].encode("latin-1") == everything
    assert (case["id"], case["verdict"], case["actual"]) == ("3.3/1", "failed", "MOVE 0")
    assert made["peer"] == "bot"


@pytest.mark.parametrize(("strict", "failures", "skipped"), [(False, 2, 1), (True, 4, 0)])
def test_junit(strict: bool, failures: int, skipped: int) -> None:
    results = [
        result(verdict, LoggedLine(0.0, 1, "C", b"\x00\x1b\xff"), stderr="\x1b[31m") for verdict in Verdict
    ]
    suite = ElementTree.fromstring(report.as_junit(results, "bot", strict=strict))
    assert suite.attrib == {
        "name": "arena check bot",
        "tests": "5",
        "failures": str(failures),
        "skipped": str(skipped),
    }
    assert len(suite.findall("testcase/failure")) == failures
    assert len(suite.findall("testcase/skipped")) == skipped
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == "expected a legal move at ply 1; got MOVE 0"
    assert {case.get("classname") for case in suite} == {"bot.3.3"}


@pytest.mark.parametrize("suite", [BOT_SUITE, SERVER_SUITE], ids=["bot", "server"])
def test_the_listing_has_every_case(suite: Suite[Any]) -> None:
    cases = suite.select()
    lines = report.listing(cases).splitlines()
    assert len(lines) == len(cases) + len({case.clause for case in cases})
    for case in cases:
        assert sum(line.split()[0] == case.id for line in lines) == 1
