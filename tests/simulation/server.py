"""The server's machine in virtual time: a loop that runs the contest and the shell's own classes.

`SimulatedServer` does what `arena_server.driver.Driver` does, with the driver's own CommitBarrier and
StallDetector: all sockets that are ready are read in one batch, the entries of the batch are
committed, and only then its effects are carried out. Lines are stamped when their bytes arrive. A
deadline is judged after all that has arrived before it has been read. The machine stalls, is killed
or loses its power, and is started again from its disk.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any, Protocol

from tests.simulation.disk import Disk
from tests.simulation.network import (
    MS,
    SECOND,
    EventQueue,
    FaultProfile,
    Link,
    ServerSocket,
    one_in,
)

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
    Command,
    DrawDone,
    Event,
    Flushed,
    LineTooLong,
    Lost,
    Observe,
    Opened,
    Received,
    Stop,
    Stored,
    Thawed,
    Tick,
)
from arena_server.core.journal import Entry, Past
from arena_server.core.log_events import LoggedIn
from arena_server.core.router import Member, Router
from arena_server.driver import BEAT_S, HELD_NS, CommitBarrier, StallDetector

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


@dataclass(frozen=True, slots=True)
class Hosted:
    """A contest of the server: `make(now, past)` begins it, or goes on with it; `observer` sees all of it."""

    make: Callable[[int, Past | None], Contest]
    observer: Observer


class Life:
    """A contest in one life of the server."""

    def __init__(self, contest: Contest, hosted: Hosted) -> None:
        self.contest = contest
        self.hosted = hosted
        self.barrier = CommitBarrier()


class SimulatedServer:
    """Runs contests by name, behind the core's own Router."""

    def __init__(
        self,
        hosted: Mapping[str, Hosted],
        queue: EventQueue,
        faults: FaultProfile,
        rng: Random,
        *,
        observed: bool = False,
    ) -> None:
        """`observed`: a page in the server's process reads the transcripts."""
        self._observed = observed
        self.queue = queue
        self.disk = Disk(queue, faults, rng, self._boundary)
        self.sockets: dict[int, ServerSocket] = {}
        self.events = self.accepted = self.crashes = self.stops = self._deaths = self._orders = 0
        #: Called when the server has been started again after a stop: its clients were sent away.
        self.resumed: Callable[[], None] = lambda: None
        #: Called with a contest and its status when it has ended, and when the server is started again.
        self.looked_at: Callable[[str, str], None] = lambda name, status: None
        #: How each contest ended that is over, and those that raised.
        self.reasons: dict[str, str] = {}
        #: The contest, bot and slot of each program that does not run, and of each bot's connection.
        self.frozen: set[tuple[str, str, int]] = set()
        self._players: dict[int, tuple[str, str, int]] = {}
        self.closed: dict[str, Exception] = {}
        self.alive = True
        self._hosted = dict(hosted)
        self._faults = faults
        self._rng = rng
        self._begin(0, dict.fromkeys(hosted))

    def _begin(self, now: int, pasts: Mapping[str, Past | None]) -> None:
        """A process begins; call `start` next."""
        self.router = Router("insertion-arena/0.1")
        self.lives: dict[str, Life] = {}
        for name, past in pasts.items():
            contest = self._hosted[name].make(now, past)
            self.lives[name] = Life(contest, self._hosted[name])
            self.router.add(Member(contest))
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
        self._stopping = False
        self._held_until = dict.fromkeys(pasts, 0)

    def observe(self, name: str, observer: Observer) -> None:
        """Have `observer` see a contest instead of the one that did."""
        self._hosted[name] = self.lives[name].hosted = replace(self._hosted[name], observer=observer)

    @property
    def finished(self) -> str | None:
        """How the last contest ended; None while any goes on."""
        over = self.reasons.keys() | self.closed.keys()
        return next(reversed(self.reasons.values()), "closed") if over >= self._hosted.keys() else None

    def of(self, number: int) -> str | None:
        """The contest of a connection; None before it has one."""
        contest = self.router.routes.get(number)
        return None if contest is None else contest.name

    def start(self) -> None:
        """Let the contests do what is due at once."""
        for name in list(self.lives):
            self.feed(name, Tick())
            if self._observed and name in self.lives:
                self.feed(name, Observe(0, on=True))

    # -- connections

    def accept(self, link: Link, address: str, window: int | None = None) -> ServerSocket | None:
        """A client has connected; None if the server is not running."""
        if not self.alive:
            return None
        self.accepted += 1
        socket = ServerSocket(self.accepted, link, self, self._faults.window if window is None else window)
        self.sockets[socket.number] = socket
        link.accept(socket)
        self._call(lambda: self.feed(None, Opened(socket.number, f"{address}:{socket.number}")))
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

    def _call(self, action: Callable[[], None]) -> None:
        """Run `action` now, or when the stall is over, in the order of the calls."""
        if self._stalled:
            self._callbacks.append(action)
        elif self.alive:
            action()

    def _later(self, delay: int, action: Callable[[], None]) -> None:
        """Run `action` after `delay` ns, unless the process has died by then."""
        deaths = self._deaths

        def run() -> None:
            if deaths == self._deaths:
                self._call(action)

        self.queue.after(delay, run)

    def _wake(self) -> None:
        """Read the ready sockets after the time that the loop takes to wake up."""
        if self.alive and not self._woken:
            self._woken = True
            self._later(self._rng.randrange(self._faults.longest_wakeup), self._on_ready)

    def stall(self, length: int) -> None:
        """The loop stands still for `length` nanoseconds."""
        if not self._stalled and self.alive:
            self._stalled = True
            # The last beat before it was up to BEAT_NS ago; without chance it was just now.
            ago = self._rng.randrange(BEAT_NS) if self._faults.stall_one_in else 0
            self._stalls.beat(self.queue.now - ago)
            deaths = self._deaths
            self.queue.after(length, lambda: self._end_stall(deaths))

    def _end_stall(self, deaths: int) -> None:
        if deaths != self._deaths:
            return
        self._stalled = False
        self._begin_batch()
        self._end_batch()
        self._stalls.stop()  # beats are simulated for stalls alone
        callbacks, self._callbacks = self._callbacks, deque()
        for callback in callbacks:
            self._call(callback)

    # -- batches, as in driver.Driver

    def _begin_batch(self) -> None:
        self._in_batch = True
        while self._gone:
            self.router.released(self._gone.pop())
        if stall := self._stalls.stall(self.queue.now):  # before anything that came meanwhile
            for name in list(self.lives):
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
        deaths = self._deaths
        while True:
            for name in list(self.lives):
                if name in self.lives:
                    self._carry_out_batch(name, self.lives[name])
                if deaths != self._deaths:
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

    def _carry_out_batch(self, name: str, life: Life) -> None:
        barrier, deaths = life.barrier, self._deaths
        if (entries := barrier.seal(self.queue.now)) and self._append(name, entries, barrier.batch):
            barrier.durable(barrier.batch)
        if deaths != self._deaths:
            return
        for store in barrier.take_records():
            self._store(name, store)
        for effect in barrier.release():
            if name in self.lives:
                self._carry_out(name, life, effect)

    def _append(self, name: str, entries: Sequence[Entry], batch: int) -> bool:
        return self.disk.append(name, entries, lambda: self._call(lambda: self._committed(name, batch)))

    def _store(self, name: str, store: Store) -> None:
        stored = Stored(store.game_id)
        self.disk.store(name, store.record, lambda: self._call(lambda: self.feed(name, stored)))

    def feed(self, name: str | None, event: Event) -> None:
        """Let a contest, or the router, handle an event, now or at the end of the batch that is under way."""
        self._events.append((name, event))
        self._run_batch()

    def _committed(self, name: str, batch: int) -> None:
        if name in self.lives:
            self.lives[name].barrier.durable(batch)
        self._run_batch()

    def _run_batch(self) -> None:
        if not self._in_batch:
            self._begin_batch()
            self._end_batch()

    def _handle(self, name: str | None, event: Event, now: int) -> None:
        self.events += 1
        if name is None:
            self._route(event, now)
        elif name in self.lives:
            life = self.lives[name]
            try:
                effects = life.contest.handle(event, now)
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
            self._took(name, event, self.lives[name].contest.take(), now)
        else:
            for life in self.lives.values():
                life.hosted.observer.routed(event, effects, now)

    def _took(self, name: str, event: Event, effects: list[Effect], now: int) -> None:
        """A contest has handled an event."""
        for effect in effects:
            if isinstance(effect, Send | CloseConnection | Mute | Unmute):
                assert self.of(effect.conn) == name, "an effect for a connection of another contest"
        self.lives[name].hosted.observer.handled(event, effects, now)
        self.lives[name].barrier.add(effects)

    def _close(self, name: str, error: Exception) -> None:
        """A contest raised: nothing of it leaves any more, and the others go on."""
        self.closed[name] = error
        del self.lives[name]
        self.router.remove(name)
        for number in [number for number in self.sockets if self.of(number) == name]:
            self.sockets[number].close()

    def _carry_out(self, name: str, life: Life, effect: Effect) -> None:
        if isinstance(effect, Send) and type(effect.marker) is TurnMark:
            assert self._players[effect.conn] not in self.frozen, "a TURN for a program that is frozen"
        if isinstance(effect, Send | CloseConnection | Mute | Unmute):
            socket = self.sockets.get(effect.conn)
            if socket is None:  # it has just been lost
                return
            life.hosted.observer.carried_out(effect, self.queue.now)
            _apply(effect, socket)
            return
        life.hosted.observer.carried_out(effect, self.queue.now)
        match effect:
            case LoggedIn(conn, _, str(bot), slot=slot):
                self._players[conn] = name, bot, slot
                self.frozen.discard((name, bot, slot))  # who logs in runs
            case SetFrozen(bot, slot, True):
                self.frozen.add((name, bot, slot))
            case SetFrozen():
                needed = self._rng.randrange(self._faults.longest_thaw)
                if one_in(self._rng, self._faults.endless_thaw_one_in):
                    needed += 20 * SECOND  # twice `handover`
                self._later(needed, lambda: self._thaw(name, effect))
        if isinstance(effect, StartDraw):
            # In another thread or process: it takes a while, in which the server may be killed.
            done = DrawDone(pickle.loads(pickle.dumps(effect.draw)).run())
            self._later(self._rng.randrange(self._faults.longest_draw), lambda: self.feed(name, done))
        if isinstance(effect, Finished):
            self.reasons[name] = effect.reason
            self._later(0, self._leave if self._stopping else lambda: self.looked_at(name, effect.reason))
            self.router.ended()
            self._routed += self.router.take()

    def _thaw(self, name: str, thaw: SetFrozen) -> None:
        self.frozen.discard((name, thaw.bot, thaw.slot))
        self.feed(name, Thawed(thaw.bot, thaw.slot, thaw.number))

    # -- time, as in driver.Driver

    def _arm(self) -> None:
        """Have one timer at the next deadline of all contests or before it."""
        alarms = [self.router.deadlines.alarm]
        for name, life in self.lives.items():
            due = life.contest.deadlines.alarm
            alarms.append(None if due is None else max(due, self._held_until[name]))
        alarm = min((alarm for alarm in alarms if alarm is not None), default=None)
        if alarm is None or (self._timer_at is not None and self._timer_at <= alarm):
            return
        self._timer_at = alarm
        self._later(max(0, alarm - self.queue.now), lambda: self._due(alarm))

    def _due(self, timer_at: int) -> None:
        """The deadline has come, but a line that was in time may still lie in a socket."""
        if timer_at == self._timer_at:
            seen_until = self.queue.now
            self._later(
                self._faults.longest_wakeup - 1, lambda: self._later(0, lambda: self._tick(seen_until))
            )

    def _tick(self, seen_until: int) -> None:
        self._timer_at = None
        self._begin_batch()
        self._route(Tick(), seen_until)
        for name, life in list(self.lives.items()):
            if life.contest.deadlines.alarm is None:
                continue
            held = life.barrier.held_since
            if held is not None and seen_until - held > HELD_NS:
                self._held_until[name] = seen_until + HELD_NS
            else:
                self._handle(name, Tick(), seen_until)
        self._end_batch()

    # -- orders, death and restart

    def order(self, name: str, verb: str, target: str = "", **more: Any) -> None:
        """The organiser gives contest `name` an order, or ends the server for a while (`stop`)."""
        if not self.alive or self.finished is not None:
            return
        self._orders += 1
        if verb == "stop":
            self._stopping = True
            for each in sorted(self.lives.keys() - self.reasons.keys()):
                self._call(partial(self.feed, each, Stop()))
        else:
            self._call(partial(self.feed, name, Command(self._orders, verb, target, **more)))

    def _leave(self) -> None:
        """End in order once all contests have ended after a stop, and be started again a little later."""
        if self.finished is None:
            return
        self.stops += 1
        self._die()
        self.disk.settle()
        for name, reason in self.reasons.items():
            self.looked_at(name, reason)
        self.queue.after(self._rng.randrange(10 * MS, 3 * SECOND), self._resume)

    def _resume(self) -> None:
        self.reasons = {name: reason for name, reason in self.reasons.items() if reason != "stopped"}
        self._restart(power=False)
        self.resumed()

    def _boundary(self) -> None:
        if one_in(self._rng, self._faults.crash_one_in):
            self.crash(power=one_in(self._rng, self._faults.power_one_in))

    def crash(self, power: bool = False) -> None:
        """Die at this very moment, and be started again a little later; a contest that is over stays so."""
        if not self.alive or self.finished is not None:
            return
        self.crashes += 1
        self._die()
        self.disk.crash(power)
        self.queue.after(self._rng.randrange(10 * MS, 3 * SECOND), lambda: self._restart(power))

    def _die(self) -> None:
        self.alive = False
        self._deaths += 1
        for socket in list(self.sockets.values()):
            socket.die()
        self._stalled = False
        self._callbacks.clear()
        self.lives = {}
        self.frozen.clear()  # the launcher ends all bots, and starts new ones

    def _restart(self, power: bool) -> None:
        going_on = [name for name in self._hosted if name not in self.reasons and name not in self.closed]
        pasts = {name: self.disk.past(name) for name in going_on}
        self.alive = True
        for name, past in pasts.items():
            self._hosted[name].observer.restarted(past, power, self.queue.now)
            self.looked_at(name, "running")
        self._begin(self.queue.now, pasts)
        self.start()


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
