"""Pictures of searches, games and reductions: their vertices, values and edges."""

from __future__ import annotations

import re
from fractions import Fraction
from operator import mul

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_engines.engine import EngineError
from arena_engines.search.adapters import TwoSides, WithChance
from arena_engines.search.expectiminimax import expectiminimax
from arena_engines.search.minimax import Node, minimax
from arena_museum import explain
from arena_museum.explain.picture import Segment, Shape, Tone, layout, levels
from arena_museum.explain.trees import SeedExample, game_tree, search_picture, seed_example
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal


def test_the_seeds_example_takes_11_vertices_and_6_evaluations_instead_of_17_and_10() -> None:
    full, cut = seed_example("minimax"), seed_example("alphabeta")
    assert (full.built, full.evaluated) == (17, 10)
    assert (cut.built, cut.evaluated) == (11, 6)
    assert full.value == cut.value == 3


def test_the_seeds_example_is_cut_where_its_text_says() -> None:
    picture = seed_example().picture
    cut = {edge.target for edge in picture.edges if edge.line is Segment.CUT}
    assert cut == {"W1 W3 e", "W4 W6", "W4 W7"}
    notes = {vertex.text: vertex.note for vertex in picture.vertices if vertex.text.startswith("W")}
    assert notes == {"W0": "3", "W1": "3", "W2": "3", "W3": "≥4", "W4": "≤3", "W5": "3"}
    best = [edge.target for edge in picture.edges if edge.line is Segment.BEST]
    assert best == ["W1", "W1 W2", "W1 W2 b"]


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

    def note(node: Node) -> None:
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
        bound = re.fullmatch(r"(≥|≤|)(-?\d+)", vertex.note.split("..")[0])
        assert bound is not None
        sign, number = bound.groups()
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
    best = [[edge.text for edge in each.picture.edges if edge.line is Segment.BEST] for each in (full, cut)]
    assert best[0] == best[1] != []


def test_moves_that_do_the_same_are_drawn_once() -> None:
    rules = make_game("insertion", {"start": "empty"})
    picture = game_tree(rules, rules.start(rules.deal(0)), 1).picture
    assert [edge.text for edge in picture.edges] == ["1", "7", "8", "9", "10"]


def test_the_disc_game_to_13_as_the_seed_draws_it() -> None:
    picture = explain.whole("disc", {"m": 13})
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
    picture = explain.whole("disc", {"m": 20})
    tone = {vertex.key: vertex for vertex in picture.vertices}
    for key, edges in picture.below.items():
        if edges:
            after = [tone[edge.target].tone for edge in edges]
            mine = tone[key].heavy
            expected = (Tone.WON in after) if mine else (Tone.LOST not in after)
            assert (tone[key].tone is Tone.WON) == expected


def test_draws_are_marked_too() -> None:
    picture = explain.whole("tictactoe", {}, state="xox/.o./oxx")
    tones = {vertex.key: vertex.tone for vertex in picture.vertices}
    assert tones == {
        "": Tone.DRAWN, "a2": Tone.WON, "c2": Tone.DRAWN, "a2 c2": Tone.WON, "c2 a2": Tone.DRAWN,
    }  # fmt: skip


def test_the_graph_of_seven_coins_has_the_strategy_in_bold() -> None:
    picture = explain.strategy("lastcoin", {}, seat=2, everything=True)
    bold = {(edge.source, edge.target) for edge in picture.edges if edge.line is Segment.BEST}
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
        explain.strategy("lastcoin", {}, seat=1)
    assert str(refused.value) == "lastcoin: seat 1 cannot force a win from 7/1"
    picture = explain.strategy("lastcoin", {}, seat=1, everything=True)
    assert picture.title == str(refused.value)
    assert picture.caption == ("14 problems; no solution",)
    assert not [edge for edge in picture.edges if edge.line is Segment.BEST]


