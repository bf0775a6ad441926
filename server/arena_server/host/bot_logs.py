"""Private logs of bots: what the server exchanged with each bot, in a file that only the organiser can read.

    connection, driver -> `BotLogs` (a list append per line) -> its thread, every FLUSH_S -> FOLDER/NAME.log
    HELLO role=log -> ShowLog -> `LoggedDriver` -> the thread reads the file -> LOG lines, a chunk at a time

A line is `TIME C|S|* TEXT`, see PROTOCOL.md, section "The log of a bot". A file that exceeds half of
LOG_BYTES becomes NAME.log.1, and the one before it is deleted. A server without logs runs `Driver`, at no
cost per line.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue

from arena_server.core.effects import ChunkMark, Effect, Marker, ShowLog
from arena_server.core.log_events import (
    ConnectionEvent,
    GameOver,
    GameResumed,
    GameStarted,
    LogEvent,
    LoggedIn,
    ResultReturned,
)
from arena_server.errors import ArenaError
from arena_server.host.batches import Run
from arena_server.host.connection import ArrivalClock, Connection
from arena_server.host.driver import Driver
from arena_server.host.interfaces import Cipher, Core, Routing, Sink
from arena_server.host.log_events import BotLogLinesDropped, BotUsage, SubmissionNoted
from arena_server.host.logs import log_fields
from arena_server.host.loop_link import LoopLink
from arena_server.host.observers import Attachment

#: The size of a bot's log; the oldest lines beyond it are dropped, half of the log at a time.
LOG_BYTES = 1024 * 1024
#: The most that is kept of a line.
LINE_BYTES = 8192
#: Seconds for which lines are collected before they are written.
FLUSH_S = 0.25
#: Lines between two flushes, and flushes that wait for the disk; what exceeds them is dropped.
MOST_LINES = 50_000
MOST_BATCHES = 20
#: How many lines of a connection are remembered before its login.
EARLY_LINES = 16
#: A log is sent in chunks of this size; a client that does not take one in time is disconnected.
CHUNK_BYTES = 32 * 1024
CHUNK_S = 10.0

CLIENT, SERVER, EVENT = b"C", b"S", b"*"
#: How long a bot waited for a processor, in the logs of those that it played against.
OPPONENT_WAITED = "opponent-usage"
#: What a log line escapes: all but printable ASCII, backslashes, blanks beside blanks and at the ends.
_UNSAFE = re.compile(rb"[^ -\[\]-~]|(?<= ) |^ | $")

#: Bot, monotonic ns, direction, whole lines without the last line end.
Entry = tuple[str, int, bytes, bytes]


class BotLogs(Attachment):
    """The logs of one contest in `folder`; `begin` first, `close` last, both on any thread.

    `log` is the server's. All other methods are for the loop's thread. Raises ArenaError if the folder cannot
    be used. A disk that fails later loses lines: `dropped` counts them, and the contest goes on.
    """

    def __init__(self, folder: Path, log: Callable[[LogEvent], None]) -> None:
        self._folder = folder
        self._log = log
        self._bots: dict[int, str] = {}
        #: What came with HELLO in one batch, before the event of the login.
        self._early: dict[int, list[tuple[int, bytes]]] = {}
        #: Of the running games.
        self._players: dict[str, Sequence[str]] = {}
        self._entries: list[Entry] = []
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="bot-logs", daemon=True)
        self.dropped = 0

    def begin(self, loop: asyncio.AbstractEventLoop, *, fresh: bool) -> None:
        """Make the folder and start the thread; a `fresh` contest deletes the logs of one of its name.

        They may be those of other people who had the same bot names.
        """
        self._loop = loop
        try:
            # Each by itself: `parents` makes those above with the usual rights, and they name contests.
            self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.mkdir(mode=0o700, exist_ok=True)
            if fresh:
                for pattern in ("*.log", "*.log.1"):
                    for old in self._folder.glob(pattern):
                        old.unlink()
        except OSError as error:
            raise ArenaError(f"bot logs: {self._folder}: cannot be used: {error.strerror}") from None
        self._thread.start()

    def close(self) -> None:
        """Write what is left and end the thread."""
        self._flush()
        self._work.put(None)
        self._thread.join()

    async def detached(self) -> None:
        self.close()
        if self.dropped:
            self._log(BotLogLinesDropped(self.dropped))

    # -- lines in

    def received(self, conn: int, line: bytes, arrived: int) -> None:
        """A client sent a line behind HELLO, or the beginning of one that is too long."""
        if (bot := self._bots.get(conn)) is not None:
            self._add((bot, arrived, CLIENT, line))
        elif len(early := self._early.setdefault(conn, [])) < EARLY_LINES:
            early.append((arrived, line))

    def sent(self, conn: int, data: bytes) -> None:
        """Whole lines are handed to the socket now."""
        if (bot := self._bots.get(conn)) is not None:
            self._add((bot, time.monotonic_ns(), SERVER, data[:-1]))

    def happened(self, event: LogEvent) -> None:
        """Something happened on a connection, to a version of a bot, or in a game."""
        match event:
            case ConnectionEvent(bot=str(bot)):
                self._add_event(bot, event)
                if isinstance(event, LoggedIn):
                    self._begin_lines(event.conn, bot)
            case SubmissionNoted(bot=bot):
                self._add_event(bot, event)
            case GameStarted(game, names) | GameResumed(game, names):
                self._players[game] = names
            case GameOver(game):
                self._players.pop(game, None)
            case BotUsage(game, bot, pressure_ms=pressure):
                self._add_event(bot, event)
                # Nothing else of the other bot, whose name may be hidden until the contest is over.
                text = f"{OPPONENT_WAITED} game={game} pressure_ms={pressure}"
                for other in self._players.get(game, ()):
                    if other != bot:
                        self._add((other, time.monotonic_ns(), EVENT, text.encode()))
            case ResultReturned(names=names):
                for bot in names:
                    self._add_event(bot, event)

    def _begin_lines(self, conn: int, bot: str) -> None:
        """Log the lines of a connection from here on.

        WELCOME was sent before: its resume key is in no log, and neither is the token of HELLO.
        """
        self._bots[conn] = bot
        for arrived, line in self._early.pop(conn, []):
            self._add((bot, arrived, CLIENT, line))

    def _add_event(self, bot: str, event: LogEvent) -> None:
        fields = {
            key: value for key, value in log_fields(event).items() if key not in ("conn", "bot", "names")
        }
        text = " ".join([event.event, *(f"{key}={value}" for key, value in fields.items())])
        self._add((bot, time.monotonic_ns(), EVENT, text.encode()))

    def released(self, conn: int) -> None:
        """The connection is gone."""
        self._bots.pop(conn, None)
        self._early.pop(conn, None)

    def _add(self, entry: Entry) -> None:
        entries = self._entries
        if not entries:
            self._loop.call_later(FLUSH_S, self._flush)
        if len(entries) < MOST_LINES:
            entries.append(entry)
        else:
            self.dropped += 1

    def _flush(self) -> None:
        """Give the collected lines to the thread."""
        entries, self._entries = self._entries, []
        if self._work.qsize() >= MOST_BATCHES:
            self.dropped += len(entries)
        elif entries:
            offset = time.time_ns() - time.monotonic_ns()
            self._work.put(lambda: self._write(entries, offset))

    def read(self, bot: str, done: Callable[[bytes], None]) -> None:
        """Call `done` on the loop's thread with the log of `bot`: lines, oldest first."""
        self._flush()

        def answer() -> None:
            data = b"".join(_read(path) for path in self._paths(bot))
            LoopLink(self._loop).post(done, data)

        self._work.put(answer)

    # -- the thread

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()

    def _paths(self, bot: str) -> tuple[Path, Path]:
        """The older and the newer file of a bot."""
        return self._folder / f"{bot}.log.1", self._folder / f"{bot}.log"

    def _write(self, entries: Sequence[Entry], offset: int) -> None:
        lines: dict[str, list[bytes]] = {}
        for bot, at, side, data in entries:
            head = format_time(at + offset) + side
            lines.setdefault(bot, []).extend(head + escape(line) for line in data.split(b"\n"))
        for bot, own in lines.items():
            try:
                self._append(bot, b"".join(own))
            except OSError:
                self.dropped += len(own)

    def _append(self, bot: str, data: bytes) -> None:
        older, path = self._paths(bot)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "ab", buffering=0) as file:
            file.write(data)
            size = file.tell()
        if size > LOG_BYTES // 2:
            path.replace(older)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def format_time(ns: int) -> bytes:
    """Return the UTC time of `ns` since 1970 with microseconds, and a blank."""
    seconds, rest = divmod(ns, 1_000_000_000)
    return b"%s.%06dZ " % (_format_second(seconds), rest // 1000)


@lru_cache(maxsize=4)
def _format_second(seconds: int) -> bytes:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)).encode()


