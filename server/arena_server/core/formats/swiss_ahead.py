"""Whether the rounds that are left can still be drawn: disjoint perfect matchings of the pairs that may meet.

    places 0, 1, ... of the players; with an odd number of them the bye is one place more
    graph[a] has a bit for each place that `a` may still meet
    `rounds` disjoint perfect matchings of the graph are a way to draw the rounds to come

The search is bounded: it may miss a way, and never finds one that is none. It is deterministic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

#: The pairs that may meet: for each place a bit for each other.
Graph = Sequence[int]
#: A place for each place.
Matching = list[int]

#: The largest field that is looked at; in a larger one it is taken for granted.
LARGEST: Final = 24
#: How many pairs the search sets before it begins again in another order, and how often it does.
STEPS: Final = 400
ATTEMPTS: Final = 12


def can_be_drawn(graph: Graph, rounds: int) -> bool:
    """Whether `rounds` rounds can be drawn, as far as is known."""
    return is_certain(graph, rounds) or ways(graph, rounds) is not None


def ways(graph: Graph, rounds: int) -> list[Matching] | None:
    """`rounds` disjoint perfect matchings; None: none were found."""
    if any(row.bit_count() < rounds for row in graph) or len(graph) % 2:
        return None
    for attempt in range(ATTEMPTS):
        search = _Search(graph, rounds, attempt)
        if (found := search.run()) is not None:
            return found
        if search.steps <= STEPS:
            return None  # all has been tried
    return None


def without(graph: Graph, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """The graph after these pairs have met."""
    left = list(graph)
    for a, b in pairs:
        left[a] &= ~(1 << b)
        left[b] &= ~(1 << a)
    return left


def is_certain(graph: Graph, rounds: int) -> bool:
    """Whether any choice will do: by Dirac there is a next one while each place may meet half of them."""
    least = min((row.bit_count() for row in graph), default=0)
    return rounds < 1 or 2 * (least - rounds + 1) >= len(graph)


class _Search:
    """Sets the pairs of a round one by one, that of the place with the fewest opponents first."""

    def __init__(self, graph: Graph, rounds: int, attempt: int) -> None:
        self._graph = list(graph)
        self._rounds = rounds
        self._order = attempt
        self.steps = 0

    def _next(self, _: int) -> int:
        """The next number of a fixed sequence, another one for each attempt."""
        self._order = (self._order * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return self._order >> 33

    def run(self) -> list[Matching] | None:
        return self._round(self._rounds)

    def _round(self, left: int) -> list[Matching] | None:
        if not left:
            return []
        size = len(self._graph)
        if any(row.bit_count() < left for row in self._graph) or not _even(self._graph):
            return None
        for matching in self._matchings((1 << size) - 1, [-1] * size):
            rest = self._round(left - 1)
            if rest is not None:
                return [matching.copy(), *rest]
            if self.steps > STEPS:
                return None
        return None

    def _matchings(self, free: int, matching: Matching) -> Iterator[Matching]:
        """Each perfect matching of the free places; while one is out its pairs are not in the graph."""
        if not free:
            yield matching
            return
        graph = self._graph
        a = min(_bits(free), key=lambda place: (graph[place] & free).bit_count())
        others = list(_bits(graph[a] & free))
        others.sort(key=self._next)
        for b in others:
            self.steps += 1
            if self.steps > STEPS:
                return
            graph[a] ^= 1 << b
            graph[b] ^= 1 << a
            matching[a], matching[b] = b, a
            yield from self._matchings(free & ~(1 << a | 1 << b), matching)
            graph[a] ^= 1 << b
            graph[b] ^= 1 << a


def _even(graph: Graph) -> bool:
    """Whether each part of the graph has an even number of places: else it has no perfect matching."""
    left = (1 << len(graph)) - 1
    while left:
        part = edge = left & -left
        while edge:
            edge = _join(graph, edge) & ~part
            part |= edge
        if part.bit_count() % 2:
            return False
        left &= ~part
    return True


def _join(graph: Graph, places: int) -> int:
    found = 0
    for place in _bits(places):
        found |= graph[place]
    return found


def _bits(places: int) -> Iterator[int]:
    while places:
        lowest = places & -places
        yield lowest.bit_length() - 1
        places ^= lowest
