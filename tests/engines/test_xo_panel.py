"""Who goes along with a plan: seats by belief, votes step by step; and what a game teaches for the next."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_engines.xo.foretold.experience import FORETOLD, RARITY, SAME, Experience
from arena_engines.xo.foretold.panel import DOUBT, SEATS, Panel, seated
from arena_engines.xo.foretold.suspects import RIGHT_BY_CHANCE, Suspect, Turn
from arena_engines.xo.foretold.watched import Step, Story

from .xo_minds import First, Last, Never, ticks

STORY = Story([44, 45], [54, 55], [46])
#: O is to move; First answers its marks with 0, 1, ...
PLAN = (Step(90, 0), Step(91, 1), Step(92, 2))


class Turning(First):
    """A mind that marks the first empty cell, and from so many marks on the last one."""

    def __init__(self, marks: int) -> None:
        self.marks = marks

    def reply(self, x: Sequence[int], o: Sequence[int], side: int, patience: int = 0) -> int | None:
        mind = First() if len(x) + len(o) < self.marks else Last()
        return mind.reply(x, o, side)


def suspects(*minds: First, weights: Sequence[float] = ()) -> list[Suspect]:
    """Suspects of these weights; they play X."""
    each = weights or [1.0] * len(minds)
    return [Suspect(mind, 0, weight) for mind, weight in zip(minds, each, strict=True)]


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=60))
def test_seats_are_given_in_proportion_to_belief(weights: list[float]) -> None:
    found = seated(suspects(*[First()] * len(weights), weights=weights))
    assert sum(found.values()) == SEATS
    for suspect, seats in found.items():
        assert abs(seats - SEATS * suspect.weight / sum(weights)) <= 1


def test_all_who_would_answer_so_go_along() -> None:
    every = suspects(First(), First())
    vote = Panel(every, STORY, ticks(99)).vote(PLAN, every[0], 0.75)
    assert (vote.share, vote.heard, vote.against) == (1.0, 3, None)


@pytest.mark.parametrize(("marks", "heard"), [(6, 1), (8, 2), (10, 3), (11, 3)])
def test_who_would_answer_otherwise_at_any_step_does_not(marks: int, heard: int) -> None:
    first, turning = suspects(First(), Turning(marks))
    vote = Panel([first, turning], STORY, ticks(99)).vote(PLAN, first, 0.75)
    assert vote.heard == heard
    assert vote.share == (1.0 if marks == 11 else 0.5)
    assert vote.against == (None if marks == 11 else turning)


def test_who_cannot_tell_is_believed_in_less_at_every_step() -> None:
    every = suspects(First(), Never())
    vote = Panel(every, STORY, ticks(99)).vote(PLAN, every[0], 0.75)
    assert (vote.share, vote.heard, vote.against) == (pytest.approx((1 + DOUBT**3) / 2), 3, None)


def test_the_one_whose_answers_a_plan_has_is_not_asked() -> None:
    every = suspects(Never())
    assert Panel(every, STORY, ticks(0)).vote(PLAN, every[0], 0.75) == (1.0, 3, None)


def test_against_a_plan_speaks_the_one_with_the_most_seats() -> None:
    every = suspects(First(), Last(), Last(), weights=[1, 1, 3])
    assert Panel(every, STORY, ticks(99)).vote(PLAN, every[0], 0.75).against == every[2]


def test_a_vote_that_is_not_finished_in_time_is_for_nobody() -> None:
    every = suspects(First(), First())
    assert Panel(every, STORY, ticks(1)).vote(PLAN, every[0], 0.75) == (0.0, 2, None)


def test_where_the_guide_alone_is_enough_nobody_else_is_asked() -> None:
    every = suspects(First(), Last(), weights=[3, 1])
    panel = Panel(every, STORY, ticks(0))
    assert panel.vote(PLAN, every[0], 0.75) == (0.75, 3, None)
    assert panel.vote(PLAN, every[0], 0.8) == (0.0, 1, None), "now others count, and there is no time"


# ---- what a game teaches


def known(experience: Experience, *places: int, hits: int = FORETOLD) -> list[Suspect]:
    """The suspects that are left of a game: those of these places."""
    left = [Suspect(experience.minds[at], 0, experience.weights[at]) for at in places]
    for suspect in left:
        suspect.hits = hits
    return left


def test_to_begin_with_the_first_mind_is_as_likely_as_all_others() -> None:
    assert Experience([First(), First(), First()]).weights == [0.5, 0.25, 0.25]
    assert Experience([First()]).weights == [1.0]


def test_one_of_the_reserve_is_less_likely_than_one_of_the_others() -> None:
    weights = Experience([First(), First()], [First(), First()]).weights
    assert weights[1] == RARITY * weights[2] == RARITY * weights[3]
    assert sum(weights) == pytest.approx(1)


def test_who_was_known_in_a_game_is_most_of_what_is_expected_of_the_next() -> None:
    experience = Experience([First(), First(), First(), First(), First()])
    first = experience.weights
    experience.learn(known(experience, 2, 3))
    assert experience.weights == pytest.approx(
        [(1 - SAME) * weight + SAME * share for weight, share in zip(first, (0, 0, 0.5, 0.5, 0), strict=True)]
    )
    experience.learn(known(experience, 3))
    assert experience.weights[3] == pytest.approx((1 - SAME) * first[3] + SAME)
    assert sum(experience.weights) == pytest.approx(1)


def test_who_has_told_less_in_a_game_is_less_expected_in_the_next() -> None:
    experience = Experience([First(), First(), Never()])
    left = known(experience, 1, 2)
    left[1].ask(Turn((44,), (55,), 0))
    experience.learn(left)
    others = experience.weights[1] - 0.25 * (1 - SAME), experience.weights[2] - 0.25 * (1 - SAME)
    assert others[1] == pytest.approx(RIGHT_BY_CHANCE * others[0])


@pytest.mark.parametrize("hits", [0, FORETOLD - 1])
def test_from_who_was_not_known_nothing_is_learnt(hits: int) -> None:
    experience = Experience([First(), First()])
    before = experience.weights
    experience.learn(known(experience, 0, hits=hits))
    experience.learn([])
    assert experience.weights == before
