"""Event-loop driver: feeds events to the contest and carries out its effects, a batch at a time.

    sockets ready -> read all -> Contest.handle(line) ... -> CommitBarrier -> one commit -> one send a seat

The driver judges nothing. It stamps times, moves bytes, and wakes the contest for its deadlines
with one timer. What waits for the disk is in `host/batches.py`.
"""

from __future__ import annotations

import asyncio
import socket
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence

from arena_server.core.effects import (
    CloseConnection,
    Effect,
    Journal,
    Marker,
    Mute,
    Send,
    ShowLog,
    Store,
    TurnMark,
    Unmute,
)
from arena_server.core.events import Event, LineTooLong, Lost, Opened, Stored, Tick
from arena_server.core.journal import Entry
from arena_server.core.log_events import LogEvent
from arena_server.core.peers import Outbox
from arena_server.host.batches import BEAT_S, NEVER, CommitBarrier, Run, StallDetector
from arena_server.host.connection import ArrivalClock, Connection
from arena_server.host.interfaces import Alarm, Cipher, Core, Routing
from arena_server.host.listener import ConnectionPool
from arena_server.host.log_events import DescriptorsExhausted
from arena_server.host.poller import READABLE, Poller
from arena_server.stats.durations import BOUNDS

#: A driver that is called again so soon waits for the next lines itself, and joins what it sends to one
#: connection meanwhile: a pass of the loop and a send a ply are dear where bots answer at once.
STAY_NS = 1_000_000
#: For how long it does: then the loop passes once. What is sent to a connection is held for `HOLD_NS`.
ROUND_NS, HOLD_NS = 5_000_000, 1_000_000
#: The longest of its waits. A shorter one than the tick of the system, usually 4 ms, would set the timer of
#: the processor each time, which costs a ply of quick programs 2 us on a virtual machine.
STAY_S = 0.005


