"""Pictures of searches: what stands in them, where it stands, and how SVG and text print it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_engines.engine import EngineError
from arena_engines.explain import api, to_svg, to_text
from arena_engines.explain.examples import SeedExample, seed_example
from arena_engines.explain.games import game_tree
from arena_engines.explain.layout import GAP, layout, levels, room
from arena_engines.explain.picture import Edge, Line, Picture, Shape, Tone, Vertex
from arena_engines.explain.searches import search_picture
from arena_engines.search.games import TwoSides
from arena_engines.search.minimax import minimax
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, GameError

# ---- the example of seed 004


def test_the_seeds_example_takes_11_vertices_and_6_evaluations_instead_of_17_and_10() -> None:
    full, cut = seed_example("minimax"), seed_example("alphabeta")
    assert (full.built, full.evaluated) == (17, 10)
    assert (cut.built, cut.evaluated) == (11, 6)
    assert full.value == cut.value == 3


def test_the_seeds_example_is_cut_where_its_text_says() -> None:
    picture = seed_example().picture
    cut = {edge.target for edge in picture.edges if edge.line is Line.CUT}
    assert cut == {"W1 W3 e", "W4 W6", "W4 W7"}
    notes = {vertex.text: vertex.note for vertex in picture.vertices if vertex.text.startswith("W")}
    assert notes == {"W0": "3", "W1": "3", "W2": "3", "W3": "≥4", "W4": "≤3", "W5": "3"}
    best = [edge.target for edge in picture.edges if edge.line is Line.BEST]
    assert best == ["W1", "W1 W2", "W1 W2 b"]


# ---- search trees


class RandomTree(SeedExample):
    """A tree of three moves each with leaves out of a list."""

    def __init__(self, leaves: list[int], depth: int) -> None:
        self.values, self.deep = leaves, depth

    def moves(self, position: str) -> str:
        return "abc" if len(position) < self.deep else ""

    def play(self, position: str, move: str) -> tuple[str, int]:
        return position + move, (len(position) + ord(move)) % 3

    def maximises(self, position: str) -> bool:
        return len(position) % 2 == 0

    def horizon(self, position: str) -> int:
        return self.values[int(position.translate(str.maketrans("abc", "012")) or "0", 3) % len(self.values)]


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=27), st.integers(1, 4))
def test_what_a_picture_says_of_a_value_is_true(leaves: list[int], depth: int) -> None:
    tree = RandomTree(leaves, depth)
    true: dict[str, int] = {}

    def note(node) -> None:
        gained = sum(tree.play("".join(node.path[:ply]), move)[1] for ply, move in enumerate(node.path[:-1]))
        true["".join(node.path)] = gained + node.value

    whole = minimax(tree, "", depth, report=note)
    true[""] = whole.value
    searched = search_picture(tree, "", depth, text=lambda position: position or "root")
    assert searched.value == whole.value
    for vertex in searched.picture.vertices:
        if vertex.tone is Tone.CUT:
            assert not vertex.note
            continue
        value = true[vertex.key.replace(" ", "")]
        sign, number = re.fullmatch(r"(≥|≤|)(-?\d+)", vertex.note.split("..")[0]).groups()
        assert {"≥": value >= int(number), "≤": value <= int(number), "": value >= int(number)}[sign]
        if ".." not in vertex.note and not sign:
            assert value == int(number)


def test_a_vertex_is_max_where_the_seat_at_the_root_moves() -> None:
    rules = make_game("tictactoe", {})
    searched = game_tree(rules, rules.start(Deal("x../.../...")), 2)
    shapes = {
        len(vertex.key.split()): vertex.shape
        for vertex in searched.picture.vertices
        if vertex.tone is Tone.PLAIN
    }
    assert shapes == {0: Shape.MAX, 1: Shape.MIN, 2: Shape.END}


def test_minimax_and_alphabeta_draw_the_same_value_and_best_line() -> None:
    rules = make_game("insertion", {"plies": 20, "colours": 3})
    position = rules.start(rules.deal(5))
    full, cut = game_tree(rules, position, 2, "minimax"), game_tree(rules, position, 2)
    assert full.value == cut.value == minimax(TwoSides(rules, 1), position, 2).value
    assert cut.built < full.built
    best = [[edge.text for edge in each.picture.edges if edge.line is Line.BEST] for each in (full, cut)]
    assert best[0] == best[1] != []


def test_moves_that_do_the_same_are_drawn_once() -> None:
    rules = make_game("insertion", {"start": "empty"})
    picture = game_tree(rules, rules.start(rules.deal(0)), 1).picture
    assert [edge.text for edge in picture.edges] == ["1", "7", "8", "9", "10"]


# ---- whole trees


def test_the_disc_game_to_13_as_the_seed_draws_it() -> None:
    picture = api.whole("disc", {"m": 13})
    assert picture.is_tree
    assert max(levels(picture).values()) == 9
    assert picture.vertices[0].tone is Tone.WON
    tones = {vertex.key: (vertex.text, vertex.tone, vertex.shape) for vertex in picture.vertices}
    assert tones["2 1 2 1 2 1 2"] == ("11/2/2", Tone.LOST, Shape.POSITION)  # the text's (11, 2)
    assert tones["2 1 2 1 2 1 2 1"] == ("12/1/1", Tone.WON, Shape.POSITION)
    assert tones["2 1 2 1 2 1 2 3"] == ("14/3/1", Tone.LOST, Shape.END)
    assert all((vertex.tone is Tone.DRAWN) is False for vertex in picture.vertices)
    heavy = {len(vertex.key.split()) % 2 for vertex in picture.vertices if vertex.heavy}
    assert heavy == {0}  # the seed: positions from which the first player moves are outlined thicker
    assert picture.caption[0] == "69 positions on 9 levels below the root"


def test_a_position_is_won_if_one_move_wins_and_lost_if_all_lose() -> None:
    picture = api.whole("disc", {"m": 20})
    tone = {vertex.key: vertex for vertex in picture.vertices}
    for key, edges in picture.below.items():
        if edges:
            after = [tone[edge.target].tone for edge in edges]
            mine = tone[key].heavy
            expected = (Tone.WON in after) if mine else (Tone.LOST not in after)
            assert (tone[key].tone is Tone.WON) == expected


def test_draws_are_marked_too() -> None:
    picture = api.whole("tictactoe", {}, state="xox/.o./oxx")
    tones = {vertex.key: vertex.tone for vertex in picture.vertices}
    assert tones == {
        "": Tone.DRAWN, "a2": Tone.WON, "c2": Tone.DRAWN, "a2 c2": Tone.WON, "c2 a2": Tone.DRAWN,
    }  # fmt: skip


# ---- AND/OR graphs


def test_the_graph_of_seven_coins_has_the_strategy_in_bold() -> None:
    picture = api.strategy("lastcoin", {}, seat=2, everything=True)
    bold = {(edge.source, edge.target) for edge in picture.edges if edge.line is Line.BEST}
    name = {vertex.key: vertex.text for vertex in picture.vertices}
    assert {(name[source], name[target]) for source, target in bold} == {
        ("7/1", "6/2"), ("7/1", "5/2"), ("6/2", "4/1"), ("5/2", "4/1"), ("4/1", "3/2"), ("4/1", "2/2"),
        ("3/2", "1/1"), ("2/2", "1/1"), ("1/1", "0/2"),
    }  # fmt: skip
    assert not picture.is_tree
    finals = [vertex.text for vertex in picture.vertices if vertex.shape is Shape.FINAL]
    assert finals == ["0/2"]
    assert len(picture.vertices) == 14


def test_a_strategy_that_does_not_exist_is_told_or_drawn_without() -> None:
    with pytest.raises(EngineError) as refused:
        api.strategy("lastcoin", {}, seat=1)
    assert str(refused.value) == "lastcoin: seat 1 cannot force a win from 7/1"
    picture = api.strategy("lastcoin", {}, seat=1, everything=True)
    assert picture.title == str(refused.value)
    assert picture.caption == ("14 problems; no solution",)
    assert not [edge for edge in picture.edges if edge.line is Line.BEST]


def test_the_tower_of_three_discs_is_the_seeds_figure_8() -> None:
    picture = api.hanoi(3)
    assert picture.title == "The tower of Hanoi, 3 discs, 7 moves"
    name = {vertex.key: vertex.text for vertex in picture.vertices}
    joined = {name[source]: [name[target] for target in targets] for source, targets in picture.arcs}
    assert joined["1, 2, 3: A→C"] == ["1, 2: A→B", "3: A→C", "1, 2: B→C"]
    assert len(joined) == 3
    assert picture.is_tree
    assert picture.caption == ("10 problems, 7 of them elementary",)
    assert [vertex.text for vertex in picture.vertices if vertex.shape is Shape.FINAL] == [
        "1: A→C", "2: A→B", "1: C→B", "3: A→C", "1: B→A", "2: B→C", "1: A→C"
    ]  # fmt: skip


@pytest.mark.parametrize("discs", [1, 2, 3, 4, 5])
def test_a_small_tower_is_drawn_move_by_move(discs: int) -> None:
    picture = api.hanoi(discs)
    text = [vertex.text for vertex in picture.vertices if vertex.shape is Shape.FINAL]
    pegs = ["A"] * discs
    for move in text:
        disc, source, target = int(move[0]), move[-3], move[-1]
        assert pegs[disc - 1] == source
        assert not {source, target} & set(pegs[: disc - 1])
        pegs[disc - 1] = target
    assert (pegs, len(text)) == (["C"] * discs, 2**discs - 1)
    places = layout(picture).places
    finals = [vertex.key for vertex in picture.vertices if vertex.shape is Shape.FINAL]
    assert [places[key][0] for key in finals] == sorted(places[key][0] for key in finals)


def test_a_large_tower_is_drawn_with_shared_problems() -> None:
    assert api.hanoi(6).caption == ("27 problems, 15 of them elementary",)


def test_one_of_a_thing_is_no_plural() -> None:
    assert api.hanoi(1).title == "The tower of Hanoi, 1 disc, 1 move"
    assert api.hanoi(1).caption == ("1 problem, 1 of them elementary",)
    assert api.whole("disc", {"m": 1}).caption[0] == "3 positions on 1 level below the root"


def test_an_integral_is_drawn_with_its_answer() -> None:
    picture, answer = api.integral("tan(x)^4")
    assert answer == "∫ tan(x)^4 dx = x + tan(x)^3/3 - tan(x) + C"
    assert picture.caption == ("8 problems, 3 of them elementary",)
    labels = {edge.text for edge in picture.edges} - {""}
    assert labels == {"z = tan(x)", "division", "sum", "constant factor -1", "z = tan(w)"}


# ---- places


PICTURES = {
    "example": lambda: api.example(),
    "disc": lambda: api.whole("disc", {"m": 13}),
    "coins": lambda: api.strategy("lastcoin", {}, seat=2, everything=True),
    "hanoi": lambda: api.hanoi(5),
    "tower": lambda: api.hanoi(8),
    "long ways": lambda: api.strategy("disc", {}, seat=1, everything=True),
    "integral": lambda: api.integral("x^2*sin(x)")[0],
    "insertion": lambda: api.tree("insertion", {}, depth=1),
}
EVERY_PICTURE = pytest.mark.parametrize("make", PICTURES.values(), ids=PICTURES.keys())


@EVERY_PICTURE
def test_vertices_of_a_layer_stand_apart_and_edges_lead_down(make) -> None:
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
    picture = api.whole("disc", {"m": 6})
    places = layout(picture).places
    for key, edges in picture.below.items():
        if edges:
            xs = [places[edge.target][0] for edge in edges]
            assert min(xs) <= places[key][0] <= max(xs)


def test_a_very_deep_tree_is_placed() -> None:
    vertices = tuple(Vertex(str(number), "v") for number in range(3000))
    chain = Picture("deep", vertices, tuple(Edge(str(number), str(number + 1)) for number in range(2999)))
    assert layout(chain).places["2999"][1] == 2999


# ---- SVG and text


@EVERY_PICTURE
def test_the_svg_is_well_formed_and_inside_its_frame(make) -> None:
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
def test_the_arc_of_an_and_stays_with_its_vertex(make) -> None:
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
    first = next(ET.fromstring(to_svg(api.example())).iter("{http://www.w3.org/2000/svg}rect"))
    assert first.attrib == {"width": "100%", "height": "100%", "fill": "#fff"}


def test_signs_of_markup_are_escaped() -> None:
    picture = Picture("a < b & c", (Vertex("r", "<b>", "&"),), ())
    root = ET.fromstring(to_svg(picture))
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["a < b & c", "<b>", "&"]


def test_the_seeds_example_as_text() -> None:
    assert (
        to_text(api.example())
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
    words = to_text(api.tree("tictactoe", {}, state="xo./.x./..o", depth=2)).split()
    assert {"*", "x"} <= set(words)
    assert not [word for word in words if word[-1] in "*x" and word[0] in "abc"]


def test_a_shared_vertex_is_written_out_once() -> None:
    text = to_text(api.strategy("lastcoin", {}, seat=2))
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


# ---- refusals


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (lambda: api.tree("insertion", {}, depth=0), "depth=0: expected at least 1"),
        (
            lambda: api.tree("insertion", {}, depth=5, method="minimax"),
            "more than 4000 vertices: ask for less depth",
        ),
        (
            lambda: api.tree("tictactoe", {}, state="xxx/oo./..."),
            "the game is over: there is no tree to draw",
        ),
        (lambda: api.whole("xo", {}), "has more than 4000 vertices: draw a search instead"),
        (lambda: api.whole("disc", {"mm": 3}), "disc has no option 'mm'; it has: m, seats"),
        (lambda: api.hanoi(0), "discs=0: expected 1..60"),
        (lambda: api.hanoi(61), "discs=61: expected 1..60"),
        (lambda: api.integral("exp(x^2)"), r"the rules here do not solve the integral of exp\(x\^2\)"),
        (lambda: api.integral("y"), "'y' is not known here"),
        (
            lambda: api.strategy("tictactoe", {"size": 4}, seat=1, goal="draw"),
            "tictactoe is too large from here: no strategy among 20000 positions",
        ),
        (
            lambda: api.strategy("disc", {}, seat=3),
            "seat=3: a strategy is drawn for seat 1 or 2 of a game for two",
        ),
        (
            lambda: api.strategy("tictactoe", {}, seat=1, goal="draw", everything=True),
            "more than 4000 vertices",
        ),
    ],
)
def test_what_cannot_be_drawn_is_one_clear_line(draw, text: str) -> None:
    with pytest.raises((EngineError, GameError), match=text) as refused:
        draw()
    assert "\n" not in str(refused.value)


def test_a_bad_position_is_the_games_error() -> None:
    with pytest.raises(GameError, match="a position of disc is SUM/TOP/SEAT"):
        api.whole("disc", {}, state="nonsense")
