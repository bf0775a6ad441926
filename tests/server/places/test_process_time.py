"""What the processes of a session got of the processor is the sum of them and their threads."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from arena_server.places.cgroup import CpuTime
from arena_server.places.process_time import GroupWork, group_time


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Process 70 with the child 71 in its session, one in another session, and one that has just ended."""
    threads = {70: {"70": "5000 2000 1", "72": "9 3000 1"}, 71: {"71": "8000000 1500 4"}, 80: {"80": "1 9 1"}}
    for pid, its in (threads | {81: {}}).items():
        for thread, text in its.items():
            (tmp_path / str(pid) / "task" / thread).mkdir(parents=True)
            (tmp_path / str(pid) / "task" / thread / "schedstat").write_text(text)
        # The name of a program may look like other values; it has waited for children of 3 + 4 ticks.
        fields = ["R", *"0" * 12, "3", "4", *"0" * 21, str(pid - 70), "0"]
        (tmp_path / str(pid)).mkdir(exist_ok=True)
        (tmp_path / str(pid) / "stat").write_text(f"{pid} (a) b 7) {' '.join(fields)}\n")
    (tmp_path / "self").mkdir()

    def session_of(pid: int) -> int:
        if pid == 81:
            raise ProcessLookupError
        return 70 if pid < 80 else pid

    monkeypatch.setattr(os, "getsid", session_of)
    monkeypatch.setattr(time, "clock_gettime_ns", {~70 << 3 | 2: 4_000_000, ~71 << 3 | 2: 8_000_999}.get)
    return tmp_path


def test_the_sum_of_a_group(proc: Path) -> None:
    assert group_time(70, proc) == ("70 71", CpuTime(12_000, 0, 6))
    (proc / "70/task/72/schedstat").unlink()  # a thread that has just ended
    assert group_time(70, proc) == ("70 71", CpuTime(12_000, 0, 3))


def test_where_the_system_does_not_say(proc: Path) -> None:
    for each in proc.glob("*/task/*/schedstat"):
        each.unlink()
    assert group_time(70, proc) == ("70 71", CpuTime(12_000, 0, None))
    assert group_time(99, proc) is None
    assert group_time(70, proc / "none") is None


def test_the_work_of_a_group_with_its_children(proc: Path) -> None:
    ticks = 7 * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    first = GroupWork.read(70, proc)
    processes = {70: 4_000_000 + ticks, 71: 8_000_999 + ticks}
    assert first == GroupWork(processes, {70: 5000, 72: 9, 71: 8_000_000}, 6500, 0)
    assert GroupWork({70: ticks}, {70: 5}, 0, 0).since(GroupWork({}, {70: 2}, 0, 0)) == (ticks, 3)
    # A process that began since counts as a whole, one that has ended not at all.
    assert first.since(GroupWork({70: ticks, 69: 1}, {72: 1}, 0, 0)) == (12_000_999 + ticks, 8_000_000)
    assert GroupWork.read(99, proc) is None
    (proc / "71/stat").unlink()
    assert GroupWork.read(70, proc) is None
