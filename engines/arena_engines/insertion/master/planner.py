"""Use a stretch of time: wider and wider beams, or a deeper and deeper guard.

It must not know: the game so far, how much time there is and why.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import NamedTuple

from arena_engines.insertion.master.layout import INFINITY, WIDTH
from arena_engines.insertion.master.minds import Mind
from arena_engines.insertion.master.workspace import GUARD, Workspace
from arena_protocol.games.insertion.board import Planes

FIRST_WIDTH = 2
#: Plans narrower than this look so many plies ahead at most: what little time there is tells more there.
BROAD = 16
SHORT = 10
#: The plies that an exact search looks on from the end of a plan.
LEAF = 2
#: A guard needs no more: it never gets there in time on boards with any choice.
DEEPEST = 20
#: Plans behind drawn pictures are narrow: many draws tell more than wide plans for few.
GAMBLING_WIDTH = 8
#: A search of so many plies takes less than a millisecond.
HASTY = 4
#: The next beam is begun only if it can be this much wider.
LEAST_GROWTH = 1.3
GROWTH = 4.0


class Quest(NamedTuple):
    """What is asked: the best move on this board at this ply of the plans, `known` pictures ahead."""

    planes: Planes
    ply: int
    known: int


class Verdict(NamedTuple):
    """A move, and what the plan that begins with it comes to; the more plies it looked at, the better."""

    plies: int
    value: int
    move: int


#: No verdict: less than any.
NOTHING = Verdict(0, -INFINITY, 0)
IMPOSSIBLE = -INFINITY


@contextmanager
def alarm(work: Workspace, seconds: float) -> Iterator[None]:
    """Stop the searches of the block when the time is over."""
    work.clear()
    timer = threading.Timer(seconds, work.stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def guard(work: Workspace, quest: Quest, seconds: float) -> int:
    """Return the best move against the worst reply, found by deepening for so long."""
    with alarm(work, seconds):
        return work.decide(quest.planes, GUARD, quest.ply, range(1, min(quest.known, DEEPEST) + 1))


def hasty(work: Workspace, quest: Quest) -> int:
    """Return the best move against the worst reply at a depth that takes no time."""
    work.clear()
    return work.decide(quest.planes, GUARD, quest.ply, range(1, min(quest.known, HASTY) + 1))


def plan(work: Workspace, quest: Quest, mind: Mind, seconds: float) -> Verdict:
    """Return the best plan against a mind that was found in time; NOTHING if not even a narrow one was."""
    with alarm(work, seconds):
        return widen(work, quest, mind, seconds)


def widen(work: Workspace, quest: Quest, mind: Mind, seconds: float) -> Verdict:
    """Plan wider and wider until stopped, or until the rest of the time is too short for a wider beam.

    Each beam costs about as much as its width; the last is as wide as the rest of the time allows.
    """
    began = perf_counter()
    best = NOTHING
    width = float(FIRST_WIDTH)
    while True:
        start = perf_counter()
        plies = quest.known if width >= BROAD else min(quest.known, SHORT)
        move = _beam(work, quest._replace(known=plies), mind, int(width))
        if not move:
            return best
        best = Verdict(plies, work.value, move)
        now = perf_counter()
        growth = min(GROWTH, (seconds - (now - began)) / max(now - start, 1e-6))
        if growth < LEAST_GROWTH or width >= WIDTH:
            return best
        width = min(width * growth, WIDTH)


def gamble(
    work: Workspace, quest: Quest, mind: Mind, seconds: float, draw: Callable[[int], None], ahead: int
) -> list[int]:
    """Return, by move (0..15), what its plans come to, summed over draws of pictures not in sight.

    `draw(ahead)` writes so many pictures of chance behind those that are known, other ones each time. All
    moves are judged by the same draws; IMPOSSIBLE marks what is no distinct move, and everything if
    there was no time for one draw.
    """
    sums = [IMPOSSIBLE] * 16
    unsure = quest._replace(known=quest.known + ahead)
    with alarm(work, seconds):
        draw(ahead)
        while _beam(work, unsure, mind, GAMBLING_WIDTH):
            for move, value in enumerate(work.values):
                if value > -INFINITY:
                    sums[move] = value + (sums[move] if sums[move] > IMPOSSIBLE else 0)
            draw(ahead)
    work.clear()
    return sums


def _beam(work: Workspace, quest: Quest, mind: Mind, width: int) -> int:
    size = {"width": width, "plies": quest.known, "leaf": LEAF}
    reply = {"reply_depth": mind.depth, "reply_order": mind.order}
    return work.beam(quest.planes, mind.view, quest.ply, **size, **reply)
