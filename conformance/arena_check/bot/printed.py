"""What a bot prints to its stdout, which the server does not read."""

from __future__ import annotations

import os
import select
import socket
import threading
import tty

_CHUNK = 65536
#: As much of the end is kept.
_KEPT = 4000
#: Seconds to wait for the end of the thread.
_END_S = 5.0


class Printed:
    """A terminal for the stdout of a program: most languages write a line there without a flush.

    `slave` is for the program, and is closed by who has started it. `text` grows until `close`.
    """

    def __init__(self) -> None:
        try:
            self._master, self.slave = os.openpty()
            tty.setraw(self.slave)
        except OSError:  # a sandbox without terminals: what is printed without a flush is not seen there
            self._master, self.slave = os.pipe()
        self._kept = b""
        self._closing, self._closed = socket.socketpair()
        self._thread = threading.Thread(target=self._read, name="stdout", daemon=True)
        self._thread.start()

    @property
    def text(self) -> str:
        """The end of what came so far."""
        return self._kept.decode("utf-8", "replace")

    def _read(self) -> None:
        while True:
            ready, _, _ = select.select([self._master, self._closed.fileno()], [], [])
            if self._master not in ready:
                return
            try:
                data = os.read(self._master, _CHUNK)
            except OSError:  # EIO: no program has it open any more
                return
            if not data:
                return
            self._kept = (self._kept + data)[-_KEPT:]

    def close(self) -> None:
        """Read no more."""
        self._closing.close()
        self._thread.join(_END_S)
        self._closed.close()
        os.close(self._master)
