"""The tables `[contest]` and `[game]` of a configuration file: names, types, bounds, defaults.

Defaults and bounds are those of `terms/config.py`.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from arena_server.stats.scoring import POINTS, WINS
from arena_server.stats.scoring import text_of as scoring_text
from arena_server.stats.teams import best_of
from arena_server.stats.tiebreaks import check as check_tie_breaks
from arena_server.terms.about import KEYS, WORDS, check_links, check_word
from arena_server.terms.config import ContestConfig, check_seed
from arena_server.terms.formats import FORMATS
from arena_server.terms.tables import FileTable, bounded_duration, check_moment, check_name
from arena_server.terms.terms import LONGEST_MS, MOST, MOST_STORED, terms_of
from arena_server.terms.timetable import parse_hours

_CONFIG: Final = ContestConfig(name="defaults", seed=0)
#: The ranges of the numbers, by key.
_RANGES: Final = {
    each.key.partition(".")[2]: (each.low, each.high)
    for _, each in terms_of(ContestConfig)
    if each.low is not None and each.high is not None
}
_STORAGE: Final = re.compile(r"([0-9]{1,5}) ?KiB")
#: Keys that are left out for "no limit"; a limit of zero would be a mistake.
_LEFT_OUT: Final = ("absent", "probation_for", "move_limit", "first_move_limit")


def _number(field: str) -> Any:
    """A whole number with the default and the bounds of the config."""
    low, high = _RANGES[field]
    return Field(default=getattr(_CONFIG, field), ge=low, le=high)


def _read_duration(value: object, info: ValidationInfo) -> int:
    """A duration within the bounds of the config."""
    key = str(info.field_name)
    if key == "clock" and value == NO_CLOCK:
        return LONGEST_MS
    low, high = _RANGES[key]
    return bounded_duration(value, max(low, 1) if key in _LEFT_OUT else low, high)


#: Where the options of a format are kept.
OPTIONS_PLACE: Final = "format's options"
#: The keys of `[contest]` that only some of our formats take.
FORMAT_OPTIONS: Final = frozenset(key for name in FORMATS.built_in for key in FORMATS[name].OPTIONS)
#: The value of `clock` for games without a clock: bots read the longest one, ten days.
NO_CLOCK: Final = "none"


def format_options(contest: object) -> frozenset[str]:
    """The keys of a table `[contest]` that are options of a format: of ours, or the plug-in that it names."""
    name = contest.get("format") if isinstance(contest, dict) else None
    # The installed packages are searched only for a name that is not ours.
    if not isinstance(name, str) or name in FORMATS.built_in or name not in FORMATS:
        return FORMAT_OPTIONS
    return FORMAT_OPTIONS | FORMATS[name].OPTIONS.keys()


def _check_format(value: str) -> str:
    if value not in FORMATS:
        raise ValueError(f"expected one of {', '.join(FORMATS)}")
    return value


def _read_word(value: object, info: ValidationInfo) -> str:
    return check_word(str(info.field_name), value)


def _read_scoring(value: object) -> str:
    if isinstance(value, dict):
        return scoring_text(value)
    if value in (POINTS, WINS):
        return str(value)
    raise ValueError("expected 'points', 'wins' or values such as { win = 3, draw = 1, loss = 0 }")


def _read_teams(value: object) -> int:
    return best_of(value if isinstance(value, dict) else {})


def _check_tie_breaks(value: list[str]) -> list[str]:
    return list(check_tie_breaks(value))


def _read_storage(value: object) -> int:
    found = _STORAGE.fullmatch(value) if isinstance(value, str) else None
    if found is None or not 0 < (size := int(found[1]) * 1024) <= MOST_STORED:
        raise ValueError(f'expected a size from "1 KiB" to "{MOST_STORED // 1024} KiB"')
    return size


def _check_hours(value: str | None) -> str | None:
    if value is not None:
        parse_hours(value)
    return value


class ContestTable(FileTable):
    """`[contest]`: the schedule, and what faults cost. `terms.config.ContestConfig` explains the values."""

    name: str
    #: What people read of it.
    title: str | None = None
    text: str | None = None
    date: str | None = None
    place: str | None = None
    organiser: str | None = None
    links: dict[str, str] = Field(default_factory=dict, max_length=8)
    game: str = _CONFIG.game
    format: str = _CONFIG.format
    #: The keys that belong to a format: `_move_options` puts them here. No key of a file is called so.
    format_options: dict[str, Any] = Field(default_factory=dict, alias=OPTIONS_PLACE)
    games_per_pair: int = _number("games_per_pair")
    deals: Literal["fresh", "paired"] = "fresh"
    #: A word, or a table of values, which is read as the text of `stats.scoring`.
    scoring: str = "points"
    tie_breaks: list[str] = Field(default_factory=list)
    stop: str = _CONFIG.stop
    #: How many bots of an owner count in the table of teams, from `{ best = k }`; None: there is none.
    teams: int | None = _CONFIG.teams
    seed: int | None = Field(default=None, ge=0)
    probation: int = _number("probation")
    probation_for: int | None = _CONFIG.probation_for_ms
    validation: bool = _CONFIG.validation
    #: As in "4 KiB".
    storage: int = _CONFIG.storage_bytes
    ready: int = _CONFIG.ready_ms
    login: int = _CONFIG.login_ms
    handover: int = _CONFIG.handover_ms
    absent: int | None = _CONFIG.absent_ms
    rest: int = _CONFIG.rest_ms
    announce_zombies: bool = _CONFIG.announce_zombies
    anonymous: bool = _CONFIG.anonymous
    spectator_delay: int = _CONFIG.spectator_delay_ms
    stall_limit: int = _CONFIG.stall_ms
    guests: bool = _CONFIG.guests
    rated: bool = _CONFIG.rated
    guesses: bool = _CONFIG.guesses
    #: The hours of each day in which games start, in the zone of this machine; None: all.
    open: str | None = None
    #: When the contest begins, and how many bots have to be there; None: as many as a game has seats.
    starts_at: datetime | None = None
    quorum: int | None = Field(default=None, ge=0, le=MOST)
    ends_at: datetime | None = None
    freeze_at: datetime | None = None
    out_of_turn_limit: int = _number("out_of_turn_limit")
    flood_limit: int = _number("flood_limit")

    @model_validator(mode="before")
    @classmethod
    def _move_options(cls, table: object) -> object:
        if not isinstance(table, dict):
            return table
        options = {key: table[key] for key in format_options(table) if key in table}
        rest = {key: value for key, value in table.items() if key not in options}
        return {**rest, OPTIONS_PLACE: options} if options else rest

    @property
    def about(self) -> dict[str, object]:
        """What people read of it, by key; what is left out is not there."""
        return {key: getattr(self, key) for key in KEYS if getattr(self, key)}

    _name = field_validator("name")(check_name)
    _storage = field_validator("storage", mode="before")(_read_storage)
    _words = field_validator(*WORDS, mode="before")(_read_word)
    _links = field_validator("links")(check_links)
    _format = field_validator("format")(_check_format)
    _seed = field_validator("seed")(check_seed)
    _scoring = field_validator("scoring", mode="before")(_read_scoring)
    _teams = field_validator("teams", mode="before")(_read_teams)
    _tie_breaks = field_validator("tie_breaks")(_check_tie_breaks)
    _open = field_validator("open")(_check_hours)
    _moments = field_validator("starts_at", "ends_at", "freeze_at", mode="before")(check_moment)
    _durations = field_validator(
        "ready",
        "login",
        "handover",
        "absent",
        "probation_for",
        "rest",
        "spectator_delay",
        "stall_limit",
        mode="before",
    )(_read_duration)


class GameTable(FileTable):
    """`[game]`: the clocks, and beside them the game's own options, which the game checks."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, defer_build=True)

    clock: int = _CONFIG.clock_ms
    increment: int = _CONFIG.increment_ms
    margin: int = _CONFIG.margin_ms
    #: None disables the limit.
    move_limit: int | None = None
    first_move_limit: int | None = None
    byoyomi: int = _CONFIG.byoyomi_ms
    lag_quota: int = _CONFIG.lag_quota_ms
    #: A file of positions that the games start from; it becomes the game's option `board`.
    library: str | None = Field(default=None, min_length=1)

    _durations = field_validator(
        "clock",
        "increment",
        "margin",
        "move_limit",
        "first_move_limit",
        "byoyomi",
        "lag_quota",
        mode="before",
    )(_read_duration)

    @property
    def own_options(self) -> dict[str, object]:
        """The keys that are none of ours: the options of the game."""
        return dict(self.model_extra or {})
