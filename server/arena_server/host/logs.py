"""The server's log, and the events of the server itself; those of the contest are in `core/log_events.py`.

A thread writes the lines, so that a full pipe never blocks the event loop. Lines pass through a bounded
queue; those that do not fit are counted, and the count is logged.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields

from arena_server.core.log_events import LogEvent

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

    def write(self, event: LogEvent, contest: str | None = None) -> None:
        """Write the line of an event, unless its level is below the log's; with a `contest` it is named."""
        if self.LEVELS.index(event.level) >= self._threshold:
            self._writer.write(self._format(time.time(), event, contest))


def log_fields(event: LogEvent) -> dict[str, int | str | None]:
    """The fields of an event's line, in their order: numbers, booleans and None as they are, others as text.

    A tuple is `a,b`, a tuple in it `a:b`; an empty one has no field.
    """
    values = {each.name: getattr(event, each.name) for each in fields(event)}
    return {key: _value(value) for key, value in values.items() if value != ()}


def format_text(wall: float, event: LogEvent, contest: str | None = None) -> str:
    """`time level event key=value ...`: printable ASCII on one line, whatever a client sent."""
    named = {} if contest is None else {"contest": contest}
    pairs = (f"{key}={_word(str(value))}" for key, value in (named | log_fields(event) | named).items())
    return " ".join([_stamp(wall), event.level, event.event, *pairs])


def format_json(wall: float, event: LogEvent, contest: str | None = None) -> str:
    """One ASCII line with one JSON object: `time`, `level`, `event`, then the event's own fields."""
    head = {"time": _stamp(wall), "level": event.level, "event": event.event}
    named = {} if contest is None else {"contest": contest}
    return json.dumps(head | named | log_fields(event) | named).replace(
        "\x7f", "\\u007f"
    )  # the one that JSON leaves bare


FORMS: Mapping[str, Callable[[float, LogEvent, str | None], str]] = {"text": format_text, "json": format_json}


def _stamp(wall: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(wall)) + f".{int(wall * 1000) % 1000:03d}Z"


def _value(value: object) -> int | str | None:
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, tuple):
        return ",".join(":".join(each) if isinstance(each, tuple) else str(each) for each in value)
    return str(value)


def _word(text: str) -> str:
    simple = text.isascii() and text.isprintable() and " " not in text and text != ""
    return text if simple else ascii(text)
