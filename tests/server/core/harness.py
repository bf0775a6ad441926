"""The one interpreter of a contest's effects for tests of the core.

`Harness` carries the effects of an event out in order, then handles the events that they lead to,
and checks what holds after every event:

- Journal comes first, and once at most; nothing is sent to a connection that is closed or gone
- every line that is sent is whole and can be parsed; every record verifies and is stored once
- a Tick leaves no deadline that has passed; Finished comes once

Time stands still until a test moves it. `BytesHarness` takes the bytes of clients instead of lines.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import count
from typing import TypeVar

from arena_protocol.framing import CLIENT_LINE_LIMIT, LineReader
from arena_protocol.framing import Overlong as TooLong
from arena_protocol.messages import parse_server
from arena_protocol.record import GameRecord, time_used
from arena_protocol.record_codec import decode, encode
from arena_protocol.verify import verify
from arena_server.core.contest import Contest
from arena_server.core.deal import number_of
from arena_server.core.effects import (
    ChunkMark,
    CloseConnection,
    Effect,
    Finished,
    Journal,
    Marker,
    Mute,
    Reply,
    Send,
    SetFrozen,
    ShowLog,
    StartDraw,
    Store,
    Unmute,
)
from arena_server.core.events import (
    DrawDone,
    Event,
    Flushed,
    LineTooLong,
    Lost,
    Opened,
    Received,
    Stored,
    Thawed,
    Tick,
)
from arena_server.core.journal import OFFER, Entry
from arena_server.core.log_events import LogEvent
from arena_server.stats.results import PastGame

from .hosted import RoutedContest

MS = 1_000_000

Logged = TypeVar("Logged", bound=LogEvent)


def numbered_secrets(prefix: str = "") -> Callable[[int], str]:
    """A source of secrets that are none: id1, key2, ..."""
    numbers = count(1)
    return lambda length: f"{prefix}{'key' if length > 8 else 'id'}{next(numbers)}"


def past_game(record: GameRecord, entries: Iterable[Entry]) -> PastGame:
    """What a server that is started again reads of a stored record; its offer is one of `entries`."""
    faults = tuple((record.names[fault.seat - 1], str(fault.kind)) for fault in record.faults if fault.seat)
    number = number_of(record.game_id)
    deal = next(entry[3] for entry in entries if entry[:2] == (number, OFFER))
    used = time_used(record.plies, len(record.names))
    return PastGame(number, record.names, deal, record.totals, record.end, len(record.plies), faults, used)


class Harness:
    """Runs one contest; `now` is the moment of the next event, in nanoseconds.

    TURN and PING reach their socket at once while `flushes`, chunks while `takes`; records are
    durable at once while `stores`, and frozen programs run at once while `thaws`. A subclass gets what
    leaves the contest: `sent`, `closed`, `write`.
    """

    def __init__(self, contest: Contest, now: int = 0, *, logs: bool = False) -> None:
        self.contest = contest
        self.machine = RoutedContest(contest, logs=logs)
        self.now = now
        self.flushes = self.takes = self.stores = self.thaws = True
        #: The programs that are frozen, and the thaws that are not done.
        self.frozen: set[tuple[str, int]] = set()
        self.thawing: list[SetFrozen] = []
        #: All effects so far, and the markers of each connection that have not reached its socket.
        self.effects: list[Effect] = []
        self.markers: dict[int, list[Marker]] = {}
        self.open: set[int] = set()
        self.muted: set[int] = set()
        self.records: dict[str, GameRecord] = {}
        self.finished: str | None = None
        #: The connections to which the shell sends a log, with the bot.
        self.shown: list[tuple[int, str]] = []
        self._events: deque[Event] = deque()

    # -- what a subclass overrides

    def sent(self, conn: int, data: bytes, marker: Marker | None) -> None:
        """Lines for `conn`; a marker with them is in `markers` unless it has been flushed."""

    def closed(self, conn: int) -> None:
        """The contest closes `conn`."""

    def write(self, effect: Journal | Store) -> None:
        """Something has to be durable before the effects that follow."""

    # -- events

    def event(self, event: Event) -> list[Effect]:
        """Handle an event, and all that its effects lead to; returns the effects of this event alone."""
        effects = self._handle(event)
        self.drain()
        return effects

    def drain(self) -> None:
        """Handle the events that wait."""
        while self._events:
            self._handle(self._events.popleft())

    def _handle(self, event: Event) -> list[Effect]:
        if isinstance(event, Opened):
            self.open.add(event.conn)
        elif isinstance(event, Lost):
            self._forget(event.conn)
        effects = self.machine.handle(event, self.now)
        assert not any(isinstance(effect, Journal) for effect in effects[1:])
        alarm, deadline = self.machine.alarm, self.machine.deadline
        assert deadline is None or (alarm is not None and alarm <= deadline)
        assert not isinstance(event, Tick) or deadline is None or deadline > self.now
        self.effects += effects
        for effect in effects:
            self._carry_out(effect)
        return effects

    def _forget(self, conn: int) -> None:
        self.open.discard(conn)
        self.muted.discard(conn)
        self.markers.pop(conn, None)

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case Send(conn, data, marker):
                assert conn in self.open
                assert data.endswith(b"\n")
                assert all(parse_server(line) is not None for line in data.splitlines())
                if marker is not None:
                    self._mark(conn, marker)
                self.sent(conn, data, marker)
            case Journal():
                self.write(effect)
            case Store(game_id, record):
                assert game_id not in self.records
                verify(record)
                assert decode(encode(record)) == record
                self.records[game_id] = record
                self.write(effect)
                if self.stores:
                    self._events.append(Stored(game_id))
            case CloseConnection(conn):
                assert conn in self.open
                self._forget(conn)
                self.closed(conn)
            case Mute(conn):
                assert conn in self.open
                self.muted.add(conn)
            case Unmute(conn):
                self.muted.remove(conn)
            case Finished(reason):
                # What was drained may be aborted, and what could go on is, when it is archived.
                assert self.finished is None or (
                    self.finished in ("stopped", "incomplete") and reason == "aborted"
                )
                self.finished = reason
            case ShowLog(conn, bot, last):
                assert conn in self.open
                self.shown.append((conn, bot))
                self.sent(conn, last, None)
                self._forget(conn)
                self.closed(conn)
            case StartDraw(draw):
                self._events.append(DrawDone(draw.run()))
            case SetFrozen():
                self._freeze_or_thaw(effect)
            case Reply() | LogEvent():
                pass

    def _mark(self, conn: int, marker: Marker) -> None:
        self.markers.setdefault(conn, []).append(marker)
        if self.takes if isinstance(marker, ChunkMark) else self.flushes:
            self._events.append(self._flushed(conn))

    def _freeze_or_thaw(self, effect: SetFrozen) -> None:
        program = effect.bot, effect.slot
        assert (program in self.frozen) is not effect.frozen
        if not effect.frozen:
            self.thawing.append(effect)
            if self.thaws:
                self._events.append(self._thawed())
        else:
            self.frozen.add(program)

    def _thawed(self) -> Thawed:
        thaw = self.thawing.pop(0)
        self.frozen.discard((thaw.bot, thaw.slot))
        return Thawed(thaw.bot, thaw.slot, thaw.number)

    def thaw_next(self) -> None:
        """The first program that is being thawed runs."""
        self.event(self._thawed())

    def _flushed(self, conn: int) -> Flushed:
        return Flushed(conn, self.markers[conn].pop(0), self.now)

    def flush(self, conn: int) -> None:
        """The data of the oldest marker of `conn` reaches its socket."""
        if self.markers.get(conn):
            self.event(self._flushed(conn))

    def wait(self, milliseconds: float) -> None:
        """Let time pass; every deadline on the way gets its Tick."""
        end = self.now + int(milliseconds * MS)
        while (deadline := self.machine.deadline) is not None and deadline <= end:
            self.now = max(self.now, deadline)
            self.event(Tick())
        self.now = end

    # -- what came of it

    @property
    def entries(self) -> list[Entry]:
        """All journal entries so far."""
        return [entry for effect in self.effects if isinstance(effect, Journal) for entry in effect.entries]

    def logged(self, kind: type[Logged]) -> list[Logged]:
        """All events of a class so far."""
        return [effect for effect in self.effects if isinstance(effect, kind)]


class BytesHarness(Harness):
    """Cuts the bytes of clients into lines, and keeps the lines of muted connections until Unmute."""

    def __init__(self, contest: Contest, now: int = 0) -> None:
        super().__init__(contest, now)
        self._buffers: dict[int, LineReader] = {}
        self._waiting: dict[int, deque[bytes | TooLong]] = {}

    def connect(self, conn: int) -> None:
        self._buffers[conn] = LineReader(CLIENT_LINE_LIMIT)
        self._waiting[conn] = deque()
        self.event(Opened(conn, f"memory:{conn}"))

    def receive(self, conn: int, data: bytes) -> None:
        """Bytes of a client; those of a connection that is not open are dropped."""
        if conn not in self.open:
            return
        for line in self._buffers[conn].feed(data):
            self._waiting[conn].append(line)
            self._feed_waiting()
        assert self._buffers[conn].pending <= CLIENT_LINE_LIMIT + 1

    def event(self, event: Event) -> list[Effect]:
        effects = super().event(event)
        self._feed_waiting()
        return effects

    def _feed_waiting(self) -> None:
        """Hand over the lines that wait, but for those of muted connections."""
        while ready := [conn for conn in sorted(self.open - self.muted) if self._waiting[conn]]:
            conn = ready[0]
            line = self._waiting[conn].popleft()
            if isinstance(line, TooLong):
                super().event(LineTooLong(conn, self.now, line.head))
            else:
                super().event(Received(conn, line, self.now))
