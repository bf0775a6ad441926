"""`arena tournament`: from one file to the final standings, with the server and all local bots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_cli.options import DEFAULT_DATABASE, Config, Database, Json, Library, Web, WebPort, is_terminal
from arena_server.errors import INTERRUPTED

if TYPE_CHECKING:
    from arena_cli.progress import TournamentDisplay
    from arena_server.config_schema import ContestFile
    from arena_server.launch.base import LocalBot
    from arena_server.tournament.supervisor import Tournament

#: The value of contest.absent here, where the file gives none.
DEFAULT_ABSENT = "30s"


def command(
    config: Config,
    database: Database = DEFAULT_DATABASE,
    host: Annotated[str | None, typer.Option(help="The address to listen on; else server.host.")] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="The port; else server.port of the file, else a free one."),
    ] = None,
    web: Web = None,
    web_port: WebPort = None,
    logs: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write the output of server and bots to files in FOLDER."),
    ] = None,
    library: Library = None,
    bot_logs: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep what the server exchanges with each bot in files in FOLDER; else server.bot_logs.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Resume the latest contest of this name if it is unfinished."),
    ] = False,
    keep_page: Annotated[
        bool,
        typer.Option(
            "--keep-page",
            help="Serve the page until Ctrl-C; in a terminal also where a browser has been there.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Run a contest from CONFIG to the final standings.

    Starts the server, prints `listening on HOST:PORT` and `web on http://HOST:PORT` (standings,
    running games and replays in a browser), and starts each bot that has an engine or
    a command; all other bots connect from elsewhere. A bot with `person = true` is played in a browser
    by the link that is printed. In a `command` the first word python means the interpreter of arena,
    arena this installation, and {host} {port} {name} {token} {slot} are replaced. The environment of a
    bot has ARENA_HOST, ARENA_PORT, ARENA_NAME, ARENA_TOKEN and, beyond the first process of a bot with
    `concurrency`, ARENA_SLOT; and of the caller's only PATH, HOME, LANG, TMPDIR, XDG_CACHE_HOME and
    ARENA_DEBUG.

    A bot that ends before it has logged in ends the tournament with the last line of its stderr
    and status 1. One that crashes later is started again after 0.5, 1, 2, 4 and then every 8
    seconds, and resumes its game; after two equal crashes in one game it is at fault (disconnect)
    and is started again when that game is over. The games of a bot that stays away longer than contest.absent
    (30s if the file gives none) are skipped: then the contest is incomplete, the last line names
    the missing bots and counts the unplayed games by cause, and the status is 1. After Ctrl-C
    running games are void, results are kept, the status is 130, and --resume continues.

    The page ends with the last game; with --keep-page, and in a terminal if a browser has been there, it
    stays until Ctrl-C, which then does not change the exit status. `arena site` writes it as files.

    Example: arena tournament examples/local.toml
    """
    import asyncio

    from arena_cli.local_bots import ARENA, compile_engines, server_environment
    from arena_cli.progress import TournamentDisplay
    from arena_cli.results import unplayed_message
    from arena_server.config_file import check_remote_bots, load_contest
    from arena_server.errors import ArenaError, ConfigError
    from arena_server.store.database import database_of
    from arena_server.store.preflight import check_writable
    from arena_server.tournament.supervisor import Tournament

    file = load_contest(config, library)
    if file.server.tls_certificate is not None:
        raise ConfigError(
            f"{config}: server.tls_certificate: the bots of a tournament connect without TLS; use arena serve"
        )
    if keep_page and not (web if web is not None else file.server.web or web_port is not None):
        raise ConfigError(f"--keep-page: expected a page to keep, but --no-web or {config} turns it off")
    check_remote_bots(file, host or file.server.host, tournament=True)
    bots = _local_bots(file, config)
    make_folder(logs)
    check_writable(database_of(database, async_journal=file.server.journal_commit == "async"))
    if port is None:
        port = file.server.port if "port" in file.server.model_fields_set else 0
    values = {
        "--port": port,
        "--database": database,
        "--host": host,
        "--library": library,
        "--bot-logs": bot_logs,
        "--web-port": web_port,
        "--keep-page": "always" if keep_page else "visited" if is_terminal() else None,
        # A person may take a while to open the link.
        "--absent": None
        if file.contest.absent is not None or any(bot.person for bot in file.bot)
        else DEFAULT_ABSENT,
    }
    flags = ["--until-finished", "--supervised", *(() if resume else ("--new",))]
    if web is not None:
        flags.append("--web" if web else "--no-web")
    server = [*ARENA, "serve", str(config), *flags]
    for option, value in values.items():
        server += () if value is None else (option, str(value))
    with TournamentDisplay(file.contest.name, database, json=as_json) as display:
        engines = (bot.engine for bot in file.bot if bot.engine is not None)
        compile_engines(file.contest.game, engines, display.step)
        ended = asyncio.run(_run(Tournament(server, server_environment(bots), bots, logs), display))
    last = display.last
    if last is None:
        raise typer.Exit(INTERRUPTED)
    display.show_outcome()
    display.page_gone()
    if not ended:
        raise typer.Exit(INTERRUPTED)
    if last["ended"] != "finished":
        raise ArenaError(unplayed_message(last))


async def _run(tournament: Tournament, display: TournamentDisplay) -> bool:
    from arena_server.tournament.supervisor import interrupt_event, run

    return await run(tournament, display, interrupt_event())


def _local_bots(file: ContestFile, config: Path) -> list[LocalBot]:
    """Return the bots to start. Raises ConfigError for an engine or a program that does not exist."""
    from arena_cli.bot import check
    from arena_cli.local_bots import check_command, engine_command, local_bots
    from arena_protocol.errors import UserError
    from arena_server.errors import ConfigError

    bots: list[LocalBot] = []
    for number, bot in enumerate(file.bot, start=1):
        place = f"{config}: bot {number}"
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
    return bots


def warm_up(game: Annotated[str, typer.Argument()], engines: Annotated[list[str], typer.Argument()]) -> None:
    """Compile what these engines need into the cache on disk; print a line per compiled function."""
    import logging
    import sys

    from arena_cli.bot import warm_up

    logger = logging.getLogger("arena_engines")
    logger.addHandler(logging.StreamHandler(sys.stdout))
    logger.setLevel(logging.INFO)
    warm_up(engines, game)


def make_folder(folder: Path | None) -> None:
    """Make the folder of --logs. Raises ArenaError."""
    from arena_server.errors import ArenaError

    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArenaError(f"--logs: {folder}: cannot be made: {error.strerror}") from None
