"""A picture as lines of text: an indented tree, a shared vertex written out once.

It must not know: games, searches, the terminal's colours.
"""

from __future__ import annotations

from collections.abc import Iterator

from arena_engines.explain.picture import Edge, Line, Picture, Vertex

_SIGN = {Line.PLAIN: "", Line.BEST: "*", Line.CUT: "x"}


def to_text(picture: Picture) -> str:
    """Return the picture as text; `*` marks the best moves, `x` what was cut off, `^` what stands above."""
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
