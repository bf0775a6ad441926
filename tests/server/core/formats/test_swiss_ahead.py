"""The search for the rounds to come: what it finds is a schedule, and it finds one wherever there is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.core.formats.swiss_ahead import can_be_drawn, exchange, is_certain, most, ways, without


@st.composite
def graphs(draw: st.DrawFn, sizes: Sequence[int] = (2, 4, 6)) -> list[int]:
    size = draw(st.sampled_from(sizes))
    pairs = list(combinations(range(size), 2))
    return without(full(size), draw(st.lists(st.sampled_from(pairs), unique=True, max_size=len(pairs) // 2)))


def full(size: int) -> list[int]:
    return [(1 << size) - 1 & ~(1 << place) for place in range(size)]


def matchings(graph: Sequence[int], places: tuple[int, ...]) -> Iterator[list[tuple[int, int]]]:
    if not places:
        yield []
        return
    first, *rest = places
    for other in rest:
        if graph[first] >> other & 1:
            for more in matchings(graph, tuple(place for place in rest if place != other)):
                yield [(first, other), *more]


def rounds_of(graph: Sequence[int]) -> int:
    """The most disjoint perfect matchings, by trying all."""
    found = matchings(graph, tuple(range(len(graph))))
    return max((1 + rounds_of(without(graph, each)) for each in found), default=0)


def check_schedule(graph: Sequence[int], known: Sequence[Sequence[int]]) -> None:
    pairs = [(a, b) for way in known for a, b in enumerate(way)]
    assert all(way[b] == a for way in known for a, b in enumerate(way))
    assert all(graph[a] >> b & 1 for a, b in pairs)
    assert len(set(pairs)) == len(known) * len(graph)


@given(graphs())
def test_it_finds_a_schedule_where_there_is_one(graph: list[int]) -> None:
    possible = rounds_of(graph)
    assert most(graph, len(graph)) == max(1, possible)
    for rounds in range(len(graph)):
        known = ways(graph, rounds)
        assert (known is not None) == can_be_drawn(graph, rounds) == (rounds <= possible)
        assert not is_certain(graph, rounds) or rounds <= possible
        if known is not None:
            assert len(known) == rounds
            check_schedule(graph, known)


@all_of("size", [26, 30, 40, 62])
@all_of("left", [2, 3, 5, 12, 25])
def test_it_finds_the_rest_of_a_schedule_of_large_fields(size: int, left: int) -> None:
    """The circle method has all rounds; some of them are taken away, whatever they were."""
    rng = Random(size + left)
    all_rounds = [
        [(size - 1, turn), *(((turn + i) % (size - 1), (turn - i) % (size - 1)) for i in range(1, size // 2))]
        for turn in range(size - 1)
    ]
    graph = without(full(size), [pair for made in rng.sample(all_rounds, size - 1 - left) for pair in made])
    known = ways(graph, left)
    assert known is not None
    assert len(known) == left
    check_schedule(graph, known)


def test_what_cannot_be_is_not_looked_for() -> None:
    assert ways([0b110, 0b101, 0b011], 1) is None  # an odd number
    two_triangles = without(full(6), [(a, b) for a in range(3) for b in range(3, 6)])
    assert ways(two_triangles, 1) is None
    assert most(two_triangles, 4) == 1  # the caller sees that there is none
    assert ways(full(4), 4) is None


def petersen() -> list[int]:
    """Ten places with three others each, in which no three rounds are possible, and no condition says so."""
    pairs = [pair for i in range(5) for pair in ((i, (i + 1) % 5), (i, i + 5), (5 + i, 5 + (i + 2) % 5))]
    graph = [0] * 10
    for a, b in pairs:
        graph[a] |= 1 << b
        graph[b] |= 1 << a
    return graph


def test_a_search_that_finds_nothing_ends() -> None:
    assert ways(petersen(), 3) is None
    assert most(petersen(), 3) == 1
    assert ways(petersen(), 1) is not None


@given(graphs((4, 6, 8)), st.integers(0, 1 << 32))
def test_exchanges_make_the_first_worth_more_and_keep_a_schedule(graph: list[int], seed: int) -> None:
    rng = Random(seed)
    known = ways(graph, most(graph, len(graph)))
    if known is None:
        return
    worth = {(a, b): 0 for a in range(len(graph)) for b in range(len(graph)) if graph[a] >> b & 1}
    for a, b in worth:
        worth[a, b] = worth[b, a] = rng.randrange(20)
    before = sum(worth[pair] for pair in enumerate(known[0]))
    first, *others = known
    exchange(first, others, worth)
    check_schedule(graph, known)
    assert sum(worth[pair] for pair in enumerate(first)) >= before
    for other in others:  # an exchange of all pairs makes it no better
        assert sum(worth[pair] for pair in enumerate(other)) <= sum(worth[pair] for pair in enumerate(first))


def test_a_cycle_with_a_pair_without_worth_stays() -> None:
    """The bye is a pair that is not exchanged."""
    first, other = [1, 0, 3, 2], [2, 3, 0, 1]
    exchange(first, [other], {(a, b): a * b for a in range(3) for b in range(3)})
    assert first == [1, 0, 3, 2]
