"""stdin, stdout and stderr of a command: closed ones, and those whose reader has gone away."""

from __future__ import annotations

import os
import sys
from typing import Any, TextIO, cast


def open_streams() -> None:
    """Lead those of stdin, stdout and stderr that are closed (`>&-`) nowhere.

    Python has None in their place, and the next file or socket that is opened would get their number: a
    program that is started would write to it.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - up to the end


def outlive_readers() -> None:
    """Lead stdout and stderr nowhere once their reader has gone away (`| head -1`), from now on.

    For commands that serve others: a contest goes on without those who read how far it is.
    """
    for name in ("stdout", "stderr"):
        setattr(sys, name, cast(TextIO, _Unread(getattr(sys, name))))


class _Unread:
    """A stream whose writes without a reader are no error."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._lead_nowhere()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._lead_nowhere()

    def _lead_nowhere(self) -> None:
        """What the stream holds goes there, too, instead of being an error at the exit."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)
