"""AND/OR searches against a slow fixpoint; figure 10 of seed 004; strategies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_engines.registry import create
from arena_engines.small.solved import Solver
from arena_museum.andor.search import (
    Goal,
    GoalProblem,
    ProblemSpace,
    Reduction,
    Search,
    Solution,
    best_first,
    deepening,
    depth_first,
)
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal
from arena_protocol.games.lastcoin import Heap

fixed_order = partial(depth_first, ordered=True)
EVERY_SEARCH = (depth_first, fixed_order, deepening, best_first)
SEARCHES = pytest.mark.parametrize("search", EVERY_SEARCH)
#: One of them, over the problems of any space.
AnySearch = Callable[..., Search[Any]]


class ExplicitGraph(ProblemSpace[str]):
    """An AND/OR graph written out as vertex -> reductions."""

    def __init__(self, edges: Mapping[str, Iterable[tuple[str, ...]]], final: Iterable[str]) -> None:
        self._edges = {problem: tuple(ways) for problem, ways in edges.items()}
        self._final = frozenset(final)

    def is_elementary(self, problem: str) -> bool:
        return problem in self._final

    def reductions(self, problem: str) -> Iterable[Reduction[str]]:
        return [Reduction("", parts) for parts in self._edges.get(problem, ())]


#: Figure 10 of seed 004, as far as its text gives it: M1, M2, M3 are the AND vertices.
FIGURE_10 = ExplicitGraph(
    {
        "P0": [("M1",), ("M2",), ("M3",)],
        "M1": [("P1", "P2")],
        "M2": [("P3", "P4")],
        "M3": [("P6", "P7", "P8")],
        "P2": [("P5",)],
        "P3": [("P5",)],
    },
    final=["P1", "P4", "P5", "P7", "P8"],
)


def check(space: ProblemSpace[Any], solution: Solution[Any] | None) -> None:
    """A solution graph proves its root: closed, every choice a real reduction, no way round in a circle."""
    assert solution is not None
    done: set[Any] = set()
    while len(done) < len(solution.choices):
        ready = {
            problem
            for problem, choice in solution.choices.items()
            if problem not in done and (choice is None or set(choice.parts) <= done)
        }
        assert ready, "a circle proves nothing"
        for problem in ready:
            choice = solution.choices[problem]
            if choice is None:
                assert space.is_elementary(problem)
            else:
                assert choice in list(space.reductions(problem))
        done |= ready
    assert solution.root in done


@SEARCHES
def test_figure_10_is_solved(search: AnySearch) -> None:
    solution = search(FIGURE_10, "P0").solution
    check(FIGURE_10, solution)
    assert solution is not None
    assert set(solution.choices) in ({"P0", "M1", "P1", "P2", "P5"}, {"P0", "M2", "P3", "P4", "P5"})


@SEARCHES
def test_figure_10_has_just_these_solvable_vertices(search: AnySearch) -> None:
    vertices = [f"P{number}" for number in range(9)] + ["M1", "M2", "M3"]
    solvable = {vertex for vertex in vertices if search(FIGURE_10, vertex).solution}
    assert set(vertices) - solvable == {"P6", "M3"}


class Costs(ProblemSpace[int]):
    """A graph of numbers with costs; `known` gives estimates."""

    def __init__(
        self, ways: dict[int, list[Reduction[int]]], final: set[int], known: dict[int, float]
    ) -> None:
        self.ways, self.final, self.known = ways, final, known

    def is_elementary(self, problem: int) -> bool:
        return problem in self.final

    def reductions(self, problem: int) -> list[Reduction[int]]:
        return self.ways.get(problem, [])

    def estimate(self, problem: int) -> float:
        return self.known.get(problem, 0.0)


def slow_costs(space: Costs, problems: range) -> dict[int, float]:
    """The cheapest cost of every problem, by repeating the definition until nothing changes."""
    costs = {problem: 0.0 if problem in space.final else float("inf") for problem in problems}
    while True:
        better = {
            problem: min(
                (way.cost + sum(costs[part] for part in way.parts) for way in space.reductions(problem)),
                default=costs[problem],
            )
            if problem not in space.final
            else 0.0
            for problem in problems
        }
        if better == costs:
            return costs
        costs = better


@st.composite
def graphs(draw: st.DrawFn) -> Costs:
    """Circles and shared problems included."""
    vertex = st.integers(0, 9)
    way = st.builds(
        Reduction, st.just(""), st.lists(vertex, max_size=3).map(tuple), st.integers(1, 5).map(float)
    )
    ways = draw(st.dictionaries(vertex, st.lists(way, max_size=3), max_size=10))
    return Costs(ways, draw(st.sets(vertex, max_size=3)), {})


@settings(max_examples=100)
@given(graphs())
def test_searches_solve_what_is_solvable_and_best_first_is_cheapest(space: Costs) -> None:
    costs = slow_costs(space, range(10))
    for root in range(10):
        for search in EVERY_SEARCH:
            solution = search(space, root).solution
            assert (solution is not None) == (costs[root] < float("inf"))
            if solution is not None:
                check(space, solution)
        cheapest = best_first(space, root).solution
        if cheapest is not None:
            assert cheapest.cost == costs[root]


@settings(max_examples=100)
@given(graphs())
def test_estimates_that_are_never_too_high_keep_best_first_cheapest_and_save_work(space: Costs) -> None:
    costs = slow_costs(space, range(10))
    guided = Costs(space.ways, space.final, {problem: cost for problem, cost in costs.items() if cost < 99})
    for root in range(10):
        blind, sighted = best_first(space, root), best_first(guided, root)
        assert (blind.solution is None) == (sighted.solution is None)
        if sighted.solution is not None:
            assert sighted.solution.cost == costs[root]


def test_a_good_estimate_expands_less() -> None:
    ways = {0: [Reduction("", (1,)), Reduction("", (5,))]} | {
        n: [Reduction("", (n + 1,))] for n in (1, 2, 3, 5, 6, 7, 8)
    }
    final = {4, 9}
    known = {1: 3.0, 2: 2.0, 3: 1.0, 5: 4.0, 6: 3.0, 7: 2.0, 8: 1.0}
    assert (
        best_first(Costs(ways, final, {}), 0).expanded
        > best_first(Costs(ways, final, known), 0).expanded
        == 4
    )


def test_a_search_ends_at_its_limit() -> None:
    class Endless(ProblemSpace[int]):
        def is_elementary(self, problem: int) -> bool:
            return False

        def reductions(self, problem: int) -> list[Reduction[int]]:
            return [Reduction("", (problem + 1,))]

    assert best_first(Endless(), 0, limit=50).solution is None
    assert depth_first(Endless(), 0, depth=50).expanded == 50
    assert depth_first(Endless(), 0).solution is None


def test_what_fails_only_because_of_the_way_to_it_is_not_given_up() -> None:
    """b fails below a, for it leads back to a; by itself it is solvable through a's second way."""
    graph = ExplicitGraph({"s": [("a", "b")], "a": [("b",), ("x",)], "b": [("a",)]}, final=["x"])
    solution = depth_first(graph, "s").solution
    assert solution is not None
    check(graph, solution)


