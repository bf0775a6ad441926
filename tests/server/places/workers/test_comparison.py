"""Workers that stand out are named, and equal ones no more often than is said."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.records import Kept, game

from arena_server.places.workers.comparison import (
    bound,
    look_at,
    ranked,
    stand_out,
)
from arena_server.places.workers.dispatch import _stand_out
from arena_server.stats.results import PastGame

BOTS = ("ann", "bob", "cid")


def contest(
    seed: int, games: int, workers: int = 3, slow: float = 1.0, gift: int = 0, timeouts: float = 0.05
) -> list[tuple[PastGame, str]]:
    """Games of workers, of which w0 takes `slow` times as long, and gives ann `gift` points more."""
    rng = Random(seed)
    pairs = list(combinations(BOTS, 2)) + [pair[::-1] for pair in combinations(BOTS, 2)]
    found = []
    for number in range(1, games + 1):
        names, worker = rng.choice(pairs), f"w{rng.randrange(workers)}"
        factor = slow if worker == "w0" else 1.0
        used = tuple(int(rng.lognormvariate(5, 1) * factor) for _ in names)
        totals = tuple(
            rng.randrange(20) * 10 + (gift if worker == "w0" and name == "ann" else 0) for name in names
        )
        late = (factor > 1 and rng.random() < timeouts * factor) or rng.random() < timeouts
        faults = ((names[0], "timeout"),) if late else ()
        found.append((PastGame(number, names, number, totals, "complete", 20, faults, used), worker))
    return found


def test_equal_workers_are_named_in_no_more_contests_than_is_said() -> None:
    alpha, contests = 0.2, 60
    named = sum(
        any(stand_out(games[:count], look_at(count), alpha) for count in (100, 200))
        for games in (contest(seed, 200, timeouts=0.01) for seed in range(contests))
    )
    assert named <= alpha * contests


@pytest.mark.parametrize("seed", range(3))
def test_a_slow_worker_is_named(seed: int) -> None:
    found = stand_out(contest(seed, 800, slow=2.5), look_at(800))
    assert [(each.worker, each.what) for each in found][:1] == [("w0", "its games take longer")]
    assert found[0].games == 800
    assert {each.worker for each in found if each.what == "its games take longer"} == {"w0"}


@pytest.mark.parametrize("seed", range(3))
def test_a_worker_that_gives_points_is_named_with_its_bot(seed: int) -> None:
    found = stand_out(contest(seed, 800, gift=150), look_at(800))
    assert ("w0", "ann gets more points there") in [(each.worker, each.what) for each in found]


def test_a_worker_with_many_time_outs_is_named() -> None:
    games = [
        (PastGame(n, BOTS[:2], n, (1, 1), "complete", 4, (("ann", "timeout"),) if n % 2 else ()), f"w{n % 2}")
        for n in range(100)
    ]
    assert ("w1", "it has more time-outs") in [(each.worker, each.what) for each in stand_out(games, 1)]


def test_void_games_and_those_of_the_server_do_not_count() -> None:
    games = contest(1, 400, slow=9.0)
    void = [(PastGame(g.number, g.names, 0, g.totals, "void", 20, (), g.used_ms), w) for g, w in games]
    assert stand_out(void, 1) == stand_out([(game, "") for game, _ in games], 1) == []


def test_the_looks() -> None:
    looks = {results: look_at(results) for results in range(1, 2000) if look_at(results)}
    assert looks == {100: 1, 200: 2, 400: 3, 800: 4, 1600: 5}


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_ranks_are_those_of_their_definition(values: list[int]) -> None:
    ranks = ranked(values)
    size = len(values)
    for value, rank in zip(values, ranks, strict=True):
        below, equal = sum(each < value for each in values), values.count(value)
        assert rank == pytest.approx((below + (equal - 1) / 2 - (size - 1) / 2) / size)
    assert sum(ranks) == pytest.approx(0)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=9), st.data())
def test_the_bound_is_above_the_exact_chance(values: list[int], data: st.DataObject) -> None:
    """Of all ways to choose the games of a worker, all as likely."""
    own = data.draw(st.integers(1, len(values) - 1))
    ranks = ranked(values)
    sums = [sum(chosen) for chosen in combinations(ranks, own)]
    variance = own * sum(rank * rank for rank in ranks) / len(ranks)
    for total in set(sums):
        exact = sum(abs(each) >= abs(total) - 1e-9 for each in sums) / len(sums)
        assert bound(total, variance) >= exact - 1e-9


def test_the_results_of_a_database_are_compared_at_a_look(tmp_path: Path) -> None:
    database = tmp_path / "arena.db"
    kept = Kept(database)
    kept.start()
    for number in range(1, 101):
        slow = number % 2
        record = replace(game(number), worker=f"w{slow}", host="box")
        plies = tuple(ply._replace(time_ms=5 + 900 * slow + number % 7) for ply in record.plies)
        kept.writer.store(f"g{number}", replace(record, plies=plies))
    kept.close()
    found = _stand_out(database, "trial", 1)
    assert [(each.worker, each.what, each.games) for each in found] == [
        ("w0", "its games take less time", 100),
        ("w1", "its games take longer", 100),
    ]
    assert _stand_out(database, "other", 1) == []


def test_the_games_of_a_comparison_are_not_in_memory_at_once() -> None:
    def most(games: int) -> int:
        rng = Random(games)
        points = (rng.randrange(900) for _ in range(games))
        played = ((PastGame(1, BOTS[:2], 1, (n, 5), "complete", 9, (), (n + 1, 8)), "w") for n in points)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        assert stand_out(played, 1) == []
        return tracemalloc.get_traced_memory()[1] - before

    tracemalloc.start()
    try:
        most(10)  # what is made once
        assert most(4000) - most(2000) < 2000 * 300
    finally:
        tracemalloc.stop()
