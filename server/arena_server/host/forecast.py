"""What a contest will be like, before it begins: rounds, games and duration, from simulated contests.

    sample: games of random moves -> plies and totals      pace: how long a bot thinks      both by chance
    forecast: many contests of them (`simulated_contest.py`)
              -> what one contest of ten stays below, the median, what nine of ten stay below

Every bot is as strong as the others. Times are whole milliseconds from the beginning of the contest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import count
from random import Random
from typing import Any, Final

from arena_protocol.games.base import Game
from arena_server.core.clock import TimeControl
from arena_server.core.formats import format_of
from arena_server.core.formats.base import Pairing
from arena_server.host.simulated_contest import PlayedContest, SimulatedGame, play_out
from arena_server.terms.config import (
    ContestConfig,
    Entrant,
    game_of,
)

#: The games of random moves that a forecast draws from: their plies in all, and bounds of their number.
SAMPLE_PLIES: Final = 6_000
LEAST_SAMPLE, MOST_SAMPLE = 10, 300
#: How many games are simulated in all, in a number of contests within bounds. They take about a second.
SIMULATED_GAMES: Final = 10_000
LEAST_RUNS, MOST_RUNS = 3, 100
#: How much the mean time of a bot differs from that of all bots at most.
SPEED_SPREAD: Final = 0.8
#: How much a bot's time in a game differs from its mean at most.
GAME_SPREAD: Final = 0.25


@dataclass(frozen=True, slots=True)
class Pace:
    """How long bots think: in the mean a `share` of the time that the clock gives, or `move_ms` a move.

    A bot has a pace of its own, from a fifth of the mean to nine fifths, and never exceeds its clock.
    """

    share: float = 0.5
    move_ms: int | None = None


@dataclass(frozen=True, slots=True)
class RandomGame:
    """A game of random moves: the points and the plies of each seat."""

    totals: tuple[int, ...]
    plies: tuple[int, ...]


@lru_cache(maxsize=16)  # all formats beside each other, and the stages of a season, ask for the same again
def random_games(game: Game[Any], seed: int) -> tuple[RandomGame, ...]:
    rng = Random(f"{seed}")  # noqa: S311 - statistics, not secrets
    games: list[RandomGame] = []
    plies = 0
    while len(games) < LEAST_SAMPLE or (plies < SAMPLE_PLIES and len(games) < MOST_SAMPLE):
        games.append(_random_game(game, rng))
        plies += sum(games[-1].plies)
    return tuple(games)


def _random_game(game: Game[Any], rng: Random) -> RandomGame:
    deal = game.deal(rng.getrandbits(64))
    position = game.start(deal)
    plies = [0] * game.seats
    while game.end(position) is None:
        plies[game.to_move(position) - 1] += 1
        position = game.play(position, rng.choice(game.legal_moves(position))).position
    return RandomGame(game.totals(position), tuple(plies))


class GamesByChance:
    """Gives each game of a contest an outcome."""

    def __init__(
        self,
        config: ContestConfig,
        names: Sequence[str],
        sample: Sequence[RandomGame],
        pace: Pace,
        rng: Random,
    ) -> None:
        self._sample, self._pace, self._rng = sample, pace, rng
        self._speed = {name: rng.uniform(1 - SPEED_SPREAD, 1 + SPEED_SPREAD) for name in names}
        self._most = _most_time(config)

    def __call__(self, pairing: Pairing) -> SimulatedGame:
        game = self._rng.choice(self._sample)
        ms = sum(map(self._time, pairing.names, game.plies))
        return SimulatedGame(ms, game.totals, sum(game.plies))

    def _time(self, name: str, plies: int) -> int:
        most = self._most(plies)
        mean = self._pace.share * most if self._pace.move_ms is None else self._pace.move_ms * plies
        factor = self._speed[name] * self._rng.uniform(1 - GAME_SPREAD, 1 + GAME_SPREAD)
        return min(most, round(mean * factor))


def _most_time(config: ContestConfig) -> Callable[[int], int]:
    """The longest time, by number of plies, that a seat can take without a fault."""
    first, later = TimeControl.of(config, first=True), TimeControl.of(config)

    @cache
    def most(plies: int) -> int:
        clock, total = first.bank, 0
        for ply in range(plies):
            control = later if ply else first
            charge = control.allowance(clock) - control.margin
            total += charge
            clock = control.after(clock, charge)
        return total

    return most


# -- many contests


@dataclass(frozen=True, slots=True)
class Spread:
    """What a tenth of the contests stay below, half of them, and nine tenths."""

    p10: int
    p50: int
    p90: int

    @classmethod
    def of(cls, values: Sequence[int]) -> Spread:
        ordered = sorted(values)
        return cls(*(ordered[round(share * (len(ordered) - 1))] for share in (0.1, 0.5, 0.9)))


@dataclass(frozen=True, slots=True)
class RoundForecast:
    """`in_runs` of the simulated contests have this round."""

    games: Spread
    ends: Spread
    in_runs: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """What `runs` simulated contests were like; `least` and `most` are games of one bot.

    `rounds` is empty for a format without rounds. `is_open`: it was closed at the end of the time given.
    `short`: in how many of them a round that was planned could not be drawn.
    """

    runs: int
    games: Spread
    least: Spread
    most: Spread
    duration: Spread
    rounds: tuple[RoundForecast, ...]
    at_once: int
    is_open: bool
    short: int = 0


def forecast(
    config: ContestConfig,
    entrants: Sequence[Entrant],
    pace: Pace,
    seed: int,
    *,
    runs: int | None = None,
    until: int | None = None,
    cores: float | None = None,
) -> Forecast:
    """Simulate the contest several times; the same arguments give the same result.

    A contest that is open ends at the moment `until`, any other by itself. More games at once than `cores`
    slow each other. Raises ContestConfigError.
    """
    game = game_of(config)
    names = [entrant.name for entrant in entrants]
    sample = random_games(game, seed)
    is_open = format_of(config, names, game.seats).total is None
    played: list[PlayedContest] = []

    def contests() -> Iterator[PlayedContest]:
        for number in count():
            rng = Random(f"{seed} {number}")  # noqa: S311 - statistics, not secrets
            secret = replace(config, seed=rng.getrandbits(256))
            outcome = GamesByChance(secret, names, sample, pace, rng)
            yield play_out(secret, entrants, game.seats, outcome, until if is_open else None, cores)

    for contest in contests():
        played.append(contest)
        if len(played) >= (runs or runs_of(played[0].played)):
            break
    return summary(played, is_open=is_open)


def runs_of(games: int) -> int:
    """How many contests of about this many games are simulated."""
    return min(MOST_RUNS, max(LEAST_RUNS, SIMULATED_GAMES // max(1, games)))


def summary(played: Sequence[PlayedContest], *, is_open: bool) -> Forecast:
    last = max((max(contest.rounds, default=0) for contest in played), default=0)
    return Forecast(
        runs=len(played),
        games=Spread.of([contest.played for contest in played]),
        least=Spread.of([min(contest.games.values()) for contest in played]),
        most=Spread.of([max(contest.games.values()) for contest in played]),
        duration=Spread.of([contest.ms for contest in played]),
        rounds=tuple(_round(played, number) for number in range(1, last + 1)),
        at_once=max(contest.at_once for contest in played),
        is_open=is_open,
        short=sum(contest.short for contest in played),
    )


def _round(played: Sequence[PlayedContest], number: int) -> RoundForecast:
    # A round of byes alone has no game.
    found: list[Mapping[int, tuple[int, int]]] = [
        contest.rounds for contest in played if number in contest.rounds
    ]
    games, ends = zip(*(rounds[number] for rounds in found), strict=True)
    return RoundForecast(Spread.of(games), Spread.of(ends), len(found))
