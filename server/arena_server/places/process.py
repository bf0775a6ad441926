"""Bots as processes of this machine: a child process has a session of its own.

The end of its output stays in memory.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Protocol

from arena_server.places.base import BotEnded, LaunchError, LocalBot
from arena_server.places.cgroup import CpuTime
from arena_server.places.cores import on_cores
from arena_server.places.idle import IdleFreezer, Rests
from arena_server.places.process_time import group_time
from arena_server.places.session import signal_session
from arena_server.places.spawned import last_output, spawn
from arena_server.places.sweeper import Sweeper

#: How much of the end of the output is kept.
TAIL_BYTES = 16 * 1024
#: What a file of logs keeps of a bot.
LOG_BYTES = 64_000_000
#: What is read of the output of a program at once, and then in a second: who prints more has to wait, and
#: takes no processor of the machine for it.
BURST_BYTES = 16_000_000
BYTES_A_SECOND = 4_000_000
#: The limit of a line that the caller reads from `process.stdout`: a report with 10,000 bots.
LINE_BYTES = 4 * 1024 * 1024
#: Seconds from SIGTERM to SIGKILL.
GRACE_S = 3.0
#: How many of a crashed bot's last lines are shown if it left no traceback.
LAST_LINES = 5


#: How a program of any common language begins to tell why it crashed.
_TRACE = re.compile(
    r"^(?:Traceback \(most recent call last\):|  \+ Exception Group Traceback|Exception in thread |panic: |"
    r"thread '.*' panicked at )"
)
#: Between the tracebacks of one exception and of what it led to.
_CHAINED = ("The above exception was the direct cause", "During handling of the above exception")
#: The most lines of a traceback that are shown, half of them from its beginning.
TRACE_LINES = 80


class ChildProcess(Protocol):
    """A process that was started: a `Spawned`, or one like it."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...

    stdin: asyncio.StreamWriter | None
    stdout: asyncio.StreamReader | None
    stderr: asyncio.StreamReader | None

    async def wait(self) -> int: ...
    def send_signal(self, signal: int) -> None: ...


