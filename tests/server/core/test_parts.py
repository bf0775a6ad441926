"""What a contest asks its parts, and when."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from arena_server.core.parts.parts import Parts
from arena_server.core.peers import Bot, Slot
from arena_server.terms.config import Entrant

from .contest_harness import ContestHarness, seated

QUESTIONS = ("may_pair", "take", "due", "restore", "shown")


def asked(harness: ContestHarness, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions that each part of the contest is asked from now on."""
    questions: list[str] = []

    def listening(part: Any, question: str) -> Any:
        answer = getattr(part, question)

        def ask(*values: Any, **more: Any) -> Any:
            questions.append(question)
            return answer(*values, **more)

        return ask

    for part in harness.contest._parts._all:
        for question in QUESTIONS:
            monkeypatch.setattr(part, question, listening(part, question))
    return questions


def test_no_part_is_asked_for_a_move(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = seated("ann", "bob", options={"plies": 40, "start": "empty"}, validation=False)
    questions = asked(harness, monkeypatch)
    for _ in range(10):
        harness.send("ann", "MOVE 4")
        harness.send("bob", "MOVE 4")
    assert questions == []
    assert harness.contest.status.overview().running[0].plies == 20
    assert set(questions) == {"shown", "may_pair"}, "it is said who is here"
    harness.disconnect("ann")
    harness.log_in("ann")
    assert set(questions) == {"shown", "take", "may_pair", "due"}


def test_who_is_connected_and_well_is_not_absent() -> None:
    harness = ContestHarness("ann", "bob")
    parts, there = harness.contest._parts, harness.contest._bots
    assert [parts.is_absent(bot) for bot in there] == [True, True]
    harness.log_in("ann")
    assert [parts.is_absent(bot) for bot in there] == [False, True]


def test_the_parts_are_a_closed_tuple() -> None:
    parts = ContestHarness(Entrant("ann"), "bob").contest._parts
    assert isinstance(parts._all, tuple)
    assert all(callable(getattr(part, question)) for part in parts._all for question in QUESTIONS)
    assert not hasattr(Parts, "add"), "no part is registered from outside"


def test_nothing_optional_is_a_boolean_of_what_the_core_keeps() -> None:
    assert len(fields(Slot)) <= 9
    assert [each.name for each in fields(Slot) if each.type == "bool"] == []
    assert {each.name for each in fields(Bot) if each.type == "bool"} == {
        "plays",
        "withdrawn",
        "gone",
        "known",
    }
    games = ContestHarness("ann", "bob").contest._games
    assert [name for name, value in vars(games).items() if isinstance(value, bool)] == []
