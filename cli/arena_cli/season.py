"""The stages of the files that a command is given: which of them have begun, and with which bots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena_server.errors import ConfigError

if TYPE_CHECKING:
    from arena_server.store.database import Database
    from arena_server.store.stages import BegunStage
    from arena_server.terms.schema import BotTable, ContestFile
    from arena_server.terms.stages import SeasonStage


@dataclass(frozen=True, slots=True)
class SeatedContest:
    """A contest with its bots: `file` of `path` is of it alone.

    `origin` is what it keeps of where they come from. It is `closed` if a later stage has begun with its
    table.
    """

    path: Path
    stage: SeasonStage
    file: ContestFile
    origin: Mapping[str, Any] = field(default_factory=dict)
    closed: bool = False


def alone(path: Path, file: ContestFile) -> SeatedContest:
    """The contest of a file without stages."""
    from arena_server.terms.stages import SeasonStage

    return SeatedContest(path, SeasonStage(file, file.contest.name, pool=tuple(file.bot)), file)


@dataclass(frozen=True, slots=True)
class Season:
    """The stages of one file in their order; `begun` are those that have begun, by their contests.

    `late` are the bots that were added to these and are not in the file, and those that have another token
    than there.
    """

    path: Path
    stages: Sequence[SeasonStage]
    begun: Mapping[str, BegunStage] = field(default_factory=dict)
    late: Mapping[str, BotTable] = field(default_factory=dict)

    @property
    def seated(self) -> list[SeatedContest]:
        """The contests whose bots are known: those that have begun, and those that get no bots from others.

        Raises ConfigError for a file that is not the one they have begun with.
        """
        found = []
        for stage in self.stages:
            begun = self.begun.get(stage.name)
            if not stage.sources:
                closed = begun is not None and begun.is_closed
                found.append(SeatedContest(self.path, stage, stage.file, closed=closed))
            elif begun is not None:
                found.append(self._goes_on(stage, begun))
        return found

    def _goes_on(self, stage: SeasonStage, begun: BegunStage) -> SeatedContest:
        from arena_server.stats.qualifying import sources_of

        place = f"{self.path}: stage {stage.label}"
        again = f"contest {begun.number} {stage.name}; begin the season again by --new"
        if sources_of(begun.origin) != stage.sources:
            raise ConfigError(f"{place}: entrants_from: expected what it was when it began as {again}")
        known = {bot.name for bot in stage.pool} | self.late.keys()
        if missing := [name for name in begun.names if name not in known]:
            raise ConfigError(f"{place}: expected [[bot]] {missing[0]}, which plays in {again}")
        file = stage.seated(begun.names, str(self.path), self.late)
        return SeatedContest(self.path, stage, file, begun.origin, begun.is_closed)

    @property
    def planned(self) -> list[SeasonStage]:
        """The stages whose bots are not known yet."""
        return [stage for stage in self.stages if stage.sources and stage.name not in self.begun]

    def numbers(self, stage: SeasonStage) -> dict[str, int]:
        """The numbers of the contests that its entrants come from. Raises ConfigError if one is missing."""
        for name in stage.upstream:
            if name not in self.begun:
                raise ConfigError(f"{self.path}: stage {stage.label}: {name} has not begun in this database")
        return {name: self.begun[name].number for name in stage.upstream}

    def seat(self, stage: SeasonStage, database: Database) -> SeatedContest:
        """A stage that begins now. Raises StoreError or ConfigError if it cannot."""
        from arena_server.store.reader import Results
        from arena_server.store.stages import draw_entrants

        with Results(database) as results:
            names, origin = draw_entrants(results, stage, self.numbers(stage), self.late)
        return SeatedContest(self.path, stage, stage.seated(names, str(self.path), self.late), origin)


def load_seasons(
    paths: Iterable[Path], library: Path | None, database: Database, *, new: bool = False
) -> list[Season]:
    """The contests of each file, with what the database has of stages. Raises ConfigError or StoreError.

    All of a `new` season are still to begin.
    """
    from arena_server.terms.stages import load_stages

    return [with_begun(Season(path, load_stages(path, library)), database, new=new) for path in paths]


def with_begun(season: Season, database: Database, *, new: bool = False) -> Season:
    """The season as far as it has begun in the database. Raises StoreError."""
    # A contest by itself is looked up when it is checked.
    season = Season(season.path, season.stages)
    if new or not season.stages[0].season:
        return season
    from arena_server.store.preflight import latest_contests
    from arena_server.store.reader import Results
    from arena_server.store.stages import begun_stages, late_bots

    latest = latest_contests(database, [stage.name for stage in season.stages])
    begun = begun_stages(season.stages, latest)
    if not begun:
        return season
    with Results(database) as results:
        bots = {bot.name: bot for stage in season.stages for bot in stage.pool}
        return Season(season.path, season.stages, begun, late_bots(results, begun.values(), bots.values()))
