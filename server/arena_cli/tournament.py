"""`arena tournament`: from one file to the final standings, with the server and all local bots."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_cli.options import DEFAULT_DATABASE, Config, Database, Json, Library, print_json
from arena_server.errors import INTERRUPTED

if TYPE_CHECKING:
    from arena_cli.progress import Display
    from arena_server.config_schema import BotTable, ContestFile
    from arena_server.tournament.supervisor import LocalBot

#: The value of contest.absent here, where the file gives none.
DEFAULT_ABSENT = "30s"
#: The size of a bot's token, which is good for one run.
TOKEN_BYTES = 16

#: As the first word of a command: the interpreter that runs `arena`, which can import arena_client.
PYTHON = "python"
ARENA = (sys.executable, "-m", "arena_cli")


def command(
    config: Config,
    database: Database = DEFAULT_DATABASE,
    host: Annotated[str | None, typer.Option(help="The address to listen on; else server.host.")] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="The port; else server.port of the file, else a free one."),
    ] = None,
    web: Annotated[
        bool | None,
        typer.Option("--web/--no-web", help="Serve the web page for spectators; else server.web, on."),
    ] = None,
    web_port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="The port of the web page, 0 picks one; else server.web_port, else 2080."
        ),
    ] = None,
    logs: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write the output of server and bots to files in FOLDER."),
    ] = None,
    library: Library = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Resume the latest contest of this name if it is unfinished."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Run a contest from CONFIG to the final standings.

    Starts the server, prints `listening on HOST:PORT` and `web on http://HOST:PORT` (standings,
    running games and replays in a browser), and starts each bot that has an engine or
    a command; all other bots connect from elsewhere. A bot with `person = true` is played in a browser
    by the link that is printed. In a `command` the word python means the
    interpreter of arena, and {host} {port} {name} {token} are replaced. The environment of a bot
    has ARENA_HOST, ARENA_PORT, ARENA_NAME and ARENA_TOKEN, and of the caller's only PATH, HOME,
    LANG, TMPDIR, XDG_CACHE_HOME and ARENA_DEBUG.

    A bot that ends before it has logged in ends the tournament with the last line of its stderr
    and status 1. One that crashes later is started again after 0.5, 1, 2, 4 and then every 8
    seconds, and resumes its game. The games of a bot that stays away longer than contest.absent
    (30s if the file gives none) are skipped: then the contest is incomplete, the last line names
    the missing bots and counts the unplayed games by cause, and the status is 1. After Ctrl-C
    running games are void, results are kept, the status is 130, and --resume continues.

    Example: arena tournament examples/local.toml
    """
    import asyncio

    from arena_cli.progress import Display
    from arena_cli.results import open_results, plain_standings, print_standings, unplayed_message
    from arena_server.config_file import check_seed, load_contest
    from arena_server.errors import ArenaError, ConfigError
    from arena_server.store.database import database_of
    from arena_server.store.preflight import check_writable
    from arena_server.tournament.supervisor import Tournament, run

    file = load_contest(config, library)
    if file.server.tls_certificate is not None:
        raise ConfigError(
            f"{config}: server.tls_certificate: the bots of a tournament connect without TLS; use arena serve"
        )
    check_seed(file, host or file.server.host, tournament=True)
    _check_bots(file, config)
    _make_folder(logs)
    check_writable(database_of(database, async_journal=file.server.journal_commit == "async"))
    bots = [_local_bot(bot, file) for bot in file.bot if bot.is_local]
    if port is None:
        port = file.server.port if "port" in file.server.model_fields_set else 0
    server = [*ARENA, "serve", str(config), "--port", str(port), "--database", database]
    server += ["--until-finished", "--supervised"]
    if host is not None:
        server += ["--host", host]
    if library is not None:
        server += ["--library", str(library)]
    if web is not None:
        server.append("--web" if web else "--no-web")
    if web_port is not None:
        server += ["--web-port", str(web_port)]
    if not resume:
        server.append("--new")
    # A person may take a while to open the link.
    if file.contest.absent is None and not any(bot.person for bot in file.bot):
        server += ["--absent", DEFAULT_ABSENT]
    with Display(file.contest.name, json=as_json) as display:
        _compile_engines(file, display)
        ended = asyncio.run(run(Tournament(server, _digests(bots), bots, logs), display))
    last = display.last
    if last is None:
        raise typer.Exit(INTERRUPTED)
    with open_results(database) as results:
        contest = results.contest(file.contest.name)
        if as_json:
            unplayed = {key: last[key] for key in ("missing", "unplayed") if last["ended"] != "finished"}
            print_json(plain_standings(results, contest) | unplayed)
        else:
            print_standings(results, contest)
    if not ended:
        raise typer.Exit(INTERRUPTED)
    if last["ended"] != "finished":
        raise ArenaError(unplayed_message(last))


