"""Groups followed by a knockout: who comes into which group, who goes on, and what the table says."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_server.core.facts import Drawn, Walkover
from arena_server.core.formats.base import Pairing
from arena_server.core.formats.groupstage import GroupStage, snake
from arena_server.stats.results import PastGame
from arena_server.terms.formats import FormatError, Terms

from .drawn import Field
from .test_rounds import bots


def terms(count: int, games: int = 2, **options: int) -> Terms:
    return Terms(bots(count), 2, games, options=options, secret=3)


def played(form: GroupStage, wins: dict[frozenset[str], str | None]) -> None:
    """Give the groups of `form` their results; None: each wins one game of a pairing."""
    for game in list(form.planned(1, form.next_number)):
        form.started(game)
        winner = wins[frozenset(game.names)]
        first = game.names[0] == winner or (winner is None)
        form.result(PastGame(game.number, game.names, game.deal, (first, not first), "win", 1))


def test_the_groups_are_a_snake() -> None:
    assert snake(terms(10, groups=3)) == (
        ("b0", "b5", "b6"),
        ("b1", "b4", "b7"),
        ("b2", "b3", "b8", "b9"),
    )
    assert [len(group) for group in snake(terms(11))] == [5, 6]


def test_bots_of_one_owner_come_into_different_groups() -> None:
    owners = {"b0": "x", "b3": "x", "b1": "y", "b2": "y"}
    groups = snake(Terms(bots(8), 2, 2, options={"groups": 2}, owners=owners))
    assert [sorted(owners.get(name, name) for name in group) for group in groups] == [
        ["b4", "b7", "x", "y"],
        ["b5", "b6", "x", "y"],
    ]


def test_who_goes_on_and_who_meets_whom() -> None:
    """b0 wins its group; b1, b2 and b3 beat each other in a circle: the better seed goes on."""
    form = GroupStage(terms(8, groups=2))
    form.drawn(Drawn(1, 1, 2, (("b0", "b1", "b2", "b3"), ("b4", "b5", "b6", "b7"))))
    wins: dict[frozenset[str], str | None] = {
        frozenset(pair): max(pair) for pair in combinations(("b4", "b5", "b6", "b7"), 2)
    }
    wins |= {frozenset(("b0", other)): "b0" for other in ("b1", "b2", "b3")}
    wins |= {frozenset(("b1", "b2")): "b1", frozenset(("b2", "b3")): "b2", frozenset(("b3", "b1")): "b3"}
    played(form, wins)
    first, second = form.rounds()
    assert (first.title, first.kind, first.ranking) == ("group 1", "group", ("b0", "b1", "b2", "b3"))
    assert second.ranking == ("b7", "b6", "b5", "b4")
    assert form.seeds() == ["b0", "b7", "b6", "b1"]
    draw = form.draw_due(())
    assert draw is not None
    # The two of a group can meet in the final alone.
    assert draw.run() == Drawn(2, 25, 2, (("b0", "b6"), ("b7", "b1")))
    form.drawn(draw.run())
    assert [each.title for each in form.rounds()] == ["group 1", "group 2", "semi-finals", "final"]
    third = Fraction(1, 3)
    assert form.scores() == dict.fromkeys(("b0", "b1", "b6", "b7"), 1) | {
        "b2": third,
        "b3": third,
        "b4": 0,
        "b5": third,
    }


def test_ties_are_broken_by_each_other_then_games_then_points_then_seeds() -> None:
    form = GroupStage(terms(4, groups=1))
    form.drawn(Drawn(1, 1, 2, (bots(4),)))
    tied = dict.fromkeys(map(frozenset, combinations(bots(4), 2)), None)
    wins: dict[frozenset[str], str | None] = {**tied, frozenset(("b0", "b3")): "b3"}
    wins |= {frozenset(("b1", "b3")): "b1", frozenset(("b0", "b1")): "b0"}
    played(form, wins)
    # b0, b1 and b3 have won against each other once; b2 has tied all, and has as many points and games.
    (group,) = form.rounds()
    assert group.ranking == ("b0", "b1", "b2", "b3")


@pytest.mark.parametrize(("by_points", "first"), [(True, "b1"), (False, "b0")])
def test_points_separate_only_where_the_contest_is_scored_by_points(by_points: bool, first: str) -> None:
    """b0 and b1 tie, and beat b2, b1 by more points."""
    form = GroupStage(Terms(bots(3), 2, 2, options={"groups": 1}, by_points=by_points))
    form.drawn(Drawn(1, 1, 2, (bots(3),)))
    for game in list(form.planned(1, 7)):
        form.started(game)
        points = {"b0": 1, "b1": 9, "b2": 0} if "b2" in game.names else {"b0": 1, "b1": 1}
        form.result(
            PastGame(game.number, game.names, game.deal, tuple(points[name] for name in game.names), "win", 1)
        )
    assert form.rounds()[0].ranking[0] == first


def test_one_that_vanishes_loses_only_what_it_has_not_played() -> None:
    field = Field(GroupStage, terms(4, 2, groups=1), Random(5), lambda names, _: (int(names[0] == "b3"), 0))
    for name in bots(4):
        field.enter(name)
    field.next_round()
    form = field.form
    games = [game for game in form.planned(1, 99) if set(game.names) == {"b3", "b0"}]
    for game in games:
        form.started(game)
        form.result(PastGame(game.number, game.names, 1, tuple(int(n == "b3") for n in game.names), "win", 1))
    field.leave("b3", for_good=True)
    field.start()
    while field.running:
        field.end()
        field.start()
    walkovers = [fact for fact in field.facts if isinstance(fact, Walkover)]
    assert walkovers[0] == Walkover(1, ("b3",), 6)
    states = {frozenset(match.names): match.state for match in form.rounds()[0].matches}
    assert states[frozenset(("b0", "b3"))] == "over"
    assert states[frozenset(("b1", "b3"))] == states[frozenset(("b2", "b3"))] == "walkover"
    assert form.exhausted({"b3"})


@settings(deadline=None)
@given(st.integers(3, 20), st.data(), st.integers(0, 1 << 32))
def test_a_whole_contest(count: int, data: st.DataObject, seed: int) -> None:
    groups = data.draw(st.integers(1, count // 3))
    advance = data.draw(st.integers(1 if groups > 1 else 2, count // groups - 1))
    field = Field(
        GroupStage, terms(count, data.draw(st.integers(1, 3)), groups=groups, advance=advance), Random(seed)
    )
    field.finish()
    form = field.form
    assert isinstance(form, GroupStage)
    assert sorted(name for group in form.groups for name in group) == sorted(bots(count))
    sizes = {len(group) for group in form.groups}
    assert max(sizes) - min(sizes) <= 1
    for group in form.groups:
        for pair in combinations(group, 2):
            both = [game for game in field.begun if set(game.names) == set(pair)]
            assert len(both) >= field.terms.games
    stages = form.rounds()
    entered = {name for match in stages[groups].matches for name in match.names if name is not None}
    assert entered == {name for each in stages[:groups] for name in each.ranking[:advance]}
    if groups & (groups - 1) == 0 and advance == 2 and groups > 1:
        group_of = {name: number for number, group in enumerate(form.groups) for name in group}
        first: list[tuple[str | None, ...]] = [match.names for match in stages[groups].matches]
        assert all(group_of[a or ""] != group_of[b or ""] for a, b in first)
    scores = form.scores()
    (champion,) = (match.winner for match in stages[-1].matches)
    assert [name for name in scores if scores[name] == max(scores.values())] == [champion]
    assert form.total == len(field.results)


def test_what_no_groups_can_be_made_of() -> None:
    for wrong, text in (
        (terms(2), 'bot: expected at least 3 for "groups", got 2'),
        (
            terms(8, groups=3),
            "contest.groups: expected at most 2 for 8 bots, so that each group has 3, got 3",
        ),
        (
            terms(8, advance=4),
            "contest.advance: expected at most 3 of a group of 4, so that one is out, got 4",
        ),
        (
            terms(4, advance=1),
            "contest.advance: expected at least 2 of a single group, so that there is a final",
        ),
    ):
        with pytest.raises(FormatError) as caught:
            GroupStage(wrong)
        assert str(caught.value) == text


def test_before_the_groups_are_drawn() -> None:
    form = GroupStage(terms(8))
    assert form.total == 12 * 2 + 3 * 2
    assert form.rounds() == []
    assert set(form.scores().values()) == {0}
    assert list(form.planned(1, 9)) == []
    form.drawn(Drawn(1, 1, 2, snake(form.terms)))
    assert next(iter(form.planned(1, 9))) == Pairing(1, ("b0", "b7"), 1)
