"""The weights of an opponent are found from its moves."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_engines.engine import Engine
from arena_engines.insertion.fixed_depth import InsertionPosition
from arena_engines.insertion.master.fitting import (
    DEEPEST_POINT,
    HISTORY,
    LEAST_HISTORY,
    MARGIN,
    STARTS,
    Point,
    SeenMove,
    Shares,
    WeightFit,
    is_fitted,
    point_of,
)
from arena_engines.insertion.master.layout import RECORD, STATIC, VIEWS
from arena_engines.insertion.master.memory import OpponentMemory
from arena_engines.insertion.master.opponent import CARRIED, OpponentModel, view_text
from arena_engines.insertion.master.search import ALL, FIRST
from arena_engines.insertion.master.tracker import LAST_PLY, GameTracker
from arena_engines.insertion.master.workspace import (
    CELL,
    FELL_WEIGHTS,
    GRID,
    LEAD_MODEL,
    OWN_MODEL,
    THEIRS_WEIGHTS,
    Weights,
    Workspace,
    depths_to,
    grid_weights,
)

from ....slices import all_of, rows
from .games import followed, positions

STEPS = 20
POINTS = st.builds(
    Point,
    st.integers(0, len(THEIRS_WEIGHTS) - 1),
    st.integers(0, len(FELL_WEIGHTS) - 1),
    st.integers(1, DEEPEST_POINT),
)


class Weighing(Engine):
    """Plays a random one of the best moves of an exact search in these weights."""

    game = "insertion"
    name = "weighing"

    def __init__(self, theirs: float, fell: float, depth: int) -> None:
        super().__init__({})
        self._weights = Weights(STEPS, -round(STEPS * theirs), -round(STEPS * fell))
        self._depth = depth
        self._random = random.Random(5)
        self._work = Workspace(12)

    def warm_up(self) -> None:
        """The kernel is compiled."""

    def choose(self, position: InsertionPosition) -> int:
        pictures = position.state.visible[: self._depth]
        self._work.void()
        self._work.write(OWN_MODEL, 0, pictures, [1 - n % 2 for n in range(len(pictures) + 1)], self._weights)
        self._work.deepen(position.state.planes, OWN_MODEL, 0, depths_to(len(pictures)), ALL)
        return self._random.choice([move for move in range(1, 16) if self._work.ties >> move & 1])


def weight_of(tracker: GameTracker) -> tuple[float, float, int]:
    """The fitted weights and the depth."""
    assert tracker.fitted
    point = tracker.fitted.point
    assert point
    return THEIRS_WEIGHTS[point.theirs], FELL_WEIGHTS[point.fell], point.depth


@pytest.mark.parametrize(("theirs", "fell", "depth"), rows([(1.35, 0, 5), (0.7, 1, 4), (1.5, 0, 5)], 3))
def test_the_fit_comes_near_the_weights_of_an_opponent(theirs: float, fell: float, depth: int) -> None:
    tracker = followed(positions(Weighing(theirs, fell, depth), plies=90))
    fitted_theirs, fitted_fell, fitted_depth = weight_of(tracker)
    assert fitted_depth == depth
    assert abs(fitted_theirs - theirs) <= 0.4
    assert (fitted_fell > 0.1) == (fell > 0)
    assert is_fitted(tracker.models.best)
    assert tracker.models.best.order == ALL


@pytest.mark.parametrize(("theirs", "fell", "depth"), rows([(2, 1, 4), (3, 0, 3)], 2))
def test_the_true_weights_are_not_likelier_than_the_fit(theirs: float, fell: float, depth: int) -> None:
    """Where few moves tell neighbours apart the fit need not be the truth."""
    tracker = followed(positions(Weighing(theirs, fell, depth), plies=90))
    fit = tracker.fitted
    assert fit
    assert fit.point
    true = fit._logs[Point(THEIRS_WEIGHTS.index(theirs), FELL_WEIGHTS.index(fell), depth)]
    held = [fit._logs[fit.point][gone] for gone in true]
    # A point that was given up is behind by the margin.
    behind = 0 if len(true) == len(fit._history) else MARGIN
    assert sum(true.values()) <= sum(held) - behind + 1e-9


def test_without_the_fit_only_listed_models_compete() -> None:
    tracker = GameTracker((Workspace(12),), 5, fitted=False)
    for position in positions(Weighing(1.5, 0, 4), plies=40):
        tracker.follow(position, lambda: False)
    assert not any(map(is_fitted, tracker.models.scores))


def test_the_fit_is_the_same_for_the_same_moves() -> None:
    seen = positions(Weighing(1.5, 0, 4), plies=40)
    one, other = followed(seen), followed(seen)
    assert one.models.scores == other.models.scores
    assert weight_of(one) == weight_of(other)


def scripted(point: Point, true: Point, gone: int) -> Shares:
    """A move is predicted the less often the farther a point is from the true one."""
    far = sum(abs(one - other) for one, other in zip(point, true, strict=True))
    right = (gone * 7919) % 100 >= 15 * far
    return (float(right and not gone % 3), 0.0, right / 3)


def moves(number: int) -> Iterator[SeenMove]:
    for gone in range(1, 2 * number, 2):
        yield SeenMove(gone, (0, 0, 0), (0, 0, 0))


@settings(max_examples=12)
@given(
    true=POINTS, start=st.sampled_from(sorted(STARTS)), depth=st.integers(1, 7), portion=st.integers(50, 200)
)
def test_a_fit_in_portions_finds_the_point(true: Point, start: int, depth: int, portion: int) -> None:
    fit = WeightFit()
    searches = 0

    def search(view: int, depth: int, seen: SeenMove) -> Shares:
        nonlocal searches
        searches += 1
        return scripted(point_of(OpponentModel(view, depth)), true, seen.gone)

    def improve() -> int:
        begun = searches
        fit.improve(OpponentModel(start, depth), search, lambda: searches - begun >= portion)
        return searches - begun

    for seen in moves(HISTORY + 10):
        fit.note(seen)
        assert improve() <= portion
    while fit.point != true and improve():
        pass
    assert fit.point == true
    rates = {model.order: score.hit_rate for model, score in fit.scores.items()}
    assert rates[ALL] > 0.9 > 0.5 > rates[FIRST] > 0.2
    assert all(point_of(model) == true for model in fit.scores)


def test_no_fit_begins_before_a_few_moves() -> None:
    fit = WeightFit()
    for number, seen in enumerate(moves(LEAST_HISTORY), start=1):
        assert not fit.scores
        fit.note(seen)
        fit.improve(OpponentModel(OWN_MODEL, 3), lambda *_: (1.0, 1.0, 1.0), lambda: False)
        assert bool(fit.scores) == (number == LEAST_HISTORY)


def test_without_time_there_is_no_point() -> None:
    fit = WeightFit()
    for seen in moves(10):
        fit.note(seen)
        fit.improve(OpponentModel(OWN_MODEL, 3), lambda *_: (1.0, 1.0, 1.0), lambda: True)
    assert not fit.scores


def fitted_to(true: Point, number: int, fit: WeightFit) -> WeightFit:
    def search(view: int, depth: int, seen: SeenMove) -> Shares:
        return scripted(point_of(OpponentModel(view, depth)), true, seen.gone)

    for seen in moves(number):
        fit.note(seen)
        fit.improve(OpponentModel(LEAD_MODEL, 4), search, lambda: False)
    return fit


def test_the_next_game_begins_with_the_weights_of_the_last() -> None:
    true = Point(9, 2, 5)
    first = fitted_to(true, HISTORY, WeightFit())
    fit = WeightFit()
    fit.restart(first.scores)
    assert fit.point == true
    assert all(score.moves <= CARRIED + 1e-9 for score in fit.scores.values())
    # Moves that tell nothing leave it where it is.
    for seen in moves(8):
        fit.note(seen)
        fit.improve(OpponentModel(LEAD_MODEL, 4), lambda *_: (0.0, 0.0, 0.2), lambda: False)
    assert fit.point == true
    # Another program behind the name is noticed.
    fit.restart(first.scores)
    assert fitted_to(Point(1, 0, 4), 20, fit).point == Point(1, 0, 4)


def test_a_fit_goes_on_when_its_positions_are_forgotten() -> None:
    fit = fitted_to(Point(7, 3, 4), 30, WeightFit())
    scores = fit.scores
    fit.forget()
    assert fit.scores == scores
    assert fitted_to(Point(7, 3, 4), 5, fit).point == Point(7, 3, 4)


def test_a_long_game_is_fitted_to_its_end() -> None:
    tracker = followed(positions(Weighing(2, 1, 2), plies=LAST_PLY + 30))
    assert tracker.ply < 30
    theirs, _, depth = weight_of(tracker)
    assert abs(theirs - 2) <= 1
    assert depth <= 3


def test_fitted_models_are_kept_with_the_name(tmp_path: object) -> None:
    path = f"{tmp_path}/known.json"
    tracker = followed(positions(Weighing(2, 1, 4), plies=60))
    OpponentMemory(path).keep("weighing", tracker.models.scores, tracker.shortfall)
    kept = OpponentMemory(path).recall("weighing").scores
    fit = WeightFit()
    fit.restart(kept)
    assert tracker.fitted
    assert fit.point == tracker.fitted.point
    assert [model for model in kept if is_fitted(model)] == list(tracker.fitted.scores)


@all_of(
    ("view", "depth", "order"), [(VIEWS, 3, 1), (GRID, 0, 1), (GRID, 8, 1), (GRID, 3, 9), (GRID + 0.5, 3, 1)]
)
def test_other_models_are_no_fitted_ones(view: int, depth: int, order: int) -> None:
    assert not is_fitted(OpponentModel(view, depth, order))
    assert is_fitted(OpponentModel(GRID, 3, FIRST))


def test_all_workspaces_know_the_view_that_is_planned_against() -> None:
    seen = positions(Weighing(1.5, 0, 5), plies=60)
    works = (Workspace(12), Workspace(12))
    tracker = GameTracker(works, 5)
    for position in seen:
        tracker.follow(position, lambda: False)
        view = tracker.models.best.view
        first, second = (
            work._mem[work.record(view, tracker.ply) :][: (tracker.known + 1) * RECORD].reshape(-1, RECORD)
            for work in works
        )
        assert (first[:, :STATIC] == second[:, :STATIC]).all()
        assert "".join(map(str, first[:-1, 0])) == position.state.visible[: tracker.known]
    assert view >= GRID


def test_samples_of_hidden_pictures_leave_no_trace() -> None:
    """A table filled under sampled pictures must not serve when the true ones are known."""
    seen = positions(Weighing(2, 1, 3), plies=60, lookahead=5)
    clean, sampled = GameTracker((Workspace(12),), 5), GameTracker((Workspace(12),), 5)
    pictures = random.Random(3)
    for position in seen:
        for tracker in (clean, sampled):
            tracker.follow(position, lambda: False)
        assert clean.models.scores == sampled.models.scores
        work = sampled._works[0]
        hidden = min(8, position.rules.plies - position.state.played - sampled.known)
        sampled.sample(position, "".join(pictures.choices("123456", k=hidden)), work)
        for view in range(2, GRID):
            work.deepen(sampled.planes, view, sampled.ply, range(1, min(6, sampled.known + hidden) + 1), ALL)


@given(st.integers(GRID, VIEWS - 1))
def test_a_view_of_the_grid_has_the_weights_of_its_point(view: int) -> None:
    point = point_of(OpponentModel(view, 3))
    assert point.view == view
    mine, theirs, fell = grid_weights(view)
    assert mine > 0 >= theirs
    assert -theirs / CELL == pytest.approx(THEIRS_WEIGHTS[point.theirs], abs=0.02)
    assert -fell / CELL == FELL_WEIGHTS[point.fell]
    assert f"{THEIRS_WEIGHTS[point.theirs]:.2g} times mine" in view_text(view) or point.fell == 1
