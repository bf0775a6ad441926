"""What a contest will be like, before it begins: rounds, games and duration, from simulated contests.

    sample: games of random moves -> plies and totals      pace: how long a bot thinks      both by chance
    play_out: the contest's format hands out games to bots that are free; a heap has the games that end next
    forecast: many of them -> what one contest of ten stays below, the median, what nine of ten stay below

Every bot is present all the time, makes no fault, and is as strong as the others. Times are whole
milliseconds from the beginning of the contest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from heapq import heappop, heappush
from itertools import count
from math import inf
from random import Random
from typing import Any, Final

from arena_protocol.games.base import Game
from arena_server.core.clock import TimeControl
from arena_server.core.formats import format_of
from arena_server.core.formats.base import Format, Pairing
from arena_server.core.formats.rounds import Rounds, is_short
from arena_server.stats.results import PastGame
from arena_server.terms.config import (
    ContestConfig,
    Entrant,
    early_stop_of,
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
class SimulatedGame:
    """How a game goes: how long it takes, and its points."""

    ms: int
    totals: tuple[int, ...]
    plies: int


@dataclass(slots=True)
class PlayedContest:
    """A contest that was simulated. `rounds` has games and end of each, none where a format has no rounds.

    `short`: a round that was planned could not be drawn. `separated`: the first bots, if it ended early
    because they are certain (`contest.stop`). `form` and `results` are what the table is made of, where
    that was asked for.
    """

    games: Counter[str]
    rounds: dict[int, tuple[int, int]] = field(default_factory=dict)
    played: int = 0
    at_once: int = 0
    ms: int = 0
    complete: bool = False
    short: bool = False
    separated: tuple[str, ...] = ()
    form: Format | None = None
    results: list[PastGame] | None = None

    def add(self, round_: int | None, game: PastGame, end: int) -> None:
        self.played += 1
        self.ms = end
        self.games.update(game.names)
        if self.results is not None:
            self.results.append(game)
        if round_ is not None:
            games, _ = self.rounds.get(round_, (0, 0))
            self.rounds[round_] = games + 1, end


class Clockwork:
    """The bots of a contest, the games that run, and what ends next; `now` is when the last of them ended.

    In each game one bot thinks at a time. With more games than `cores` all of them go on slower, so the
    end of a game is known in milliseconds of thinking, of which `_thought` have passed in every game.
    """

    def __init__(self, entrants: Sequence[Entrant], rest_ms: int, cores: float | None = None) -> None:
        self._free = {entrant.name: entrant.concurrency for entrant in entrants}
        self._rest_ms, self._cores = rest_ms, cores
        self._order = count()
        self._games: list[tuple[float, int, Pairing]] = []
        self._rests: list[tuple[float, int, tuple[str, ...]]] = []
        self.running: dict[int, SimulatedGame] = {}
        self._now = self._thought = 0.0

    @property
    def now(self) -> int:
        return round(self._now)

    def begin(self, pairing: Pairing, outcome: SimulatedGame) -> None:
        for name in pairing.names:
            self._free[name] -= 1
        self.running[pairing.number] = outcome
        # The order of the games decides between two that end in the same moment.
        heappush(self._games, (self._thought + outcome.ms, next(self._order), pairing))

    def advance(self, form: Format) -> PastGame | None:
        """The next thing that ends: a game, whose result the format gets, or the rest of its players."""
        slower = 1.0 if self._cores is None else max(1.0, len(self.running) / self._cores)
        ends = self._now + (self._games[0][0] - self._thought) * slower if self._games else inf
        if self._rests and self._rests[0][:2] < (ends, self._games[0][1] if self._games else 0):
            at, _, names = heappop(self._rests)
            self._thought += (at - self._now) / slower
            self._now = at
            self._release(names, form)
            return None
        self._now = ends
        self._thought, _, pairing = heappop(self._games)
        outcome = self.running.pop(pairing.number)
        game = PastGame(
            pairing.number, pairing.names, pairing.deal, outcome.totals, "complete", outcome.plies
        )
        form.result(game)
        if self._rest_ms:
            heappush(self._rests, (self._now + self._rest_ms, next(self._order), pairing.names))
        else:
            self._release(pairing.names, form)
        return game

    def _release(self, names: tuple[str, ...], form: Format) -> None:
        for name in names:
            self._free[name] += 1
            form.free(name, self._free[name])


def play_out(
    config: ContestConfig,
    entrants: Sequence[Entrant],
    seats: int,
    outcome: Callable[[Pairing], SimulatedGame],
    until: int | None = None,
    cores: float | None = None,
    *,
    keep: bool = False,
) -> PlayedContest:
    """Play a contest; from the moment `until` no game begins any more. Raises ContestConfigError.

    More games at once than `cores` slow each other. With `keep` its table can be made.
    """
    names = [entrant.name for entrant in entrants]
    form = format_of(config, names, seats)
    early_stop = early_stop_of(config, names, form.total, seats)
    for entrant in entrants:
        form.enter(entrant.name)
        form.free(entrant.name, entrant.concurrency)
    clockwork = Clockwork(entrants, config.rest_ms, cores)
    contest = PlayedContest(Counter(dict.fromkeys(names, 0)), results=[] if keep else None)
    rounds = _Rounds(form)
    while (until is None or clockwork.now < until) and not contest.separated:
        for pairing in iter(form.next, None):
            rounds.begin(pairing)
            clockwork.begin(pairing, outcome(pairing))
        contest.at_once = max(contest.at_once, len(clockwork.running))
        if not clockwork.running:
            if (draw := form.draw_due(())) is not None:
                form.drawn(draw.run())
                rounds.drawn()
                continue
            if form.exhausted(()):
                contest.short = is_short(form)
                contest.complete = not contest.short
                break
        if (ended := clockwork.advance(form)) is not None:
            contest.add(rounds.end(ended), ended, clockwork.now)
            if early_stop is not None:
                contest.separated = early_stop.add(ended)
    while clockwork.running:
        if (ended := clockwork.advance(form)) is not None:
            contest.add(rounds.end(ended), ended, clockwork.now)
    contest.form = form if keep else None
    return contest


class _Rounds:
    """Of which round (1, 2, ...) each game is: of the draws so far, or of the meetings of its players."""

    def __init__(self, form: Format) -> None:
        self.draws = 0
        self._form = form
        self._draws = form.DRAWS
        self._planned = next(form.planned(1, 2), None) is not None
        self._met: Counter[frozenset[str]] = Counter()
        self._of: dict[int, int] = {}

    def drawn(self) -> None:
        # Games that decide a tied pairing of a knockout are of its level.
        self.draws = len(self._form.draws.rounds) if isinstance(self._form, Rounds) else self.draws + 1

    def begin(self, pairing: Pairing) -> None:
        if self._draws:
            self._of[pairing.number] = self.draws
        elif self._planned:
            players = frozenset(pairing.names)
            self._met[players] += 1
            self._of[pairing.number] = self._met[players]

    def end(self, game: PastGame) -> int | None:
        return self._of.pop(game.number, None)


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
