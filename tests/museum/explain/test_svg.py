"""Pictures as SVG."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

from arena_museum import explain
from arena_museum.explain.picture import Picture, Vertex
from arena_museum.explain.svg import to_svg

from .pictures import EVERY_PICTURE


@EVERY_PICTURE
def test_the_svg_is_well_formed_and_inside_its_frame(make: Callable[[], Picture]) -> None:
    picture = make()
    root = ET.fromstring(to_svg(picture))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    texts = list(root.iter("{http://www.w3.org/2000/svg}text"))
    assert all(
        0 <= float(each.attrib["x"]) <= width and 0 <= float(each.attrib["y"]) <= height for each in texts
    )
    written = [each.text for each in texts]
    assert written[0] == picture.title
    for vertex in picture.vertices:
        assert not vertex.text or vertex.text in written
    lines = list(root.iter("{http://www.w3.org/2000/svg}polyline"))
    assert len(lines) == len(picture.edges)
    points = [point.split(",") for line in lines for point in line.attrib["points"].split()]
    assert all(0 <= float(x) <= width and 0 <= float(y) <= height for x, y in points)


@EVERY_PICTURE
def test_the_arc_of_an_and_stays_with_its_vertex(make: Callable[[], Picture]) -> None:
    picture = make()
    arcs = [
        each.attrib["d"] for each in ET.fromstring(to_svg(picture)).iter("{http://www.w3.org/2000/svg}path")
    ]
    assert len(arcs) == len(picture.arcs)
    for arc in arcs:
        x1, y1, rx, ry, _, _, _, x2, y2 = map(float, re.findall(r"-?[\d.]+", arc))
        assert rx == ry
        assert 0 < x2 - x1 <= 2 * rx
        assert abs(y2 - y1) <= rx


def test_a_drawing_brings_its_paper() -> None:
    """Dark words on a dark page cannot be read."""
    first = next(ET.fromstring(to_svg(explain.example())).iter("{http://www.w3.org/2000/svg}rect"))
    assert first.attrib == {"width": "100%", "height": "100%", "fill": "#fff"}


def test_signs_of_markup_are_escaped() -> None:
    picture = Picture("a < b & c", (Vertex("r", "<b>", "&"),), ())
    root = ET.fromstring(to_svg(picture))
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["a < b & c", "<b>", "&"]
