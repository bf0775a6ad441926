"""Where the vertices of a picture stand: trees with every parent above its children, graphs in layers.

Units are abstract: x counts widths of characters, y counts layers from the top. It must not know:
what vertices mean, SVG.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean

from arena_engines.explain.picture import Edge, Picture, Shape, Vertex

#: Characters of free space between two vertices, and the narrowest vertex.
GAP = 2.0
NARROWEST = 3.0
#: Sweeps over the layers of a graph; more change little.
SWEEPS = 16

Place = tuple[float, int]


@dataclass(frozen=True, slots=True)
class Layout:
    """The middle of every vertex, and the points where a long edge bends on its way down."""

    places: dict[str, Place]
    bends: dict[Edge, list[Place]] = field(default_factory=dict)

    def shifted(self, by: float) -> Layout:
        """The same, moved to the right."""
        return Layout(
            {key: (x + by, y) for key, (x, y) in self.places.items()},
            {edge: [(x + by, y) for x, y in points] for edge, points in self.bends.items()},
        )


def outline_width(vertex: Vertex) -> float:
    """How many characters wide the outline of a vertex is."""
    frame = 2.0 if vertex.shape is Shape.FINAL else 1.0
    return max(NARROWEST, len(vertex.text) + frame)


def room(picture: Picture) -> dict[str, float]:
    """How many characters each vertex takes up with its note on the right and the text of its edge above."""
    wide = {vertex.key: outline_width(vertex) + 2.0 * len(vertex.note) for vertex in picture.vertices}
    for edge in picture.edges:
        wide[edge.target] = max(wide[edge.target], len(edge.text) + 1.0)
    return wide


def layout(picture: Picture) -> Layout:
    """Place everything; the leftmost end of all, a bend or a vertex, is at 0."""
    wide = room(picture)
    found = Layout(_tree(picture, wide)) if picture.is_tree else _layers(picture, wide)
    return found.shifted(-span(picture, found)[0])


def span(picture: Picture, placed: Layout) -> tuple[float, float]:
    """The leftmost and the rightmost end of everything, the bends of long edges included."""
    wide = room(picture)
    bends = [x for points in placed.bends.values() for x, _ in points]
    left = min([x - wide[key] / 2 for key, (x, _) in placed.places.items()] + bends)
    right = max([x + wide[key] / 2 for key, (x, _) in placed.places.items()] + bends)
    return left, right


def _tree(picture: Picture, wide: dict[str, float]) -> dict[str, Place]:
    """Subtrees side by side, every parent in the middle over them."""
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
    """The layer of every vertex: the length of the longest way down to it."""
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
    """Layers, each ordered by the middle of its neighbours and drawn towards them.

    An edge that passes layers has a stand-in on each, so that it goes round the vertices there.
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
    """The ends of an edge with its stand-ins between, which are put into their rows."""
    passed = range(level[edge.source] + 1, level[edge.target])
    stand_ins = [f"edge {number} on {layer}" for layer in passed]
    for layer, key in zip(passed, stand_ins, strict=True):
        rows[layer].append(key)
    return [edge.source, *stand_ins, edge.target]


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
    """Put a row in its order as near to the wanted places as its vertices' widths let it."""
    right = float("-inf")
    for key in row:
        half = wide.get(key, 1.0) / 2
        xs[key] = max(wanted[key], right + half)
        right = xs[key] + half + GAP
    # Pushing apart only goes to the right; moving the whole row back makes it fair.
    shift = fmean(wanted[key] - xs[key] for key in row)
    for key in row:
        xs[key] += shift
