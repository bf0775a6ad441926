"""Which games of a contest are worth a look: each kind by its definition, and a slow search as the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_protocol.games import make_game
from arena_protocol.games.base import Deal
from arena_server.stats.highlights import MOST, Highlight, Highlights, Ply, SeenGame, played_waves, waves_of

DAY = 86_400
RANKS = ("a", "b", "c", "d")
RATINGS = {"a": 1700.0, "b": 1600.0, "c": 1400.0}


def played(
    number: int,
    names: tuple[str, ...] = ("a", "b"),
    scored: Sequence[tuple[int, ...]] = ((10, 0),),
    **more: Any,
) -> SeenGame:
    """A game whose totals after each ply are `scored`."""
    plies, before = [], (0,) * len(names)
    for i, total in enumerate(scored):
        plies.append(Ply(i % len(names) + 1, "6", sum(total) - sum(before), total))
        before = total
    given: dict[str, Any] = {
        "totals": before,
        "end": "complete",
        "at": number,
        "faults": (),
        "plies": plies,
    } | more
    return SeenGame(f"g{number}", names, **given)


def found(*games: SeenGame, kind: str, waves: Sequence[Sequence[int]] = ()) -> list[Highlight]:
    highlights = Highlights()
    for place, game in enumerate(games):
        highlights.add(game, waves[place] if waves else ())
    return [each for each in highlights.best(RATINGS, RANKS) if each.kind == kind]


def test_an_upset_is_a_win_against_a_higher_rating() -> None:
    games = [
        played(1, ("a", "c"), [(0, 10)]),
        played(2, ("b", "a"), [(10, 0)]),
        played(3, ("c", "a"), [(30, 0)]),  # the two have had one
        played(4, ("a", "b"), [(10, 0)]),
        played(5, ("b", "a"), [(5, 5)]),
        played(6, ("d", "a"), [(10, 0)]),  # not rated
    ]
    assert [(each.game, each.seat, each.value, each.ply) for each in found(*games, kind="upset")] == [
        ("g1", 2, 300, 1),
        ("g2", 1, 100, 1),
    ]


@pytest.mark.parametrize(
    "change", [{"faults": [(1, 1, "timeout")]}, {"ruled": True}, {"end": "void"}, {"plies": ()}]
)
def test_a_game_that_was_not_won_by_playing_is_no_upset(change: dict[str, Any]) -> None:
    game = played(1, ("c", "a"), [(0, 50), (60, 50)], **change)
    for kind in ("upset", "swing", "day"):
        assert not found(game, kind=kind)


def test_a_comeback_is_from_the_ply_furthest_behind() -> None:
    game = played(1, scored=[(0, 40), (10, 40), (10, 90), (20, 90), (100, 90)])
    ahead = played(2, scored=[(10, 0), (10, 5)])
    draw = played(3, scored=[(0, 50), (50, 50)])
    (swing,) = found(game, ahead, draw, kind="swing")
    assert (swing.game, swing.seat, swing.ply, swing.value) == ("g1", 1, 3, 80)


def test_the_longest_cascades() -> None:
    scored = [(30, 0), (30, 90), (90, 90)]
    games = [played(number, scored=scored) for number in range(1, 6)]
    waves = [[1, 3, 3], [0, 2, 2], [4, 0, 1], [3, 1, 0], [3, 0, 0]]
    assert [
        (each.game, each.ply, each.seat, each.value) for each in found(*games, kind="cascade", waves=waves)
    ] == [
        ("g3", 1, 1, 4),
        ("g1", 2, 2, 3),  # more points than at ply 3
        ("g4", 1, 1, 3),
    ]


def test_the_first_fault_is_the_earliest_also_if_its_record_comes_later() -> None:
    games = [
        played(5, faults=[(0, 1, "void")]),
        played(4, faults=[(1, 3, "timeout"), (2, 5, "illegal")]),
        played(2, faults=[(2, 7, "quit")]),
        played(3, faults=[(1, 1, "flood")]),
    ]
    (fault,) = found(*games, kind="fault")
    assert (fault.game, fault.seat, fault.ply, fault.text) == ("g2", 2, 7, "quit")


def test_the_game_of_a_day_is_of_the_upper_half() -> None:
    changing = [(10, 0), (10, 20), (30, 20)]
    games = [
        played(1, ("c", "d"), [*changing, (30, 40)], at=10),
        played(2, ("a", "b"), changing, at=20),
        played(3, ("a", "b"), [(10, 0), (10, 20), (30, 29)], at=30),  # as many changes, closer
        played(4, ("a", "b"), [(10, 0), (20, 0)], at=40),
        played(5, ("b", "a"), [(10, 0), (10, 20)], at=DAY),
    ]
    assert [(each.game, each.text, each.value) for each in found(*games, kind="day")] == [
        ("g5", "1970-01-02", 1),
        ("g3", "1970-01-01", 2),
    ]


def test_the_best_of_each_kind_come_first() -> None:
    highlights = Highlights()
    behind = [played(number, scored=[(0, 10 * number), (999, 10 * number)]) for number in range(1, 6)]
    for game in [*behind, played(9, ("c", "a"), [(1, 0)]), played(10, faults=[(1, 1, "quit")])]:
        highlights.add(game, [])
    assert [each.kind for each in highlights.best(RATINGS, RANKS)] == [
        *("upset", "swing", "day", "fault"),
        *("swing", "swing"),
    ]
    assert highlights.games == 7
    assert Highlights().best(RATINGS, RANKS) == []


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6), max_size=12)
)
def test_no_winner_was_further_behind(games: list[list[tuple[int, int]]]) -> None:
    """The oracle: of all games and plies the ones with the largest deficits of winners."""
    known = found(*(played(number, scored=scored) for number, scored in enumerate(games, 1)), kind="swing")
    deficits = []
    for scored in games:
        (first, second) = scored[-1]
        if first != second:
            winner = 0 if first > second else 1
            deficits.append(max(total[1 - winner] - total[winner] for total in scored))
    assert [each.value for each in known] == sorted((d for d in deficits if d > 0), reverse=True)[:MOST]


def test_waves_are_those_of_the_rules() -> None:
    game = make_game("insertion", {"plies": 4})
    plies = [Ply(1, move, 0, (0, 0)) for move in ("6", "6", "99", "6")]
    deal = game.deal(1)
    assert waves_of(game, deal, plies) == [0, 0], "up to an impossible ply"
    xo = make_game("xo", {})
    assert waves_of(xo, xo.deal(1), plies) == []
    record = {"options": {}, "names": ("a", "b"), "board": "not a board", "sequence": ""}
    assert played_waves({"game": "insertion", **record}, plies) == []
    assert played_waves({"game": "insertion", **record, "options": {"plies": "0"}}, plies) == []
    full = {
        "game": "insertion",
        **record,
        "options": {"plies": "4"},
        "board": deal.board,
        "sequence": deal.sequence,
    }
    assert played_waves(full, plies[:2]) == [0, 0]
    assert isinstance(deal, Deal)
