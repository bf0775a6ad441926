"""What the processes of a session got of the processor, as Linux counts it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from arena_server.places.cgroup import CpuTime
from arena_server.places.session import PROC, members

#: Where the values of `/proc/PID/stat` are behind the name of the program, which may have blanks: the time of
#: the children that it has waited for, and the core on which it ran last.
_CHILDREN, _CORE = slice(13, 15), 36


@dataclass(frozen=True, slots=True)
class GroupWork:
    """What the processes of a session did since they began, in ns; `core` is where the first one ran last.

    Each of `processes` has the time of its threads, also of those that have ended, and of children that it
    has waited for. `waited` is how long the `threads` that are there were ready to run and did not.
    """

    processes: Mapping[int, int]
    threads: Mapping[int, int]
    waited: int
    core: int

    def since(self, before: GroupWork) -> tuple[int, int]:
        """The work since another reading, and that of the thread that did most of it, in ns."""
        spent = sum(ran - before.processes.get(pid, 0) for pid, ran in self.processes.items())
        return spent, max(ran - before.threads.get(thread, 0) for thread, ran in self.threads.items())

    @classmethod
    def read(cls, group: int, proc: Path = PROC) -> GroupWork | None:
        """What the system says now; None where it does not, and for one that has just ended."""
        processes, threads, waited, core = dict[int, int](), dict[int, int](), 0, None
        try:
            tick = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
            for pid in members(group, proc):
                stat = (proc / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
                core = int(stat[_CORE]) if core is None else core
                children = sum(map(int, stat[_CHILDREN])) * tick
                processes[pid] = time.clock_gettime_ns(~pid << 3 | 2) + children
                for thread, ran, wait in _schedules(proc / str(pid) / "task"):
                    threads[thread] = ran
                    waited += wait
        except OSError:
            return None
        return None if core is None or not threads else cls(processes, threads, waited, core)


def group_time(group: int, proc: Path = PROC) -> tuple[str, CpuTime] | None:
    """Its processes, as a mark, and what they got so far; None where the system does not say.

    `pressure` is the sum of what their threads waited for a processor, of those that are there.
    """
    try:
        pids = [*members(group, proc)]
        # The clock of the processor time of another process.
        used = sum(time.clock_gettime_ns(~pid << 3 | 2) for pid in pids)
        waits = [wait for pid in pids for _, _, wait in _schedules(proc / str(pid) / "task")]
    except OSError:  # no Linux, or one of them has just ended
        return None
    pressure = sum(waits) // 1000 if waits else None
    return (" ".join(map(str, pids)), CpuTime(used // 1000, 0, pressure)) if pids else None


def _schedules(threads: Path) -> Iterator[tuple[int, int, int]]:
    """Each thread of a process, how long it ran, and how long it was ready to run and waited, in ns."""
    for thread in os.listdir(threads):
        with suppress(OSError):  # it has just ended, or the kernel does not count
            ran, waited, _ = (threads / thread / "schedstat").read_text().split()
            yield int(thread), int(ran), int(waited)
