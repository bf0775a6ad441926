"""A season: a file with `[[stage]]` tables, each of which is a contest of its own.

    [contest]    what the stages have in common; `name` is that of the season
    [[stage]]    name, keys of [contest], and who plays: all bots, `bots`, or `entrants_from` stages above it

The contest of a stage is called SEASON-STAGE.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from arena_server.errors import ConfigError
from arena_server.stats.qualifying import (
    RATINGS,
    TABLE,
    FinalOrder,
    Source,
    qualified,
    sources_json,
)
from arena_server.terms.file import (
    complete,
    contest_of_tables,
    load_contest,
    read_tables,
    with_files,
)
from arena_server.terms.idle_keys import idle_keys, idle_owners
from arena_server.terms.mistakes import mistake
from arena_server.terms.schema import BotTable, ContestFile
from arena_server.terms.tables import SourceTable, StageTable

#: The key of a file that makes it one of stages.
STAGE: Final = "stage"
#: Keys of `[[stage]]` that are none of `[contest]`, beside `name`.
OWN_KEYS: Final = ("bots", "entrants_from")
LONGEST_NAME: Final = 32


@dataclass(frozen=True, slots=True)
class SeasonStage:
    """A contest of a file: `file` is one of this contest alone.

    `label` is the name of the stage; `season` that of its season, "" of a contest by itself. With `sources`,
    which name contests, the bots of `file` are as many of `pool` as come at most, and `seated` makes one of
    those who do come.
    """

    file: ContestFile
    label: str
    season: str = ""
    sources: tuple[Source, ...] = ()
    pool: tuple[BotTable, ...] = ()

    @property
    def name(self) -> str:
        """What its contest is called."""
        return self.file.contest.name

    @property
    def upstream(self) -> tuple[str, ...]:
        """The contests that its entrants come from, each once."""
        return tuple(dict.fromkeys(name for source in self.sources for name in source.stages))

    @property
    def everyone(self) -> ContestFile:
        """The file with all bots that may come."""
        return self.file.model_copy(update={"bot": list(self.pool)})

    def seated(
        self, names: Sequence[str], source: str, late: Mapping[str, BotTable] | None = None
    ) -> ContestFile:
        """The file of the contest of these bots, the best seed first; `source` is its name in errors.

        `late` has the tables of those that are not in the file, or have another token than there. Raises
        ConfigError if the format cannot be played by them.
        """
        bots = {**{bot.name: bot for bot in self.pool}, **(late or {})}
        tables = {"bot": [bots[name] for name in names]}
        file = self.file.model_copy(update=tables)
        complete(file, f"{source}: stage {self.label}")
        return file


def load_stages(path: Path, library: Path | None = None) -> list[SeasonStage]:
    """The contests of a file, one unless it has stages. `library` is as in `load_contest`.

    Raises ConfigError.
    """
    tables = read_tables(path)
    if STAGE not in tables:
        file = load_contest(path, library)
        return [SeasonStage(file, file.contest.name, pool=tuple(file.bot))]
    return [
        SeasonStage(
            with_files(stage.file, path, library), stage.label, stage.season, stage.sources, stage.pool
        )
        for stage in stages_of(tables, str(path))
    ]


def load_whole(path: Path) -> ContestFile:
    """A file of one contest; of stages the first one, with the bots of all. Raises ConfigError."""
    stages = load_stages(path)
    bots = {bot.name: bot for stage in stages for bot in stage.pool}
    return stages[0].file.model_copy(update={"bot": list(bots.values())})


def stages_of(tables: Mapping[str, Any], source: str) -> list[SeasonStage]:
    """The stages of a file; `source` is its name in errors. Raises ConfigError."""
    common = tables.get("contest")
    given = tables[STAGE]
    if not isinstance(given, list) or not given or not all(isinstance(each, dict) for each in given):
        raise ConfigError(f"{source}: stage: expected [[stage]] tables, got something else")
    if not isinstance(common, dict) or not isinstance(season := common.get("name"), str):
        raise ConfigError(f"{source}: contest.name: missing; it is the name of the season")
    rest = {key: value for key, value in tables.items() if key != STAGE}
    # All bots in one contest, so that a mistake of theirs is said of them, and not of a stage.
    first = {key: value for key, value in common.items() if key in ("name", "game", "title")}
    whole = contest_of_tables({**rest, "contest": {**first, "format": "round-robin"}}, source)
    if whole.takes_versions:
        raise ConfigError(
            f"{source}: stage: expected no bot with submit, and no submissions.late, in a file of stages: "
            "a version is sent to one contest"
        )
    reader = _Reader(source, season, common, rest, tuple(whole.bot))
    return [reader.read(number, table) for number, table in enumerate(given, start=1)]


class _Reader:
    """Reads the stages of a file in their order."""

    def __init__(
        self,
        source: str,
        season: str,
        common: Mapping[str, Any],
        rest: Mapping[str, Any],
        bots: tuple[BotTable, ...],
    ) -> None:
        self._source, self._season = source, season
        self._common, self._rest = common, rest
        self._bots = {bot.name: bot for bot in bots}
        #: The contests so far that are not rated.
        self._practice: set[str] = set()
        #: The number of each stage so far by its own name.
        self._numbers: dict[str, int] = {}
        #: The bots of each contest so far: as many as come at most, and all that may.
        self._fields: dict[str, Sequence[str]] = {}
        self._pools: dict[str, Sequence[str]] = {}

    def read(self, number: int, table: Mapping[str, Any]) -> SeasonStage:
        place = f"{self._source}: stage {number}"
        try:
            own = StageTable.model_validate(
                {key: value for key, value in table.items() if key in ("name", *OWN_KEYS)}
            )
        except ValidationError as error:
            raise ConfigError(f"{place}: {mistake(error)}") from None
        problem = next(self._problems(own), None)
        if problem is not None:
            raise ConfigError(f"{place}: {problem}")
        sources = tuple(
            Source(tuple(map(self._contest, each.names)), each.first, each.after, each.by)
            for each in own.entrants_from or ()
        )
        for source in sources:
            if source.by == RATINGS and (practice := self._practice.intersection(source.stages)):
                raise ConfigError(
                    f'{place}: entrants_from: expected by = "table", because {min(practice)} is not rated'
                )
        names = own.bots or list(self._bots)
        pool = names
        if sources:
            upstream = {name for source in sources for name in source.stages}
            orders = {
                (name, by): FinalOrder(tuple((bot,) for bot in self._fields[name]))
                for name in upstream
                for by in (TABLE, RATINGS)
            }
            names = qualified(sources, orders)
            pool = [bot for bot in self._bots if any(bot in self._pools[name] for name in upstream)]
        self._numbers[own.name] = number
        self._fields[self._contest(own.name)] = names
        self._pools[self._contest(own.name)] = pool
        raw = {bot["name"]: bot for bot in self._rest["bot"]}
        contest = self._contest_table(number, own.name, table)
        tables = {**self._rest, "contest": contest, "bot": [raw[name] for name in names]}
        try:
            file = contest_of_tables(tables, place)
        except ConfigError as error:
            # The keys stand in the table of the stage.
            raise ConfigError(str(error).replace(f"{place}: contest.", f"{place}: ", 1)) from None
        if not file.contest.rated:
            self._practice.add(file.contest.name)
        return SeasonStage(file, own.name, self._season, sources, tuple(self._bots[name] for name in pool))

    def _contest(self, stage: str) -> str:
        return f"{self._season}-{stage}"

    def _contest_table(self, number: int, name: str, table: Mapping[str, Any]) -> dict[str, Any]:
        own = {key: value for key, value in table.items() if key not in OWN_KEYS}
        contest = {**self._common, **own, "name": self._contest(name)}
        if "title" in self._common and "title" not in own:
            contest["title"] = f"{self._common['title']}: {name}"
        if type(seed := self._common.get("seed")) is int and "seed" not in own:
            contest["seed"] = seed + number - 1  # else bots that meet again would get the deals again
        return contest

    def _problems(self, own: StageTable) -> Iterator[str]:
        name = own.name
        if name in self._numbers:
            yield f"name: {name!r} is that of stage {self._numbers[name]}, too"
        if len(self._contest(name)) > LONGEST_NAME:
            yield (
                f"name: expected at most {LONGEST_NAME - len(self._season) - 1} characters, because the "
                f"contest is called {self._contest(name)}, which is longer than {LONGEST_NAME}"
            )
        if own.bots is not None and own.entrants_from is not None:
            yield "expected bots or entrants_from, got both"
        yield from _bot_problems(own.bots or (), self._bots.keys())
        for source in own.entrants_from or ():
            yield from self._source_problems(name, source)

    def _source_problems(self, name: str, source: SourceTable) -> Iterator[str]:
        for stage in source.names:
            if stage not in self._numbers:
                above = ", ".join(self._numbers) or "none"
                yield (
                    f"entrants_from: expected a stage above {name!r}, got {stage!r:.60}; "
                    f"above it there are: {above}"
                )
                return
            bots = len(self._fields[self._contest(stage)])
            if source.after >= bots:
                yield f"entrants_from: expected after below {bots}, the bots of {stage!r}, got {source.after}"
            elif source.first is not None and source.after + source.first > bots:
                behind = f" behind {source.after}" if source.after else ""
                yield (
                    f"entrants_from: expected first up to {bots - source.after}, "
                    f"the bots of {stage!r}{behind}, got {source.first}"
                )


def _bot_problems(names: Sequence[str], known: Collection[str]) -> Iterator[str]:
    for place, name in enumerate(names):
        if name not in known:
            yield f"bots: no [[bot]] is called {name!r:.60}"
        elif name in names[:place]:
            yield f"bots: expected every bot once, got {name!r} twice"


def idle_keys_of_stages(stages: Sequence[SeasonStage], now: datetime) -> Iterator[tuple[SeasonStage, str]]:
    """`idle_keys` of each stage; a bot may have an owner if a rule of one of them asks for it."""
    asked = any(not any(idle_owners(stage.everyone)) for stage in stages)
    for number, stage in enumerate(stages, start=1):
        place = f"stage {number}: " if stage.season else ""
        for text in idle_keys(stage.everyone, now, owners=not (stage.season and asked)):
            yield stage, f"{place}{text.removeprefix('contest.') if place else text}"


def stage_json(stage: SeasonStage, number: int | None = None) -> dict[str, Any]:
    """What the first page shows of a stage; `number`: of its contest, if another server has played it."""
    return {
        "id": number,
        "season": stage.season,
        "stage": stage.label,
        "contest": stage.name,
        "from": sources_json(stage.sources),
    }
