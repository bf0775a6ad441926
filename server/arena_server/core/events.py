"""The inputs of a contest: its state depends on nothing else.

Times are integer nanoseconds of one monotonic clock. `conn` is the number of a connection, never
used twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from arena_protocol.record import GameRecord
from arena_server.core.effects import Marker
from arena_server.core.facts import Drawn
from arena_server.stats.results import PastGame
from arena_server.terms.config import Entrant


@dataclass(frozen=True, slots=True)
class Opened:
    """A connection was accepted; `address` is `host:port`."""

    conn: int
    address: str


class Received(NamedTuple):
    """One complete line came, without its line end; `arrived` is when it reached the kernel.

    The shell reads its sockets before it ticks, so a line that was in time counts even if it
    is handled after the moment of the flag.
    """

    conn: int
    line: bytes
    arrived: int


@dataclass(frozen=True, slots=True)
class LineTooLong:
    """A line longer than the limit came; `head` is how it began."""

    conn: int
    arrived: int
    head: bytes = b""


@dataclass(frozen=True, slots=True)
class Lost:
    """The connection is gone; `reason` is for people. Nothing more comes from `conn`."""

    conn: int
    reason: str


class Flushed(NamedTuple):
    """The last byte of the data sent with `marker` reached the socket at `at`."""

    conn: int
    marker: Marker
    at: int


@dataclass(frozen=True, slots=True)
class Stored:
    """The record of this game is durable: its result may be sent."""

    game_id: str


@dataclass(frozen=True, slots=True)
class Tick:
    """Deadlines up to now are to be judged."""


@dataclass(frozen=True, slots=True)
class Hours:
    """The hours in which games start begin, or are over (not `is_open`), until `until` (ms since 1970, UTC).

    None: it is not known until when. No game starts before `starts_at`, unless the organiser begins the
    contest; None: that moment has come.
    """

    is_open: bool
    until: int | None = None
    starts_at: int | None = None


@dataclass(frozen=True, slots=True)
class TimeUp:
    """The time of the contest is over: it ends as soon as no game runs."""


@dataclass(frozen=True, slots=True)
class Freeze:
    """Spectators see nothing any more of what has happened since `ago` (ns) before now."""

    ago: int = 0


@dataclass(frozen=True, slots=True)
class Stop:
    """The organiser ends the contest: running games are void."""


@dataclass(frozen=True, slots=True)
class Suspend:
    """The server ends, and another one goes on with the running games.

    The programs of the bots `leaving` end with it: they get BYE, and all other clients come back.
    """

    leaving: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Stalled:
    """The referee stood still from `began` to `ended`, and judged nothing in between.

    The shell feeds it before any event that came meanwhile.
    """

    began: int
    ended: int


@dataclass(frozen=True, slots=True)
class Command:
    """An order of the organiser: `verb` is one of `orders.VERBS`, `target` a bot or a game.

    `who` gives it at `at` (ms since 1970, UTC), for a `reason` that may be empty. `entrant` has the bot that
    is added, or the digest of its new token; `code` the digest of an invitation, which holds up to `until`
    (ms since 1970); `renews`: it replaces the code of an open one. `confirmed`: what would be asked once more
    is meant. `games` are the stored games that an order of the jury is about. The effect Reply of the same
    number says whether it was done.
    """

    number: int
    verb: str
    target: str = ""
    who: str = ""
    at: int = 0
    reason: str = ""
    entrant: Entrant | None = None
    code: str | None = None
    until: int = 0
    confirmed: bool = False
    renews: bool = False
    games: tuple[PastGame, ...] = ()


@dataclass(frozen=True, slots=True)
class Observe:
    """The page of this process reads the transcripts, or does not any more (not `on`).

    The effect Reply of the same number follows the Show of each game that can be watched now.
    """

    number: int
    on: bool


@dataclass(frozen=True, slots=True)
class Abandoned:
    """The program that plays `game_id` in `slot` of `bot` has crashed, and is not restarted in this game.

    `exceeded`, in ASCII: the limit of its container that stopped it, if one did.
    """

    bot: str
    slot: int
    game_id: str
    exceeded: str = ""


@dataclass(frozen=True, slots=True)
class Replace:
    """Another program is to play for `bot`, once no game of the present one runs: it has its own token.

    Its games are those of `version`. The effect BotReplaced says when the token counts. Workers need
    the digest of its `image` instead: games that are out end as they are, the next lease is of this version.
    """

    bot: str
    token_sha256: str
    version: str
    image: str = ""


@dataclass(frozen=True, slots=True)
class Thawed:
    """The effect SetFrozen of this `number` has been carried out: the program in `slot` of `bot` runs."""

    bot: str
    slot: int
    number: int


@dataclass(frozen=True, slots=True)
class DrawDone:
    """The draw of the effect StartDraw has been run."""

    drawn: Drawn


@dataclass(frozen=True, slots=True)
class Capacity:
    """The workers of the contest play this many games at once from now on."""

    games: int


@dataclass(frozen=True, slots=True)
class Renewed:
    """The worker that has this game by this fence is alive."""

    game_id: str
    fence: int


@dataclass(frozen=True, slots=True)
class Returned:
    """A worker has played the game that was assigned to it by this fence: `worker` on the machine `host`.

    `stored` has what its bots have stored there, by their names.
    """

    game_id: str
    fence: int
    record: GameRecord
    worker: str
    host: str
    stored: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NotPlayed:
    """A worker gives back the game that was assigned by this fence."""

    game_id: str
    fence: int
    worker: str
    problem: str


@dataclass(frozen=True, slots=True)
class PlayedBy:
    """All durable results of a worker, as the effect ExcludeWorker wants them."""

    worker: str
    games: Sequence[PastGame]


@dataclass(frozen=True, slots=True)
class HandOut:
    """The next game of a contest whose games are handed out: its players by their seats, seed and nonce."""

    names: tuple[str, ...]
    dealt: tuple[int, str]


@dataclass(frozen=True, slots=True)
class HandIn:
    """What bots of such a contest have stored, as the server knows that has handed the game out."""

    stored: Mapping[str, bytes]


#: What workers report.
FromWorkers = Capacity | Renewed | Returned | NotPlayed | PlayedBy

Event = (
    Received
    | Flushed
    | Opened
    | LineTooLong
    | Lost
    | Stored
    | Tick
    | Hours
    | TimeUp
    | Freeze
    | Stop
    | Suspend
    | Stalled
    | Command
    | Observe
    | Abandoned
    | Replace
    | Thawed
    | DrawDone
    | HandOut
    | HandIn
    | FromWorkers
)
