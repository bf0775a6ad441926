"""Depth-first search in an AND/OR graph: the first solution in the order of the reductions.

It must not know: any kind of problem, costs.
"""

from __future__ import annotations

from typing import Generic

from arena_engines.andor.graph import N, ProblemSpace, Reduction, Search, extract


def depth_first(space: ProblemSpace[N], root: N, *, depth: int = 200, limit: int = 1_000_000) -> Search[N]:
    """Solve `root` by reductions nested at most `depth` deep, expanding at most `limit` problems.

    A problem is never reduced to itself on the way, and what has been decided is not decided again.
    """
    search = _DepthFirst(space, limit)
    solved = search.solve(root, depth)
    return Search(extract(root, search.choices) if solved else None, search.expanded)


class _DepthFirst(Generic[N]):
    def __init__(self, space: ProblemSpace[N], limit: int) -> None:
        self.space = space
        self.limit = limit
        self.choices: dict[N, Reduction[N] | None] = {}
        self.expanded = 0
        self._hopeless: set[N] = set()
        self._path: set[N] = set()
        #: Whether something was given up because of the path to it: then failing proves nothing.
        self._cut = False

    def solve(self, problem: N, depth: int) -> bool:
        if problem in self.choices:
            return True
        if self.space.is_elementary(problem):
            self.choices[problem] = None
            return True
        if problem in self._hopeless:
            return False
        if problem in self._path or depth == 0 or self.expanded >= self.limit:
            self._cut = True
            return False
        return self._expand(problem, depth)

    def _expand(self, problem: N, depth: int) -> bool:
        self.expanded += 1
        self._path.add(problem)
        outside, self._cut = self._cut, False
        chosen = self._first_that_works(problem, depth - 1)
        self._path.remove(problem)
        if chosen is not None:
            self.choices[problem] = chosen
        elif not self._cut:
            self._hopeless.add(problem)
        self._cut = self._cut or outside
        return chosen is not None

    def _first_that_works(self, problem: N, depth: int) -> Reduction[N] | None:
        # Plain loops: every level of the graph costs three frames of Python's stack.
        for way in self.space.reductions(problem):
            solved = True
            for part in way.parts:
                if not self.solve(part, depth):
                    solved = False
                    break
            if solved:
                return way
        return None
