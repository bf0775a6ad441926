"""`arena tournament` of a file with stages: one server after another, each on the same ports.

the stages before are over -> who comes (store.stages) -> a server and the bots of this stage -> its table
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import typer

from arena_cli.options import print_json
from arena_cli.progress import TournamentDisplay
from arena_cli.results import open_results, print_standings, standings_json, unplayed_message
from arena_cli.season import Season, SeatedContest, with_begun
from arena_cli.tables import Cell, Column, ResultTable
from arena_server.core.life import FINAL, FINISHED
from arena_server.errors import ArenaError, ConfigError, StoreError
from arena_server.store.database import database_of

if TYPE_CHECKING:
    from arena_server.store.stages import BegunStage
    from arena_server.terms.stages import SeasonStage


class StageDisplay(TournamentDisplay):
    """The display of a stage; as JSON all stages are printed together at the end."""

    def show_outcome(self) -> None:
        if self._json:
            self.stop()
        else:
            super().show_outcome()

    @property
    def ports(self) -> dict[str, int]:
        """Where bots and browsers found this stage, and are to find the next."""
        found = {} if self.address is None else {"port": int(self.address.rpartition(":")[2])}
        web = None if self.url is None else urlsplit(self.url.split()[0]).port
        return found if web is None else {**found, "web_port": web}


@dataclass(slots=True)
class SeasonOutcome:
    """What became of the stages so far, and what went wrong first."""

    documents: list[dict[str, Any]] = field(default_factory=list)
    problem: str = ""

    def add(self, stage: SeasonStage, document: Mapping[str, Any], problem: str = "") -> None:
        self.documents.append({"stage": stage.label, **document})
        self.fail(stage, problem)

    def fail(self, stage: SeasonStage, problem: str) -> None:
        if problem and not self.problem:
            self.problem = problem if problem.startswith("stage ") else f"stage {stage.label}: {problem}"


@dataclass(frozen=True, slots=True)
class SeasonRun:
    """A season, the URL of its database, and what plays a contest and returns its last report.

    `play` is given the ports of the last stage, if there was one, and whether this one is the last.
    """

    config: Path
    stages: Sequence[SeasonStage]
    database: str
    resume: bool
    play: Callable[[SeatedContest, TournamentDisplay, Mapping[str, int], bool], dict[str, Any]]


def play_season(run: SeasonRun, *, as_json: bool) -> None:
    """Play all stages. Raises ArenaError if one did not finish."""
    played = SeasonOutcome()
    ports: dict[str, int] = {}
    for stage in run.stages:
        season = with_begun(Season(run.config, run.stages), database_of(run.database))
        begun = season.begun.get(stage.name) if run.resume else None
        if begun is not None and (begun.status in FINAL or begun.is_closed):
            _show(stage, begun, run, played, as_json=as_json)
            continue
        try:
            contest = _seated(season, stage, begun, run)
        except (StoreError, ConfigError) as error:
            played.fail(stage, str(error))
            break
        display = StageDisplay(stage.name, run.database, json=as_json)
        last = run.play(contest, display, ports, stage is run.stages[-1])
        played.add(stage, display.outcome(), "" if last["ended"] == FINISHED else unplayed_message(last))
        ports = display.ports
    if as_json:
        season_name = run.stages[0].season
        print_json({"season": season_name, "stages": played.documents, "problem": played.problem or None})
    else:
        _table(run.stages, played).print()
    if played.problem:
        raise ArenaError(played.problem)


def _seated(season: Season, stage: SeasonStage, begun: BegunStage | None, run: SeasonRun) -> SeatedContest:
    """The bots of a stage that begins, or goes on as `begun`. Raises StoreError or ConfigError."""
    if begun is not None or not stage.sources:
        return next(contest for contest in season.seated if contest.stage is stage)
    contest = season.seat(stage, database_of(run.database))
    names = ", ".join(bot.name for bot in contest.file.bot)
    typer.echo(f"stage {stage.label} begins: {names}", err=True)
    return contest


def _show(
    stage: SeasonStage, begun: BegunStage, run: SeasonRun, played: SeasonOutcome, *, as_json: bool
) -> None:
    """The table of a stage that was over before."""
    with open_results(run.database) as results:
        contest = results.contest(str(begun.number))
        played.add(
            stage,
            standings_json(results, contest),
            "" if begun.status == FINISHED else f"the contest is {begun.status}",
        )
        if not as_json:
            print_standings(results, contest)


def _table(stages: Sequence[SeasonStage], played: SeasonOutcome) -> ResultTable:
    """The season in one table."""
    rows: list[list[Cell]] = []
    formats = {stage.label: stage.file.contest.format for stage in stages}
    for document in played.documents:
        contest, table = document["contest"], document["standings"]
        first = [row["bot"] for row in table if row["rank"] == 1]
        games = contest["games"]["played"]
        form = formats[document["stage"]]
        rows.append([document["stage"], form, len(table), games, contest["status"], ", ".join(first)])
    done = {document["stage"] for document in played.documents}
    rows += [
        [stage.label, formats[stage.label], None, None, "not begun", None]
        for stage in stages
        if stage.label not in done
    ]
    heads = [
        *(Column(word, is_text=True) for word in ("stage", "format")),
        *map(Column, ("bots", "games")),
        *(Column(word, is_text=True) for word in ("status", "first")),
    ]
    return ResultTable(f"{stages[0].season}: {len(stages)} stages", heads, rows)
