"""A contest as a value. A TOML file is one way to make it (`config_file.spec_of`)."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from arena_server.terms.config import ContestConfig, Entrant
from arena_server.terms.timetable import Timetable

#: The size of a seed that cannot be found by trying.
SECRET_BITS = 256


#: The events that a webhook has if its file names none.
USUAL_EVENTS = ("game", "probation", "absence")
#: The events that a webhook may have.
WEBHOOK_EVENTS = (*USUAL_EVENTS, "begun", "round", "walkover", "validation", "stall", "over", "jury")


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where events of a contest are sent (`webhooks.py`). Neither address nor secret is ever printed."""

    url: str = field(repr=False)
    secret: str = field(repr=False)
    events: frozenset[str] = frozenset(USUAL_EVENTS)
    #: The most results in one message; with 1 each result is a message of its own form.
    batch: int = 1


@dataclass(frozen=True, slots=True)
class LateVersions:
    """At most `most` bots that come late are sent by their authors; `ponders` is as in `config.Entrant`."""

    most: int = 0
    ponders: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestSpec:
    """What is played, and who may log in.

    An unfinished contest of the same name in the database goes on, unless a `new` one is wanted; with `keep`
    one that is over is shown as it is. `seeded` tells that its seed has to be that of the config. `bot_logs`
    is the folder of private logs of bots, None without. A contest that is not `listed` has to be named in
    HELLO, no ERROR, page or report names it, and its host neither waits for it nor ends with it. The
    `timetable` may be another when the contest goes on, but for `freeze_at`, which is that of the config.
    `started` has the bots that are started together with the contest, in containers or as processes;
    `crowded` says how bots exceed their machine, empty: they do not. As far
    as `late` allows it, versions are sent of a bot that is added during the contest. `keeps_plies` is as in
    `core.contest.Contest`, and `closed` as in `store.database.ContestHeader`. Of one that is not `stored`
    nothing is left, and no page shows it.
    """

    config: ContestConfig
    entrants: Sequence[Entrant]
    new: bool = False
    keep: bool = False
    seeded: bool = True
    bot_logs: Path | None = None
    listed: bool = True
    timetable: Timetable = field(default_factory=Timetable)
    webhooks: Sequence[Webhook] = ()
    started: frozenset[str] = frozenset()
    crowded: str = ""
    late: LateVersions = LateVersions()
    keeps_plies: bool = True
    stored: bool = True
    closed: bool = False
    #: It is known that it has ended: clients need not wait until it is shown.
    over: bool = False
    #: How many bots have to be there for it to begin; None: as many as a game has seats.
    quorum: int | None = 0

    @property
    def name(self) -> str:
        return self.config.name


def fresh_seed() -> int:
    """A secret seed for a contest whose organiser has chosen none."""
    return secrets.randbits(SECRET_BITS)


def entrant_of(name: str, token: str, concurrency: int = 1) -> Entrant:
    """The entrant of a bot or a person with this token."""
    return Entrant(name, sha256(token.encode("ascii")).hexdigest(), concurrency=concurrency)
