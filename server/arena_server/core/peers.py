"""What the contest keeps of a connection, a bot, its slots and a running game; the outbox for effects."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Final

from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.messages import Error, ServerMessage
from arena_protocol.session import ServerSession
from arena_server.core.clock import LagEstimate
from arena_server.core.deadlines import Deadline, DeadlineKind
from arena_server.core.effects import CloseConnection, Effect, Mute, Send, TurnMark, Unmute
from arena_server.core.facts import ContestFact, FormerKeys, ResumeKeys
from arena_server.core.journal import CONTEST, Entry, entry_of
from arena_server.core.match import Match
from arena_server.core.ratelimit import LINES, InfoBudget, Limit
from arena_server.core.transcript import Transcript
from arena_server.terms.config import NO_TOKEN, Entrant

#: The number of the slot and of the bot that stand for the server in the games that it plays itself.
REFEREE_KEY: Final = -2

#: What is known of a client that is no entrant.
_NO_ENTRANT: Final = Entrant("")

FLOODED: Final = ProtocolError(ErrorCode.FLOOD, "too many lines that were not asked for")


@dataclass(slots=True, eq=False)
class Peer:
    """One connection, accepted at `opened` (ns); `slot` is None before login, and for a spectator.

    `unasked` counts refused lines outside games; `muted`: nothing is read from it.
    """

    conn: int
    address: str
    opened: int = 0
    session: ServerSession = field(default_factory=ServerSession)
    slot: Slot | None = None
    unasked: int = 0
    chatter: Limit[None] = field(default_factory=lambda: Limit(LINES))
    muted: bool = False
    lag: LagEstimate = field(default_factory=LagEstimate)

    @property
    def bot_name(self) -> str | None:
        """The name of its slot's bot."""
        return None if self.slot is None else self.slot.name

    @property
    def game(self) -> LiveGame | None:
        """The game that its slot is seated in."""
        return None if self.slot is None else self.slot.game

    def count_unasked(self) -> int:
        """Count a refused line outside a game, and return how many there were since the last game."""
        self.unasked += 1
        return self.unasked


@dataclass(slots=True, eq=False)
class Bot:
    """One entrant, with a slot for each game at once.

    One that does not play may only watch; who is `withdrawn` cannot log in. `gone`: not to be paired for
    longer than the contest waits. `known`: it has logged in to this contest before. `last_seen` (ns) is when
    it lost its last connection to this server. With `author_sha256` its programs are `version`s that the
    server or a worker starts; a worker does so by its `image`.
    """

    number: int
    name: str
    token_sha256: str | None
    plays: bool = True
    withdrawn: bool = False
    slots: list[Slot] = field(default_factory=list)
    gone: bool = False
    known: bool = False
    last_seen: int | None = None
    entrant: Entrant = _NO_ENTRANT
    author_sha256: str | None = None
    version: str | None = None
    image: str = ""

    @property
    def lacks_version(self) -> bool:
        """Whether its programs are versions, and none has come yet."""
        return self.author_sha256 is not None and self.version is None

    @property
    def connected(self) -> bool:
        """Whether any slot has a connection, or needs none."""
        return any(slot.here for slot in self.slots)

    @property
    def is_here(self) -> bool:
        """Whether a slot has a connection that plays, or needs none."""
        return any(slot.here and slot.not_free.isdisjoint(ABSENT) for slot in self.slots)

    @property
    def free_slots(self) -> int:
        """In how many games more it can be seated now, if it is present."""
        return sum(slot.free for slot in self.slots)

    @property
    def keys(self) -> ResumeKeys:
        return ResumeKeys(self.name, tuple(slot.keys.resume for slot in self.slots))

    @property
    def former_keys(self) -> FormerKeys:
        return FormerKeys(self.name, tuple(slot.keys.former for slot in self.slots))

    def open_slots(self, key: int, count: int, kind: type[Slot]) -> None:
        """Make its slots; the first of them has the key `key`."""
        self.slots += (kind(key + at, self, at + 1) for at in range(count))

    def withdraw(self) -> None:
        """It takes part no more."""
        self.withdrawn = True

    def readmit(self) -> None:
        """It takes part again."""
        self.withdrawn = False

    def log_in(self) -> None:
        """One of its slots has logged in, now or before the server was started again."""
        self.known = True

    def take_versions(self, *, ponders: bool) -> None:
        """Its programs are versions that the server starts; until the first one no token logs it in."""
        self.token_sha256 = self.author_sha256 = NO_TOKEN
        self.entrant = replace(self.entrant, ponders=ponders)

    def set_token(self, digest: str) -> None:
        """Only the token of this digest logs it in from now on, or opens its log if its versions are sent."""
        if self.author_sha256 is None:
            self.token_sha256 = digest
        else:
            self.author_sha256 = digest

    @property
    def log_sha256(self) -> str | None:
        """The digest of the token that opens its log."""
        return self.author_sha256 or self.token_sha256

    def succeed(self, digest: str, version: str, image: str) -> None:
        """Only the program of this token logs in from now on; it is called by its version."""
        self.token_sha256, self.version, self.image = digest, version, image

    def set_awaited(self, awaited: bool) -> None:
        """Whether the contest waits for it."""
        self.gone = not awaited

    def leave(self, now: int) -> None:
        """Its last connection ended, or watches from now on."""
        self.last_seen = now


