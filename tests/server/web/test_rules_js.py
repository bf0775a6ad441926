"""The browser's rules against the golden games and against the rules of `arena_protocol`."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena_protocol.games import GAMES, make_game
from arena_protocol.games.base import Deal
from arena_protocol.games.insertion import rules
from arena_protocol.games.insertion.board import format_board, parse_board
from arena_server.web.scenes import IN_PAGES

from .node import Node, Refused

VECTORS = Path(__file__).resolve().parents[3] / "protocol" / "vectors" / "insertion.jsonl"
GOLDEN = [json.loads(line) for line in VECTORS.read_text().splitlines()]
OPTIONS: list[tuple[str, dict[str, str], int]] = [
    ("insertion", {"plies": "30", "colours": "6", "lookahead": "20"}, 2),
    ("insertion", {"plies": "25", "colours": "3", "lookahead": "5", "start": "partial"}, 3),
    ("insertion", {"plies": "25", "colours": "7", "lookahead": "5", "start": "empty"}, 4),
    ("insertion", {"plies": "9", "board": "...../...../...../...../12312"}, 2),
]
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("game", GOLDEN, ids=[f"seed-{game['seed']}" for game in GOLDEN])
def test_golden_games(node: Node, game: dict[str, Any]) -> None:
    board = game["board"]
    totals = [0, 0]
    for number, (move, colour, points, removed, fell, waves, after) in enumerate(game["plies"]):
        board, *found, phases = node("insertion", board=board, move=move, colour=colour)
        assert (board, found) == (after, [removed, fell, waves])
        assert len(phases) == 1 + 2 * waves
        assert phases[-1] == after
        totals[number % 2] += points
    assert totals == game["totals"]


@given(
    st.lists(st.text("1234567", max_size=5), min_size=5, max_size=5), st.integers(1, 15), st.integers(1, 7)
)
@relaxed
def test_a_ply_on_any_board(node: Node, columns: list[str], move: int, colour: int) -> None:
    rows = ["".join(column.ljust(5, ".")[y] for column in columns) for y in reversed(range(5))]
    board = "/".join(rows)
    planes = parse_board(board)
    assert node("runs", board=board) == rules.count(rules.runs(*planes))
    p0, p1, p2, removed, fell, waves = rules.play(*planes, move, colour)
    found = node("insertion", board=board, move=move, colour=colour)
    assert found[:4] == [format_board((p0, p1, p2)), removed, fell, waves]


@given(st.binary(max_size=200))
@relaxed
def test_sha256(node: Node, data: bytes) -> None:
    assert node("sha256", data=data.hex()) == sha256(data).hexdigest()


def test_the_games_with_rules_in_the_browser_are_those_that_get_no_scenes(node: Node) -> None:
    assert set(node("rules")) == IN_PAGES == {game for game, _, _ in OPTIONS}
    assert set(GAMES) > IN_PAGES


@pytest.mark.parametrize(("game", "options", "seats"), OPTIONS)
@given(seed=st.integers(0, 2**128), chance=st.randoms(use_true_random=False))
@settings(relaxed, max_examples=15)
def test_whole_games(
    node: Node, game: str, options: dict[str, str], seats: int, seed: int, chance: Random
) -> None:
    plugin = make_game(game, {**options, "seats": seats})
    deal = plugin.deal(seed)
    assert node("deal", game=game, options=options, seats=seats, seed=str(seed)) == {
        "board": deal.board,
        "sequence": deal.sequence,
    }
    position = plugin.start(deal)
    expected: list[list[object]] = []
    moves: list[str] = []

    def show() -> list[object]:
        return [
            plugin.state_text(position),
            plugin.to_move(position),
            list(plugin.legal_moves(position)),
            list(plugin.totals(position)),
            plugin.end(position),
        ]

    expected.append(show())
    while plugin.end(position) is None:
        moves.append(chance.choice(plugin.legal_moves(position)))
        step = plugin.play(position, moves[-1])
        position = step.position
        expected.append([*show(), step.points])
    start = {"board": deal.board, "sequence": deal.sequence}
    assert node("play", game=game, options=options, seats=seats, deal=start, moves=moves) == expected


@pytest.mark.parametrize(
    ("game", "options", "deal", "moves", "line"),
    [
        ("xo", {}, ("", ""), [], "no rules for the game xo here"),
        (
            "insertion",
            {"plies": "0"},
            ("", ""),
            [],
            "insertion: plies is a whole number from 1 to 60000, not 0",
        ),
        (
            "insertion",
            {"plies": "x"},
            ("", ""),
            [],
            "insertion: plies is a whole number from 1 to 60000, not x",
        ),
        (
            "insertion",
            {"start": "odd"},
            ("", ""),
            [],
            "insertion: start is one of full, partial, empty, not odd",
        ),
        (
            "insertion",
            {"start": "full", "board": "x"},
            ("", ""),
            [],
            "insertion: give either start or board, not both",
        ),
        ("insertion", {}, ("x", ""), [], "a board is five rows of five cells joined by '/', not x"),
        (
            "insertion",
            {},
            ("1..../...../...../...../.....", ""),
            [],
            "a picture hangs over an empty cell in column 1",
        ),
        (
            "insertion",
            {},
            ("...../...../...../...../8....", ""),
            [],
            "a cell is '.' or a colour from 1 to 6, not 8",
        ),
        (
            "insertion",
            {},
            ("...../...../...../...../111..", ""),
            [],
            "a start board has no run of three or more of one colour: ...../...../...../...../111..",
        ),
        (
            "insertion",
            {"plies": "1"},
            ("E", "12"),
            [],
            "a game of 1 plies has no more pictures, and here are 2",
        ),
        ("insertion", {}, ("E", "9"), [], "a picture is a colour from 1 to 6, not 9"),
        ("insertion", {}, ("E", "1"), ["0"], "a move of insertion is a number from 1 to 15, not 0"),
        ("insertion", {}, ("E", "1"), ["1", "1"], "the picture of ply 2 is not known"),
        ("insertion", {"plies": "1"}, ("E", "1"), ["1", "1"], "the game is over: all 1 plies are played"),
    ],
)
def test_refusals(
    node: Node, game: str, options: dict[str, str], deal: tuple[str, str], moves: list[str], line: str
) -> None:
    board = "...../...../...../...../....." if deal[0] == "E" else deal[0]
    start = {"board": board, "sequence": deal[1]}
    with pytest.raises(Refused) as caught:
        node("play", game=game, options=options, seats=2, deal=start, moves=moves)
    assert str(caught.value) == line


def test_rules_are_the_same_for_a_deal_that_is_only_partly_known(node: Node) -> None:
    """A spectator knows the pictures in sight only."""
    deal = Deal("...../...../...../...../.....", "123")
    found = node(
        "play",
        game="insertion",
        options={},
        seats=2,
        deal={"board": deal.board, "sequence": deal.sequence},
        moves=["1", "8"],
    )
    assert [state for state, *_ in found][-1] == "...../...../...../...../1.2.."
