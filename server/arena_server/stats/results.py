"""The result of a game, as tables and ratings take it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PastGame:
    """A game whose record is stored: its result stands. `faults` are (name, kind).

    `deal` is the number of its deal among those of its players, 0 if an earlier version kept none.
    `used_ms` is the time charged to each seat, `agents` what each bot called its program; an earlier
    version kept neither, and they are empty.
    """

    number: int
    names: tuple[str, ...]
    deal: int
    totals: tuple[int, ...]
    end: str
    plies: int
    faults: tuple[tuple[str, str], ...] = ()
    used_ms: tuple[int, ...] = ()
    agents: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class GameResult:
    """How a game ended: `totals` and `used_ms` in the order of `names`; `faults` are (name, kind).

    `used_ms` is empty where it is not known. Several `games` of the same names by seat, each with the same
    order of its totals, are one value of sums: what was more in each game is more in the sum. `plies` is the
    sum of theirs, `deal` the number of the deal among those of the players, 0 if it is not known.
    """

    names: tuple[str, ...]
    totals: tuple[int, ...]
    faults: tuple[tuple[str, str], ...] = ()
    used_ms: tuple[int, ...] = ()
    games: int = 1
    plies: int = 0
    deal: int = 0
