"""Ladders for tests: bots that come and go, and fields of known strengths."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as made
from heapq import heappop, heappush
from itertools import combinations
from random import Random

from arena_server.core.formats.base import Pairing
from arena_server.core.formats.ladder import (
    Ladder,
)
from arena_server.stats.results import PastGame
from arena_server.terms.formats import Terms


def ladder(names: list[str], seats: int = 2, *, games: int = 0, paired: bool = False) -> Ladder:
    """A ladder whose bots have not come yet."""
    return Ladder(Terms(tuple(names), seats, seats, paired, {"games": games} if games else {}))


def open_to(form: Ladder, *names: str, games: int = 1) -> Ladder:
    """The same to which these bots have come, each free for `games` games."""
    for name in names:
        form.enter(name)
        form.free(name, games)
    return form


def taken(form: Ladder) -> list[Pairing]:
    """Every game that starts now."""
    return list(iter(form.next, None))


def over(form: Ladder, game: Pairing, *totals: int) -> None:
    """A game is over, and its bots are free; the first of its seats has won unless there are `totals`."""
    won = totals or (1,) + (0,) * (len(game.names) - 1)
    form.result(PastGame(game.number, game.names, game.deal, won, "complete", 1))
    for name in game.names:
        form.free(name, 1)


@dataclass
class Field:
    """Bots of known strengths whose games take between half a minute and one and a half.

    `slow` bots take 50 times as long.
    """

    names: list[str]
    rng: Random
    strengths: dict[str, float] = made(default_factory=dict)
    slow: frozenset[str] = frozenset()
    seats: int = 2
    paired: bool = False
    kind: type[Ladder] = Ladder

    def __post_init__(self) -> None:
        self.form = self.kind(Terms(tuple(self.names), self.seats, self.seats, self.paired))
        self.games: list[Pairing] = []
        self.busy: list[tuple[float, int, Pairing]] = []
        self.time = 0.0
        open_to(self.form, *self.names)

    def play(self, games: int) -> None:
        """Play until this many games more are over."""
        self.start()
        for _ in range(games):
            self.time, _, game = heappop(self.busy)
            over(self.form, game, *self.totals(game))
            self.start()

    def start(self) -> None:
        for game in taken(self.form):
            self.games.append(game)
            took = self.rng.uniform(0.5, 1.5) * (50 if self.slow & set(game.names) else 1)
            heappush(self.busy, (self.time + took, game.number, game))

    def totals(self, game: Pairing) -> list[int]:
        """The stronger one is likelier to have more: by the model of Bradley, Terry and Luce."""
        weights = [10 ** (self.strengths.get(name, 0) / 400) for name in game.names]
        (winner,) = self.rng.choices(range(len(game.names)), weights)
        return [int(seat == winner) for seat in range(len(game.names))]


def in_order(strengths: dict[str, float], ratings: dict[str, float]) -> float:
    """The share of pairs that two lists of numbers have in the same order."""
    pairs = list(combinations(strengths, 2))
    same = sum((strengths[a] - strengths[b]) * (ratings[a] - ratings[b]) > 0 for a, b in pairs)
    return same / len(pairs)


class Crowd:
    """Bots with one place or two that come and go; any game may take long, or be void and played again."""

    def __init__(self, names: list[str], seats: int, paired: bool, rng: Random) -> None:
        self.names, self.rng = names, rng
        self.form = ladder(names, seats, paired=paired)
        self.places = {name: rng.choice((1, 1, 2)) for name in names}
        self.here: set[str] = set()
        self.running: list[Pairing] = []
        self.repeats: dict[int, Pairing] = {}
        self.ended: list[PastGame] = []
        #: Whose place may have been kept for a game that is owed, in the last step.
        self.owing: set[str] = set()

    def step(self) -> None:
        """One bot comes or goes, or one game ends."""
        self.owing = set()
        kind = self.rng.choice("ccgeeeeev")
        away = [name for name in self.names if name not in self.here]
        if kind == "c" and away:
            self.here.add(name := self.rng.choice(away))
            self.form.enter(name)
            self.set_free(name)
        elif kind == "g" and self.here:
            self.here.discard(name := self.rng.choice(sorted(self.here)))
            self.form.withdraw(name)
        elif kind in "ev" and self.running:
            self.end(self.running.pop(self.rng.randrange(len(self.running))), void=kind == "v")

    def end(self, game: Pairing, *, void: bool) -> None:
        if void:
            number = self.form.next_number
            self.repeats[number] = Pairing(number, game.names, game.deal)
            self.form.again(self.repeats[number], game.number)
            self.owing = set(game.names)
        else:
            totals = tuple(self.rng.choices((0, 1, 2), k=len(game.names)))
            self.ended.append(PastGame(game.number, game.names, game.deal, totals, "complete", 1))
            self.form.result(self.ended[-1])
        for name in game.names:
            if name in self.here:
                self.set_free(name)

    def set_free(self, name: str) -> None:
        self.form.free(name, self.places[name] - sum(name in game.names for game in self.running))

    def hand_out(self) -> Pairing | None:
        if (game := self.form.next()) is not None:
            self.running.append(game)
        return game

    def is_drawn(self, game: Pairing) -> bool:
        """Whether those who wait were drawn for it; else it was owed."""
        return game.number == game.deal and game.number not in self.repeats


def void(form: Ladder, game: Pairing, *, paired: bool = False) -> Pairing:
    """Break a game off, to be played again."""
    number = form.next_number
    again = Pairing(number, game.names, game.deal if paired else number)
    form.void(game.number)
    form.again(again, game.number)
    for name in game.names:
        form.free(name, 1)
    return again
