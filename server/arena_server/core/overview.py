"""A contest at a moment: who plays, who is missing and why, how many games are left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from arena_server.core.facts import Order
from arena_server.core.formats.length import Length
from arena_server.core.life import ContestPhase, Hold
from arena_server.core.parts.part import Unpaired
from arena_server.core.peers import Bot
from arena_server.stats.standings import Row

#: Where a bot is: in a game; connected and free; disconnected; disconnected for longer than `absent`;
#: paired no more because of its faults; removed by the organiser; not part of the contest any more.
PLAYING, FREE, AWAY, GONE, PROBATION, KICKED = "playing", "free", "away", "gone", "probation", "kicked"
WITHDRAWN = "withdrawn"
#: Connected, and not paired because its validation game had a fault.
VALIDATION = "validation"
#: Games wait for a bot that has never logged in.
NEVER_CONNECTED = "never-connected"
NO_VERSION = "no-version"
#: Connected, and its container is frozen although it should run: the engine does not answer.
FROZEN = "frozen"


@dataclass(frozen=True, slots=True)
class Awaited:
    """A bot that cannot be paired and has games left, or the rest of its game to play.

    `reason` is `never-connected`, `no-version`, `away`, `frozen`, `validation`, `probation` or `kicked`.
    `last_seen` (ns) is when it lost its last connection, None if it has had none to this server.
    `faulty_games` are those not forgiven, `faulty_trials` validation games, in a row up to now. It `returns`
    if its probation ends by a time.
    """

    name: str
    reason: str
    last_seen: int | None
    faulty_games: int
    faulty_trials: int = 0
    returns: bool = False

    @classmethod
    def of(cls, bot: Bot, reason: str, faulty_games: int, faulty_trials: int, *, returns: bool) -> Awaited:
        return cls(bot.name, reason, bot.last_seen, faulty_games, faulty_trials, returns)


def why_waiting(bot: Bot, shown: Unpaired) -> str | None:
    """The reason of `Awaited`; None for a bot that plays, or can be paired."""
    if shown.where:
        return shown.where
    if bot.is_here:
        return None
    return AWAY if bot.known else NEVER_CONNECTED


def causes_of_absence(
    bots: Iterable[Bot], shown: Callable[[Bot], Unpaired], *, patient: bool = False
) -> dict[str, str]:
    """The bots that no game waits for, each with the cause; `patient`: without those that return."""
    causes = {}
    for bot in bots:
        said = shown(bot)
        if bot.withdrawn:
            causes[bot.name] = WITHDRAWN
        elif bot.plays and (bot.gone or (said.barred and not (patient and said.returns))):
            causes[bot.name] = said.cause or "absent"
    return causes


def absent_or_removed(bots: Sequence[Bot], shown: Callable[[Bot], Unpaired]) -> tuple[str, ...]:
    """Those of them that are not here: on probation a bot may be connected."""
    causes = causes_of_absence(bots, shown)
    return tuple(
        bot.name
        for bot in bots
        if bot.name in causes
        and not bot.withdrawn
        and (shown(bot).where in (KICKED, FROZEN) or not bot.connected)
    )


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of a contest.

    `total` counts the games of the schedule (None: it is open), `done` those with a result, `void` those
    that were broken off, `plies` all plies so far, those of running games too. `ended` is None while games
    may still be played; then `finished` (every scheduled game has a result), `incomplete` or `stopped`. Of
    a contest that ended otherwise than `finished`, `missing` names the bots that are absent or removed, and
    `unplayed` counts the games without a result by cause, such as `absent: guest`. `waiting`: see `Awaited`.
    `holds`: why no game is offered, or not all; one of them says that `waiting` is not empty.
    `separated`: the first bots, if the contest ends early because they are certain (`contest.stop`).
    """

    done: int
    total: int | None
    void: int
    running: int
    plies: int
    connected: int
    ended: str | None
    standings: tuple[Row, ...]
    missing: tuple[str, ...] = ()
    unplayed: Mapping[str, int] = field(default_factory=dict)
    waiting: tuple[Awaited, ...] = ()
    holds: tuple[Hold, ...] = ()
    separated: tuple[str, ...] = ()

    @property
    def left(self) -> int | None:
        """How many games have no result; None: it is open."""
        return None if self.total is None else self.total - self.done


@dataclass(frozen=True, slots=True)
class RunningGame:
    """A game without a result: `plies` are played so far."""

    game_id: str
    names: tuple[str, ...]
    plies: int


@dataclass(frozen=True, slots=True)
class BotState:
    """One entrant: `where` is one of the words above, `faulty_games` those not forgiven.

    `address` and `agent` are those of its first connection; `move_ms` is the mean time of its plies.
    """

    name: str
    where: str
    connected: bool
    faulty_games: int
    owner: str = ""
    author: str = ""
    language: str = ""
    url: str = ""
    address: str | None = None
    agent: str | None = None
    move_ms: int | None = None

    @classmethod
    def of(cls, bot: Bot, where: str, faulty_games: int, move_ms: int | None = None) -> BotState:
        said = bot.entrant
        about = said.owner, said.author, said.language, said.url
        peer, agent = next(((slot.peer, slot.agent) for slot in bot.slots if slot.peer), (None, None))
        address = None if peer is None else peer.address
        return cls(bot.name, where, bot.connected, faulty_games, *about, address, agent, move_ms)


@dataclass(frozen=True, slots=True)
class InvitationState:
    """Invitation `number` of an owner, up to `until` (ms since 1970); `bot` was registered by it."""

    number: int
    owner: str
    until: int
    bot: str | None = None


@dataclass(frozen=True, slots=True)
class LinkState:
    """A link to register by: whether it `works`, and which `bot` it has registered, if it is for one."""

    works: bool
    bot: str | None = None


@dataclass(frozen=True, slots=True)
class RegistrationState:
    """`quota` bots may be registered up to `until` (ms); the organiser `approves` each.

    Of this `owner`; an empty one: of each owner that an author names.
    """

    until: int
    quota: int
    approves: bool
    owner: str


@dataclass(frozen=True, slots=True)
class Applicant:
    """A bot that has registered, and waits for approval."""

    name: str
    owner: str
    author: str = ""
    language: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Overview:
    """A moment of a contest; `state` is `open`, `planned`, `closed`, `paused`, `draining`, or how it ended.

    `orders` are all of the organiser's that were carried out. `until` (ms since 1970, UTC) is when the
    hours in which games start end or begin. `length` is what extends and shortens; None: nothing can.
    """

    phase: ContestPhase
    state: str
    progress: Progress
    running: tuple[RunningGame, ...]
    bots: tuple[BotState, ...]
    orders: tuple[Order, ...] = ()
    until: int | None = None
    length: Length | None = None
    invitations: tuple[InvitationState, ...] = ()
    registrations: tuple[RegistrationState, ...] = ()
    applicants: tuple[Applicant, ...] = ()


def where_is(bot: Bot, shown: Unpaired) -> str:
    """Where a bot is; what keeps it from being paired goes first, and a game of any slot before the rest."""
    if bot.withdrawn:
        return WITHDRAWN
    if shown.where in (KICKED, PROBATION, VALIDATION, FROZEN):
        return shown.where
    if any(slot.game is not None for slot in bot.slots):
        return PLAYING
    if bot.connected:
        return FREE
    return GONE if bot.gone else AWAY
