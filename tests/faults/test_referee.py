"""Faults of the platform, as docs/faults.md has them: they cost no bot anything."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from tests.simulation.network import CALM, MS, SECOND, FaultProfile
from tests.simulation.world import World
from tests.slices import all_of

from arena_protocol.record import GameRecord
from arena_server.terms.config import ContestConfig

from .fault_case import THINKING, Bob

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"
ROOT = PAGE.parents[1]
CONFIG = ContestConfig(name="referee", seed=5, options={"plies": 6, "start": "empty"}, games_per_pair=2)
#: In the middle of the third ply of the first game; bob-1 thinks.
MOMENT = 25 * MS


class Steady(Bob):
    """Bob with moves that do not depend on the deal."""

    def move(self) -> str:
        return "MOVE 7"


def play(profile: FaultProfile = CALM, stall: int = 0, config: ContestConfig = CONFIG) -> list[GameRecord]:
    """One contest of two games; the loop stands still once, for `stall` nanoseconds."""
    world = World(1, config, {"one": Steady, "two": Steady}, profile)
    if stall:
        world.queue.after(MOMENT, lambda: world.server.process.stall(stall))
    world.run(3600 * SECOND, {"one": 0, "two": 0})
    assert world.checker.finished == "finished"
    return list(world.records.values())


UNDISTURBED = play()


def results(records: list[GameRecord]) -> list[tuple[tuple[str, ...], tuple[int, ...], str]]:
    return sorted((record.names, record.totals, record.board) for record in records if record.end != "void")


def test_undisturbed() -> None:
    assert [record.end for record in UNDISTURBED] == ["complete", "complete"]
    assert {ply.time_ms for record in UNDISTURBED for ply in record.plies} == {THINKING // MS}


def test_a_stall_below_the_limit_is_not_charged() -> None:
    """The move lay in the kernel, stamped, while the server stood still."""
    records = play(stall=2500 * MS)
    assert results(records) == results(UNDISTURBED)
    assert {ply.time_ms for record in records for ply in record.plies} == {THINKING // MS}
    assert [record.faults for record in records] == [(), ()]


def test_a_stall_beyond_the_limit_voids_the_game_and_it_is_played_again() -> None:
    records = play(stall=5 * SECOND)
    assert [record.end for record in records] == ["void", "complete", "complete"]
    assert [(fault.seat, str(fault.kind)) for fault in records[0].faults] == [(0, "void")]
    assert results(records) == results(UNDISTURBED)


def test_a_slow_disk_is_not_charged() -> None:
    """What waits for the disk is sent late, and no clock runs for what was not sent."""
    records = play(replace(CALM, longest_commit=8 * SECOND), config=replace(CONFIG, clock_ms=1000))
    assert results(records) == results(UNDISTURBED)
    assert {ply.time_ms for record in records for ply in record.plies} == {THINKING // MS}


@all_of(
    "row", ["killed", "power cut", "stopped for a while", "slow disk", "full or failing disk", "wall clock"]
)
def test_the_page_names_tests_for_every_row(row: str) -> None:
    line = next(line for line in PAGE.read_text().splitlines() if line.startswith(f"| {row}"))
    paths = re.findall(r"`(tests/[^`]+)`", line)
    assert paths
    assert all((ROOT / path).is_file() for path in paths)
