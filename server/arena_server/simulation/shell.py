"""The referee's machine, simulated: sockets, a disk, one loop that stalls, and the true contest.

It does what the real shell does (host, connection, store), in virtual time: lines are
stamped when their bytes arrive and handled when the loop comes to them; TURN is handed over
when the socket takes its last byte; all that has arrived is read before a deadline is
judged. It must not know: bots, what a line means.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from random import Random
from typing import Protocol

from arena_protocol.lines import CLIENT_LINE_LIMIT, LineBuffer, Overlong
from arena_server.core.contest import Contest
from arena_server.core.effects import Close, Effect, Finished, Mute, Send, Store, Unmute
from arena_server.core.events import Event, Handed, Lost, Opened, Received, Stored, Tick
from arena_server.core.events import Overlong as TooLong
from arena_server.simulation.agenda import Agenda, one_in
from arena_server.simulation.network import Link, Weather

#: As the real connection: read by so much, and keep so much for a client that does not read.
READ_BYTES = 4096
OUTPUT_LIMIT = 64 * 1024

Turn = tuple[str, int]


class Observer(Protocol):
    """Who looks on: told of every event with all its effects, before they are carried out."""

    def judged(self, event: Event, effects: list[Effect], now: int) -> None:
        """The contest judged `event` at `now`."""


class Socket:
    """The server's end of one connection, with the buffers of kernel and shell."""

    def __init__(self, number: int, link: Link, shell: Shell, window: int) -> None:
        self.number = number
        self.muted = False
        self.gone = False
        self._link = link
        self._shell = shell
        self._lines = LineBuffer(CLIENT_LINE_LIMIT)
        self._kernel: deque[tuple[bytes, int]] = deque()
        self._held: deque[tuple[bytes | Overlong, int]] = deque()
        self._room = window
        self._out = bytearray()
        self._marks: deque[tuple[int, Turn]] = deque()

    # -- what the network tells (network.End)

    def arrived(self, data: bytes) -> None:
        """Bytes lie in the kernel, stamped; the loop reads them when it can."""
        self._kernel.append((data, self._shell.agenda.now))
        self._shell.soon(self.read)

    def ended(self) -> None:
        """The client sends nothing more: to the real shell, too, it is gone then."""
        self._shell.soon(lambda: self._lose("closed"))

    def broken(self, reason: str) -> None:
        """The connection is dead."""
        self._shell.soon(lambda: self._lose(reason))

    def _lose(self, reason: str) -> None:
        if not self.gone:
            self.drop()
            self._shell.feed(Lost(self.number, reason))

    # -- bytes in

    def read(self) -> None:
        """Read what has come, and hand over its lines; a mute connection is left alone."""
        while self._kernel and not self.muted and not self.gone:
            data, arrived = self._kernel.popleft()
            while self._kernel and len(data) + len(self._kernel[0][0]) <= READ_BYTES:
                more, arrived = self._kernel.popleft()  # the stamp is that of the last segment read
                data += more
            self._held.extend((line, arrived) for line in self._lines.feed(data))
            self._deliver()

    def _deliver(self) -> None:
        while self._held and not self.muted and not self.gone:
            line, arrived = self._held.popleft()
            if isinstance(line, Overlong):
                self._shell.feed(TooLong(self.number, arrived, line.head))
            else:
                self._shell.feed(Received(self.number, line, arrived))

    def unmute(self) -> None:
        """Read again, after the lines that wait."""
        self.muted = False
        self._shell.soon(self._deliver)
        self._shell.soon(self.read)

    # -- bytes out

    @property
    def backlog(self) -> int:
        """The bytes that the socket does not take."""
        return len(self._out)

    def send(self, data: bytes, turn: Turn | None) -> None:
        """Hand `data` to the socket as far as it takes it, and keep the rest."""
        taken = 0 if self._out else self._push(data)
        rest = data[taken:]
        if not rest:
            if turn is not None:
                self._shell.handed(self, turn)
        elif len(self._out) + len(rest) > OUTPUT_LIMIT:
            self._lose("backed-up")
        else:
            self._out += rest
            if turn is not None:
                self._marks.append((len(self._out), turn))

    def _push(self, data: bytes | bytearray) -> int:
        taken = min(len(data), self._room)
        self._room -= taken
        self._link.down.push(bytes(data[:taken]))
        return taken

    def taken(self, number: int) -> None:
        """The client has read `number` bytes: there is room for as many."""
        self._room += number
        if self._out:
            self._shell.soon(self._flush)

    def _flush(self) -> None:
        taken = self._push(self._out)
        del self._out[:taken]
        marks, self._marks = self._marks, deque()
        for end, turn in marks:
            if end > taken:
                self._marks.append((end - taken, turn))
            else:
                self._shell.handed(self, turn)

    # -- the end

    def close(self) -> None:
        """Send what is left, then end."""
        self._link.down.push(bytes(self._out))
        self._link.down.finish()
        self.drop()

    def drop(self) -> None:
        """Forget the connection."""
        self.gone = True
        self._out.clear()
        self._kernel.clear()
        self._held.clear()
        self._shell.released(self)


