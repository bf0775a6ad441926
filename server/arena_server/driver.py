"""Event-loop driver: feeds events to the contest and carries out its effects, a batch at a time.

    sockets ready -> read all -> Contest.handle(line) ... -> CommitBarrier -> one commit -> one send a seat

The driver judges nothing. It stamps times, moves bytes, and wakes the contest for its deadlines
with one timer. `CommitBarrier` and `StallDetector` are free of I/O: the simulation runs the same
classes in virtual time.
"""

from __future__ import annotations

import asyncio
import selectors
import socket
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from arena_protocol.record import GameRecord
from arena_server.connection import ArrivalClock, Cipher, Connection
from arena_server.core.effects import (
    Close,
    Effect,
    Finished,
    Journal,
    Marker,
    Mute,
    Reply,
    Send,
    ShowLog,
    Store,
    TurnMark,
    Unmute,
)
from arena_server.core.events import Event, Lost, Opened, Overlong, Stalled, Stored, Tick
from arena_server.core.journal import Entry
from arena_server.core.log_events import LogEvent
from arena_server.core.peers import Outbox
from arena_server.durations import BOUNDS, Durations
from arena_server.listener import ConnectionPool
from arena_server.logs import DescriptorsExhausted

#: How often the loop shows that it runs, and how late it may be before that is a stall.
BEAT_S = 0.1
STALL_NS = 200_000_000
#: While effects have been held back for longer than this, no deadline is judged: a TURN or an answer
#: may be among them, and a slow disk is no bot's fault.
HELD_NS = 200_000_000


class CommitBarrier:
    """Holds effects back until the journal entries before them are durable; free of I/O.

        add(effects) ... -> seal(now) -> entries to commit -> durable(batch) -> release() -> effects
                                      -> take_records() -> records to store behind them

    All entries added between two calls of `seal` are one batch. Effects keep their order: what
    holds one back holds back all that follow.
    """

    __slots__ = ("_durable", "_effects", "_entries", "_waiting", "batch", "records")

    def __init__(self) -> None:
        #: The number of the last sealed batch (1, 2, ...), and how many are durable.
        self.batch = self._durable = 0
        self._entries: list[Entry] = []
        self._effects: list[Effect] = []
        self.records: list[Store] = []
        #: Effects with the batch that has to be durable before them, and when that was sealed.
        self._waiting: deque[tuple[int, int, list[Effect]]] = deque()

    def add(self, effects: list[Effect]) -> None:
        """Add the effects of one event, in order."""
        for effect in effects:
            if type(effect) is Journal:
                self._entries += effect.entries
            elif type(effect) is Store:
                self.records.append(effect)
            else:
                self._effects.append(effect)

    def seal(self, now: int) -> list[Entry]:
        """Close the batch: returns its entries, to be committed as batch number `batch`, if there are any."""
        entries, self._entries = self._entries, []
        if entries:
            self.batch += 1
        if self._effects or entries:
            self._waiting.append((self.batch, now, self._effects))
            self._effects = []
        return entries

    def take_records(self) -> list[Store]:
        """The records added so far; they are to be stored after the entries sealed so far."""
        records, self.records = self.records, []
        return records

    def durable(self, batch: int) -> None:
        """All batches up to number `batch` are durable."""
        if batch > self._durable:  # reports of two threads may come in either order
            self._durable = batch

    def release(self) -> list[Effect]:
        """The effects that may be carried out now, in order; each is returned once."""
        waiting = self._waiting
        if not waiting or waiting[0][0] > self._durable:
            return []
        effects = waiting.popleft()[2]
        while waiting and waiting[0][0] <= self._durable:
            effects += waiting.popleft()[2]
        return effects

    @property
    def held_since(self) -> int | None:
        """When the oldest batch that is not durable was sealed; None if effects wait for none."""
        return self._waiting[0][1] if self._waiting else None


