"""`arena tournament`: server, bots and all, from one file to the final standings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_cli.options import DEFAULT_DATABASE, Config, Database, Json, print_json
from arena_server.errors import INTERRUPTED

if TYPE_CHECKING:
    from arena_cli.progress import Display
    from arena_server.config_schema import BotTable, ContestFile
    from arena_server.tournament.supervisor import LocalBot

#: How long a bot may be away from its own tournament, where the file does not say.
DEFAULT_ABSENT = "30s"
#: 128 bits, as hexadecimal digits: a token of one run.
TOKEN_BYTES = 16

ARENA = (sys.executable, "-m", "arena_cli")


def command(
    config: Config,
    database: Database = DEFAULT_DATABASE,
    host: Annotated[str | None, typer.Option(help="Where to listen; else server.host.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 picks one.")] = 0,
    logs: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep what server and bots say in files there.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with the latest contest of this name if it is unfinished."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Run a contest from CONFIG to the final standings.

    Starts the server, and each bot that has an engine or a command.
    Every bot is a process of its own that connects over TCP; {host} {port} {name} {token} in a
    `command` are filled in, and ARENA_HOST, ARENA_PORT, ARENA_NAME and ARENA_TOKEN are set.
    A bot that crashes is started again a few times; one that stays away for longer than
    contest.absent (30s here, where the file does not say) is waited for no more. Exit status
    130 after ctrl-C: running games are void, results so far are kept, and --resume goes on.

    Example: arena tournament examples/local.toml
    """
    import asyncio

    from arena_cli.progress import Display
    from arena_cli.results import plain_standings, print_standings
    from arena_server.config_file import load_contest
    from arena_server.errors import ConfigError
    from arena_server.store.database import database_of
    from arena_server.store.preflight import check_writable
    from arena_server.store.reader import Results
    from arena_server.tournament.supervisor import Tournament, run

    file = load_contest(config)
    if file.server.tls_certificate is not None:
        raise ConfigError(
            f"{config}: server.tls_certificate: the bots of a tournament connect without TLS; use arena serve"
        )
    _check_bots(file, config)
    _make_folder(logs)
    where = database_of(database)
    check_writable(where)
    bots = [_local(bot, file) for bot in file.bot if bot.is_local]
    listen = ["--port", str(port), *(["--host", host] if host is not None else [])]
    server = [
        *ARENA,
        "serve",
        str(config),
        *listen,
        "--database",
        database,
        "--until-finished",
        "--supervised",
    ]
    if not resume:
        server.append("--new")
    if file.contest.absent is None:
        server += ["--absent", DEFAULT_ABSENT]
    tournament = Tournament(server, _digests(bots), bots, logs)
    with Display(file.contest.name) as display:
        _warm_up(file, display)
        whole = asyncio.run(run(tournament, display))
    if not (whole or display.begun):
        raise typer.Exit(INTERRUPTED)
    with Results(where) as results:
        contest = results.contest(file.contest.name)
        if as_json:
            print_json(plain_standings(results, contest))
        else:
            print_standings(results, contest)
    if not whole:
        raise typer.Exit(INTERRUPTED)


def _check_bots(file: ContestFile, config: Path) -> None:
    """Every engine exists and every program is there. Raises an error in one line."""
    from shutil import which

    from arena_cli.bot import check
    from arena_client.errors import ClientError
    from arena_server.errors import ArenaError, ConfigError

    for number, bot in enumerate(file.bot, start=1):
        place = f"{config}: bot {number}"
        if bot.command is not None and which(bot.command[0]) is None:
            raise ConfigError(f"{place}: command: no program {bot.command[0]!r} here or on the path")
        if bot.engine is not None:
            try:
                check(bot.engine, file.contest.game)
            except (ArenaError, ClientError, ValueError) as error:
                raise ConfigError(f"{place}: engine: {error}") from None


def _local(bot: BotTable, file: ContestFile) -> LocalBot:
    """How to start a bot, with a token that is good for this run."""
    import secrets

    from arena_server.tournament.supervisor import LocalBot

    if bot.command is not None:
        command = bot.command
    else:
        assert bot.engine is not None
        command = [*ARENA, "bot", bot.engine, "--game", file.contest.game]
    return LocalBot(bot.name, command, secrets.token_hex(TOKEN_BYTES))


def _digests(bots: list[LocalBot]) -> dict[str, str]:
    """The environment by which the server learns of the tokens, without the tokens."""
    import json
    from hashlib import sha256

    from arena_cli.serve import DIGESTS_VARIABLE

    digests = {bot.name: sha256(bot.token.encode("ascii")).hexdigest() for bot in bots}
    return {DIGESTS_VARIABLE: json.dumps(digests)}


def _warm_up(file: ContestFile, display: Display) -> None:
    """Compile what the engines need once, before five processes want the same at the same time."""
    import subprocess

    from arena_server.errors import ArenaError

    specs = sorted({bot.engine for bot in file.bot if bot.engine is not None})
    if not specs:
        return
    with display.step("compiling engines ..."):
        made = subprocess.run(  # noqa: S603 - our own command, and names that were checked
            [*ARENA, "warm-up", file.contest.game, *specs], capture_output=True, text=True, check=False
        )
    if made.returncode:
        last = made.stderr.strip().splitlines()[-1:] or [f"status {made.returncode}"]
        raise ArenaError(f"engines could not be made ready: {last[0].removeprefix('arena: ')}")


def warm_up(game: Annotated[str, typer.Argument()], engines: Annotated[list[str], typer.Argument()]) -> None:
    """Compile what these engines need, for the processes to come."""
    from arena_cli.bot import warm_up

    warm_up(engines, game)


def _make_folder(folder: Path | None) -> None:
    from arena_server.errors import ArenaError

    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ArenaError(f"--logs: {folder}: cannot be made: {error.strerror}") from None