class Shell:
    """Runs one contest. `deadline` is when `tick` has to be called."""

    def __init__(
        self, contest: Contest, agenda: Agenda, weather: Weather, rng: Random, observer: Observer
    ) -> None:
        self.contest = contest
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

    # -- connections

    def accept(self, link: Link, address: str, window: int | None = None) -> Socket:
        """A client has connected."""
        self.accepted += 1
        socket = Socket(self.accepted, link, self, self._weather.window if window is None else window)
        self.sockets[socket.number] = socket
        link.accept(socket)
        self.soon(lambda: self.feed(Opened(socket.number, f"{address}:{socket.number}")))
        return socket

    def released(self, socket: Socket) -> None:
        """Nothing more comes from `socket`."""
        self.sockets.pop(socket.number, None)

    def handed(self, socket: Socket, turn: Turn) -> None:
        """A TURN is with the socket."""
        self.feed(Handed(socket.number, *turn, self.agenda.now))

    # -- the loop

    @property
    def deadline(self) -> int | None:
        """When the contest is to be woken, as far as the loop is awake itself."""
        return None if self._stalled else self.contest.deadline

    def tick(self) -> None:
        """Judge the deadlines that have passed."""
        self.feed(Tick())

    def soon(self, action: Callable[[], None]) -> None:
        """Act now, or when the stall is over, in the order of arrival."""
        if self._stalled:
            self._backlog.append(action)
        else:
            action()

    def stall(self, length: int) -> None:
        """The loop stands still for so many nanoseconds."""
        if not self._stalled:
            self._stalled = True
            self.agenda.after(length, self._wake)

    def _wake(self) -> None:
        self._stalled = False
        waiting, self._backlog = self._backlog, deque()
        for action in waiting:
            self.soon(action)

    def feed(self, event: Event) -> None:
        """Let the contest judge `event`; what its effects cause waits for its turn."""
        self._inbox.append(event)
        if self._judging:
            return
        self._judging = True
        while self._inbox:
            self._judge(self._inbox.popleft())
        self._judging = False
        if one_in(self._rng, self._weather.stall_one_in):
            self.stall(self._rng.randrange(1, self._weather.longest_stall))

    def _judge(self, event: Event) -> None:
        self.events += 1
        effects = self.contest.handle(event, self.agenda.now)
        self.observer.judged(event, effects, self.agenda.now)
        for effect in effects:
            self._carry_out(effect)

    def _carry_out(self, effect: Effect) -> None:
        if isinstance(effect, Store):
            game_id = effect.game_id
            delay = self._rng.randrange(self._weather.longest_commit)
            self.agenda.after(delay, lambda: self.soon(lambda: self.feed(Stored(game_id))))
        elif isinstance(effect, Finished):
            self.finished = effect.reason
        elif isinstance(effect, Send | Close | Mute | Unmute) and (socket := self.sockets.get(effect.conn)):
            _apply(effect, socket)


def _apply(effect: Send | Close | Mute | Unmute, socket: Socket) -> None:
    if isinstance(effect, Send):
        socket.send(effect.data, effect.turn)
    elif isinstance(effect, Close):
        socket.close()
    elif isinstance(effect, Mute):
        socket.muted = True
    else:
        socket.unmute()
