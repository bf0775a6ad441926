"""Orders that are taken back, and those that cannot be."""

from __future__ import annotations

import pytest

from arena_server.core.events import Capacity
from arena_server.core.orders import FIXED, ORDERS
from arena_server.core.rulings import JURY

from .contest_harness import ONE_PLY, restarted, rows, seated
from .harness import past_game
from .jury_harness import FIELD, paused, rounds_of, rule, stored
from .lease_harness import Workers, resumed


@pytest.mark.parametrize("killed", [False, True])
def test_undo_leaves_a_game_alone_that_does_not_count_any_more(*, killed: bool) -> None:
    """The games of a worker are looked up behind the order; the jury may decide of them before that."""
    run = Workers(*FIELD[:2], games_per_pair=2)
    run.event(Capacity(1))
    run.give(run.assigned[0], worker="w1")
    played = (past_game(run.records["g1"], run.journal),)
    assert run.command("pause") is None
    assert run.command("void-worker", "w1") is None
    assert run.command("disqualify", "ann lost", reason="x", games=played) is None
    run.find_games("w1")
    assert {row.games for row in rows(run).values()} == {0}
    after = resumed(run, games_per_pair=2) if killed else run
    assert after.command("undo") is None
    assert (0, "disqualified", "ann", "", False) in after.last_entries
    assert {row.games for row in rows(after).values()} == {0}


def test_undo_of_a_ruling_brings_the_result_of_before_back_and_no_bot() -> None:
    harness = paused("ann", "bob", games_per_pair=2)
    before = rows(harness)
    for order in ("forfeit g1 ann", "correct g1 7-7", "correct g1 2-1"):
        assert rule(harness, *order.split(" ", 1)) is None
    for _ in range(3):
        again = restarted(harness)
        assert again.command("undo") is None
        assert harness.command("undo") is None
        assert harness.last_entries[0][1] == "ruled"
        assert rows(again) == rows(harness)
    assert rows(harness) == before


def test_undo_takes_the_orders_back_one_after_the_other() -> None:
    harness = seated("ann", "bob", ready=False, options=ONE_PLY, games_per_pair=2)
    assert harness.command("undo") == "no order stands that could be undone"
    for verb, target in (
        ("pause", ""),
        ("extend", "2"),
        ("shorten", "2"),
        ("kick", "ann"),
        ("remove", "bob"),
    ):
        assert harness.command(verb, target) is None
    assert [bot.where for bot in harness.contest.status.overview().bots] == ["kicked", "withdrawn"]
    for _ in range(2):
        assert harness.command("undo") is None
    assert [bot.where for bot in harness.contest.status.overview().bots] == ["away", "away"]
    assert harness.last_orders[0][:3] == (7, "undo", "4")
    length = harness.contest.status.overview().length
    assert length is not None
    assert harness.command("undo") is None
    again = harness.contest.status.overview().length
    assert again is not None
    assert again.now == length.now + 2
    for _ in range(2):
        assert harness.command("undo") is None
    assert harness.contest.status.overview().state == "open"
    assert harness.command("undo") == "no order stands that could be undone"


def test_undo_of_a_drain_while_a_game_runs() -> None:
    harness = seated("ann", "bob", options=ONE_PLY, games_per_pair=2)
    assert harness.command("drain") is None
    assert harness.command("undo") is None
    assert harness.contest.status.overview().state == "open"


def test_an_order_that_cannot_be_undone_says_what_can_be_done() -> None:
    harness = seated("ann", "bob", ready=False, options=ONE_PLY, games_per_pair=2)
    assert harness.command("void", "g1") is None
    assert harness.command("undo") == (
        "order 1, void g1, cannot be undone: the game was broken off: replay it"
    )


def test_every_order_has_an_inverse_or_says_why_it_has_none() -> None:
    by_hand = {*JURY, "undo"}
    assert {verb for verb, kind in ORDERS.items() if not kind.inverse} <= {*FIXED, *by_hand}
    assert not {*FIXED} & by_hand


def test_a_ruling_from_which_something_was_drawn_cannot_be_undone() -> None:
    harness = paused(*FIELD, format="knockout", games_per_pair=2)
    rounds_of(harness, 1)
    for number, game in stored(harness).items():
        assert rule(harness, "forfeit", f"g{number} {max(game.names)}") is None
    assert rule(harness, "correct", "g1 7-7") is None
    assert rule(harness, "correct", "g1 9-7") is None
    rounds_of(harness, 1)
    while harness.command("undo") is None:
        pass
    assert harness.command("undo") == "g1: what follows from its result has been drawn, so it stands"