class NotFree(Enum):
    """Why a slot with a connection is not seated; each is set and taken away by who knows of it."""

    #: Its last game is over, and the next one begins later.
    RESTS = auto()
    #: It has sent WATCH.
    WATCHES = auto()
    #: Another program of its bot waits for the end of the games.
    SUCCEEDED = auto()
    #: Its program is frozen, or is being thawed: it cannot answer an offer, and TURN waits.
    FROZEN = auto()
    #: Thawing takes longer than the contest waits.
    STUCK = auto()


#: With one of these a slot is as one without a connection.
ABSENT: Final = frozenset({NotFree.WATCHES, NotFree.STUCK})


@dataclass(frozen=True, slots=True)
class Keys:
    """Digests of resume keys of a slot: `former` while the newer one may not have reached the bot."""

    resume: str | None = None
    former: str | None = None


@dataclass(slots=True, eq=False)
class Slot:
    """One slot of a bot: it plays one game at a time, on a connection of its own.

    `game` and `seat` while it is seated. `agent` is what the bot called its program when it logged in, or its
    version if the server has started it. `number` counts the slots of the bot, `key` those of the contest.
    """

    key: int
    bot: Bot
    number: int = 1
    peer: Peer | None = None
    keys: Keys = Keys()
    game: LiveGame | None = None
    seat: int = 0
    not_free: set[NotFree] = field(default_factory=set)
    agent: str | None = None

    @property
    def name(self) -> str:
        return self.bot.name

    @property
    def here(self) -> bool:
        """Whether it has a connection, or needs none."""
        return self.peer is not None

    @property
    def free(self) -> bool:
        """Whether it can be seated, if its bot may be paired."""
        return self.here and self.game is None and not self.not_free

    def connect(self, peer: Peer, resume: str, former: str | None, agent: str | None) -> None:
        """It has logged in on `peer`: the digests of its new resume key, and of the one that it has used."""
        self.agent = self.bot.version or agent
        self.peer, peer.slot = peer, self
        self.not_free.discard(NotFree.WATCHES)
        self.keys = Keys(resume, former)
        self.bot.log_in()

    def disconnect(self) -> None:
        """Its connection is gone."""
        self.peer = None

    def hold(self, why: NotFree) -> None:
        """It is not seated until `release`."""
        self.not_free.add(why)

    def release(self, why: NotFree) -> None:
        self.not_free.discard(why)

    def drop_former(self) -> None:
        """Its newer resume key has reached the bot."""
        self.keys = Keys(self.keys.resume)

    def drop_keys(self) -> None:
        """It has quit: no key resumes its seat."""
        self.keys = Keys()

    def restore_key(self, digest: str | None) -> None:
        """Take what the journal has of its resume key."""
        self.keys = Keys(digest, self.keys.former)
        self.bot.log_in()  # the journal has an entry of keys for each bot that has logged in

    def restore_former(self, digest: str | None) -> None:
        """Take what the journal has of the key before."""
        self.keys = Keys(self.keys.resume, digest)

    def sit(self, game: LiveGame, seat: int) -> None:
        """It plays this game."""
        self.game, self.seat = game, seat

    def leave(self) -> None:
        """Its game is over."""
        self.game, self.seat = None, 0
        if self.peer is not None:
            self.peer.unasked = 0


