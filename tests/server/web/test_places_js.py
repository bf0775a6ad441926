"""What a visitor looks for: games on the wall, parts of a page, notices of a contest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .node import Node

FEW = 4
IDS = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(IDS, IDS, IDS, st.one_of(st.none(), st.integers(1, 4)))
def test_a_game_keeps_its_place_until_another_one_begins(
    node: Node, before: list[str], running: list[str], over: list[str], most: int | None
) -> None:
    before, over = before[:most], [game for game in over if game not in running]
    places = node("arranged", before=before, running=running, over=over, most=most)
    known = {*before, *running, *over}
    assert len(places) == len(set(places))
    assert set(places) <= known
    assert set(places) <= set(running) or set(running) <= set(places), "those that run come first"
    for place, game in enumerate(before):
        if game in running or set(running) <= set(before):
            assert places[place] == game, "no other game has begun"
    # It grows with the games that run, not with each that has ended.
    full = min(most or FEW, FEW)
    grown = min(most or len(known), max(len(before), full, len(running)))
    assert len(places) <= grown
    assert len(places) >= min(len(known), full)


@given(IDS, IDS)
def test_rows_that_are_there_keep_their_places(node: Node, before: list[str], after: list[str]) -> None:
    placed, put = node("placedIn", before=before, after=after)
    assert placed == after
    assert put <= len(after)
    # A new result on top, and the oldest one gone.
    assert node("placedIn", before=before, after=["new", *before[:-1]])[1] == 1
    assert node("placedIn", before=before, after=before) == [before, 0]


def test_who_begins_takes_the_place_of_the_first_game_that_is_over(node: Node) -> None:
    places = node("arranged", before=["g9", "g12", "g10", "g8"], running=["g9", "g8", "g13"], over=["g12"])
    assert places == ["g9", "g12", "g13", "g8"]


def test_few_games_that_are_over_stay_where_they_are(node: Node) -> None:
    places: list[str] = []
    for number in range(1, 8):
        over = [f"g{before}" for before in range(1, number)]
        places = node("arranged", before=places, running=[f"g{number}"], over=over[::-1])
        assert (
            places[: min(number, FEW)] == [f"g{each}" for each in range(1, number + 1)][:FEW] or number > FEW
        )
    assert places == ["g5", "g6", "g7", "g4"]


@pytest.mark.parametrize(
    ("text", "starred", "wanted"),
    [
        ("", False, True),
        ("ANN", False, True),
        ("bo an", False, True),
        ("cy", False, False),
        ("ann cy", False, False),
        ("", True, True),
        ("ann", True, True),
    ],
)
def test_the_games_that_are_looked_for(node: Node, text: str, starred: bool, wanted: bool) -> None:
    assert node("wanted", names=["ann", "Bob"], text=text, stars=["Bob"], starred=starred) == wanted


def test_without_a_star_no_game_is_one_of_those(node: Node) -> None:
    assert node("wanted", names=["ann", "bob"], text="", stars=["cy"], starred=True) is False


@pytest.mark.parametrize(
    ("running", "all_contests", "boards"),
    [(1, 1, "Infinity"), (1, 10, "8"), (2, 2, "1"), (3, 10, "1"), (0, 10, "8")],
)
def test_the_boards_of_a_card_of_the_first_page(
    node: Node, running: int, all_contests: int, boards: str
) -> None:
    assert node("boards", running=running, all=all_contests) == boards


@pytest.mark.parametrize(
    ("bots", "games", "played", "most"),
    [(2, 1, 0, 1), (3, 12, 0, 4), (10, 90, 0, 5), (33, 99, 0, 16), (33, 99, 96, 3), (10, None, 0, 5)],
)
def test_the_boards_that_a_wall_keeps_places_for(
    node: Node, bots: int, games: int | None, played: int, most: int
) -> None:
    contest = {"bots": [f"bot{number}" for number in range(bots)], "games": games, "games_played": played}
    assert node("most", contest=contest) == most


@pytest.mark.parametrize(
    ("address", "part"),
    [("", None), ("#", None), ("#all", None), ("#games", "games"), ("#stats", None), ("#Games", None)],
)
def test_an_address_names_a_part_of_a_page_or_all(node: Node, address: str, part: str | None) -> None:
    assert node("part", hash=address, names=["standings", "games"]) == part


ROW = ["g1", [0, 1], [30, 10], "complete", 9, 0, [], []]
ROUND = {"title": "round 1", "matches": [{"state": "over"}, {"state": "bye"}]}


@pytest.mark.parametrize(
    ("before", "now", "stars", "lines"),
    [
        ({}, {}, ["ann"], []),
        ({}, {"rows": [ROW]}, ["bob"], ["g1: ann wins 30 : 10"]),
        ({}, {"rows": [ROW]}, ["cy"], []),
        ({"rows": [ROW]}, {"rows": [ROW]}, ["ann"], []),
        ({}, {"rounds": [ROUND]}, [], ["round 1 is over"]),
        ({"rounds": [ROUND]}, {"rounds": [ROUND]}, [], []),
        ({}, {"rounds": [{"title": "round 1", "matches": [{"state": "open"}]}]}, [], []),
        ({}, {"status": "finished"}, [], ["The contest is finished"]),
        ({"status": "finished"}, {"status": "finished"}, [], []),
        (
            {},
            {"rows": [[f"g{n}", *ROW[1:]] for n in range(9)]},
            ["ann"],
            [f"g{n}: ann wins 30 : 10" for n in (6, 7, 8)],
        ),
    ],
)
def test_the_news_of_a_contest(
    node: Node, before: dict[str, Any], now: dict[str, Any], stars: list[str], lines: list[str]
) -> None:
    def state(
        status: str = "running", rows: Sequence[Any] = (), rounds: Sequence[Any] = ()
    ) -> dict[str, Any]:
        contest = {"status": status, "bots": ["ann", "bob", "cy"], "decided": False}
        return {"contest": contest, "rows": list(rows), "rounds": list(rounds)}

    assert node("news", before=state(**before), now=state(**now), stars=stars) == lines
