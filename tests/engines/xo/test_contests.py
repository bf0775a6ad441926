"""Contests of XO on the referee's own machine: `xo` plays legally, wins, and plays the same games again."""

from __future__ import annotations

from functools import cache

import pytest
from tests.slices import rows

from arena_protocol.record import GameRecord

from ..test_games_end_to_end import contest, points

BOTS: dict[str, object] = {"modern": "xo:nodes=300", "quick": "xo:depth=1", "random": "random:seed=3"}


@cache
def once() -> list[GameRecord]:
    return games({"opening": 4})


def games(options: dict[str, object]) -> list[GameRecord]:
    return contest("xo", options, BOTS, 2)


@pytest.mark.parametrize("options", rows([{"opening": 4}, {"size": 14, "opening": 6}], 2))
def test_a_contest_of_xo_bots_runs_to_its_end_without_a_fault(options: dict[str, object]) -> None:
    records = once() if options == {"opening": 4} else games(options)
    assert len(records) == 6
    assert all(not record.faults and record.end in ("win", "draw") for record in records)
    against_random = [record for record in records if "random" in record.names]
    assert sum(points(against_random, "random")) == 0


def test_with_nodes_and_depth_a_contest_can_be_repeated_move_for_move() -> None:
    first, again = once(), games({"opening": 4})
    assert [[ply.move for ply in record.plies] for record in first] == [
        [ply.move for ply in record.plies] for record in again
    ]
