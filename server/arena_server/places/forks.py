"""Python programs as forks of an interpreter that has imported what they need.

    Forks.start -> ForkServer.fork --a message on a socket--> fork_server.py --fork--> the program

To start an interpreter and import the client takes 80 ms of a processor, a fork of one that has them 10 ms. A
fork is a process of its own that runs one program: nothing of it is left for the next one.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from arena_server.places.base import RUN_MODULE, inherited
from arena_server.places.fork_server import REQUEST_BYTES
from arena_server.places.process import LINE_BYTES, Child, open_log

#: Seconds for a fork server to kill what is left of its forks.
END_S = 5.0


class ForkedProcess:
    """A fork, as `asyncio.subprocess.Process` is a program."""

    def __init__(self) -> None:
        self.pid = 0
        self.returncode: int | None = None
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout: asyncio.StreamReader | None = asyncio.StreamReader(LINE_BYTES)
        self.stderr: asyncio.StreamReader | None = asyncio.StreamReader(LINE_BYTES)
        self.began = asyncio.Event()
        self._ended = asyncio.Event()
        self._pipes: list[asyncio.BaseTransport] = []

    async def open_pipes(self) -> list[int]:
        """Return the descriptors for its stdout and stderr."""
        ends = []
        for reader in (self.stdout, self.stderr):
            assert reader is not None
            ours, theirs = os.pipe()
            ends.append(theirs)
            protocol = partial(asyncio.StreamReaderProtocol, reader)
            file = os.fdopen(ours, "rb", buffering=0)
            pipe, _ = await asyncio.get_running_loop().connect_read_pipe(protocol, file)
            self._pipes.append(pipe)
        return ends

    def close(self) -> None:
        """Read no more of its output."""
        for pipe in self._pipes:
            pipe.close()

    def ended(self, status: int) -> None:
        """It has ended, or never began."""
        self.returncode = status
        self.began.set()
        self._ended.set()

    async def wait(self) -> int:
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)


class ForkServer:
    """A process of `fork_server.py` that has imported `modules`; it and its forks end with this one."""

    def __init__(self, modules: Sequence[str]) -> None:
        self._sock, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._sock.setblocking(False)
        program = [
            sys.executable,
            *RUN_MODULE,
            "arena_server.places.fork_server",
            str(theirs.fileno()),
            *modules,
        ]
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                program,
                pass_fds=[theirs.fileno()],
                env=inherited(os.environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._number = 0
        #: The forks that have not ended, by the numbers of their requests.
        self._forks: dict[int, ForkedProcess] = {}
        self._reading = False
        self.gone = False

    async def fork(
        self, command: Sequence[str], environment: Mapping[str, str], cores: Sequence[int]
    ) -> ForkedProcess | None:
        """Run a program, FILE or [-P] -m MODULE with its arguments; None if the fork server cannot."""
        if not self._reading:
            asyncio.get_running_loop().add_reader(self._sock, self._read)
            self._reading = True
        self._number += 1
        request = {"number": self._number, "command": command, "environment": environment, "cores": cores}
        data = json.dumps(request).encode()
        if len(data) > REQUEST_BYTES:
            return None
        process = self._forks[self._number] = ForkedProcess()
        ends = await process.open_pipes()
        try:
            socket.send_fds(self._sock, [data], ends)
        except OSError:
            self._lost()
        finally:
            for end in ends:
                os.close(end)
        await process.began.wait()
        if process.pid:
            return process
        process.close()
        return None

    def _read(self) -> None:
        with suppress(BlockingIOError):
            while data := self._receive():
                self._take(json.loads(data))
            self._lost()

    def _receive(self) -> bytes:
        with suppress(ConnectionError):
            return self._sock.recv(REQUEST_BYTES)
        return b""

    def _take(self, answer: dict[str, Any]) -> None:
        match answer:
            case {"number": int(number), "pid": int(pid)}:
                self._forks[number].pid = pid
                self._forks[number].began.set()
            case {"number": int(number), "status": int(status)}:
                self._forks.pop(number).ended(status)

    def _lost(self) -> None:
        """The fork server has ended, or is about to: no one would see its forks end."""
        self.gone = True
        self._stop_reading()
        for process in self._forks.values():
            if process.pid:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.ended(-signal.SIGKILL)
        self._forks.clear()

    def _stop_reading(self) -> None:
        if self._reading:
            asyncio.get_running_loop().remove_reader(self._sock)
            self._reading = False

    def rest(self) -> bool:
        """Let go of the loop; False if a fork is left, and the fork server was ended with it."""
        self._stop_reading()
        if self._forks or self.gone:
            self.close()
        return not self.gone

    def close(self) -> None:
        """End the fork server, and all that is left of its forks."""
        self._lost()
        self._sock.close()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:  # someone has stopped it
            self._process.kill()
            self._process.wait()


class Forks:
    """Starts programs: Python ones as forks, where `imports` has what to import for them.

    The keys of `imports` are how a command goes on behind the interpreter; the longest one counts. It serves
    one loop after the other: each uses it inside `with forks.used()`.
    """

    def __init__(self, imports: Mapping[tuple[str, ...], Sequence[str]]) -> None:
        self._imports = sorted(imports.items(), key=lambda each: -len(each[0]))
        self._servers: dict[tuple[str, ...], ForkServer] = {}

    @contextmanager
    def used(self) -> Iterator[None]:
        """No fork is left at the end."""
        try:
            yield
        finally:
            self._servers = {key: each for key, each in self._servers.items() if each.rest()}

    async def start(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        log: Path | None,
        cores: Sequence[int],
    ) -> Child | None:
        """As `Child.start`, on these cores; None if the program is none to be forked."""
        if (key := self._key(command)) is None:
            return None
        server = self._servers.get(key)
        if server is not None and server.gone:
            server.close()
            server = None
        if server is None:
            server = self._servers[key] = ForkServer(dict(self._imports)[key])
        process = await server.fork(command[1:], environment, cores)
        return None if process is None else Child(process, open_log(log), split=False, close=process.close)

    def _key(self, command: Sequence[str]) -> tuple[str, ...] | None:
        """Which fork server a command is for; None: it is not to be forked."""
        words = tuple(command[1:])
        if sys.platform != "linux" or command[0] != sys.executable or not words:
            return None
        module = words[0] == "-m" or words[: len(RUN_MODULE)] == RUN_MODULE
        if not module and not Path(words[0]).is_file():
            return None
        return next((key for key, _ in self._imports if words[: len(key)] == key), None)