def escape(line: bytes) -> bytes:
    """Return a blank, the line as single words of printable ASCII, and a line end; no blank for no words."""
    if len(line) > LINE_BYTES:
        line = line[:LINE_BYTES] + b"..."
    text = _UNSAFE.sub(lambda found: b"\\x%02x" % found[0][0], line)
    return b" " + text + b"\n" if text else b"\n"


class LoggedConnection(Connection):
    """A connection whose output is logged."""

    __slots__ = ("_sent",)

    def __init__(
        self,
        number: int,
        sock: socket.socket,
        clock: ArrivalClock,
        sink: Sink,
        cipher: Cipher | None,
        sent: Callable[[int, bytes], None],
    ) -> None:
        super().__init__(number, sock, clock, sink, cipher)
        self._sent = sent

    def send(self, data: bytes, marker: Marker | None = None, *, raw: bool = False) -> bool:
        """Send and log; `raw` data is of the encryption, not of the protocol."""
        if not raw:
            self._sent(self.number, data)
        return super().send(data, marker, raw=raw)


@dataclass(slots=True)
class _Reading:
    """A log that is being sent: what is left of it, the last line of all, and the limit of a chunk."""

    logs: BotLogs
    bot: str
    lines: bytes
    last: bytes
    timer: asyncio.TimerHandle | None = None


