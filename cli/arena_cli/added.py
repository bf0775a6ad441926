"""A contest that is added to a running server: its text is checked as a file of `arena serve` is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena_cli.prepare import Prepared
from arena_cli.season import alone
from arena_cli.serve_options import ServeOptions
from arena_cli.served_contests import spec_of
from arena_server.errors import ConfigError

if TYPE_CHECKING:
    from arena_server.terms.schema import ContestFile
    from arena_server.terms.spec import ContestSpec


def read_added(prepared: Prepared, options: ServeOptions, text: str, source: str) -> ContestSpec:
    """The contest of the text of a file, `source` is its name in errors. Raises ConfigError.

    It has the ports of the server that was `prepared`, and its options.
    """
    from arena_server.terms.config import check_extra
    from arena_server.terms.file import check_remote_bots, parse_contest

    file = parse_contest(text, source)
    if prepared.workers is not None:
        raise ConfigError(f"{source}: expected one contest with --on, got another")
    if "server" in file.model_fields_set and file.server != prepared.server:
        raise ConfigError(f"{source}: server: expected the same table as of the server, or none")
    # The stage may begin at any moment, and then finds its name taken.
    if any(file.contest.name == each.stage.name for each in prepared.planned):
        raise ConfigError(
            f"{source}: contest.name: expected a name that no stage of the server has, "
            f"got {file.contest.name!r}"
        )
    file = file.model_copy(update={"server": prepared.server})
    check_remote_bots(file, options.host or prepared.server.host, tournament=False)
    _check_alone(file, source)
    spec = spec_of(alone(Path(source), file), replace(options, new=False, debug_bot=None), (), keep=True)
    check_extra(spec.config)
    _check_new(prepared, file, source)
    return spec


def _check_alone(file: ContestFile, source: str) -> None:
    """Raise ConfigError for what needs other files, or the start of the server."""
    if file.game.library is not None:
        raise ConfigError(
            f"{source}: game.library: expected game.board in a contest that is added: its text is sent alone"
        )
    for number, hook in enumerate(file.webhook, start=1):
        if hook.secret_file is not None:
            raise ConfigError(
                f"{source}: webhook {number}: secret_file: expected secret in a contest that is added: "
                "its text is sent alone"
            )
    for bot in file.bot:
        if bot.person or bot.submit:
            what = "person" if bot.person else "submit"
            raise ConfigError(
                f"{source}: bot {bot.name}: expected no {what} in a contest that is added: "
                "give its file to arena serve"
            )
    if file.submissions.late:
        raise ConfigError(
            f"{source}: submissions.late: expected none in a contest that is added: "
            "give its file to arena serve"
        )


def _check_new(prepared: Prepared, file: ContestFile, source: str) -> None:
    """Raise ConfigError for a key that would decide nothing, unless the database has the contest."""
    from datetime import UTC, datetime

    from arena_server.store.reader import Results
    from arena_server.terms.idle_keys import check_idle_keys

    with Results(prepared.database) as results:
        known = {contest.name for contest in results.contests()}
    if file.contest.name not in known:
        check_idle_keys(file, datetime.now(UTC), source)
