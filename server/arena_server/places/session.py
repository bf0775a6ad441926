"""The processes of a session: those that a program has started, also in process groups of their own.

A shell with job control, and `arena bridge`, put a child into another group of their session (setsid(2),
credentials(7)).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

PROC = Path("/proc")
#: How often it is looked for groups that were made while others got their signal.
PASSES: Final = 8


def signal_session(leader: int, number: int, proc: Path = PROC) -> None:
    """Send a signal to all groups of the session of `leader`; to its own group where there is no /proc."""
    done: set[int] = set()
    for _ in range(PASSES):
        groups = _groups(leader, proc) - done
        for group in sorted(groups):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)
        if not groups:
            break
        done |= groups


def _groups(leader: int, proc: Path) -> set[int]:
    if not proc.is_dir():
        return {leader}
    found = set()
    for pid in members(leader, proc):
        with suppress(OSError):  # it has just ended
            found.add(os.getpgid(pid))
    return found


def members(leader: int, proc: Path = PROC) -> Iterator[int]:
    """The processes of the session of `leader`, by number. Raises OSError where there is no /proc."""
    for pid in sorted(int(name) for name in os.listdir(proc) if name.isdigit()):
        with suppress(OSError):  # it has just ended
            if os.getsid(pid) == leader:
                yield pid
