"""The picture of a minimax or alpha-beta search: every vertex with its value, every branch cut off.

The searches are those of arena_engines.search; they report each node once its value is known. It
must not know: any particular game, drawing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, NamedTuple, TypeVar

from arena_engines.engine import EngineError
from arena_engines.explain.picture import Line, Picture, Shape, Sketch, Tone, Vertex
from arena_engines.search.alphabeta import alphabeta
from arena_engines.search.minimax import minimax
from arena_engines.search.tree import Node, Tree

P = TypeVar("P")
M = TypeVar("M")

Method = Literal["minimax", "alphabeta"]

#: More is no picture any more, and takes a browser long.
MAX_VERTICES = 4000


@dataclass(frozen=True, slots=True)
class Searched:
    """What the search counted, as seed 004 counts: the root is given and not built."""

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
    """Search `root` and draw the tree: what was built with its values, what was cut off without.

    `text` is written into a vertex, the move on its edge if moves are `named`. The value of the whole line
    of play stands beside every vertex, with `≥` or `≤` where a cut left it open.
    Raises EngineError if the picture would have more than MAX_VERTICES vertices.
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
    """What is known of a value: it lies between the two. A cut leaves one end, or both, open."""

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
        """Add a vertex and everything below it; return what is known of its value."""
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
        self._vertex(position, path, "", shape)  # its place comes before those below, its value after them
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
        if shape is Shape.END and not text:  # a bare leaf is drawn as its value
            text, note = note, ""
        heavy = path == self.best[: len(path)]
        self.sketch.vertices[_key(path)] = Vertex(_key(path), text, note, shape, tone, heavy)

    def _shape(self, position: Any) -> Shape:
        return Shape.MAX if self.tree.maximises(position) else Shape.MIN


def _key(path: tuple[Any, ...]) -> str:
    return " ".join(map(str, path))
