"""The jury's orders: results that stand in the place of those played, and what follows from them."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest
from tests.slices import all_of
from tests.slices import rows as slice_of

from arena_protocol.games import make_game
from arena_server.core.deal import number_of, token_digest
from arena_server.core.events import Capacity, Tick
from arena_server.core.facts import Ruled
from arena_server.core.orders import FIXED, ORDERS, standing
from arena_server.core.rulings import JURY, RulingError, corrected, forfeited
from arena_server.stats.results import PastGame
from arena_server.terms.config import Entrant

from .contest_harness import ONE_PLY, ContestHarness, play_on, restarted, rows, seated
from .harness import past_game
from .lease_harness import Workers, resumed

FIELD = ("ann", "bob", "cid", "dan")


def stored(harness: ContestHarness) -> dict[int, PastGame]:
    """The games as they were played."""
    return {game.number: game for game in harness.durable().results}


def rule(harness: ContestHarness, verb: str, target: str, reason: str = "seen by the jury") -> str | None:
    about = target.split(" ")[0]
    games = stored(harness).values()
    mine = tuple(each for each in games if about in each.names or each.number == number_of(about))
    return harness.command(verb, target, reason=reason, games=mine)


def paused(*names: str, **more: object) -> ContestHarness:
    """A contest all of whose games that can be played by now are, and which cannot end."""
    harness = seated(*names, ready=False, options=ONE_PLY, **more)
    assert harness.command("pause") is None
    play_on(harness)
    return harness


def rounds_of(harness: ContestHarness, count: int) -> None:
    """Play `count` parts of a contest, each while it is paused from its first game on."""
    for _ in range(count):
        assert harness.command("resume") is None
        if harness.finished is not None:
            return
        assert harness.command("pause") is None
        play_on(harness)


def effective(harness: ContestHarness) -> dict[int, PastGame]:
    """The results that count, from the facts alone."""
    from dataclasses import replace

    from arena_server.core.journal import fact_of

    games = stored(harness)
    for entry in harness.durable().entries:
        if isinstance(fact := fact_of(entry), Ruled):
            games[fact.game] = replace(games[fact.game], totals=fact.totals, end=fact.end)
    return games


def points_of(harness: ContestHarness) -> Counter[str]:
    points: Counter[str] = Counter()
    for game in effective(harness).values():
        if game.end != "void":
            points.update(dict(zip(game.names, game.totals, strict=True)))
    return points


@all_of(
    ("game", "options", "totals", "seat", "expected"),
    [
        ("insertion", {}, (30, 12), 1, (0, 12)),
        ("insertion", {}, (30, 0), 1, (0, 1)),
        ("insertion", {"seats": 3}, (30, 12, 7), 2, (30, 0, 7)),
        ("tictactoe", {}, (1, 1), 2, (2, 0)),
        ("tictactoe", {}, (0, 2), 2, (2, 0)),
        ("tictactoe", {}, (2, 0), 2, (2, 0)),
    ],
)
def test_who_forfeits_has_lost_and_the_others_keep_their_points(
    game: str, options: dict[str, object], totals: tuple[int, ...], seat: int, expected: tuple[int, ...]
) -> None:
    seats = len(totals)
    assert forfeited(make_game(game, {**options, "seats": seats}), totals, seat) == expected


def test_a_result_is_written_with_dashes_or_colons() -> None:
    assert corrected("2-0", 2) == (2, 0)
    assert corrected("7:-3:12", 3) == (7, -3, 12)
    for text in ("2", "2-0-1", "2-x", "2--1", "", "2-9999999999", "²-0"):
        with pytest.raises(RulingError, match=r"^expected the points of each of 2 seats, as 1-0, got '"):
            corrected(text, 2)


def test_a_game_is_forfeited_and_corrected_and_the_table_follows_at_once_and_after_a_restart() -> None:
    harness = paused("ann", "bob", games_per_pair=2)
    (number,) = stored(harness)
    before = rows(harness)
    game = stored(harness)[number]
    lost, won = game.names
    assert rule(harness, "forfeit", f"g{number} {lost}") is None
    totals = (0, max(1, game.totals[1]))
    assert harness.last_entries == [(0, "ruled", 1, number, totals, "forfeit", game.totals, game.end, 2)]
    assert harness.last_orders == [(2, "forfeit", f"g{number} {lost}", "", 0, "seen by the jury")]
    assert rows(harness)[won].wins == 1
    assert rule(harness, "correct", f"g{number} 5-5") is None
    assert harness.last_entries == [(0, "ruled", 2, number, (5, 5), "corrected", totals, "forfeit", 3)]
    assert {row.points for row in rows(harness).values()} == {5}
    again = restarted(harness)
    assert rows(again) == rows(harness) != before
    assert rule(again, "correct", f"g{number} 5-5") == f"g{number} has this result already"
    assert rule(again, "forfeit", f"g{number} {won}") is None
    assert rows(again)[lost].wins == 1


def test_an_order_of_the_jury_that_cannot_be_carried_out() -> None:
    harness = seated("ann", "bob", ready=False, options=ONE_PLY, games_per_pair=2)
    running = "g1 has no result yet: void it, or wait for its end"
    assert rule(harness, "forfeit", "g1 ann") == running
    assert harness.command("pause") is None
    play_on(harness)
    for target, reason, problem in (
        ("g1 ann", " ", "forfeit: expected a reason, which is shown with the decision"),
        ("g9 ann", "why", "no game 'g9' has a result"),
        ("nonsense", "why", "no game 'nonsense' has a result"),
        ("g1 eve", "why", "'eve' did not play g1: "),
        ("g1", "why", "'' did not play g1: "),
    ):
        assert str(rule(harness, "forfeit", target, reason)).startswith(problem)
    assert str(rule(harness, "correct", "g1 2")).startswith("expected the points of each of 2 seats")
    assert harness.last_orders == []


def test_a_void_game_has_no_result_to_change() -> None:
    harness = seated("ann", "bob", options=ONE_PLY, games_per_pair=2)
    assert harness.command("void", "g1") is None
    assert rule(harness, "correct", "g1 1-0") == "g1 is void, and has no result to change"


def test_a_game_of_a_worker_of_whom_nothing_counts_has_no_result_to_change() -> None:
    run = Workers(*FIELD[:2], games_per_pair=2)
    run.event(Capacity(1))
    run.give(run.assigned[0], worker="w1")
    played = (past_game(run.records["g1"], run.journal),)
    assert run.command("correct", "g1 3-1", reason="x", games=played) is None
    assert run.command("void-worker", "w1") is None
    run.find_games("w1")
    assert {row.games for row in rows(run).values()} == {row.points for row in rows(run).values()} == {0}
    for order in ("correct g1 1-3", "forfeit g1 ann"):
        verb, _, target = order.partition(" ")
        problem = run.command(verb, target, reason="x", games=played)
        assert problem == "g1 is void, and has no result to change"


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


@pytest.mark.parametrize(
    ("order", "problem"),
    [
        ("correct g1 1-0", "a round is being drawn: change results once it is"),
        ("forfeit g1 ann", "a round is being drawn: change results once it is"),
        ("disqualify ann lost", "a round is being drawn: change results once it is"),
        ("penalty ann 1", "a round is being drawn: give penalty points once it is"),
    ],
)
def test_nothing_is_decided_while_a_round_is_being_drawn(order: str, problem: str) -> None:
    """The draw follows from what was decided before."""
    harness = paused("ann", "bob", format="swiss", games_per_pair=2)
    before = rows(harness)
    harness.contest._games.fixtures.drawing = True
    assert rule(harness, *order.split(" ", 1)) == problem
    assert (harness.last_orders, rows(harness)) == ([], before)
    harness.contest._games.fixtures.drawing = False
    assert rule(harness, *order.split(" ", 1)) is None


def test_results_that_decide_when_a_contest_ends_stand() -> None:
    harness = paused("ann", "bob", games_per_pair=20, stop="top:1")
    assert rule(harness, "correct", "g1 1-0") == (
        "results decide when the contest ends (contest.stop), so they stand"
    )


def test_a_contest_that_is_paused_does_not_end_before_the_jury_has_decided() -> None:
    harness = paused("ann", "bob", games_per_pair=2)
    rounds_of(harness, 1)
    assert len(stored(harness)) == 2
    assert harness.finished is None
    harness.event(Tick())
    assert rule(harness, "correct", "g2 1-0") is None
    assert harness.command("resume") is None
    assert harness.finished == "finished"
    assert rule(harness, "correct", "g2 2-0") == "the contest is over: finished"


def test_the_next_round_of_a_swiss_is_paired_by_what_the_jury_has_decided() -> None:
    def second_round(*orders: str) -> set[frozenset[str]]:
        harness = paused(*FIELD, format="swiss", format_options={"rounds": 2}, games_per_pair=2)
        rounds_of(harness, 1)
        assert len(stored(harness)) == 4, "both games of two pairings"
        for order in orders:
            assert rule(harness, *order.split(" ", 1)) is None
        rounds_of(harness, 1)
        return {frozenset(game.names) for number, game in stored(harness).items() if number > 4}

    first = paused(*FIELD, format="swiss", format_options={"rounds": 2}, games_per_pair=2)
    rounds_of(first, 1)
    pairs = sorted({tuple(sorted(game.names)) for game in stored(first).values()})
    for one in pairs[0]:
        for other in pairs[1]:
            losers = [next(name for name in pair if name not in (one, other)) for pair in pairs]
            orders = [
                f"forfeit g{number} {next(name for name in game.names if name in losers)}"
                for number, game in stored(first).items()
            ]
            assert frozenset((one, other)) in second_round(*orders), "the winners meet"


def test_in_a_bracket_a_result_stands_once_a_level_was_drawn_from_it() -> None:
    harness = paused(*FIELD, format="knockout", games_per_pair=2)
    rounds_of(harness, 1)
    games = stored(harness)
    assert len(games) >= 4
    winners = {}
    for number, game in games.items():
        loser = max(game.names)
        winners[frozenset(game.names)] = min(game.names)
        assert rule(harness, "forfeit", f"g{number} {loser}") is None
    rounds_of(harness, 1)
    final = {frozenset(game.names) for number, game in stored(harness).items() if number not in games}
    assert final == {frozenset(winners.values())}
    assert rule(harness, "correct", "g1 7-7") == (
        "g1: what follows from its result has been drawn, so it stands"
    )
    again = restarted(harness)
    assert rows(again) == rows(harness)
    last = max(stored(harness))
    assert rule(again, "correct", f"g{last} 7-7") is None


def decide(harness: ContestHarness, chance: random.Random) -> None:
    """Sometimes an order that is not about one game; most are possible in some formats alone."""
    order = chance.choice(
        ("penalty {} 0.5", "penalty {} 2", "disqualify {} lost", "disqualify {} leave", "undo", "")
    )
    verb, _, target = order.format(chance.choice(FIELD)).partition(" ")
    if verb == "undo":
        # Without its pause the contest may end.
        if standing(harness.contest.status.overview().orders)[-1].verb in JURY:
            assert harness.command("undo") is None
    elif verb and not (verb == "disqualify" and chance.random() < 0.5):
        rule(harness, verb, target)


@pytest.mark.parametrize("seed", slice_of(range(6), 3))
@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("round-robin", {}),
        ("gauntlet", {}),
        ("swiss", {"rounds": 3}),
        ("groups", {"groups": 1}),
        ("ladder", {"games": 12}),
    ],
)
def test_of_any_contest_and_any_rulings_table_and_facts_agree_before_and_after_a_restart(
    form: str, options: dict[str, object], seed: int
) -> None:
    chance = random.Random(f"{form}{seed}")
    scoring = chance.choice(("points", "wins"))
    harness = paused(*FIELD, format=form, format_options=options, games_per_pair=2, scoring=scoring)
    for _ in range(8):
        rounds_of(harness, 1)
        if harness.contest.ended is not None:
            break
        decide(harness, chance)
        for number, game in chance.sample(sorted(stored(harness).items()), min(2, len(stored(harness)))):
            verb = chance.choice(("forfeit", "correct"))
            said = (
                chance.choice(game.names)
                if verb == "forfeit"
                else f"{chance.randrange(9)}-{chance.randrange(9)}"
            )
            rule(harness, verb, f"g{number} {said}")
        counted = points_of(harness)
        assert {name: row.points for name, row in rows(harness).items()} == {n: counted[n] for n in FIELD}
        if chance.random() < 0.5:
            before = rows(harness)
            harness = restarted(harness)
            assert rows(harness) == before
            for name in FIELD:
                harness.log_in(name)
            play_on(harness)
    assert len(stored(harness)) > 1


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
