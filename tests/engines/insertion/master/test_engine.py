"""Master as a player: every shape of game, parameters and the time budget."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from tests.slices import rows

from arena_cli.engine_games import play_game
from arena_engines.engine import EngineError
from arena_engines.insertion.baselines import Dummy, Greedy
from arena_engines.insertion.champion import Champion
from arena_engines.insertion.fixed_depth import InsertionPosition
from arena_engines.insertion.master import engine
from arena_engines.insertion.master.engine import HALVES, OVERHEAD, Master, budget
from arena_engines.insertion.master.opponent import OpponentModel
from arena_engines.insertion.master.planner import IMPOSSIBLE, SearchRequest, sampled
from arena_engines.insertion.master.search import ALL
from arena_engines.insertion.master.workspace import ALL_LANES, HALF_MODEL, WORST_CASE, Workspace
from arena_engines.lateness import Lateness
from arena_engines.registry import create
from arena_protocol.games.insertion import Insertion
from arena_protocol.games.insertion.rules import distinct_moves

from ...positions import at
from .games import master, played, positions


@pytest.fixture
def processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A move may take so much of the processor, whatever else the machine does."""
    monkeypatch.setattr(engine, "perf_counter", time.thread_time)


@pytest.mark.usefixtures("processor_time")
def test_master_beats_the_champion_even_in_a_hurry() -> None:
    one = [played(master(millis=10), Champion(), seed) for seed in (1, 2)]
    other = [played(Champion(), master(millis=10), seed) for seed in (1, 2)]
    mine = sum(game.totals[0] for game in one) + sum(game.totals[1] for game in other)
    theirs = sum(game.totals[1] for game in one) + sum(game.totals[0] for game in other)
    assert mine > 1.1 * theirs


@pytest.mark.usefixtures("processor_time")
def test_beside_a_zombie_nearly_all_pictures_become_points() -> None:
    game = played(master(millis=5), Dummy(), plies=200)
    assert game.totals[0] >= 1700


@pytest.mark.parametrize(
    "values",
    [
        {"threads": 2},
        {"ponder": "yes"},
        {"model": "single"},
        {"model": "listed"},
        {"model": "own"},
        {"model": "spoiling"},
        {"model": "worst"},
        {"zombie": 0},
    ],
)
def test_every_parameter_plays(values: dict[str, int | str]) -> None:
    assert played(master(**values), Champion({"depth": 2}), plies=30).faults == (None, None)


