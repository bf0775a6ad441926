"""Pictures of search trees, of whole games, and of AND/OR graphs; the alpha-beta example of seed 004."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

from arena_engines.andor.search import ProblemSpace, Reduction, Solution
from arena_engines.engine import EngineError
from arena_engines.explain.picture import Line, Picture, Shape, Sketch, Tone, Vertex, counted
from arena_engines.search.adapters import TwoSides
from arena_engines.search.alphabeta import alphabeta
from arena_engines.search.minimax import Node, Tree, minimax
from arena_engines.small.solved import Solver
from arena_protocol.games.base import Game

P = TypeVar("P")
M = TypeVar("M")

Method = Literal["minimax", "alphabeta"]

#: More vertices are not readable, and slow in a browser.
MAX_VERTICES = 4000


@dataclass(frozen=True, slots=True)
class Searched:
    """The picture and the counts of a search, as seed 004 counts: the root is not built."""

    picture: Picture
    built: int
    evaluated: int
    value: int


def search_picture(
    tree: Tree[P, M],
    root: P,
    depth: int,
    method: Method = "alphabeta",
    *,
    title: str = "",
    text: Callable[[P], str] = lambda position: "",
    named: bool = True,
) -> Searched:
    """Search `root` and draw the tree: built vertices with their values, cut ones without.

    `text` is written into a vertex, the move on its edge if `named`. The value of the whole line of play
    stands beside every vertex, with `≥` or `≤` where a cut leaves it open. Raises EngineError for more than
    MAX_VERTICES vertices.
    """
    nodes: dict[tuple[Any, ...], Node] = {}

    def report(node: Node) -> None:
        nodes[node.path] = node
        if len(nodes) > MAX_VERTICES:
            raise EngineError(f"the picture would have more than {MAX_VERTICES} vertices: ask for less depth")

    search = alphabeta if method == "alphabeta" else minimax
    found = search(tree, root, depth, report=report)
    sketch = Sketch(title)
    drawing = _Drawing(tree, nodes, sketch, text, named, found.line, depth)
    drawing.draw(root)
    counts = f"{len(nodes)} vertices built below the root, {drawing.evaluated} evaluated"
    sketch.caption.append(f"{method}: {counts}")
    return Searched(sketch.done(), len(nodes), drawing.evaluated, found.value)


class Span(NamedTuple):
    """Bounds of a value. A cut leaves one of them, or both, infinite."""

    low: float
    high: float

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.low}"
        if self.high == inf:
            return f"≥{self.low}"
        return f"≤{self.high}" if self.low == -inf else f"{self.low}..{self.high}"


@dataclass(slots=True)
class _Drawing:
    tree: Tree[Any, Any]
    nodes: dict[tuple[Any, ...], Node]
    sketch: Sketch
    text: Callable[[Any], str]
    named: bool
    best: tuple[Any, ...]
    depth: int
    evaluated: int = 0

    def draw(self, position: Any, path: tuple[Any, ...] = (), gained: int = 0) -> Span:
        """Add a vertex and all below it; return the bounds of its value."""
        if path and path not in self.nodes:
            self._vertex(position, path, "", self._shape(position), Tone.CUT)
            return Span(-inf, inf)
        moves = self.tree.moves(position) if len(path) < self.depth else ()
        if not moves:
            self.evaluated += 1
            value = gained + self.tree.horizon(position)
            self._vertex(position, path, str(value), Shape.END)
            return Span(value, value)
        shape = self._shape(position)
        self._vertex(position, path, "", shape)  # added before its children, completed after them
        spans = [self._below(position, path, move, gained) for move in moves]
        pick = max if shape is Shape.MAX else min
        span = Span(pick(each.low for each in spans), pick(each.high for each in spans))
        self._vertex(position, path, str(span), shape)
        return span

    def _below(self, position: Any, path: tuple[Any, ...], move: Any, gained: int) -> Span:
        deeper = (*path, move)
        looked_at, best = deeper in self.nodes, deeper == self.best[: len(deeper)]
        line = Line.BEST if best else Line.PLAIN if looked_at else Line.CUT
        self.sketch.join(_key(path), _key(deeper), str(move) if self.named else "", line)
        child, gain = self.tree.play(position, move)
        return self.draw(child, deeper, gained + gain)

    def _vertex(
        self, position: Any, path: tuple[Any, ...], note: str, shape: Shape, tone: Tone = Tone.PLAIN
    ) -> None:
        text = "" if tone is Tone.CUT else self.text(position)
        if shape is Shape.END and not text:  # a leaf without text is drawn as its value
            text, note = note, ""
        heavy = path == self.best[: len(path)]
        self.sketch.vertices[_key(path)] = Vertex(_key(path), text, note, shape, tone, heavy)

    def _shape(self, position: Any) -> Shape:
        return Shape.MAX if self.tree.maximises(position) else Shape.MIN


def _key(path: tuple[Any, ...]) -> str:
    return " ".join(map(str, path))


class _DistinctMoves(TwoSides):
    """A game without transpositions of one ply: of moves to the same position only the first is tried."""

    def moves(self, position: Any) -> Sequence[str]:
        """The moves with different results, in natural order."""
        first: dict[Any, str] = {}
        for move in super().moves(position):
            first.setdefault(self.game.play(position, move).position, move)
        return list(first.values())


def game_tree(rules: Game[Any], position: Any, depth: int, method: Method = "alphabeta") -> Searched:
    """Draw a search `depth` plies deep; a value is the lead of the seat to move at the end of the line.

    Moves with the same effect are drawn once. A game with hidden pictures is searched as far as they are
    visible. Raises EngineError for a depth below 1, a game that is over, and a picture that is too large.
    """
    if depth < 1:
        raise EngineError(f"depth={depth}: expected at least 1")
    if rules.end(position) is not None:
        raise EngineError("the game is over: there is no tree to draw")
    seat = rules.to_move(position)
    title = f"{rules.name}, seat {seat} to move: {rules.state_text(position)}"
    return search_picture(_DistinctMoves(rules, seat), position, depth, method, title=title)


def whole_tree(rules: Game[Any], position: Any) -> Picture:
    """Draw the whole tree of a small game, every position won, lost or drawn for seat 1.

    Positions where seat 1 moves have a heavy outline; a position reached by two paths is drawn twice.
    Raises EngineError for more than MAX_VERTICES vertices.
    """
    paths = _all_paths(rules, position)
    solver = Solver(rules)
    sketch = Sketch(f"{rules.name}, the whole tree from {rules.state_text(position)}")
    for path, reached in paths.items():
        sketch.add(_position_vertex(rules, solver, reached, " ".join(path)))
        moves = rules.legal_moves(reached)
        best = solver.best_move(reached) if moves else None
        for move in moves:
            line = Line.BEST if move == best else Line.PLAIN
            sketch.join(" ".join(path), " ".join((*path, move)), move, line)
    deepest = max(map(len, paths))
    size = f"{counted(len(paths), 'position')} on {counted(deepest, 'level')} below the root"
    sketch.caption.append(size)
    sketch.caption.append("won (green), lost (dark), drawn (yellow): for seat 1")
    sketch.caption.append("a heavy outline: seat 1 moves; a box: the game is over")
    return sketch.done()


def _all_paths(rules: Game[Any], position: Any) -> dict[tuple[str, ...], Any]:
    """Every path from `position` with the position at its end. Raises EngineError for too many."""
    paths: dict[tuple[str, ...], Any] = {(): position}
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        path = waiting.pop()
        for move in rules.legal_moves(paths[path]):
            paths[*path, move] = rules.play(paths[path], move).position
            waiting.append((*path, move))
        if len(paths) > MAX_VERTICES:
            raise EngineError(f"the whole tree has more than {MAX_VERTICES} vertices: draw a search instead")
    return paths


_TONES = {1: Tone.WON, 0: Tone.DRAWN, -1: Tone.LOST}


def _position_vertex(rules: Game[Any], solver: Solver, position: Any, key: str) -> Vertex:
    mine = rules.to_move(position) == 1
    result = solver.outcome(position).result
    over = rules.end(position) is not None
    return Vertex(
        key,
        rules.state_text(position),
        shape=Shape.END if over else Shape.POSITION,
        tone=_TONES[result if mine else -result],
        heavy=mine,
    )


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
            drawing.join(problem, choice, Line.PLAIN)
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
            drawing.join(problem, way, Line.BEST if chosen.get(problem) == way else Line.PLAIN)
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


@dataclass(slots=True)
class _GraphDrawing:
    space: ProblemSpace[Any]
    sketch: Sketch
    _keys: dict[Any, str] = field(default_factory=dict)

    def add(self, problem: Any, *, elementary: bool, heavy: bool = False) -> None:
        shape = Shape.FINAL if elementary else Shape.PROBLEM
        self.sketch.add(Vertex(self._key(problem), self.space.text(problem), shape=shape, heavy=heavy))

    def join(self, problem: Any, way: Reduction[Any], line: Line) -> None:
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


DEPTH = 3


class SeedExample:
    """The tree of figures 4 and 5 of seed 004: 17 vertices and 10 evaluations, with alpha-beta 11 and 6.

    The figures are lost; the text gives the shape and the cuts. W0 (PLUS moves) has the children W1 and W4.
    Below W1, W2 has three leaves, the best of them 3, and the second leaf of W3, after a 4, is cut. Below W4,
    W5 has two leaves and the value 3, and W6 and W7 are cut. So W1 is the best move and W0 has the value 3.
    The values of the leaves behind the cuts are not in the text; those here agree with it.
    """

    children: ClassVar[dict[str, tuple[str, ...]]] = {
        "W0": ("W1", "W4"),
        "W1": ("W2", "W3"),
        "W2": ("a", "b", "c"),
        "W3": ("d", "e"),
        "W4": ("W5", "W6", "W7"),
        "W5": ("f", "g"),
        "W6": ("h", "i"),
        "W7": ("j",),
    }
    leaves: ClassVar[dict[str, int]] = {
        "a": 2, "b": 3, "c": 1, "d": 4, "e": 5, "f": 3, "g": 1, "h": 2, "i": 0, "j": 4,
    }  # fmt: skip

    def moves(self, position: str) -> Sequence[str]:
        """The children; a move has the name of its child."""
        return self.children.get(position, ())

    def play(self, position: str, move: str) -> tuple[str, int]:
        """The child; no move has a gain."""
        return move, 0

    def maximises(self, position: str) -> bool:
        """PLUS moves at W0 and two plies below it."""
        return position in ("W0", "W2", "W3", "W5", "W6", "W7")

    def horizon(self, position: str) -> int:
        """The static value of a leaf."""
        return self.leaves[position]


def seed_example(method: Method = "alphabeta") -> Searched:
    """Search the example of seed 004 and draw it."""

    def text(position: str) -> str:
        return position if position in SeedExample.children else ""

    return search_picture(
        SeedExample(), "W0", DEPTH, method, title="The example of seed 004", text=text, named=False
    )
