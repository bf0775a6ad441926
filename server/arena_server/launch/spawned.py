"""Programs as processes whose end is known when they end, also while a child of theirs holds their output.

`asyncio.subprocess.Process.wait` waits since Python 3.11 for the end of stdout and stderr too, which every
process has that inherited them: a helper that a program leaves behind would hide its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

#: Seconds for the last output of a program that has ended to be read: it may still be in the pipe, and a
#: child of it may hold the pipe for ever.
REST_S = 1.0


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
