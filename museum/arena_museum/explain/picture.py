"""A picture: vertices, edges and arcs; its layout; its text form.

trees.py builds pictures, svg.py draws them. Layout units are abstract: x counts characters, y counts layers
from the top.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from statistics import fmean

#: More vertices are not readable, and slow in a browser.
MAX_VERTICES = 4000


def counted(number: int, word: str) -> str:
    """`1 move`, `2 moves`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


class Shape(Enum):
    """The outline of a vertex; the value is its sign in text."""

    MAX = "△"
    MIN = "▽"
    POSITION = "○"
    END = "□"
    PROBLEM = "▭"
    FINAL = "▣"
    CHANCE = "◇"


class Tone(Enum):
    """The fill of a vertex; the value is its word in text."""

    PLAIN = ""
    WON = "won"
    LOST = "lost"
    DRAWN = "drawn"
    CUT = "cut"


class Segment(Enum):
    """The style of an edge."""

    PLAIN = "plain"
    BEST = "best"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class Vertex:
    """One vertex: `text` inside, `note` beside it; `heavy` is a thicker outline."""

    key: str
    text: str
    note: str = ""
    shape: Shape = Shape.POSITION
    tone: Tone = Tone.PLAIN
    heavy: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge from a vertex to one below it."""

    source: str
    target: str
    text: str = ""
    line: Segment = Segment.PLAIN


@dataclass(frozen=True, slots=True)
class Picture:
    """An acyclic graph to be drawn; the first vertex is the root, `caption` has one string a line.

    `arcs` joins the edges of one AND: (source, targets). `places` fixes the centres of all vertices; without
    it `layout` places them.
    """

    title: str
    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]
    arcs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    caption: tuple[str, ...] = ()
    places: Mapping[str, tuple[float, int]] = field(default_factory=dict)

    @property
    def root(self) -> str:
        """The key of the vertex at the top."""
        return self.vertices[0].key

    @property
    def below(self) -> dict[str, list[Edge]]:
        """The edges from each vertex downwards, in drawing order."""
        edges: dict[str, list[Edge]] = defaultdict(list)
        for edge in self.edges:
            edges[edge.source].append(edge)
        return edges

    @property
    def is_tree(self) -> bool:
        """Whether no vertex is shared."""
        targets = [edge.target for edge in self.edges]
        return len(set(targets)) == len(targets)


@dataclass(slots=True)
class Sketch:
    """A mutable picture under construction; `done` returns it."""

    title: str
    vertices: dict[str, Vertex] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    arcs: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    caption: list[str] = field(default_factory=list)

    def add(self, vertex: Vertex) -> str:
        """Add a vertex unless its key exists; return the key."""
        self.vertices.setdefault(vertex.key, vertex)
        return vertex.key

    def join(self, source: str, target: str, text: str = "", line: Segment = Segment.PLAIN) -> None:
        self.edges.append(Edge(source, target, text, line))

    def done(self) -> Picture:
        vertices = tuple(self.vertices.values())
        return Picture(self.title, vertices, tuple(self.edges), tuple(self.arcs), tuple(self.caption))


#: Characters of free space between two vertices, and the narrowest vertex.
GAP = 2.0
NARROWEST = 3.0
#: Sweeps over the layers of a graph; more change little.
SWEEPS = 16

Place = tuple[float, int]


@dataclass(frozen=True, slots=True)
class Layout:
    """The centre of every vertex, and the points where a long edge bends."""

    places: dict[str, Place]
    bends: dict[Edge, list[Place]] = field(default_factory=dict)

    def shifted(self, by: float) -> Layout:
        """The same layout, moved to the right."""
        return Layout(
            {key: (x + by, y) for key, (x, y) in self.places.items()},
            {edge: [(x + by, y) for x, y in points] for edge, points in self.bends.items()},
        )


def outline_width(vertex: Vertex) -> float:
    """The width of the outline of a vertex, in characters."""
    frame = 2.0 if vertex.shape is Shape.FINAL else 1.0
    return max(NARROWEST, len(vertex.text) + frame)


def room(picture: Picture) -> dict[str, float]:
    """The width of each vertex in characters, with its note and the text of the edge above it."""
    wide = {vertex.key: outline_width(vertex) + 2.0 * len(vertex.note) for vertex in picture.vertices}
    for edge in picture.edges:
        wide[edge.target] = max(wide[edge.target], len(edge.text) + 1.0)
    return wide


def layout(picture: Picture) -> Layout:
    """Place all vertices and bends; the leftmost end is at 0."""
    wide = room(picture)
    if picture.places:
        found = Layout(dict(picture.places))
    else:
        found = Layout(_tree(picture, wide)) if picture.is_tree else _layers(picture, wide)
    return found.shifted(-span(picture, found)[0])


def span(picture: Picture, placed: Layout) -> tuple[float, float]:
    """The leftmost and the rightmost end of all vertices and bends."""
    wide = room(picture)
    bends = [x for points in placed.bends.values() for x, _ in points]
    left = min([x - wide[key] / 2 for key, (x, _) in placed.places.items()] + bends)
    right = max([x + wide[key] / 2 for key, (x, _) in placed.places.items()] + bends)
    return left, right


def _tree(picture: Picture, wide: dict[str, float]) -> dict[str, Place]:
    """A tree: subtrees side by side, every parent centred over them."""
    below = picture.below
    order = [picture.root]
    for key in order:  # grows as it is read: parents stand before their children
        order.extend(edge.target for edge in below[key])
    extent: dict[str, float] = {}
    for key in reversed(order):
        extent[key] = max(wide[key] + GAP, sum(extent[edge.target] for edge in below[key]))
    places: dict[str, Place] = {picture.root: (0.0, 0)}
    for key in order:
        x, level = places[key]
        left = x - sum(extent[edge.target] for edge in below[key]) / 2
        for edge in below[key]:
            places[edge.target] = (left + extent[edge.target] / 2, level + 1)
            left += extent[edge.target]
    return places


def levels(picture: Picture) -> dict[str, int]:
    """The layer of every vertex: the length of the longest path to it."""
    above: dict[str, int] = defaultdict(int)
    for edge in picture.edges:
        above[edge.target] += 1
    below = picture.below
    level = {vertex.key: 0 for vertex in picture.vertices}
    waiting = [vertex.key for vertex in picture.vertices if not above[vertex.key]]
    while waiting:
        key = waiting.pop()
        for edge in below[key]:
            level[edge.target] = max(level[edge.target], level[key] + 1)
            above[edge.target] -= 1
            if not above[edge.target]:
                waiting.append(edge.target)
    return level


def _layers(picture: Picture, wide: dict[str, float]) -> Layout:
    """A layered graph; each layer is ordered by the mean place of its neighbours (Sugiyama et al., 1981).

    An edge that passes layers has a dummy vertex on each, so that it avoids the vertices there.
    """
    level = levels(picture)
    rows: list[list[str]] = [[] for _ in range(1 + max(level.values()))]
    for vertex in picture.vertices:
        rows[level[vertex.key]].append(vertex.key)
    chains = {edge: _chain(edge, number, level, rows) for number, edge in enumerate(picture.edges)}
    xs = _sweep(rows, chains, wide)
    return Layout(
        {vertex.key: (xs[vertex.key], level[vertex.key]) for vertex in picture.vertices},
        {
            edge: [(xs[key], level[edge.source] + step) for step, key in enumerate(chain[1:-1], start=1)]
            for edge, chain in chains.items()
        },
    )


def _chain(edge: Edge, number: int, level: dict[str, int], rows: list[list[str]]) -> list[str]:
    """The ends of an edge and its dummy vertices between them, which are added to their rows."""
    passed = range(level[edge.source] + 1, level[edge.target])
    dummies = [f"edge {number} on {layer}" for layer in passed]
    for layer, key in zip(passed, dummies, strict=True):
        rows[layer].append(key)
    return [edge.source, *dummies, edge.target]


def _sweep(rows: list[list[str]], chains: dict[Edge, list[str]], wide: dict[str, float]) -> dict[str, float]:
    near: dict[str, list[str]] = defaultdict(list)
    for chain in chains.values():
        for upper, lower in pairwise(chain):
            near[upper].append(lower)
            near[lower].append(upper)
    xs: dict[str, float] = {}
    for row in rows:
        _spread(row, dict.fromkeys(row, 0.0), wide, xs)
    for _ in range(SWEEPS):
        for row in rows:
            wanted = {key: fmean(xs[other] for other in near[key]) if near[key] else xs[key] for key in row}
            row.sort(key=wanted.__getitem__)
            _spread(row, wanted, wide, xs)
    return xs


def _spread(row: list[str], wanted: dict[str, float], wide: dict[str, float], xs: dict[str, float]) -> None:
    """Place a row in its order, as near to the wanted places as the widths of its vertices allow."""
    right = float("-inf")
    for key in row:
        half = wide.get(key, 1.0) / 2
        xs[key] = max(wanted[key], right + half)
        right = xs[key] + half + GAP
    # Pushing apart moves vertices only to the right; this moves the whole row back.
    shift = fmean(wanted[key] - xs[key] for key in row)
    for key in row:
        xs[key] += shift


_SIGN = {Segment.PLAIN: "", Segment.BEST: "*", Segment.CUT: "x"}


def to_text(picture: Picture) -> str:
    """The picture as an indented tree: `*` marks best moves, `x` cut branches, `^` a vertex printed above."""
    return "\n".join([picture.title, *picture.caption, *_lines(picture)]) + "\n"


def _lines(picture: Picture) -> Iterator[str]:
    vertices = {vertex.key: vertex for vertex in picture.vertices}
    joined = dict(picture.arcs)
    below = picture.below
    shown: set[str] = set()
    waiting: list[tuple[str, str, Edge]] = [("", "", Edge("", picture.root))]
    while waiting:
        lead, inner, edge = waiting.pop()
        again = edge.target in shown and bool(below[edge.target])
        mark = " & all of" if edge.target in joined else ""
        yield lead + _entry(edge, vertices[edge.target], again) + ("" if again else mark)
        children = [] if again else below[edge.target]
        shown.add(edge.target)
        for child in reversed(children):
            last = child is children[-1]
            waiting.append((inner + ("└─ " if last else "├─ "), inner + ("   " if last else "│  "), child))


def _entry(edge: Edge, vertex: Vertex, again: bool) -> str:
    words = [
        edge.text,
        _SIGN[edge.line],
        vertex.shape.value,
        vertex.text,
        vertex.note,
        vertex.tone.value,
        "^" if again else "",
    ]
    return " ".join(word for word in words if word)
