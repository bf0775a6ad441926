"""What a season will be like before it begins: its stages, simulated one after another.

The entrants of a stage are those whom the tables of the simulated stages before it give, by the rule of the
server. It begins when these are over; stages that do not wait for each other are played at the same time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from random import Random
from typing import Final

from arena_server.core.formats import format_of
from arena_server.core.formats.base import DrawnFormat
from arena_server.host.forecast import (
    Forecast,
    GamesByChance,
    Pace,
    RandomGame,
    Spread,
    random_games,
    runs_of,
    summary,
)
from arena_server.host.simulated_contest import PlayedContest, play_out
from arena_server.stats.qualifying import RATINGS, FinalOrder, placed, places_by_rating, qualified
from arena_server.stats.results import GameResult
from arena_server.stats.standings import Standings
from arena_server.terms.config import ContestConfig, game_of
from arena_server.terms.file import config_of, entrants_of
from arena_server.terms.stages import SeasonStage

#: The name of the file in errors; none is expected, because all bots of all stages are there.
_SOURCE: Final = "simulation"


@dataclass(frozen=True, slots=True)
class StageLimits:
    """Of a stage: when it is closed if it has no end of its own, and the `cores` of `play_out`."""

    until: int
    cores: float | None = None


@dataclass(frozen=True, slots=True)
class StageForecast:
    """A stage of `bots`; it `begins` and `ends` in milliseconds from the beginning of the season."""

    stage: str
    format: str
    bots: Spread
    begins: Spread
    ends: Spread
    forecast: Forecast


@dataclass(frozen=True, slots=True)
class SeasonForecast:
    """What `runs` simulated seasons were like."""

    runs: int
    duration: Spread
    stages: tuple[StageForecast, ...]


@dataclass(slots=True)
class _SimulatedStage:
    """One stage of one simulated season."""

    contest: PlayedContest
    begins: int
    orders: dict[str, FinalOrder]

    @property
    def ends(self) -> int:
        return self.begins + self.contest.ms


def forecast_season(
    stages: Sequence[SeasonStage],
    limits: Sequence[StageLimits],
    pace: Pace,
    seed: int,
    runs: int | None = None,
) -> SeasonForecast:
    """Simulate the season several times; the same arguments give the same result. Raises UserError."""
    samples = [random_games(game_of(config_of(stage.file)), seed) for stage in stages]
    played: list[dict[str, _SimulatedStage]] = []
    for number in count():
        season: dict[str, _SimulatedStage] = {}
        for place, stage in enumerate(stages):
            rng = Random(f"{seed} {number} {place}")  # noqa: S311 - statistics, not secrets
            season[stage.name] = _play(stage, limits[place], season, samples[place], pace, rng)
        for run in season.values():  # only the next stages need them
            run.contest.form = run.contest.results = None
        played.append(season)
        games = sum(run.contest.played for run in played[0].values())
        if len(played) >= (runs or runs_of(games)):
            break
    ends = [max(run.ends for run in season.values()) for season in played]
    return SeasonForecast(
        len(played),
        Spread.of(ends),
        tuple(_stage(stage, [season[stage.name] for season in played]) for stage in stages),
    )


def _play(
    stage: SeasonStage,
    limits: StageLimits,
    before: Mapping[str, _SimulatedStage],
    sample: Sequence[RandomGame],
    pace: Pace,
    rng: Random,
) -> _SimulatedStage:
    file = stage.file
    if stage.sources:
        orders = {
            (name, source.by): before[name].orders[source.by]
            for source in stage.sources
            for name in source.stages
        }
        file = stage.seated(qualified(stage.sources, orders), _SOURCE)
    config = replace(config_of(file), seed=rng.getrandbits(256))
    names, seats = [bot.name for bot in file.bot], game_of(config).seats
    until = limits.until if is_open(config, names) else None
    outcome = GamesByChance(config, names, sample, pace, rng)
    contest = play_out(config, entrants_of(file), seats, outcome, until, limits.cores, keep=True)
    begins = max((before[name].ends for name in stage.upstream), default=0)
    return _SimulatedStage(contest, begins, _Orders(config, names, contest))


class _Orders(dict[str, FinalOrder]):
    """The final orders of a simulated contest, each made when it is asked for."""

    def __init__(self, config: ContestConfig, names: Sequence[str], contest: PlayedContest) -> None:
        super().__init__()
        self._config, self._names, self._contest = config, names, contest

    def __missing__(self, by: str) -> FinalOrder:
        config, form, results = self._config, self._contest.form, self._contest.results
        assert form is not None
        assert results is not None
        unplayed = form.not_played if isinstance(form, DrawnFormat) else dict
        table = Standings(self._names, config.scoring, config.tie_breaks, config.seed, form.scores, unplayed)
        for game in results:
            table.add(GameResult(game.names, game.totals, plies=game.plies, deal=game.deal))
        places = placed((row.rank, row.name) for row in table.rows())
        if by == RATINGS:
            from arena_server.stats.rated_games import RatedGame
            from arena_server.stats.ratings import fit

            games = (RatedGame(game.names, game.totals, game.number) for game in results)
            places = places_by_rating(FinalOrder(places, secret=config.seed).names, fit(games))
        self[by] = FinalOrder(places, secret=config.seed)
        return self[by]


def is_open(config: ContestConfig, names: Sequence[str]) -> bool:
    """Whether a contest of these bots has no end of its own."""
    return format_of(config, names, game_of(config).seats).total is None


def _stage(stage: SeasonStage, runs: Sequence[_SimulatedStage]) -> StageForecast:
    config = config_of(stage.file)
    open_ = is_open(config, [bot.name for bot in stage.file.bot])
    return StageForecast(
        stage.label,
        config.format,
        Spread.of([len(run.contest.games) for run in runs]),
        Spread.of([run.begins for run in runs]),
        Spread.of([run.ends for run in runs]),
        summary([run.contest for run in runs], is_open=open_),
    )
