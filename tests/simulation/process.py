"""The server's process in virtual time: a loop that runs the contests with the shell's own classes.

`SimulatedProcess` does what `arena_server.host.driver.Driver` does, with the driver's own CommitBarrier and
StallDetector: all sockets that are ready are read in one batch, the entries of the batch are
committed, and only then its effects are carried out. Lines are stamped when their bytes arrive. A
deadline is judged after all that has arrived before it has been read. The loop may stand still.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Protocol

from tests.simulation.disk import Disk
from tests.simulation.network import SECOND, EventQueue, FaultProfile, Link, ServerSocket, one_in

from arena_server.core.admission import ConnectionLimits
from arena_server.core.contest import Contest
from arena_server.core.effects import (
    CloseConnection,
    Effect,
    Finished,
    Marker,
    Mute,
    Send,
    SetFrozen,
    StartDraw,
    Store,
    TurnMark,
    Unmute,
)
from arena_server.core.events import (
    DrawDone,
    Event,
    Flushed,
    LineTooLong,
    Lost,
    Observe,
    Opened,
    Received,
    Stored,
    Thawed,
    Tick,
)
from arena_server.core.journal import Entry, Past
from arena_server.core.log_events import LoggedIn
from arena_server.core.router import UNLIMITED, Member, Router
from arena_server.host.batches import BEAT_S, CommitBarrier, StallDetector

BEAT_NS = int(BEAT_S * SECOND)


class SimulatedFault(Exception):  # noqa: N818 - a fault of the server's own, on purpose
    """What a contest raises that is to be closed."""


class Observer(Protocol):
    """Is called with everything that happens to the contest, and all that it has the server do."""

    def handled(self, event: Event, effects: list[Effect], now: int) -> None:
        """The contest handled `event`; the effects are yet to be carried out."""

    def routed(self, event: Event, effects: list[Effect], now: int) -> None:
        """The router handled `event`, of a connection that no contest has yet."""

    def carried_out(self, effect: Effect, now: int) -> None:
        """An effect has left the server."""

    def restarted(self, past: Past, power: bool, now: int) -> None:
        """The server was dead, and goes on from what was durable."""


class Unobserved:
    """An Observer that does nothing."""

    def ignore(self, *_: object) -> None:
        """Whatever happens."""

    handled = routed = carried_out = restarted = ignore


class Host(Protocol):
    """What a process reports to the machine that it runs on."""

    def ended(self, name: str, reason: str, ago: int) -> None:
        """The contest has ended."""

    def raised(self, name: str, error: Exception) -> None:
        """The contest is closed at a fault of its own."""


class Run:
    """A contest in the process, and who observes it."""

    def __init__(self, contest: Contest, observer: Observer, *, listed: bool = True) -> None:
        self.contest = contest
        self.listed = listed
        self.observer = observer
        self.barrier = CommitBarrier()


class SimulatedProcess:
    """Runs contests by name, behind the core's own Router, until it dies; call `start` first."""

    def __init__(
        self,
        runs: Mapping[str, Run],
        host: Host,
        queue: EventQueue,
        disk: Disk,
        faults: FaultProfile,
        rng: Random,
        limits: ConnectionLimits = UNLIMITED,
    ) -> None:
        self.queue = queue
        self.alive = True
        self.sockets: dict[int, ServerSocket] = {}
        #: How many events it has handled.
        self.events = 0
        self.router = Router("insertion-arena/0.1", limits)
        self.runs = dict(runs)
        for run in runs.values():
            self.router.add(Member(run.contest, run.listed))
        self._host = host
        self._disk = disk
        self._faults = faults
        self._rng = rng
        #: The contest, bot and slot of each program that does not run, and of each bot's connection.
        self._frozen: set[tuple[str, str, int]] = set()
        self._players: dict[int, tuple[str, str, int]] = {}
        self._stalls = StallDetector()
        self._events: list[tuple[str | None, Event]] = []
        self._gone: list[int] = []
        #: Effects of the router that are to be carried out.
        self._routed: list[Effect] = []
        self._in_batch = False
        #: Sockets to be read and to be written to in the next batch, in the order in which they became so.
        self._readable: dict[ServerSocket, None] = {}
        self._writable: dict[ServerSocket, None] = {}
        self._woken = False
        self._stalled = False
        self._callbacks: deque[Callable[[], None]] = deque()
        self._timer_at: int | None = None

    def start(self, *, observed: bool) -> None:
        """Let the contests do what is due at once. `observed`: a page in the process reads transcripts."""
        for name in list(self.runs):
            self.feed(name, Tick())
            if observed and name in self.runs:
                self.feed(name, Observe(0, on=True))

    def add(self, name: str, run: Run, *, observed: bool) -> None:
        """Run one more contest; its observer sees the connections that no contest has yet."""
        for number in self.sockets:
            if self.of(number) is None:
                run.observer.routed(Opened(number, ""), [], self.queue.now)
        self.runs[name] = run
        self.router.add(Member(run.contest, run.listed))
        self.feed(name, Tick())
        if observed:
            self.feed(name, Observe(0, on=True))

    def die(self) -> None:
        """End at this very moment: nothing that is under way happens any more."""
        self.alive = False
        for socket in list(self.sockets.values()):
            socket.die()
        self.runs = {}

    def of(self, number: int) -> str | None:
        """The contest of a connection; None before it has one."""
        contest = self.router.routes.get(number)
        return None if contest is None else contest.name

    # -- connections

    def accept(self, number: int, link: Link, address: str, window: int) -> ServerSocket:
        """A client has connected; its connection has this number."""
        socket = self.sockets[number] = ServerSocket(number, link, self, window)
        link.accept(socket)
        self.call(lambda: self.feed(None, Opened(number, f"{address}:{number}")))
        return socket

    def ready(self, socket: ServerSocket) -> None:
        self._readable[socket] = None
        self._wake()

    def writable(self, socket: ServerSocket) -> None:
        self._writable[socket] = None
        self._wake()

    def received(self, number: int, line: bytes, arrived: int) -> None:
        self._handle(self.of(number), Received(number, line, arrived), self.queue.now)

    def overlong(self, number: int, head: bytes, arrived: int) -> None:
        self._handle(self.of(number), LineTooLong(number, arrived, head), self.queue.now)

    def flushed(self, number: int, marker: Marker) -> None:
        self._events.append((self.of(number), Flushed(number, marker, self.queue.now)))

    def lost(self, number: int, reason: str) -> None:
        self.feed(self.of(number), Lost(number, reason))

    def released(self, number: int) -> None:
        self.sockets.pop(number, None)
        self._gone.append(number)  # its Lost follows, and is for its contest

    # -- the loop

    def call(self, action: Callable[[], None]) -> None:
        """Run `action` now, or when the stall is over, in the order of the calls; not in a dead process."""
        if self.alive and self._stalled:
            self._callbacks.append(action)
        elif self.alive:
            action()

    def later(self, delay: int, action: Callable[[], None]) -> None:
        """Run `action` after `delay` ns, unless the process has died by then."""
        self.queue.after(delay, lambda: self.call(action))

    def _wake(self) -> None:
        """Read the ready sockets after the time that the loop takes to wake up."""
        if self.alive and not self._woken:
            self._woken = True
            self.later(self._rng.randrange(self._faults.longest_wakeup), self._on_ready)

    def stall(self, length: int) -> None:
        """The loop stands still for `length` nanoseconds."""
        if not self._stalled and self.alive:
            self._stalled = True
            # The last beat before it was up to BEAT_NS ago; without chance it was just now.
            ago = self._rng.randrange(BEAT_NS) if self._faults.stall_one_in else 0
            self._stalls.beat(self.queue.now - ago)
            self.queue.after(length, self._end_stall)

    def _end_stall(self) -> None:
        if not self.alive:
            return
        self._stalled = False
        self._begin_batch()
        self._end_batch()
        self._stalls.stop()  # beats are simulated for stalls alone
        callbacks, self._callbacks = self._callbacks, deque()
        for callback in callbacks:
            self.call(callback)

    # -- batches, as in driver.Driver

    def _begin_batch(self) -> None:
        self._in_batch = True
        while self._gone:
            self.router.released(self._gone.pop())
        if stall := self._stalls.stall(self.queue.now):  # before anything that came meanwhile
            for name in list(self.runs):
                self._handle(name, stall, self.queue.now)

    def _on_ready(self) -> None:
        """Read all sockets that are ready, then commit and send."""
        self._woken = False
        self._begin_batch()
        writable, self._writable = self._writable, {}
        readable, self._readable = self._readable, {}
        for socket in writable:
            socket.flush()
        for socket in readable:
            socket.readable()
        self._end_batch()

    def _end_batch(self) -> None:
        """Commit the entries of the batch, then carry out what they held back, and what follows of that."""
        while True:
            for name in list(self.runs):
                if name in self.runs:
                    self._carry_out_batch(name, self.runs[name])
                if not self.alive:
                    return
            routed, self._routed = self._routed, []
            for effect in routed:
                if isinstance(effect, Send | CloseConnection) and effect.conn in self.sockets:
                    _apply(effect, self.sockets[effect.conn])
            if not self._events:
                break
            events, self._events = self._events, []
            for each, event in events:
                self._handle(each, event, self.queue.now)
        self._in_batch = False
        self._arm()

    def _carry_out_batch(self, name: str, run: Run) -> None:
        barrier = run.barrier
        if (entries := barrier.seal(self.queue.now)) and self._append(name, entries, barrier.batch):
            barrier.durable(barrier.batch)
        if not self.alive:
            return
        for store in barrier.take_records():
            self._store(name, store)
        for effect in barrier.release():
            if name in self.runs:
                self._carry_out(name, run, effect)

    def _append(self, name: str, entries: Sequence[Entry], batch: int) -> bool:
        return self._disk.append(name, entries, lambda: self.call(lambda: self._committed(name, batch)))

    def _store(self, name: str, store: Store) -> None:
        stored = Stored(store.game_id)
        self._disk.store(name, store.record, lambda: self.call(lambda: self.feed(name, stored)))

    def feed(self, name: str | None, event: Event) -> None:
        """Let a contest, or the router, handle an event, now or at the end of the batch that is under way."""
        self._events.append((name, event))
        self._run_batch()

    def _committed(self, name: str, batch: int) -> None:
        if name in self.runs:
            self.runs[name].barrier.durable(batch)
        self._run_batch()

    def _run_batch(self) -> None:
        if not self._in_batch:
            self._begin_batch()
            self._end_batch()

    def _handle(self, name: str | None, event: Event, now: int) -> None:
        self.events += 1
        if name is None:
            self._route(event, now)
        elif name in self.runs:
            try:
                effects = self.runs[name].contest.handle(event, now)
            except SimulatedFault as error:
                self._close(name, error)
            else:
                self._took(name, event, effects, now)
        if one_in(self._rng, self._faults.stall_one_in):
            long = one_in(self._rng, self._faults.long_stall_one_in)
            self.stall(self._rng.randrange(1, self._faults.longest_stall * (300 if long else 1)))

    def _route(self, event: Event, now: int) -> None:
        """An event of a connection before its HELLO; all observers see what comes of it."""
        self.router.feed(event, now)
        effects = self.router.take()
        self._routed += effects
        if isinstance(event, Received) and (name := self.of(event.conn)) is not None:
            self._took(name, event, self.runs[name].contest.take(), now)
        else:
            for run in self.runs.values():
                run.observer.routed(event, effects, now)

    def _took(self, name: str, event: Event, effects: list[Effect], now: int) -> None:
        """A contest has handled an event."""
        for effect in effects:
            if isinstance(effect, Send | CloseConnection | Mute | Unmute):
                assert self.of(effect.conn) == name, "an effect for a connection of another contest"
        self.runs[name].observer.handled(event, effects, now)
        self.runs[name].barrier.add(effects)

    def _close(self, name: str, error: Exception) -> None:
        """A contest raised: nothing of it leaves any more, and the others go on."""
        self._host.raised(name, error)
        del self.runs[name]
        self.router.remove(name)
        for number in [number for number in self.sockets if self.of(number) == name]:
            self.sockets[number].close()

    def _carry_out(self, name: str, run: Run, effect: Effect) -> None:
        if isinstance(effect, Send) and type(effect.marker) is TurnMark:
            assert self._players[effect.conn] not in self._frozen, "a TURN for a program that is frozen"
        if isinstance(effect, Send | CloseConnection | Mute | Unmute):
            socket = self.sockets.get(effect.conn)
            if socket is None:  # it has just been lost
                return
            run.observer.carried_out(effect, self.queue.now)
            _apply(effect, socket)
            return
        run.observer.carried_out(effect, self.queue.now)
        match effect:
            case LoggedIn(conn, _, str(bot), slot=slot):
                self._players[conn] = name, bot, slot
                self._frozen.discard((name, bot, slot))  # who logs in runs
            case SetFrozen(bot, slot, True):
                self._frozen.add((name, bot, slot))
            case SetFrozen():
                needed = self._rng.randrange(self._faults.longest_thaw)
                if one_in(self._rng, self._faults.endless_thaw_one_in):
                    needed += 20 * SECOND  # twice `handover`
                self.later(needed, lambda: self._thaw(name, effect))
            case StartDraw(draw):
                # In another thread or process: it takes a while, in which the server may be killed.
                done = DrawDone(pickle.loads(pickle.dumps(draw)).run())
                self.later(self._rng.randrange(self._faults.longest_draw), lambda: self.feed(name, done))
            case Finished(reason, ago):
                self._host.ended(name, reason, ago)
                self.router.ended(self.queue.now)
                self._routed += self.router.take()

    def _thaw(self, name: str, thaw: SetFrozen) -> None:
        self._frozen.discard((name, thaw.bot, thaw.slot))
        self.feed(name, Thawed(thaw.bot, thaw.slot, thaw.number))

    # -- time, as in driver.Driver

    def _arm(self) -> None:
        """Have one timer at the next deadline of all contests or before it."""
        alarms = [self.router.deadlines.alarm]
        for run in self.runs.values():
            due = run.contest.deadlines.alarm
            alarms.append(None if due is None else max(due, run.barrier.held_until))
        alarm = min((alarm for alarm in alarms if alarm is not None), default=None)
        if alarm is None or (self._timer_at is not None and self._timer_at <= alarm):
            return
        self._timer_at = alarm
        self.later(max(0, alarm - self.queue.now), lambda: self._due(alarm))

    def _due(self, timer_at: int) -> None:
        """The deadline has come, but a line that was in time may still lie in a socket."""
        if timer_at == self._timer_at:
            seen_until = self.queue.now
            self.later(self._faults.longest_wakeup - 1, lambda: self.later(0, lambda: self._tick(seen_until)))

    def _tick(self, seen_until: int) -> None:
        self._timer_at = None
        self._begin_batch()
        self._route(Tick(), seen_until)
        for name, run in list(self.runs.items()):
            if run.contest.deadlines.alarm is None:
                continue
            if run.barrier.may_judge(seen_until):
                self._handle(name, Tick(), seen_until)
        self._end_batch()


def _apply(effect: Send | CloseConnection | Mute | Unmute, socket: ServerSocket) -> None:
    match effect:
        case Send(_, data, marker):
            socket.send(data, marker)
        case CloseConnection():
            socket.close()
        case Mute():
            socket.muted = True
        case Unmute():
            socket.unmute()
