"""The state space of the tower of Hanoi, drawn next to its reduction."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from arena_engines.engine import EngineError
from arena_museum import explain
from arena_museum.explain.picture import Segment, layout
from arena_museum.explain.svg import to_svg


def test_the_state_space_of_three_discs_has_27_states_and_the_solution_in_bold() -> None:
    picture = explain.hanoi_states(3)
    assert picture.caption == ("27 states, 39 edges; the shortest way in bold",)
    assert len(picture.vertices) == 27
    best = [edge for edge in picture.edges if edge.line is Segment.BEST]
    ways = {frozenset((edge.source, edge.target)) for edge in best}
    way = ["AAA", "CAA", "CBA", "BBA", "BBC", "ABC", "ACC", "CCC"]
    assert ways == {frozenset(pair) for pair in pairwise(way)}
    assert {vertex.key for vertex in picture.vertices if vertex.heavy} == set(way)


def test_its_places_are_kept_and_begin_at_the_left() -> None:
    places = layout(explain.hanoi_states(2)).places
    assert places["AA"][1] == 0
    assert places["BB"][1] == places["CC"][1] == 3
    assert places["BB"][0] < places["AA"][0] < places["CC"][0]
    assert min(x for x, _ in places.values()) == places["BB"][0] > 0


def test_both_pictures_stand_side_by_side_in_one_drawing() -> None:
    one, other = explain.hanoi(3), explain.hanoi_states(3)
    widths = [float(ET.fromstring(to_svg(each)).attrib["width"]) for each in (one, other)]
    both = to_svg(one, other)
    assert float(ET.fromstring(both).attrib["width"]) == pytest.approx(sum(widths), abs=1)
    assert re.findall(r"translate\((\d+),0\)", both) == ["0", str(round(widths[0]))]
    assert both.count("<title>") == 1


def test_moves_between_states_of_one_row_are_straight_lines() -> None:
    drawing = to_svg(explain.hanoi_states(1))
    lines = [each.split() for each in re.findall(r'polyline class="[^"]*" points="([^"]*)"', drawing)]
    flat = [line for line in lines if line[0].split(",")[1] == line[-1].split(",")[1]]
    assert len(lines) == 3
    assert len(flat) == 1


def test_a_state_space_that_is_too_large_is_refused() -> None:
    with pytest.raises(EngineError, match="discs=8: the state space would have more than 4000 vertices"):
        explain.hanoi_states(8)
    with pytest.raises(EngineError, match=r"discs=0: expected 1..60"):
        explain.hanoi_states(0)
