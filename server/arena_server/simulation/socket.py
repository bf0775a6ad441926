"""The server's end of one simulated connection: what kernel and shell keep of it, in both directions.

It must not know: what a line means, the contest, the disk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from arena_protocol.lines import CLIENT_LINE_LIMIT, LineBuffer, Overlong
from arena_server.core.events import Event, Lost, Received
from arena_server.core.events import Overlong as TooLong
from arena_server.simulation.agenda import Agenda
from arena_server.simulation.network import Link

#: As the real connection: read by so much, and keep so much for a client that does not read.
READ_BYTES = 4096
OUTPUT_LIMIT = 64 * 1024

Turn = tuple[str, int]


class Loop(Protocol):
    """What a socket needs of the shell that it belongs to."""

    agenda: Agenda

    def soon(self, action: Callable[[], None]) -> None:
        """Act when the loop comes to it."""

    def feed(self, event: Event) -> None:
        """Let the contest judge an event."""

    def handed(self, socket: Socket, turn: Turn) -> None:
        """A TURN is with the socket."""

    def released(self, socket: Socket) -> None:
        """Nothing more comes from the socket."""


class Socket:
    """The server's end of one connection, with the buffers of kernel and shell."""

    def __init__(self, number: int, link: Link, shell: Loop, window: int) -> None:
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

    def die(self) -> None:
        """The whole machine of the server is gone."""
        self.drop()
        self._link.reset()

    def drop(self) -> None:
        """Forget the connection."""
        self.gone = True
        self._out.clear()
        self._kernel.clear()
        self._held.clear()
        self._shell.released(self)
