"""The jury's results, which stand in the place of those played, and what follows from them."""

from __future__ import annotations

import random

import pytest
from tests.slices import all_of
from tests.slices import rows as slice_of

from arena_protocol.games import make_game
from arena_server.core.events import Capacity, Tick
from arena_server.core.rulings import RulingError, corrected, forfeited

from .contest_harness import ONE_PLY, play_on, restarted, rows, seated
from .harness import past_game
from .jury_harness import FIELD, decide, paused, points_of, rounds_of, rule, stored
from .lease_harness import Workers


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
