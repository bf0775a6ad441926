"""The bot under test: a process that is started for each case, or a bot that its author starts by hand."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Protocol

from arena_check.bot.printed import Printed

#: As much of the end of a bot's stderr as a report shows.
STDERR_TAIL = 4000


class BotUnderTest(Protocol):
    """What a case needs of a bot. `exited` is readable once the bot has ended by itself, None if unknown."""

    exited: socket.socket | None

    def start(self, host: str, port: int, name: str, token: str) -> None:
        """Let the bot connect to this address. Raises OSError if it cannot be started."""

    def status(self) -> int | None:
        """The exit status of a bot that has ended, else None."""

    def printed(self) -> str:
        """The end of what it has written to its stdout; empty if that is not known."""

    def stop(self) -> str:
        """End the bot, if it has not ended, and return the end of its stderr."""


class Process:
    """A bot that is a command. It is started once for each case, in a process group of its own.

    In the words of the command `{host}`, `{port}`, `{name}` and `{token}` are filled in; the same stands in
    ARENA_HOST, ARENA_PORT, ARENA_NAME and ARENA_TOKEN.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = list(command)
        self.exited: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None
        self._waiter: threading.Thread | None = None
        self._printed: Printed | None = None

    def start(self, host: str, port: int, name: str, token: str) -> None:
        """Start the process. Raises OSError if there is no such program."""
        values = {"host": host, "port": str(port), "name": name, "token": token}
        words = [_filled(word, values) for word in self._command]
        # A file, not a pipe: a bot that writes much must not wait for a reader.
        stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed in stop()
        printed = Printed()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the author's own command
                words,
                stdin=subprocess.DEVNULL,
                stdout=printed.slave,
                stderr=stderr,
                env=os.environ | {f"ARENA_{key.upper()}": value for key, value in values.items()},
                start_new_session=True,
            )
        except OSError:
            stderr.close()
            printed.close()
            raise
        finally:
            os.close(printed.slave)
        self._stderr, self._printed = stderr, printed
        self.exited, end = socket.socketpair()
        self._waiter = threading.Thread(target=_announce_exit, args=(self._process, end), daemon=True)
        self._waiter.start()

    def status(self) -> int | None:
        """The exit status, negative for a signal."""
        return None if self._process is None else self._process.poll()

    def printed(self) -> str:
        """The end of its stdout."""
        return "" if self._printed is None else self._printed.text

    def stop(self) -> str:
        """Kill the process group and return the end of its stderr."""
        if self._process is None or self._stderr is None or self._printed is None:
            return ""
        with suppress(ProcessLookupError, PermissionError):
            # The group: what a bot has started would keep its connections open.
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._waiter is not None:
            self._waiter.join()
        if self.exited is not None:
            self.exited.close()
        # Only the end is read: a bot may have written more than fits into memory.
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - STDERR_TAIL))
        said = self._stderr.read().decode("utf-8", "replace")
        self._stderr.close()
        self._printed.close()
        self._process = self.exited = self._printed = None
        return said


class ByHand:
    """A bot that its author starts, once for each case; nothing is known of it but its connections."""

    exited: socket.socket | None = None

    def start(self, host: str, port: int, name: str, token: str) -> None:
        """Nothing to start."""

    def status(self) -> None:
        """Unknown."""

    def printed(self) -> str:
        """Unknown."""
        return ""

    def stop(self) -> str:
        """Nothing to end, and no stderr."""
        return ""


def _filled(word: str, values: dict[str, str]) -> str:
    for key, value in values.items():
        word = word.replace(f"{{{key}}}", value)
    return word


def _announce_exit(process: subprocess.Popen[bytes], end: socket.socket) -> None:
    process.wait()
    end.close()
