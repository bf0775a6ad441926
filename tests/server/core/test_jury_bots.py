"""Bots that the jury disqualifies, and penalty points."""

from __future__ import annotations

from fractions import Fraction

import pytest

from arena_server.core.deal import token_digest
from arena_server.terms.config import Entrant

from .contest_harness import ONE_PLY, restarted, rows, seated
from .jury_harness import FIELD, effective, paused, rounds_of, rule, stored


def test_a_bot_is_disqualified_and_its_games_leave_the_table() -> None:
    harness = paused("ann", "bob", "cid", games_per_pair=2)
    rounds_of(harness, 5)
    assert len(stored(harness)) == 6
    before = rows(harness)
    assert rule(harness, "disqualify", "ann leave") is None
    after = rows(harness)
    assert (after["ann"].games, after["bob"].games, after["cid"].games) == (0, 2, 2)
    progress = harness.contest.status.progress()
    assert (progress.done, progress.void, progress.total) == (2, 4, 2)
    assert rule(harness, "disqualify", "ann lost") == "ann is disqualified: undo that first"
    again = restarted(harness)
    assert rows(again) == after
    assert again.contest.status.progress().total == 2
    assert again.command("undo") is None
    assert rows(again) == before
    assert again.contest.status.progress().total == 6
    assert restarted(again).contest.status.progress().done == 6
    assert rule(again, "disqualify", "ann lost") is None
    assert rows(again)["ann"].wins == 0
    assert {row.games for row in rows(again).values()} == {4}
    assert again.command("resume") is None
    assert again.finished == "finished"


def test_who_is_disqualified_is_withdrawn_and_cannot_be_added_before_that_is_undone() -> None:
    harness = seated("ann", "bob", "cid", ready=False, options=ONE_PLY, games_per_pair=2)
    assert rule(harness, "disqualify", "ann lost") is None
    assert harness.contest.status.overview().bots[0].where == "withdrawn"
    entrant = Entrant("ann", token_digest("t" * 20))
    assert harness.command("add", "ann", entrant=entrant) == "ann is disqualified: undo that first"
    assert harness.command("undo") is None
    assert harness.contest.status.overview().bots[0].where == "away"


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("eve lost", "no bot of this contest is called 'eve'"),
        ("ann", "expected leave (its games leave the table) or lost (the others have won them), got ''"),
        (
            "ann gone",
            "expected leave (its games leave the table) or lost (the others have won them), got 'gone'",
        ),
    ],
)
def test_a_disqualification_that_cannot_be(target: str, problem: str) -> None:
    assert rule(paused("ann", "bob"), "disqualify", target) == problem


def test_a_bracket_keeps_what_was_drawn_from_a_result_of_who_is_disqualified_then() -> None:
    """Its games of the levels before stand, those of the present level are lost."""
    harness = paused(*FIELD, format="knockout", games_per_pair=2)
    rounds_of(harness, 1)
    first = stored(harness)
    for number, game in first.items():
        assert rule(harness, "forfeit", f"g{number} {max(game.names)}") is None
    rounds_of(harness, 1)
    final = stored(harness).keys() - first.keys()
    assert final
    before = effective(harness)
    assert rule(harness, "disqualify", "ann lost") is None
    changed = {number for number, game in effective(harness).items() if game != before[number]}
    assert changed == final
    again = restarted(harness)
    assert rows(again) == rows(harness)


def test_who_has_left_is_disqualified_and_has_still_left_once_that_is_undone() -> None:
    harness = paused(*FIELD[:3], games_per_pair=2)
    assert harness.command("remove", "ann") is None
    assert rule(harness, "disqualify", "ann lost") is None
    assert harness.last_entries[-1] == (0, "disqualified", "ann", "lost", False)
    for each in (harness, restarted(harness)):
        assert each.command("undo") is None
        assert each.contest.status.overview().bots[0].where == "withdrawn"


def test_a_deal_of_paired_games_is_shown_once_all_of_its_games_count() -> None:
    """A game that has left the table is to be played again when it comes back: its deal stays hidden."""
    harness = paused("ann", "bob", games_per_pair=2, deals="paired")
    first = stored(harness)[1]
    may_show_deal = harness.contest._games.fixtures.may_show_deal
    seen = [may_show_deal(first)]
    rounds_of(harness, 1)
    seen.append(may_show_deal(first))
    assert rule(harness, "correct", "g1 3-1") is None
    seen.append(may_show_deal(first))
    assert rule(harness, "disqualify", "ann leave") is None
    seen.append(may_show_deal(first))
    assert harness.command("undo") is None
    seen.append(may_show_deal(first))
    assert seen == [False, True, True, False, True]


def test_a_disqualification_waits_for_a_result_that_is_on_its_way() -> None:
    harness = paused("ann", "bob", games_per_pair=2)
    again = "a result came meanwhile: give the order again"
    assert harness.command("disqualify", "ann lost", reason="x", games=()) == again
    assert rule(harness, "disqualify", "ann lost") is None


def test_games_of_a_swiss_cannot_leave_the_table() -> None:
    harness = paused(*FIELD, format="swiss", format_options={"rounds": 2}, games_per_pair=2)
    assert rule(harness, "disqualify", "ann leave") == (
        "no game of a round can leave the table, because rounds follow from it: disqualify with lost"
    )
    assert rule(harness, "disqualify", "ann lost") is None


def test_penalty_points_are_taken_from_the_score_and_given_back() -> None:
    harness = paused("ann", "bob", games_per_pair=2, scoring="wins")
    rounds_of(harness, 1)
    for number in stored(harness):
        assert rule(harness, "correct", f"g{number} 1-1") is None
    assert rule(harness, "penalty", "ann 0.5") is None
    assert harness.last_entries == [(0, "penalised", "ann", 50)]
    assert [(row.name, row.score, row.penalty) for row in harness.contest.status.progress().standings] == [
        ("bob", 1, 0),
        ("ann", Fraction(1, 2), Fraction(1, 2)),
    ]
    assert rule(harness, "penalty", "ann 1.25") is None
    assert rows(harness)["ann"].score == Fraction(-3, 4)
    again = restarted(harness)
    assert rows(again) == rows(harness)
    assert again.command("undo") is None
    assert rows(again)["ann"].penalty == Fraction(1, 2)
    for points in ("", "0", "-1", "1.234", "x", "1e3"):
        assert str(rule(again, "penalty", f"ann {points}")).startswith("expected penalty points above 0")
    assert rule(again, "penalty", "eve 1") == "no bot of this contest is called 'eve'"


def test_a_bracket_has_no_points_to_take() -> None:
    harness = paused(*FIELD, format="knockout", games_per_pair=2)
    assert rule(harness, "penalty", "ann 1") == (
        'contest.format: "knockout" has no points to take: forfeit a game instead'
    )


def test_the_penalty_counts_in_the_pairing_of_a_swiss() -> None:
    harness = paused(*FIELD, format="swiss", format_options={"rounds": 2}, games_per_pair=2)
    rounds_of(harness, 1)
    assert rule(harness, "penalty", "ann 1") is None
    row = rows(harness)["ann"]
    assert row.score is not None
    assert row.score <= 0
    rounds_of(harness, 2)
    assert rows(restarted(harness)) == rows(harness)
