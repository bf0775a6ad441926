"""The groups that meet: all of them, in an order in which neighbours can play at the same time."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.core.formats.groups import CirclePairs, Group, Groups, fair_order, members


def listed(groups: Groups) -> list[Group]:
    return [groups[number] for number in range(len(groups))]


@all_of("n", range(2, 12))
def test_pairs_come_in_rounds_without_waiting_bots(n: int) -> None:
    order = listed(fair_order(n, 2))
    a_round = n // 2
    for start in range(0, len(order), a_round):
        players = [player for pair in order[start : start + a_round] for player in pair]
        assert len(players) == len(set(players))
    assert len(order) == n * (n - 1) // 2


def walked(n: int) -> list[Group]:
    """The circle method step by step: one player stays, the others move up a chair a round."""
    chairs: list[int | None] = [*range(n), None] if n % 2 else [*range(n)]
    order: list[Group] = []
    for number in range(len(chairs) - 1):
        pairs = [(chairs[i], chairs[-1 - i]) for i in range(len(chairs) // 2)]
        if number % 2:
            pairs[0] = pairs[0][::-1]
        order += [(a, b) for a, b in pairs if a is not None and b is not None]
        chairs = [chairs[0], chairs[-1], *chairs[1:-1]]
    return order


@all_of("n", range(2, 20))
def test_the_circle_is_reckoned_as_it_is_walked(n: int) -> None:
    circle, order = CirclePairs(n), walked(n)
    assert listed(circle) == order
    for number, (one, other) in enumerate(order):
        assert circle.number(one, other) == circle.number(other, one) == number
    with pytest.raises(IndexError, match=f"there are {len(order)} pairs, and no number {len(order)}"):
        circle[len(order)]


@given(st.integers(2, 3), st.data())
def test_the_first_of_many_others(seats: int, data: st.DataObject) -> None:
    """Of few, which are looked up, and of many, which are met round by round."""
    n = data.draw(st.integers(seats, 60 if seats == 2 else 8))
    groups = fair_order(n, seats)
    players = tuple(data.draw(st.permutations(range(n)))[: seats - 1])
    others = data.draw(st.integers(1, 2**n - 1)) & ~sum(1 << player for player in players)
    assume(others)
    expected = min(members(others), key=lambda other: groups.number(*players, other))
    assert groups.first(players, others) == expected


@pytest.mark.parametrize(("n", "seats"), [(6, 3), (8, 4), (9, 3)])
def test_larger_groups_come_in_rounds_too(n: int, seats: int) -> None:
    groups = fair_order(n, seats)
    order = listed(groups)
    assert {*order[0]}.isdisjoint(order[1])
    assert sorted(map(sorted, order)) == sorted(map(sorted, combinations(range(n), seats)))
    assert [groups.number(*group[::-1]) for group in order] == list(range(len(order)))


@all_of("n", range(3, 12))
def test_the_first_seat_is_shared_evenly(n: int) -> None:
    firsts = Counter(pair[0] for pair in listed(fair_order(n, 2)))
    assert all(abs(firsts[player] - (n - 1) / 2) <= 1.5 for player in range(n)), firsts
