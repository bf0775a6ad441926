"""Where a bot comes in: the port that it connects to, its process, and the clock of its cases."""

from __future__ import annotations

import selectors
import socket
from time import monotonic
from typing import Protocol

from arena_check.bot.machine import Machine
from arena_check.bot.process import BotUnderTest
from arena_check.wire import Stream


class Door(Protocol):
    """How a bench meets a bot. Times are seconds; a test has a door without sockets, in virtual time."""

    @property
    def sees_end(self) -> bool:
        """Whether the end of the bot is seen."""

    def now(self) -> float:
        """The time by a monotonic clock."""

    @property
    def address(self) -> str:
        """Where the bot is to connect, for people."""

    def start(self, name: str, token: str) -> None:
        """Let the bot begin. Raises OSError if it cannot be started."""

    def accept(self, patience: float) -> Stream | str:
        """Return the bot's next connection, or what came instead: its end, or nothing in time."""

    def status(self) -> int | None:
        """The exit status of a bot that has ended, else None."""

    def end(self, patience: float) -> str:
        """Wait so long for the bot to end; return how, `the bot ended with status 1`, or an empty text."""

    def printed(self) -> str:
        """The end of what the bot has written to its stdout; empty if that is not known."""

    def watch_machine(self) -> None:
        """Measure how late this machine is with a program that only answers, until `stop`."""

    @property
    def machine_late_s(self) -> float:
        """The longest time that it took since `watch_machine`."""

    def stop(self) -> str:
        """End the bot, if it has not ended, drop its connections, and return the end of its stderr."""


class Listening:
    """The door of a bot that is a process, or is started by hand: a port. Raises OSError if it is taken."""

    now = staticmethod(monotonic)

    def __init__(self, bot: BotUnderTest, host: str, port: int) -> None:
        self._bot = bot
        self._host = host
        self._listener = socket.create_server((host, port))
        self._port: int = self._listener.getsockname()[1]
        self._machine: Machine | None = None

    @property
    def sees_end(self) -> bool:
        return self._bot.exited is not None

    @property
    def address(self) -> str:
        return f"{self._host}:{self._port}"

    def start(self, name: str, token: str) -> None:
        self._bot.start(self._host, self._port, name, token)

    def accept(self, patience: float) -> socket.socket | str:
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            if self._bot.exited is not None:
                selector.register(self._bot.exited, selectors.EVENT_READ)
            ready = [key.fileobj for key, _ in selector.select(patience)]
        # First: a bot may connect and end before it is looked at, and the case wants its connection.
        if self._listener in ready:
            return self._listener.accept()[0]
        return self._end() if ready else f"none within {patience:g} s"

    def status(self) -> int | None:
        return self._bot.status()

    def end(self, patience: float) -> str:
        if self._bot.exited is None:
            return ""
        with selectors.DefaultSelector() as selector:
            selector.register(self._bot.exited, selectors.EVENT_READ)
            return self._end() if selector.select(patience) else ""

    def _end(self) -> str:
        return how_it_ended(self._bot.status())

    def printed(self) -> str:
        return self._bot.printed()

    def watch_machine(self) -> None:
        self._machine = Machine()

    @property
    def machine_late_s(self) -> float:
        return 0.0 if self._machine is None else self._machine.late_s

    def stop(self) -> str:
        if self._machine is not None:
            self._machine.close()
            self._machine = None
        said = self._bot.stop()
        self._drop_waiting()
        return said

    def _drop_waiting(self) -> None:
        """Drop connections that no case has taken, so that the next case does not get them."""
        self._listener.setblocking(False)
        try:
            while True:
                self._listener.accept()[0].close()
        except BlockingIOError:
            pass
        finally:
            self._listener.setblocking(True)

    def close(self) -> None:
        self._listener.close()


def how_it_ended(status: int | None) -> str:
    """Return `the bot ended` with its exit status or signal, as far as they are known."""
    if status is None:
        return "the bot ended"
    return f"the bot ended with status {status}" if status >= 0 else f"the bot ended by signal {-status}"
