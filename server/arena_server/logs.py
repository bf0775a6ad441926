"""Lines to a descriptor that may be stuck, without ever waiting for it.

A full pipe behind stderr would stop whoever writes to it; the loop must not. So lines go
through a bounded queue to a thread of their own; what does not fit is counted and said later.
It must not know: who reads the lines, what they are about.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress

#: Lines kept while the reader is stuck, about 100 KiB; a reader that is back sees the newest.
QUEUE_LINES = 1024
#: What a stuck reader may delay the end of the program by.
CLOSE_TIMEOUT_S = 0.5


class LineWriter:
    """Write lines to descriptor `fd` from a daemon thread; `write` never blocks.

    Call `close` last: it waits for what is queued, but no longer than a stuck reader deserves.
    """

    def __init__(self, fd: int, limit: int = QUEUE_LINES) -> None:
        self._fd = fd
        self._lines: deque[str] = deque()
        self._limit = limit
        self._dropped = 0
        self._closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name=f"lines-{fd}", daemon=True)
        self._thread.start()

    def write(self, line: str) -> None:
        """Queue one line (without its line end); the oldest queued one gives way if there is no room."""
        with self._changed:
            if len(self._lines) >= self._limit:
                self._lines.popleft()
                self._dropped += 1
            self._lines.append(line)
            self._changed.notify()

    def close(self, timeout: float = CLOSE_TIMEOUT_S) -> bool:
        """Write what is queued and end. Returns False if the reader is stuck and lines were left."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (text := self._take()) is not None:
            data = text.encode("utf-8", "backslashreplace")
            # A reader that went away is no reason to end a contest.
            with suppress(OSError):
                while data:
                    data = data[os.write(self._fd, data) :]

    def _take(self) -> str | None:
        """All that is queued, as one text; None once closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._lines or self._closing)
            if not self._lines:
                return None
            lines = list(self._lines)
            if self._dropped:
                lines.insert(0, f"... {self._dropped} lines dropped: nobody read them in time")
            self._lines.clear()
            self._dropped = 0
        return "\n".join([*lines, ""])


class Log:
    """The server's log: one line an event over a LineWriter, as `text` or as `json`."""

    LEVELS = ("debug", "info", "warning", "error")

    def __init__(self, writer: LineWriter, level: str = "info", form: str = "text") -> None:
        self._writer = writer
        self._threshold = self.LEVELS.index(level)
        self._format = FORMS[form]

    def note(self, level: str, event: str, fields: Mapping[str, object] | None = None) -> None:
        """Write one event, if `level` is not below the log's own."""
        if self.LEVELS.index(level) >= self._threshold:
            self._writer.write(self._format(time.time(), level, event, fields or {}))


def format_event(wall: float, level: str, event: str, fields: Mapping[str, object]) -> str:
    """`time level event key=value ...` for people; whatever a client sent cannot break out of it."""
    return " ".join(
        [_stamp(wall), level, event, *(f"{key}={_plain(value)}" for key, value in fields.items())]
    )


def format_json(wall: float, level: str, event: str, fields: Mapping[str, object]) -> str:
    """One ASCII line with one JSON object: `time`, `level`, `event`, then the event's own fields.

    Numbers, truth values and null stay what they are; everything else is text, bytes as Latin-1.
    """
    head = {"time": _stamp(wall), "level": level, "event": event}
    return json.dumps({**head, **{key: _value(value) for key, value in fields.items()}})


#: The forms of a log by name.
FORMS: Mapping[str, Callable[[float, str, str, Mapping[str, object]], str]] = {
    "text": format_event,
    "json": format_json,
}


def _stamp(wall: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(wall)) + f".{int(wall * 1000) % 1000:03d}Z"


def _value(value: object) -> object:
    if value is None or isinstance(value, bool | int):
        return value
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _plain(value: object) -> str:
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    simple = text.isascii() and text.isprintable() and " " not in text and text != ""
    return text if simple else ascii(text)
