"""What the processes of a group got of the processor, as Linux counts it (/proc, clock_getcpuclockid(3))."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from arena_server.places.cgroup import CpuTime

PROC = Path("/proc")


def group_time(group: int, proc: Path = PROC) -> tuple[str, CpuTime] | None:
    """Its processes, as a mark, and what they got so far; None where the system does not say.

    `pressure` is the sum of what their threads waited for a processor, of those that are there.
    """
    try:
        members = [*_members(group, proc)]
        # The clock of the processor time of another process.
        used = sum(time.clock_gettime_ns(~pid << 3 | 2) for pid in members)
        waits = [wait for pid in members for wait in _waits(proc / str(pid) / "task")]
    except OSError:  # no Linux, or one of them has just ended
        return None
    pressure = sum(waits) // 1000 if waits else None
    return (" ".join(map(str, members)), CpuTime(used // 1000, 0, pressure)) if members else None


def _members(group: int, proc: Path) -> Iterator[int]:
    for pid in sorted(int(name) for name in os.listdir(proc) if name.isdigit()):
        with suppress(OSError):  # it has just ended
            if os.getpgid(pid) == group:
                yield pid


def _waits(threads: Path) -> Iterator[int]:
    """How long each thread of a process has been ready to run and has waited, in ns."""
    for thread in os.listdir(threads):
        with suppress(OSError):  # it has just ended, or the kernel does not count
            yield int((threads / thread / "schedstat").read_text().split()[1])
