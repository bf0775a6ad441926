"""A picture of a search: vertices, edges and arcs, before anybody decides where they stand.

Built by searches.py, games.py and reductions.py, placed by layout.py, printed by svg.py and text.py.
It must not know: games, searches, coordinates.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from enum import Enum


def counted(number: int, word: str) -> str:
    """`1 move`, `2 moves`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


class Shape(Enum):
    """What a vertex is drawn as; the value is its sign in text."""

    MAX = "△"
    MIN = "▽"
    POSITION = "○"
    END = "□"
    PROBLEM = "▭"
    FINAL = "▣"


class Tone(Enum):
    """How a vertex is filled; the value is its word in text, if it has one."""

    PLAIN = ""
    WON = "won"
    LOST = "lost"
    DRAWN = "drawn"
    CUT = "cut"


class Line(Enum):
    """How an edge is drawn."""

    PLAIN = "plain"
    BEST = "best"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class Vertex:
    """One vertex: `text` stands inside it, `note` beside it; `heavy` has a thicker outline."""

    key: str
    text: str
    note: str = ""
    shape: Shape = Shape.POSITION
    tone: Tone = Tone.PLAIN
    heavy: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """From a vertex to one below it."""

    source: str
    target: str
    text: str = ""
    line: Line = Line.PLAIN


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing without places: the first vertex is the root; `caption` has one line of text a string.

    `arcs` joins the edges of one AND: (source, targets). Edges go from earlier vertices to later ones or
    to vertices shared with others; there are no circles.
    """

    title: str
    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]
    arcs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    caption: tuple[str, ...] = ()

    @property
    def root(self) -> str:
        """The key of the vertex at the top."""
        return self.vertices[0].key

    @property
    def below(self) -> dict[str, list[Edge]]:
        """The edges of every vertex to those below it, in the order drawn."""
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
    """A picture being built."""

    title: str
    vertices: dict[str, Vertex] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    arcs: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    caption: list[str] = field(default_factory=list)

    def add(self, vertex: Vertex) -> str:
        """Add a vertex unless its key is there already; return the key."""
        self.vertices.setdefault(vertex.key, vertex)
        return vertex.key

    def join(self, source: str, target: str, text: str = "", line: Line = Line.PLAIN) -> None:
        """Add an edge."""
        self.edges.append(Edge(source, target, text, line))

    def done(self) -> Picture:
        """Return the picture."""
        vertices = tuple(self.vertices.values())
        return Picture(self.title, vertices, tuple(self.edges), tuple(self.arcs), tuple(self.caption))
