"""What the page of a contest computes of its games: ranges of points and time, and the pace in words."""

from __future__ import annotations

from statistics import quantiles

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.core.formats.player_cards import ABSENT, RESULTS, RoundResult
from arena_server.web.previews import contest_preview

from .node import Node

COUNTS = st.integers(-1_000_000, 1_000_000)


@given(st.lists(COUNTS, min_size=2, max_size=50))
def test_the_quartiles_are_those_of_python(node: Node, values: list[int]) -> None:
    values.sort()
    found = node("quantiles", values=values, shares=[0, 0.25, 0.5, 0.75, 1])
    assert found == [values[0], *quantiles(values, n=4, method="inclusive"), values[-1]]


def test_one_game_is_its_own_quartiles(node: Node) -> None:
    assert node("quantiles", values=[7], shares=[0, 0.25, 1]) == [7, 7, 7]


def test_times_by_bot_without_void_games_and_those_that_are_not_known(node: Node) -> None:
    rows = [
        ["g1", [0, 1], [1, 2], "complete", 9, 0, [], [30, 500]],
        ["g2", [1, 0], [0, 0], "void", 9, 0, [], [9, 9]],
        ["g3", [2, 0], [3, 3], "complete", 9, 0, [], []],
        ["g4", [1, 0], [3, 3], "complete", 9, 0, [], [7, 4]],
    ]
    assert node("values", contest={"bots": ["a", "b", "c"]}, rows=rows) == [[4, 30], [7, 500], []]


@pytest.mark.parametrize(
    ("totals", "end", "score"),
    [
        ([2, 0], "win", [1, 0]),
        ([1, 1], "draw", [0.5, 0.5]),
        ([0, 2], "forfeit", [0, 1]),
        ([2, 0], "void", [0, 0]),
    ],
)
def test_a_game_that_is_only_won_or_lost_gives_no_points(
    node: Node, totals: list[int], end: str, score: list[float]
) -> None:
    row = ["g1", [0, 1], totals, end, 9, 0, [], []]
    assert node("scores", contest={"bots": ["a", "b"], "decided": True}, row=row) == score
    assert node("scores", contest={"bots": ["a", "b"], "decided": False}, row=row) == totals


@pytest.mark.parametrize(
    ("pace", "text"),
    [
        (None, ""),
        ({"games_per_hour": 1.2, "left_s": None}, "; 1 game an hour"),
        ({"games_per_hour": 1240.4, "left_s": 119}, "; 1,240 games an hour, about 119 s left"),
        ({"games_per_hour": 1240.4, "left_s": 120}, "; 1,240 games an hour, about 2 minutes left"),
        ({"games_per_hour": 2.0, "left_s": 9000}, "; 2 games an hour, about 3 hours left"),
        ({"games_per_hour": 2.0, "left_s": 864_000}, "; 2 games an hour, about 10 days left"),
    ],
)
def test_the_pace_in_words(node: Node, pace: object, text: str) -> None:
    assert node("pace", pace=pace) == text


@pytest.mark.parametrize(
    ("scoring", "games", "numbers"),
    [
        ("points", [2, 2, 0], ["620.0", "255.5", "0.0"]),
        ("points", [2, 2, 2], ["1,240", "511", "0"]),
        ("wins", [4, 2, 2], ["0.5", "0.5", "0.0"]),
    ],
)
def test_a_list_has_the_number_by_which_it_is_ranked(
    node: Node, scoring: str, games: list[int], numbers: list[str]
) -> None:
    rows = [
        {"games": count, "points": points, "wins": wins}
        for count, points, wins in zip(games, (1240, 511, 0), (2, 1, 0), strict=True)
    ]
    assert node("ranking", scoring=scoring, rows=rows) == numbers
    assert node("ranking", scoring=scoring, rows=[row | {"score": 7} for row in rows]) == ["7"] * 3


def test_every_field_of_a_card_has_a_sign_of_its_own_in_the_standings(node: Node) -> None:
    signs = {
        RoundResult.WON: "+12",
        RoundResult.LOST: "-12",
        RoundResult.TIED: "=12",
        RoundResult.OPEN: "▸12",
        RoundResult.WON_UNPLAYED: "(+12)",
        RoundResult.LOST_UNPLAYED: "(-12)",
    }
    fields = [f"12{colour}{RESULTS[each]}" for each in RoundResult for colour in "wb"]
    wanted = [signs[each] for each in RoundResult for _ in "wb"]
    found = node("rounds", fields=[*fields, "bye", ABSENT])
    assert [sign for sign, _ in found] == [*wanted, "(+)", "·"]
    assert len({sentence for _, sentence in found}) == len(signs) + 2