@SEARCHES
def test_the_second_player_wins_seven_coins_and_this_is_how(search: AnySearch) -> None:
    """Figure 2: V(7+) is solvable, W(7+) is not."""
    rules = make_game("lastcoin", {"coins": 7})
    start = rules.start(rules.deal(0))
    space = GoalProblem(rules, seat=2)
    solution = search(space, start).solution
    check(space, solution)
    assert solution is not None
    answers = {
        problem.coins: choice.label
        for problem, choice in solution.choices.items()
        if problem.seat == 2 and choice
    }
    assert answers == {6: "2", 5: "1", 3: "2", 2: "1"}
    assert [problem for problem, choice in solution.choices.items() if choice is None] == [Heap(0, 2)]
    assert search(GoalProblem(rules, seat=1), start).solution is None


@pytest.mark.parametrize(
    ("search", "board", "seat", "goal", "solvable"),
    [
        (depth_first, ".../.../...", 1, "win", False),
        (depth_first, ".../.../...", 1, "draw", True),
        (depth_first, ".../.../...", 2, "win", False),
        (depth_first, ".../.../...", 2, "draw", True),
        (depth_first, "x../.o./..x", 2, "draw", True),
        (depth_first, "x.o/.../..x", 1, "win", True),
        (best_first, "x../.o./..x", 2, "draw", True),
        (best_first, "x.o/.../..x", 1, "win", True),
        (best_first, "x.o/.../..x", 2, "draw", False),
    ],
)
def test_strategies_of_tictactoe(
    search: AnySearch, board: str, seat: int, goal: Goal, solvable: bool
) -> None:
    rules = make_game("tictactoe", {})
    space = GoalProblem(rules, seat, goal)
    solution = search(space, rules.start(Deal(board))).solution
    assert (solution is not None) == solvable
    if solution is not None:
        check(space, solution)


