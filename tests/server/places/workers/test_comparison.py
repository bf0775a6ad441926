"""Workers that stand out are named, and equal ones no more often than is said."""

from __future__ import annotations

import math
import tracemalloc
from dataclasses import replace
from itertools import pairwise, permutations, product
from math import comb
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.records import Kept, game
from tests.slices import rows

from arena_server.places.workers.comparison import ALPHA, Comparison, PairCount, StandsOut, share_of
from arena_server.places.workers.past_games import compared_games
from arena_server.stats.results import PastGame

BOTS = ("ann", "bob", "cid")


def contest(
    seed: int, games: int, workers: int = 3, slow: float = 1.0, gift: int = 0, timeouts: float = 0.05
) -> list[tuple[PastGame, str]]:
    """Games of workers, of which w0 takes `slow` times as long, and gives ann `gift` points more."""
    rng = Random(seed)
    pairs = list(permutations(BOTS, 2))
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


def compared(games: list[tuple[PastGame, str]], alpha: float = ALPHA) -> list[StandsOut]:
    comparison = Comparison(len(BOTS), alpha)
    for each, worker in games:
        comparison.add(each, worker)
    return comparison.found


def test_the_evidence_is_a_fair_game() -> None:
    """Of all ways in which equal pairs may come, its mean is 1, and it reaches 1/x in at most x of them."""
    for pairs in range(1, 11):
        evidence = []
        for signs in product((1, -1), repeat=pairs):
            tally, best = PairCount(), 0.0
            for sign in signs:
                tally.add(sign, 0)
                best = max(best, 1 / tally.chance)
            evidence.append(best)
        for x in (0.5, 0.2, 0.1, 0.05):
            assert sum(each >= 1 / x for each in evidence) <= x * len(evidence)
        mean = sum(
            comb(pairs, above) * math.factorial(above) * math.factorial(pairs - above)
            for above in range(pairs + 1)
        ) / math.factorial(pairs + 1)
        assert mean == pytest.approx(1)


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_chance_is_that_of_its_formula(above: int, below: int) -> None:
    exact = (above + below + 1) * comb(above + below, above) / 2 ** (above + below)
    assert PairCount(above, below).chance == pytest.approx(min(1.0, exact))


def test_shares_are_at_most_the_whole() -> None:
    assert sum(map(share_of, range(1, 10_000))) == pytest.approx(1, abs=0.001)
    assert all(more > less for more, less in pairwise(map(share_of, range(1, 9))))


@pytest.mark.parametrize("contests", rows([60, 150], 2))
def test_equal_workers_are_named_in_no_more_contests_than_is_said(contests: int) -> None:
    alpha = 0.2
    named = sum(bool(compared(contest(seed, 200, timeouts=0.01), alpha)) for seed in range(contests))
    assert named <= alpha * contests


@pytest.mark.parametrize("seed", range(3))
def test_a_slow_worker_is_named(seed: int) -> None:
    found = compared(contest(seed, 800, slow=2.5))
    longer = [each for each in found if each.what == "its games take longer"]
    assert [each.worker for each in longer] == ["w0"]
    assert longer[0].games < 500


@pytest.mark.parametrize("seed", range(3))
def test_a_worker_that_gives_points_is_named_with_its_bot(seed: int) -> None:
    found = compared(contest(seed, 800, gift=150))
    assert ("w0", "ann gets more points there") in [(each.worker, each.what) for each in found]


def test_a_worker_that_swaps_programs_is_named_before_a_hundred_games() -> None:
    games = [
        (PastGame(n, ("ann", "bob"), n, (15, 207) if n % 3 else (207, 15), "complete", 20), f"w{n % 3}")
        for n in range(1, 100)
    ]
    found = compared(games)
    assert (found[0].worker, found[0].what) == ("w0", "ann gets more points there")
    assert found[0].games < 60


def test_a_worker_with_many_time_outs_is_named() -> None:
    games = [
        (PastGame(n, BOTS[:2], n, (1, 1), "complete", 4, (("ann", "timeout"),) if n % 2 else ()), f"w{n % 2}")
        for n in range(100)
    ]
    assert ("w1", "it has more time-outs") in [(each.worker, each.what) for each in compared(games)]


def test_void_games_and_those_of_the_server_do_not_count() -> None:
    games = contest(1, 400, slow=9.0)
    void = [(PastGame(g.number, g.names, 0, g.totals, "void", 20, (), g.used_ms), w) for g, w in games]
    assert compared(void) == compared([(game, "") for game, _ in games]) == []


@given(st.integers(0, 10**6), st.booleans())
def test_results_are_taken_in_the_order_in_which_games_were_given_out(seed: int, none: bool) -> None:
    games, rng = contest(seed, 120, slow=9.0), Random(seed)
    dropped = {each.number for each, _ in games if none and rng.random() < 0.2}
    expected = compared([(each, worker) for each, worker in games if each.number not in dropped])
    comparison = Comparison(len(BOTS))
    for each, _ in games:
        comparison.given_out(each.number, each.names)
        comparison.given_out(each.number, each.names)  # it was lost, and is played by another
    rng.shuffle(games)
    found = []
    for each, worker in games:
        if each.number in dropped:
            found += comparison.drop(each.number)
            assert comparison.drop(each.number) == []
        else:
            found += comparison.add(each, worker)
    assert found == comparison.found
    # Groups come in another order, so that another game may be the one that names a worker.
    few = {(each.worker, each.what) for each in expected if each.chance > 1e-6}
    assert {(each.worker, each.what) for each in expected} - few <= {
        (each.worker, each.what) for each in found
    }


def test_the_results_of_a_database_are_compared(tmp_path: Path) -> None:
    database = tmp_path / "arena.db"
    kept = Kept(database)
    kept.start()
    for number in range(1, 101):
        slow = number % 2
        record = replace(game(number), worker=f"w{slow}", host="box")
        plies = tuple(ply._replace(time_ms=5 + 900 * slow + number % 7) for ply in record.plies)
        kept.writer.store(f"g{number}", replace(record, plies=plies))
    kept.close()
    found = compared_games(database, "trial", 2, ())
    assert {(each.worker, each.what) for each in found.found} == {
        ("w0", "its games take less time"),
        ("w1", "its games take longer"),
    }
    assert found.evidence("w1") == 1.0
    assert compared_games(database, "trial", 2, ["w0"]).found == []
    assert compared_games(database, "other", 2, ()).found == []


def test_the_games_of_a_comparison_are_not_kept() -> None:
    def most(games: int) -> int:
        rng = Random(games)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        comparison = Comparison(2)
        for number in range(games):
            totals, used = (rng.randrange(900), 5), (number + 1, 8)
            comparison.add(PastGame(number, BOTS[:2], 1, totals, "complete", 9, (), used), "w")
        return tracemalloc.get_traced_memory()[1] - before

    tracemalloc.start()
    try:
        most(10)  # what is made once
        assert most(4000) - most(2000) < 2000 * 20
    finally:
        tracemalloc.stop()


def test_all_pairs_of_workers_are_compared() -> None:
    """One of four that differs is the first to be named."""
    rng = Random(5)
    games = [
        (PastGame(n, ("ann", "bob"), n, (rng.randrange(9) + 9 * (w == "w2"), 5), "complete", 20), w)
        for n, w in enumerate(rng.choice(["w0", "w1", "w2", "w3"]) for _ in range(400))
    ]
    assert compared(games)[0].worker == "w2"
