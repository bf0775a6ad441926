"""What crosses to a worker, and what comes back: one game and its bots there, the bytes of its record here.

    Assign -> GameJob -> WorkerPool.submit -> a worker plays it -> PoolEvents.returned, or lost

A pool gives a game to a worker at least once, if it can, and reports what becomes of it. That a result
counts once is up to the contest (`core/parts/leases.py`).
"""

from __future__ import annotations

import re
import socket
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from arena_server.places.base import LocalBot
from arena_server.terms.config import ContestConfig
from arena_server.terms.terms import GameTerms

#: Characters of what a worker, or Dask, says of what has failed.
LONGEST: Final = 300
#: What keeps a name from being a word of the protocol.
_NO_WORD = re.compile("[^!-~]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class GameJob:
    """One game: the only one of a contest with this `config`, whose `dealt` has its deal.

    `bots` are the players in the order of the seats; with `engines`, an engine for each seat, these play in
    the worker's process. `key` is unlike that of any other job. `python` is the interpreter of who sends it,
    in whose place the worker's own is meant. A worker says every `renew_s` seconds that it is alive.
    `stored` has what the bots keep, by their names.
    """

    key: str
    game_id: str
    fence: int
    config: ContestConfig
    bots: Sequence[LocalBot]
    engines: Sequence[str]
    python: str
    renew_s: float
    stored: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def resources(self) -> dict[str, float]:
        """What its worker has to have for all of its bots."""
        needed: Counter[str] = Counter()
        for bot in self.bots:
            needed.update(bot.resources)
        return dict(needed)


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """How a job ended: the bytes of a record, or the `problem`; `fatal`: it would be the same anywhere.

    `lost`: the pool has lost it, and the game is not to blame. `stored` has what bots have stored, by their
    names.
    """

    record: bytes | None
    problem: str = ""
    fatal: bool = False
    lost: bool = False
    stored: Mapping[str, bytes] = field(default_factory=dict)


class PoolEvents(Protocol):
    """Who takes the reports of a pool, on the loop's thread."""

    @property
    def terms(self) -> GameTerms:
        """The game that is played."""

    def capacity(self, games: int) -> None:
        """The workers play `games` games at once from now on."""

    def renewed(self, job: GameJob) -> None:
        """The worker that plays this game is alive."""

    def measured(self, worker: str, bench: int) -> None:
        """A worker made `bench` plies a second before its first game; said with each of its games."""

    def said(self, worker: str, line: str) -> None:
        """A message of a worker, for people."""

    def ended(self, job: GameJob, outcome: JobOutcome, worker: str, host: str) -> None:
        """A worker has ended a job. It may come late, and more than once."""

    def failed(self, problem: str) -> None:
        """The pool cannot go on."""


class WorkerPool(Protocol):
    """Workers; all methods are for the loop's thread."""

    async def open(self, events: PoolEvents) -> None:
        """Begin; `PoolEvents.capacity` follows. Raises ArenaError if there are no workers to be had."""

    def submit(self, job: GameJob) -> None:
        """Have a worker play a game."""

    def withdraw(self, key: str) -> None:
        """No result of this job is wanted any more; it may have ended."""

    def exclude(self, worker: str) -> None:
        """Give the worker of this name no job any more; its present one is lost."""

    async def close(self) -> None:
        """End all jobs; nothing is reported any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditTerms:
    """The share of games that the processes of `pool`, which are trusted, play a second time.

    Those that a worker of a `trusted` name has played are not.
    """

    share: float
    pool: WorkerPool
    trusted: Collection[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """Where the games of a contest are played: the pool, and the program or the engine of each bot.

    A worker that is silent for `lease_ms` loses its game. A bot whose author sends versions has a sandbox
    without an image; `saved` has by bot and image the file of a version, or `""`, for workers that are `far`.
    Those of `trusted` names are the organiser's own: with any, no other examines versions.
    """

    pool: WorkerPool
    bots: Mapping[str, LocalBot]
    engines: Mapping[str, str]
    lease_ms: int
    audit: AuditTerms | None = None
    far: bool = False
    trusted: Collection[str] = ()
    saved: Callable[[str, str], str] = lambda bot, image: ""

    def takes_versions(self, name: str) -> bool:
        """Whether the author of a bot sends its program."""
        sandbox = self.bots[name].sandbox
        return sandbox is not None and not sandbox.image

    def program(self, name: str, image: str) -> LocalBot:
        """A bot as a worker starts it: the version of this `image`, unless that is empty."""
        bot = self.bots[name]
        if not image:
            return bot
        assert bot.sandbox is not None, "a version is an image"
        return replace(bot, sandbox=replace(bot.sandbox, image=image, saved=self.saved(name, image)))


def word(text: str) -> str:
    """Return a name as a record may have it."""
    return _NO_WORD.sub("-", text) or "-"


def this_host() -> str:
    """The name of this machine."""
    return word(socket.gethostname())
