"""Which workers stand out: slower or faster than the others, with more time-outs, or kinder to a bot.

Games of the same players in the same seats are a group. Each game of a worker is paired with one of another
worker in its group, by the order in which games were given out, before any of them had a value. If workers
are equal, either game of a pair is as likely to have the larger value, whatever bots and games are. With `a`
pairs in which the worker's value was larger, and `b` in which it was smaller, the evidence against it is

    e = 2^n a! b! / (n + 1)!      n = a + b

the mean capital of all who bet a constant share of it on one side at each pair. Among equal workers its mean
is 1 after any number of pairs, so the chance that it ever reaches 1/x is at most x (J. Ville, 1939): it may
be looked at after each game. ALPHA is divided among the workers, in the order of their first games, and among
what is compared: the chance that any worker is named in a contest of equal workers is at most ALPHA.
"""

from __future__ import annotations

import math
from bisect import insort
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from arena_protocol.record import VOID, FaultKind
from arena_server.stats.results import PastGame

ALPHA: Final = 0.01
#: How many games of a group wait for their pair: the newest ones.
KEPT: Final = 4

#: What is said of a worker with more, and of one with less.
_Words = tuple[str, str]
TIME: Final = "its games take longer", "its games take less time"
TIMEOUTS: Final = "it has more time-outs", "it has fewer time-outs"
POINTS: Final = "{} gets more points there", "{} gets fewer points there"


@dataclass(frozen=True, slots=True)
class StandsOut:
    """A worker that stands out after `games` results, and how; `chance` bounds that of equal workers."""

    worker: str
    what: str
    games: int
    chance: float


@dataclass(slots=True)
class PairCount:
    """In how many pairs the value of a worker was larger, and in how many it was smaller."""

    above: int = 0
    below: int = 0

    def add(self, own: float, other: float) -> None:
        """A value that is NaN does not count."""
        self.above += own > other
        self.below += own < other

    @property
    def chance(self) -> float:
        """At most how likely as much evidence is, at any time, if the worker is equal to the others."""
        pairs = self.above + self.below
        evidence = (
            pairs * math.log(2)
            + math.lgamma(self.above + 1)
            + math.lgamma(self.below + 1)
            - math.lgamma(pairs + 2)
        )
        return min(1.0, math.exp(-evidence))


def share_of(rank: int) -> float:
    """The share of ALPHA for the worker with this rank (1, 2, ...); all shares together are 1."""
    return 1 / (rank * (rank + 1))


#: What is compared of a game: its values by what is said of them.
_Values = dict[_Words, float]


@dataclass(slots=True)
class _Group:
    """Games of the same players in the same seats, and those of each worker's pairs that wait."""

    #: The games that were given out, by number; their results are taken in this order.
    open: list[int] = field(default_factory=list)
    done: dict[int, tuple[str, _Values] | None] = field(default_factory=dict)
    #: By worker: games of its own that wait for one of the others (True), or the reverse.
    waiting: dict[str, deque[tuple[bool, _Values]]] = field(default_factory=dict)


class Comparison:
    """The workers of a contest of a number of `bots`, compared game by game."""

    def __init__(self, bots: int, alpha: float = ALPHA) -> None:
        self._alpha = alpha
        self._bots = max(1, bots)
        self._groups: dict[tuple[str, ...], _Group] = {}
        self._group_of: dict[int, _Group] = {}
        self._tallies: dict[str, dict[_Words, PairCount]] = {}
        self._games = 0
        #: Who stands out, in the order in which it was found.
        self.found: list[StandsOut] = []

    def given_out(self, number: int, names: Sequence[str]) -> None:
        """A worker is to play a game: it is compared when its result is added."""
        group = self._groups.setdefault(tuple(names), _Group())
        if number not in self._group_of:
            insort(group.open, number)
            self._group_of[number] = group

    def add(self, game: PastGame, worker: str) -> list[StandsOut]:
        """Take the result of a game; returns who stands out from now on."""
        self.given_out(game.number, game.names)
        counts = game.end != VOID and bool(worker)
        return self._done(game.number, (worker, _values(game)) if counts else None)

    def drop(self, number: int) -> list[StandsOut]:
        """A game that was given out has no result; returns who stands out from now on."""
        return self._done(number, None) if number in self._group_of else []

    def evidence(self, worker: str) -> float:
        """The least chance of what is known of the points of bots on this worker."""
        tallies = self._tallies.get(worker, {})
        return min((tally.chance for words, tally in tallies.items() if _is_points(words)), default=1.0)

    def _done(self, number: int, result: tuple[str, _Values] | None) -> list[StandsOut]:
        group = self._group_of.pop(number)
        group.done[number] = result
        named = len(self.found)
        while group.open and group.open[0] in group.done:
            if (next_one := group.done.pop(group.open.pop(0))) is not None:
                self._games += 1
                self._take(group, *next_one)
        return self.found[named:]

    def _take(self, group: _Group, worker: str, values: _Values) -> None:
        """Pair a game of a worker in its own comparison, and in that of each other worker."""
        self._tallies.setdefault(worker, {})
        for rank, (each, tallies) in enumerate(self._tallies.items(), start=1):
            mine = each == worker
            waiting = group.waiting.setdefault(each, deque(maxlen=KEPT))
            if not waiting or waiting[0][0] == mine:
                waiting.append((mine, values))
                continue
            other = waiting.popleft()[1]
            own, others = (values, other) if mine else (other, values)
            for words in own:
                tally = tallies.setdefault(words, PairCount())
                tally.add(own[words], others[words])
                self._look(each, rank, words, tally)

    def _look(self, worker: str, rank: int, words: _Words, tally: PairCount) -> None:
        # Half for time and time-outs, half for the points of all bots.
        share = 0.5 / self._bots if _is_points(words) else 0.25
        what = words[tally.above < tally.below]
        if tally.chance <= self._alpha * share_of(rank) * share and not any(
            each.worker == worker and each.what == what for each in self.found
        ):
            self.found.append(StandsOut(worker, what, self._games, tally.chance))


def _is_points(words: _Words) -> bool:
    return words not in (TIME, TIMEOUTS)


def points_of(bot: str) -> _Words:
    """What is said of a worker where this bot has more points, and where it has fewer."""
    return POINTS[0].format(bot), POINTS[1].format(bot)


def _values(game: PastGame) -> _Values:
    timeouts = sum(kind == FaultKind.TIMEOUT for _, kind in game.faults)
    points = zip(game.names, margins(game.totals), strict=True)
    return {TIME: _time(game), TIMEOUTS: timeouts, **{points_of(bot): margin for bot, margin in points}}


def _time(game: PastGame) -> float:
    return sum(game.used_ms) / game.plies if game.plies and game.used_ms else math.nan


def margins(totals: Sequence[int]) -> Iterator[int]:
    """The points of each seat above the best of the others."""
    for seat, own in enumerate(totals):
        yield own - max((total for other, total in enumerate(totals) if other != seat), default=0)
