"""The tally of the results of a match: deals, faults, and the sequential test."""

from __future__ import annotations

import random
from typing import Any

import pytest

from arena_cli.match_run import Tally
from arena_server.stats.elo import Sprt


def result(deal: str, totals: tuple[int, ...], *faults: tuple[int, str]) -> dict[str, Any]:
    """A result as the server reports it."""
    return {
        "deal": deal,
        "totals": list(totals),
        "used_ms": [5] * len(totals),
        "faults": [{"seat": seat, "kind": kind} for seat, kind in faults],
    }


class TestTally:
    def test_a_deal_counts_when_all_its_games_are_played(self) -> None:
        tally = Tally(["a", "b"])
        assert not tally.add(result("x", (30, 10)), (0, 1))
        assert not tally.add(result("y", (0, 50)), (0, 1))
        assert tally.scores.standing(["a", "b"], None)["games"] == 0
        assert tally.add(result("x", (20, 40)), (1, 0))
        means = tally.scores.standing(["a", "b"], None)
        assert (means["deals"], means["games"], means["points"]) == (1, 2, [35.0, 15.0])
        assert means["pairs"] == [0, 0, 0, 0, 1]

    def test_equal_deals_that_are_played_at_once_are_two_deals(self) -> None:
        """Every tic-tac-toe game has the same deal."""
        tally = Tally(["a", "b"])
        for _ in range(2):
            assert not tally.add(result("x", (2, 0)), (0, 1))
        for _ in range(2):
            assert tally.add(result("x", (2, 0)), (1, 0))
        assert not tally.add(result("x", (0, 2)), (1, 0))
        assert tally.scores.standing(["a", "b"], None)["pairs"] == [0, 0, 2, 0, 0]

    def test_equal_deals_of_two_orders_of_the_players_are_two_deals(self) -> None:
        tally = Tally(["a", "b", "c"])
        for seating in ((0, 1, 2), (2, 1, 0), (1, 2, 0), (1, 0, 2)):
            assert not tally.add(result("x", (3, 3, 3)), seating)
        assert tally.add(result("x", (3, 3, 3)), (2, 0, 1))
        assert tally.add(result("x", (3, 3, 3)), (0, 2, 1))

    def test_the_first_fault_of_a_seat_is_counted_by_the_player(self) -> None:
        tally = Tally(["a", "b", "c"])
        tally.add(result("x", (0, 0, 0), (1, "illegal"), (1, "quit"), (3, "timeout")), (2, 0, 1))
        tally.add(result("x", (0, 0, 0)), (0, 1, 2))
        assert tally.add(result("x", (30, 60, 90)), (1, 2, 0))
        assert tally.scores.faults == {"c": ["illegal"], "b": ["timeout"]}
        assert tally.scores.standing(["a", "b", "c"], None)["points"] == [30.0, 10.0, 20.0]

    @pytest.mark.parametrize(("share", "verdict"), [(0.9, "better"), (0.1, "no better")])
    def test_the_test_is_decided_from_results(self, share: float, verdict: str) -> None:
        tally, chance = Tally(["a", "b"]), random.Random(7)
        for number in range(200):
            for seating in ((0, 1), (1, 0)):
                mine = 10 if chance.random() < share else 0
                totals = (mine, 10 - mine) if seating == (0, 1) else (10 - mine, mine)
                tally.add(result(str(number), totals), seating)
        assert tally.scores.standing(["a", "b"], Sprt(0, 50))["verdict"] == verdict
