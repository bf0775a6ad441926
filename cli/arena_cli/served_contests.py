"""The contests of a server: files and options in, and out come those that begin or go on, as values.

paths -> load -> seasons -> seated, added -> contests with their bots -> spec_of -> ContestSpec
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from arena_cli.options import DIGESTS_VARIABLE, duration
from arena_cli.serve_options import ServeOptions
from arena_server.errors import ConfigError

if TYPE_CHECKING:
    from arena_cli.season import Season, SeatedContest
    from arena_server.terms.schema import BotTable, ContestFile, ServerTable
    from arena_server.terms.spec import ContestSpec
    from arena_server.web.ports import Invitation


def load(paths: Sequence[Path], options: ServeOptions) -> list[Season]:
    """Read the configurations of all contests. Raises ConfigError or StoreError."""
    from arena_cli.season import load_seasons
    from arena_server.store.database import database_of
    from arena_server.terms.file import check_remote_bots

    # With `stage` the contest of this stage is the new one.
    new = options.new and options.stage is None
    seasons = load_seasons(_expand(paths), options.library, database_of(options.database), new=new)
    found: dict[str, Path] = {}
    first = seasons[0].stages[0].file.server
    for season in seasons:
        for stage in season.stages:
            file = stage.file
            if (other := found.get(stage.name)) is not None:
                raise ConfigError(f"{season.path}: contest.name: {stage.name!r} is that of {other}, too")
            if file.server != first:
                raise ConfigError(
                    f"{season.path}: server: expected the same table as in {next(iter(found.values()))}:"
                    " one server has one port"
                )
            found[stage.name] = season.path
            host = options.host or file.server.host
            check_remote_bots(stage.everyone, host, tournament=False, debug_bot=options.debug_bot)
    return seasons


def seated(seasons: Sequence[Season], options: ServeOptions) -> list[SeatedContest]:
    """The contests that begin or go on now. Raises ConfigError or StoreError."""
    from arena_server.store.database import database_of

    if options.stage is None:
        return [contest for season in seasons for contest in season.seated]
    (season,) = seasons
    there = {contest.stage.label: contest for contest in season.seated}
    if options.stage in there and not (options.new and there[options.stage].stage.sources):
        return [there[options.stage]]
    stage = next(stage for stage in season.stages if stage.label == options.stage)
    return [season.seat(stage, database_of(options.database))]


def added(options: ServeOptions, own: frozenset[str], server: ServerTable) -> list[SeatedContest]:
    """The contests that were added to a running server of the contests `own`. Raises UserError.

    One whose name a file of the command line has is that of the command line.
    """
    from arena_cli.season import alone
    from arena_server.store.added import added_beside
    from arena_server.store.database import database_of
    from arena_server.terms.file import load_contest

    paths = added_beside(database_of(options.database), own)
    # The ports are those of the command line, also where they have changed since.
    found = [
        alone(path, load_contest(path).model_copy(update={"server": server}))
        for path in paths
        if path.stem not in own
    ]
    return [contest for contest in found if contest.file.contest.name not in own]


def _expand(paths: Sequence[Path]) -> list[Path]:
    """The files, and those of the folders. Raises ConfigError for a folder without any."""
    files: list[Path] = []
    for path in paths:
        inside = sorted(path.glob("*.toml")) if path.is_dir() else [path]
        if not inside:
            raise ConfigError(f"{path}: expected a folder with *.toml files, it has none")
        files += inside
    return files


def invited(file: ContestFile, bots: Sequence[BotTable]) -> list[Invitation]:
    """The persons among the bots of a contest."""
    from arena_server.web.ports import invite

    return [invite(bot.name, file.contest.name, file.contest.game) for bot in bots if bot.person]


def spec_of(
    contest: SeatedContest, options: ServeOptions, persons: Sequence[Invitation], *, keep: bool
) -> ContestSpec:
    """The contest of a file; `persons` are invited to it or others, and `keep` is as in `prepare`."""
    from arena_protocol.games import make_game
    from arena_server.places.cores import crowding_of
    from arena_server.terms.file import (
        config_of,
        cpus_of,
        entrants_of,
        late_versions_of,
        processes_of,
        timetable_of,
        webhooks_of,
    )
    from arena_server.terms.spec import ContestSpec

    file = contest.file
    absent_ms = None if options.absent is None else duration(options.absent, "--absent")
    digests = json.loads(os.environ.get(DIGESTS_VARIABLE, "{}"))
    digests |= {
        person.name: sha256(person.token.encode("ascii")).hexdigest()
        for person in persons
        if person.contest == file.contest.name
    }
    logs = options.bot_logs
    if logs is None and file.server.bot_logs is not None:
        logs = Path(file.server.bot_logs)
    entrants = entrants_of(file, digests)
    config = replace(config_of(file, absent_ms=absent_ms), origin=contest.origin, debug_bot=options.debug_bot)
    cpus = cpus_of(file, tournament=not keep)
    here = options.workers.on is None  # else the bots are started by workers
    seats = make_game(config.game, config.options).seats
    begins_at_once = file.contest.quorum is None and not keep  # its bots are started with it
    return ContestSpec(
        config=config,
        entrants=entrants,
        new=options.new,
        keep=keep and not options.new,
        seeded=file.contest.seed is not None,
        bot_logs=logs,
        timetable=timetable_of(file),
        webhooks=webhooks_of(file),
        started=frozenset(bot.name for bot in file.bot if bot.is_local and bot.launcher is None),
        crowded=crowding_of(cpus, entrants, seats, processes_of(file) & cpus.keys()) if here else "",
        late=late_versions_of(file),
        closed=contest.closed,
        quorum=0 if begins_at_once else file.contest.quorum,
    )
