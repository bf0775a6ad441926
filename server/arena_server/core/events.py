"""What happens to a contest: the only things its state depends on.

Times are integer nanoseconds of one monotonic clock. It must not know: what an event leads to.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opened:
    """A connection was accepted; `conn` is a number never used before, `peer` is for people."""

    conn: int
    peer: str


@dataclass(frozen=True, slots=True)
class Received:
    """One complete line came, without its line end; `arrived` is when it reached the kernel.

    The shell reads its sockets before it ticks, so a line that was in time counts even if it
    is handled after the flag's moment.
    """

    conn: int
    line: bytes
    arrived: int


@dataclass(frozen=True, slots=True)
class Overlong:
    """A line longer than the limit came; `head` is how it began."""

    conn: int
    arrived: int
    head: bytes = b""


@dataclass(frozen=True, slots=True)
class Lost:
    """The connection is gone; `reason` is for people. Nothing more comes from `conn`."""

    conn: int
    reason: str


@dataclass(frozen=True, slots=True)
class Handed:
    """The TURN of this ply was handed to the socket: its clock runs from `at`.

    Or what else was marked: `game_id` and `ply` are the mark, see `effects.Send`.
    """

    conn: int
    game_id: str
    ply: int
    at: int


@dataclass(frozen=True, slots=True)
class Stored:
    """The record of this game is durable: its result may be told."""

    game_id: str


@dataclass(frozen=True, slots=True)
class Tick:
    """Deadlines up to now are to be judged."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The organiser ends the contest: running games are void."""


@dataclass(frozen=True, slots=True)
class Stalled:
    """The referee itself stood still from `began` to `ended`, and judged nothing in between.

    The shell tells of it before any event that came meanwhile.
    """

    began: int
    ended: int


@dataclass(frozen=True, slots=True)
class Command:
    """The organiser wants something: `verb` is one of `orders.VERBS`, `target` a bot or a game.

    The effect Reply of the same number says whether it was done.
    """

    number: int
    verb: str
    target: str = ""


Event = Opened | Received | Overlong | Lost | Handed | Stored | Tick | Stop | Stalled | Command