class Child:
    """A running process, made by `start`. `end` kills it and every process of its session."""

    def __init__(
        self,
        process: ChildProcess,
        log: BinaryIO | None,
        *,
        split: bool,
        close: Callable[[], None],
    ) -> None:
        """`close` lets go of what the process was read from."""
        self.process = process
        self._log = log
        self._close = close
        self._output = self._errors = b""
        streams = [process.stderr] if split else [process.stdout, process.stderr]
        self._reading = asyncio.gather(*(self._read(stream) for stream in streams if stream is not None))

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
        """Start `command`; its output goes to the file `log`, up to LOG_BYTES, and to `last_lines`.

        `environment` is its whole environment. With `split` the caller reads `process.stdout`, and
        only stderr goes to `log` and `last_lines`. A new `log` gets mode 0600. Raises OSError if
        there is no such program or file.
        """
        file = open_log(log)
        try:
            process = await spawn(
                command,
                environment,
                limit=LINE_BYTES,
                stdin=stdin,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except BaseException:
            if file is not None:
                file.close()
            raise
        return cls(process, file, split=split, close=process.close)

    async def _read(self, stream: asyncio.StreamReader) -> None:
        left = BURST_BYTES
        while data := await stream.read(65536):
            left -= len(data)
            if left < 0:
                await asyncio.sleep(len(data) / BYTES_A_SECOND)
            self._output = (self._output + data)[-TAIL_BYTES:]
            if stream is self.process.stderr:
                self._errors = (self._errors + data)[-TAIL_BYTES:]
            if self._log is not None:
                self._keep(self._log, data)

    @staticmethod
    def _keep(log: BinaryIO, data: bytes) -> None:
        """Write to the file of logs up to its bound, and then that there is more."""
        room = LOG_BYTES - log.tell()
        if room > 0:
            end = b"\n... of more than %d MB the rest is not kept\n" % (LOG_BYTES // 1_000_000)
            with suppress(OSError):  # a full disk: the bot plays on, and its output is read on
                log.write(data if len(data) < room else data[:room] + end)

    def last_lines(self, number: int) -> list[str]:
        return self._output.decode("utf-8", "replace").splitlines()[-number:]

    def trace(self) -> list[str]:
        """Return the last traceback on its stderr, from its beginning; empty without one."""
        lines = self._errors.decode("utf-8", "replace").rstrip().splitlines()
        begin = len(lines)
        for index in range(len(lines) - 1, -1, -1):
            if _TRACE.match(lines[index]):
                begin = index
                if not any(line.startswith(_CHAINED) for line in lines[max(0, index - 3) : index]):
                    break
        lines, half = lines[begin:], TRACE_LINES // 2
        if len(lines) <= TRACE_LINES:
            return lines
        return [*lines[:half], f"... {len(lines) - 2 * half} lines ...", *lines[-half:]]

    def last_error(self) -> str:
        """Return the last line of its stderr that is not blank; empty without one."""
        lines = self._errors.decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    async def wait(self) -> int:
        """Wait for its end and return its exit status; a negative one is the signal that killed it."""
        status = await self.process.wait()
        await last_output(self._reading)
        return status

    def terminate(self) -> None:
        """Send SIGTERM to it, but not to its children."""
        # Not `process.terminate()`: it would wait for a child that has just ended, which the loop's watcher
        # then reports as unknown, and with a wrong status.
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGTERM)

    async def end(self, grace: float = GRACE_S) -> int:
        """Send SIGTERM, and after `grace` seconds SIGKILL to its whole session; return its exit status."""
        try:
            try:
                if self.process.returncode is None:
                    self.terminate()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(grace):
                            await self.process.wait()
            finally:  # who is cancelled here leaves no process either
                signal_session(self.process.pid, signal.SIGKILL)
            status = await self.process.wait()
            await last_output(self._reading)
        finally:
            self._reading.cancel()
            self._close()
        # Not `suppress(CancelledError)`: who waits here may be cancelled, too.
        await asyncio.gather(self._reading, return_exceptions=True)
        if self._log is not None:
            self._log.close()
        return status


def open_log(path: Path | None) -> BinaryIO | None:
    """Open a log that `Child.end` closes."""
    return None if path is None else open(path, "ab", buffering=0, opener=_open_private)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


#: Starts a program like `Child.start`, with its log and its cores (empty: all); None if it cannot.
Fork = Callable[[Sequence[str], Mapping[str, str], Path | None, Sequence[int]], Awaitable[Child | None]]


class ProcessLauncher:
    """Starts bots as processes that connect to `host`:`port`.

    With a folder `logs` the output of each goes to a file there. A program for which `fork` returns None is
    started by itself. Programs stand still while they rest if there is a `sweeper`, which ends them with us.
    `measures`: as of `launchers.Place`.
    """

    def __init__(
        self,
        host: str,
        port: int,
        logs: Path | None = None,
        fork: Fork | None = None,
        sweeper: Sweeper | None = None,
        measures: bool = False,
    ) -> None:
        self._host = host
        self._port = port
        self._logs = logs
        self._fork = fork
        self._sweeper = sweeper
        self._measures = measures
        #: The cores of a bot are for a moment those of this thread: one start after the other.
        self._starting = asyncio.Lock()

    async def start(self, bot: LocalBot) -> BotProcess:
        """Start the process of a bot. Raises LaunchError for a file that the system does not run."""
        command = bot.command_line(self._host, self._port)
        environment = bot.environment(self._host, self._port, os.environ)
        log = None if self._logs is None else self._logs / bot.log_name
        try:
            if self._sweeper is not None:
                await self._sweeper.open()
            child = None if self._fork is None else await self._fork(command, environment, log, bot.cores)
            if child is None:
                async with self._starting:
                    with on_cores(bot.cores):
                        child = await Child.start(command, environment, log=log)
            return BotProcess(child, self._sweeper, self._measures)
        except OSError as error:
            raise LaunchError(why_not_started(command[0], error)) from None


class BotProcess(Rests):
    """A bot as a process (`base.Running`): its session stands still while it rests."""

    def __init__(self, child: Child, sweeper: Sweeper | None, measures: bool) -> None:
        self._child = child
        self._sweeper = sweeper
        self._measures = measures
        self._idle = IdleFreezer(self._set_stopped)
        if sweeper is not None:
            sweeper.watch(child.process.pid)

    @property
    def group(self) -> int:
        """The number of its session, and of its first process."""
        return self._child.process.pid

    async def wait(self) -> BotEnded:
        """Wait until it has ended by itself."""
        child = self._child
        return BotEnded(await child.wait(), child.last_error(), child.trace(), child.last_lines(LAST_LINES))

    async def end(self) -> None:
        """End its session."""
        self._idle.close()
        await self._idle.wake()  # a stopped program would not take SIGTERM
        await self._child.end()
        if self._sweeper is not None:
            self._sweeper.forget(self._child.process.pid)

    async def set_frozen(self, frozen: bool) -> None:
        """Nothing: a process could leave its session, and in a game only containers are to be frozen."""

    async def set_resting(self, resting: bool) -> None:
        """Let it stand still from the next seconds on, where it would not be left so; or it plays."""
        if self._sweeper is not None:
            await self._idle.set_resting(resting)

    async def _set_stopped(self, stopped: bool) -> None:
        # Of a program that has ended the number may be that of another one.
        watched = self._sweeper is not None and self._sweeper.watches
        if self._child.process.returncode is None and (watched or not stopped):
            signal_session(self._child.process.pid, signal.SIGSTOP if stopped else signal.SIGCONT)

    async def cpu_time(self) -> tuple[str, CpuTime] | None:
        """What its session got of the processor since it began, where the system says it."""
        child = self._child.process
        return group_time(child.pid) if self._measures and child.returncode is None else None


def why_not_started(program: str, error: OSError) -> str:
    """Return one line on an executable file that the system does not run."""
    if isinstance(error, FileNotFoundError) and Path(program).exists():
        return f"{program}: the interpreter that its first line names does not exist"
    if error.errno == errno.ENOEXEC:
        return f"{program}: not a program: its first line names no interpreter (#!)"
    return f"{program}: {error.strerror}"
