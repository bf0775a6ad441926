"""Pictures of AND/OR graphs: solutions, and whole graphs with a solution in them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from arena_engines.engine import EngineError
from arena_museum.andor.hanoi import Hanoi, state_moves, state_place, states, whole_tower
from arena_museum.andor.search import ProblemSpace, Reduction, Solution, depth_first
from arena_museum.explain.picture import MAX_VERTICES, Picture, Segment, Shape, Sketch, Vertex, counted


def solution_picture(space: ProblemSpace[Any], solution: Solution[Any], title: str = "") -> Picture:
    """Draw a solution graph: elementary problems have a double frame, arcs join the parts of one reduction.

    Raises EngineError for more than MAX_VERTICES vertices.
    """
    drawing = _GraphDrawing(space, Sketch(title))
    for problem in _from_root(solution):
        choice = solution.choices[problem]
        drawing.add(problem, elementary=choice is None)
    for problem, choice in solution.choices.items():
        if choice is not None:
            drawing.join(problem, choice, Segment.PLAIN)
    elementary = sum(1 for choice in solution.choices.values() if choice is None)
    drawing.sketch.caption.append(_size(len(solution.choices), elementary))
    return drawing.sketch.done()


def solution_tree(space: ProblemSpace[Any], solution: Solution[Any], title: str = "") -> Picture:
    """Draw a solution as a tree: every problem as often as it is solved, in order from the left."""
    sketch = Sketch(title)
    waiting: list[tuple[str, Any]] = [("0", solution.root)]
    elementary = 0
    while waiting:
        key, problem = waiting.pop()
        choice = solution.choices[problem]
        elementary += choice is None
        shape = Shape.FINAL if choice is None else Shape.PROBLEM
        sketch.add(Vertex(key, space.text(problem), shape=shape))
        parts = [(f"{key}.{number}", part) for number, part in enumerate(choice.parts if choice else ())]
        for below, _ in parts:
            sketch.join(key, below)
        if len(parts) > 1:
            sketch.arcs.append((key, tuple(below for below, _ in parts)))
        waiting.extend(reversed(parts))
    sketch.caption.append(_size(len(sketch.vertices), elementary))
    return sketch.done()


def _size(problems: int, elementary: int) -> str:
    return f"{counted(problems, 'problem')}, {elementary} of them elementary"


def whole_graph(
    space: ProblemSpace[Any], root: Any, solution: Solution[Any] | None, title: str = ""
) -> Picture:
    """Draw all problems that `root` can be reduced to, the solution in bold. The graph must be acyclic.

    Raises EngineError for more than MAX_VERTICES vertices.
    """
    drawing = _GraphDrawing(space, Sketch(title))
    chosen = solution.choices if solution is not None else {}
    waiting, seen = [root], {root}
    while waiting:
        problem = waiting.pop(0)
        elementary = space.is_elementary(problem)
        drawing.add(problem, elementary=elementary, heavy=problem in chosen)
        for way in () if elementary else space.reductions(problem):
            waiting.extend(part for part in dict.fromkeys(way.parts) if part not in seen)
            seen.update(way.parts)
            drawing.join(problem, way, Segment.BEST if chosen.get(problem) == way else Segment.PLAIN)
    answer = "no solution" if solution is None else f"the solution in bold has {len(chosen)}"
    drawing.sketch.caption.append(f"{counted(len(seen), 'problem')}; {answer}")
    return drawing.sketch.done()


def _from_root(solution: Solution[Any]) -> list[Any]:
    """The problems of a solution in depth-first order from the left."""
    order: dict[Any, None] = {}
    waiting = [solution.root]
    while waiting:
        problem = waiting.pop()
        if problem not in order:
            order[problem] = None
            choice = solution.choices[problem]
            waiting.extend(reversed(choice.parts) if choice is not None else ())
    return list(order)


def tower_states(discs: int) -> Picture:
    """Draw the state space of the tower of Hanoi, the shortest way from A to C in bold.

    Raises EngineError for more than MAX_VERTICES states.
    """
    if 3**discs > MAX_VERTICES:
        raise EngineError(f"discs={discs}: the state space would have more than {MAX_VERTICES} vertices")
    every = sorted(states(discs), key=lambda state: state_place(state)[::-1])
    solution = depth_first(Hanoi(), whole_tower(discs)).solution
    assert solution is not None, "every tower can be moved"
    way = ["A" * discs]
    for step in solution.steps():
        state = way[-1]
        way.append(state[: step.top - 1] + step.target + state[step.top :])
    steps = set(pairwise(way)) | set(pairwise(way[::-1]))
    sketch = Sketch(f"The state space of the tower of Hanoi, {counted(discs, 'disc')}")
    for each in every:
        shape = Shape.FINAL if each == "C" * discs else Shape.POSITION
        sketch.add(Vertex(each, each, shape=shape, heavy=each in way))
    order = {each: number for number, each in enumerate(every)}
    moves = 0
    for each in every:
        for after in state_moves(each):
            if order[each] < order[after]:
                moves += 1
                sketch.join(each, after, "", Segment.BEST if (each, after) in steps else Segment.PLAIN)
    sketch.caption.append(
        f"{counted(len(every), 'state')}, {counted(moves, 'edge')}; the shortest way in bold"
    )
    places = {each: state_place(each) for each in every}
    spread = discs + 6.0
    return replace(sketch.done(), places={each: (x * spread, y) for each, (x, y) in places.items()})


@dataclass(slots=True)
class _GraphDrawing:
    space: ProblemSpace[Any]
    sketch: Sketch
    _keys: dict[Any, str] = field(default_factory=dict)

    def add(self, problem: Any, *, elementary: bool, heavy: bool = False) -> None:
        shape = Shape.FINAL if elementary else Shape.PROBLEM
        self.sketch.add(Vertex(self._key(problem), self.space.text(problem), shape=shape, heavy=heavy))

    def join(self, problem: Any, way: Reduction[Any], line: Segment) -> None:
        """Draw one reduction; a label with one word for each part labels the edges word by word."""
        parts = tuple(dict.fromkeys(way.parts))
        words = way.label.split()
        if len(words) != len(parts):
            words = [way.label] + [""] * len(parts)
        for part, word in zip(parts, words, strict=False):
            self.sketch.join(self._key(problem), self._key(part), word, line)
        if len(parts) > 1:
            self.sketch.arcs.append((self._key(problem), tuple(map(self._key, parts))))

    def _key(self, problem: Any) -> str:
        key = self._keys.setdefault(problem, f"v{len(self._keys)}")
        if len(self._keys) > MAX_VERTICES:
            raise EngineError(f"the picture would have more than {MAX_VERTICES} vertices")
        return key
