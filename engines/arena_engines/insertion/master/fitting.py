"""The weights of the opponent, fitted to its moves.

A point is a view of the grid (workspace.py: what a cell of the other side counts, and a picture pushed off)
and a depth. Its likelihood is that of the opponent's last moves, if the opponent plays any of the best moves
of a search there. The fit holds the likeliest point so far and searches others, the least behind it first and
on the moves first that it explains least, until the time is over; it goes on at the next move. Points that
are far behind are not searched any more. The likeliest point competes with the listed models by a score of
the same kind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from operator import sub
from typing import NamedTuple

from arena_engines.insertion.master.layout import VIEWS
from arena_engines.insertion.master.opponent import (
    CHOICES,
    NO_SCORES,
    OpponentModel,
    Score,
    unseen,
)
from arena_engines.insertion.master.search import ALL, FIRST, LAST
from arena_engines.insertion.master.workspace import (
    FELL_WEIGHTS,
    FULL_BOARD,
    GRID,
    HALF_MODEL,
    LEAD_MODEL,
    OWN_MODEL,
    POINTS_MODEL,
    SPOILING_MODEL,
    THEIRS_WEIGHTS,
    WARY_MODEL,
)
from arena_protocol.games.insertion.board import Planes

#: Opponent moves that a fit looks at, and from how many on it begins.
HISTORY = 40
LEAST_HISTORY = 4
DEEPEST_POINT = 7
#: The probability that an opponent plays none of the best moves of its own point,
SLIP = 0.1
#: what a ply more of depth costs, in nats a move,
PLY_COST = 0.02
#: and how far behind a point may be, in nats of all moves.
MARGIN = 5.0
#: A step of the grid away from the point of earlier games costs as much as this, in nats.
STEP_COST = 0.5
#: Likelihoods that differ by less are equal.
ROUNDING = 1e-9

ORDERS = (FIRST, LAST, ALL)


class SeenMove(NamedTuple):
    """An opponent move: the number of plies of the game before it, and the boards before and after it."""

    gone: int
    before: Planes
    after: Planes


class Point(NamedTuple):
    """Indices into THEIRS_WEIGHTS and FELL_WEIGHTS, and a depth."""

    theirs: int
    fell: int
    depth: int

    @property
    def view(self) -> int:
        """The view with these weights."""
        return GRID + self.theirs * len(FELL_WEIGHTS) + self.fell


#: The points next to the listed views, but for the depth.
STARTS = {
    OWN_MODEL: Point(0, FULL_BOARD, 0),
    POINTS_MODEL: Point(0, 0, 0),
    HALF_MODEL: Point(THEIRS_WEIGHTS.index(0.5), 0, 0),
    WARY_MODEL: Point(THEIRS_WEIGHTS.index(0.75), FELL_WEIGHTS.index(0.5), 0),
    LEAD_MODEL: Point(THEIRS_WEIGHTS.index(1.0), 0, 0),
    SPOILING_MODEL: Point(THEIRS_WEIGHTS.index(1.0), FULL_BOARD, 0),
}

#: 1 / the number of moves predicted if the move seen is one of them, else 0: by order.
Shares = tuple[float, float, float]
Searches = Callable[[int, int, SeenMove], Shares]


class WeightFit:
    """The fit over one game."""

    def __init__(self, orders: tuple[int, ...] = ORDERS) -> None:
        """`orders`: of the models that compete."""
        self._orders = orders
        self.restart()

    def restart(self, known: Mapping[OpponentModel, Score] = NO_SCORES) -> None:
        """Begin a game, at the point of earlier games if they had one."""
        fitted = [model for model in known if model.view >= GRID]
        self.point = point_of(fitted[0]) if fitted else None
        self._anchor = self.point
        self._known = {model: known[model].carried() for model in fitted}
        self._clear()

    def forget(self) -> None:
        """Forget the moves seen: their positions cannot be searched any more. The scores stay."""
        self._anchor, self._known = self.point, self.scores
        self._clear()

    def _clear(self) -> None:
        self._history: dict[int, SeenMove] = {}
        # By point and move: the comparison, and the log-likelihood less the cost of the depth.
        self._shares: dict[Point, dict[int, Shares]] = {}
        self._logs: dict[Point, dict[int, float]] = {}

    def note(self, seen: SeenMove) -> None:
        """Take in a move."""
        self._history[seen.gone] = seen
        if len(self._history) > HISTORY:
            oldest = next(iter(self._history))
            del self._history[oldest]
            for shares in self._shares.values():
                shares.pop(oldest, None)
            for logs in self._logs.values():
                logs.pop(oldest, None)

    def improve(self, best: OpponentModel, searches: Searches, enough: Callable[[], bool]) -> None:
        """Look for a likelier point until there is none or `enough()`.

        `best` is the best of the listed models; `searches(view, depth, seen)` compares with a move seen.
        """
        if len(self._history) < LEAST_HISTORY:
            return
        start = STARTS[best.view]._replace(depth=best.depth)
        held = self.point or start
        if not self._filled(held, searches, enough):
            return
        while not enough():
            better = self._race(held, start, searches, enough)
            if better is None:
                break
            held = better
        self.point = self._middle(held)

    def _filled(self, point: Point, searches: Searches, enough: Callable[[], bool]) -> bool:
        """Search a point on all moves seen; False if there was no time for all."""
        known = self._logs.get(point, {})
        for gone in [gone for gone in self._history if gone not in known]:
            if enough():
                return False
            self._compare(point, gone, searches)
        return True

    def _compare(self, point: Point, gone: int, searches: Searches) -> None:
        shares = searches(point.view, point.depth, self._history[gone])
        share = shares[ORDERS.index(ALL)]
        likelihood = math.log((1 - SLIP) * share if share else SLIP / CHOICES)
        self._shares.setdefault(point, {})[gone] = shares
        self._logs.setdefault(point, {})[gone] = likelihood - PLY_COST * point.depth

    def _race(
        self, held: Point, start: Point, searches: Searches, enough: Callable[[], bool]
    ) -> Point | None:
        """Return a likelier point than `held`; None if there is none or no time."""
        explained = self._logs[held]
        least_explained = sorted(explained, key=explained.__getitem__)
        lead = {}
        for point in dict.fromkeys([start, *points_near(held)]):
            logs = self._logs.setdefault(point, {})
            lead[point] = self._prior(point) - self._prior(held)
            lead[point] += sum(logs.values()) - sum(map(explained.__getitem__, logs))
        while lead:
            point = max(lead, key=lead.__getitem__)
            if lead[point] < -MARGIN:
                return None
            gone = next((gone for gone in least_explained if gone not in self._logs[point]), None)
            if gone is not None:
                if enough():
                    return None
                self._compare(point, gone, searches)
                lead[point] += self._logs[point][gone] - explained[gone]
            elif lead[point] > ROUNDING:
                return point
            else:
                del lead[point]
        return None

    def _prior(self, point: Point) -> float:
        """Return the log-likelihood of a point from earlier games."""
        return -STEP_COST * sum(map(abs, map(sub, point, self._anchor))) if self._anchor else 0.0

    def _middle(self, held: Point) -> Point:
        """Return the middle one of the points that are as likely and differ in the other's cells alone."""

        def total(point: Point) -> float:
            logs = self._logs.get(point, {})
            return sum(logs.values()) + self._prior(point) if len(logs) == len(self._history) else -math.inf

        line = [held._replace(theirs=theirs) for theirs in range(len(THEIRS_WEIGHTS))]
        like = [point for point in line if total(point) > total(held) - ROUNDING]
        return like[len(like) // 2]

    @property
    def scores(self) -> dict[OpponentModel, Score]:
        """The models of the likeliest point; none before there is one."""
        point = self.point
        if point is None:
            return {}
        shares = self._shares.get(point, {})
        scores = {}
        for order in self._orders:
            model = OpponentModel(point.view, point.depth, order)
            scores[model] = self._known.get(model, unseen(model))
            for gone in sorted(shares):
                scores[model] = scores[model].after(shares[gone][ORDERS.index(order)])
        return scores


def points_near(point: Point) -> Iterator[Point]:
    """Yield all points of a depth, and those of the same weights up to two plies deeper and less deep."""
    for theirs in range(len(THEIRS_WEIGHTS)):
        for fell in range(len(FELL_WEIGHTS)):
            yield Point(theirs, fell, point.depth)
    for depth in range(max(1, point.depth - 2), min(point.depth + 2, DEEPEST_POINT) + 1):
        yield point._replace(depth=depth)


def point_of(model: OpponentModel) -> Point:
    return Point(*divmod(model.view - GRID, len(FELL_WEIGHTS)), model.depth)


def is_fitted(model: OpponentModel) -> bool:
    """Whether a model is one of a point of the grid."""
    return (
        type(model.view) is type(model.depth) is int
        and GRID <= model.view < VIEWS
        and 1 <= model.depth <= DEEPEST_POINT
        and model.order in ORDERS
    )
