"""The server's machine in virtual time: a disk, and a loop that runs the contest and the shell's own classes.

`SimulatedServer` does what `arena_server.driver.Driver` does, with the driver's own CommitBarrier and
StallDetector: all sockets that are ready are read in one batch, the entries of the batch are
committed, and only then its effects are carried out. Lines are stamped when their bytes arrive. A
deadline is judged after all that has arrived before it has been read. The machine stalls, is killed
or loses its power, and is started again from its disk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from random import Random
from typing import Protocol

from tests.server.core.harness import past_game
from tests.simulation.network import (
    MS,
    SECOND,
    EventQueue,
    FaultProfile,
    Link,
    ServerSocket,
    one_in,
)

from arena_protocol.record import GameRecord, decode, encode
from arena_server.core.contest import Contest
from arena_server.core.effects import Close, Effect, Finished, Marker, Mute, Send, Store, Unmute
from arena_server.core.events import Event, Flushed, Lost, Opened, Overlong, Received, Stored, Tick
from arena_server.core.journal import Entry, Past
from arena_server.driver import BEAT_S, HELD_NS, CommitBarrier, StallDetector
from arena_server.store.journal import pack, unpack

ENTRIES, RECORD = "entries", "record"
#: A batch of entries, or a record, as bytes.
Written = tuple[str, bytes]
BEAT_NS = int(BEAT_S * SECOND)


class Disk:
    """Bytes that outlive the server; `boundary` is called before and after anything becomes durable.

    A write becomes durable a little later, and is reported then. A record is durable after all
    entries that were written before it; later entries may be so earlier. A killed server loses any part
    of what is in progress, from its end. A power cut may take back entries too, back to the
    last record: those were synced.
    """

    def __init__(
        self,
        queue: EventQueue,
        faults: FaultProfile,
        rng: Random,
        boundary: Callable[[], None] = lambda: None,
    ) -> None:
        self.boundary = boundary
        self._queue = queue
        self._faults = faults
        self._rng = rng
        #: When the last of the entries, and the last of the records, will be durable.
        self._last = {ENTRIES: 0, RECORD: 0}
        self._in_progress: list[Written] = []
        self._durable: list[Written] = []
        #: How often the machine has died.
        self.deaths = 0

    def append(self, entries: Sequence[Entry], done: Callable[[], None]) -> bool:
        """Make entries durable, all or none. True: they are; False: `done` will be called."""
        written = ENTRIES, pack(entries)
        waiting = any(kind == ENTRIES for kind, _ in self._in_progress)
        if not waiting and one_in(self._rng, self._faults.direct_one_in):
            self._in_progress.append(written)
            return self._land(written, self.deaths)
        self._write(written, max(self._last[ENTRIES], self._queue.now), done)
        return False

    def store(self, record: GameRecord, done: Callable[[], None]) -> None:
        """Make a record durable, then call `done`."""
        self._write((RECORD, encode(record)), max(*self._last.values(), self._queue.now), done)

    def _write(self, written: Written, begun: int, done: Callable[[], None]) -> None:
        """Have it durable a while after the moment `begun`, when what it has to wait for is."""
        self._in_progress.append(written)
        self._last[written[0]] = at = begun + self._rng.randrange(self._faults.longest_commit)
        deaths = self.deaths

        def land() -> None:
            if deaths == self.deaths and self._land(written, deaths):
                done()

        self._queue.after(at - self._queue.now, land)

    def _land(self, written: Written, deaths: int) -> bool:
        """A write becomes durable; the machine may die just before, or before that is reported."""
        self.boundary()
        if deaths == self.deaths:
            self._in_progress.remove(written)
            self._durable.append(written)
            self.boundary()
        return deaths == self.deaths

    def crash(self, power: bool) -> None:
        """The server is dead: some of what was in progress is durable, and that is not reported."""
        self.deaths += 1
        all_of = self._rng.randrange(len(self._in_progress) + 1)
        entries_of = self._rng.randrange(all_of, len(self._in_progress) + 1)
        self._durable += self._in_progress[:all_of]
        self._durable += [each for each in self._in_progress[all_of:entries_of] if each[0] == ENTRIES]
        self._in_progress.clear()
        self._last = {ENTRIES: 0, RECORD: 0}
        if power:
            synced = max((n for n, (kind, _) in enumerate(self._durable, 1) if kind == RECORD), default=0)
            del self._durable[self._rng.randrange(synced, len(self._durable) + 1) :]

    def past(self) -> Past:
        """What a server finds that is started again."""
        records = [decode(data) for kind, data in self._durable if kind == RECORD]
        results = tuple(map(past_game, records))
        stored = {game.number for game in results}
        entries = [entry for kind, data in self._durable if kind == ENTRIES for entry in unpack(data)]
        return Past(results, tuple(entry for entry in entries if entry[0] not in stored))


class Observer(Protocol):
    """Is called with everything that happens to the contest, and all that it has the server do."""

    def handled(self, event: Event, effects: list[Effect], now: int) -> None:
        """The contest handled `event`; the effects are yet to be carried out."""

    def carried_out(self, effect: Effect, now: int) -> None:
        """An effect has left the server."""

    def restarted(self, past: Past, power: bool, now: int) -> None:
        """The server was dead, and goes on from what was durable."""


class SimulatedServer:
    """Runs one contest, made by `make(now, past)`."""

    def __init__(
        self,
        make: Callable[[int, Past | None], Contest],
        queue: EventQueue,
        faults: FaultProfile,
        rng: Random,
        observer: Observer,
    ) -> None:
        self.queue = queue
        self.observer = observer
        self.disk = Disk(queue, faults, rng, self._boundary)
        self.sockets: dict[int, ServerSocket] = {}
        self.events = self.accepted = self.crashes = 0
        self.finished: str | None = None
        self.alive = True
        self._make = make
        self._faults = faults
        self._rng = rng
        self._begin(make(0, None))

    def _begin(self, contest: Contest) -> None:
        """A process begins; call `start` next."""
        self.contest = contest
        self._barrier = CommitBarrier()
        self._stalls = StallDetector()
        self._events: list[Event] = []
        self._in_batch = False
        #: Sockets to be read and to be written to in the next batch, in the order in which they became so.
        self._readable: dict[ServerSocket, None] = {}
        self._writable: dict[ServerSocket, None] = {}
        self._woken = False
        self._stalled = False
        self._callbacks: deque[Callable[[], None]] = deque()
        self._timer_at: int | None = None

    def start(self) -> None:
        """Let the contest do what is due at once."""
        self.feed(Tick())

    # -- connections

    def accept(self, link: Link, address: str, window: int | None = None) -> ServerSocket | None:
        """A client has connected; None if the server is not running."""
        if not self.alive:
            return None
        self.accepted += 1
        socket = ServerSocket(self.accepted, link, self, self._faults.window if window is None else window)
        self.sockets[socket.number] = socket
        link.accept(socket)
        self._call(lambda: self.feed(Opened(socket.number, f"{address}:{socket.number}")))
        return socket

    def ready(self, socket: ServerSocket) -> None:
        self._readable[socket] = None
        self._wake()

    def writable(self, socket: ServerSocket) -> None:
        self._writable[socket] = None
        self._wake()

    def received(self, number: int, line: bytes, arrived: int) -> None:
        self._handle(Received(number, line, arrived), self.queue.now)

    def overlong(self, number: int, head: bytes, arrived: int) -> None:
        self._handle(Overlong(number, arrived, head), self.queue.now)

    def flushed(self, number: int, marker: Marker) -> None:
        self._events.append(Flushed(number, marker, self.queue.now))

    def lost(self, number: int, reason: str) -> None:
        self.feed(Lost(number, reason))

    def released(self, number: int) -> None:
        self.sockets.pop(number, None)

    # -- the loop

    def _call(self, action: Callable[[], None]) -> None:
        """Run `action` now, or when the stall is over, in the order of the calls."""
        if self._stalled:
            self._callbacks.append(action)
        elif self.alive:
            action()

    def _later(self, delay: int, action: Callable[[], None]) -> None:
        """Run `action` after `delay` ns, unless the process has died by then."""
        life = self.crashes

        def run() -> None:
            if life == self.crashes:
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
            life = self.crashes
            self.queue.after(length, lambda: self._end_stall(life))

    def _end_stall(self, life: int) -> None:
        if life != self.crashes:
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
        if stall := self._stalls.stall(self.queue.now):  # before anything that came meanwhile
            self._handle(stall, self.queue.now)

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
        barrier, life = self._barrier, self.crashes
        while True:
            if (entries := barrier.seal(self.queue.now)) and self._append(entries, barrier.batch):
                barrier.durable(barrier.batch)
            if life != self.crashes:
                return
            for store in barrier.take_records():
                self._store(store)
            for effect in barrier.release():
                self._carry_out(effect)
            if not self._events:
                break
            events, self._events = self._events, []
            for event in events:
                self._handle(event, self.queue.now)
        self._in_batch = False
        self._arm()

    def _append(self, entries: Sequence[Entry], batch: int) -> bool:
        return self.disk.append(entries, lambda: self._call(lambda: self._committed(batch)))

    def _store(self, store: Store) -> None:
        self.disk.store(store.record, lambda: self._call(lambda: self.feed(Stored(store.game_id))))

    def feed(self, event: Event) -> None:
        """Let the contest handle an event, now or at the end of the batch that is under way."""
        self._events.append(event)
        self._run_batch()

    def _committed(self, batch: int) -> None:
        self._barrier.durable(batch)
        self._run_batch()

    def _run_batch(self) -> None:
        if not self._in_batch:
            self._begin_batch()
            self._end_batch()

    def _handle(self, event: Event, now: int) -> None:
        self.events += 1
        effects = self.contest.handle(event, now)
        self.observer.handled(event, effects, now)
        self._barrier.add(effects)
        if one_in(self._rng, self._faults.stall_one_in):
            long = one_in(self._rng, self._faults.long_stall_one_in)
            self.stall(self._rng.randrange(1, self._faults.longest_stall * (300 if long else 1)))

    def _carry_out(self, effect: Effect) -> None:
        if isinstance(effect, Send | Close | Mute | Unmute):
            socket = self.sockets.get(effect.conn)
            if socket is None:  # it has just been lost
                return
            self.observer.carried_out(effect, self.queue.now)
            _apply(effect, socket)
            return
        self.observer.carried_out(effect, self.queue.now)
        if isinstance(effect, Finished):
            self.finished = effect.reason

    # -- time, as in driver.Driver

    def _arm(self) -> None:
        """Have one timer at the contest's next deadline or before it."""
        alarm = self.contest.alarm
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
        held = self._barrier.held_since
        if held is not None and seen_until - held > HELD_NS:
            self._timer_at = seen_until
            self._later(HELD_NS, lambda: self._due(seen_until))
            return
        self._begin_batch()
        self._handle(Tick(), seen_until)
        self._end_batch()

    # -- death and restart

    def _boundary(self) -> None:
        if one_in(self._rng, self._faults.crash_one_in):
            self.crash(power=one_in(self._rng, self._faults.power_one_in))

    def crash(self, power: bool = False) -> None:
        """Die at this very moment, and be started again a little later; a contest that is over stays so."""
        if not self.alive or self.finished is not None:
            return
        self.alive = False
        self.crashes += 1
        for socket in list(self.sockets.values()):
            socket.die()
        self._stalled = False
        self._callbacks.clear()
        self._barrier = CommitBarrier()
        self.disk.crash(power)
        self.queue.after(self._rng.randrange(10 * MS, 3 * SECOND), lambda: self._restart(power))

    def _restart(self, power: bool) -> None:
        past = self.disk.past()
        self.alive = True
        self.observer.restarted(past, power, self.queue.now)
        self._begin(self._make(self.queue.now, past))
        self.start()


def _apply(effect: Send | Close | Mute | Unmute, socket: ServerSocket) -> None:
    match effect:
        case Send(_, data, marker):
            socket.send(data, marker)
        case Close():
            socket.close()
        case Mute():
            socket.muted = True
        case Unmute():
            socket.unmute()
