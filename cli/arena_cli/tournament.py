"""`arena tournament`: from one file to the final standings, with the server and all local bots."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_cli.options import (
    DEFAULT_DATABASE,
    Config,
    Database,
    Json,
    Library,
    Web,
    WebPort,
    is_terminal,
    named_here,
)
from arena_cli.streams import outlive_readers
from arena_cli.workers import WorkerOptions
from arena_server.errors import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from arena_cli.progress import TournamentDisplay
    from arena_cli.season import SeatedContest
    from arena_server.places.base import LocalBot
    from arena_server.places.supervisor import Tournament
    from arena_server.terms.schema import ContestFile
    from arena_server.terms.stages import SeasonStage

#: The value of contest.absent here, where the file gives none.
DEFAULT_ABSENT = "30s"


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentOptions:
    """What the server is started with, and what is kept; None leaves the choice to the file."""

    database: Database = DEFAULT_DATABASE
    host: Annotated[str | None, typer.Option(help="The address to listen on; else server.host.")] = None
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="The port; else server.port of the file, else a free one."),
    ] = None
    web: Web = None
    web_port: WebPort = None
    logs: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write the output of server and bots to files in FOLDER."),
    ] = None
    library: Library = None
    bot_logs: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep what the server exchanges with each bot in files in FOLDER; else server.bot_logs.",
        ),
    ] = None
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with the latest contest of this name, or show it if it is over.",
        ),
    ] = False
    workers: WorkerOptions = field(default_factory=WorkerOptions)
    keep_page: Annotated[
        bool,
        typer.Option(
            "--keep-page",
            help="Serve the page until Ctrl-C; in a terminal also where a browser has been there.",
        ),
    ] = False


def command(config: Config, options: TournamentOptions = TournamentOptions(), as_json: Json = False) -> None:
    """Run a contest from CONFIG, or the stages of a season one after another, to the final standings.

    Starts the server, prints `listening on HOST:PORT` and `web on http://HOST:PORT` (standings,
    running games and replays in a browser), and starts each bot that has an engine or
    a command; all other bots connect from elsewhere. A bot with `person = true` is played in a browser
    by the link that is printed. In a `command` the first word python means the interpreter of arena,
    arena this installation, and {host} {port} {name} {token} {slot} are replaced. The environment of a
    bot has ARENA_HOST, ARENA_PORT, ARENA_NAME, ARENA_TOKEN and, beyond the first process of a bot with
    `concurrency`, ARENA_SLOT; and of the caller's only PATH, HOME, LANG, TMPDIR, PYTHONPATH,
    XDG_CACHE_HOME and ARENA_DEBUG.

    A bot that ends before it has logged in ends the tournament with the last line of its stderr
    and status 1. One that crashes later is started again after 0.5, 1, 2, 4 and then every 8
    seconds, and resumes its game; after two equal crashes in one game it is at fault (disconnect)
    and is started again when that game is over. The games of a bot that stays away longer than contest.absent
    (30s if the file gives none; never, if a bot has `person` or `submit`) are skipped: then the contest is
    incomplete, the last line names the missing bots and counts the unplayed games by cause, and the status
    is 1. After Ctrl-C results are kept, the status is 130, and --resume goes on, also with running games.
    Each run without --resume is a contest of its own.

    The page ends with the last game; with --keep-page, and in a terminal if a browser has been there, it
    stays until Ctrl-C, which then does not change the exit status. `arena site` writes it as files.

    With [[stage]] tables each stage begins with the bots that the tables of those before it give, when these
    are over. The table of each stage is printed, and what became of all of them; --resume goes on where the
    season was left.

    Example: arena tournament examples/local.toml
    """
    outlive_readers()
    from arena_cli.progress import TournamentDisplay
    from arena_cli.results import unplayed_message
    from arena_cli.season import SeatedContest
    from arena_server.errors import ArenaError
    from arena_server.terms.stages import load_stages

    stages = load_stages(config, options.library)
    bots = _checked(config, stages, options)
    with named_here(new="without --resume"):
        if stages[0].season:
            _play_season(config, stages, bots, options, as_json=as_json)
            return
        (stage,) = stages
        if options.resume and _was_over(stage, options.database, as_json=as_json):
            return
        display = TournamentDisplay(stage.name, options.database, json=as_json)
        last = play_contest(SeatedContest(config, stage, stage.file), bots[stage.name], options, display)
    if last["ended"] != "finished":
        raise ArenaError(unplayed_message(last))


def _was_over(stage: SeasonStage, database_url: str, *, as_json: bool) -> bool:
    """Show the latest contest of a file if it is over: nothing goes on with it, and none begins unasked.

    Raises ArenaError if it is not finished, or was begun with another configuration.
    """
    from arena_cli.options import print_json
    from arena_cli.results import open_results, print_standings, standings_json
    from arena_server.core.life import FINAL, FINISHED
    from arena_server.errors import ArenaError
    from arena_server.store.database import database_of
    from arena_server.store.preflight import check_same_config, latest_contests
    from arena_server.terms.file import config_of

    file, database = stage.file, database_of(database_url)
    stored = latest_contests(database, [stage.name]).get(stage.name)
    if stored is None or stored.status not in FINAL:
        return False
    names = [bot.name for bot in file.bot]
    check_same_config(database, stored, config_of(file), names, file.contest.seed is not None)
    typer.echo("it is shown as it ended; without --resume another contest of this name begins", err=True)
    with open_results(database_url) as results:
        contest = results.contest(str(stored.number))
        if as_json:
            print_json(standings_json(results, contest))
        else:
            print_standings(results, contest)
    if stored.status != FINISHED:
        raise ArenaError(f"the contest is {stored.status}")
    return True


def _play_season(
    config: Path,
    stages: list[SeasonStage],
    bots: Mapping[str, list[LocalBot]],
    options: TournamentOptions,
    *,
    as_json: bool,
) -> None:
    from arena_cli.season_tournament import SeasonRun, play_season

    def play(
        contest: SeatedContest, display: TournamentDisplay, ports: Mapping[str, int], last: bool
    ) -> dict[str, Any]:
        port, web_port = ports.get("port", options.port), ports.get("web_port", options.web_port)
        keep = options.keep_page and last
        own = replace(options, port=port, web_port=web_port, keep_page=keep)
        return play_contest(contest, bots[contest.stage.name], own, display)

    play_season(SeasonRun(config, stages, options.database, options.resume, play), as_json=as_json)


def play_contest(
    contest: SeatedContest,
    bots: Sequence[LocalBot],
    options: TournamentOptions,
    display: TournamentDisplay,
) -> dict[str, Any]:
    """Play a contest to its end, show it, and return the last report. Raises ArenaError, and Exit.

    Those of `bots` that are in it are started.
    """
    import asyncio

    from arena_cli.local_bots import compile_engines, server_environment
    from arena_server.places.supervisor import Tournament

    file = contest.file
    names = {bot.name for bot in file.bot}
    bots = [bot for bot in bots if bot.name in names]
    server = _server_command(contest, options)
    with display:
        compile_engines(file.contest.game, (bot.engine for bot in file.bot if bot.engine), display.step)
        environment, place = server_environment(bots), place_of(options.database, file.contest.name)
        here = () if options.workers.on else bots  # else the workers start the programs
        ended = asyncio.run(_run(Tournament(server, environment, here, options.logs, place), display))
    last = display.last
    if last is not None:
        display.show_outcome()
        display.page_gone()
    if last is None or not ended:
        raise typer.Exit(INTERRUPTED)
    return last


def _checked(
    config: Path, stages: Sequence[SeasonStage], options: TournamentOptions
) -> dict[str, list[LocalBot]]:
    """Check everything that the servers and the bots of a file need. Raises ArenaError.

    Returns the bots that may be started for each contest.
    """
    from datetime import UTC, datetime

    from arena_server.errors import ConfigError
    from arena_server.store.database import database_of
    from arena_server.store.preflight import check_writable
    from arena_server.terms.file import check_remote_bots
    from arena_server.terms.stages import idle_keys_of_stages

    file = stages[0].file

    if file.server.tls_certificate is not None:
        raise ConfigError(
            f"{config}: server.tls_certificate: the bots of a tournament connect without TLS; use arena serve"
        )
    web = options.web if options.web is not None else file.server.web or options.web_port is not None
    if options.keep_page and not web:
        raise ConfigError(f"--keep-page: expected a page to keep, but --no-web or {config} turns it off")
    bots = {}
    for stage in stages:
        check_remote_bots(stage.everyone, options.host or file.server.host, tournament=True)
        bots[stage.name] = bots_to_start(stage.everyone, config)
    for _, text in () if options.resume else idle_keys_of_stages(stages, datetime.now(UTC)):
        raise ConfigError(f"{config}: {text}")
    make_folder(options.logs)
    # It makes a database where there is none: all other input is right.
    check_writable(database_of(options.database, async_journal=file.server.journal_commit == "async"))
    return bots


def _server_command(contest: SeatedContest, options: TournamentOptions) -> list[str]:
    from arena_cli.workers import ARENA

    config, file = contest.path, contest.file
    port = options.port
    if port is None:
        # Another tournament may run on the usual port: only one that the file names is taken.
        port = file.server.port if "port" in file.server.model_fields_set else 0
    # A person may take a while to open the link, an author to send a version, and its check takes minutes.
    is_patient = file.contest.absent is not None or file.takes_versions or any(bot.person for bot in file.bot)
    values = {
        "--port": port,
        "--database": options.database,
        "--host": options.host,
        "--library": options.library,
        "--bot-logs": options.bot_logs,
        "--web-port": options.web_port,
        # A script would wait for a Ctrl-C that does not come.
        "--keep-page": "always" if options.keep_page else "visited" if is_terminal() else None,
        "--absent": None if is_patient else DEFAULT_ABSENT,
        "--stage": contest.stage.label if contest.stage.season else None,
        **options.workers.arguments(),
    }
    server = [*ARENA, "serve", str(config), "--until-finished", "--supervised"]
    if not options.resume:
        server.append("--new")
    if options.web is not None:
        server.append("--web" if options.web else "--no-web")
    for option, value in values.items():
        server += () if value is None else (option, str(value))
    return server


def place_of(database: str, contest: str) -> str:
    """What no other run on this machine has at the same time: the database, wherever it was started."""
    from arena_server.store.database import database_of

    found = database_of(database)
    return f"{found.resolve() if isinstance(found, Path) else database} {contest}"


async def _run(tournament: Tournament, display: TournamentDisplay) -> bool:
    from arena_server.places.supervisor import interrupt_event, run

    return await run(tournament, display, interrupt_event())


def bots_to_start(file: ContestFile, config: Path) -> list[LocalBot]:
    """Return the bots to start. Raises ConfigError for an engine or a program that does not exist."""
    from arena_cli.bot import check
    from arena_cli.local_bots import check_command, engine_command, local_bots, slots_of
    from arena_cli.sandboxes import built, fetched
    from arena_protocol.errors import UserError
    from arena_server.errors import ConfigError
    from arena_server.places.base import LocalBot

    bots: list[LocalBot] = []
    for number, bot in enumerate(file.bot, start=1):
        place = f"{config}: bot {number}"
        if bot.in_container:
            limits = bot.limits(file.container.limits())
            if bot.build is not None:
                images = file.submissions.rules().languages
                sandbox = built(bot.build, config.parent, limits, f"{place}: build: ", images)
            else:
                sandbox = fetched(bot.image or "", limits, f"{place}: image: ", config.parent)
            bots += slots_of(LocalBot(bot.name, bot.command or (), "", sandbox=sandbox), bot.concurrency)
            continue
        if bot.launcher is not None and bot.command is not None:
            # What the words of its command mean is the launcher's own: they are not looked up here.
            _check_launcher(bot.launcher, f"{place}: launcher")
            remote = LocalBot(bot.name, bot.command, "", launcher=bot.launcher)
            bots += slots_of(remote, bot.concurrency)
            continue
        if bot.command is not None:
            command = check_command(bot.command, f"{place}: command")
        elif bot.engine is not None:
            try:
                check(bot.engine, file.contest.game)
            except UserError as error:
                raise ConfigError(f"{place}: engine: {error}") from None
            command = engine_command(bot.engine, file.contest.game)
        else:
            continue
        bots += local_bots(bot.name, command, bot.concurrency)
    needed = {bot.name: bot.resources for bot in file.bot}
    return [replace(bot, resources=needed[bot.name]) for bot in bots]


def _check_launcher(name: str, place: str) -> None:
    """Raise ConfigError for one that no package has, PluginError for one that cannot be loaded."""
    from arena_server.errors import ConfigError
    from arena_server.places.launchers import LAUNCHERS

    if LAUNCHERS.get(name) is None:
        known = ", ".join(LAUNCHERS) or "no package has one"
        raise ConfigError(f"{place}: expected one of an installed package ({known}), got {name!r:.60}")


def make_folder(folder: Path | None) -> None:
    """Make the folder of --logs. Raises ArenaError."""
    from arena_server.errors import ArenaError

    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArenaError(f"--logs: {folder}: cannot be made: {error.strerror}") from None