@pytest.mark.parametrize(
    ("states", "share", "sums", "sign", "words"),
    [
        (["over", "over"], 0.75, [1.5, 0.5], "+", "ann against bob: 1.5 : 0.5 in 2 games"),
        (["over", "running"], 0.0, [0, 1], "-", "ann against bob: 0 : 1 in 1 game, 1 running"),
        (["over", "planned"], None, [0, 0], "=", "ann against bob: 0 : 0 in 1 game, 1 planned"),
        (["running", "planned"], None, [0, 0], "▸", "ann against bob: 1 running, 1 planned"),
        (["planned"], None, [0, 0], "", "ann against bob: 1 planned"),
        (["void"], None, [0, 0], "", "ann against bob: no game"),
    ],
)
def test_a_pair_as_a_sign_and_in_words(
    node: Node, states: list[str], share: float | None, sums: list[float], sign: str, words: str
) -> None:
    rows = [
        {"state": "over", "end": "void"} if state == "void" else {"state": state, "end": "complete"}
        for state in states
    ]
    assert node("pair", names=["ann", "bob"], rows=rows, share=share, sums=sums) == [sign, words]


@pytest.mark.parametrize(("status", "played"), [("aborted", 3), ("finished", 9)])
def test_no_game_is_planned_where_none_will_be_played(node: Node, status: str, played: int) -> None:
    contest = {"id": 1, "status": status, "games": 9, "games_played": played}
    assert node("schedule", contest=contest | {"schedule": {"games": 9, "chunk": 5}}) == []


@pytest.mark.parametrize(
    ("kind", "width", "height", "scale", "unsure"),
    [
        ("touch", 23, 40, 1, True),
        ("touch", 40, 23, 1, True),
        ("touch", 24, 24, 1, False),
        ("touch", 12, 12, 2, False),
        ("mouse", 5, 5, 1, False),
        ("", 5, 5, 1, False),
    ],
)
def test_a_finger_is_unsure_of_a_small_cell(
    node: Node, kind: str, width: int, height: int, scale: int, *, unsure: bool
) -> None:
    assert node("unsure", type=kind, width=width, height=height, scale=scale) is unsure


@pytest.mark.parametrize(
    ("ranks", "status", "leader"),
    [
        ([], "running", ""),
        ([1, 2], "running", "b1 leads with 7 points in 2 games"),
        ([1, 1], "running", ""),
        ([1, 1], "finished", "b1, b2 are first with 7 points in 2 games"),
        ([1, 1, 1, 1, 5], "running", "b1, b2, b3 and 1 more lead with 7 points in 2 games"),
        ([1, 1, None], "running", "b1, b2 lead with 7 points in 2 games"),
    ],
)
def test_a_head_names_three_leaders_and_counts_the_others(
    node: Node, ranks: list[int], status: str, leader: str
) -> None:
    standings = [
        {"bot": f"b{place}", "rank": rank, "points": 7, "games": 2, "wins": 1, "mean": 3.5, "faults": {}}
        for place, rank in enumerate(ranks, start=1)
    ]
    found = {"standings": standings, "status": status, "scoring": "points"}
    assert node("leader", contest=found) == leader
    document = found | {"id": 1, "name": "cup", "game": "xo", "format": "knockout", "games": 9}
    shown = leader.partition(" with")[0]
    preview = contest_preview(document | {"games_played": 2})
    assert preview.description == f"xo, knockout, {status}: 2 of 9 games{'; ' if leader else ''}{shown}"
    for none in ({"points": 0}, {"score": 0}):  # nothing yet: a bot that has not played may be below them
        level = {**document, "games_played": 2, "standings": [row | none for row in standings]}
        names = leader if status == "finished" else ""
        assert bool(node("leader", contest=level)) == bool(names)
        assert contest_preview(level).description.endswith(" games") != bool(names)


@pytest.mark.parametrize(
    ("games", "known", "asked", "newest"),
    [
        (0, 0, [], []),
        (3, 0, [0], []),
        (13, 0, [3, 2, 1, 0], ["g13"]),
        (13, 5, [3, 2, 1], ["g13"]),
        (8, 6, [1], []),
    ],
)
def test_the_newest_games_come_first_and_full_chunks_once(
    node: Node, games: int, known: int, asked: list[int], newest: list[str]
) -> None:
    found = node("loadGames", games=games, chunk=4, known=known)
    # The others are asked for once the newest have been drawn.
    assert found.pop("early") == len(newest)
    assert found == {
        "asked": asked,
        "newest": newest,
        "rows": [[f"g{place + 1}", place] for place in range(games)],
    }
