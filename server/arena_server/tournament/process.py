"""One child process in a session of its own, with a bounded memory of what it said.

It must not know: what the process is for.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

#: How much of a child's last words is kept.
TAIL_BYTES = 4096
#: The longest line a caller reads of `process.stdout`: standings of ten thousand bots.
LINE_BYTES = 4 * 1024 * 1024
#: What a child may take to end in good order after SIGTERM.
GRACE_S = 3.0


class Child:
    """A running process. Make it by `start`; `end` leaves nothing of it behind, nor of its children."""

    def __init__(self, process: asyncio.subprocess.Process, log: BinaryIO | None) -> None:
        self.process = process
        self._log = log
        self._tail = b""
        self._listening = asyncio.ensure_future(self._listen())

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        stdin: int = asyncio.subprocess.DEVNULL,
        split: bool = False,
        log: Path | None = None,
    ) -> Child:
        """Start `command`. What it says goes to the file `log`, its end is kept in memory too.

        With `split` its stdout is left to the caller (`process.stdout`). Raises OSError if
        there is no such program or file.
        """
        file = None if log is None else log.open("ab")
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                env={**os.environ, **environment},
                stdin=stdin,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE if split else asyncio.subprocess.STDOUT,
                limit=LINE_BYTES,
                # A ctrl-C in the terminal is ours to pass on, in good order.
                start_new_session=True,
            )
        except BaseException:
            if file is not None:
                file.close()
            raise
        return cls(process, file)

    async def _listen(self) -> None:
        stream = self.process.stderr or self.process.stdout
        assert stream is not None
        while data := await stream.read(65536):
            self._tail = (self._tail + data)[-TAIL_BYTES:]
            if self._log is not None:
                self._log.write(data)
                self._log.flush()

    def last_lines(self, number: int) -> list[str]:
        """The last lines it said."""
        return self._tail.decode("utf-8", "replace").splitlines()[-number:]

    async def wait(self) -> int:
        """Wait for its end; return its exit status (negative: the signal that killed it)."""
        status = await self.process.wait()
        # What it said last may still be in the pipe; a grandchild may hold the pipe for ever.
        await asyncio.wait([self._listening], timeout=1.0)
        return status

    def ask_to_end(self) -> None:
        """Send SIGTERM, to it alone."""
        with suppress(ProcessLookupError):
            self.process.terminate()

    async def end(self, grace: float = GRACE_S) -> int:
        """End it: SIGTERM, and after `grace` seconds SIGKILL, to it and all that it started."""
        if self.process.returncode is None:
            self.ask_to_end()
            with suppress(TimeoutError):
                await asyncio.wait_for(self.process.wait(), grace)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        status = await self.process.wait()
        self._listening.cancel()
        with suppress(asyncio.CancelledError):
            await self._listening
        if self._log is not None:
            self._log.close()
        return status
