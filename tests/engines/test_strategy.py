"""Strategies, the zombie guess, and the adaptive player that watches the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_engines.engine import Position
from arena_engines.insertion.adaptive import MEMORY, Adaptive
from arena_engines.insertion.champion import Champion
from arena_engines.insertion.eval import FELL, MAX_DEPTH
from arena_engines.insertion.fixed_depth import FORCED, THEIRS, InsertionPosition, pack_roles
from arena_engines.insertion.strategy import COOPERATIVE, SPOILING, Strategy
from arena_engines.insertion.zombies import depth_among, zombies
from arena_engines.registry import create
from arena_protocol.games.insertion import Insertion

plies = st.lists(st.tuples(st.integers(0, 25), st.integers(0, 1), st.booleans()), max_size=MAX_DEPTH)
Line = list[tuple[int, int, bool]]


def sums(line: Line) -> tuple[int, int, int]:
    mine = sum(10 * removed for removed, _, my_move in line if my_move)
    theirs = sum(10 * removed for removed, _, my_move in line if not my_move)
    return mine, sum(removed + fell for removed, fell, _ in line), theirs


def value(strategy: Strategy, line: Line) -> int:
    my_cell, their_cell = strategy.cells
    return sum(removed * (my_cell if mine else their_cell) + fell * FELL for removed, fell, mine in line)


@given(plies, plies)
def test_the_strategies_order_lines_as_they_say(one: Line, other: Line) -> None:
    (mine, deleted, theirs), (my, gone, their) = sums(one), sums(other)
    cooperative = (mine, -deleted, -theirs) < (my, -gone, -their)
    spoiling = (mine - theirs, -deleted, -theirs) < (my - their, -gone, -their)
    assert (value(COOPERATIVE, one) < value(COOPERATIVE, other)) == cooperative
    assert (value(SPOILING, one) < value(SPOILING, other)) == spoiling


@given(plies)
def test_both_give_the_three_tiers_back(line: Line) -> None:
    for strategy in (COOPERATIVE, SPOILING):
        assert strategy.eval_of(value(strategy, line)) == sums(line)


@given(st.lists(st.integers(5, 7), max_size=40), st.integers(2, 4), st.integers(1, 9))
def test_a_zombie_is_another_seat_that_played_nothing_but_six_lately(
    moves: list[int], seats: int, sixes: int
) -> None:
    found = zombies([str(move) for move in moves], seats, 1, sixes)
    assert 1 not in found
    for seat in range(2, seats + 1):
        own = [move for ply, move in enumerate(moves) if ply % seats == seat - 1]
        assert (seat in found) == (own[-sixes:] == [6] * sixes)


def test_nothing_is_guessed_if_not_asked_for() -> None:
    assert zombies(["6"] * 40, 2, 1, 0) == frozenset()


@pytest.mark.parametrize(
    ("seats", "found", "depth"), [(2, 0, 5), (2, 1, 10), (3, 1, 7), (3, 2, 15), (4, 3, 20)]
)
def test_the_depth_grows_by_the_plies_that_cost_nothing(seats: int, found: int, depth: int) -> None:
    assert depth_among(5, seats, found) == depth


def game(seats: int, *specs: str, plies: int = 60, seed: int = 5) -> Iterator[InsertionPosition]:
    """Every position of a game between engines, as the seat to move knows it."""
    rules = Insertion.from_options({"plies": plies, "seats": seats})
    deal = rules.deal(seed)
    state = rules.start(deal)
    players = [create(spec) for spec in specs]
    moves: list[str] = []
    for ply in range(plies):
        known = replace(state, sequence=state.sequence[: ply + rules.lookahead])
        position = Position(rules=rules, state=known, start=deal.board, moves=tuple(moves))
        yield position
        moves.append(str(players[ply % seats].choose(position)))
        state = rules.play(state, moves[-1]).position


def test_against_a_zombie_the_champion_looks_twice_as_far() -> None:
    champion = Champion({"depth": 3})
    for position in game(2, "greedy", "dummy", plies=30):
        task = champion.task_for(position)
        if position.seat == 1:
            known = position.state.played >= 2 * 6
            assert task.depth == min(6 if known else 3, len(position.state.visible))
            assert (task.roles == pack_roles(2, (1,))) == known


def test_one_zombie_among_three_has_only_its_own_plies_forced() -> None:
    champion = Champion({"depth": 4})
    position = list(game(3, "greedy", "random:seed=1", "dummy", plies=40))[36]
    assert position.seat == 1
    task = champion.task_for(position)
    assert task.roles & 0b111111 == THEIRS << 2 | (THEIRS | FORCED) << 4
    assert task.depth == min(6, len(position.state.visible))


def test_the_zombie_guess_can_be_switched_off() -> None:
    position = list(game(2, "greedy", "dummy", plies=40))[38]
    assert Champion({"zombie": 0}).task_for(position).roles == pack_roles(2)
    assert Champion().task_for(position).roles == pack_roles(2, (1,))


def watcher() -> Adaptive:
    champion = Champion()
    return Adaptive(lambda task, strategy: champion.run(task, strategy).move)


@pytest.mark.parametrize(
    ("opponent", "answer"),
    [
        ("champion:depth=3,strategy=spoiling", COOPERATIVE),
        ("champion:depth=3,strategy=cooperative", SPOILING),
    ],
)
@pytest.mark.parametrize("seats", [2, 3])
def test_adaptive_play_answers_with_the_opposite(opponent: str, answer: Strategy, seats: int) -> None:
    adaptive = watcher()
    answers = [
        adaptive.answer(position)
        for position in game(seats, "greedy", *[opponent] * (seats - 1))
        if position.seat == 1
    ]
    assert answers[0] is COOPERATIVE  # nothing has been seen
    assert answers[-1] is answer


def test_what_adaptive_play_saw_does_not_depend_on_when_it_looked() -> None:
    positions = [each for each in game(2, "greedy", "champion:depth=3") if each.seat == 1]
    always, seldom = watcher(), watcher()
    often = [always.answer(each) for each in positions]
    assert [seldom.answer(each) for each in positions[::5]] == often[::5]
    assert seldom.answer(positions[3]) is often[3]  # a step back starts afresh


def test_another_game_starts_afresh() -> None:
    adaptive = watcher()
    for position in game(2, "greedy", "champion:depth=3"):
        if position.seat == 1:
            adaptive.answer(position)
    first = next(game(2, "greedy", "greedy", seed=6))
    assert adaptive.answer(first) is COOPERATIVE
    assert MEMORY > 0


def test_the_adaptive_champion_plays_the_strategy_it_chose() -> None:
    adaptive = create("champion:depth=3,strategy=adaptive")
    fixed = {each: create(f"champion:depth=3,strategy={each.name}") for each in (COOPERATIVE, SPOILING)}
    watching = watcher()
    for position in game(2, "greedy", "champion:depth=3"):
        if position.seat == 1:
            assert adaptive.choose(position) == fixed[watching.answer(position)].choose(position)
