"""The files of a control group, of version 1, of version 2, and of both."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena_server.places.cgroup import ControlGroup, CpuTime

ID = "0123456789abcdef"
V2_STAT = "usage_usec 5000\nuser_usec 4000\nnr_throttled 3\nthrottled_usec 700\n"
V1_STAT = "nr_periods 4\nnr_throttled 1\nthrottled_time 900000\n"
PRESSURE = "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n"


class Machine:
    """A /proc and the mounted hierarchies, in a folder; process 7 is in the container's group."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.proc = folder / "proc"
        for name in ("7", "self", "pressure"):
            (self.proc / name).mkdir(parents=True)
        self.mounts, self.groups = "36 25 0:1 / /proc rw shared:2 - proc proc rw\n", ""
        (self.proc / "pressure/cpu").write_text(PRESSURE.format(800))

    def mount(self, kind: str, names: str, **files: str) -> Path:
        """A hierarchy with the container's group, in which these files are."""
        place = self.folder / f"mount-{names or 'unified'}"
        group = place / "docker" / ID
        group.mkdir(parents=True)
        for name, text in files.items():
            (group / name.replace("__", ".")).write_text(text)
        self.mounts += f"40 30 0:9 / {place} rw,relatime shared:9 - {kind} cgroup rw,{names}\n"
        self.groups += f"{len(self.groups)}:{names}:/docker/{ID}\n"
        return group

    def group(self, container: str = ID) -> ControlGroup | None:
        (self.proc / "self/mountinfo").write_text(self.mounts)
        (self.proc / "7/cgroup").write_text(self.groups)
        return ControlGroup.of(container, 7, self.proc)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_version_2(machine: Machine) -> None:
    folder = machine.mount(
        "cgroup2", "", cgroup__freeze="0\n", cpu__stat=V2_STAT, cpu__pressure=PRESSURE.format(300)
    )
    group = machine.group()
    assert group is not None
    assert group.cpu_time() == CpuTime(used=5000, throttled=700, pressure=300)
    assert group.set_frozen(True)
    assert (folder / "cgroup.freeze").read_text() == "1"
    assert group.set_frozen(False)
    assert (folder / "cgroup.freeze").read_text() == "0"


def test_version_1_takes_the_pressure_of_the_machine(machine: Machine) -> None:
    machine.mount("cgroup", "cpu,cpuacct", cpu__stat=V1_STAT, cpuacct__usage="6000999\n")
    folder = machine.mount("cgroup", "freezer", freezer__state="THAWED\n")
    group = machine.group()
    assert group is not None
    assert group.cpu_time() == CpuTime(used=6000, throttled=900, pressure=800)
    assert group.set_frozen(True)
    assert (folder / "freezer.state").read_text() == "FROZEN"
    assert group.set_frozen(False)
    assert (folder / "freezer.state").read_text() == "THAWED"


def test_both_versions_together(machine: Machine) -> None:
    """The second version has the freezer, and the first the controllers."""
    machine.mount("cgroup", "cpu", cpu__stat=V1_STAT)
    machine.mount("cgroup", "cpuacct", cpuacct__usage="6000999\n")
    old = machine.mount("cgroup", "freezer", freezer__state="THAWED\n")
    new = machine.mount(
        "cgroup2", "", cgroup__freeze="0\n", cpu__stat="usage_usec 1\n", cpu__pressure=PRESSURE.format(5)
    )
    group = machine.group()
    assert group is not None
    assert group.cpu_time() == CpuTime(used=6000, throttled=900, pressure=5)
    assert group.set_frozen(True)
    assert ((new / "cgroup.freeze").read_text(), (old / "freezer.state").read_text()) == ("1", "THAWED\n")


def test_a_machine_without_pressure(machine: Machine) -> None:
    (machine.proc / "pressure/cpu").unlink()
    machine.mount("cgroup2", "", cpu__stat=V2_STAT)
    group = machine.group()
    assert group is not None
    assert group.cpu_time() == CpuTime(used=5000, throttled=700, pressure=None)


def test_the_process_of_another_machine_is_not_taken_for_the_container(machine: Machine) -> None:
    machine.mount("cgroup2", "", cgroup__freeze="0\n")
    assert machine.group("fedcba9876543210") is None
    assert ControlGroup.of(ID, 8, machine.proc) is None


def test_a_group_without_a_freezer_is_not_frozen(machine: Machine) -> None:
    machine.mount("cgroup", "pids")
    group = machine.group()
    assert group is not None
    assert not group.set_frozen(True)
    assert group.cpu_time() is None


def test_a_file_that_cannot_be_written(machine: Machine) -> None:
    folder = machine.mount("cgroup2", "")
    (folder / "cgroup.freeze").mkdir()
    group = machine.group()
    assert group is not None
    assert not group.set_frozen(True)
