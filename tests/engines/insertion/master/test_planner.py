"""Searches within a time: plans, the worst case, samples, threads, pondering."""

from __future__ import annotations

from arena_engines.insertion.master.opponent import (
    OpponentModel,
)
from arena_engines.insertion.master.planner import (
    IMPOSSIBLE,
    NOTHING,
    SET_LEAF,
    Ponder,
    ThreadPool,
    plan,
    sampled,
    shallow,
    widen,
    worst_case,
)
from arena_engines.insertion.master.search import ALL
from arena_engines.insertion.master.workspace import OWN_MODEL, POINTS_MODEL, Workspace
from arena_protocol.games.insertion.rules import distinct_moves

from .games import Planning

LONG = 600.0


def test_plans_the_worst_case_and_shallow_searches_give_distinct_moves(
    request_and_work: Planning,
) -> None:
    request, work = request_and_work
    distinct = distinct_moves(*request.planes)
    for move in (
        plan(work, request, OpponentModel(OWN_MODEL, 3), 0.05).move,
        worst_case(work, request, 0.02),
        shallow(work, request),
    ):
        assert distinct >> move & 1


def test_a_stopped_search_returns_nothing_and_the_next_one_runs(
    request_and_work: Planning,
) -> None:
    request, work = request_and_work
    work.start()
    work.stop()
    assert widen(work, request, OpponentModel(OWN_MODEL, 5), LONG) == NOTHING
    assert plan(work, request, OpponentModel(OWN_MODEL, 2), 0.05).move


def test_sampling_sums_over_draws_and_marks_what_is_no_move(
    request_and_work: Planning,
) -> None:
    request, work = request_and_work
    drawn: list[int] = []
    short = request._replace(known=3)
    sums = sampled(work, short, OpponentModel(OWN_MODEL, 2), 0.05, drawn.append, 3)
    distinct = distinct_moves(*request.planes)
    assert [move for move in range(16) if sums[move] > IMPOSSIBLE] == [
        move for move in range(16) if distinct >> move & 1
    ]
    assert len(drawn) > 1
    assert set(drawn) == {3}
    work.stop()


def test_sets_of_equal_replies_are_drawn_again_for_every_sample(request_and_work: Planning) -> None:
    request, work = request_and_work
    drawn: list[int] = []

    def draw(ahead: int) -> None:
        drawn.append(ahead)
        work.draw_replies(len(drawn))

    sums = sampled(work, request, OpponentModel(POINTS_MODEL, 2, ALL), 0.05, draw, 0)
    distinct = distinct_moves(*request.planes)
    assert [move for move in range(16) if sums[move] > IMPOSSIBLE] == [
        move for move in range(16) if distinct >> move & 1
    ]
    assert len(drawn) > 2
    assert set(drawn) == {0}


def test_behind_a_set_of_replies_no_further_one_is_drawn(request_and_work: Planning) -> None:
    """A plan that knows which members are drawn later chooses its moves by them."""
    request, work = request_and_work

    def one_sample(known: int) -> list[int]:
        numbers = iter((work.draw_replies, lambda _: work.stop()))
        return sampled(
            work,
            request._replace(known=known),
            OpponentModel(POINTS_MODEL, 2, ALL),
            LONG,
            lambda _: next(numbers)(1),
            0,
        )

    assert one_sample(20) == one_sample(2 + SET_LEAF) != one_sample(1 + SET_LEAF)


def test_threads_work_at_once_and_answers_in_order() -> None:
    works = (Workspace(8), Workspace(8))
    assert ThreadPool(works).each(lambda number, work: (number, work is works[number])) == [
        (0, True),
        (1, True),
    ]


def test_pondering_leaves_the_workspace_free(request_and_work: Planning) -> None:
    request, work = request_and_work
    ponder = Ponder(work)
    ponder.stop()
    ponder.start(request, OpponentModel(OWN_MODEL, 3), 1)
    ponder.stop()
    assert worst_case(work, request, 0.01)
