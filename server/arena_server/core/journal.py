"""The journal: facts as entries, the entries that still matter, and what is durable of a contest.

    fact                          entry: a plain tuple of numbers, texts and bytes, ready for msgpack
    Offered(("ann", "bob"), 3)    (7, "offer", ("ann", "bob"), 3, (), ())
    Ready(2)                      (7, "ready", 2)
    PlyRecord(1, "4", ...)        (7, "ply", 1, "4", ...)
    ResumeKeys("ann", (digest,))  (0, "keys", "ann", (digest,))

The first number is the game's; 0 stands for the contest. A validation game has its number with a minus.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, get_args

from arena_protocol.record import FaultRecord, InfoRecord, PlyRecord
from arena_server.core.facts import (
    Annulled,
    Applied,
    Archived,
    Begun,
    Conduct,
    ContestFact,
    Disqualified,
    Drawn,
    Excluded,
    Extended,
    Forbidden,
    FormerKeys,
    Invited,
    Joined,
    Kept,
    Left,
    Order,
    Paired,
    Penalised,
    Redeemed,
    RegistrationSet,
    Repeat,
    ResumeKeys,
    Ruled,
    RunStateSet,
    Sent,
    Separated,
    Shortened,
    Staged,
    TokenSet,
    TotalSet,
    TrialSet,
    Validated,
    Walkover,
)
from arena_server.core.game_facts import Away, Ended, GameFact, Leased, Offered, Ready, Started
from arena_server.stats.results import PastGame

#: A fact with the number of its game in front, as it is stored.
Entry = tuple[Any, ...]

#: The number under which the contest itself has entries.
CONTEST: Final = 0

_NUMBERS, _TEXTS, _NAMES, _GROUPS = "numbers", "texts or None", "texts", "groups of texts"
_NUMBER_OR_NONE, _TEXT_OR_NONE = (int, type(None)), (str, type(None))
#: The word of each fact in its entry, and the types of its values as msgpack gives them back.
_SHAPES: Final[dict[str, tuple[type, tuple[Any, ...]]]] = {
    "offer": (Offered, (_NAMES, int, _NUMBERS, _TEXTS)),
    "lease": (Leased, (int,)),
    "ready": (Ready, (int,)),
    "away": (Away, (int,)),
    "start": (Started, ()),
    "ply": (PlyRecord, (int, str, int, int, int, _NUMBERS, int, _NUMBERS, bool, int, int)),
    "fault": (FaultRecord, (int, int, str, bytes)),
    "info": (InfoRecord, (int, int, *(_NUMBER_OR_NONE,) * 3, _TEXT_OR_NONE, _TEXT_OR_NONE)),
    "end": (Ended, (_NUMBERS, str)),
    "keys": (ResumeKeys, (str, _TEXTS)),
    "former-keys": (FormerKeys, (str, _TEXTS)),
    "conduct": (Conduct, (str, int, bool, int)),
    "trial": (TrialSet, (str, bool)),
    "validated": (Validated, (str, int, bytes)),
    "repeat": (Repeat, (int, int, int)),
    "excluded": (Excluded, (str,)),
    "annulled": (Annulled, (int, str)),
    "penalised": (Penalised, (str, int)),
    "disqualified": (Disqualified, (str, str, bool)),
    "ruled": (Ruled, (int, int, _NUMBERS, str, _NUMBERS, str, int)),
    "drawn": (Drawn, (int, int, int, _GROUPS)),
    "paired": (Paired, (int, int, int, _GROUPS, bool, bool, str)),
    "forbidden": (Forbidden, (int, int, _NAMES, bool)),
    "walkover": (Walkover, (int, _NAMES, int)),
    "begun": (Begun, (str, int)),
    "run-state": (RunStateSet, (str, str)),
    "archived": (Archived, (str,)),
    "joined": (Joined, (str, int, int, str, str, str, str)),
    "sent": (Sent, (str, bool)),
    "left": (Left, (str, bool)),
    "extended": (Extended, (int, int, int)),
    "shortened": (Shortened, (int, int, int)),
    "games": (TotalSet, (str, int)),
    "separated": (Separated, (int, _NAMES)),
    "token": (TokenSet, (str, str)),
    "kept": (Kept, (str, bytes)),
    "staged": (Staged, (int, str, int, bytes)),
    "invited": (Invited, (int, str, str, int)),
    "redeemed": (Redeemed, (int, str)),
    "registration": (RegistrationSet, (str, str, int, int, bool)),
    "applied": (Applied, (str, bool, str, str, str, str, str, bool, bool)),
    "order": (Order, (int, str, str, str, int, str)),
}
KIND_OF: Final[dict[type, str]] = {fact: kind for kind, (fact, _) in _SHAPES.items()}
_OF_CONTEST: Final = frozenset(get_args(ContestFact))
OFFER: Final = KIND_OF[Offered]
#: Up to layout 6 of the database an offer has no agents, and conduct no validation games. An earlier
#: walkover does not say what was stored before it.
_LEAST_VALUES: Final = {OFFER: 3, KIND_OF[Conduct]: 3, KIND_OF[Walkover]: 2}
REPEAT: Final = KIND_OF[Repeat]
ANNULLED: Final = KIND_OF[Annulled]
RULED: Final = KIND_OF[Ruled]
JOINED: Final = KIND_OF[Joined]
TOTAL: Final = KIND_OF[TotalSet]
VALIDATED: Final = KIND_OF[Validated]
ORDER: Final = KIND_OF[Order]
#: Facts of the contest that its readers need, and that stay when its journal is deleted.
KEPT: Final = frozenset(
    KIND_OF[kind]
    for kind in (
        *(Drawn, Paired, Forbidden, Repeat, Annulled, Walkover, Joined, Left, Extended, Shortened),
        *(TotalSet, Separated, Validated, Order, Archived, Ruled, Penalised, Disqualified, TokenSet),
    )
)


class JournalError(ValueError):
    """Entries that no contest has written; the text is one clear line."""


def entry_of(number: int, fact: GameFact | ContestFact) -> Entry:
    return (number, KIND_OF[type(fact)], *fact)


def fact_of(entry: Entry) -> GameFact | ContestFact:
    """Raises JournalError for an entry that `entry_of` did not make."""
    kind = entry[1] if len(entry) > 1 else None
    shape = _SHAPES.get(kind) if isinstance(kind, str) else None
    if shape is None:
        raise JournalError(f"expected a fact of the journal, found {entry!r:.80}")
    build, types = shape
    values = entry[2:]
    of_contest = build in _OF_CONTEST
    if not _fits(entry[0], int) or (entry[0] == CONTEST) is not of_contest:
        raise JournalError(f"expected the number of {'no' if of_contest else 'a'} game, found {entry!r:.80}")
    least = _LEAST_VALUES.get(entry[1], len(types))
    if not least <= len(values) <= len(types) or not all(map(_fits, values, types)):
        raise JournalError(f"expected the values of a {kind!r} fact, found {entry!r:.80}")
    fact: GameFact | ContestFact = build(*values)
    return fact


def _fits(value: object, kind: Any) -> bool:
    if kind is _NUMBERS:
        return type(value) is tuple and all(type(each) is int for each in value)
    if kind is _NAMES:
        return type(value) is tuple and all(type(each) is str for each in value)
    if kind is _GROUPS:
        return type(value) is tuple and all(_fits(each, _NAMES) for each in value)
    if kind is _TEXTS:
        return type(value) is tuple and all(type(each) in _TEXT_OR_NONE for each in value)
    if isinstance(kind, tuple):
        return type(value) in kind
    return type(value) is kind


@dataclass(frozen=True, slots=True)
class Past:
    """What is durable of an interrupted contest: its results in the order of storing, and its entries."""

    results: tuple[PastGame, ...] = ()
    entries: tuple[Entry, ...] = ()


class Live:
    """The entries that still matter: the last about each thing of the contest, and unfinished games."""

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

    def add(self, entries: Iterable[Entry]) -> list[Entry]:
        """Add entries in the order in which they became durable. Returns those of the contest itself."""
        own = []
        for entry in entries:
            if entry[0] == CONTEST:
                self._contest[entry[1], entry[2]] = entry
                own.append(entry)
                if entry[1] == VALIDATED:
                    self.forget(-entry[3])
                continue
            if entry[1] == OFFER:  # a compacted journal writes a game's entries a second time
                self.forget(entry[0])
            self._games.setdefault(entry[0], []).append(entry)
            self._size += 1
        return own

    def forget(self, number: int) -> None:
        """Drop game `number`: its record is stored."""
        self._size -= len(self._games.pop(number, ()))

    @property
    def contest(self) -> list[Entry]:
        """The contest's own entries, the last about each thing."""
        return list(self._contest.values())

    @property
    def games(self) -> dict[int, list[Entry]]:
        """The entries of each unfinished game by its number."""
        return self._games
