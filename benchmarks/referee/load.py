"""The load of the referee's benchmark: instant bots on one epoll loop, which answer every TURN with MOVE 4.

It is a process of its own and uses nothing but the protocol, so it can load any server.
"""

from __future__ import annotations

import re
import select
import socket
import time
from dataclasses import dataclass
from pathlib import Path

#: The limit for the first answer, and the interval of the check for it.
START_S, STEP_S = 240.0, 0.05
MOVE = b"MOVE 4\n"
_GAME = re.compile(rb"^GAME (\S+)", re.MULTILINE)


@dataclass
class Figures:
    """A measurement of the server: lines handled, seconds, and microseconds of CPU per line."""

    lines: int
    seconds: float
    cpu_us: float

    @property
    def rate(self) -> float:
        return self.lines / self.seconds


def cpu_seconds(pid: int) -> float:
    """Return the user and system time of all threads of a process, from /proc/PID/task/*/schedstat."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


class Load:
    """`bots` connections to a server: bots named b0, b1, ... or clients of an echo."""

    def __init__(self, address: tuple[str, int], bots: int, *, echo: bool) -> None:
        self._poll = select.epoll()
        self._socks: dict[int, socket.socket] = {}
        self._rest: dict[int, bytes] = {}
        self._echo = echo
        self.lines = 0
        for number in range(bots):
            sock = socket.create_connection(address)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socks[sock.fileno()] = sock
            self._rest[sock.fileno()] = b""
            self._poll.register(sock.fileno(), select.EPOLLIN)
            sock.sendall(MOVE if echo else b"HELLO 1 b%d\n" % number)

    def run(self, seconds: float) -> None:
        """Answer all lines for `seconds`. Raises RuntimeError if the server closes a connection."""
        end = time.monotonic() + seconds
        answer = self._answer_echo if self._echo else self._answer
        while (now := time.monotonic()) < end:
            for fd, _ in self._poll.poll(end - now):
                data = self._rest[fd] + self._socks[fd].recv(65536)
                if not data:
                    raise RuntimeError("the server closed a connection")
                whole, _, self._rest[fd] = data.rpartition(b"\n")
                answer(fd, whole)

    def _answer_echo(self, fd: int, data: bytes) -> None:
        self.lines += 1
        self._socks[fd].send(MOVE)

    def _answer(self, fd: int, data: bytes) -> None:
        sock = self._socks[fd]
        if b"GAME " in data:
            for game in _GAME.findall(data):
                sock.send(b"READY " + game + b"\n")
        if b"TURN " in data:
            self.lines += 1
            sock.send(MOVE)

    def close(self) -> None:
        self._poll.close()
        for sock in self._socks.values():
            sock.close()


def measure(pid: int, load: Load, seconds: float, warm_up: float) -> Figures:
    """Load the process `pid`; measure it for `seconds`, `warm_up` seconds after its first answer.

    Raises RuntimeError if it answers nothing within `START_S`.
    """
    limit = time.monotonic() + START_S
    while not load.lines:
        if time.monotonic() > limit:
            raise RuntimeError(f"the server answered nothing within {START_S:.0f} s")
        load.run(STEP_S)
    load.run(warm_up)
    lines, cpu, began = load.lines, cpu_seconds(pid), time.perf_counter()
    load.run(seconds)
    took = time.perf_counter() - began
    handled = load.lines - lines
    return Figures(handled, took, (cpu_seconds(pid) - cpu) / max(1, handled) * 1e6)
