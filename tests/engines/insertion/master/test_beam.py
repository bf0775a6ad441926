"""Beams: wider is no worse, and one that drops nothing is exact."""

from __future__ import annotations

import pytest

from arena_engines.insertion.baselines import Dummy
from arena_engines.insertion.champion import Champion
from arena_engines.insertion.master.opponent import (
    GameTracker,
)
from arena_engines.insertion.master.planner import (
    SearchRequest,
)
from arena_engines.insertion.master.workspace import OWN_MODEL, PLAN, Workspace

from .games import followed, positions

Planning = tuple[SearchRequest, Workspace]


@pytest.fixture(scope="module")
def request_and_work() -> Planning:
    work = Workspace(14)
    tracker = GameTracker((work,), 5)
    tracker.follow(positions(Champion({"depth": 3}))[9], lambda: False)
    return SearchRequest(tracker.planes, tracker.ply, tracker.known), work


def test_a_wider_plan_has_no_lower_value(request_and_work: Planning) -> None:
    request, work = request_and_work
    work.start()
    values = []
    for width in (1, 8, 64):
        work.beam(request.planes, OWN_MODEL, request.ply, width=width, plies=10, reply_depth=3, leaf=0)
        values.append(work.value)
    assert values[0] <= values[1] <= values[2]
    assert values[0] < values[2]


def test_a_beam_that_drops_nothing_finds_the_best_of_all_plans() -> None:
    """Against a zombie, three own moves: a wide beam equals an exact search with the zombie's one move."""
    tracker = followed(positions(Dummy())[:12])
    work = tracker._works[0]
    work.start()
    work.beam(tracker.planes, OWN_MODEL, tracker.ply, width=4096, plies=5, reply_depth=1, leaf=0)
    planned = work.value
    work.deepen(tracker.planes, PLAN, tracker.ply, range(5, 6))
    assert planned == work.value
