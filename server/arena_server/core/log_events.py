"""What happened in a contest, for people and counters: the effects that no client sees.

Log, metrics, logs of bots and reports are functions of these events; docs/operating.md lists them. The
fields of a class are those of its log line, under the same keys; `event` is the word of that line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class LogEvent:
    """Base class; `level` is one of `Log.LEVELS`."""

    event: ClassVar[str]
    level: ClassVar[str] = "info"


# -- games


@dataclass(frozen=True, slots=True)
class GameStarted(LogEvent):
    """GAME was sent; `names`, and the `slots` in which they play, by seat. All in slot 1: no slots."""

    event = "game"
    game: str
    names: tuple[str, ...]
    slots: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class GameResumed(LogEvent):
    """A game that the last server left unfinished goes on after `plies` plies."""

    event = "resumed"
    game: str
    names: tuple[str, ...]
    plies: int
    slots: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class GameOver(LogEvent):
    """The record is durable; `faults` are (name, kind) in the order of the game."""

    event = "over"
    game: str
    end: str
    totals: tuple[int, ...]
    faults: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class GameVoided(LogEvent):
    """A game is broken off; `again`: it is played again."""

    event = "void"
    level = "warning"
    game: str
    reason: str
    again: bool


@dataclass(frozen=True, slots=True)
class ContestBegun(LogEvent):
    """The quorum is there: from now on games start, and bots are missed."""

    event = "begun"
    bots: int


@dataclass(frozen=True, slots=True)
class RoundDrawn(LogEvent):
    """Who meets whom is durable: `pairings` of them, and `byes` bots without an opponent."""

    event = "drawn"
    draw: int
    pairings: int
    byes: int


@dataclass(frozen=True, slots=True)
class NotDrawn(LogEvent):
    """Draw `draw`, of a round that was planned, cannot be made, so that the contest is over."""

    event = "not-drawn"
    level = "warning"
    draw: int
    reason: str


@dataclass(frozen=True, slots=True)
class FieldSeparated(LogEvent):
    """No game starts any more: after `games` results `names` are the first for certain (`contest.stop`)."""

    event = "separated"
    games: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WalkedOver(LogEvent):
    """What the `absent` bots had left to play of a draw is lost for them."""

    event = "walkover"
    level = "warning"
    draw: int
    absent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResultRefused(LogEvent):
    """A worker's result does not count: its lease has ended, or `reason` says what is wrong with it."""

    event = "refused-result"
    level = "warning"
    game: str
    fence: int
    worker: str
    reason: str


@dataclass(frozen=True, slots=True)
class BotSilent(LogEvent):
    """A bot that is connected has sent nothing from its time-out to the end of the game."""

    event = "silent"
    level = "warning"
    bot: str
    slot: int
    game: str


@dataclass(frozen=True, slots=True)
class ResultReturned(LogEvent):
    """The result of a game that a worker has played was accepted."""

    event = "returned"
    game: str
    names: tuple[str, ...]
    worker: str
    host: str


@dataclass(frozen=True, slots=True)
class WorkerVoided(LogEvent):
    """The results of a worker do not count: `void` ones are void now, `kept` ones have to stand."""

    event = "void-worker"
    level = "warning"
    worker: str
    void: int
    kept: int


@dataclass(frozen=True, slots=True)
class LeaseEnded(LogEvent):
    """A worker has lost or given back a game, which another one gets; a silent `worker` is not named."""

    event = "lease-ended"
    level = "warning"
    game: str
    fence: int
    worker: str
    reason: str


# -- connections


@dataclass(frozen=True, slots=True)
class ConnectionEvent(LogEvent):
    """Base class of what happens on a connection; `bot` is None before its login, and of a spectator."""

    conn: int
    peer: str
    bot: str | None


@dataclass(frozen=True, slots=True)
class LoggedIn(ConnectionEvent):
    """WELCOME was sent; `agent` is what the client calls its program."""

    event = "login"
    agent: str | None
    resumed: bool
    slot: int


@dataclass(frozen=True, slots=True)
class ConnectionLost(ConnectionEvent):
    """The client closed the connection, or it broke."""

    event = "lost"
    reason: str


@dataclass(frozen=True, slots=True)
class ConnectionRefused(ConnectionEvent):
    """An ERROR with this code was sent, and the connection closed."""

    event = "refused"
    level = "warning"
    code: str


@dataclass(frozen=True, slots=True)
class BotLogRead(ConnectionEvent):
    """The log of `bot` was sent to a client with its token."""

    event = "log-read"


# -- bots and the contest


@dataclass(frozen=True, slots=True)
class BotOnProbation(LogEvent):
    """A bot is paired no more after its `games` faulty games."""

    event = "probation"
    level = "warning"
    bot: str
    games: int


@dataclass(frozen=True, slots=True)
class ValidationStarted(LogEvent):
    """GAME of a validation game was sent: by it a bot that is not paired is to show that it can be."""

    event = "validation"
    bot: str
    game: str


@dataclass(frozen=True, slots=True)
class BotValidated(LogEvent):
    """The validation game of a bot had no fault of its own: it is paired from now on."""

    event = "validated"
    bot: str
    game: str


@dataclass(frozen=True, slots=True)
class ValidationFailed(LogEvent):
    """The validation game of a bot had a fault of this `kind`: it is not paired."""

    event = "validation-failed"
    level = "warning"
    bot: str
    game: str
    kind: str
    ply: int


@dataclass(frozen=True, slots=True)
class ProbationOver(LogEvent):
    """A bot has played a validation game without a fault."""

    event = "probation-over"
    bot: str


@dataclass(frozen=True, slots=True)
class BotAbsent(LogEvent):
    """The contest does not wait for a bot any longer."""

    event = "absent"
    level = "warning"
    bot: str


@dataclass(frozen=True, slots=True)
class BotJoined(LogEvent):
    """A late entrant, or one that was withdrawn and takes part again."""

    event = "joined"
    bot: str


@dataclass(frozen=True, slots=True)
class BotLeft(LogEvent):
    """A bot was withdrawn from the contest."""

    event = "left"
    bot: str


@dataclass(frozen=True, slots=True)
class BotReplaced(LogEvent):
    """The games of a bot are played by this version from now on."""

    event = "version"
    bot: str
    version: str


@dataclass(frozen=True, slots=True)
class CommandDone(LogEvent):
    """A command of the organiser was carried out."""

    event = "command"
    level = "warning"
    verb: str
    target: str
    who: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LoopStalled(LogEvent):
    """The event loop stood still for `ms` milliseconds."""

    event = "stall"
    level = "warning"
    ms: int
