"""The engines `maxn` and `expectiminimax`: the moves of their searches, on two to four seats."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from tests.slices import rows

from arena_cli.engine_games import play_game
from arena_cli.match_run import MatchPlan, MatchRun
from arena_engines.engine import Position
from arena_engines.registry import create
from arena_engines.search.adapters import AllSeats, TwoSides, WithChance
from arena_engines.search.expectiminimax import expectiminimax
from arena_engines.search.maxn import maxn
from arena_engines.search.minimax import minimax
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal
from arena_protocol.games.insertion import Insertion


def position(seed: int, plies: int, **options: object) -> Position[Any, Any]:
    """A position of a game of random numbers, with the visible pictures that a seat sees."""
    rules = Insertion.from_options({"colours": 4, "plies": 30, **options})
    deal = rules.deal(seed)
    state = rules.start(Deal(deal.board, rules.preview(deal)))
    for ply in range(1, plies + 1):
        state = rules.play(state, str(1 + (seed + 7 * ply) % 15)).position
        state = rules.extend(state, rules.reveal(deal, ply) or "")
    return Position(rules=rules, state=state)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_maxn_plays_the_move_of_its_search_as_far_as_pictures_are_visible(seats: int) -> None:
    for seed, lookahead in product(range(3), (1, 2)):
        at = position(seed, 5, seats=seats, lookahead=lookahead)
        move = create("maxn:depth=2").choose(at)
        assert str(move) == maxn(AllSeats(at.rules), at.state, lookahead).line[0]


def test_expectiminimax_is_the_mean_over_the_colours() -> None:
    for seed in range(3):
        at = position(seed, 6, lookahead=1)
        move = create("expectiminimax:depth=2").choose(at)
        means = {}
        for mine in at.rules.legal_moves(at.state):
            values = []
            for colour in range(1, at.rules.colours + 1):
                known = at.rules.extend(at.state, str(colour))
                child, gain = TwoSides(at.rules, at.seat).play(known, mine)
                values.append(gain + minimax(TwoSides(at.rules, at.seat), child, 1).value)
            means[mine] = Fraction(sum(values), at.rules.colours)
        assert str(move) == max(means, key=lambda each: means[each])


def test_every_colour_is_drawn_alike_only_where_no_picture_is_visible() -> None:
    at = position(1, 29, lookahead=1)
    tree = WithChance(at.rules)
    assert tree.outcomes(at.state) == ()
    last = at.rules.play(at.state, "7").position
    assert tree.outcomes(last) == (), "the game is over"
    early = position(1, 4, lookahead=1)
    child = tree.play(early.state, "7")[0]
    assert [(chance, drawn.picture) for chance, drawn in tree.outcomes(child)] == [
        (Fraction(1, 4), colour) for colour in range(1, 5)
    ]
    disc = make_game("disc", {})
    assert WithChance(disc).outcomes(disc.start(disc.deal(0))) == ()


def test_distinct_moves_change_no_value_and_save_nodes() -> None:
    for seed in range(4):
        at = position(seed, 8, seats=3, lookahead=2)
        every, distinct = (maxn(AllSeats(at.rules, distinct=each), at.state, 2) for each in (False, True))
        assert (every.values, every.line[0]) == (distinct.values, distinct.line[0])
        assert distinct.nodes < every.nodes
        two = position(seed, 8, lookahead=1)
        full, few = (
            expectiminimax(WithChance(two.rules, two.seat, distinct=each), two.state, 2)
            for each in (False, True)
        )
        assert (full.value, full.move) == (few.value, few.move)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_they_play_whole_games_without_a_fault(seats: int) -> None:
    rules = make_game("insertion", {"seats": seats, "plies": 12, "lookahead": 2})
    engines = [create(name) for name in ("maxn", "expectiminimax", "greedy", "random:seed=1")]
    played = play_game(rules, rules.deal(5), engines[:seats], 20_000)
    assert played.faults == (None,) * seats
    assert len(played.moves) == 12


@pytest.mark.parametrize(("plies", "deals"), rows([(14, 2), (20, 4)], 2))
def test_each_beats_a_random_player_at_the_last_pictures(plies: int, deals: int) -> None:
    options = {"plies": plies, "lookahead": 1}
    for name in ("maxn", "expectiminimax"):
        plan = MatchPlan(game="insertion", options=options, deals=deals, clock_ms=20_000, seed=2006)
        run = MatchRun(plan, [name, "random:seed=3"])
        run.play_here()
        mine, theirs = run.answer()["points"]
        assert mine > theirs
