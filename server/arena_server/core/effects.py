"""The outputs of a contest: the shell carries them out in order and judges nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from arena_protocol.record import GameRecord
from arena_server.core.deal import Setting
from arena_server.core.formats.base import Draw
from arena_server.core.journal import Entry
from arena_server.core.log_events import LogEvent
from arena_server.core.transcript import Transcript


class TurnMark(NamedTuple):
    """Marks a TURN: the clock of its seat runs from the moment that it reaches the socket."""

    game: int
    ply: int


class PingMark(NamedTuple):
    """Marks the PING of this number, by which lag is measured."""

    number: int


class ChunkMark(NamedTuple):
    """Marks a chunk of a long transcript: the next one follows when it has reached the socket."""


Marker = TurnMark | PingMark | ChunkMark


class Journal(NamedTuple):
    """Make these entries durable, all or none; no effect that follows may be carried out before.

    It is the first of the effects of an event, and there is one at most. It holds back the
    effects of all later events too; only Store may go ahead, to the same store, which keeps no
    record before the entries that came before it. So nothing is sent that a crash could undo.
    """

    entries: Sequence[Entry]


class Send(NamedTuple):
    """Write `data` (whole lines) to `conn`.

    Once its last byte has reached the socket, the shell feeds Flushed with the `marker`, unless
    that is None.
    """

    conn: int
    data: bytes
    marker: Marker | None = None


@dataclass(frozen=True, slots=True)
class CloseConnection:
    """Close `conn` once what was sent before is flushed. No event of `conn` may follow."""

    conn: int


@dataclass(frozen=True, slots=True)
class Mute:
    """Read nothing more from `conn` until Unmute."""

    conn: int


@dataclass(frozen=True, slots=True)
class Unmute:
    """Read from `conn` again."""

    conn: int


class SetFrozen(NamedTuple):
    """Stop the program that plays in `slot` of `bot` (`frozen`), or let it go on, then feed Thawed.

    `number` counts how often it was to go on; that of Thawed is the same.
    """

    bot: str
    slot: int
    frozen: bool
    number: int


@dataclass(frozen=True, slots=True)
class ShowLog:
    """Send the log of `bot` to `conn`, if the shell keeps one, then `last`, and close. No event follows."""

    conn: int
    bot: str
    last: bytes


@dataclass(frozen=True, slots=True)
class Store:
    """Make this record durable, then feed Stored."""

    game_id: str
    record: GameRecord


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to the Command or Observe of this number; `problem` None: it is done."""

    number: int
    problem: str | None = None


class Show(NamedTuple):
    """The lines of `transcript` before line `end` may be shown to any visitor: their delay has passed.

    It comes only while an Observe is in force.
    """

    transcript: Transcript
    end: int


@dataclass(frozen=True, slots=True)
class StartDraw:
    """Run this draw, off the loop if it is slow, then feed DrawDone with what it gives.

    It is not journaled: a server that is started again asks for it again.
    """

    draw: Draw


@dataclass(frozen=True, slots=True)
class Assign:
    """Have a worker play this game, then feed Returned with its record, or NotPlayed; Renewed meanwhile.

    `images`: by seat the image of a bot whose author sends versions, `""` for another one; empty: all are.
    `stored` has what its bots keep, by their names; it is empty where nothing can be stored.
    """

    game_id: str
    fence: int
    setting: Setting
    images: tuple[str, ...] = ()
    stored: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Withdraw:
    """The result of this Assign would be refused: no worker need play it any more."""

    game_id: str
    fence: int


@dataclass(frozen=True, slots=True)
class ExcludeWorker:
    """Give this worker no game any more, then feed PlayedBy with all its durable results.

    It comes again after a restart.
    """

    worker: str


@dataclass(frozen=True, slots=True)
class Finished:
    """Nothing more will be played, and every line has been sent to players and spectators. It comes once.

    `reason` is `finished` (every scheduled game has a result), `incomplete`, or `stopped`; it has ended so
    `ago` ns, as spectators have seen its last lines since.
    """

    reason: str
    ago: int = field(default=0, compare=False)


Effect = (
    Send
    | Journal
    | CloseConnection
    | Mute
    | Unmute
    | SetFrozen
    | ShowLog
    | Store
    | Reply
    | Show
    | StartDraw
    | Assign
    | Withdraw
    | ExcludeWorker
    | Finished
    | LogEvent
)