def test_the_tower_of_three_discs_is_the_seeds_figure_8() -> None:
    picture = explain.hanoi(3)
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
    picture = explain.hanoi(discs)
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
    assert explain.hanoi(6).caption == ("27 problems, 15 of them elementary",)


def test_one_of_a_thing_is_no_plural() -> None:
    assert explain.hanoi(1).title == "The tower of Hanoi, 1 disc, 1 move"
    assert explain.hanoi(1).caption == ("1 problem, 1 of them elementary",)
    assert explain.whole("disc", {"m": 1}).caption[0] == "3 positions on 1 level below the root"


def test_an_integral_is_drawn_with_its_answer() -> None:
    picture, answer = explain.integral("tan(x)^4")
    assert answer == "∫ tan(x)^4 dx = x + tan(x)^3/3 - tan(x) + C"
    assert picture.caption == ("8 problems, 3 of them elementary",)
    labels = {edge.text for edge in picture.edges} - {""}
    assert labels == {"z = tan(x)", "division", "sum", "constant factor -1", "z = tan(w)"}


# ---- max^n and chance


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.strip("()").split(", "))


@pytest.mark.parametrize("seats", [2, 3])
def test_in_max_n_every_vertex_has_the_vector_of_the_child_best_for_its_seat(seats: int) -> None:
    options = {"seats": seats, "colours": 3, "start": "partial"}
    picture = explain.tree("insertion", options, seed=4, depth=2, method="maxn")
    vertices = {vertex.key: vertex for vertex in picture.vertices}
    for key, edges in picture.below.items():
        if not edges:
            continue
        seat = int(vertices[key].text.removeprefix("seat ")) - 1
        below = [numbers(vertices[edge.target].note or vertices[edge.target].text) for edge in edges]
        best = max(below, key=lambda each: each[seat])
        assert numbers(vertices[key].note) == best
        assert len(best) == seats
    root = vertices[picture.root]
    best_line = [edge for edge in picture.edges if edge.line is Segment.BEST]
    assert len(best_line) == 2
    assert vertices[best_line[-1].target].text == root.note


def test_a_chance_vertex_is_the_weighted_mean_of_its_outcomes() -> None:
    options = {"colours": 4, "lookahead": 1, "start": "partial"}
    rules = make_game("insertion", options)
    state = rules.deal(3).board
    picture = explain.tree("insertion", options, state=state, sequence="2", depth=2, method="expectiminimax")
    vertices = {vertex.key: vertex for vertex in picture.vertices}
    shapes = set()
    for key, edges in picture.below.items():
        values = [Fraction(vertices[edge.target].note or vertices[edge.target].text) for edge in edges]
        shape = vertices[key].shape
        shapes.add(shape)
        if shape is Shape.CHANCE:
            chances = [Fraction(edge.text.split(": ")[1]) for edge in edges]
            assert sum(chances) == 1
            assert Fraction(vertices[key].note) == sum(map(mul, chances, values))
        elif edges:
            assert Fraction(vertices[key].note) == (max if shape is Shape.MAX else min)(values)
            (best,) = [edge for edge in edges if edge.line is Segment.BEST]
            first = next(
                edge
                for edge, value in zip(edges, values, strict=True)
                if value == Fraction(vertices[key].note)
            )
            assert best == first
    assert shapes >= {Shape.CHANCE, Shape.MAX, Shape.MIN}
    tree = WithChance(rules, 1)
    found = expectiminimax(tree, rules.start(Deal(state, "2")), 2)
    assert vertices[picture.root].note == str(found.value)


def test_without_hidden_pictures_expectiminimax_draws_minimax() -> None:
    options: dict[str, object] = {"coins": 4}
    chance = explain.tree("lastcoin", options, depth=6, method="expectiminimax")
    plain = explain.tree("lastcoin", options, depth=6, method="minimax")
    assert {v.key: v.note or v.text for v in chance.vertices} == {
        v.key: v.note or v.text for v in plain.vertices
    }
