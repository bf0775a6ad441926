"""The tower of Hanoi by reduction."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from arena_museum.andor.hanoi import Hanoi, Tower, state_moves, state_place, states, whole_tower
from arena_museum.andor.search import best_first, depth_first

AnySearch = Callable[[Hanoi, Tower], Any]
SEARCHES = pytest.mark.parametrize("search", [depth_first, best_first])


def test_three_discs_are_reduced_as_the_seed_does() -> None:
    space, root = Hanoi(), whole_tower(3)
    solution = depth_first(space, root).solution
    assert solution is not None
    choice = solution.choices[root]
    assert choice is not None
    assert [space.text(part) for part in choice.parts] == ["1, 2: A→B", "3: A→C", "1, 2: B→C"]
    assert [space.text(step) for step in solution.steps()] == [
        "1: A→C", "2: A→B", "1: C→B", "3: A→C", "1: B→A", "2: B→C", "1: A→C",
    ]  # fmt: skip


def state_after(discs: int, steps: Sequence[Tower]) -> str:
    """The peg of each disc after the steps, disc 1 first; ValueError for a move of or onto a covered disc."""
    pegs = ["A"] * discs
    for number, step in enumerate(steps, start=1):
        smaller = pegs[: step.top - 1]
        if pegs[step.top - 1] != step.source or step.source in smaller or step.target in smaller:
            raise ValueError(f"step {number}, disc {step}: the pegs are {''.join(pegs)}")
        pegs[step.top - 1] = step.target
    return "".join(pegs)


def shortest_way(discs: int) -> tuple[int, int]:
    """Moves from all on A to all on C, and the number of states, breadth first in the state space."""
    start, goal = "A" * discs, "C" * discs
    seen = {start: 0}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        for disc, peg in enumerate(state):
            for target in set("ABC") - {peg}:
                if peg in state[:disc] or target in state[:disc]:
                    continue
                after = state[:disc] + target + state[disc + 1 :]
                if after not in seen:
                    seen[after] = seen[state] + 1
                    waiting.append(after)
    return seen[goal], len(seen)


@SEARCHES
@pytest.mark.parametrize("discs", range(1, 8))
def test_the_reduction_is_legal_and_as_short_as_the_shortest_way(search: AnySearch, discs: int) -> None:
    steps = search(Hanoi(), whole_tower(discs)).solution.steps()
    assert state_after(discs, steps) == "C" * discs
    assert (len(steps), 3**discs) == shortest_way(discs)


def test_the_space_of_three_discs_has_27_states() -> None:
    assert shortest_way(3) == (7, 27)


@SEARCHES
def test_forty_discs_are_a_small_graph_and_a_long_way(search: AnySearch) -> None:
    solution = search(Hanoi(), whole_tower(40)).solution
    assert len(solution.choices) <= 6 * 40
    assert solution.cost == 2**39 - 1  # reductions; every one ends in the move of one disc


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ([Tower(2, 2, "A", "B")], "step 1, disc 2: A→B: the pegs are AAA"),
        ([Tower(1, 1, "A", "B"), Tower(2, 2, "A", "B")], "step 2, disc 2: A→B: the pegs are BAA"),
        ([Tower(1, 1, "B", "C")], "step 1, disc 1: B→C: the pegs are AAA"),
    ],
)
def test_an_illegal_step_is_named(steps: list[Tower], text: str) -> None:
    with pytest.raises(ValueError, match=text) as refused:
        state_after(3, steps)
    assert str(refused.value) == text


# ---- the state space


@pytest.mark.parametrize("discs", range(1, 6))
def test_the_state_space_has_every_state_and_every_legal_move(discs: int) -> None:
    every = states(discs)
    assert len(set(every)) == len(every) == 3**discs
    for state in every:
        expected = set()
        for disc, peg in enumerate(state):
            for target in set("ABC") - {peg}:
                if peg not in state[:disc] and target not in state[:disc]:
                    expected.add(state[:disc] + target + state[disc + 1 :])
        assert set(state_moves(state)) == expected
        assert len(expected) == (2 if len(set(state)) == 1 else 3)


@pytest.mark.parametrize("discs", range(1, 6))
def test_the_places_are_a_triangle_in_which_every_move_is_one_step(discs: int) -> None:
    places = {state: state_place(state) for state in states(discs)}
    assert len(set(places.values())) == len(places)
    side = 2**discs - 1
    corners = [places[peg * discs] for peg in "ABC"]
    assert corners == [(0.0, 0), (-side / 2, side), (side / 2, side)]
    for state, (x, y) in places.items():
        for after in state_moves(state):
            dx, dy = abs(places[after][0] - x), abs(places[after][1] - y)
            assert (dx, dy) in ((1.0, 0), (0.5, 1))
