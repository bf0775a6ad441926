"""Whether the loop runs: it is to show that it does, and how late it comes tells how long it stood still.

It must not know: what stood still meanwhile, or what a stall costs.

Where the contest meets the world: events in, effects carried out in order.

The host judges nothing. It stamps times, moves bytes, hands entries and records to the store
and wakes the contest for its deadlines with one timer. What has to be durable first holds up
all that follows, of whatever event, so that nobody hears of what a crash could undo:

    Journal 1 | Send Send | Journal 2 | Send   <- held until `durable(1)`, then until `durable(2)`

It must not know: how bots are paired, what a line means, which game is played, where records
are kept.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from arena_protocol.record import GameRecord
from arena_server.connection import Cipher, Connection, Turn
from arena_server.core.effects import (
    Close,
    Effect,
    Finished,
    Journal,
    Mute,
    Note,
    Reply,
    Send,
    Store,
    Unmute,
)
from arena_server.core.events import Event, Handed, Lost, Opened, Overlong, Received, Stalled, Tick
from arena_server.core.journal import Entry
from arena_server.listener import Entrance

#: How often the loop is to show that it runs, and how late it may be before that is a stall.
BEAT_S = 0.1
STALL_NS = 200_000_000


class Pulse:
    """The beats of one loop; `beaten` is called at each of them, once `start` was called."""

    def __init__(self, loop: asyncio.AbstractEventLoop, beaten: Callable[[], None]) -> None:
        self._loop = loop
        self._beaten = beaten
        self._last = 0
        self._next: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Watch from now on."""
        self._last = time.monotonic_ns()
        self._next = self._loop.call_later(BEAT_S, self._beat)

    def stop(self) -> None:
        """Watch no more."""
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def _beat(self) -> None:
        self._beaten()
        self.start()

    def stall(self) -> tuple[int, int] | None:
        """From when to when (monotonic ns) the loop has just stood still; None if it has not. Told once."""
        now = time.monotonic_ns()
        if self._next is None or now - self._last <= STALL_NS:
            return None
        began, self._last = self._last, now
        return began, now


#: While effects have been held for longer than this, no deadline is judged: a TURN or a reply
#: may be among them, and a slow disk is nobody's fault.
HELD_NS = 200_000_000


class Machine(Protocol):
    """What the host needs of a contest."""

    @property
    def deadline(self) -> int | None:
        """When it wants a Tick (monotonic ns), None: not before another event."""

    def handle(self, event: Event, now: int) -> list[Effect]:
        """What is to be done about `event`."""


class Service(Protocol):
    """What the host tells whoever runs it."""

    def journal(self, entries: tuple[Entry, ...]) -> None:
        """Make entries durable, in the order of the calls; then say how many calls are: `Host.durable`."""

    def store(self, game_id: str, record: GameRecord) -> None:
        """Make a record durable, after all that came before; then feed Stored."""

    def reply(self, number: int, problem: str | None) -> None:
        """The answer to an order of the organiser's."""

    def note(self, note: Note) -> None:
        """Something for the log."""

    def finished(self, reason: str) -> None:
        """The contest is over."""


#: What is carried out here; entries and records are made durable elsewhere.
Doing = Send | Close | Mute | Unmute | Reply | Finished | Note


@dataclass(frozen=True, slots=True)
class _Group:
    """A call of `Service.journal`: its number, when it was made, when the line came that led to it."""

    number: int
    since: int
    began: int


