"""Simulated contests: a handful of seeds each time, thousands of games in the soak run."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.simulation import test_validation
from tests.simulation.bots import BAD, HONEST, SCRIPTED
from tests.simulation.invariants import Violation
from tests.simulation.network import MS, SECOND
from tests.simulation.run import SimulationError, Tally, simulate, text
from tests.simulation.scenario import draw
from tests.simulation.world import World

from arena_protocol.record import FaultKind
from arena_server.core.match import Blame, Match

from ..slices import rows

#: Together some 400 games, most of them for `make soak`, with every fault profile and all kinds of fault.
SEEDS = range(1000, 1012)


@pytest.mark.parametrize("seed", rows(SEEDS, 6))
def test_a_seed_holds(seed: int) -> None:
    tally = simulate(seed, 1)
    assert tally.games == sum(tally.endings.values()) > 0


def test_the_same_seed_gives_the_same_bytes() -> None:
    first, second, other = simulate(2, 1), simulate(2, 1), simulate(4, 1)
    assert first == second
    assert first.digest != other.digest


def test_it_goes_on_with_the_next_seed_until_there_are_enough_games() -> None:
    counts: list[int] = []
    tally = simulate(40, 20, lambda so_far: counts.append(so_far.games))
    assert counts[-1] == tally.games >= 20 > counts[-2]
    assert len(counts) == tally.contests > 1


def test_every_kind_of_bot_and_fault_is_drawn() -> None:
    drawn = [draw(seed) for seed in range(400)]
    assert {kind for contest in drawn for kind in contest.kinds.values()} >= {*HONEST, *BAD, *SCRIPTED}
    assert {contest.faults.split_one_in for contest in drawn} == {0, 6}
    assert {contest.config.game for contest in drawn} == {"insertion", "tictactoe", "lastcoin", "disc", "xo"}


class TestAFailureIsFound:
    """With a server that is broken on purpose, the seed is named and shows it again."""

    @pytest.mark.parametrize(
        ("broken", "found"),
        [
            ("blame", r"seed \d+: at [\d.]+ s: \S+ was blamed for quit in g\d+, ply \d+; repeat it with: "),
            ("early", r"seed \d+: at [\d.]+ s: \d+ results count, \d+ are durable; "),
            ("forget", r"seed \d+: at [\d.]+ s: \d+ games were started, \d+ are known; "),
            (
                "crash",
                r"seed \d+: ZeroDivisionError: integer division or modulo by zero; repeat it with: ",
            ),
            ("endless", r"seed \d+: at [\d.]+ s: nothing happens any more; "),
        ],
    )
    def test_named_and_replayed(self, broken: str, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
        _break(broken, monkeypatch)
        with pytest.raises(SimulationError, match=found) as first:
            simulate(11, 200)
        with pytest.raises(SimulationError) as second:
            simulate(first.value.seed, 1)
        assert str(second.value) == str(first.value)


def _break(how: str, patch: pytest.MonkeyPatch) -> None:
    from arena_server.core.contest import Contest
    from arena_server.core.results import ResultCounter

    received, decide = Contest.received, Match.decide
    if how == "blame":

        def blame(self, seat, now):  # type: ignore[no-untyped-def]
            return self.execute(Blame(seat, FaultKind.QUIT, b""), now)

        patch.setattr(Match, "depart", blame)
    elif how == "early":

        def announce_at_once(self, conn, line, arrived, now):  # type: ignore[no-untyped-def]
            received(self, conn, line, arrived, now)
            for number in list(self._games._games):
                self._games.stored(f"g{number}", now)

        patch.setattr(Contest, "received", announce_at_once)
    elif how == "forget":
        patch.setattr(ResultCounter, "add", lambda self, game: None)
    elif how == "crash":
        patch.setattr(Match, "decide", lambda self, *a: 1 // 0 if self.ply == 3 else decide(self, *a))
    else:
        patch.setattr(Contest, "_start_and_end", lambda self, now: None)


class TestTheCommand:
    def test_it_prints_what_came_of_it(self) -> None:
        tally = Tally(1, 12, 3, 1, 100, 900, 20, 3, 2, 60, digest="d1")
        tally.endings.update({"complete": 11, "win": 1})
        assert text(tally, 2.0) == (
            "12 games in 1 contests, 100 plies, 900 events, 20 connections, 3 crashes, 2 stops: "
            "everything held\n"
            "validation games: 3, 1 with a fault\n"
            "endings: complete 11, win 1\n"
            "faults: none\n"
            "60 s of virtual time in 2.0 s, 6 games/s\n"
            "digest: d1"
        )

    def test_validation_games_are_counted(self) -> None:
        """ann, bob and late play one each; eve two, the first with a fault; mad three, all with one."""
        world, _ = test_validation.play()
        tally = Tally()
        tally.add(world)
        assert (tally.validations, tally.faulty_validations) == (8, 4)
        assert tally.games == len(world.records) == sum(tally.endings.values())
        assert not tally.faults, "a fault in a validation game is in no other count"

    @pytest.mark.real
    @pytest.mark.soak
    def test_json(self) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "tests.simulation", "--seed", "3", "--games", "1", "--json"],
            capture_output=True,
            text=True,
            check=True,
        )
        printed = json.loads(done.stdout)
        alone = simulate(3, 1)
        assert (printed["seed"], printed["games"], printed["digest"]) == (3, alone.games, alone.digest)
        assert printed["faults"] == dict(alone.faults)


def test_virtual_time_is_free() -> None:
    """Hours of waiting for bots that are away cost nothing."""
    world = draw(1).play()
    assert world.queue.now > 60_000 * MS


def test_a_contest_has_to_end_in_time() -> None:
    contest = draw(1)
    world = World(1, contest.config, contest.kinds)
    with pytest.raises(Violation, match=r"^the contest has not ended after 2 s of virtual time$"):
        world.run(2 * SECOND)


@pytest.mark.soak
def test_twenty_thousand_games(soak_seed: int) -> None:
    tally = simulate(100_000 * soak_seed, 20_000)
    assert tally.games >= 20_000
    # No bot of the simulation runs in a container.
    assert set(tally.faults) == set(FaultKind) - {FaultKind.RESOURCE}
