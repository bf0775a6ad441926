"""The layout of pictures and their text form."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from arena_museum import explain
from arena_museum.explain.picture import GAP, Edge, Picture, Vertex, layout, room, to_text

from .pictures import EVERY_PICTURE


@EVERY_PICTURE
def test_vertices_of_a_layer_stand_apart_and_edges_lead_down(make: Callable[[], Picture]) -> None:
    picture = make()
    placed, wide = layout(picture), room(picture)
    rows: dict[int, list[tuple[float, float]]] = {}
    for key, (x, y) in placed.places.items():
        rows.setdefault(y, []).append((x - wide[key] / 2, x + wide[key] / 2))
    for row in rows.values():
        assert all(right + GAP <= left + 1e-6 for (_, right), (left, _) in pairwise(sorted(row)))
    for edge in picture.edges:
        ys = [
            placed.places[edge.source][1],
            *(y for _, y in placed.bends.get(edge, ())),
            placed.places[edge.target][1],
        ]
        assert ys == list(range(ys[0], ys[-1] + 1))
        assert len(ys) >= 2
    bends = [x for points in placed.bends.values() for x, _ in points]
    assert min([x - wide[key] / 2 for key, (x, _) in placed.places.items()] + bends) == pytest.approx(0)


def test_a_parent_stands_over_the_middle_of_its_subtree() -> None:
    picture = explain.whole("disc", {"m": 6})
    places = layout(picture).places
    for key, edges in picture.below.items():
        if edges:
            xs = [places[edge.target][0] for edge in edges]
            assert min(xs) <= places[key][0] <= max(xs)


def test_a_very_deep_tree_is_placed() -> None:
    vertices = tuple(Vertex(str(number), "v") for number in range(3000))
    chain = Picture("deep", vertices, tuple(Edge(str(number), str(number + 1)) for number in range(2999)))
    assert layout(chain).places["2999"][1] == 2999


def test_the_seeds_example_as_text() -> None:
    assert (
        to_text(explain.example())
        == """\
The example of seed 004
alphabeta: 11 vertices built below the root, 6 evaluated
△ W0 3
├─ * ▽ W1 3
│  ├─ * △ W2 3
│  │  ├─ □ 2
│  │  ├─ * □ 3
│  │  └─ □ 1
│  └─ △ W3 ≥4
│     ├─ □ 4
│     └─ x ▽ cut
└─ ▽ W4 ≤3
   ├─ △ W5 3
   │  ├─ □ 3
   │  └─ □ 1
   ├─ x △ cut
   └─ x △ cut
"""
    )


def test_a_sign_is_no_part_of_a_move() -> None:
    words = to_text(explain.tree("tictactoe", {}, state="xo./.x./..o", depth=2)).split()
    assert {"*", "x"} <= set(words)
    assert not [word for word in words if word[-1] in "*x" and word[0] in "abc"]


def test_a_shared_vertex_is_written_out_once() -> None:
    text = to_text(explain.strategy("lastcoin", {}, seat=2))
    assert (
        text
        == """\
lastcoin: seat 2 forces a win from 7/1
8 problems, 1 of them elementary
▭ 7/1 & all of
├─ 1 ▭ 6/2
│  └─ 2 ▭ 4/1 & all of
│     ├─ 1 ▭ 3/2
│     │  └─ 2 ▭ 1/1
│     │     └─ 1 ▣ 0/2
│     └─ 2 ▭ 2/2
│        └─ 1 ▭ 1/1 ^
└─ 2 ▭ 5/2
   └─ 1 ▭ 4/1 ^
"""
    )
