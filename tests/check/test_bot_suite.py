"""The bot suite against bots without a defect, and against bots with one each; all in virtual time."""

from __future__ import annotations

import pytest

from arena_check import report
from arena_check.bot.bench import BotSettings
from arena_check.cases import CaseResult, Verdict
from arena_check.runner import BOT_SUITE, check_at

from ..slices import all_of, rows
from . import (  # noqa: F401 - they enter their bots
    defects_client,
    defects_lines,
    defects_messages,
    defects_moves,
    defects_play,
    defects_start,
)
from .bots import DEFECTS, Good, Plain, Program
from .defects_client import Library
from .virtual import VirtualDoor

#: Each reports a mistake that another case of the plain game names, too, and names it first.
SHOWN_BY_THE_PLAIN_GAME = {
    "1.9/3",  # no HELLO after ARENA: 3.1/1
    "4.3/1",  # no move from the first seat: 3.3/1
    "4.4/1",  # its board is full
}


def check(bot: type[Program], *selections: str) -> list[CaseResult]:
    return list(check_at(VirtualDoor(bot), BotSettings(), BOT_SUITE.select(selections)))


@pytest.mark.parametrize("bot", [Good, Library])
def test_a_bot_without_a_defect_passes_every_case(bot: type[Program]) -> None:
    results = check(bot)
    assert [
        (result.case.id, result.verdict, result.actual) for result in results if result.verdict != "ok"
    ] == []
    assert len(results) == len(BOT_SUITE.cases)


def test_a_bot_of_a_few_lines_lacks_what_is_optional() -> None:
    results = check(Plain)
    assert {result.verdict for result in results} == {Verdict.OK, Verdict.NOT_IMPLEMENTED}
    lacks = {result.case.clause for result in results if result.verdict is Verdict.NOT_IMPLEMENTED}
    assert lacks == {"8.1", "8.2", "8.3", "8.5", "8.6"}  # it does not come back


@all_of("name", DEFECTS)
def test_each_defect_is_reported_by_the_case_that_names_it(name: str) -> None:
    defect = DEFECTS[name]
    found = {result.case.id: result for result in check(defect.bot, *defect.cases)}
    for case in defect.cases:
        result = found[case]
        assert result.verdict == defect.verdict, f"{case}: {result.expected}; got {result.actual}"
        assert result.expected
        assert result.actual


@pytest.mark.parametrize("name", rows(DEFECTS, 12))
def test_the_failure_that_is_shown_names_the_clause_of_the_defect(name: str) -> None:
    """One mistake may fail in many cases; the costliest failure is shown in full, with its advice."""
    defect = DEFECTS[name]
    results = check(defect.bot)
    failures = [result for result in results if result.verdict is Verdict.FAILED]
    if defect.verdict != Verdict.FAILED:
        assert failures == []
        return
    clauses = {BOT_SUITE.cases[case].clause for case in defect.cases}
    worst = report.costliest(results, "bot")
    assert worst is not None
    assert worst.clause in clauses, report.line(worst)
    shown = report.detail(worst, "bot")
    assert defect.says in shown, shown


def test_every_case_names_a_defect() -> None:
    named = {case for defect in DEFECTS.values() for case in defect.cases}
    assert set(BOT_SUITE.cases) - named == SHOWN_BY_THE_PLAIN_GAME


def test_after_a_plain_game_that_fails_nothing_else_is_run() -> None:
    cause, *others = check(DEFECTS["NeverSaysReady"].bot)
    assert (cause.case.id, cause.verdict) == ("3.2/3", Verdict.FAILED)
    assert cause.seconds < 11
    assert {(each.verdict, each.needed, each.seconds) for each in others} == {
        (Verdict.NOT_REACHED, "3.2/3", 0.0)
    }
    assert len(others) == len(BOT_SUITE.cases) - 1


def test_the_cause_is_reported_whatever_is_selected() -> None:
    results = check(DEFECTS["NeverSaysReady"].bot, "8.1/2")
    assert [(each.case.id, each.verdict) for each in results] == [
        ("3.2/3", Verdict.FAILED),
        ("1.1/1", Verdict.NOT_REACHED),
        ("8.1/2", Verdict.NOT_REACHED),
    ]


def test_what_needs_a_case_that_fails_is_not_run() -> None:
    results = {each.case.id: each for each in check(DEFECTS["EndsAfterTheFirstGame"].bot, "6.6", "8.1")}
    assert results["6.6/1"].verdict is Verdict.FAILED
    assert results["8.1/2"].verdict is Verdict.NOT_IMPLEMENTED
    assert {id_ for id_, each in results.items() if each.needed == "6.6/1"} == {"6.6/2", "8.1/1", "8.1/4"}


def test_what_a_case_needs_is_not_reached_instead_of_failed() -> None:
    (result,) = (each for each in check(DEFECTS["FirstSeatOnly"].bot, "8.1/6") if each.case.id == "8.1/6")
    assert (result.verdict, result.needed) == (Verdict.NOT_REACHED, "4.3/2")
    results = {each.case.id: each for each in check(DEFECTS["ReadyForG1"].bot, "3.2/1")}
    assert (results["3.2/1"].expected, results["3.2/1"].actual) == ("READY g-1:x!~,7", "READY g1")


class SlowAtTimes(Good):
    """Thinks for 0.6 s in the first runs of the process, as if the machine were busy."""

    slow_runs = 0

    def start(self) -> None:
        type(self).slow_runs -= 1
        super().start()

    def on_turn(self, words: list[str], options: dict[str, str]) -> None:
        slow = self.slow_runs >= 0 and "move_limit" in self.game
        self.around.later(0.6 if slow else 0.0, lambda: self.send("MOVE 6"))


@all_of(
    ("slow_runs", "machine_s", "verdict", "actual"),
    [
        (0, 0.0, Verdict.OK, ""),
        (3, 0.0, Verdict.OK, ""),
        (9, 0.0, Verdict.FAILED, "MOVE after 600 ms, in the second of two tries"),
        (9, 0.099, Verdict.FAILED, "MOVE after 600 ms, in the second of two tries"),
        (3, 0.4, Verdict.OK, ""),
        (
            9,
            0.4,
            Verdict.NON_STRICT,
            "MOVE after 600 ms, while a program that only answers took 400 ms, in the second of two tries",
        ),
    ],
)
def test_a_bot_that_is_late_is_tried_again_and_so_is_the_machine(
    slow_runs: int, machine_s: float, verdict: Verdict, actual: str
) -> None:
    """The process is started for the plain game, for 1.1/1, and once for each try."""

    class Slow(SlowAtTimes):
        pass

    Slow.slow_runs = slow_runs
    door = VirtualDoor(Slow)
    door.machine_s = machine_s
    results = {each.case.id: each for each in check_at(door, BotSettings(), BOT_SUITE.select(["7.5/3"]))}
    assert (results["7.5/3"].verdict, results["7.5/3"].actual) == (verdict, actual)
    assert (results["7.5/3"].expected == "") is (verdict is Verdict.OK)


def test_an_illegal_move_of_a_game_without_numbers_is_answered_by_legal_ones() -> None:
    class Numbers(Plain):
        games = "xo"

    results = check_at(VirtualDoor(Numbers), BotSettings(game="xo"), BOT_SUITE.select(["3.3/1"]))
    (cause, *_) = results
    assert (cause.case.id, cause.actual) == ("3.3/1", "MOVE 6")
    assert "; legal here are a1, " in cause.advice
