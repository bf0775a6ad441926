"""Rounds of a Swiss that the organiser pairs, and pairs that do not meet: orders, facts, refusals."""

from __future__ import annotations

from typing import Any

import pytest
from tests.slices import all_of

from arena_server.core.commands import UNCONFIRMED
from arena_server.core.formats.encounters import Encounter
from arena_server.core.formats.history import History
from arena_server.core.formats.swiss import Swiss
from arena_server.core.journal import JournalError, Past, fact_of

from .contest_harness import ONE_PLY, ContestHarness, play_on, restarted

FOUR = ("ann", "bob", "cid", "dan")
PAIRED = "paired", 1, 1, 1, (), False, False, "x"
FORBIDDEN = "forbidden", 1, 1, ("cid", "dan"), True
#: The first round of four is ann-cid, bob-dan.


def swiss(*names: str, rounds: int = 3, start: bool = True, **options: Any) -> ContestHarness:
    """A contest in a pause before its first round, whose bots are there."""
    more = {key: options.pop(key) for key in ("owners",) if key in options}
    harness = ContestHarness(
        *names, options=ONE_PLY, games_per_pair=1, format="swiss",
        format_options={"rounds": rounds} | options, **more,
    )  # fmt: skip
    assert harness.command("pause") is None
    for name in names if start else ():
        harness.log_in(name)
    return harness


def pair(harness: ContestHarness, text: str, **more: Any) -> str | None:
    return harness.command("pair", text, **{"reason": "one hall", **more})


def rounds(harness: ContestHarness) -> list[list[str]]:
    form = harness.contest._games.fixtures.swiss
    assert form is not None
    return [
        [":".join(each.names) if isinstance(each, Encounter) else str(each) for each in made]
        for made in form.draws.rounds
    ]


def history(harness: ContestHarness) -> History:
    form = harness.contest._games.fixtures.swiss
    assert form is not None
    found = History(Swiss(form.terms))
    found.extend(fact_of(entry) for entry in harness.durable().entries if entry[0] == 0)  # type: ignore[misc]
    for game in harness.durable().results:
        found.add(game)
    return found


def played(harness: ContestHarness) -> list[tuple[str, ...]]:
    return [record.names for record in harness.records.values()]


def test_the_next_round_is_the_one_of_the_order() -> None:
    harness = swiss(*FOUR, rounds=1)
    assert pair(harness, "ann:bob,dan:cid") is None
    assert harness.last_entries == [
        (0, "paired", 1, 1, 1, (("ann", "bob"), ("dan", "cid")), False, False, "one hall")
    ]
    assert [order[1:3] for order in harness.last_orders] == [("pair", "ann:bob,dan:cid")]
    harness.command("resume")
    play_on(harness)
    assert harness.finished == "finished"
    assert sorted(played(harness)) == [("ann", "bob"), ("dan", "cid")]
    found = history(harness)
    found.check(over=True)
    (document,) = found.document()["rounds"]
    assert (document["title"], document["by_hand"]) == ("round 1", "one hall")


def test_a_round_is_repaired_while_no_game_of_it_has_begun_and_the_server_killed() -> None:
    harness = swiss(*FOUR, rounds=2)
    assert pair(harness, "ann:bob,dan:cid") is None
    assert pair(harness, "ann:cid,bob:dan", reason="again") is None
    assert harness.last_entries == [
        (0, "paired", 2, 3, 1, (("ann", "cid"), ("bob", "dan")), True, False, "again")
    ]
    for each in (harness, restarted(harness)):
        assert rounds(each) == [["ann:cid", "bob:dan"]]
        assert each.contest.status.progress().total == 4
        found = history(each)
        assert [made.get("by_hand") for made in found.document()["rounds"]] == ["again"]
    again = restarted(harness)
    for name in FOUR:
        again.log_in(name)
    again.command("resume")
    play_on(again)
    assert again.finished == "finished"
    assert sorted(again.records) == ["g3", "g4", "g5", "g6"]
    history(again).check(over=True)


def test_a_round_that_the_server_drew_is_repaired() -> None:
    harness = swiss(*FOUR, rounds=1, start=False)
    harness.command("resume")
    harness.log_in("ann")
    harness.log_in("dan")
    assert rounds(harness) == [["ann:cid", "dan:bob"]], "no game can begin"
    assert pair(harness, "dan:ann,bob:cid") is None
    assert rounds(restarted(harness)) == [["dan:ann", "bob:cid"]]
    for name in ("bob", "cid"):
        harness.log_in(name)
    play_on(harness)
    assert harness.finished == "finished"
    history(harness).check(over=True)


def test_a_round_whose_games_have_begun_stands() -> None:
    harness = swiss(*FOUR)
    harness.command("resume")
    assert pair(harness, "ann:bob,dan:cid") == (
        "pair: games of round 1 have begun: it can be paired by hand before that"
    )