@pytest.mark.parametrize(
    ("values", "lookahead"), rows(product([{}, {"threads": 2}, {"ponder": "yes"}], [3, 10]), 2)
)
def test_sets_of_equal_replies_are_planned_against_in_whole_games(
    values: dict[str, int | str], lookahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def any_of_equals(_: Master, position: InsertionPosition) -> OpponentModel:
        asked.append(position.state.played)
        return OpponentModel(HALF_MODEL, 2, ALL)

    monkeypatch.setattr(Master, "_living_model", any_of_equals)
    game = played(master(millis=10, **values), Greedy(), plies=30, lookahead=lookahead)
    assert game.faults == (None, None)
    assert asked


def test_each_thread_samples_every_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shared plan before leaves half of the first moves to each thread."""
    found = []

    def noted(*args: Any) -> list[int]:
        found.append(sampled(*args))
        return found[-1]

    monkeypatch.setattr(engine, "sampled", noted)
    monkeypatch.setattr(Master, "_living_model", lambda player, position: OpponentModel(HALF_MODEL, 2, ALL))
    player = master(millis=1000, threads=2)
    for work, lanes in zip(player._works, HALVES, strict=True):
        work.restrict(ALL_LANES, lanes)
    (position,) = positions(Greedy(), plies=30)[3:4]
    player.choose(position)
    distinct = distinct_moves(*position.state.planes)
    moves = [move for move in range(1, 16) if distinct >> move & 1]
    assert [[move for move, value in enumerate(sums) if value > IMPOSSIBLE] for sums in found] == [moves] * 2


def test_a_game_does_not_depend_on_the_games_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """With fixed work in place of time: the same moves and nodes as of a new engine."""

    def deepened(work: Workspace, request: SearchRequest, _seconds: float) -> int:
        return work.deepen(request.planes, WORST_CASE, request.ply, range(1, request.known + 1))

    def averaged(
        work: Workspace,
        request: SearchRequest,
        model: OpponentModel,
        _seconds: float,
        draw: Callable[[int], None],
        ahead: int,
    ) -> list[int]:
        sums = [0] * 16
        for _ in range(3):
            draw(ahead)
            work.beam(
                request.planes,
                model.view,
                request.ply,
                width=4,
                plies=request.known + ahead,
                leaf=2,
                reply_depth=model.depth,
            )
            sums = [mine + value for mine, value in zip(sums, work.first_values, strict=True)]
        return sums

    monkeypatch.setattr(engine, "worst_case", deepened)
    monkeypatch.setattr(engine, "sampled", averaged)

    def nodes(player: Master, seen: list[InsertionPosition]) -> list[tuple[int, int]]:
        return [(player.choose(position), player._works[0].nodes) for position in seen]

    games = [positions(Greedy(), plies=30, lookahead=5, seed=seed) for seed in (1, 2)]
    used = master(millis=60_000)
    ours = [nodes(used, game) for game in (*games, games[0])]
    fresh = [nodes(master(millis=60_000), game) for game in games]
    assert ours == [*fresh, fresh[0]]


@pytest.mark.parametrize(
    "options",
    [
        {"lookahead": 1},
        {"lookahead": 3},
        {"lookahead": 60},
        {"colours": 3},
        {"colours": 7, "start": "empty"},
        {"start": "partial", "plies": 1},
    ],
)
def test_every_shape_of_game_is_played(options: dict[str, Any]) -> None:
    assert played(master(), Greedy(), **{"plies": 30, **options}).faults == (None, None)


def test_four_seats_are_played() -> None:
    rules = Insertion.from_options({"seats": 4, "plies": 40})
    players = (Greedy(), master(), Greedy(), Dummy())
    game = play_game(rules, rules.deal(1), players)
    assert game.faults == (None,) * 4
    assert len(game.moves) == 40


def test_no_time_left_is_no_fault() -> None:
    """Five milliseconds a move and less: every move is made in haste, and in time."""
    seen = positions(Champion({"depth": 2}))
    player = master()
    for position in seen[:20]:
        assert 1 <= player.choose(replace(position, clock=1, bank=20_000)) <= 15


def clocked(
    clock: int | None,
    ply: int = 1,
    bank: int = 20_000,
    millis: int | None = None,
    move_limit: int | None = None,
) -> float:
    position = at("...../...../...../...../.....", "1" * 200, plies=200, clock=clock, bank=bank)
    state = position.state._replace(played=ply - 1)
    return budget(replace(position, state=state, move_limit=move_limit), millis, Lateness(OVERHEAD))


def test_the_bank_is_spread_over_the_moves_left() -> None:
    assert clocked(None) == 100.0
    assert clocked(None, millis=77) == 77.0
    assert 180 < clocked(20_000) < 200
    assert clocked(20_000, ply=199) > 19_000
    assert clocked(10_000, ply=101) == pytest.approx(clocked(20_000), rel=0.05)
    assert clocked(50) == 0.0


def test_millis_limits_a_move_under_a_clock_too() -> None:
    assert clocked(20_000, millis=5) == clocked(20_000, ply=199, millis=5) == 5.0
    assert clocked(20_000, millis=1000) == clocked(20_000)
    assert clocked(50, millis=5) == 0.0


def test_the_move_limit_is_kept() -> None:
    assert clocked(20_000, ply=199, move_limit=1000) == 895.0
    assert clocked(20_000, ply=199, move_limit=1000, millis=100) == 100.0
    assert clocked(20_000, move_limit=1000) == clocked(20_000)
    assert clocked(20_000, move_limit=1) == 0.0
    assert clocked(None, move_limit=100) == 85.0


def test_a_bank_of_hours_is_no_plan_for_the_game() -> None:
    days = 240 * 3_600_000
    assert clocked(days, bank=days) == clocked(days, bank=days, move_limit=1_800_000) == 2_000.0
    assert clocked(days, bank=days, millis=30_000) == 30_000.0
    assert clocked(1_000, ply=191, bank=days) == 0.0


def test_a_clock_used_by_its_budget_never_falls() -> None:
    """Each move takes its budget and some milliseconds more, one a long stall."""
    clock = 20_000.0
    for ply in range(1, 201, 2):
        clock -= clocked(int(clock), ply) + (150 if ply == 99 else 5)
        assert clock > 0
    assert clock < 1_000


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("master:threads=3", "threads=3: expected threads=1..2"),
        ("master:model=best", r"model=best: expected model=seen\|listed\|single\|own\|spoiling\|worst"),
        ("master:ponder=1", r"ponder=1: expected ponder=no\|yes"),
        ("master:depth=5", "engine master has no parameter 'depth'; its parameters are: model="),
    ],
)
def test_wrong_parameters_are_refused_with_the_right_ones(spec: str, text: str) -> None:
    with pytest.raises(EngineError, match=text):
        create(spec)


def test_making_a_master_is_quick_and_compiles_nothing() -> None:
    player = create("master:threads=2,model=own")
    assert "_works" not in vars(player)
    assert player.spec.startswith("master:model=own,threads=2")
