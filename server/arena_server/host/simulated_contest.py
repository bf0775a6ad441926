"""A contest in simulated time: who plays whom, and when each game ends.

    play_out: the contest's format hands out games to bots that are free; a heap has the games that end next

Every bot is present all the time, and makes no fault. Times are whole milliseconds from the beginning of
the contest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from math import inf

from arena_server.core.formats import format_of
from arena_server.core.formats.base import Format, Pairing
from arena_server.core.formats.rounds import Rounds, is_short
from arena_server.stats.results import PastGame
from arena_server.terms.config import ContestConfig, Entrant, early_stop_of


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
