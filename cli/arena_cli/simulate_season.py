"""`arena simulate` of a file with stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from arena_cli.options import print_json, span
from arena_cli.tables import Cell, Column, ResultTable

if TYPE_CHECKING:
    from arena_server.host.forecast import Pace, Spread
    from arena_server.host.season_forecast import SeasonForecast, StageForecast, StageLimits
    from arena_server.terms.stages import SeasonStage


def simulate_season(
    stages: Sequence[SeasonStage],
    limits: Sequence[StageLimits],
    pace: Pace,
    seed: int,
    runs: int | None,
    assumed: Sequence[str],
    *,
    as_json: bool,
) -> None:
    """Print what a season will be like; `assumed` is what is said of machine and bots."""
    from arena_server.host.season_forecast import forecast_season

    found = forecast_season(stages, limits, pace, seed, runs)
    if as_json:
        print_json({"season": stages[0].season, "seed": seed, **asdict(found)})
        return
    _table(stages[0].season, found).print()
    typer.echo(f"{found.runs} simulated seasons, seed {seed}")
    for line in assumed:
        typer.echo(line)
    one_by_one = sum(stage.forecast.duration.p50 for stage in found.stages)
    typer.echo(
        f"stages are played at once as by arena serve; arena tournament takes {span(one_by_one)} (median)"
    )
    for stage, limit in zip(found.stages, limits, strict=True):
        if stage.forecast.is_open:
            closed = f"it is closed after {span(limit.until)} of play"
            typer.echo(f"stage {stage.stage} has no end of its own: {closed}")
        if stage.forecast.short:
            typer.echo(f"stage {stage.stage} ends before its last round in {stage.forecast.short} of them")


def _table(season: str, found: SeasonForecast) -> ResultTable:
    words = ("bots", "games", "begins", "ends: 1 of 10 below", "median", "9 of 10 below")
    heads = [Column("stage", is_text=True), Column("format", is_text=True), *map(Column, words)]
    rows = [_row(stage) for stage in found.stages]
    rows.append(["the season", None, None, None, None, *_spans(found.duration)])
    return ResultTable(f"{season}: {len(found.stages)} stages", heads, rows)


def _row(stage: StageForecast) -> list[Cell]:
    begins, games = span(stage.begins.p50), stage.forecast.games.p50
    return [stage.stage, stage.format, stage.bots.p50, games, begins, *_spans(stage.ends)]


def _spans(spread: Spread) -> list[Cell]:
    return [span(ms) for ms in (spread.p10, spread.p50, spread.p90)]
