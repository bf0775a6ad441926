"""One child process in a session of its own; the end of its output is kept in memory."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

#: How much of the end of the output is kept.
TAIL_BYTES = 4096
#: The limit of a line that the caller reads from `process.stdout`: a report with 10,000 bots.
LINE_BYTES = 4 * 1024 * 1024
#: Seconds from SIGTERM to SIGKILL.
GRACE_S = 3.0


class Child:
    """A running process, made by `start`. `end` kills it and every process of its session."""

    def __init__(self, process: asyncio.subprocess.Process, log: BinaryIO | None) -> None:
        self.process = process
        self._log = log
        self._tail = b""
        self._reading = asyncio.ensure_future(self._read())

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
        """Start `command`; its output goes to the file `log` and to `last_lines`.

        `environment` is added to that of this process. With `split` the caller reads
        `process.stdout`, and only stderr goes to `log` and `last_lines`. Raises OSError if there is
        no such program or file.
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
                # Ctrl-C in the terminal reaches only this process, which ends its children in order.
                start_new_session=True,
            )
        except BaseException:
            if file is not None:
                file.close()
            raise
        return cls(process, file)

    async def _read(self) -> None:
        stream = self.process.stderr or self.process.stdout
        assert stream is not None
        while data := await stream.read(65536):
            self._tail = (self._tail + data)[-TAIL_BYTES:]
            if self._log is not None:
                self._log.write(data)
                self._log.flush()

    def last_lines(self, number: int) -> list[str]:
        """Return the last lines of its output."""
        return self._tail.decode("utf-8", "replace").splitlines()[-number:]

    async def wait(self) -> int:
        """Wait for its end and return its exit status; a negative one is the signal that killed it."""
        status = await self.process.wait()
        # Its last output may still be in the pipe; a grandchild may keep the pipe open for ever.
        await asyncio.wait([self._reading], timeout=1.0)
        return status

    def terminate(self) -> None:
        """Send SIGTERM to it, but not to its children."""
        with suppress(ProcessLookupError):
            self.process.terminate()

    async def end(self, grace: float = GRACE_S) -> int:
        """Send SIGTERM, and after `grace` seconds SIGKILL to its whole session; return its exit status."""
        if self.process.returncode is None:
            self.terminate()
            with suppress(TimeoutError):
                await asyncio.wait_for(self.process.wait(), grace)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        status = await self.process.wait()
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading
        if self._log is not None:
            self._log.close()
        return status
