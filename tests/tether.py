"""No process outlives the tests that started it, however they end: ctrl-C, SIGTERM, even SIGKILL.

`begin` puts a mark into the environment, which every process inherits that is started from then
on, and those that it starts in turn; and it starts a keeper, this file as a program, which waits
at a pipe for our end. Then the keeper kills every process that has the mark. Nothing happens in a child
between fork and exec, and no test has to ask for it.

With xdist each worker has a keeper of its own; it has the mark of the process that started it, so it goes
when that one is killed, and its own keeper sees to the rest. Without /proc there is no keeper.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

VARIABLE = "ARENA_TESTS_MARK"
PROC = Path("/proc")
#: A process may start another while we look; then we look again, so often at most.
ROUNDS = 50


def begin() -> Callable[[], None]:
    """Keep watch over this process. Returns what ends the watch in good order, and what was left behind."""
    if not (PROC / "self" / "environ").exists():
        return lambda: None
    mark = secrets.token_hex(8)
    environment = {key: value for key, value in os.environ.items() if key != VARIABLE}
    keeper = subprocess.Popen(
        [sys.executable, "-IS", __file__, mark],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,  # a ctrl-C in the terminal is not for it
    )
    os.environ[VARIABLE] = mark

    def end() -> None:
        keeper.communicate()

    return end


def marked(mark: str) -> Iterator[int]:
    """The processes that were started with this mark."""
    wanted = f"{VARIABLE}={mark}".encode()
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            with suppress(OSError):  # it has just ended, or belongs to another user
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)


def kill_marked(mark: str) -> list[str]:
    """Kill them all; returns their command lines."""
    killed: dict[int, bytes] = {}
    for _ in range(ROUNDS):
        found = [each for each in marked(mark) if each != os.getpid()]
        if not found:
            break
        for number in found:
            with suppress(OSError):
                words = (PROC / str(number) / "cmdline").read_bytes().replace(b"\0", b" ")
                # One that was killed in the round before and is just ending has no words left.
                killed[number] = words or killed.get(number, b"")
                os.kill(number, signal.SIGKILL)
    return [line.decode(errors="replace").strip() for line in killed.values() if line]


def keep(mark: str) -> None:
    """Wait until the process that holds the other end of stdin is gone."""
    sys.stdin.buffer.read()
    for line in kill_marked(mark):
        print(f"left behind by the tests, and killed: {line}", file=sys.stderr)


if __name__ == "__main__":
    keep(sys.argv[1])