class WorkerSlot(Slot):
    """One whose games a worker plays: it needs no connection."""

    __slots__ = ()

    @property
    def here(self) -> bool:
        return True


@dataclass(slots=True, eq=False)
class SeatCursor:
    """What a seat's connection has been sent of its game: the next `line`, and the last `turn`.

    `Turns` writes it.
    """

    line: int = 0
    turn: TurnMark | None = None


@dataclass(slots=True, eq=False)
class LineCounts:
    """Lines of a seat that were not asked for, those of them that were moves, and its notes.

    `ready` is the connection that has said READY.
    `SeatLines` writes it.
    """

    unasked: int = 0
    out_of_turn: int = 0
    ready: int | None = None
    notes: InfoBudget = field(default_factory=InfoBudget)


class LiveGame:
    """A match, its transcript, and the slots that play it with their cursors and lines, by seat."""

    __slots__ = (
        "cursors",
        "due",
        "freezing",
        "game_id",
        "lines",
        "match",
        "number",
        "places",
        "seated",
        "transcript",
    )

    def __init__(self, number: int, match: Match, seated: tuple[Slot, ...], now: int) -> None:
        self.number = number
        self.due = Deadline((DeadlineKind.GAME, number))
        self.match = match
        self.game_id = match.setting.game_id
        self.transcript = Transcript(match.setting, now)
        self.seated = seated
        #: Those of them whose programs are frozen while others move.
        self.freezing = tuple(slot for slot in seated if not slot.bot.entrant.ponders)
        self.cursors = tuple(SeatCursor() for _ in seated)
        self.places = tuple(zip(seated, self.cursors, strict=True))
        self.lines = tuple(LineCounts() for _ in seated)
        for seat, slot in enumerate(seated, start=1):
            slot.sit(self, seat)

    @property
    def announced(self) -> bool:
        """Whether OVER has been written."""
        return self.transcript.closed

    @property
    def is_storing(self) -> bool:
        """Whether it is over, and its record has still to be durable."""
        return self.counts and self.match.over and not self.announced

    @property
    def counts(self) -> bool:
        """Whether it is one of the contest's games, and no validation game."""
        return self.number > CONTEST

    @property
    def slot_numbers(self) -> tuple[int, ...]:
        """The number of each slot; empty if all are the first of their bots."""
        numbers = tuple(slot.number for slot in self.seated)
        return () if max(numbers) == 1 else numbers

    @property
    def agents(self) -> tuple[str | None, ...]:
        """What the bot of each seat calls its program; empty if none says."""
        # A worker's program does not log in here: it is known by its version alone.
        agents = tuple(slot.agent or slot.bot.version for slot in self.seated)
        return agents if any(agents) else ()


class Outbox:
    """Collects effects and journal entries in order; hot paths append to the lists themselves.

    `entries` have to be durable before any effect of the same event is carried out. Unless it `keeps_plies`
    they have of a game that it is offered, or leased, and no more.
    """

    __slots__ = ("effects", "entries", "keeps_plies")

    def __init__(self, *, keeps_plies: bool = True) -> None:
        self.keeps_plies = keeps_plies
        self.effects: list[Effect] = []
        self.entries: list[Entry] = []

    def fact(self, fact: ContestFact) -> None:
        """Journal a fact of the contest itself."""
        self.entries.append(entry_of(CONTEST, fact))

    def send(self, peer: Peer, message: ServerMessage) -> None:
        self.effects.append(Send(peer.conn, peer.session.send(message)))

    def error(self, peer: Peer, problem: ProtocolError) -> None:
        self.send(peer, Error(problem.code, problem.text, problem.retry_after))

    def close(self, peer: Peer) -> None:
        """Close the connection once all is sent."""
        self.effects.append(CloseConnection(peer.conn))

    def mute(self, peer: Peer) -> None:
        """Read nothing more from the peer."""
        peer.muted = True
        self.effects.append(Mute(peer.conn))

    def unmute(self, peer: Peer) -> None:
        """Read from the peer again."""
        if peer.muted:
            peer.muted = False
            self.effects.append(Unmute(peer.conn))