class Driver:
    """Runs contests on one loop; every method is for the loop's thread.

    `router` has the connections before they log in, `pool` all of them, at most `cap`. `log` takes the
    events that belong to no contest.
    """

    def __init__(
        self,
        router: Routing,
        loop: asyncio.AbstractEventLoop,
        cap: int,
        log: Callable[[LogEvent], None],
        cipher: Callable[[], Cipher | None] = lambda: None,
    ) -> None:
        self._router = router
        self._routes = router.routes
        self._loop = loop
        self._log = log
        self._cipher = cipher
        self._clock = ArrivalClock()
        # The loop calls back once for all sockets: a batch has a clear end, and a line costs no handle.
        self._poller = Poller()
        self.watch = self._poller.watch
        loop.add_reader(self._poller, self._on_ready)
        self.pool = ConnectionPool(loop, cap, self._connection, self._opened, self._exhausted)
        self._connections = self.pool.connections
        self._runs: dict[Core, Run] = {}
        #: The same with what each batch asks of them; each change replaces it, as a contest may go while
        #: effects are carried out.
        self._all: tuple[tuple[Run, Outbox, CommitBarrier, Alarm], ...] = ()
        self._events: list[tuple[Core, Event]] = []
        #: Connections that are gone, until the next batch.
        self._released: list[int] = []
        self._in_batch = self._stays = False
        #: Since when there is data for connections that have got no TURN, and the data.
        self._held: dict[int, tuple[int, bytes]] = {}
        self._now = self._left = self._release_at = time.monotonic_ns()
        self._stalls = StallDetector()
        self._beat: asyncio.TimerHandle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = NEVER

    # -- contests

    def add(self, run: Run) -> None:
        """Run a contest: it does what is due at once."""
        self._runs[run.core] = run
        self._set_all()
        self.feed(run.core, Tick())

    def _set_all(self) -> None:
        self._all = tuple((run, core.output, run.barrier, core.deadlines) for core, run in self._runs.items())

    def remove(self, run: Run) -> None:
        """Run a contest no longer; its connections that are still open get what was sent, and are closed."""
        self._leave()
        self._runs.pop(run.core, None)
        self._set_all()
        self._events = [each for each in self._events if each[0] is not run.core]
        for number, core in list(self._routes.items()):
            if core is run.core:
                self.pool.dismiss(number)

    def _crash(self, core: Core, error: Exception) -> None:
        """A contest raised: what it wanted in this batch is dropped, and its journal stays as it is.

        Any exception is caught, at this one boundary: the other contests are not at fault.
        """
        if core is self._router or core not in self._runs:
            raise error
        run = self._runs[core]
        self.remove(run)
        run.listener.crashed(error)

    def stop(self) -> None:
        """Free the poller and the timers; call it when all connections are gone."""
        self._stalls.stop()
        for timer in filter(None, (self._beat, self._timer)):
            timer.cancel()
        if not self._poller.closed:
            self._loop.remove_reader(self._poller)
            self._poller.close()

    # -- batches

    def _begin_batch(self) -> None:
        self._in_batch = True
        while self._released:
            self._router.released(self._released.pop())
        self._now = now = time.monotonic_ns()
        self._clock.read(now, time.time_ns())
        # Before anything that came meanwhile; `limit` spares a call a batch.
        if now > self._stalls.limit and (stall := self._stalls.stall(now)):
            for core in list(self._runs):
                self._feed(core, stall, now)

    def _on_ready(self) -> None:
        """Read all sockets that are ready, then commit and send; stay while lines come quickly."""
        poll, watched = self._poller.poll, self._poller.watched
        ready = poll(0)
        began = time.monotonic_ns()
        self._stays = began - self._left < STAY_NS
        while True:
            self._begin_batch()
            for fd, events in ready:
                if events == READABLE and fd in watched:  # `notify`, without a call
                    watched[fd][0].readable()
                else:
                    self._poller.notify(fd, events)
            self._end_batch()
            now = self._now
            # The loop may have something else to do than to wait for lines.
            if not self._stays or now - began > ROUND_NS:
                break
            if now > self._release_at:
                self._release(now)
            if not (ready := poll(STAY_S)):
                break
        self._leave()
        self._left = time.monotonic_ns()

    def _leave(self) -> None:
        """Stay no longer: send what was held."""
        self._stays = False
        while self._held:
            conn, (_, data) = self._held.popitem()
            self._send(conn, data)

    def _release(self, now: int) -> None:
        """Send what has been held for long; a connection whose turn comes soon has got it by then."""
        self._release_at = now + HOLD_NS
        for conn in [conn for conn, (since, _) in self._held.items() if now - since >= HOLD_NS]:
            self._send(conn, self._held.pop(conn)[1])

    def _send(self, conn: int, data: bytes) -> None:
        # The contest may still send to a connection that has just been lost.
        if (connection := self._connections.get(conn)) is not None:
            connection.send(data)

    def _end_batch(self) -> None:
        """Commit the entries of the batch, then carry out what they held back, and what follows of that."""
        routed, timer_at, due, busy = self._router.output, self._timer_at, False, True
        while busy:
            busy = False
            for run, output, barrier, deadlines in self._all:
                if output.entries or barrier.waiting:
                    self._carry_out_all(self._durable(run), run)
                elif effects := output.effects:  # `take`, without a call
                    output.effects = []
                    self._carry_out_all(effects, run)
                if output.effects or output.entries:
                    busy = True
                if (alarm := deadlines.alarm) is not None and alarm < timer_at:
                    due = True
            if routed.effects or self._events:  # only by them does one contest give another one something
                self._carry_out_events()
                busy = True
        self._in_batch = False
        alarm = self._router.deadlines.alarm
        if due or (alarm is not None and alarm < timer_at):
            self._arm()

    def _carry_out_all(self, effects: list[Effect], run: Run) -> None:
        connections, held = self._connections, self._held
        for effect in effects:
            if type(effect) is not Send:
                self._leave()
                self._carry_out(effect, run)
                continue
            conn, data, marker = effect
            since = self._now
            if conn in held:
                since, before = held.pop(conn)
                data = before + data
            if marker is None and self._stays:
                held[conn] = since, data
            elif marker is None:
                self._send(conn, data)
            elif (connection := connections.get(conn)) is not None and connection.send(data, marker):
                at = time.monotonic_ns()
                if type(marker) is TurnMark:
                    took, turns = at - self._now, run.durations.turns
                    turns.counts[bisect_left(BOUNDS, took)] += 1  # `Histogram.observe`, without a call
                    turns.total += took
                run.core.flushed(conn, marker, at, at)

    def _durable(self, run: Run) -> list[Effect]:
        """Commit what the contest has to journal; the effects that may be carried out."""
        barrier, effects = run.barrier, run.core.take()
        if barrier.waiting:
            barrier.add(effects)
            if (entries := barrier.seal(self._now)) and self._append(run, entries, barrier.batch):
                barrier.durable(barrier.batch)
        # Nearly always they are durable at once. It is all that the barrier would do, without a call.
        elif type(journal := effects[0]) is Journal and self._append(run, journal.entries, barrier.batch + 1):
            barrier.batch = barrier.settled = barrier.batch + 1
            del effects[0]
            return effects
        else:
            barrier.add(effects)
            barrier.seal(self._now)
        for each in barrier.take_records():
            self._leave()
            self._carry_out(each, run)
        return barrier.release()

    def _append(self, run: Run, entries: Sequence[Entry], batch: int) -> bool:
        """Commit entries as batch number `batch`, or have them queued. Returns whether they are durable."""
        began = time.monotonic_ns()
        if not run.store.append(entries):
            run.queued.append((batch, began))
            self._stays = False  # the loop will say when they are durable
            return False
        took = time.monotonic_ns() - began  # `Histogram.observe`, without a call
        run.durations.journal.counts[bisect_left(BOUNDS, took)] += 1
        run.durations.journal.total += took
        return True

    def _carry_out_events(self) -> None:
        """Carry out the effects of the router, which journals nothing; handle the events of the batch."""
        for effect in self._router.take():
            match effect:
                case Send(conn, data):
                    self._send(conn, data)
                case CloseConnection(conn):
                    self.pool.dismiss(conn)
                case LogEvent():
                    self._log(effect)
        events, self._events = self._events, []
        now = time.monotonic_ns()
        for core, event in events:
            self._feed(core, event, now)

    def store(self, run: Run, each: Store) -> None:
        """Have a record made durable, unless the contest does not run any more."""
        if run.core in self._runs:
            run.hand_over(each)

    def _feed(self, core: Core, event: Event, now: int) -> None:
        try:
            core.feed(event, now)
        except Exception as error:
            self._crash(core, error)

    def feed(self, core: Core, event: Event) -> None:
        """Let a contest, or the router, handle an event now, or at the end of the batch under way."""
        self._events.append((core, event))
        self._run_batch()

    def _run_batch(self) -> None:
        if not self._in_batch:
            self._begin_batch()
            self._end_batch()

    def committed(self, run: Run, batches: int, game_ids: Sequence[str]) -> None:
        """The first `batches` calls of `append` are durable, and the records of these games."""
        run.committed(batches, game_ids)
        if run.core in self._runs:
            self._events += ((run.core, Stored(game_id)) for game_id in game_ids)
        self._run_batch()

    def _carry_out(self, effect: Effect, run: Run) -> None:
        match effect:
            case Store():
                if not run.listener.complete(effect):
                    self.store(run, effect)
            case CloseConnection(conn):
                run.listener.closing(conn)
                self.pool.dismiss(conn)
            case ShowLog(conn, _, last):
                self._send(conn, last)
                self.pool.dismiss(conn)
            case Mute(conn) | Unmute(conn):
                if (connection := self._connections.get(conn)) is not None:
                    (connection.mute if isinstance(effect, Mute) else connection.unmute)()
            case _:
                run.carry_out(effect)

    # -- what connections report (interfaces.Sink)

    def received(self, number: int, line: bytes, arrived: int) -> None:
        core = self._routes.get(number, self._router)
        try:
            core.received(number, line, arrived, self._now)
        except Exception as error:
            self._crash(self._routes.get(number, core), error)  # the line may have been passed on

    def overlong(self, number: int, head: bytes, arrived: int) -> None:
        self._feed(self._routes.get(number, self._router), LineTooLong(number, arrived, head), self._now)

    def flushed(self, number: int, marker: Marker) -> None:
        at = time.monotonic_ns()
        # Nothing that is sent before the login has a marker.
        if (run := self._runs.get(self._routes[number])) is not None:
            if type(marker) is TurnMark:
                run.durations.turns.observe(at - self._now)
            run.core.flushed(number, marker, at, at)

    def keeps(self, number: int) -> bytes | None:
        core = self._routes.get(number)
        return None if core is None else core.outlives_input(number)

    def lost(self, number: int, reason: str) -> None:
        self.feed(self._routes.get(number, self._router), Lost(number, reason))

    def released(self, number: int) -> None:
        self._released.append(number)  # its Lost follows, and is for its contest
        self.pool.released(number)

    def later(self, delay_s: float, action: Callable[[], None]) -> None:
        """Run `action` in a batch of its own after the other sockets had their turn, and `delay_s` passed."""
        self._stays = False

        def run() -> None:
            self._begin_batch()
            action()
            self._end_batch()

        self._loop.call_later(delay_s, run)

    def _connection(self, number: int, sock: socket.socket, plain: bool) -> Connection:
        return Connection(number, sock, self._clock, self, None if plain else self._cipher())

    def _opened(self, number: int, address: str) -> None:
        self.feed(self._router, Opened(number, address))

    def _exhausted(self, error: OSError) -> None:
        self._log(DescriptorsExhausted(error.strerror or "no descriptor left"))

    # -- time

    def start(self) -> None:
        """Detect stalls from now on; one is reported even if no socket is ready."""
        self._run_batch()
        self._stalls.beat(self._now)
        self._beat = self._loop.call_later(BEAT_S, self.start)

    def _arm(self) -> None:
        """Have the one timer at the next alarm of all contests.

        Deadlines move at every ply and nearly always later; a timer that fires too early is
        cheaper than a new one a ply.
        """
        alarm = self._router.deadlines.alarm
        for core, run in self._runs.items():
            due = core.deadlines.alarm
            if due is not None and (alarm is None or due < alarm):
                alarm = max(due, run.barrier.held_until)
        if alarm is None or alarm >= self._timer_at:
            return
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
        self._timer, self._timer_at = None, NEVER
        self._begin_batch()
        for core in (self._router, *self._runs):
            if core.deadlines.alarm is None:
                continue
            run = self._runs.get(core)
            if run is None or run.barrier.may_judge(seen_until):
                self._feed(core, Tick(), seen_until)
        self._end_batch()