@pytest.mark.parametrize("m", [3, 13, 20])
def test_the_strategy_of_the_disc_game_agrees_with_the_solver(m: int) -> None:
    rules = make_game("disc", {"m": m})
    start = rules.start(rules.deal(0))
    winner = 1 if Solver(rules).outcome(start).result == 1 else 2
    assert depth_first(GoalProblem(rules, winner), start).solution is not None
    assert depth_first(GoalProblem(rules, 3 - winner), start).solution is None


# ---- orders


def test_a_good_estimate_makes_a_fixed_order_expand_less() -> None:
    """Without order the ways 1 and 2 are tried first and fail; the estimate sends the search to 3 at once."""
    ways = {0: [Reduction("", (n,)) for n in (1, 2, 3)], 1: [Reduction("", (4,))], 2: [Reduction("", (5,))]}
    space = Costs(ways | {3: [Reduction("", (9,))]}, {9}, {1: 5.0, 2: 4.0, 3: 1.0})
    assert (depth_first(space, 0).expanded, fixed_order(space, 0).expanded) == (6, 2)


def test_of_the_parts_of_a_reduction_the_dearest_is_tried_first() -> None:
    space = Costs({0: [Reduction("", (1, 2))], 1: [Reduction("", (9,))]}, {9}, {1: 1.0, 2: 7.0})
    assert (depth_first(space, 0).expanded, fixed_order(space, 0).expanded) == (3, 2)


def test_deepening_finds_a_solution_of_the_least_depth_and_counts_every_iteration() -> None:
    """Depth first goes down the long way 1, 2, 3, 4; deepening finds the short one through 5."""
    long = {n: [Reduction("", (n + 1,))] for n in range(1, 9)}
    space = Costs(
        long | {0: [Reduction("", (1,)), Reduction("", (10,))], 10: [Reduction("", (11,))]}, {9, 11}, {}
    )
    long_way = depth_first(space, 0).solution
    assert long_way is not None
    assert len(long_way.choices) == 10
    found = deepening(space, 0)
    assert found.solution is not None
    assert set(found.solution.choices) == {0, 10, 11}
    assert found.expanded == 1 + 3, "0 to depth 1; 0, 1 and 10 to depth 2"


def test_deepening_ends_as_soon_as_the_root_is_unsolvable() -> None:
    space = Costs({0: [Reduction("", (1,))], 1: [Reduction("", (2,))]}, {9}, {})
    assert (deepening(space, 0).solution, deepening(space, 0).expanded) == (None, 1 + 2 + 3)


def test_deepening_ends_at_its_limits() -> None:
    class Endless(ProblemSpace[int]):
        def is_elementary(self, problem: int) -> bool:
            return False

        def reductions(self, problem: int) -> list[Reduction[int]]:
            return [Reduction("", (problem + 1,))]

    assert deepening(Endless(), 0, depth=4).expanded == 1 + 2 + 3 + 4
    assert deepening(Endless(), 0, limit=50).expanded == 50


def test_the_static_value_of_a_position_orders_a_strategy() -> None:
    rules = make_game("tictactoe", {})
    engine: Any = create("openlines", "tictactoe")
    for seat in (1, 2):
        space = GoalProblem(rules, seat, "draw", lambda state: engine.evaluate(rules, state))
        start = rules.start(rules.deal(0))
        natural, ordered = depth_first(space, start), fixed_order(space, start)
        assert ordered.expanded < natural.expanded / 2
        check(space, ordered.solution)
        won = rules.start(Deal("xxx/oo./..."))
        assert (space.estimate(won) == 0) == (seat == 1)
