"""The control group of a container: it is frozen and thawed, and says what its programs got of the processor.

    /proc/PID/cgroup names the group, /proc/self/mountinfo where its files are

Version 2 has one folder a group, version 1 one for each controller; a system may have both. Where this
process may not write, or the engine is on another machine, nothing is frozen here: the engine is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
#: The key of version 2 among the folders of a group; those of version 1 are called by their controllers.
UNIFIED = ""


@dataclass(frozen=True, slots=True)
class CpuTime:
    """Microseconds since the group began, or the machine for `pressure` where the group has none of its own.

    `used` by all its programs; `throttled`: they stood still because of their own limit; `pressure`: at least
    one of them waited for a processor (pressure stall information of the kernel; None without any). Of
    processes: see `process_time.py`.
    """

    used: int
    throttled: int
    pressure: int | None


class ControlGroup:
    """The folders of one group, by controller."""

    def __init__(self, folders: Mapping[str, Path], proc: Path = PROC) -> None:
        self._folders = folders
        self._proc = proc

    @classmethod
    def of(cls, container: str, pid: int, proc: Path = PROC) -> ControlGroup | None:
        """The group of a process of this machine; None if it is not that of the `container` of this id."""
        try:
            lines = (proc / str(pid) / "cgroup").read_text().splitlines()
            mounts = _mounts((proc / "self/mountinfo").read_text())
        except OSError:
            return None
        folders = {}
        for _, names, path in (line.split(":", 2) for line in lines):
            # Of an engine on another machine the number of a process means nothing here.
            if container not in path:
                continue
            for name in names.split(","):
                if name in mounts and (folder := mounts[name] / path.lstrip("/")).is_dir():
                    folders[name] = folder
        return cls(folders, proc) if folders else None

    def set_frozen(self, frozen: bool) -> bool:
        """Freeze or thaw all its programs. Returns False if that is not possible here."""
        for name, file, words in (
            (UNIFIED, "cgroup.freeze", ("0", "1")),
            ("freezer", "freezer.state", ("THAWED", "FROZEN")),
        ):
            path = self._folders.get(name, Path()) / file
            if name in self._folders and path.exists():
                try:
                    path.write_text(words[frozen])
                except OSError:
                    return False
                return True
        return False

    def cpu_time(self) -> CpuTime | None:
        """What its programs got so far; None if that cannot be read."""
        stat = self._table("cpu", "cpu.stat") or self._table(UNIFIED, "cpu.stat")
        # Version 1 counts nanoseconds.
        used = self._number("cpuacct", "cpuacct.usage") // 1000 or stat.get("usage_usec", 0)
        if not used:
            return None
        throttled = stat.get("throttled_usec", stat.get("throttled_time", 0) // 1000)
        return CpuTime(used, throttled, self._pressure())

    def _pressure(self) -> int | None:
        for path in (self._folders.get(UNIFIED, Path("/none")) / "cpu.pressure", self._proc / "pressure/cpu"):
            for line in _read(path).splitlines():
                if line.startswith("some "):
                    return int(line.rpartition("total=")[2])
        return None

    def _table(self, controller: str, file: str) -> dict[str, int]:
        if controller not in self._folders:
            return {}
        pairs = (line.split() for line in _read(self._folders[controller] / file).splitlines())
        return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}

    def _number(self, controller: str, file: str) -> int:
        text = _read(self._folders[controller] / file) if controller in self._folders else ""
        return int(text) if text.strip().isdigit() else 0


def _read(path: Path) -> str:
    """The text of a file; empty if it cannot be read, as that of a group that has ended."""
    try:
        return path.read_text()
    except OSError:
        return ""


def _mounts(mountinfo: str) -> dict[str, Path]:
    """Where version 2 and each controller of version 1 are mounted, by proc(5)."""
    found = {}
    for line in mountinfo.splitlines():
        fields, _, rest = line.partition(" - ")
        kind, _, options = rest.partition(" ")[0], *rest.split(" ", 2)[1:]
        place = Path(fields.split(" ")[4])
        if kind == "cgroup2":
            found[UNIFIED] = place
        elif kind == "cgroup":
            found.update(dict.fromkeys(options.split(","), place))
    return found
