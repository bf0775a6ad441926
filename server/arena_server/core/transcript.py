"""The lines of one game, written once, and read by every subscriber with a cursor of its own.

    line 0  GAME STATE NEXT of seat 1        audience: seat 1
    line 1  GAME STATE NEXT of seat 2        audience: seat 2
    line 2  GAME STATE NEXT of spectators    audience: spectators
    line 3  START                            audience: all
    line 4  PLAYED 1 ...                     audience: all; spectators get ` game=g1` behind it

Seats, spectators and late joiners read the same lines. TURN is not part of it: it is sent
behind the lines to the seat whose cursor is at the end.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from arena_protocol import messages as wire
from arena_protocol.messages import encode, printer
from arena_protocol.record import FaultRecord, InfoRecord, PlyRecord
from arena_server.core.deal import Setting
from arena_server.core.journal import GameFact, Started

#: The bit of spectators in an audience; seat `s` has bit `1 << s`.
SPECTATORS: Final = 1
#: Spectators get ` game=<id>` behind a line that does not name its game.
_TAGGED: Final = 1 << 30

_print_played = printer(wire.Played)
_print_info = printer(wire.Info)


class TranscriptLine(NamedTuple):
    """`data` is one or more whole lines, added at the moment `at` (ns).

    A session that sends it advances by `verb`, unless that is None.
    """

    at: int
    data: bytes
    audience: int
    verb: str | None


class Reading(NamedTuple):
    """What `Transcript.read` found: the bytes, the next line to read, and the verbs for the session."""

    data: bytes
    next: int
    verbs: tuple[str, ...]


class Transcript:
    """The lines of the game of `setting`, which is offered at the moment `now`."""

    __slots__ = (
        "_all",
        "_all_tagged",
        "_announce",
        "_concealed",
        "_deal",
        "_game",
        "_ply",
        "_setting",
        "_tag",
        "closed",
        "lines",
    )

    def __init__(self, setting: Setting, now: int) -> None:
        seats = range(1, setting.game.seats + 1)
        self._setting = setting
        self._game = setting.game
        self._deal = setting.deal
        self._announce = setting.config.announce_zombies
        self._all = SPECTATORS | sum(1 << seat for seat in seats)
        self._all_tagged = self._all | _TAGGED
        self._tag = f" game={setting.game_id}\n".encode("ascii")
        self._ply = 0
        #: Faults that are not announced: spectators see them before OVER.
        self._concealed: list[bytes] = []
        self.lines: list[TranscriptLine] = []
        #: Whether the last line has been added.
        self.closed = False
        for seat in seats:
            self._add(now, setting.offer(seat), 1 << seat, "GAME")
        self._add(now, setting.offer(0), SPECTATORS)

    def _add(self, at: int, data: bytes, audience: int, verb: str | None = None) -> None:
        self.lines.append(TranscriptLine(at, data, audience, verb))

    def write(self, fact: GameFact, now: int) -> None:
        """Add the lines of a fact, which `Match.apply` has applied."""
        if type(fact) is PlyRecord:
            self._ply = ply = self._ply + 1
            data = _print_played(
                ply,
                fact.seat,
                fact.move,
                fact.time_ms,
                fact.clock,
                fact.points,
                fact.total,
                self._game.reveal(self._deal, ply),
            )
            self.lines.append(TranscriptLine(now, data, self._all_tagged, None))
        elif type(fact) is FaultRecord:
            if fact.seat:
                self._write_fault(fact, now)
        elif type(fact) is InfoRecord:
            seat, ply, *values = fact
            self._add(now, _print_info(self._setting.game_id, ply, seat, *values), SPECTATORS)
        elif type(fact) is Started:
            self._add(now, encode(wire.Start(self._setting.game_id)), self._all, "START")

    def _write_fault(self, fault: FaultRecord, now: int) -> None:
        """A fault: for its own seat; for the others, and for spectators if zombies are announced."""
        own = 1 << fault.seat
        self._add(now, encode(wire.Zombie(fault.ply, fault.kind)), own, "ZOMBIE")
        if self._announce:
            # Opponents learn who is a zombie, not the line by which: it may hold what its
            # author keeps secret.
            others = self._all & ~own & ~SPECTATORS
            self._add(now, encode(wire.Zombie(fault.ply, fault.kind, fault.seat)), others)
        shown = encode(wire.Zombie(fault.ply, fault.kind, fault.seat, fault.line, self._setting.game_id))
        if self._announce:
            self._add(now, shown, SPECTATORS)
        else:
            self._concealed.append(shown)

    def close(self, totals: tuple[int, ...], end: str, now: int, *, opened: bool) -> None:
        """Add OVER; `opened`: with nonce and sequence, as the deal will not be played again."""
        # After the end nothing can be gained by knowing it.
        for line in self._concealed:
            self._add(now, line, SPECTATORS)
        over = self._setting.over(totals, end, opened)
        self._add(now, encode(over), self._all, "OVER")
        self.closed = True

    def read(self, begin: int, audience: int, size: int, end: int | None = None) -> Reading:
        """The lines for an audience from line `begin` on, before line `end`, about `size` bytes."""
        lines = self.lines
        end = len(lines) if end is None else end
        data, verbs = b"", []
        while begin < end and len(data) < size:
            _, text, readers, verb = lines[begin]
            begin += 1
            if readers & audience:
                # The tag replaces the line end; it is made for spectators only, of which
                # most games have none.
                if audience == SPECTATORS and readers & _TAGGED:
                    data += text[:-1] + self._tag
                else:
                    data += text
                    if verb is not None:
                        verbs.append(verb)
        return Reading(data, begin, tuple(verbs))
