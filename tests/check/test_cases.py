"""The table of clauses and the selection of cases."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.slices import all_of

from arena_check.cases import (
    NEGATIVE,
    POSITIVE,
    SELECTION,
    Finding,
    Suite,
    Verdict,
    failed,
    is_conformant,
    reaching,
)
from arena_check.clauses import CLAUSE, CLAUSES, SECTIONS, order
from arena_check.runner import BOT_SUITE, SERVER_SUITE

from .reports import result

PROTOCOL = Path(__file__).resolve().parents[2] / "protocol" / "PROTOCOL.md"
SUITES: dict[str, Suite[Any]] = {"bot": BOT_SUITE, "server": SERVER_SUITE}


def test_every_clause_has_a_positive_and_a_negative_case() -> None:
    for clause in CLAUSES:
        cases = [
            case for suite in SUITES.values() for case in suite.cases.values() if case.clause == clause.id
        ]
        assert {case.kind for case in cases} == {POSITIVE, NEGATIVE}, clause.id


def test_the_sections_are_the_headings_of_the_specification() -> None:
    headings = re.findall(r"^## (.*)$", PROTOCOL.read_text(encoding="utf-8"), re.MULTILINE)
    assert tuple(headings[: len(SECTIONS)]) == SECTIONS
    rest = ["Programs started by a tournament", "Transcripts", "The smallest bot"]
    assert headings[len(SECTIONS) :] == rest  # not of the wire, and examples: no clauses


def test_clauses_are_counted_from_1_in_each_section() -> None:
    assert len(CLAUSE) == len(CLAUSES)
    for number, section in enumerate(SECTIONS, 1):
        own = [clause for clause in CLAUSES if clause.section == section]
        assert [clause.id for clause in own] == [f"{number}.{place}" for place in range(1, len(own) + 1)]


@pytest.mark.parametrize("peer", SUITES)
def test_cases_are_counted_from_1_in_each_clause(peer: str) -> None:
    numbers: dict[str, list[int]] = {}
    for case in SUITES[peer].select():
        assert SELECTION.fullmatch(case.id)
        numbers.setdefault(case.clause, []).append(int(case.id.partition("/")[2]))
    for clause, found in numbers.items():
        assert found == list(range(1, len(found) + 1)), clause


@pytest.mark.parametrize("peer", SUITES)
def test_every_case_says_what_it_does_expects_and_advises(peer: str) -> None:
    for case in SUITES[peer].select():
        for text in (case.does, case.expects, case.advice):
            assert text, case.id
            assert "\n" not in text


def test_ids_are_ordered_by_number() -> None:
    ids = ["11.1/2", "3.10/1", "3.9/1", "3.9/10", "3.9/2"]
    assert sorted(ids, key=order) == ["3.9/1", "3.9/2", "3.9/10", "3.10/1", "11.1/2"]


def suite_of(*ids: str) -> Suite[None]:
    suite: Suite[None] = Suite()
    for id_ in ids:
        suite.case(id_, POSITIVE, does="d", expects="e", advice="a")(lambda bench: None)
    return suite


@all_of(
    ("selections", "selected"),
    [
        ((), ["1.1/1", "1.10/1", "3.1/1", "3.1/2", "11.1/1"]),
        (("1",), ["1.1/1", "1.10/1"]),
        (("1.1",), ["1.1/1"]),
        (("3.1/2", "1.10"), ["1.10/1", "3.1/2"]),
        (("11", "11.1", "11.1/1"), ["11.1/1"]),
    ],
)
def test_sections_clauses_and_cases_are_selected(selections: tuple[str, ...], selected: list[str]) -> None:
    suite = suite_of("3.1/2", "1.10/1", "11.1/1", "3.1/1", "1.1/1")
    assert [case.id for case in suite.select(selections)] == selected


def test_what_a_case_needs_stands_before_it() -> None:
    suite: Suite[None] = Suite(needs=("1.1/1",))
    for id_, needs in (
        ("1.1/1", ()),
        ("3.1/1", ("3.1/2", "11.1/1")),
        ("3.1/2", None),
        ("11.1/1", ("3.1/2",)),
    ):
        enter = suite.case(id_, POSITIVE, does="d", expects="e", advice="a", needs=needs)
        enter(lambda bench: None)
    assert [case.id for case in suite.with_needs(suite.select(["3.1/1"]))] == [
        "1.1/1",
        "3.1/2",
        "11.1/1",
        "3.1/1",
    ]
    assert [case.id for case in suite.with_needs(suite.select(["1.1"]))] == ["1.1/1"]


def test_what_is_needed_exists_and_comes_first() -> None:
    ordered = BOT_SUITE.with_needs(BOT_SUITE.select())
    assert len(ordered) == len(BOT_SUITE.cases)
    places = {case.id: place for place, case in enumerate(ordered)}
    for case in ordered:
        assert all(places[needed] < places[case.id] for needed in case.needs), case.id
        # Whatever passes has to be able to take joined lines, but the plain game and that very case.
        assert case.needs or case.plain or case.id == "1.1/1"


def test_a_selection_of_no_case_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^no case '3\.2'; --list shows all of them$"):
        suite_of("3.1/1").select(["3.1", "3.2"])


def test_what_goes_wrong_on_the_way_is_not_reached() -> None:
    with pytest.raises(Finding) as found, reaching():
        raise failed("READY", "nothing")
    assert (found.value.verdict, found.value.expected, found.value.actual) == (
        Verdict.NOT_REACHED,
        "READY",
        "nothing",
    )


@all_of("verdict", Verdict)
def test_what_conforms(verdict: Verdict) -> None:
    results = [result(Verdict.OK), result(verdict)]
    assert is_conformant(results) == (verdict in (Verdict.OK, Verdict.NON_STRICT, Verdict.NOT_IMPLEMENTED))
    assert is_conformant(results, strict=True) == (verdict is Verdict.OK)


def test_every_clause_stands_in_its_section_of_the_specification() -> None:
    text = PROTOCOL.read_text(encoding="utf-8")
    sections = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    marked = {
        (heading, id_)
        for heading, body in zip(sections[1::2], sections[2::2], strict=True)
        for id_ in re.findall(r"\[(\d+\.\d+)\]", body)
    }
    assert marked == {(clause.section, clause.id) for clause in CLAUSES}
    for clause in CLAUSES:
        assert text.count(f"[{clause.id}]") == 1 + (clause.id == "3.3"), clause.id  # 3.3 is the example
