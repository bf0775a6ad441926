"""What of a contest has to outlive the server: its entries, and which of them still matter.

An entry is a plain tuple of numbers, texts and bytes: the number of a game (0: the contest
itself), the kind, then values. A game's entries are the calls that its match has accepted,
each closing with its moment in nanoseconds since the game was offered; played again in their
order they give the same match. Of the contest's own entries only the last about each thing
matters, so they replace each other.
It must not know: how entries become durable, what a kind of game entry means.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

Entry = tuple[Any, ...]

#: The number under which the contest itself has entries.
CONTEST: Final = 0

#: The contest's own kinds: (0, KEY, name, digest of its resume key or None),
KEY: Final = "key"
#: (0, CONDUCT, name, faulty games forgiven, whether the organiser has sent it away),
CONDUCT: Final = "conduct"
#: (0, AGAIN, number of the new game, number of the void one),
AGAIN: Final = "again"
#: (0, GATE, "", whether games may begin: a `Gate`).
GATE: Final = "gate"

#: The first entry of every game, which annuls all before it of the same number: (number, OFFER, 0).
OFFER: Final = "offer"


class JournalError(ValueError):
    """Entries that no contest has written; the text is one clear line."""


@dataclass(frozen=True, slots=True)
class PastGame:
    """A game whose record is stored: its result stands. `faults` are (name, kind)."""

    number: int
    names: tuple[str, ...]
    totals: tuple[int, ...]
    end: str
    plies: int
    faults: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Past:
    """What is durable of a contest that was begun before: its results, in the order told, and its entries."""

    results: tuple[PastGame, ...] = ()
    entries: tuple[Entry, ...] = ()


class Live:
    """The entries that still matter: the contest's last words on each thing, and games not yet stored."""

    __slots__ = ("_contest", "_games", "_size")

    def __init__(self) -> None:
        self._contest: dict[tuple[object, object], Entry] = {}
        self._games: dict[int, list[Entry]] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size + len(self._contest)

    def __iter__(self) -> Iterator[Entry]:
        yield from self._contest.values()
        for entries in self._games.values():
            yield from entries

    def add(self, entries: Iterable[Entry]) -> None:
        """Note entries in the order in which they became durable."""
        for entry in entries:
            if entry[0] == CONTEST:
                self._contest[entry[1], entry[2]] = entry
                continue
            if entry[1] == OFFER:  # a game's entries written anew stand for the old ones
                self.forget(entry[0])
            self._games.setdefault(entry[0], []).append(entry)
            self._size += 1

    def forget(self, number: int) -> None:
        """Game `number` is stored: how it came about is in its record."""
        self._size -= len(self._games.pop(number, ()))

    @property
    def contest(self) -> list[Entry]:
        """The contest's own entries, the last about each thing."""
        return list(self._contest.values())

    @property
    def games(self) -> dict[int, list[Entry]]:
        """The entries of each game by its number."""
        return self._games
