"""The lines of one game, written once, and read by every subscriber with a cursor of its own.

    line 0  GAME STATE NEXT of seat 1        audience: seat 1
    line 1  GAME STATE NEXT of seat 2        audience: seat 2
    line 2  GAME STATE NEXT of spectators    audience: spectators
    line 3  START                            audience: all
    line 4  PLAYED 1 ...                     audience: all; spectators get ` game=g1` behind it

Seats, spectators and late joiners read the same lines: `read` cuts bytes out of them. TURN is not part
of it: it is sent behind the lines to the seat whose cursor is at the end. The web page, in the
same process, reads with `shown` what the lines say, so that it neither parses nor plays again.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, Final, NamedTuple

from arena_protocol import messages as wire
from arena_protocol.messages import encode, printer
from arena_protocol.record import FaultRecord, InfoRecord, PlyRecord
from arena_protocol.text import numbers_text
from arena_server.core.cut import may_name
from arena_server.core.deal import Setting
from arena_server.core.game_facts import GameFact, Started

#: The bit of spectators in an audience; seat `s` has bit `1 << s`.
SPECTATORS: Final = 1
#: Spectators get ` game=<id>` behind a line that does not name its game.
_TAGGED: Final = 1 << 30

_print_played = printer(wire.Played, "clock", "total")
_print_info = printer(wire.Info)


class Shown(NamedTuple):
    """A message to spectators, in a line that was added at `at` (ns), and the position of the game then.

    The position is None where it is that of the message before.
    """

    at: int
    message: wire.ServerMessage
    position: Any


class _Other(NamedTuple):
    """A line that is not PLAYED: who gets it, and by what a session that sends it advances, None for nothing.

    `said` is what it says to spectators; None for the lines before the game, and if they do not get it.
    """

    audience: int
    verb: str | None
    said: InfoRecord | wire.ServerMessage | None


class Reading(NamedTuple):
    """What `Transcript.read` found: the bytes, the next line to read, and the verbs for the session."""

    data: bytes
    next: int
    verbs: tuple[str, ...]


class Transcript:
    """The lines of the game of `setting`, which is offered at the moment `now`.

    They are columns: of line `i`, which is one or more whole lines, `lines` has the bytes and `moments` when
    it was added (ns). All other lines than PLAYED are in `_others`, too. `clock_text` is what the last PLAYED
    says of the clocks. Lines are only ever added, to `lines` last: any thread may read those there.
    """

    # A ply leaves no object behind that the collector has to look at: with hundreds of games it would look at
    # a hundred thousand lines again and again. And each column is one more place of the memory to be touched.

    __slots__ = (
        "_all",
        "_announce",
        "_clock",
        "_concealed",
        "_deal",
        "_game",
        "_notes",
        "_of_ply",
        "_others",
        "_places",
        "_plies",
        "_setting",
        "_tag",
        "_total",
        "_total_text",
        "clock_text",
        "closed",
        "game_id",
        "lines",
        "moments",
    )

    def __init__(self, setting: Setting, now: int) -> None:
        seats = range(1, setting.game.seats + 1)
        self.game_id = setting.game_id
        self._setting = setting
        self._game = setting.game
        self._deal = setting.deal
        self._announce = setting.terms.announce_zombies
        # A note may say whose it is: a bot likes to name itself.
        self._notes = may_name(anonymous=setting.terms.anonymous, over=False)
        self._all = SPECTATORS | sum(1 << seat for seat in seats)
        self._of_ply = _Other(self._all | _TAGGED, None, None)
        self._tag = f" game={setting.game_id}\n".encode("ascii")
        self._plies: list[PlyRecord] = []
        #: Faults that are not announced: spectators see them before OVER.
        self._concealed: list[wire.Zombie] = []
        #: The lines that are not PLAYED, and their places in order.
        self._others: dict[int, _Other] = {}
        self._places: list[int] = []
        #: Of all lines of a batch one number: an array would copy it for each, and takes ten times as long.
        self.moments: list[int] = []
        self.lines: list[bytes] = []
        self._clock: tuple[int, ...] = ()
        self._total: tuple[int, ...] = ()
        self.clock_text = self._total_text = ""
        #: Whether the last line has been added.
        self.closed = False
        for seat in seats:
            self._add(now, setting.offer(seat), 1 << seat, "GAME")
        self._add(now, setting.offer(0), SPECTATORS)

    def _add(
        self,
        at: int,
        data: bytes,
        audience: int,
        verb: str | None = None,
        said: InfoRecord | wire.ServerMessage | None = None,
    ) -> None:
        place = len(self.lines)
        self._others[place] = _Other(audience, verb, said)
        self._places.append(place)
        self.moments.append(at)
        self.lines.append(data)

    def _say(self, at: int, message: wire.ServerMessage, audience: int, verb: str | None = None) -> None:
        """Add the line of a message to spectators, and to others."""
        self._add(at, encode(message), audience, verb, message)

    def played(self, fact: PlyRecord, now: int) -> tuple[bytes, int]:
        """Add PLAYED; returns it, and how many lines there are."""
        plies, lines = self._plies, self.lines
        plies.append(fact)
        ply = len(plies)
        # In one statement: the names of its values take ten times as long.
        seat, move, spent, _, _, clock, points, total, _, _, _ = fact
        # Clocks that a quick answer leaves as they were, and totals without new points, are the same tuple.
        if clock is not self._clock:
            self._clock, self.clock_text = clock, numbers_text(clock)
        if total is not self._total:
            self._total, self._total_text = total, numbers_text(total)
        reveal = self._game.reveal(self._deal, ply)
        data = _print_played(ply, seat, move, spent, self.clock_text, points, self._total_text, reveal)
        self.moments.append(now)
        lines.append(data)
        return data, len(lines)

    def write(self, fact: GameFact, now: int) -> None:
        """Add the lines of a fact, which `Match.apply` has applied."""
        if type(fact) is PlyRecord:
            self.played(fact, now)
        elif type(fact) is FaultRecord:
            if fact.seat:
                self._write_fault(fact, now)
        elif type(fact) is InfoRecord:
            if not self._notes:
                return
            seat, ply, *values = fact
            line = _print_info(self._setting.game_id, ply, seat, *values)
            self._add(now, line, SPECTATORS, said=fact)
        elif type(fact) is Started:
            self._say(now, wire.Start(self._setting.game_id), self._all, "START")

    def _write_fault(self, fault: FaultRecord, now: int) -> None:
        """A fault: for its own seat; for the others, and for spectators if zombies are announced."""
        own = 1 << fault.seat
        self._add(now, encode(wire.Zombie(fault.ply, fault.kind)), own, "ZOMBIE")
        if self._announce:
            # Opponents learn who is a zombie, not the line by which: it may hold what its
            # author keeps secret.
            others = self._all & ~own & ~SPECTATORS
            self._add(now, encode(wire.Zombie(fault.ply, fault.kind, fault.seat)), others)
        shown = wire.Zombie(fault.ply, fault.kind, fault.seat, fault.line, self._setting.game_id)
        if self._announce:
            self._say(now, shown, SPECTATORS)
        else:
            self._concealed.append(shown)

    def close(self, totals: tuple[int, ...], end: str, now: int, *, opened: bool) -> None:
        """Add OVER; `opened`: with nonce and sequence, as the deal will not be played again."""
        # After the end nothing can be gained by knowing it.
        for zombie in self._concealed:
            self._say(now, zombie, SPECTATORS)
        self._say(now, self._setting.over(totals, end, opened), self._all, "OVER")
        self.closed = True

    def read(self, begin: int, audience: int, size: int, end: int | None = None) -> Reading:
        """The lines for an audience from line `begin` on, before line `end`, about `size` bytes."""
        lines, others, of_ply = self.lines, self._others, self._of_ply
        end = len(lines) if end is None else end
        data, verbs = b"", []
        while begin < end and len(data) < size:
            text, (readers, verb, _) = lines[begin], others.get(begin, of_ply)
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

    def shown(self, begin: int, end: int, position: Any) -> tuple[list[Shown], Any]:
        """What lines `begin` to `end` - 1 say to spectators; whether they may see them is not asked here.

        `position` is what the call for the lines before returned, None for the first: that of the referee.
        """
        found: list[Shown] = []
        # The plies before line `begin`; the last one up to each line of them counts.
        number = begin - bisect_left(self._places, begin)
        for place, at in enumerate(self.moments[begin:end], begin):
            other = self._others.get(place)
            if other is None:
                number += 1
                position = self._game.play(position, self._plies[number - 1].move).position
                found.append(Shown(at, self._played(number), self._game.seen(position)))
                continue
            if not other.audience & SPECTATORS:
                continue
            match other.said:
                case None:
                    position = self._game.start(self._deal)
                    start = self._game.seen(position)
                    found += [Shown(at, message, start) for message in self._setting.introduction()]
                case InfoRecord(seat, ply, depth, value, nodes, moves, text):
                    info = wire.Info(self.game_id, ply, seat, depth, value, nodes, moves, text)
                    found.append(Shown(at, info, None))
                case message:
                    found.append(Shown(at, message, None))
        return found, position

    def _played(self, number: int) -> wire.Played:
        """PLAYED as spectators get it."""
        ply = self._plies[number - 1]
        return wire.Played(
            number,
            ply.seat,
            ply.move,
            ply.time_ms,
            ply.clock,
            ply.points,
            ply.total,
            self._game.reveal(self._deal, number),
            self.game_id,
        )
