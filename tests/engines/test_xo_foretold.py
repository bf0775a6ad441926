"""Opponents that are foretold: what is planned against them, and that nobody else is trusted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import pytest

from arena_engines.xo.foretold import foresight as foresight_module
from arena_engines.xo.foretold.foresight import (
    AGREED,
    AGREED_LATE,
    ASKING,
    ASKING_LONG,
    KNOWN,
    PLANNING,
    PLANS,
    TRUSTED,
    Advice,
    Foresight,
    Plan,
)
from arena_engines.xo.foretold.minds import Mind1970
from arena_engines.xo.foretold.planner import Planner
from arena_engines.xo.foretold.suspects import PATIENCE
from arena_engines.xo.foretold.watched import Step, Story
from arena_engines.xo.minimax import THRESHOLDS
from arena_engines.xo.modern.engine import chosen
from arena_engines.xo.modern.player import Limits, Thinker
from arena_engines.xo.swift.player import Swift1970

from .xo_minds import SIZE, First, Fours, Last, Never, Turncoat, game, ticks
from .xo_slow import five


@pytest.fixture(scope="module")
def thinker() -> Thinker:
    return Thinker(SIZE)


def follow(mind: Mind1970, start: tuple[list[int], list[int]], side: int, steps: Sequence[Step]) -> None:
    """Make the moves of a plan, checking every answer."""
    for cell, answer in steps:
        assert cell not in {*start[0], *start[1]}
        start[side].append(cell)
        assert mind.reply(*start, 1 - side, 99_999) == answer
        start[1 - side].append(answer)


@pytest.mark.parametrize(("x", "o"), [([44, 55], [45]), ([44], []), ([44, 54, 46], [45, 35])])
def test_a_plan_leads_to_a_win_by_threats_if_all_goes_as_foretold(
    thinker: Thinker, x: list[int], o: list[int]
) -> None:
    mind = Mind1970(SIZE, THRESHOLDS)
    start = ([*x, 33], [*o, 66])
    side = len(x) - len(o)
    steps = next(Planner(thinker, mind, side, ticks(20_000)).plans(*start))
    follow(mind, start, side, steps)
    thinker.set_up(*start)
    assert thinker.win_by_fours(side) or thinker.win_by_threats(side)


def test_without_time_nothing_is_planned(thinker: Thinker) -> None:
    assert not list(Planner(thinker, First(), 0, ticks(0)).plans([44, 45], [54, 55]))


def test_every_plan_is_another_one_and_none_begins_as_one_that_was_refused(thinker: Thinker) -> None:
    planner = Planner(thinker, First(), 0, ticks(3000))
    plans = planner.plans([44, 55], [54, 7])
    first = next(plans)
    planner.refuse(first[:1])
    others = [next(plans) for _ in range(5)]
    assert all(steps[:1] != first[:1] for steps in others)
    assert len({first, *others}) == 6


def test_where_nothing_is_left_to_try_time_is_not_waited_for(thinker: Thinker) -> None:
    planner = Planner(thinker, Never(), 0, ticks(10**9))
    assert not list(planner.plans([44, 55], [54, 7]))


def test_no_step_lets_the_mind_make_five(thinker: Thinker) -> None:
    x, o = [11, 77, 18, 4], [90, 91, 92, 93]
    steps = next(Planner(thinker, Fours(), 0, ticks(5000)).plans(x, o))
    assert steps[0].cell == 94


def test_on_a_board_that_is_nearly_full_there_is_no_plan(thinker: Thinker) -> None:
    order = [cell for cell in range(SIZE * SIZE) if (cell // 10 + cell % 10 // 2) % 2]
    order += [cell for cell in range(SIZE * SIZE) if cell not in order]
    x, o = order[:50][:49], order[50:][:49]
    assert not list(Planner(thinker, First(), 0, ticks(5000)).plans(x, o))


def test_nobody_is_known_by_one_move() -> None:
    foresight = Foresight(SIZE, [First(), Turncoat()])
    quiet = [99, 96, 93, 69, 66, 63]
    for moves in range(1, KNOWN + 1):
        story = game(First(), quiet[:moves], [44], [17])
        assert (foresight.advice(story, ticks(5000)) is None) == (moves < KNOWN)


def test_who_was_known_before_is_planned_against_from_the_first_move() -> None:
    foresight = Foresight(SIZE, [First(), Turncoat()])
    start = game(First(), [99], [44], [17])
    assert foresight.advice(start, ticks(5000)) is None
    assert foresight.advice(game(First(), [98, 96, 93, 90], [44], [17]), ticks(5000)) is not None
    foresight.advice(game(First(), [97], [44], [17]), ticks(0))
    foresight._games.clear()
    assert foresight.advice(start, ticks(5000)) is not None


def test_as_a_game_was_won_it_is_won_again_without_a_plan() -> None:
    foresight, start = Foresight(SIZE, [Last(), First()]), ([44, 45], [17, 28])
    won = game(First(), [99, 54, 63], *start)
    foresight.advice(won, ticks(99))
    for own, advice in (([99, 54], Advice(63, safe=True)), ([98, 54], None)):
        foresight._games.clear()
        assert foresight.advice(game(First(), own, *start), ticks(8)) == advice


def test_as_a_game_was_won_against_a_stranger_it_is_won_again() -> None:
    foresight, start = Foresight(SIZE, [Last(), Never()]), ([44, 45], [17, 28])
    foresight.advice(game(First(), [99, 54, 63], *start), ticks(99))
    for own, advice in (([99, 54], Advice(63, safe=True)), ([98, 54], None)):
        foresight._games.clear()
        assert foresight.advice(game(First(), own, *start), ticks(8)) == advice


def test_on_the_empty_board_there_is_no_plan_but_what_has_won() -> None:
    foresight = Foresight(SIZE, [First()])
    assert foresight.advice(Story([], [], []), ticks(9999)) is None
    won = game(First(), [44, 99, 45, 54, 63], [], [])
    foresight.advice(won, ticks(99))
    assert foresight.advice(Story([], [], []), ticks(9999)) == Advice(44, safe=True)


def test_who_moves_otherwise_is_not_planned_against() -> None:
    foresight = Foresight(SIZE, [Last()])
    assert foresight.advice(game(First(), [99, 96, 93], [44], [17]), ticks(5000)) is None


def test_a_plan_is_kept_to_while_all_goes_as_foretold(thinker: Thinker) -> None:
    foresight = Foresight(SIZE, [First()])
    story = game(First(), [99, 96, 93], [44], [17])
    advice = foresight.advice(story, ticks(5000))
    assert advice is not None
    first = advice.cell
    moves = [*story.moves, first, First().reply([*story.marks()[0], first], story.marks()[1], 1)]
    no_time_to_plan = ticks(2)
    second = foresight.advice(Story(story.x, story.o, moves), no_time_to_plan)
    thinker.set_up(*Story(story.x, story.o, moves).marks())
    assert second is not None or thinker.win_by_threats(0)


def test_against_one_who_leaves_the_plan_nothing_of_it_is_played() -> None:
    foresight = Foresight(SIZE, [First()])
    story = game(First(), [99, 96, 93], [44], [17])
    advice = foresight.advice(story, ticks(5000))
    assert advice is not None
    left = Story(story.x, story.o, [*story.moves, advice.cell, 50])
    assert foresight.advice(left, ticks(5000)) is None


def test_a_plan_that_was_not_followed_is_dropped() -> None:
    foresight = Foresight(SIZE, [First()])
    story = game(First(), [99, 96, 93], [44], [17])
    assert foresight.advice(story, ticks(5000)) is not None
    elsewhere = game(First(), [99, 96, 93, 90], [44], [17])
    assert foresight.advice(elsewhere, ticks(2)) is None, "there was no time for another plan"
    assert foresight.advice(elsewhere, ticks(5000)) is not None


def test_while_those_who_may_be_the_opponent_do_not_agree_no_plan_is_safe() -> None:
    foresight = Foresight(SIZE, [First(), Turncoat()])
    own = [99, 96, 93]
    doubtful = foresight.advice(game(Turncoat(), own, [44], [17]), ticks(5000))
    assert doubtful is not None
    assert not doubtful.safe
    decided = game(Turncoat(), [*own, 90], [44], [17])
    advice = foresight.advice(decided, ticks(5000))
    assert advice is not None
    assert advice.cell not in {*decided.marks()[0], *decided.marks()[1]}


def test_who_was_known_in_the_game_before_is_believed_in_sooner() -> None:
    foresight = Foresight(SIZE, [Last(), Turncoat(), First()])
    for own in ([99, 96, 93, 90], [98, 96, 93]):
        advice = foresight.advice(game(First(), own, [44], [17]), ticks(5000))
    assert advice is not None
    assert advice.safe, "Turncoat, who was no less likely at first, has been wrong in the first game"
    fresh = Foresight(SIZE, [Last(), Turncoat(), First()])
    doubtful = fresh.advice(game(First(), [98, 96, 93], [44], [17]), ticks(5000))
    assert doubtful is not None
    assert not doubtful.safe


def test_two_games_at_a_time_are_watched_apart() -> None:
    foresight = Foresight(SIZE, [First()])
    here, there = (game(First(), own, [44], [17]) for own in ([99, 96, 93], [98, 96, 92]))
    assert foresight.advice(here, ticks(5000)) is not None
    assert foresight.advice(there, ticks(5000)) is not None
    assert len(foresight._games) == 2
    assert foresight.advice(here, ticks(5000)) is not None
    assert len(foresight._games) == 2


#: O has an open three on row 7, which First does not use; X has none, and plans without answering it.
THREE = ([44, 41, 81], [62, 63, 64])


@pytest.mark.parametrize(("own", "safe"), [([99, 96], False), ([99, 96, 93, 90, 87, 84, 21][:TRUSTED], True)])
def test_what_could_be_punished_is_safe_only_against_who_is_trusted(own: list[int], safe: bool) -> None:
    story, foresight = game(First(), own, *THREE), Foresight(SIZE, [First()])
    watched = foresight._game(story)
    watched.suspects.watch(story.moves, ticks(99))
    plan = Plan((Step(66, 9),), 1.0)
    assert foresight._advise(watched, story, plan) == Advice(66, safe)


def test_plans_that_were_voted_down_are_not_put_again_and_then_another_mind_is_planned_against() -> None:
    foresight = Foresight(SIZE, [First(), Turncoat()])
    story = game(Turncoat(), [99, 96, 93], [44], [17])
    watched = foresight._game(story)
    watched.suspects.watch(story.moves, ticks(99))
    plans = list(islice(foresight._plans(watched, story, ticks(9000)), PLANS + 1))
    steps = [plan.steps[0] for plan in plans]
    assert len(set(steps[:PLANS])) == PLANS
    x, o = story.marks()
    assert steps[0].answer == First().reply([*x, steps[0].cell], o, 1)
    assert steps[PLANS].answer == Last().reply([*x, steps[PLANS].cell], o, 1)


@pytest.mark.parametrize(("marks", "enough"), [(34, AGREED), (35, AGREED_LATE)])
def test_on_a_board_that_fills_fewer_need_to_agree(marks: int, enough: float) -> None:
    story = Story(range(17), range(17, 34), range(34, marks))
    assert Foresight(SIZE, [First()])._enough(story) == enough
    assert AGREED_LATE < AGREED


class Patient(Never):
    """A mind that never can tell, and counts how often it was asked."""

    asked = 0

    def reply(self, x: Sequence[int], o: Sequence[int], side: int, patience: int = 0) -> int | None:
        self.asked += 1
        return None


def test_where_there_is_nothing_to_plan_the_minds_are_asked_on() -> None:
    mind = Patient()
    shares: list[float] = []

    def in_time(part: float) -> bool:
        shares.append(part)
        return part > ASKING or len(shares) < 4

    assert Foresight(SIZE, [mind, mind]).advice(game(First(), [99], [44], [17]), in_time) is None
    assert mind.asked == 2 * len(PATIENCE)
    assert set(shares) == {ASKING, PLANNING}


@pytest.mark.parametrize(("doubtful", "longer"), [(0.4, False), (0.6, True)])
def test_while_nobody_is_likely_the_minds_are_asked_for_longer(
    monkeypatch: pytest.MonkeyPatch, doubtful: float, longer: bool
) -> None:
    monkeypatch.setattr(foresight_module, "DOUBTFUL", doubtful)
    shares: set[float] = set()

    def in_time(part: float) -> bool:
        shares.add(part)
        return part > ASKING

    foresight = Foresight(SIZE, [First(), First()])
    foresight.advice(game(First(), [99], [44], [17]), lambda part: True)
    foresight.advice(game(First(), [99, 96], [44], [17]), in_time)
    assert (ASKING_LONG in shares) == longer


@pytest.mark.parametrize("seat", [0, 1])
def test_the_program_of_1970_is_beaten_from_the_empty_board(thinker: Thinker, seat: int) -> None:
    rival, foresight = Swift1970(SIZE), Foresight(SIZE)
    moves = [44, 55]
    while not five(SIZE, frozenset(moves[::2])) and not five(SIZE, frozenset(moves[1::2])):
        marks = (moves[::2], moves[1::2])
        side = len(moves) % 2
        if side == seat:
            thinker.set_up(*marks)
            thought = thinker.think(side, Limits(nodes=5000))
            cell = chosen(thought, foresight.advice(Story([], [], moves), ticks(40_000)))
        else:
            cell = rival.reply(*marks, side)
        moves.append(cell)
    assert (len(moves) - 1) % 2 == seat
