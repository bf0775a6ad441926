"""AND/OR graphs: problems and reductions, depth-first and best-first search, game strategies as problems.

A problem is solved by any one of its reductions, a reduction by all its subproblems. In the words of seed 004
a problem is an OR vertex, a reduction an AND vertex, an elementary problem a final vertex.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from math import inf
from typing import Any, Generic, Literal, TypeVar

from arena_protocol.games.base import Game

N = TypeVar("N", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Reduction(Generic[N]):
    """One way to solve a problem: solve all `parts`, in order; `cost` is that of this step alone."""

    label: str
    parts: tuple[N, ...]
    cost: float = 1.0


class ProblemSpace(ABC, Generic[N]):
    """The implicit AND/OR graph of one kind of problem."""

    @abstractmethod
    def is_elementary(self, problem: N) -> bool:
        """Whether the problem is solved without a reduction."""

    @abstractmethod
    def reductions(self, problem: N) -> Iterable[Reduction[N]]:
        """All reductions of a problem, the most promising first; empty if it cannot be solved."""

    def estimate(self, problem: N) -> float:
        """The estimated cost of a solution; `best_first` is optimal if it is never above the true cost."""
        return 0.0

    def text(self, problem: N) -> str:
        """The label of the problem in a drawing."""
        return str(problem)


@dataclass(frozen=True, slots=True)
class Solution(Generic[N]):
    """A solution graph: for each of its problems the reduction that solves it, None for an elementary one.

    It is closed: the parts of every reduction are problems of it. `cost` adds up the reductions along
    every path, so a shared problem counts wherever it is needed.
    """

    root: N
    choices: Mapping[N, Reduction[N] | None]
    cost: float

    def steps(self) -> tuple[N, ...]:
        """The elementary problems in the order of their solution, from left to right."""
        done: list[N] = []
        waiting = [self.root]
        while waiting:
            problem = waiting.pop()
            choice = self.choices[problem]
            if choice is None:
                done.append(problem)
            else:
                waiting.extend(reversed(choice.parts))
        return tuple(done)


@dataclass(frozen=True, slots=True)
class Search(Generic[N]):
    """The solution, or None if none was found, and the number of expanded problems."""

    solution: Solution[N] | None
    expanded: int


def extract(root: N, choices: Mapping[N, Reduction[N] | None]) -> Solution[N]:
    """The solution graph of `root` from the choices of a search, which may hold more problems."""
    kept: dict[N, Reduction[N] | None] = {}
    waiting = [root]
    while waiting:
        problem = waiting.pop()
        if problem in kept:
            continue
        choice = kept[problem] = choices[problem]
        if choice is not None:
            waiting.extend(choice.parts)
    return Solution(root, kept, _cost(root, kept))


def _cost(root: N, choices: Mapping[N, Reduction[N] | None]) -> float:
    known: dict[N, float] = {}
    waiting = [root]
    while waiting:
        problem = waiting[-1]
        choice = choices[problem]
        parts = choice.parts if choice is not None else ()
        missing = [part for part in parts if part not in known]
        if missing:
            waiting.extend(missing)
            continue
        waiting.pop()
        known[problem] = 0.0 if choice is None else choice.cost + sum(known[part] for part in parts)
    return known[root]


def depth_first(
    space: ProblemSpace[N], root: N, *, depth: int = 200, limit: int = 1_000_000, ordered: bool = False
) -> Search[N]:
    """Solve `root` by reductions nested at most `depth` deep, expanding at most `limit` problems.

    With `ordered` the order is fixed by `estimate`: cheap reductions first, and of the parts of a reduction
    the dearest first, since it fails most likely. A problem is never reduced to itself, and nothing is
    decided twice.
    """
    search = _DepthFirst(space, limit, space.estimate if ordered else None)
    solved = search.solve(root, depth)
    return Search(extract(root, search.choices) if solved else None, search.expanded)


def deepening(space: ProblemSpace[N], root: N, *, depth: int = 200, limit: int = 1_000_000) -> Search[N]:
    """Depth-first search to depth 1, 2, ... `depth`; expanded problems count again in every iteration.

    After each iteration everything is reordered: what it found to be unsolvable last, and first what it
    took the fewest expansions to give up. It ends when `root` is decided.
    """
    effort: dict[N, float] = {}
    expanded = 0
    for bound in range(1, depth + 1):
        search = _DepthFirst(space, limit - expanded, _cost_of(effort))
        solved = search.solve(root, bound)
        expanded += search.expanded
        if solved:
            return Search(extract(root, search.choices), expanded)
        if not search.cut or expanded >= limit:
            break
        effort = search.effort
    return Search(None, expanded)


def _cost_of(effort: Mapping[N, float]) -> Callable[[N], float]:
    return lambda problem: effort.get(problem, 0.0)


#: Why a failure is not a proof: the problem was abandoned at a limit, or because it stands on the path to
#: itself.
_AT_LIMIT, _ON_PATH = 1, 2


class _DepthFirst(Generic[N]):
    def __init__(self, space: ProblemSpace[N], limit: int, cost: Callable[[N], float] | None) -> None:
        self.space = space
        self.limit = limit
        self.choices: dict[N, Reduction[N] | None] = {}
        self.expanded = 0
        #: The problems that were not solved, with the expansions that this took; infinite if unsolvable.
        self.effort: dict[N, float] = {}
        #: _AT_LIMIT and _ON_PATH, of the problems below the current one.
        self.cut = 0
        self._cost = cost
        self._path: set[N] = set()
        #: The greatest depth to which a problem was searched up to the limit.
        self._searched: dict[N, int] = {}

    def solve(self, problem: N, depth: int) -> bool:
        if problem in self.choices:
            return True
        if self.space.is_elementary(problem):
            self.choices[problem] = None
            return True
        if self.effort.get(problem) == inf:
            return False
        if problem in self._path:
            self.cut |= _ON_PATH
            return False
        if depth <= self._searched.get(problem, 0) or self.expanded >= self.limit:
            self.cut |= _AT_LIMIT
            return False
        return self._expand(problem, depth)

    def _expand(self, problem: N, depth: int) -> bool:
        before = self.expanded
        self.expanded += 1
        self._path.add(problem)
        outside, self.cut = self.cut, 0
        chosen = self._first_that_works(problem, depth - 1)
        self._path.remove(problem)
        if chosen is not None:
            self.choices[problem] = chosen
        else:
            self.effort[problem] = float(self.expanded - before) if self.cut else inf
            if not self.cut & _ON_PATH:
                self._searched[problem] = depth
        self.cut |= outside
        return chosen is not None

    def _first_that_works(self, problem: N, depth: int) -> Reduction[N] | None:
        # Loops instead of all() and any(): every level of the graph costs three frames of Python's stack.
        cost = self._cost
        ways = self.space.reductions(problem)
        if cost is not None:
            ways = sorted(ways, key=lambda way: sum(map(cost, way.parts)))
        for way in ways:
            solved = True
            for part in way.parts if cost is None else sorted(way.parts, key=cost, reverse=True):
                if not self.solve(part, depth):
                    solved = False
                    break
            if solved:
                return way
        return None


def best_first(space: ProblemSpace[N], root: N, *, limit: int = 20_000) -> Search[N]:
    """Solve `root` at the lowest total cost, expanding at most about `limit` problems: AO*."""
    seen = _Explicit(space, {root})
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
class _Explicit(Generic[N]):
    """The explicit part of the graph: problems, and the reductions of the expanded ones."""

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
        """The cheapest reduction of every problem that has one; an open problem has the cost of its estimate.

        Knuth's generalisation of Dijkstra's algorithm: problems become final in the order of their
        costs, so a problem that only leads back to itself never does.
        """
        waiting = _CostQueue(self.ways)
        for problem in self.problems:
            if problem not in self.ways:
                elementary = self.space.is_elementary(problem)
                waiting.offer(0.0 if elementary else self.space.estimate(problem), problem, None)
        for problem, ways in self.ways.items():
            for way in ways:
                if not way.parts:
                    waiting.offer(way.cost, problem, way)
        return waiting.settle()


class _CostQueue(Generic[N]):
    """Candidate costs, the lowest first; a reduction offers one when all its parts are final."""

    def __init__(self, ways: dict[N, tuple[Reduction[N], ...]]) -> None:
        self._queue: list[tuple[float, int, N, Reduction[N] | None]] = []
        self._number = count()
        self._users: dict[N, list[tuple[N, Reduction[N], list[float]]]] = defaultdict(list)
        for problem, reductions in ways.items():
            for way in reductions:
                self._watch(problem, way, [len(way.parts), way.cost])

    def _watch(self, problem: N, way: Reduction[N], state: list[float]) -> None:
        """`state`: the number of parts that are not final yet, and the cost of the others."""
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


Goal = Literal["win", "draw"]


#: The estimated cost of an even position.
EVEN = 20.0


class GoalProblem(ProblemSpace[Any]):
    """The problem that `seat` of a two-seat game reaches its goal; a vertex is a position.

    On its own move one move that solves the problem is enough (OR); on the other seat's move all moves must
    be answered (AND). The solution graph is the strategy. Seed 004 writes these problems as W(X) and V(X).
    """

    def __init__(
        self,
        rules: Game[Any],
        seat: int,
        goal: Goal = "win",
        evaluate: Callable[[Any], int] | None = None,
    ) -> None:
        self.rules = rules
        self.seat = seat
        self.goal = goal
        self.evaluate = evaluate

    def estimate(self, problem: Any) -> float:
        """EVEN less the static value for the seat, at least 0; `evaluate` gives it for seat 1."""
        if self.evaluate is None:
            return 0.0
        value = self.evaluate(problem)
        return max(0.0, EVEN - value if self.seat == 1 else EVEN + value)

    def is_elementary(self, problem: Any) -> bool:
        """Whether the game is over with the goal reached: a win, or for `draw` at least a draw."""
        if self.rules.end(problem) is None:
            return False
        totals = self.rules.totals(problem)
        mine, theirs = totals[self.seat - 1], totals[2 - self.seat]
        return mine > theirs or (self.goal == "draw" and mine == theirs)

    def reductions(self, problem: Any) -> Iterable[Reduction[Any]]:
        """One reduction for each own move; for the other seat's move one with all replies."""
        moves = self.rules.legal_moves(problem)
        after = [self.rules.play(problem, move).position for move in moves]
        if self.rules.to_move(problem) == self.seat:
            return [Reduction(move, (child,)) for move, child in zip(moves, after, strict=True)]
        return [Reduction(" ".join(moves), tuple(after))] if moves else []

    def text(self, problem: Any) -> str:
        return self.rules.state_text(problem)
