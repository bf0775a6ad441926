"""Time-boxed search: deepening against the worst case, widening beams, averages over sampled pictures.

Also the threads of one engine and searching in the opponent's time. The kernels release the interpreter's
lock, so plain threads run in parallel; each has a workspace of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from time import perf_counter
from typing import NamedTuple, TypeVar

from arena_engines.insertion.master.layout import INFINITY, WIDTH
from arena_engines.insertion.master.opponent import OpponentModel
from arena_engines.insertion.master.search import ALL
from arena_engines.insertion.master.workspace import WORST_CASE, Workspace, depths_to
from arena_engines.search_timer import SearchTimer
from arena_protocol.games.insertion.board import Planes
from arena_protocol.games.insertion.rules import play

R = TypeVar("R")

FIRST_WIDTH = 2
#: Plans narrower than this look at most SHORT plies ahead: in little time width is worth more than length.
BROAD = 16
SHORT = 10
#: Plies of the exact search at the end of a plan.
LEAF = 2
#: The deepest worst-case search; boards with any choice of moves never reach it in time.
DEEPEST = 20
#: The width of plans behind sampled pictures: many samples are worth more than wide plans for few.
SAMPLED_WIDTH = 8
#: Plies of the exact search behind one predicted reply, where that is any of a set: docs/engines.md.
SET_LEAF = 5
#: Plies of a search that takes less than a millisecond.
SHALLOW = 4
#: The next beam starts only if it can be this much wider, and is at most GROWTH times as wide.
LEAST_GROWTH = 1.3
GROWTH = 4.0
#: Seconds; the opponent's time has no known end.
FOREVER = 3600.0


class SearchRequest(NamedTuple):
    """A board, its ply within the views, and the number of known pictures."""

    planes: Planes
    ply: int
    known: int


class Plan(NamedTuple):
    """The first move of a plan and its value; results compare by the plies that the plan looked at first."""

    plies: int
    value: int
    move: int


#: No result: less than any.
NOTHING = Plan(0, -INFINITY, 0)
IMPOSSIBLE = -INFINITY


@contextmanager
def time_limit(work: Workspace, seconds: float) -> Iterator[None]:
    """Stop the searches of the block after `seconds`."""
    work.start()
    with SearchTimer(seconds, work.stop):
        yield


def worst_case(work: Workspace, request: SearchRequest, seconds: float) -> int:
    """Return the best move against the worst reply, by deepening for `seconds`."""
    with time_limit(work, seconds):
        return work.deepen(request.planes, WORST_CASE, request.ply, range(1, min(request.known, DEEPEST) + 1))


def shallow(work: Workspace, request: SearchRequest) -> int:
    """Return the best move against the worst reply at depth SHALLOW."""
    work.start()
    return work.deepen(request.planes, WORST_CASE, request.ply, range(1, min(request.known, SHALLOW) + 1))


def plan(work: Workspace, request: SearchRequest, model: OpponentModel, seconds: float) -> Plan:
    """Return the best plan against a model found in time; NOTHING if not even the first beam was finished."""
    with time_limit(work, seconds):
        return widen(work, request, model, seconds)


def widen(work: Workspace, request: SearchRequest, model: OpponentModel, seconds: float) -> Plan:
    """Run wider and wider beams until stopped, or until the rest of the time is too short for a wider one.

    The cost of a beam is about proportional to its width; the last is as wide as the rest of the time allows.
    """
    began = perf_counter()
    best = NOTHING
    width = float(FIRST_WIDTH)
    while True:
        start = perf_counter()
        plies = request.known if width >= BROAD else min(request.known, SHORT)
        move = _beam(work, request._replace(known=plies), model, int(width))
        if not move:
            return best
        best = Plan(plies, work.value, move)
        now = perf_counter()
        growth = min(GROWTH, (seconds - (now - began)) / max(now - start, 1e-6))
        if growth < LEAST_GROWTH or width >= WIDTH:
            return best
        width = min(width * growth, WIDTH)


def sampled(
    work: Workspace,
    request: SearchRequest,
    model: OpponentModel,
    seconds: float,
    draw: Callable[[int], None],
    ahead: int,
) -> list[int]:
    """Return the value of each move's best plan (index 0..15), summed over samples of the unknown pictures.

    `draw(ahead)` writes that many random pictures behind the known ones, others each time, or draws others of
    equal replies. All moves are valued on the same samples; moves that are not distinct have IMPOSSIBLE, and
    all moves if no sample was finished.
    """
    sums = [IMPOSSIBLE] * 16
    plies, leaf = request.known + ahead, LEAF
    if model.order == ALL:
        # A longer plan would choose its next moves by which member of the set was drawn, as if it knew it.
        plies, leaf = min(plies, 2 + SET_LEAF), SET_LEAF
    extended = request._replace(known=plies)
    with time_limit(work, seconds):
        draw(ahead)
        while _beam(work, extended, model, SAMPLED_WIDTH, leaf):
            for move, value in enumerate(work.first_values):
                if value > -INFINITY:
                    sums[move] = value + (sums[move] if sums[move] > IMPOSSIBLE else 0)
            draw(ahead)
    work.start()
    return sums


def _beam(work: Workspace, request: SearchRequest, model: OpponentModel, width: int, leaf: int = LEAF) -> int:
    return work.beam(
        request.planes,
        model.view,
        request.ply,
        width=width,
        plies=request.known,
        leaf=leaf,
        reply_depth=model.depth,
        reply_order=model.order,
        confidence=model.confidence,
    )


class ThreadPool:
    """The threads of one engine, one for each workspace; the first is the caller's."""

    def __init__(self, works: Sequence[Workspace]) -> None:
        self._works = works

    @cached_property
    def _others(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(len(self._works) - 1, thread_name_prefix="master")

    def each(self, task: Callable[[int, Workspace], R]) -> list[R]:
        """Run a task with every workspace in parallel; return the results in the order of the workspaces."""
        rest = [
            self._others.submit(task, number, work) for number, work in enumerate(self._works) if number > 0
        ]
        first = task(0, self._works[0])
        return [first, *(future.result() for future in rest)]


class Ponder:
    """Searches in the background, on a workspace that is not used otherwise until `stop`.

    The results stay in the transposition table, where the next plan finds them.
    """

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self._thread: threading.Thread | None = None

    def start(self, request: SearchRequest, model: OpponentModel, picture: int) -> None:
        """Plan on the board behind the reply that `model` makes with this picture."""
        self._work.start()
        self._thread = threading.Thread(target=self._search, args=(request, model, picture), daemon=True)
        self._thread.start()

    def _search(self, request: SearchRequest, model: OpponentModel, picture: int) -> None:
        depth = min(model.depth, request.known)
        reply = self._work.deepen(request.planes, model.view, request.ply, depths_to(depth), model.order)
        after = play(*request.planes, reply, picture)[:3]
        widen(self._work, SearchRequest(after, request.ply + 1, request.known - 1), model, FOREVER)

    def stop(self) -> None:
        """Stop the search; the workspace is free when this returns."""
        if self._thread is not None:
            self._work.stop()
            self._thread.join()
            self._thread = None
