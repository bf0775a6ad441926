"""What a format is given of a contest, what it takes from `[contest]`, and the list of formats.

The formats themselves are in `core/formats/` and in plug-ins (entry points `arena.formats`): the terms know
them by name, and ask only what a configuration needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import ClassVar, Final, Protocol

from arena_protocol.plugins import Plugins
from arena_server.stats.scoring import WINS, Scoring, scoring_of


class FormatError(ValueError):
    """Terms that a format refuses; the text names the key of the configuration."""


@dataclass(frozen=True, slots=True)
class Option:
    """A whole number that a format takes from `[contest]`; `meaning` is for docs/configuration.md."""

    default: int
    low: int
    high: int
    meaning: str

    def check(self, key: str, value: object) -> None:
        """Raise FormatError for a value that is none."""
        if type(value) is not int:
            raise FormatError(f"contest.{key}: expected a whole number, got {value!r:.60}")
        if not self.low <= value <= self.high:
            raise FormatError(f"contest.{key}: expected {self.low} to {self.high}, got {value}")


@dataclass(frozen=True, slots=True)
class WordOption:
    """One of several words that a format takes from `[contest]`; `default` is one of `words`."""

    default: str
    words: tuple[str, ...]
    meaning: str

    def check(self, key: str, value: object) -> None:
        """Raise FormatError for a value that is none."""
        if value not in self.words:
            raise FormatError(f"contest.{key}: expected one of {', '.join(self.words)}, got {value!r:.60}")


@dataclass(frozen=True, slots=True)
class FlagOption:
    """`true` or `false`, which a format takes from `[contest]`."""

    default: bool
    meaning: str

    def check(self, key: str, value: object) -> None:
        """Raise FormatError for a value that is none."""
        if not isinstance(value, bool):
            raise FormatError(f"contest.{key}: expected true or false, got {value!r:.60}")


@dataclass(frozen=True, slots=True)
class TextOption:
    """A text that a format takes from `[contest]`; `read` raises ValueError for one that says nothing."""

    default: str
    read: Callable[[object], object]
    meaning: str

    def check(self, key: str, value: object) -> None:
        """Raise FormatError for a value that is none."""
        try:
            self.read(value)
        except ValueError as error:
            raise FormatError(f"contest.{key}: {error}") from None


@dataclass(frozen=True, slots=True)
class GroupsOption:
    """Lists of two bots or more, which a format takes from `[contest]`; its `check` knows the names."""

    meaning: str
    default: tuple[tuple[str, ...], ...] = ()

    def check(self, key: str, value: object) -> None:
        """Raise FormatError for a value that is none."""
        if not isinstance(value, list | tuple):
            raise FormatError(f'contest.{key}: expected lists as [["ann", "bob"]], got {value!r:.60}')
        for group in value:
            is_group = isinstance(group, list | tuple) and all(isinstance(name, str) for name in group)
            if not is_group or len(set(group)) != len(group) or len(group) < 2:
                raise FormatError(f"contest.{key}: expected two different bots or more, got {group!r:.60}")


#: What a format takes from `[contest]`.
AnyOption = Option | WordOption | FlagOption | TextOption | GroupsOption


OptionValue = int | str | Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Terms:
    """What a contest gives its format: the bots in the order of the configuration, and the numbers.

    `games` is `games_per_pair`; with `paired` a deal is played from every seat. `options` has those of
    the format's own that are not left out. `owners` has the author of each bot that names one. With
    `by_points` a pairing with as many games won on both sides is decided by points. `scoring` is the text of
    what a win, a draw and a bye are worth (`stats/scoring.py`).
    """

    names: tuple[str, ...]
    seats: int
    games: int
    paired: bool = False
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    owners: Mapping[str, str] = field(default_factory=dict)
    by_points: bool = True
    secret: int = 0
    scoring: str = WINS

    @property
    def worth(self) -> Scoring:
        """What a pairing that is won, tied or lost is worth, and a bye."""
        return scoring_of(self.scoring)

    @property
    def seeds(self) -> tuple[str, ...]:
        """The bots, the best seed first: in the order of the file, or drawn by lot."""
        if self.options.get("seeding", "file") == "file":
            return self.names
        return tuple(sorted(self.names, key=lambda name: (self.lot(f"seed:{name}"), name)))

    def lot(self, label: str) -> int:
        """128 bits of chance for this label, the same whenever they are asked for."""
        return int.from_bytes(sha256(f"{label}:{self.secret}".encode("ascii")).digest()[:16])


def order_of(names: Sequence[str], secret: int, *, anonymous: bool) -> tuple[str, ...]:
    """The bots in the order in which a format is given them: that of the file.

    By lot in an anonymous contest: from the order of the file and the number of a game it would follow who
    plays it.
    """
    if not anonymous:
        return tuple(names)
    chance = {name: sha256(f"order:{name}:{secret}".encode("ascii")).digest() for name in names}
    return tuple(sorted(names, key=lambda name: (chance[name], name)))


class FormatKind(Protocol):
    """What a configuration asks of the class of a format; `core.formats.base.Format` explains it."""

    NAME: ClassVar[str]
    MEANING: ClassVar[str]
    OPTIONS: ClassVar[Mapping[str, AnyOption]]
    DRAWS: ClassVar[bool]
    MAY_STOP: ClassVar[bool]
    BY_LOT: ClassVar[bool]
    READS_OWNERS: ClassVar[bool]
    EXTRA: ClassVar[tuple[str, str] | None]

    @classmethod
    def check(cls, terms: Terms) -> None:
        """Raise FormatError for terms of which no contest can be made; it takes no time."""


def _check(name: str, found: object) -> type[FormatKind]:
    asked = [key for key in ("NAME", "MEANING", "OPTIONS", "check") if not hasattr(found, key)]
    if not isinstance(found, type) or asked:
        raise TypeError(f"{found!r:.80} is no class of a format")
    if name != found.NAME:  # type: ignore[attr-defined] # asked above
        raise ValueError(f"{found.__name__} is called {found.NAME!r}, and its entry point {name!r}")  # type: ignore[attr-defined]
    return found


_HERE: Final = "arena_server.core.formats"
#: The formats of a configuration file, by their names.
FORMATS: Final = Plugins[type[FormatKind]](
    "arena.formats",
    {
        "round-robin": f"{_HERE}.roundrobin:RoundRobin",
        "matches": f"{_HERE}.matches:Matches",
        "gauntlet": f"{_HERE}.gauntlet:Gauntlet",
        "knockout": f"{_HERE}.knockout:Knockout",
        "double-elimination": f"{_HERE}.double:DoubleElimination",
        "groups": f"{_HERE}.groupstage:GroupStage",
        "swiss": f"{_HERE}.swiss:Swiss",
        "ladder": f"{_HERE}.ladder:Ladder",
    },
    _check,
)

#: What people call a format where that is not its name.
_TITLES: Final = {"swiss": "Swiss", "double-elimination": "double elimination", "single": "one game"}


def format_title(name: str) -> str:
    """What people call a format in English."""
    return _TITLES.get(name, name)
