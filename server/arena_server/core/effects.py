"""What a contest wants done: the shell carries these out in order and judges nothing.

It must not know: how bytes move, where records are kept, what a log looks like.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from arena_protocol.record import GameRecord
from arena_server.core.journal import Entry

#: What marks a PING by which lag is measured, and a portion of what is told late: no game is called so.
PING_TAKEN: Final = ""
PORTION_TAKEN: Final = "*"


@dataclass(frozen=True, slots=True)
class Journal:
    """Make these entries durable, all or none; nothing that follows may be carried out before.

    It is the first of the effects of an event, and there is one at most. What holds it up holds
    up the effects of all later events too; only Store may go ahead, to the same store, which
    keeps no record before the entries that came before it. So nobody ever hears of what a
    crash could undo.
    """

    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Send:
    """Write `data` (whole lines) to `conn`.

    `turn` marks a TURN as (game id, ply): once its last byte is handed to the socket the
    shell answers with the event Handed, for the mover's clock runs from there. So it does for
    (PING_TAKEN, number) and (PORTION_TAKEN, 0).
    """

    conn: int
    data: bytes
    turn: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Close:
    """Close `conn` once what was sent before is flushed. No event of `conn` is awaited any more."""

    conn: int


@dataclass(frozen=True, slots=True)
class Mute:
    """Read nothing more from `conn` until Unmute."""

    conn: int


@dataclass(frozen=True, slots=True)
class Unmute:
    """Read from `conn` again."""

    conn: int


@dataclass(frozen=True, slots=True)
class Store:
    """Make this record durable, then answer with the event Stored."""

    game_id: str
    record: GameRecord


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to the organiser's Command of this number: `problem` is why not, None if it is done."""

    number: int
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """Nothing more will be played, and every result has been told.

    `reason` is `finished`, or `stopped` after the event Stop. It comes once.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something for the log and for people; `level` is `info` or `warning`."""

    level: str
    event: str
    fields: Mapping[str, object] = field(default_factory=dict)


Effect = Journal | Send | Close | Mute | Unmute | Store | Reply | Finished | Note
