"""Whether the rounds that are left can still be drawn: disjoint perfect matchings of the pairs that may meet.

    places 0, 1, ... of the players; with an odd number of them the bye is one place more
    graph[a] has a bit for each place that `a` may still meet
    `rounds` disjoint perfect matchings of the graph are a way to draw the rounds to come

The matchings are colours of the edges, and each place wants an edge of each colour. An edge between two
places that want the same colour gets it; else colours change places along a path of two of them (a Kempe
chain), or an edge gives its colour to a neighbour. The search is bounded: it may miss a way, and never finds
one that is none. It is deterministic: the same graph has the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

#: The pairs that may meet: for each place a bit for each other.
Graph = Sequence[int]
#: A place for each place.
Matching = list[int]

#: The largest field that is looked at; in a larger one a Swiss has at most half as many rounds.
LARGEST: Final = 200
#: How many steps the search takes before it begins again: a number for each pair that is to be found, and a
#: few more; and how often it begins. In late rounds of fields of 40 players 20 of 20 attempts found a way.
STEPS_A_PAIR: Final = 2
STEPS: Final = 600
ATTEMPTS: Final = 4
#: After how many steps that give no edge a colour all edges of one lose theirs.
PATIENCE: Final = 60


def can_be_drawn(graph: Graph, rounds: int) -> bool:
    """Whether `rounds` rounds can be drawn, as far as is known."""
    return is_certain(graph, rounds) or ways(graph, rounds) is not None


def ways(graph: Graph, rounds: int) -> list[Matching] | None:
    """`rounds` disjoint perfect matchings; None: none were found."""
    if any(row.bit_count() < rounds for row in graph) or len(graph) % 2 or (rounds and not _even(graph)):
        return None
    attempts = (_Search(graph, rounds, attempt).run() for attempt in range(ATTEMPTS))
    return next((found for found in attempts if found is not None), None)


def most(graph: Graph, rounds: int) -> int:
    """How many of `rounds` rounds can be drawn, as far as is known; 1 if none can."""
    if can_be_drawn(graph, rounds):
        return rounds
    low, high = 1, min(rounds, min(row.bit_count() for row in graph) + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if can_be_drawn(graph, middle) else (low, middle)
    return low


def exchange(first: Matching, others: Sequence[Matching], worth: Mapping[tuple[int, int], int]) -> None:
    """Let `first` change pairs with the others while that makes it worth more; all stay matchings.

    Two matchings are cycles of places, in each of which they may change. A cycle with a pair that is not in
    `worth` stays.
    """
    changed = True
    while changed:
        changed = False
        for other in others:
            for cycle in _cycles(first, other):
                pairs = [(place, first[place]) for place in cycle]
                new = [(place, other[place]) for place in cycle]
                if not worth.keys() >= {*pairs, *new}:
                    continue
                if sum(map(worth.__getitem__, new)) > sum(map(worth.__getitem__, pairs)):
                    changed = True
                    for place in cycle:
                        first[place], other[place] = other[place], first[place]


def _cycles(one: Matching, other: Matching) -> list[list[int]]:
    """The places of each cycle of the pairs of two matchings."""
    left, cycles = set(range(len(one))), []
    while left:
        place, cycle = min(left), []
        while place in left:
            left.remove(place)
            cycle.append(place)
            place = other[place] if len(cycle) % 2 == 0 else one[place]
        cycles.append(cycle)
    return cycles


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
    """Gives colours (0, 1, ...) to edges until each place has one of each."""

    def __init__(self, graph: Graph, rounds: int, attempt: int) -> None:
        size = len(graph)
        self._graph = graph
        #: The edges without a colour.
        self._spare = list(graph)
        self._matchings = [[-1] * size for _ in range(rounds)]
        self._all = (1 << rounds) - 1
        #: The colours that each place wants, and the places that want some.
        self._wanted = [self._all] * size
        self._open = (1 << size) - 1 if rounds else 0
        self._state = attempt
        self.steps = 0
        self._limit = STEPS + STEPS_A_PAIR * rounds * size // 2

    def run(self) -> list[Matching] | None:
        place = came_from = -1
        fruitless = 0
        while self._open:
            self.steps += 1
            if self.steps > self._limit:
                return None
            if place < 0 or not self._wanted[place]:
                place, came_from = self._one_of(self._open), -1
            if self._close(place):
                place = -1
                continue
            fruitless += 1
            if fruitless % PATIENCE == 0:
                self._drop(self._choose(len(self._matchings)))
                continue
            full = self._spare[place] & ~self._open & ~(1 << came_from if came_from >= 0 else 0)
            wanted = self._one_of(self._wanted[place])
            if full and self._choose(2):
                place, came_from = self._hand_on(place, self._one_of(full), wanted)
            elif had := self._all & ~self._wanted[place]:
                colour = self._one_of(had)
                self._swap(self._chain(place, colour, wanted), colour, wanted)
        return self._matchings

    def _choose(self, count: int) -> int:
        """The next number below `count` of a fixed sequence, another one for each attempt."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self._state >> 33) % count

    def _one_of(self, places: int) -> int:
        return list(_bits(places))[self._choose(places.bit_count())]

    def _close(self, place: int) -> bool:
        """Give a colour to an edge between `place` and another that wants one. False: it cannot be done."""
        others = list(_bits(self._spare[place] & self._open))
        for other in others:
            if common := self._wanted[place] & self._wanted[other]:
                self._set(place, other, next(_bits(common)))
                return True
        for other in others:
            for wanted in _bits(self._wanted[other]):
                for colour in _bits(self._wanted[place]):
                    chain = self._chain(other, colour, wanted)
                    if chain[-1] != place:
                        self._swap(chain, colour, wanted)
                        self._set(place, other, colour)
                        return True
        return False

    def _hand_on(self, place: int, other: int, colour: int) -> tuple[int, int]:
        """`other` has its edge of `colour` to `place` now; which place lacks one instead, and `other`."""
        lost = self._matchings[colour][other]
        self._unset(other, lost, colour)
        self._set(place, other, colour)
        return lost, other

    def _drop(self, colour: int) -> None:
        """Take a colour from all its edges."""
        for place, other in enumerate(self._matchings[colour]):
            if place < other:
                self._unset(place, other, colour)

    def _set(self, a: int, b: int, colour: int) -> None:
        for one, other in ((a, b), (b, a)):
            self._matchings[colour][one] = other
            self._spare[one] &= ~(1 << other)
            self._wanted[one] &= ~(1 << colour)
            if not self._wanted[one]:
                self._open &= ~(1 << one)

    def _unset(self, a: int, b: int, colour: int) -> None:
        for one, other in ((a, b), (b, a)):
            self._matchings[colour][one] = -1
            self._spare[one] |= 1 << other
            self._wanted[one] |= 1 << colour
            self._open |= 1 << one

    def _chain(self, place: int, first: int, second: int) -> list[int]:
        """The path of edges of the two colours in turn from a place that wants the second."""
        chain = [place]
        one, other = self._matchings[first], self._matchings[second]
        while (place := one[place]) >= 0:
            chain.append(place)
            one, other = other, one
        return chain

    def _swap(self, chain: Sequence[int], first: int, second: int) -> None:
        """The edges of a whole path change colours."""
        one, other = self._matchings[first], self._matchings[second]
        for place in chain:
            one[place], other[place] = other[place], one[place]
        for place in {chain[0], chain[-1]}:
            self._wanted[place] ^= 1 << first | 1 << second


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
