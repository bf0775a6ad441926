"""A picture as an SVG document: one string without external references, for browsers and print."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import dist

from arena_museum.explain.picture import (
    Edge,
    Layout,
    Picture,
    Place,
    Segment,
    Shape,
    Tone,
    Vertex,
    layout,
    outline_width,
    span,
)

#: Pixels: the width of a character, the distance of layers, the height of a vertex, the margin, a line of
#: text.
CHARACTER, LAYER, HEIGHT, MARGIN, LINE = 8.0, 78.0, 26.0, 16.0, 18.0
#: How far the point of a triangle stands out, and the distance of an AND's arc from its vertex.
POINT = 8.0
ARC = 15.0

STYLE = (
    "text{font:13px ui-monospace,monospace;text-anchor:middle;dominant-baseline:central;fill:#222}"
    ".note{font-size:12px;fill:#06c;text-anchor:start}.head{text-anchor:start;font-weight:bold}"
    ".edge{font-size:11px;fill:#555;paint-order:stroke;stroke:#fff;stroke-width:4px}"
    ".caption{text-anchor:start;font-size:12px}"
    ".v{fill:#fff;stroke:#444;stroke-width:1.2}.heavy{stroke-width:2.8}"
    ".won{fill:#cdeccd}.lost{fill:#333}.lost-text{fill:#fff}.drawn{fill:#fdf2c0}"
    ".cut{fill:#eee;stroke:#bbb;stroke-dasharray:3 2}"
    ".e{stroke:#888;stroke-width:1.2;fill:none}.best{stroke:#c30;stroke-width:2.6}"
    ".off{stroke:#bbb;stroke-dasharray:4 3}"
)
_EDGE_CLASS = {Segment.PLAIN: "e", Segment.BEST: "e best", Segment.CUT: "e off"}


def to_svg(*pictures: Picture) -> str:
    """One picture as an SVG document, or several side by side."""
    drawn = [_drawing(picture) for picture in pictures]
    width, height = sum(each[0] for each in drawn), max(each[1] for each in drawn)
    title = escape("; ".join(picture.title for picture in pictures))
    left = 0.0
    parts = []
    for wide, _, body in drawn:
        parts.append(f'<g transform="translate({left:.0f},0)">\n{body}\n</g>' if len(drawn) > 1 else body)
        left += wide
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n"
        f'<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _drawing(picture: Picture) -> tuple[float, float, str]:
    """The width and height of a picture, and its elements."""
    placed = layout(picture)
    top = MARGIN + LINE * (1 + len(picture.caption)) + MARGIN
    longest = max(len(line) for line in (picture.title, *picture.caption)) * CHARACTER
    right = span(picture, placed)[1] * CHARACTER
    width = 2 * MARGIN + max(longest, right)
    height = top + LAYER * max(y for _, y in placed.places.values()) + HEIGHT + POINT + MARGIN
    return width, height, "\n".join(_body(picture, placed, top))


Point = tuple[float, float]


def _pixel(place: Place, top: float) -> Point:
    return MARGIN + place[0] * CHARACTER, top + HEIGHT / 2 + place[1] * LAYER


def _body(picture: Picture, placed: Layout, top: float) -> Iterator[str]:
    at = {key: _pixel(place, top) for key, place in placed.places.items()}
    yield _text(MARGIN, MARGIN + LINE / 2, picture.title, "head")
    for number, line in enumerate(picture.caption, start=1):
        yield _text(MARGIN, MARGIN + LINE * (number + 0.5), line, "caption")
    ways = {
        edge: _way(
            at[edge.source], [_pixel(place, top) for place in placed.bends.get(edge, ())], at[edge.target]
        )
        for edge in picture.edges
    }
    yield from (_edge(edge, way) for edge, way in ways.items())
    for source, targets in picture.arcs:
        yield _arc([way for edge, way in ways.items() if edge.source == source and edge.target in targets])
    for vertex in picture.vertices:
        yield from _vertex(vertex, *at[vertex.key])
    for edge, way in ways.items():
        if edge.text:  # near the lower end, where the edges of one vertex are apart
            (x1, y1), (x2, y2) = way[-2:]
            yield _text(x1 + 0.66 * (x2 - x1), y1 + 0.66 * (y2 - y1), edge.text, "edge")


def _way(start: Point, bends: list[Point], end: Point) -> list[Point]:
    """From the bottom of one vertex to the top of another; between vertices of one layer straight across."""
    if not bends and start[1] == end[1]:
        return [start, end]
    return [(start[0], start[1] + HEIGHT / 2), *bends, (end[0], end[1] - HEIGHT / 2)]


def _edge(edge: Edge, way: list[Point]) -> str:
    return f'<polyline class="{_EDGE_CLASS[edge.line]}" points="{_points(way)}"/>'


def _arc(ways: list[list[Point]]) -> str:
    """An arc across the edges of one AND, around their common end."""
    points = sorted(_towards(*way[:2]) for way in ways)
    (x1, y1), (x2, y2) = points[0], points[-1]
    return f'<path class="e" d="M{x1:.1f},{y1:.1f}A{ARC:g},{ARC:g} 0 0 0 {x2:.1f},{y2:.1f}"/>'


def _towards(start: Point, end: Point) -> Point:
    """The point at distance ARC from `start` towards `end`."""
    share = ARC / dist(start, end)
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])


def _points(points: list[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _vertex(vertex: Vertex, x: float, y: float) -> Iterator[str]:
    tone = "" if vertex.tone is Tone.PLAIN else f" {vertex.tone.name.lower()}"
    half = outline_width(vertex) * CHARACTER / 2
    yield _outline(vertex.shape, x, y, half, f"v{tone}{' heavy' if vertex.heavy else ''}")
    if vertex.text:
        yield _text(x, y, vertex.text, "lost-text" if vertex.tone is Tone.LOST else "")
    if vertex.note:
        beside = half + (POINT if vertex.shape in (Shape.MAX, Shape.MIN, Shape.CHANCE) else 0) + 3
        yield _text(x + beside, y, vertex.note, "note")


def _outline(shape: Shape, x: float, y: float, half: float, style: str) -> str:
    tall = HEIGHT / 2
    if shape in (Shape.MAX, Shape.MIN):
        up = 1 if shape is Shape.MAX else -1
        points = [
            (x - half - POINT, y + up * tall),
            (x, y - up * (tall + POINT)),
            (x + half + POINT, y + up * tall),
        ]
        return f'<polygon class="{style}" points="{_points(points)}"/>'
    if shape is Shape.CHANCE:
        points = [(x - half - POINT, y), (x, y - tall - 2), (x + half + POINT, y), (x, y + tall + 2)]
        return f'<polygon class="{style}" points="{_points(points)}"/>'
    outer = _box(x, y, half, tall, style, tall if shape is Shape.POSITION else 2)
    return outer + _box(x, y, half - 3, tall - 3, style, 2) if shape is Shape.FINAL else outer


def _box(x: float, y: float, half: float, tall: float, style: str, corner: float) -> str:
    size = f'width="{2 * half:.1f}" height="{2 * tall:.1f}" rx="{corner:g}"'
    return f'<rect class="{style}" x="{x - half:.1f}" y="{y - tall:.1f}" {size}/>'


def _text(x: float, y: float, text: str, style: str) -> str:
    kind = f' class="{style}"' if style else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
