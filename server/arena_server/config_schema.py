"""Durations as people write them in a configuration: `20s`, `500ms`, `2m`, `1h`.

It must not know: which key a duration belongs to, nor any clock.

The keys of a contest's file: names, types, limits, defaults.

It must not know: how a file is read, how an error is told, what any game's options mean.
All durations are whole milliseconds once they are read.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from arena_protocol.codec import valid_name
from arena_protocol.games import FLAGSHIP

_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
_DURATION = re.compile(r"(\d{1,9})(?:\.(\d{1,3}))?\s?(ms|s|m|h)", re.ASCII)

EXPECTED = "a duration such as '500ms', '20s', '2m' or '1h'"


def parse_duration(text: str) -> int:
    """Whole milliseconds of `text`.

    Raises ValueError, saying what was expected, for anything else, and for a fraction that
    is no whole number of milliseconds.
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError(f"expected {EXPECTED}")
    whole, fraction, unit = found[1], found[2] or "", found[3]
    # Thousandths of the unit first, so that no float rounds a clock.
    thousandths = (int(whole) * 1000 + int(fraction.ljust(3, "0") or 0)) * _UNITS_MS[unit]
    if thousandths % 1000:
        raise ValueError("expected a whole number of milliseconds")
    return thousandths // 1000


def format_duration(milliseconds: int) -> str:
    """The shortest text that `parse_duration` reads back as `milliseconds`."""
    for unit in ("h", "m", "s"):
        if milliseconds and milliseconds % _UNITS_MS[unit] == 0:
            return f"{milliseconds // _UNITS_MS[unit]}{unit}"
    return f"{milliseconds}ms"


#: Ten days: beyond that is a slip of the pen.
MAX_DURATION_MS = 864_000_000
#: Ten minutes a ply.
MAX_INCREMENT_MS = 600_000

DEFAULT_PORT = 2006
MAX_BOTS = 10_000


def _duration(value: object, most: int = MAX_DURATION_MS) -> int:
    if not isinstance(value, str):
        raise ValueError(f"expected {EXPECTED}")
    milliseconds = parse_duration(value)
    if milliseconds > most:
        raise ValueError(f"expected a duration of at most {format_duration(most)}")
    return milliseconds


def _increment(value: object) -> int:
    return _duration(value, MAX_INCREMENT_MS)


def _clock(value: object) -> int:
    milliseconds = _duration(value)
    if not milliseconds:
        raise ValueError("expected a duration of at least 1ms")
    return milliseconds


def _name(value: str) -> str:
    if not valid_name(value):
        raise ValueError("expected 1 to 32 letters, digits, '_', '.' or '-', a letter or digit first")
    return value


#: Milliseconds, 0 or more.
Duration = Annotated[int, BeforeValidator(_duration)]
#: Milliseconds, 1 or more.
Clock = Annotated[int, BeforeValidator(_clock)]


class _Table(BaseModel):
    """A table of the file: every key known, every type as TOML has it."""

    # Deferred: only the whole file is ever validated, so only that validator need be built.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class ContestTable(_Table):
    """`[contest]`: who plays whom, how often, and what a fault costs."""

    name: str
    game: str = FLAGSHIP
    format: Literal["round-robin"] = "round-robin"
    games_per_pair: int = Field(default=2, ge=1, le=1_000_000)
    scoring: Literal["points", "wins"] = "points"
    seed: int | None = Field(default=None, ge=0)
    #: After so many faulty games a bot is paired no more; 0: never.
    probation: int = Field(default=3, ge=0)
    #: How long a bot may take from GAME to READY.
    ready: Clock = 30_000
    #: How long a connection may take to log in.
    login: Clock = 10_000
    #: How long a connection may take to take its TURN.
    handover: Clock = 10_000
    #: How long a bot may be away before its games are played without it; None: for ever.
    absent: Clock | None = None
    announce_zombies: bool = False
    spectator_delay: Duration = 0
    #: A game is void, and played again, if the server stood still for longer while a clock ran.
    stall_limit: Clock = 3_000
    #: Whether strangers may watch.
    guests: bool = True
    out_of_turn_limit: int = Field(default=10, ge=0, le=1_000_000)
    flood_limit: int = Field(default=100, ge=1, le=1_000_000)

    _check_name = field_validator("name")(_name)


class GameTable(_Table):
    """`[game]`: the clocks here, and beside them the game's own options, which the game checks."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, defer_build=True)

    clock: Clock = 20_000
    increment: Annotated[int, BeforeValidator(_increment)] = 0
    #: Applied once, at the flag, never per move.
    margin: Duration = 0
    #: The most that a ply may take, whatever is left; None: as much as is left.
    move_limit: Clock | None = None
    #: What each ply may take once the clock is down.
    byoyomi: Duration = 0
    #: What is forgiven a bot for the lag of its connection, all in all in a game.
    lag_quota: Duration = 0

    @property
    def own_options(self) -> dict[str, object]:
        """What is left for the game itself."""
        return dict(self.model_extra or {})


class ServerTable(_Table):
    """`[server]`: where to listen and how much to hold; the command line overrides the address."""

    host: str = Field(default="127.0.0.1", min_length=1)
    port: int = Field(default=DEFAULT_PORT, ge=0, le=65_535)
    max_connections: int = Field(default=4_000, ge=1, le=1_000_000)
    #: Files in PEM; with both, every connection is encrypted.
    tls_certificate: str | None = Field(default=None, min_length=1)
    tls_key: str | None = Field(default=None, min_length=1)
    #: Where metrics are and orders are taken; None: nowhere.
    admin_port: int | None = Field(default=None, ge=0, le=65_535)
    admin_host: str = Field(default="127.0.0.1", min_length=1)
    #: Host names by which browsers reach this server; addresses and localhost need no entry.
    web_names: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _a_pair(self) -> Self:
        if (self.tls_certificate is None) != (self.tls_key is None):
            given = "tls_key" if self.tls_certificate is None else "tls_certificate"
            raise ValueError(f"expected tls_certificate and tls_key or neither, got {given} alone")
        return self


class BotTable(_Table):
    """`[[bot]]`: a name, and at most one of: an engine of ours, a command, the hash of a token."""

    name: str
    engine: str | None = Field(default=None, min_length=1)
    command: list[str] | None = Field(default=None, min_length=1)
    token_sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")

    _check_name = field_validator("name")(_name)

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        given = [key for key in ("engine", "command", "token_sha256") if getattr(self, key) is not None]
        if len(given) > 1:
            raise ValueError(
                f"expected at most one of engine, command and token_sha256, got {' and '.join(given)}"
            )
        return self

    @property
    def is_local(self) -> bool:
        """Whether `arena tournament` starts this bot itself."""
        return self.engine is not None or self.command is not None


class ContestFile(_Table):
    """A whole file."""

    contest: ContestTable
    game: GameTable = Field(default_factory=GameTable)
    server: ServerTable = Field(default_factory=ServerTable)
    bot: list[BotTable] = Field(max_length=MAX_BOTS)

    @field_validator("bot")
    @classmethod
    def _names_differ(cls, bots: list[BotTable]) -> list[BotTable]:
        seen: set[str] = set()
        for bot in bots:
            if bot.name in seen:
                raise ValueError(f"expected every bot to have a name of its own, got {bot.name!r} twice")
            seen.add(bot.name)
        return bots
