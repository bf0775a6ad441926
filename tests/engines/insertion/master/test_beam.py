"""Beams: wider is no worse, and one that drops nothing is exact."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_engines.insertion.baselines import Dummy
from arena_engines.insertion.champion import Champion
from arena_engines.insertion.master.beam import CERTAIN, member
from arena_engines.insertion.master.layout import INFINITY
from arena_engines.insertion.master.search import ALL, FIRST
from arena_engines.insertion.master.tracker import PLAN_WEIGHTS
from arena_engines.insertion.master.workspace import (
    HALF_MODEL,
    OWN_MODEL,
    PLAN,
    POINTS_MODEL,
    depths_to,
)
from arena_protocol.games.insertion.board import Planes
from arena_protocol.games.insertion.rules import distinct_moves, play

from .games import Planning, followed, positions


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


def children(planes: Planes, picture: int) -> dict[int, tuple[Planes, int, int]]:
    """Board, cells removed and pictures pushed off, by distinct move."""
    distinct = distinct_moves(*planes)
    found = {}
    for move in range(1, 16):
        if distinct >> move & 1:
            p0, p1, p2, removed, fell, _ = play(*planes, move, picture)
            found[move] = (p0, p1, p2), removed, fell
    return found


@pytest.mark.parametrize("confidence", [CERTAIN, 700, 512, 1])
def test_a_plan_weighs_the_predicted_reply_and_the_worst_one(confidence: int) -> None:
    """Two plies, by hand: the own gain, less the predicted reply by the confidence, the worst by the rest."""
    position = positions(Champion({"depth": 3}))[14]
    tracker = followed([position])
    work = tracker._works[0]
    work.start()
    mine, theirs = (int(colour) for colour in position.state.visible[:2])
    work.beam(
        tracker.planes,
        OWN_MODEL,
        tracker.ply,
        width=64,
        plies=2,
        reply_depth=1,
        leaf=0,
        confidence=confidence,
    )
    values = work.first_values
    for move, (planes, removed, fell) in children(tracker.planes, mine).items():
        replies = {
            reply: -(cells * PLAN_WEIGHTS.theirs + fallen * PLAN_WEIGHTS.fell)
            for reply, (_, cells, fallen) in children(planes, theirs).items()
        }
        predicted = work.deepen(planes, OWN_MODEL, tracker.ply + 1, depths_to(1), FIRST)
        gain = removed * PLAN_WEIGHTS.mine + fell * PLAN_WEIGHTS.fell
        worst = (CERTAIN - confidence) * max(replies.values()) >> 10
        value = gain - (confidence * replies[predicted] >> 10) - worst
        # Of two moves that lead to one board the better stays.
        assert values[move] == value or (values[move] == -INFINITY and value <= max(values))
    assert sum(value > -INFINITY for value in values) > 1


@pytest.mark.parametrize("view", [POINTS_MODEL, HALF_MODEL])
@pytest.mark.parametrize("confidence", [CERTAIN, 700])
def test_a_plan_counts_a_set_of_equal_replies_at_its_mean(view: int, confidence: int) -> None:
    """Two plies, by hand: of equal boards one counts, and every first move keeps a value of its own."""
    position = positions(Champion({"depth": 3}))[14]
    tracker = followed([position])
    work = tracker._works[0]
    work.start()
    mine, theirs = (int(colour) for colour in position.state.visible[:2])
    size = {"width": 64, "plies": 2, "reply_depth": 1, "leaf": 0}
    work.beam(tracker.planes, view, tracker.ply, **size, reply_order=ALL, confidence=confidence)
    values = work.first_values
    sizes = set()
    for move, (planes, removed, fell) in children(tracker.planes, mine).items():
        replies = children(planes, theirs)
        costs = {
            reply: -(cells * PLAN_WEIGHTS.theirs + fallen * PLAN_WEIGHTS.fell)
            for reply, (_, cells, fallen) in replies.items()
        }
        work.deepen(planes, view, tracker.ply + 1, depths_to(1), ALL)
        best = [reply for reply in replies if work.ties >> reply & 1]
        members = list({replies[reply][0]: reply for reply in best}.values())
        mean = sum(costs[reply] for reply in members) // len(members)
        gain = removed * PLAN_WEIGHTS.mine + fell * PLAN_WEIGHTS.fell
        worst = (CERTAIN - confidence) * max(costs.values()) >> 10
        assert values[move] == gain - (confidence * mean >> 10) - worst
        sizes.add(len(members))
    assert len(sizes) > 1


def test_each_draw_continues_with_other_replies_of_the_sets(request_and_work: Planning) -> None:
    request, work = request_and_work
    work.start()
    values = []
    for draw in (1, 2, 3, 1):
        work.draw_replies(draw)
        size = {"width": 4, "plies": 8, "reply_depth": 2, "leaf": 0}
        work.beam(request.planes, POINTS_MODEL, request.ply, **size, reply_order=ALL)
        values.append(work.first_values)
    assert values[0] == values[3]
    assert values[0] != values[1] or values[0] != values[2]


@given(st.sets(st.integers(1, 15), min_size=1), st.integers(0, 1 << 25))
def test_every_number_names_a_member(moves: set[int], number: int) -> None:
    bits = sum(1 << move for move in moves)
    assert member(bits, number) == sorted(moves)[number % len(moves)]


def test_later_gains_count_less_the_less_certain_the_replies_are(request_and_work: Planning) -> None:
    request, work = request_and_work
    values = []
    for confidence in (256, 512, CERTAIN):
        work.start()
        size = {"width": 16, "plies": 9, "reply_depth": 3, "leaf": 0}
        work.beam(request.planes, OWN_MODEL, request.ply, **size, confidence=confidence)
        values.append(work.value)
    assert values == sorted(values)