class Host:
    """Runs one machine on one loop; its only thread is the loop's.

    `entrance` has the connections, at most `cap`; `pulse`, once it is started, tells of stalls.
    """

    def __init__(
        self,
        machine: Machine,
        service: Service,
        loop: asyncio.AbstractEventLoop,
        cap: int,
        cipher: Callable[[], Cipher | None] = lambda: None,
    ) -> None:
        self._machine = machine
        self._service = service
        self._loop = loop
        self.entrance = Entrance(loop, cap, cipher, self, self._opened, self._exhausted)
        self._events: deque[tuple[Event, int | None]] = deque()
        self._carrying_out = False
        #: What waits for the disk: effects, and between them the numbers of the journal's groups.
        self._held: deque[Doing | _Group] = deque()
        self._journaled = self._durable = 0
        self.pulse = Pulse(loop, self._run_on)
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0
        #: Told the nanoseconds from reading a line to having handed over the TURN it led to; a
        #: benchmark's window, and nothing to anybody else.
        self.probe: Callable[[int], None] | None = None
        self._began = 0

    # -- what connections tell (connection.Sink), and the entrance

    def _opened(self, number: int, peer: str) -> None:
        self.feed(Opened(number, peer))

    def _exhausted(self, error: OSError) -> None:
        self._service.note(Note("warning", "no-descriptor", {"error": error.strerror or "exhausted"}))

    def received(self, number: int, line: bytes, arrived: int) -> None:
        """A line: the contest judges it."""
        if self.probe is not None:
            self._began = time.perf_counter_ns()
        self.feed(Received(number, line, arrived))

    def overlong(self, number: int, head: bytes, arrived: int) -> None:
        """A line too long: the contest judges it."""
        self.feed(Overlong(number, arrived, head))

    def handed(self, number: int, turn: Turn) -> None:
        """A TURN is with the socket: its clock runs from now."""
        if self.probe is not None:
            self.probe(time.perf_counter_ns() - self._began)
        self.feed(Handed(number, *turn, time.monotonic_ns()))

    def lost(self, number: int, reason: str) -> None:
        """A connection is gone by itself."""
        self.feed(Lost(number, reason))

    def released(self, number: int) -> None:
        """A descriptor is free again."""
        self.entrance.released(number)

    # -- events in, effects out

    def feed(self, event: Event, now: int | None = None) -> None:
        """Let the contest judge `event` as of `now` (by default this moment), and carry out what it says.

        Events that effects cause (Handed, Lost) wait for their turn: the contest is told of
        one event at a time.
        """
        if not self._carrying_out:
            self._notice_stall()
        self._events.append((event, now))
        self._run()

    def _run(self) -> None:
        if self._carrying_out:
            return
        self._carrying_out = True
        try:
            self._release()
            while self._events:
                event, now = self._events.popleft()
                moment = time.monotonic_ns() if now is None else now
                for effect in self._machine.handle(event, moment):
                    self._take(effect)
                self._release()
        finally:
            self._carrying_out = False
        self._arm()

    def _take(self, effect: Effect) -> None:
        """Carry out an effect, or hold it back until what comes before it is durable."""
        if isinstance(effect, Journal):
            self._journaled += 1
            self._held.append(_Group(self._journaled, time.monotonic_ns(), self._began))
            self._service.journal(effect.entries)
        elif isinstance(effect, Store):
            self._service.store(effect.game_id, effect.record)
        elif self._held:
            self._held.append(effect)
        else:
            self._carry_out(effect)

    def durable(self, groups: int) -> None:
        """So many calls of `Service.journal` are durable: what they held back can be carried out."""
        self._durable = max(self._durable, groups)  # word from another thread may come late
        self._run()

    def _release(self) -> None:
        """Carry out what is held no longer."""
        while self._held:
            effect = self._held[0]
            if not isinstance(effect, _Group):
                self._carry_out(effect)
            elif effect.number <= self._durable:
                self._began = effect.began
            else:
                return
            self._held.popleft()

    def _carry_out(self, effect: Doing) -> None:
        if isinstance(effect, Note):
            self._service.note(effect)
        elif isinstance(effect, Reply):
            self._service.reply(effect.number, effect.problem)
        elif isinstance(effect, Finished):
            self._service.finished(effect.reason)
        # The contest may still speak of a connection that has just been lost.
        elif connection := self.entrance.get(effect.conn):
            _apply(effect, connection)

    def _run_on(self) -> None:
        self._notice_stall()
        self._run()

    def _notice_stall(self) -> None:
        """Tell the contest of a stall before anything that came meanwhile."""
        if stall := self.pulse.stall():
            self._events.append((Stalled(*stall), stall[1]))

    # -- deadlines

    def _arm(self) -> None:
        """Have one timer at the contest's next deadline or before it.

        Deadlines move at every ply and nearly always later; a timer that comes too early is
        cheaper than a new one a ply.
        """
        deadline = self._machine.deadline
        if deadline is None or (self._timer is not None and self._timer_at <= deadline):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = deadline
        self._timer = self._loop.call_at(deadline / 1e9, self._due)

    def _due(self) -> None:
        """The deadline has come, but a line that was in time may still lie in a socket.

        The loop has to look at its sockets once more: first after this turn, so what
        arrived before now is read in the next, and judged before the turn after that.
        """
        self._loop.call_soon(self._loop.call_soon, self._tick, time.monotonic_ns())

    def _tick(self, seen_until: int) -> None:
        self._timer = None
        first = self._held[0] if self._held else None
        if isinstance(first, _Group) and seen_until - first.since > HELD_NS:
            self._timer_at = seen_until
            self._timer = self._loop.call_later(HELD_NS / 1e9, self._due)
        else:
            self.feed(Tick(), seen_until)


def _apply(effect: Send | Close | Mute | Unmute, connection: Connection) -> None:
    if isinstance(effect, Send):
        connection.send(effect.data, effect.turn)
    elif isinstance(effect, Close):
        connection.close()
    elif isinstance(effect, Mute):
        connection.mute()
    else:
        connection.unmute()
