"""Programs as processes whose end is known when they end, also while a child of theirs holds their output.

`asyncio.subprocess.Process.wait` waits since Python 3.11 for the end of stdout and stderr too, which every
process has that inherited them: a helper that a program leaves behind would hide its end.
"""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

#: Seconds for the last output of a program that has ended to be read: it may still be in the pipe, and a
#: child of it may hold the pipe for ever.
REST_S = 1.0

#: Seconds from SIGTERM to SIGKILL for a program that is ended with us, or at its limit.
TETHER_GRACE_S = 3

_TETHER = """
grace=$1 limit=$2
shift 2
exec 3<&0 </dev/null
timeout --kill-after="$grace" "$limit" "$@" 3<&- &
work=$!
trap 'kill "$work"' TERM
# The end of stdin is that of who started this, also by SIGKILL.
(read -r word <&3; kill "$work") >/dev/null 2>&1 &
watch=$!
wait "$work"; status=$?
# A signal ends `wait` before the program.
while kill -0 "$work" 2>/dev/null; do wait "$work"; status=$?; done
kill "$watch" 2>/dev/null
# The group that `timeout` has made: what the program has left.
kill -KILL -"$work" 2>/dev/null
exit "$status"
"""


def tethered(command: Sequence[str], seconds: float) -> list[str]:
    """The command line that runs `command` for `seconds` at most, and ends it when its own stdin ends.

    Start it with a pipe for stdin: nothing is left of it then when this process is killed. Raises OSError
    for a program that is not there.
    """
    if shutil.which(command[0]) is None:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    return ["sh", "-c", _TETHER, "tether", str(TETHER_GRACE_S), f"{seconds:g}", *command]


class _Streams(asyncio.subprocess.SubprocessStreamProtocol):
    def __init__(self, limit: int) -> None:
        super().__init__(limit, asyncio.get_running_loop())
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


class Spawned:
    """A running program, made by `spawn`, in a session of its own."""

    def __init__(self, transport: asyncio.SubprocessTransport, streams: _Streams) -> None:
        self._transport = transport
        self._exited = streams.exited
        self.pid = transport.get_pid()
        self.stdin: asyncio.StreamWriter | None = streams.stdin
        self.stdout: asyncio.StreamReader | None = streams.stdout
        self.stderr: asyncio.StreamReader | None = streams.stderr

    @property
    def returncode(self) -> int | None:
        return self._transport.get_returncode()

    async def wait(self) -> int:
        """Wait for its end, not for that of its pipes; returns its status, negative for a signal."""
        await self._exited.wait()
        status = self.returncode
        assert status is not None
        return status

    def send_signal(self, signal: int) -> None:
        """Raises ProcessLookupError for a program that has ended."""
        self._transport.send_signal(signal)

    def close(self) -> None:
        """Let go of its pipes: one that is left open would be closed after its loop."""
        for descriptor in range(3):
            pipe = self._transport.get_pipe_transport(descriptor)
            if pipe is not None:
                pipe.close()


async def spawn(
    command: Sequence[str], environment: Mapping[str, str], *, limit: int = 65536, **options: Any
) -> Spawned:
    """Start a program; `options` are those of `subprocess.Popen`. Raises OSError if that is not possible."""
    transport, streams = await asyncio.get_running_loop().subprocess_exec(
        lambda: _Streams(limit),
        *command,
        env=environment,
        # Ctrl-C in the terminal reaches only this process, which ends its children in order.
        start_new_session=True,
        **options,
    )
    return Spawned(transport, streams)


async def last_output(reading: asyncio.Future[Any]) -> None:
    """Wait until the output of a program that has ended is read, for REST_S at most."""
    await asyncio.wait([reading], timeout=REST_S)