class StallDetector:
    """Detects that the loop stood still: `beat` is due every 100 ms, and free of I/O."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: int | None = None

    def beat(self, now: int) -> None:
        """The loop runs at `now` (ns)."""
        self._last = now

    def stop(self) -> None:
        """Detect nothing more."""
        self._last = None

    def stall(self, now: int) -> Stalled | None:
        """The stall that has just ended, if there was one; it is reported once."""
        last = self._last
        if last is None or now - last <= STALL_NS:
            return None
        self._last = now
        return Stalled(last, now)


class Machine(Protocol):
    """What the driver needs of a contest."""

    @property
    def alarm(self) -> int | None:
        """When a Tick is due at the latest (monotonic ns); None: not before another event."""

    @property
    def output(self) -> Outbox:
        """What `take` takes."""

    def feed(self, event: Event, now: int) -> None:
        """Take any event."""

    def received(self, conn: int, line: bytes, arrived: int, now: int) -> None:
        """Take the event Received."""

    def flushed(self, conn: int, marker: Marker, at: int, now: int) -> None:
        """Take the event Flushed."""

    def take(self) -> list[Effect]:
        """The effects of all events since the last call, in order."""


class RecordStore(Protocol):
    """What the driver needs of the writer."""

    def append(self, entries: Sequence[Entry]) -> bool:
        """Commit a batch of entries. False: it is queued, and `Driver.committed` will report it."""

    def store(self, game_id: str, record: GameRecord) -> None:
        """Make a record durable after all entries appended before; `Driver.committed` reports it."""


class Environment(Protocol):
    """What the driver needs of the server that runs it."""

    def reply(self, number: int, problem: str | None) -> None:
        """Answer a command of the organiser."""

    def recorded(self, record: GameRecord) -> None:
        """A record is durable."""

    def log(self, event: LogEvent) -> None:
        """Something for the log and for observers happened."""

    def finished(self, reason: str) -> None:
        """The contest is over."""


class Driver:
    """Runs one contest on one loop; every method is for the loop's thread.

    `pool` holds the connections, at most `cap`.
    """

    def __init__(
        self,
        contest: Machine,
        store: RecordStore,
        environment: Environment,
        loop: asyncio.AbstractEventLoop,
        cap: int,
        cipher: Callable[[], Cipher | None] = lambda: None,
    ) -> None:
        self._contest = contest
        self._store = store
        self._environment = environment
        self._loop = loop
        self._cipher = cipher
        self._clock = ArrivalClock()
        # All sockets lie behind one selector of our own: the loop calls back once for all that are
        # ready, which gives a batch a clear end and costs no handle a line.
        self._selector = selectors.DefaultSelector()
        loop.add_reader(self._selector, self._on_ready)
        self.pool = ConnectionPool(loop, cap, self._connection, self._opened, self._exhausted)
        self._connections = self.pool.connections
        self._barrier = CommitBarrier()
        self._events: list[Event] = []
        self._in_batch = False
        self.durations = Durations()
        #: When each queued batch of entries, by its number, and each record was handed over.
        self._queued: deque[tuple[int, int]] = deque()
        self._storing: dict[str, tuple[int, GameRecord]] = {}
        self._now = time.monotonic_ns()
        self._stalls = StallDetector()
        self._beat: asyncio.TimerHandle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0

    def start(self) -> None:
        """Detect stalls from now on, and let the contest do what is due at once."""
        self._beat_now()
        self.feed(Tick())

    def stop(self) -> None:
        """Free the selector and the timers; call it when all connections are gone."""
        self._stalls.stop()
        for timer in (self._beat, self._timer):
            if timer is not None:
                timer.cancel()
        if self._selector.get_map() is not None:  # None: it is closed already
            self._loop.remove_reader(self._selector)
            self._selector.close()

    # -- batches

    def _begin_batch(self) -> None:
        self._in_batch = True
        self._now = now = time.monotonic_ns()
        self._clock.read(now, time.time_ns())
        if stall := self._stalls.stall(now):  # before anything that came meanwhile
            self._contest.feed(stall, now)

    def _on_ready(self) -> None:
        """Read all sockets that are ready, then commit and send."""
        self._begin_batch()
        for key, events in self._selector.select(0):
            if events & selectors.EVENT_WRITE:
                key.data.writable()
            if events & selectors.EVENT_READ:
                key.data.readable()
        self._end_batch()

    def _end_batch(self) -> None:
        """Commit the entries of the batch, then carry out what they held back, and what follows of that."""
        barrier, contest, connections = self._barrier, self._contest, self._connections
        durations, output = self.durations.journal, contest.output
        while True:
            barrier.add(contest.take())
            if entries := barrier.seal(self._now):
                began = time.monotonic_ns()
                if self._store.append(entries):
                    barrier.durable(barrier.batch)
                    took = time.monotonic_ns() - began  # `Histogram.observe`, without a call
                    durations.counts[bisect_left(BOUNDS, took)] += 1
                    durations.total += took
                else:
                    self._queued.append((barrier.batch, began))
            if barrier.records:
                self._store_records()
            for effect in barrier.release():
                if type(effect) is Send:
                    # The contest may still send to a connection that has just been lost.
                    if (connection := connections.get(effect.conn)) is not None:
                        connection.send(effect.data, effect.marker)
                else:
                    self._carry_out(effect)
            if self._events:
                events, self._events = self._events, []
                now = time.monotonic_ns()
                for event in events:
                    contest.feed(event, now)
            if not (output.effects or output.entries):
                break
        self._in_batch = False
        alarm = contest.alarm
        if alarm is not None and (self._timer is None or alarm < self._timer_at):
            self._arm(alarm)

    def _store_records(self) -> None:
        for each in self._barrier.take_records():
            self._storing[each.game_id] = time.monotonic_ns(), each.record
            self._store.store(each.game_id, each.record)

    def feed(self, event: Event) -> None:
        """Let the contest handle an event, now or at the end of the batch that is under way."""
        self._events.append(event)
        if not self._in_batch:
            self._begin_batch()
            self._end_batch()

    def committed(self, batches: int, game_ids: Sequence[str]) -> None:
        """The first `batches` calls of `append` are durable, and the records of these games."""
        now = time.monotonic_ns()
        while self._queued and self._queued[0][0] <= batches:
            self.durations.journal.observe(now - self._queued.popleft()[1])
        for game_id in game_ids:
            if stored := self._storing.pop(game_id, None):
                self.durations.store.observe(now - stored[0])
                self._environment.recorded(stored[1])
        self._barrier.durable(batches)
        self._events += map(Stored, game_ids)
        if not self._in_batch:
            self._begin_batch()
            self._end_batch()

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case LogEvent():
                self._environment.log(effect)
            case Reply(number, problem):
                self._environment.reply(number, problem)
            case Finished(reason):
                self._environment.finished(reason)
            case ShowLog(conn, _, last):
                if (connection := self._connections.get(conn)) is not None:
                    connection.send(last)
                    connection.close()
            case Close(conn) | Mute(conn) | Unmute(conn):
                if (connection := self._connections.get(conn)) is not None:
                    _apply(effect, connection)

    # -- what connections report (connection.Sink)

    def received(self, number: int, line: bytes, arrived: int) -> None:
        self._contest.received(number, line, arrived, self._now)

    def overlong(self, number: int, head: bytes, arrived: int) -> None:
        self._contest.feed(Overlong(number, arrived, head), self._now)

    def flushed(self, number: int, marker: Marker) -> None:
        at = time.monotonic_ns()
        if type(marker) is TurnMark:
            turns = self.durations.turns  # `Histogram.observe`, without a call
            turns.counts[bisect_left(BOUNDS, at - self._now)] += 1
            turns.total += at - self._now
        self._contest.flushed(number, marker, at, at)

    def lost(self, number: int, reason: str) -> None:
        self.feed(Lost(number, reason))

    def released(self, number: int) -> None:
        self.pool.released(number)

    def later(self, delay_s: float, action: Callable[[], None]) -> None:
        """Run `action` in a batch of its own after the other sockets had their turn, and `delay_s` passed."""

        def run() -> None:
            self._begin_batch()
            action()
            self._end_batch()

        if delay_s:
            self._loop.call_later(delay_s, run)
        else:
            self._loop.call_soon(run)

    def watch(self, sock: socket.socket, events: int, connection: Connection) -> None:
        """Call `connection.readable` and `writable` when `sock` is ready for `events` (0: never)."""
        known = sock in self._selector.get_map()
        if not events:
            if known:
                self._selector.unregister(sock)
        elif known:
            self._selector.modify(sock, events, connection)
        else:
            self._selector.register(sock, events, connection)

    def _connection(self, number: int, sock: socket.socket) -> Connection:
        return Connection(number, sock, self._clock, self, self._cipher())

    def _opened(self, number: int, address: str) -> None:
        self.feed(Opened(number, address))

    def _exhausted(self, error: OSError) -> None:
        self._environment.log(DescriptorsExhausted(error.strerror or "no descriptor left"))

    # -- time

    def _beat_now(self) -> None:
        """Show that the loop runs; a stall is reported even if no socket is ready."""
        self._begin_batch()
        self._end_batch()
        self._stalls.beat(self._now)
        self._beat = self._loop.call_later(BEAT_S, self._beat_now)

    def _arm(self, alarm: int) -> None:
        """Have the one timer at the contest's next alarm.

        Deadlines move at every ply and nearly always later; a timer that fires too early is
        cheaper than a new one a ply.
        """
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = alarm
        self._timer = self._loop.call_at(alarm / 1e9, self._due)

    def _due(self) -> None:
        """The deadline has come, but a line that was in time may still lie in a socket.

        The loop has to look at its sockets once more: first after this iteration, so what arrived
        before now is read in the next one, and judged before the iteration after that.
        """
        self._loop.call_soon(self._loop.call_soon, self._tick, time.monotonic_ns())

    def _tick(self, seen_until: int) -> None:
        self._timer = None
        held = self._barrier.held_since
        if held is not None and seen_until - held > HELD_NS:
            self._timer_at = seen_until
            self._timer = self._loop.call_later(HELD_NS / 1e9, self._due)
            return
        self._begin_batch()
        self._contest.feed(Tick(), seen_until)
        self._end_batch()


def _apply(effect: Close | Mute | Unmute, connection: Connection) -> None:
    match effect:
        case Close():
            connection.close()
        case Mute():
            connection.mute()
        case Unmute():
            connection.unmute()
