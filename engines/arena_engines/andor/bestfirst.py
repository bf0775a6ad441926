"""Best-first search in an AND/OR graph: the cheapest solution, looking at the most promising part first.

Of the part of the graph seen so far the cheapest solution graph is worked out, with estimates for what is
not yet expanded; its open ends are expanded; and so on until it has none. If estimates are never
above the true costs, the first complete solution graph is a cheapest one. Costs are worked out afresh
each time, which circles in the graph make simple; so it is for graphs of some thousand vertices.
It must not know: any kind of problem.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count
from typing import Generic

from arena_engines.andor.graph import N, ProblemSpace, Reduction, Search, extract


def best_first(space: ProblemSpace[N], root: N, *, limit: int = 20_000) -> Search[N]:
    """Solve `root` by reductions of the lowest total cost, expanding at most about `limit` problems."""
    seen = _Seen(space, {root})
    while len(seen.ways) < limit:
        choices = seen.cheapest_choices()
        if root not in choices:
            return Search(None, len(seen.ways))
        solution = extract(root, choices)
        open_ends = [problem for problem in solution.choices if seen.is_open(problem)]
        if not open_ends:
            return Search(solution, len(seen.ways))
        for problem in open_ends:
            seen.expand(problem)
    return Search(None, len(seen.ways))


@dataclass(slots=True)
class _Seen(Generic[N]):
    """The part of the graph looked at: problems, and the reductions of those expanded."""

    space: ProblemSpace[N]
    problems: set[N]
    ways: dict[N, tuple[Reduction[N], ...]] = field(default_factory=dict)

    def is_open(self, problem: N) -> bool:
        return problem not in self.ways and not self.space.is_elementary(problem)

    def expand(self, problem: N) -> None:
        self.ways[problem] = tuple(self.space.reductions(problem))
        for way in self.ways[problem]:
            self.problems.update(way.parts)

    def cheapest_choices(self) -> dict[N, Reduction[N] | None]:
        """The cheapest way of every problem that has one; an open problem counts as done at its estimate.

        Knuth's generalisation of Dijkstra's algorithm: problems become final in the order of their
        costs, so a problem that only leads back to itself never does.
        """
        waiting = _Waiting(self.ways)
        for problem in self.problems:
            if problem not in self.ways:
                elementary = self.space.is_elementary(problem)
                waiting.offer(0.0 if elementary else self.space.estimate(problem), problem, None)
        for problem, ways in self.ways.items():
            for way in ways:
                if not way.parts:
                    waiting.offer(way.cost, problem, way)
        return waiting.settle()


class _Waiting(Generic[N]):
    """Offers of costs, the lowest first; a reduction makes one when all its parts are final."""

    def __init__(self, ways: dict[N, tuple[Reduction[N], ...]]) -> None:
        self._queue: list[tuple[float, int, N, Reduction[N] | None]] = []
        self._number = count()
        self._users: dict[N, list[tuple[N, Reduction[N], list[float]]]] = defaultdict(list)
        for problem, reductions in ways.items():
            for way in reductions:
                self._watch(problem, way, [len(way.parts), way.cost])

    def _watch(self, problem: N, way: Reduction[N], state: list[float]) -> None:
        """`state`: how many parts are not final yet, and what the rest costs."""
        for part in way.parts:
            self._users[part].append((problem, way, state))

    def offer(self, cost: float, problem: N, way: Reduction[N] | None) -> None:
        heapq.heappush(self._queue, (cost, next(self._number), problem, way))

    def settle(self) -> dict[N, Reduction[N] | None]:
        final: dict[N, Reduction[N] | None] = {}
        while self._queue:
            cost, _, problem, way = heapq.heappop(self._queue)
            if problem in final:
                continue
            final[problem] = way
            for user, its_way, state in self._users[problem]:
                state[0] -= 1
                state[1] += cost
                if state[0] == 0:
                    self.offer(state[1], user, its_way)
        return final
