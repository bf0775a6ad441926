"""What a format is: which games a contest has, and which of them starts next.

    class               one format, registered in `formats/__init__.py`
    next, started       a game is handed out; its fact `Offered` keeps who plays it on which deal
    again               a void game, to be played again under another number
    planned, total      what is known of the games in advance, for pages and terminals

Pure: no clock, no I/O. Who has played whom is read from the facts, never from a format.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar


class FormatError(ValueError):
    """Terms that a format refuses; the text names the key of the configuration."""


class PairingError(ValueError):
    """A game that a format cannot have handed out; the text is one clear line."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Game `number` (1, 2, ...): `names` in the order of the seats, on deal `deal` (1, 2, ...) of theirs."""

    number: int
    names: tuple[str, ...]
    deal: int


@dataclass(frozen=True, slots=True)
class Option:
    """A whole number that a format takes from `[contest]`; `meaning` is for docs/configuration.md."""

    default: int
    low: int
    high: int
    meaning: str


@dataclass(frozen=True, slots=True)
class Terms:
    """What a contest gives its format: the bots in the order of the configuration, and the numbers.

    `games` is `games_per_pair`; with `paired` a deal is played from every seat. `options` has those of
    the format's own that are not left out.
    """

    names: tuple[str, ...]
    seats: int
    games: int
    paired: bool = False
    options: Mapping[str, int] = field(default_factory=dict)


class Format(ABC):
    """The games of one contest. `NAME` is the word of the configuration, `MEANING` explains it there."""

    NAME: ClassVar[str]
    MEANING: ClassVar[str]
    OPTIONS: ClassVar[Mapping[str, Option]] = {}

    @abstractmethod
    def __init__(self, terms: Terms) -> None:
        """Raises FormatError as `check` does."""

    @classmethod
    def check(cls, terms: Terms) -> None:
        """Raise FormatError for terms of which no contest can be made; it takes no time."""
        seats, bots = terms.seats, len(terms.names)
        if bots < seats:
            raise FormatError(f"bot: expected at least {seats}, for {seats} seats, got {bots}")
        for key, value in terms.options.items():
            if key not in cls.OPTIONS:
                known = ", ".join(cls.OPTIONS) or "none"
                raise FormatError(f"contest.{key}: not an option of {cls.NAME}; its options: {known}")
            option = cls.OPTIONS[key]
            if not option.low <= value <= option.high:
                raise FormatError(f"contest.{key}: expected {option.low} to {option.high}, got {value}")

    @classmethod
    def option(cls, terms: Terms, key: str) -> int:
        """The value of one of `OPTIONS`."""
        return terms.options.get(key, cls.OPTIONS[key].default)

    # -- what is known in advance

    @property
    @abstractmethod
    def total(self) -> int:
        """How many games there are, without those that are played again."""

    @property
    @abstractmethod
    def next_repeat(self) -> int:
        """The number of the next game that is played again."""

    @abstractmethod
    def planned(self, first: int, end: int) -> Iterator[Pairing]:
        """Games `first` to `end - 1` in the order of their numbers, begun or not."""

    # -- bots

    @abstractmethod
    def enter(self, name: str, *, late: bool = False) -> None:
        """`name` is present; one that was away for long comes `late`, and the others do not wait for it."""

    @abstractmethod
    def withdraw(self, name: str) -> None:
        """`name` is not present: no game of it starts, and no other bot waits for it."""

    @abstractmethod
    def free(self, name: str, games: int) -> None:
        """`name`, which is present, can start this many games from now on."""

    # -- games

    @abstractmethod
    def next(self) -> Pairing | None:
        """The next game that can start, or None. Each of its players can start one game less from now on."""

    @abstractmethod
    def again(self, pairing: Pairing) -> None:
        """A game is void: `pairing`, of the same players and with the number `next_repeat`, replaces it."""

    # -- an interrupted contest

    @abstractmethod
    def started(self, pairing: Pairing) -> None:
        """Note a game that was handed out before the server was started again, in the order of the numbers.

        Raises PairingError for one that cannot have been; call `recalled` after the last.
        """

    @abstractmethod
    def recalled(self) -> None:
        """All games that were handed out before have been noted."""

    # -- what is left

    @abstractmethod
    def has_games(self, name: str) -> bool:
        """Whether `name` has games left that have not started."""

    @abstractmethod
    def exhausted(self, absent: Collection[str]) -> bool:
        """Whether no game is left that could be played if those of `absent` never come."""

    @abstractmethod
    def unplayed(self) -> Iterator[tuple[tuple[str, ...], int]]:
        """The names of each group that has games left that have not started, with their number."""
