"""The bot suite against a bot without a defect, and against bots with one each."""

from __future__ import annotations

import pytest

from arena_client.conformance.bot.bench import BotSettings
from arena_client.conformance.cases import Result, Verdict
from arena_client.conformance.runner import BOT_SUITE, check_bot

from . import defects_lines, defects_messages, defects_play  # noqa: F401 - they enter their bots
from .bots import DEFECTS, Good, InThread

#: What is to come comes at once; only what a defect withholds is waited for.
PATIENT = BotSettings()
SHORT = BotSettings(patience=1.0, quiet=0.15, start_s=5.0)


def check(bot: type[Good], *selections: str, settings: BotSettings = PATIENT) -> list[Result]:
    return list(check_bot(InThread(bot), settings, BOT_SUITE.select(selections)))


def test_a_bot_without_a_defect_passes_every_case() -> None:
    results = check(Good)
    assert [
        (result.case.id, result.verdict, result.actual) for result in results if result.verdict != "ok"
    ] == []
    assert len(results) == len(BOT_SUITE.cases)


@pytest.mark.parametrize("name", DEFECTS)
def test_each_defect_is_reported_by_the_case_that_names_it(name: str) -> None:
    defect = DEFECTS[name]
    for result in check(defect.bot, *defect.cases, settings=SHORT):
        assert result.verdict == defect.verdict, f"{result.case.id}: {result.expected}; got {result.actual}"
        assert result.expected
        assert result.actual
        assert result.log


def test_every_case_names_a_defect() -> None:
    named = {case for defect in DEFECTS.values() for case in defect.cases}
    assert set(BOT_SUITE.cases) - named == {
        "7.5/1",  # a defect of it takes 20 s
    }


def test_what_a_case_needs_is_not_reached_instead_of_failed() -> None:
    results = check(DEFECTS["VersionTwo"].bot, "3.1/1", "8.1/2", settings=SHORT)
    assert [result.verdict for result in results] == [Verdict.FAILED, Verdict.OK]
    (result,) = check(DEFECTS["ReadyForG1"].bot, "3.2/1", settings=SHORT)
    assert (result.expected, result.actual) == ("READY g-1:x!~,7", "READY g1")
    (result,) = check(DEFECTS["ZeroBased"].bot, "8.1/2", settings=SHORT)
    assert result.verdict is Verdict.NOT_REACHED
