"""How late this machine is: a program that only answers runs beside a case and is asked all the time.

A bot that answers at once, and is late all the same, is late like this program.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import suppress
from time import monotonic

#: Answers each byte by itself.
_ECHO = "import os\nwhile byte := os.read(0, 1): os.write(1, byte)"
#: Seconds between an answer and the next question.
_PAUSE_S = 0.01
#: Seconds to wait for the end of the thread.
_END_S = 5.0


class Machine:
    """Measures from `__init__` to `close`. Raises OSError if no program can be started."""

    def __init__(self) -> None:
        self._echo = subprocess.Popen(  # noqa: S603 - our own interpreter
            [sys.executable, "-I", "-S", "-c", _ECHO],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
        assert self._echo.stdin is not None
        assert self._echo.stdout is not None
        self._questions, self._answers = self._echo.stdin, self._echo.stdout
        self._worst = 0.0
        self._asked = 0.0
        self._closed = threading.Event()
        self._ask()  # its start is not measured
        self._thread = threading.Thread(target=self._measure, name="echo", daemon=True)
        self._thread.start()

    @property
    def late_s(self) -> float:
        """The longest time that an answer has taken so far; one that is still awaited counts."""
        asked = self._asked
        return max(self._worst, monotonic() - asked if asked else 0.0)

    def _measure(self) -> None:
        while not self._closed.wait(_PAUSE_S):
            self._asked = monotonic()
            if not self._ask():
                break
            self._worst, self._asked = max(self._worst, monotonic() - self._asked), 0.0
        self._asked = 0.0

    def close(self) -> None:
        """End the program."""
        self._closed.set()
        self._echo.kill()
        self._thread.join(_END_S)
        self._echo.wait()
        self._questions.close()
        self._answers.close()

    def _ask(self) -> bool:
        """Whether it has answered."""
        with suppress(OSError):
            self._questions.write(b".")
            return bool(self._answers.read(1))
        return False