def second_round(**more: Any) -> ContestHarness:
    """Four bots in a pause after ann-bob, cid-dan."""
    harness = swiss(*FOUR, **more)
    assert pair(harness, "ann:bob,cid:dan") is None
    harness.command("resume")
    for name in FOUR:
        harness.send(name, f"READY {'g1' if name in 'ann bob' else 'g2'}")
    harness.command("pause")
    for name in ("ann", "cid"):
        harness.send(name, "MOVE 7")
    assert len(harness.records) == 2
    return harness


def test_a_repeat_needs_to_be_confirmed() -> None:
    harness = second_round()
    problem = pair(harness, "bob:ann,cid:dan")
    assert problem == "pair: bob and ann have met; confirm it"
    assert problem.endswith(UNCONFIRMED)
    assert pair(harness, "bob:ann,cid:dan", confirmed=True) is None
    assert harness.last_entries[0][-2] is True
    assert rounds(restarted(harness)) == [["ann:bob", "cid:dan"], ["bob:ann", "cid:dan"]]
    history(harness).check(over=False)


def test_a_second_bye_needs_to_be_confirmed() -> None:
    harness = swiss("ann", "bob", "cid")
    assert pair(harness, "ann:bob,cid") is None
    harness.command("resume")
    for name in ("ann", "bob"):
        harness.send(name, "READY g1")
    harness.command("pause")
    harness.send("ann", "MOVE 7")
    assert pair(harness, "bob:ann,cid") == "pair: bob and ann have met; confirm it"
    assert pair(harness, "cid:ann,bob") is None
    assert pair(harness, "cid:bob,ann") is None


def test_a_bye_is_a_repeat_also_where_no_two_meet_again() -> None:
    harness = swiss(*FOUR, "eve")
    assert pair(harness, "ann:bob,cid:dan,eve") is None
    harness.command("resume")
    for name in FOUR:
        harness.send(name, f"READY {'g1' if name in 'ann bob' else 'g2'}")
    harness.command("pause")
    for name in ("ann", "cid"):
        harness.send(name, "MOVE 7")
    assert pair(harness, "ann:cid,bob:dan,eve") == "pair: eve has had a bye; confirm it"
    assert pair(harness, "ann:cid,bob:dan,eve", confirmed=True) is None
    assert pair(harness, "ann:cid,eve:dan,bob") is None


@all_of(
    ("text", "problem"),
    [
        ("", "expected pairs as ann:bob,cid:dan,eve, got ''"),
        ("ann:bob:cid,dan", "expected pairs as ann:bob,cid:dan,eve, got 'ann:bob:cid,dan'"),
        ("ann:bob,cid:eve", "no bot of this contest is called 'eve', or it has left"),
        ("ann:bob,cid:ann", "ann is in the round 2 times"),
        ("ann:ann,bob:cid", "ann is in the round 2 times"),
        ("ann:bob", "the round is without cid, dan: each plays, or one has the bye"),
        ("ann:bob,cid,dan", "expected one bye at most, got cid, dan"),
        ("bob:cid,ann:dan", "bob and cid must not meet: the pair is forbidden"),
    ],
)
def test_what_is_no_round_is_refused(text: str, problem: str) -> None:
    harness = swiss(*FOUR, forbidden_pairs=[["bob", "cid"]])
    assert pair(harness, text) == f"pair: {problem}"
    assert harness.last_entries == []


def test_bots_of_one_owner_do_not_meet_by_hand() -> None:
    owners = {"ann": "x", "bob": "x"}
    harness = swiss(*FOUR, owners=owners, same_owner="never")
    assert pair(harness, "ann:bob,cid:dan", confirmed=True) == (
        'pair: ann and bob must not meet: same_owner is "never", and both are of x'
    )


def test_a_bot_that_is_not_there_may_be_left_out_and_one_alone_is_no_round() -> None:
    harness = swiss(*FOUR, start=False)
    assert pair(harness, "ann") == "pair: expected a pair"
    harness.log_in("ann")
    assert pair(harness, "bob:cid") == "pair: the round is without ann: each plays, or one has the bye"
    assert pair(harness, "bob:ann,cid") is None


def test_orders_that_are_refused_whatever_the_round() -> None:
    harness = swiss(*FOUR, rounds=1)
    for verb in ("pair", "forbid", "allow"):
        assert harness.command(verb, "ann:bob") == f"{verb}: expected a reason, which is kept and shown"
    harness.contest._games.fixtures.drawing = True
    assert pair(harness, "ann:bob") == "a round is being drawn: give the order once it is"
    again = second_round(rounds=1)
    assert again.finished or pair(again, "ann:cid,bob:dan") == "pair: all 1 rounds have been drawn"
    other = ContestHarness("ann", "bob")
    assert pair(other, "ann:bob") == "pair: expected a Swiss; only its rounds are paired by hand"


