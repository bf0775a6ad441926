"""A door whose bot runs in this thread and in virtual time: cases are quick, and nothing depends on load."""

from __future__ import annotations

import heapq
import socket
from collections.abc import Callable
from itertools import count

from arena_check.bot.door import how_it_ended
from arena_check.wire import Stream

from .bots import Program


class VirtualDoor:
    """Runs a `Program` and hands out its connections. Time passes only while the checker waits."""

    sees_end = True
    #: How late the machine is, in seconds, once it is watched.
    machine_s = 0.0
    address = "127.0.0.1:2006"

    def __init__(self, make: type[Program]) -> None:
        self._make = make
        self._now = 0.0
        self._numbers = count()
        self.begin_afresh()

    def begin_afresh(self) -> None:
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._connecting: list[VirtualSocket] = []
        self._connection: VirtualSocket | None = None
        self._status: int | None = None
        self.machine_late_s = 0.0
        self._stdout = ""
        self._stderr = ""
        self.program: Program | None = None

    # -- what the bench uses

    def now(self) -> float:
        return self._now

    def start(self, name: str, token: str) -> None:
        self.program = self._make(self, name, token)
        self.program.start()

    def accept(self, patience: float) -> Stream | str:
        self.run(lambda: bool(self._connecting) or self._status is not None, patience)
        if self._connecting:
            return self._connecting.pop(0)
        return f"none within {patience:g} s" if self._status is None else how_it_ended(self._status)

    def status(self) -> int | None:
        return self._status

    def end(self, patience: float) -> str:
        self.run(lambda: self._status is not None, patience)
        return "" if self._status is None else how_it_ended(self._status)

    def printed(self) -> str:
        return self._stdout

    def watch_machine(self) -> None:
        self.machine_late_s = self.machine_s

    def stop(self) -> str:
        said = self._stderr
        self.begin_afresh()
        return said

    # -- what the bot uses

    def connect(self) -> None:
        assert self.program is not None
        self._connection = VirtualSocket(self)
        self._connecting.append(self._connection)
        self.program.connected()

    def send(self, data: bytes) -> None:
        if self._connection is not None and self._status is None:
            self._connection.to_checker += data

    def say(self, text: str) -> None:
        self._stdout += text

    def close(self) -> None:
        if self._connection is not None:
            self._connection.bot_closed = True
            self._connection = None

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (self._now + seconds, next(self._numbers), call))

    def exit(self, status: int, stderr: str = "") -> None:
        if self._status is None:
            self._status, self._stderr = status, stderr
            self._timers.clear()
            self.close()

    # -- time

    def run(self, until: Callable[[], bool], patience: float) -> None:
        """Let the bot act until something is the case, or these seconds are over."""
        deadline = self._now + patience
        while not until():
            if not self._timers or self._timers[0][0] > deadline:
                self._now = deadline
                return
            self._now, _, call = heapq.heappop(self._timers)
            call()

    def deliver(self, sock: VirtualSocket, data: bytes) -> None:
        """Let the bot read what the checker has sent: in one read, at once."""
        if sock is self._connection and self.program is not None:
            self.program.received(data)

    def lose(self, sock: VirtualSocket, *, reset: bool) -> None:
        """Let the bot read the end of a connection."""
        if sock is self._connection and self.program is not None:
            self.program.lost(reset=reset)


class VirtualSocket:
    """The checker's end of a connection."""

    def __init__(self, door: VirtualDoor) -> None:
        self._door = door
        self._timeout = 0.0
        self._ended = False
        self._resets = False
        self.to_checker = b""
        self.bot_closed = False

    def fileno(self) -> int:
        return -1

    def settimeout(self, value: float | None, /) -> None:
        self._timeout = value or 0.0

    def setsockopt(self, level: int, name: int, value: int | bytes, /) -> None:
        self._resets |= name == socket.SO_LINGER

    def sendall(self, data: bytes, /) -> None:
        if self.bot_closed:
            raise BrokenPipeError
        # A read of the bot brings 4,096 bytes at most.
        for at in range(0, len(data), 4096):
            self._door.deliver(self, data[at : at + 4096])

    def recv(self, size: int, /) -> bytes:
        self._door.run(lambda: bool(self.to_checker) or self.bot_closed, self._timeout)
        data, self.to_checker = self.to_checker, b""
        if not data and not self.bot_closed:
            raise TimeoutError
        return data

    def shutdown(self, how: int, /) -> None:
        if not self._ended:
            self._ended = True
            self._door.lose(self, reset=self._resets)

    def close(self) -> None:
        self.shutdown(socket.SHUT_RDWR)
