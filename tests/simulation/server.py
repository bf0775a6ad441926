"""The disk of the simulated referee: journal and results, in the order in which they were written.

What was written is durable a little later, and said to be so a little after that. A result is
durable after all entries that were written before it; later entries may be so earlier. A killed
server loses what the system has not got: any part of what is under way, from its end. A power
cut may take back entries of the journal as well, back to the last result: those were synced.
It must not know: what entries mean, sockets, bots.

The referee's machine, simulated: sockets, a disk, one loop that stalls, and the true contest.

It does what the real shell does (host, connection, store), in virtual time: lines are
stamped when their bytes arrive and handled when the loop comes to them; TURN is handed over
when the socket takes its last byte; all that has arrived is read before a deadline is
judged; what has to be durable first holds up all that follows. It dies, and is started again
from its disk. It must not know: bots, what a line means.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from random import Random
from typing import Protocol

from tests.simulation.network import MS, SECOND, Agenda, Link, Socket, Weather, one_in

from arena_protocol.record import GameRecord, decode, encode
from arena_server.core.contest import Contest
from arena_server.core.deal import number_of
from arena_server.core.effects import Close, Effect, Finished, Journal, Marker, Mute, Send, Store, Unmute
from arena_server.core.events import Event, Flushed, Opened, Stalled, Stored, Tick
from arena_server.core.journal import Entry, Past, PastGame
from arena_server.store.journal import pack, unpack

ENTRIES, RECORD = "entries", "record"
#: A group of entries, or a record, as bytes.
Written = tuple[str, bytes]


class Disk:
    """Bytes that outlive the server; `boundary` is called before and after anything becomes durable."""

    def __init__(
        self, agenda: Agenda, weather: Weather, rng: Random, boundary: Callable[[], None] = lambda: None
    ) -> None:
        self.boundary = boundary
        self._agenda = agenda
        self._weather = weather
        self._rng = rng
        #: When the last of the entries, and the last of the results, will be durable.
        self._last = {ENTRIES: 0, RECORD: 0}
        self._under_way: list[Written] = []
        self._durable: list[Written] = []
        #: Counts the crashes: what was under way before one never becomes durable after it.
        self._life = 0

    def journal(self, entries: tuple[Entry, ...], done: Callable[[], None]) -> None:
        """Make entries durable, then call `done`."""
        self._write((ENTRIES, pack(entries)), max(self._last[ENTRIES], self._agenda.now), done)

    def store(self, record: GameRecord, done: Callable[[], None]) -> None:
        """Make a record durable, then call `done`."""
        self._write((RECORD, encode(record)), max(*self._last.values(), self._agenda.now), done)

    def _write(self, written: Written, begun: int, done: Callable[[], None]) -> None:
        """Have it durable a while after the moment `begun`, when what it has to wait for is."""
        self._under_way.append(written)
        self._last[written[0]] = at = begun + self._rng.randrange(self._weather.longest_commit)
        life = self._life
        self._agenda.after(at - self._agenda.now, lambda: self._land(written, life, done))

    def _land(self, written: Written, life: int, done: Callable[[], None]) -> None:
        """A write becomes durable; the machine may die just before, or before it is told."""
        if life == self._life:
            self.boundary()
        if life == self._life:
            self._under_way.remove(written)
            self._durable.append(written)
            self.boundary()
            if life == self._life:
                done()

    def crash(self, power: bool) -> None:
        """The server is dead: some of what was under way is durable, and nobody is told."""
        self._life += 1
        all_of = self._rng.randrange(len(self._under_way) + 1)
        entries_of = self._rng.randrange(all_of, len(self._under_way) + 1)
        self._durable += self._under_way[:all_of]
        self._durable += [each for each in self._under_way[all_of:entries_of] if each[0] == ENTRIES]
        self._under_way.clear()
        self._last = {ENTRIES: 0, RECORD: 0}
        if power:
            synced = max((n for n, (kind, _) in enumerate(self._durable, 1) if kind == RECORD), default=0)
            del self._durable[self._rng.randrange(synced, len(self._durable) + 1) :]

    def past(self) -> Past:
        """What a server finds that is started again."""
        records = [decode(data) for kind, data in self._durable if kind == RECORD]
        results = tuple(map(_result, records))
        stored = {game.number for game in results}
        entries = [entry for kind, data in self._durable if kind == ENTRIES for entry in unpack(data)]
        return Past(results, tuple(entry for entry in entries if entry[0] not in stored))


def _result(record: GameRecord) -> PastGame:
    faults = tuple((record.names[fault.seat - 1], str(fault.kind)) for fault in record.faults if fault.seat)
    number = number_of(record.game_id)
    return PastGame(number, record.names, record.totals, record.end, len(record.plies), faults)


#: As the real host: a loop that stood still for longer was stalled, and while effects are held
#: for longer no deadline is judged.
STALL = HELD = 200 * MS


class Observer(Protocol):
    """Who looks on: told of everything that happens to the contest, and of all it has the shell do."""

    def judged(self, event: Event, effects: list[Effect], now: int) -> None:
        """The contest judged `event` at `now`; the effects are yet to be carried out."""

    def carried_out(self, effect: Effect, now: int) -> None:
        """The world has seen an effect."""

    def restarted(self, past: Past, power: bool, now: int) -> None:
        """The server was dead, and goes on from what was durable."""


class Shell:
    """Runs one contest, made by `make(now, past)`. `deadline` is when `tick` has to be called."""

    def __init__(
        self,
        make: Callable[[int, Past | None], Contest],
        agenda: Agenda,
        weather: Weather,
        rng: Random,
        observer: Observer,
    ) -> None:
        self.contest = make(0, None)
        self.disk = Disk(agenda, weather, rng, self._boundary)
        self.alive = True
        self.crashes = 0
        self._make = make
        self.agenda = agenda
        self.sockets: dict[int, Socket] = {}
        self.events = 0
        self.accepted = 0
        self.finished: str | None = None
        self._weather = weather
        self._rng = rng
        self.observer = observer
        self._inbox: deque[Event] = deque()
        self._judging = False
        self._stalled = False
        self._backlog: deque[Callable[[], None]] = deque()
        #: Effects that wait for the disk, and between them groups of the journal: number, since.
        self._held: deque[Effect | tuple[int, int]] = deque()
        self._journaled = self._durable = 0

    # -- connections

    def accept(self, link: Link, address: str, window: int | None = None) -> Socket | None:
        """A client has connected; None: nobody is there."""
        if not self.alive:
            return None
        self.accepted += 1
        socket = Socket(self.accepted, link, self, self._weather.window if window is None else window)
        self.sockets[socket.number] = socket
        link.accept(socket)
        self.soon(lambda: self.feed(Opened(socket.number, f"{address}:{socket.number}")))
        return socket

    def released(self, socket: Socket) -> None:
        """Nothing more comes from `socket`."""
        self.sockets.pop(socket.number, None)

    def flushed(self, socket: Socket, marker: Marker) -> None:
        """All data up to `marker` has reached the socket."""
        self.feed(Flushed(socket.number, marker, self.agenda.now))

    # -- the loop

    @property
    def deadline(self) -> int | None:
        """When the contest is to be woken, as far as the loop is awake and the disk keeps up."""
        deadline = self.contest.deadline
        if deadline is None or self._stalled or not self.alive:
            return None
        first = self._held[0] if self._held else None
        held = type(first) is tuple and max(deadline, self.agenda.now) - first[1] > HELD
        return None if held else deadline

    def tick(self) -> None:
        """Judge the deadlines that have passed."""
        self.feed(Tick())

    def soon(self, action: Callable[[], None]) -> None:
        """Act now, or when the stall is over, in the order of arrival."""
        if self._stalled:
            self._backlog.append(action)
        elif self.alive:
            action()

    def stall(self, length: int) -> None:
        """The loop stands still for so many nanoseconds."""
        if not self._stalled:
            self._stalled = True
            began, life = self.agenda.now, self.crashes
            self.agenda.after(length, lambda: self._wake(began, life))

    def _wake(self, began: int, life: int) -> None:
        if life != self.crashes:
            return
        self._stalled = False
        waiting, self._backlog = self._backlog, deque()
        if self.agenda.now - began > STALL:
            self.feed(Stalled(began, self.agenda.now))
        for action in waiting:
            self.soon(action)

    def feed(self, event: Event) -> None:
        """Let the contest judge `event`; what its effects cause waits for its turn."""
        self._inbox.append(event)
        self._run()
        if one_in(self._rng, self._weather.stall_one_in):
            long = one_in(self._rng, self._weather.long_stall_one_in)
            longest = self._weather.longest_stall * (300 if long else 1)
            self.stall(self._rng.randrange(1, longest))

    def _run(self) -> None:
        if self._judging:
            return
        self._judging = True
        self._release()
        while self._inbox:
            self._judge(self._inbox.popleft())
        self._judging = False

    def _judge(self, event: Event) -> None:
        self.events += 1
        effects = self.contest.handle(event, self.agenda.now)
        self.observer.judged(event, effects, self.agenda.now)
        for effect in effects:
            self._take(effect)

    def _take(self, effect: Effect) -> None:
        """Carry out an effect, or hold it back until what comes before it is durable."""
        if isinstance(effect, Journal):
            self._journaled += 1
            number = self._journaled
            self._held.append((number, self.agenda.now))
            self.disk.journal(effect.entries, lambda: self.soon(lambda: self._is_durable(number)))
        elif isinstance(effect, Store):
            stored = Stored(effect.game_id)
            self.disk.store(effect.record, lambda: self.soon(lambda: self.feed(stored)))
        elif self._held:
            self._held.append(effect)
        else:
            self._carry_out(effect)

    def _is_durable(self, number: int) -> None:
        self._durable = number
        self._run()

    def _release(self) -> None:
        """Carry out what is held no longer."""
        while self._held:
            effect = self._held[0]
            if type(effect) is tuple:
                if effect[0] > self._durable:
                    return
            else:
                self._carry_out(effect)
            self._held.popleft()

    def _carry_out(self, effect: Effect) -> None:
        if isinstance(effect, Send | Close | Mute | Unmute):
            socket = self.sockets.get(effect.conn)
            if socket is None:
                return
            self.observer.carried_out(effect, self.agenda.now)
            _apply(effect, socket)
        else:
            self.observer.carried_out(effect, self.agenda.now)
            if isinstance(effect, Finished):
                self.finished = effect.reason

    # -- death and rebirth

    def _boundary(self) -> None:
        if one_in(self._rng, self._weather.crash_one_in):
            self.crash(power=one_in(self._rng, self._weather.power_one_in))

    def crash(self, power: bool = False) -> None:
        """Die at this very moment, and be started again a little later; a contest that is over stays so."""
        if not self.alive or self.finished is not None:
            return
        self.alive = False
        self.crashes += 1
        for socket in list(self.sockets.values()):
            socket.die()
        for queue in (self._inbox, self._held, self._backlog):
            queue.clear()
        self._stalled = False
        self._durable = self._journaled
        self.disk.crash(power)
        self.agenda.after(self._rng.randrange(10 * MS, 3 * SECOND), lambda: self._start(power))

    def _start(self, power: bool) -> None:
        past = self.disk.past()
        self.alive = True
        self.observer.restarted(past, power, self.agenda.now)
        self.contest = self._make(self.agenda.now, past)
        self.feed(Tick())


def _apply(effect: Send | Close | Mute | Unmute, socket: Socket) -> None:
    if isinstance(effect, Send):
        socket.send(effect.data, effect.marker)
    elif isinstance(effect, Close):
        socket.close()
    elif isinstance(effect, Mute):
        socket.muted = True
    else:
        socket.unmute()
