"""The server's log: lines written by a thread, so that a full pipe never blocks the event loop.

Lines pass through a bounded queue; those that do not fit are counted, and the count is logged.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress

#: Lines kept while the reader does not read, about 100 KiB; the oldest are dropped.
QUEUE_LINES = 1024
#: How long the end of the program waits for a reader that does not read.
CLOSE_TIMEOUT_S = 0.5


class LineWriter:
    """Writes lines to descriptor `fd` from a daemon thread; `write` never blocks. Call `close` last."""

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
        """Queue one line, without its line end; if the queue is full its oldest line is dropped."""
        with self._changed:
            if len(self._lines) >= self._limit:
                self._lines.popleft()
                self._dropped += 1
            self._lines.append(line)
            self._changed.notify()

    def close(self, timeout: float = CLOSE_TIMEOUT_S) -> bool:
        """Write what is queued and end. Returns False if lines are left after `timeout` seconds."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (text := self._take()) is not None:
            data = text.encode("utf-8", "backslashreplace")
            # A contest goes on without a reader of its log.
            with suppress(OSError):
                while data:
                    data = data[os.write(self._fd, data) :]

    def _take(self) -> str | None:
        """Everything queued, as one text; None once closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._lines or self._closing)
            if not self._lines:
                return None
            lines = list(self._lines)
            if self._dropped:
                lines.insert(0, f"... {self._dropped} lines dropped: the reader was too slow")
            self._lines.clear()
            self._dropped = 0
        return "\n".join([*lines, ""])


class Log:
    """One line an event, as `text` or as `json`."""

    LEVELS = ("debug", "info", "warning", "error")

    def __init__(self, writer: LineWriter, level: str = "info", form: str = "text") -> None:
        self._writer = writer
        self._threshold = self.LEVELS.index(level)
        self._format = FORMS[form]

    def note(self, level: str, event: str, fields: Mapping[str, object] | None = None) -> None:
        """Write an event, unless `level` is below the log's."""
        if self.LEVELS.index(level) >= self._threshold:
            self._writer.write(self._format(time.time(), level, event, fields or {}))


def format_event(wall: float, level: str, event: str, fields: Mapping[str, object]) -> str:
    """`time level event key=value ...`: printable ASCII on one line, whatever bytes a client sent."""
    return " ".join(
        [_stamp(wall), level, event, *(f"{key}={_plain(value)}" for key, value in fields.items())]
    )


def format_json(wall: float, level: str, event: str, fields: Mapping[str, object]) -> str:
    """One ASCII line with one JSON object: `time`, `level`, `event`, then the event's own fields.

    Numbers, booleans and null keep their types; everything else is text, bytes as Latin-1.
    """
    head = {"time": _stamp(wall), "level": level, "event": event}
    return json.dumps({**head, **{key: _value(value) for key, value in fields.items()}})


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