def _check_bots(file: ContestFile, config: Path) -> None:
    """Raise ConfigError for a bot whose engine or program does not exist."""
    from shutil import which

    from arena_cli.bot import check
    from arena_protocol.errors import UserError
    from arena_server.errors import ConfigError

    for number, bot in enumerate(file.bot, start=1):
        place = f"{config}: bot {number}"
        if bot.command is not None and bot.command[0] != PYTHON and which(bot.command[0]) is None:
            raise ConfigError(f"{place}: command: no program {bot.command[0]!r} here or on the path")
        if bot.engine is not None:
            try:
                check(bot.engine, file.contest.game)
            except UserError as error:
                raise ConfigError(f"{place}: engine: {error}") from None


def _local_bot(bot: BotTable, file: ContestFile) -> LocalBot:
    import secrets

    from arena_server.tournament.supervisor import LocalBot

    if bot.command is not None:
        command = [sys.executable if bot.command[0] == PYTHON else bot.command[0], *bot.command[1:]]
    else:
        assert bot.engine is not None
        command = [*ARENA, "bot", bot.engine, "--game", file.contest.game]
    return LocalBot(bot.name, command, secrets.token_hex(TOKEN_BYTES))


def _digests(bots: list[LocalBot]) -> dict[str, str]:
    """Return the server's environment: the digests of the bots' tokens, without the tokens."""
    import json
    from hashlib import sha256

    from arena_cli.serve import DIGESTS_VARIABLE

    digests = {bot.name: sha256(bot.token.encode("ascii")).hexdigest() for bot in bots}
    return {DIGESTS_VARIABLE: json.dumps(digests)}


def _compile_engines(file: ContestFile, display: Display) -> None:
    """Fill the compiler's cache, so that the bots do not all compile the same. Raises ArenaError."""
    import subprocess
    from tempfile import TemporaryFile

    from arena_server.errors import ArenaError

    specs = sorted({bot.engine for bot in file.bot if bot.engine is not None})
    if not specs:
        return
    with (
        TemporaryFile("w+") as errors,
        subprocess.Popen(  # noqa: S603 - our own command with checked names
            [*ARENA, "warm-up", file.contest.game, *specs], stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        assert process.stdout is not None
        if process.stdout.readline():  # one line per compiled function: none if all are in the cache
            with display.step("compiling engines ..."):
                process.stdout.read()
        if process.wait():
            errors.seek(0)
            last = errors.read().strip().splitlines()[-1:] or [f"status {process.returncode}"]
            raise ArenaError(f"the engines cannot be compiled: {last[0].removeprefix('arena: ')}")


def warm_up(game: Annotated[str, typer.Argument()], engines: Annotated[list[str], typer.Argument()]) -> None:
    """Compile what these engines need into the cache on disk; print a line per compiled function."""
    import logging

    from arena_cli.bot import warm_up

    logger = logging.getLogger("arena_engines")
    logger.addHandler(logging.StreamHandler(sys.stdout))
    logger.setLevel(logging.INFO)

    warm_up(engines, game)


def _make_folder(folder: Path | None) -> None:
    from arena_server.errors import ArenaError

    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArenaError(f"--logs: {folder}: cannot be made: {error.strerror}") from None