class TestForbid:
    def test_two_do_not_meet_and_may_again_also_after_a_restart(self) -> None:
        harness = swiss(*FOUR, rounds=2)
        give = {"reason": "one author"}
        assert harness.command("forbid", "ann:cid", **give) is None
        assert harness.last_entries == [(0, "forbidden", 1, 1, ("ann", "cid"), True)]
        assert harness.command("forbid", "cid:ann", **give) == "forbid: cid and ann must not meet already"
        again = restarted(harness)
        assert again.command("allow", "ann:cid", **give) is None
        assert again.last_entries == [(0, "forbidden", 2, 1, ("ann", "cid"), False)]
        assert again.command("allow", "ann:cid", **give) == "allow: ann and cid may meet already"
        assert again.command("forbid", "ann:cid", **give) is None
        for name in FOUR:
            again.log_in(name)
        again.command("resume")
        play_on(again)
        assert again.finished == "finished"
        assert ("ann", "cid") not in {tuple(sorted(names)) for names in played(again)}
        history(again).check(over=True)

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("ann", "expected two bots as ann:bob, got 'ann'"),
            ("ann:ann", "expected two bots as ann:bob, got 'ann:ann'"),
            ("ann:bob,cid:dan", "expected two bots as ann:bob, got 'ann:bob,cid:dan'"),
            ("ann:eve", "no bot of this contest is called 'eve'"),
        ],
    )
    def test_what_is_no_pair_is_refused(self, text: str, problem: str) -> None:
        assert swiss(*FOUR).command("forbid", text, reason="x") == f"forbid: {problem}"

    def test_rounds_that_could_not_be_drawn_any_more_are_asked_for(self) -> None:
        harness = swiss(*FOUR)
        assert harness.command("forbid", "ann:bob", reason="x") == (
            "forbid: not all 3 rounds that are left could be drawn then; confirm it"
        )
        assert harness.command("forbid", "ann:bob", reason="x", confirmed=True) is None

    def test_one_of_the_file_is_lifted(self) -> None:
        harness = swiss(*FOUR, forbidden_pairs=[["ann", "bob"]])
        assert harness.command("allow", "ann:bob", reason="x") is None
        assert pair(harness, "ann:bob,cid:dan") is None

    def test_a_large_field_is_not_looked_at(self) -> None:
        names = [f"b{number}" for number in range(26)]
        harness = swiss(*names, start=False)
        assert harness.command("forbid", "b1:b2", reason="x") is None


class TestVerify:
    """A round of the server, or by hand without the option, that no rule allows."""

    @all_of(
        ("facts", "flaw"),
        [
            ([("drawn", 1, 1, 1, (("ann", "bob"), ("cid", "dan")))], "ann and bob must not meet"),
            ([("paired", 1, 1, 1, (("ann", "bob"),), False, True, "x")], "ann and bob must not meet"),
            ([FORBIDDEN, ("drawn", 1, 1, 1, (("cid", "dan"),))], "cid and dan must not meet"),
            ([("drawn", 1, 1, 1, (("ann", "cid"), ("bob",)))], ""),
            ([("paired", 1, 1, 1, (("ann", "cid"),), False, False, "x")], ""),
        ],
    )  # fmt: skip
    def test_a_round(self, facts: list[tuple[Any, ...]], flaw: str) -> None:
        form = swiss(*FOUR, forbidden_pairs=[["ann", "bob"]]).contest._games.fixtures.swiss
        assert form is not None
        found = History(Swiss(form.terms))
        found.extend(fact_of((0, *fact)) for fact in facts)  # type: ignore[misc]
        if not flaw:
            found.check(over=False)
            return
        with pytest.raises(ValueError, match=rf"^draw 1: {flaw}"):
            found.check(over=False)

    @pytest.mark.parametrize(
        ("entry", "problem"),
        [
            ((1, True), "draw 0: expected a round of which no game has begun"),
            ((2, False), "draw 2, from g1 on: expected draw 1"),
        ],
    )  # fmt: skip
    def test_a_damaged_journal(self, entry: tuple[int, bool], problem: str) -> None:
        draw, replaces = entry
        fact = (0, "paired", draw, 1, 1, (("ann", "bob"),), replaces, False, "x")
        with pytest.raises(JournalError, match=f"^{problem}"):
            ContestHarness(*FOUR, format="swiss", past=Past(entries=(fact,)))

    @pytest.mark.parametrize(
        ("form", "entry", "problem"),
        [
            ("knockout", PAIRED, "draw 1: no round of knockout is paired by hand"),
            ("knockout", FORBIDDEN, "change 1 of who may meet: knockout forbids no pair"),
            ("ladder", FORBIDDEN, "ladder draws no rounds, and one is paired by hand"),
        ],
    )
    def test_facts_of_another_format(self, form: str, entry: tuple[Any, ...], problem: str) -> None:
        with pytest.raises(JournalError, match=f"^{problem}$"):
            ContestHarness(*FOUR, format=form, past=Past(entries=((0, *entry),)))
