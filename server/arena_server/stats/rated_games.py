"""Games as the ratings see them: who met whom, and how often a pairing ended in each way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Ints = np.ndarray[Any, np.dtype[np.intp]]


Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class RatedGame:
    """A game with its totals in the order of the seats; games of one `pairing` are one observation."""

    names: tuple[str, ...]
    totals: tuple[int, ...]
    pairing: Hashable


def version_of(name: str, agent: str | None) -> str:
    """A version of a bot as a player of its own: name and `agent=`, of which neither has a blank in it."""
    return name if agent is None else f"{name} {agent}"


#: The names of a game by seat, and the place of each: 0 for the most points, equal for equal ones.
Outcome = tuple[tuple[str, ...], tuple[int, ...]]
#: The games of one pairing, in ascending order.
Observation = tuple[Outcome, ...]


def observe(games: Iterable[RatedGame]) -> Counter[Observation]:
    """How often the games of a pairing have ended in each way."""
    pairings: dict[Hashable, list[Outcome]] = {}
    for game in games:
        pairings.setdefault(game.pairing, []).append((game.names, places_of(game.totals)))
    return Counter(tuple(sorted(each)) for each in pairings.values())


def places_of(totals: Sequence[int]) -> tuple[int, ...]:
    """The place of each total: 0 for the highest, equal for equal ones."""
    order = sorted(set(totals), reverse=True)
    return tuple(map(order.index, totals))


@dataclass(frozen=True, slots=True)
class Games:
    """Kinds of games and of pairings, in arrays.

    A game of kind k has the players `seated[k]` (seats; indexes of `names`, which are sorted) with the places
    `places[k]`. Entry e says that pairing `pairing[e]` has a game of kind `kind[e]`; pairing p has occurred
    `counts[p]` times. The entries are in the order of the pairings. Two kinds, or pairings, may be equal.
    """

    names: Sequence[str]
    seated: Ints
    places: Ints
    pairing: Ints
    kind: Ints
    counts: Floats

    @classmethod
    def of(cls, counts: Mapping[Observation, int]) -> Games:
        """Neither the order of games nor that of names makes a difference.

        Raises ValueError for games of different numbers of seats.
        """
        import numpy as np

        numbers: dict[Outcome, int] = {}
        # Each outcome is looked up once: of 140,000 the digests of the names are most of the time.
        flat = [
            numbers.setdefault(outcome, len(numbers)) for observation in counts for outcome in observation
        ]
        seats = _one_number({len(names) for names, _ in numbers})
        names = sorted({name for seated, _ in numbers for name in seated})
        index = {name: number for number, name in enumerate(names)}
        shape = len(numbers), *seats
        seated = np.array([index[name] for each, _ in numbers for name in each], dtype=np.intp).reshape(shape)
        places = np.array([place for _, each in numbers for place in each], dtype=np.intp).reshape(shape)
        order = _order(np.hstack([seated, places])) if numbers else np.zeros(0, dtype=np.intp)
        kind = np.argsort(order)[np.array(flat, dtype=np.intp)]
        sizes = np.array([len(observation) for observation in counts], dtype=np.intp)
        entries = np.full((len(sizes), max(sizes, default=0)), -1, dtype=np.intp)
        pairing = np.repeat(np.arange(len(sizes)), sizes)
        entries[pairing, np.arange(len(kind)) - np.repeat(np.cumsum(sizes) - sizes, sizes)] = kind
        sorted_ = _order(entries) if len(flat) else np.arange(len(sizes))
        entries, number = entries[sorted_], np.array(list(counts.values()), dtype=np.float64)[sorted_]
        pairing, at = np.nonzero(entries >= 0)
        return cls(names, seated[order], places[order], pairing, entries[pairing, at], number)

    @classmethod
    def joined(cls, parts: Iterable[Games]) -> Games:
        """The games of all `parts`. Raises ValueError for games of different numbers of seats."""
        import numpy as np

        parts = [part for part in parts if len(part.counts)]
        _one_number({part.seated.shape[1] for part in parts})
        if len(parts) < 2:
            return parts[0] if parts else cls.of({})
        names = sorted({name for part in parts for name in part.names})
        place = {name: number for number, name in enumerate(names)}
        places = [np.array([place[name] for name in part.names], dtype=np.intp) for part in parts]
        kinds = np.cumsum([0, *(len(part.seated) for part in parts)])
        pairings = np.cumsum([0, *(len(part.counts) for part in parts)])
        return cls(
            names,
            np.concatenate([of[part.seated] for of, part in zip(places, parts, strict=True)]),
            np.concatenate([part.places for part in parts]),
            np.concatenate([part.pairing + first for first, part in zip(pairings, parts, strict=False)]),
            np.concatenate([part.kind + first for first, part in zip(kinds, parts, strict=False)]),
            np.concatenate([part.counts for part in parts]),
        )

    def among(self, field: set[int]) -> Games:
        """The games all of whose players are of `field`."""
        import numpy as np

        chosen = np.array(sorted(field), dtype=np.intp)
        place = np.full(len(self.names), -1, dtype=np.intp)
        place[chosen] = np.arange(len(chosen))
        stays: np.ndarray[Any, np.dtype[np.bool_]] = np.all(place[self.seated] >= 0, axis=1)
        entry = stays[self.kind]
        pairings, pairing = np.unique(self.pairing[entry], return_inverse=True)
        return Games(
            [self.names[each] for each in chosen],
            place[self.seated[stays]],
            self.places[stays],
            pairing,
            (np.cumsum(stays) - 1)[self.kind[entry]],
            self.counts[pairings],
        )

    def kind_counts(self) -> Floats:
        """How many games there are of each kind."""
        import numpy as np

        found = np.bincount(self.kind, self.counts[self.pairing], minlength=len(self.seated))
        return found.astype(np.float64)


class GrowingGames(Generic[Key]):
    """Games that are counted more and more; `observe` says what pairings of a key are.

    It is asked once for each key, so that arrays of many games with few new kinds take no time of Python's.
    """

    def __init__(self, observe: Callable[[Key], Observation]) -> None:
        self._observe = observe
        #: The numbers of what has been seen, in its order.
        self._keys: dict[Key, int] = {}
        self._observations: dict[Observation, int] = {}
        self._outcomes: dict[Outcome, int] = {}
        self._players: dict[str, int] = {}
        #: The arrays of Games; players by their numbers.
        self._seated: list[int] = []
        self._places: list[int] = []
        self._pairing: list[int] = []
        self._kind: list[int] = []
        self._counts: list[int] = []

    def add(self, key: Key, count: int) -> None:
        number = self._keys.get(key)
        if number is None:
            number = self._keys[key] = self._number_of(self._observe(key))
        self._counts[number] += count

    def _number_of(self, observation: Observation) -> int:
        number = self._observations.setdefault(observation, len(self._counts))
        if number == len(self._counts):
            self._counts.append(0)
            self._pairing += [number] * len(observation)
            self._kind += map(self._kind_of, observation)
        return number

    def _kind_of(self, outcome: Outcome) -> int:
        number = self._outcomes.setdefault(outcome, len(self._outcomes))
        if number * len(outcome[0]) == len(self._seated):
            self._seated += [self._players.setdefault(name, len(self._players)) for name in outcome[0]]
            self._places += outcome[1]
        return number

    def games(self) -> Games:
        """All that has been added; without any it has no seats."""
        import numpy as np

        if not self._counts:
            return Games.of({})
        names = sorted(self._players)
        rank = np.empty(len(names), dtype=np.intp)
        rank[[self._players[name] for name in names]] = np.arange(len(names))
        shape = len(self._outcomes), -1
        return Games(
            names,
            rank[np.array(self._seated, dtype=np.intp)].reshape(shape),
            np.array(self._places, dtype=np.intp).reshape(shape),
            np.array(self._pairing, dtype=np.intp),
            np.array(self._kind, dtype=np.intp),
            np.array(self._counts, dtype=np.float64),
        )


def _one_number(seats: set[int]) -> list[int]:
    """The only number of seats, if there is a game."""
    if len(seats) > 1:
        raise ValueError(f"expected games of one number of seats, got {sorted(seats)}")
    return list(seats)


def _order(rows: Ints) -> Ints:
    """The order of rows by their columns, the first column first."""
    import numpy as np

    return np.lexsort(rows.T[::-1])