class LoggedDriver(Driver):
    """A driver that logs the lines of bots, and sends a log to the client that the contest admits."""

    def __init__(
        self,
        router: Routing,
        loop: asyncio.AbstractEventLoop,
        cap: int,
        log: Callable[[LogEvent], None],
        cipher: Callable[[], Cipher | None] = lambda: None,
    ) -> None:
        super().__init__(router, loop, cap, log, cipher)
        self._logs: dict[Core, BotLogs] = {}
        self._readings: dict[int, _Reading] = {}

    def keep_logs(self, run: Run, logs: BotLogs) -> None:
        """Log the lines of this contest's bots; call it before `add`."""
        self._logs[run.core] = logs

    def _logs_of(self, number: int) -> BotLogs | None:
        """The logs of the contest of a connection; None before its HELLO, and of a contest without logs."""
        core = self._routes.get(number)
        return None if core is None else self._logs.get(core)

    def _connection(self, number: int, sock: socket.socket, plain: bool) -> Connection:
        cipher = None if plain else self._cipher()
        return LoggedConnection(number, sock, self._clock, self, cipher, self._sent)

    def _sent(self, number: int, data: bytes) -> None:
        if (logs := self._logs_of(number)) is not None:
            logs.sent(number, data)

    def received(self, number: int, line: bytes, arrived: int) -> None:
        if (logs := self._logs_of(number)) is not None:
            logs.received(number, line, arrived)
        super().received(number, line, arrived)

    def overlong(self, number: int, head: bytes, arrived: int) -> None:
        if (logs := self._logs_of(number)) is not None:
            logs.received(number, head + b"...", arrived)
        super().overlong(number, head, arrived)

    def released(self, number: int) -> None:
        if (logs := self._logs_of(number)) is not None:
            logs.released(number)
        if (reading := self._readings.pop(number, None)) is not None and reading.timer is not None:
            reading.timer.cancel()
        super().released(number)

    def _carry_out(self, effect: Effect, run: Run) -> None:
        if (logs := self._logs.get(run.core)) is not None:
            match effect:
                case ShowLog(conn, bot, last):
                    self._show(logs, conn, bot, last)
                    return
        super()._carry_out(effect, run)

    # -- sending a log

    def _show(self, logs: BotLogs, conn: int, bot: str, last: bytes) -> None:
        # One at a time per bot: each holds a copy of the log.
        same = [number for number, other in self._readings.items() if (other.logs, other.bot) == (logs, bot)]
        for number in same:
            self._connections[number].abort()
        if conn in self._connections:
            self._readings[conn] = _Reading(logs, bot, b"", last)
            logs.read(bot, lambda data: self._begin_to_send(conn, data))

    def _begin_to_send(self, conn: int, data: bytes) -> None:
        if (reading := self._readings.get(conn)) is not None:
            reading.lines = b"".join(b"LOG " + line for line in data.splitlines(keepends=True))
            self._send_chunk(conn)

    def _send_chunk(self, conn: int) -> None:
        """Send the next chunk, or the end."""
        reading, connection = self._readings.get(conn), self._connections.get(conn)
        if reading is None or connection is None:
            return
        if reading.timer is not None:
            reading.timer.cancel()
        if reading.lines:
            end = reading.lines.find(b"\n", CHUNK_BYTES) + 1 or len(reading.lines)
            chunk, reading.lines = reading.lines[:end], reading.lines[end:]
            reading.timer = self._loop.call_later(CHUNK_S, connection.abort)
            if connection.send(chunk, mark := ChunkMark()):
                self.flushed(conn, mark)
        else:
            del self._readings[conn]
            connection.send(reading.last)
            self.pool.dismiss(conn)

    def flushed(self, number: int, marker: Marker) -> None:
        if number in self._readings:
            self._loop.call_soon(self._send_chunk, number)
        else:
            super().flushed(number, marker)
