"""The simulated server is killed at every boundary of its journal, and nothing that was sent is lost."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from tests.simulation.crashes import NEVER, QUEUED, Crash, Steady, at, run
from tests.simulation.invariants import Violation
from tests.simulation.server import SimulatedServer
from tests.simulation.world import World
from tests.slices import rows

from arena_server.core.effects import Effect
from arena_server.host.batches import CommitBarrier
from arena_server.stats.standings import Row
from arena_server.terms.config import ContestConfig

CONFIG = ContestConfig(
    name="crash",
    seed=3,
    options={"plies": 4, "lookahead": 2},
    games_per_pair=2,
    absent_ms=120_000,
    storage_bytes=16,
)
#: Entries are queued, or durable at once.
PROFILES = {"queued": QUEUED, "direct": replace(QUEUED, direct_one_in=1)}


def play(crash: Crash = NEVER, writes: str = "queued") -> tuple[World, int]:
    """One contest of three; `crash` is called at every boundary of the disk, with its number."""
    world = World(1, CONFIG, {"ann": Steady, "bob": Steady, "eve": Steady}, PROFILES[writes])
    return world, run(world, crash)


def table(world: World) -> list[tuple[str, int, int]]:
    """What does not depend on when things happened."""
    rows: tuple[Row, ...] = world.contest.status.progress().standings
    return sorted((row.name, row.games, row.points) for row in rows)


UNDISTURBED, BOUNDARIES = play()
both_writes = pytest.mark.parametrize("writes", sorted(PROFILES))


@cache
def boundaries(writes: str) -> int:
    world, number = play(writes=writes)
    check(world, 0)
    return number


def check(world: World, crashes: int) -> None:
    assert world.server.crashes == crashes
    assert world.server.finished == "finished"
    assert table(world) == table(UNDISTURBED)
    assert sorted(world.records) == sorted(UNDISTURBED.records)
    for game_id, record in world.records.items():
        assert record.totals == UNDISTURBED.records[game_id].totals
        assert record.faults == ()


@both_writes
def test_undisturbed(writes: str) -> None:
    assert boundaries(writes) > 90
    assert len(UNDISTURBED.records) == 6
    assert {games for _, games, _ in table(UNDISTURBED)} == {4}


@both_writes
def test_at_every_tenth_boundary(writes: str) -> None:
    """Killed, half of the times by a power cut; the two ways of writing share the boundaries."""
    for number in range(1 + 5 * (writes == "queued"), boundaries(writes), 10):
        check(play(at(number, power=number % 20 < 10), writes)[0], 1)


@pytest.mark.soak
@both_writes
@pytest.mark.parametrize("power", [False, True], ids=["killed", "power cut"])
def test_at_every_boundary_in_both_ways(power: bool, writes: str) -> None:
    for number in range(1, boundaries(writes)):
        check(play(at(number, power=power), writes)[0], 1)


def test_again_and_again() -> None:
    """Every thirtieth boundary is the last of its life; to come back alone takes a dozen."""
    world, _ = play(lambda number, server: server.crash() if number % 30 == 0 else None)
    check(world, world.server.crashes)
    assert world.server.crashes > 2


@both_writes
@pytest.mark.parametrize("every", rows([10, 1], 2))
def test_a_server_that_ends_by_a_signal_leaves_its_games_to_the_next_one(writes: str, every: int) -> None:
    """No game is void, and every bot comes back by itself."""
    for number in range(1 + every // 2 * (writes == "queued"), boundaries(writes), every):
        said: list[str] = []
        world, _ = play(suspended_at(number, said), writes)
        check(world, 0)
        assert world.server.stops == 1
        # After the last boundary its contest is over.
        assert said == ["stopped"] * (number < boundaries(writes) - 1)


def suspended_at(boundary: int, said: list[str]) -> Crash:
    """Let the server end in order at a boundary; `said` gets how its contest ended."""

    def crash(number: int, server: SimulatedServer) -> None:
        if number == boundary:
            server.looked_at = lambda name, status: said.append(status) if status == "stopped" else None
            server.queue.after(0, lambda: server.order("crash", "suspend"))

    return crash


def test_a_contest_that_is_over_is_not_begun_again() -> None:
    world, _ = play()
    world.server.crash()
    assert (world.server.alive, world.server.crashes) == (True, 0)


class TestAServerThatLosesThings:
    """With a server that is broken on purpose the checker reports what is lost."""

    def test_a_barrier_that_holds_nothing_back(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The simulation runs the driver's own CommitBarrier: a fault of it is found."""
        release = CommitBarrier.release

        def release_at_once(barrier: CommitBarrier) -> list[Effect]:
            barrier.durable(barrier.batch)
            return release(barrier)

        monkeypatch.setattr(CommitBarrier, "release", release_at_once)
        with pytest.raises(Violation, match=LOST):
            _at_every_boundary()

    def test_a_journal_that_lost_an_entry(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from tests.simulation.disk import Disk

        past = Disk.past

        def shorter(disk: Disk, contest: str) -> object:
            there = past(disk, contest)
            return type(there)(there.results, there.entries[:-3])

        monkeypatch.setattr(Disk, "past", shorter)
        with pytest.raises(Violation, match=LOST):
            _at_every_boundary()

    def test_a_result_that_is_lost(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from tests.simulation.disk import Disk

        past = Disk.past

        def fewer(disk: Disk, contest: str) -> object:
            there = past(disk, contest)
            return type(there)(there.results[1:], there.entries)

        monkeypatch.setattr(Disk, "past", fewer)
        with pytest.raises(Violation, match=r"^at [\d.]+ s: the results of g\d were sent, and are lost$"):
            play(at(BOUNDARIES - 20))


#: How the checker reports plies or keys that were sent and are lost.
LOST = (
    r"\d plies of g\d were sent, and are lost|was sent in two forms|clocks that rose|key of \w+ was refused"
)


def _at_every_boundary() -> None:
    for number in range(1, BOUNDARIES):
        play(at(number))
