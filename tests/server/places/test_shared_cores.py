"""Programs that compute by turns share a core; all others, and those that wait for theirs, have all cores."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_server.places.process_time import GroupWork
from arena_server.places.shared_cores import CROWDED_NS, INTERVAL_NS, NS_PER_MS, Program, SharedCores, Stint

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux")

CORES = {2, 3, 5}
PLIES = 100
#: What a program does in a game of 100 plies, half of them its own: ms of its clock, of its busiest thread,
#: of all its threads and children, and how long it waits for its core.
WAYS = {
    "quick": (0, 1, 1, 3),
    "thinks": (900, 899, 900, 12),
    "ponders": (20, 900, 900, 1),
    "pool": (500, 450, 900, 2),
    "beside": (500, 430, 500, 2),
    "waits": (570, 480, 480, 90),
    "sleeps": (900, 20, 20, 12),
    "opponent": (480, 480, 480, 400),  # it gets lines while its opponent has the core
}
SERIAL = {"quick", "thinks", "waits", "sleeps", "opponent"}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_by_turns(way: str) -> None:
    charged, busiest, spent, waited = WAYS[way]
    played = Stint(1, PLIES // 2, charged)
    assert played.is_serial(spent * NS_PER_MS, busiest * NS_PER_MS) == (way in SERIAL)
    assert played.is_crowded(waited * NS_PER_MS, spent * NS_PER_MS, 1) == (way == "waits")


@dataclass
class Machine:
    """Programs with one process of two threads each, and where their threads may run; 0 is the referee."""

    policies: dict[int, int] = field(default_factory=dict)
    masks: dict[int, set[int]] = field(default_factory=lambda: {0: set(CORES)})
    works: dict[int, GroupWork] = field(default_factory=dict)
    groups: dict[Program, int] = field(default_factory=dict)
    now: int = 0
    #: Whether programs have chosen their cores themselves.
    chosen: bool = False

    def start(self, program: Program) -> None:
        group = self.groups[program] = 10 * (len(self.works) + 1)
        self.masks |= {group: set(CORES), group + 1: set(CORES)}
        self.policies |= dict.fromkeys((group, group + 1), os.SCHED_OTHER)
        self.works[group] = GroupWork({group: 7}, {group: 5, group + 1: 2}, 0, max(CORES))

    def play(self, program: Program, way: str) -> int:
        """A program plays a game in this way; returns what it is charged."""
        charged, busiest, spent, waited = (each * NS_PER_MS for each in WAYS[way])
        group = self.groups[program]
        work, threads = self.works[group], dict(self.works[group].threads)
        threads[group] += busiest
        processes = {group: work.processes[group] + spent}
        self.works[group] = GroupWork(processes, threads, work.waited + waited, work.core)
        return charged // NS_PER_MS

    def bind(self, thread: int, cores: Iterable[int]) -> None:
        assert set(cores) <= CORES
        self.masks[thread] = set(cores)

    def cores_of(self, program: Program) -> set[int]:
        first, second = (self.masks[self.groups[program] + thread] for thread in (0, 1))
        assert first == second
        batch = {self.policies[self.groups[program] + thread] == os.SCHED_BATCH for thread in (0, 1)}
        assert batch == {len(first) == 1 and not self.chosen}
        return first

    def shared(self, programs: Collection[Program]) -> SharedCores:
        for program in programs:
            self.start(program)
        return SharedCores(
            programs, lambda *each: self.groups.get(each), read=self.works.get, clock=lambda: self.now
        )


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return on(monkeypatch)


def on(patch: pytest.MonkeyPatch) -> Machine:
    made = Machine()
    patch.setattr(os, "sched_getaffinity", lambda thread: made.masks[thread])
    patch.setattr(os, "sched_setaffinity", made.bind)
    patch.setattr(os, "sched_getscheduler", made.policies.__getitem__)
    patch.setattr(os, "sched_setscheduler", lambda thread, how, _: made.policies.update({thread: how}))
    return made


ANN, BOB = ("ann", 1), ("bob", 1)


def game(
    machine: Machine, cores: SharedCores, ways: dict[Program, str], pass_: int = INTERVAL_NS
) -> int | None:
    """A whole game."""
    cores.begun("g", list(ways))
    charged = [machine.play(program, way) for program, way in ways.items()]
    machine.now += pass_
    return cores.over("g", charged, PLIES)


def test_the_programs_and_the_referee_of_one_game_share_a_core(machine: Machine) -> None:
    cores = machine.shared([ANN, BOB])
    quick = {ANN: "quick", BOB: "thinks"}
    assert game(machine, cores, quick) is None, "the first game shows what they do"
    core = max(CORES)  # where the first one ran last
    assert machine.cores_of(ANN) == machine.cores_of(BOB) == machine.masks[0] == {core}
    assert game(machine, cores, quick, 1) == core
    # What one does in a game so soon after is seen with that of the next one.
    assert game(machine, cores, quick | {BOB: "ponders"}, 1) == core
    assert game(machine, cores, quick) == core
    assert machine.cores_of(ANN) == machine.cores_of(BOB) == machine.masks[0] == CORES
    assert game(machine, cores, quick) is None
    assert game(machine, cores, quick) == core
    # One that waits for its core has all of them for some time.
    assert game(machine, cores, quick | {ANN: "waits"}) == core
    for _ in range(CROWDED_NS // INTERVAL_NS):
        assert game(machine, cores, quick) is None
    assert game(machine, cores, quick) == core
    # One that was started again is not known, and what cannot be read is bound to nothing.
    machine.start(ANN)
    cores.begun("g2", [ANN, BOB])
    assert machine.cores_of(ANN) == machine.cores_of(BOB) == CORES
    machine.works.pop(machine.groups[BOB])
    machine.now += INTERVAL_NS
    assert cores.over("g2", [0, 0], PLIES) is None
    assert machine.masks[0] == CORES
    cores.close()


def test_who_has_chosen_its_cores_keeps_them(machine: Machine) -> None:
    cores = machine.shared([ANN, BOB])
    machine.masks |= {machine.groups[ANN]: {2}, machine.groups[ANN] + 1: {2}}
    for _ in range(3):
        game(machine, cores, {ANN: "quick", BOB: "quick"})
    assert machine.cores_of(BOB) == {5}
    machine.chosen = True
    assert machine.cores_of(ANN) == {2}
    machine.groups.pop(ANN)
    assert game(machine, cores, {BOB: "quick"}) == 5
    cores.close()
    assert machine.masks[0] == CORES


def test_games_of_quick_programs_are_together_and_others_apart(machine: Machine) -> None:
    slots = [1, 2, 3]
    cores = machine.shared([(name, slot) for slot in slots for name in ("ann", "bob")])

    def play(way: str) -> list[int | None]:
        for slot in slots:
            cores.begun(str(slot), [("ann", slot), ("bob", slot)])
        found = []
        for slot in slots:
            charged = [machine.play((name, slot), way) for name in ("ann", "bob")]
            machine.now += INTERVAL_NS
            found.append(cores.over(str(slot), charged, PLIES))
        return found

    assert play("thinks") == [None] * 3
    assert sorted(core or 0 for core in play("thinks")) == sorted(CORES)
    assert machine.masks[0] == CORES
    for _ in range(3):
        play("quick")
    assert len(set(play("quick"))) == 1
    assert len(machine.masks[0]) == 1
    for _ in range(2):
        play("thinks")
    assert sorted(core or 0 for core in play("thinks")) == sorted(CORES)
    assert machine.masks[0] == CORES


def test_a_machine_of_one_core_binds_nothing(machine: Machine) -> None:
    machine.masks[0] = {2}
    cores = machine.shared([ANN, BOB])
    for _ in range(3):
        assert game(machine, cores, {ANN: "quick", BOB: "quick"}) is None
    cores.close()
    assert machine.masks[0] == {2}


@given(
    st.lists(
        st.tuples(st.sampled_from([*WAYS]), st.sampled_from([*WAYS]), st.booleans(), st.booleans()),
        max_size=12,
    )
)
def test_who_does_not_compute_by_turns_is_never_bound_for_its_next_game(
    steps: list[tuple[str, str, bool, bool]],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        machine = on(patch)
        cores = machine.shared([ANN, BOB])
        for number, (one, other, soon, again) in enumerate(steps):
            if again:
                machine.start(BOB)
            before = machine.cores_of(ANN)
            core = game(machine, cores, {ANN: one, BOB: other}, 1 if soon else INTERVAL_NS)
            assert core is None or before == {core}
            assert machine.cores_of(ANN) == machine.cores_of(BOB) == machine.masks[0]
            if soon and number and not again:
                assert machine.cores_of(ANN) == before, "they are looked at again later"
            elif not SERIAL.issuperset({one, other}):
                assert machine.cores_of(ANN) == CORES
        cores.close()
        assert machine.masks[0] == CORES
