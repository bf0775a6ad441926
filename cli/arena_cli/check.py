"""`arena check`: does a bot, or a server, keep to PROTOCOL.md? A report by clause."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_cli.options import Json, Tls, TlsCa, expanded, print_json, tls_context
from arena_protocol.errors import LocalProtocolError
from arena_protocol.messages import VERSION, Hello, encode
from arena_server.errors import ArenaError, ConfigError

if TYPE_CHECKING:
    from arena_check.cases import Case, CaseResult, Suite

List = Annotated[bool, typer.Option("--list", help="List the cases and leave.")]
Strict = Annotated[bool, typer.Option("--strict", help="Fail on everything that is not ok.")]
Junit = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a JUnit report, too.", show_default=False)
]
Patience = Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="How long to wait for an answer.")]


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """How a report is printed, and what counts as a failure."""

    strict: Strict = False
    as_json: Json = False
    junit: Junit = None


@dataclass(frozen=True, slots=True)
class BotOptions:
    """The bot under test and its game; `listen` instead of a command is for one that is started by hand."""

    listen: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Wait there for a bot that is started by hand for each case."),
    ] = None
    game: Annotated[str, typer.Option(help="The game to check it with.")] = "insertion"
    name: Annotated[str, typer.Option(help="The name that the bot is given.")] = "checked"
    token: Annotated[str, typer.Option(help="The token that the bot is given.")] = "s3cret"  # noqa: S105
    patience: Patience = 10.0
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Check it with the game of this contest, in a container with its limits for --name.",
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How to log in to the server under test."""

    names: Annotated[
        str, typer.Option(metavar="NAME,NAME", help="Two bots of its contest, to log in as.")
    ] = "check-1,check-2"
    token: Annotated[str | None, typer.Option(help="Their token; better given as ARENA_TOKEN.")] = None
    tls: Tls = False
    tls_ca: TlsCa = None
    patience: Patience = 10.0


def group() -> typer.Typer:
    app = typer.Typer(
        no_args_is_help=True,
        help="Check a bot or a server against PROTOCOL.md.\n\nExample: arena check bot python mybot.py",
    )
    app.command("bot")(expanded(bot))
    app.command("game")(game)
    app.command("server")(expanded(server))
    return app


def bot(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CLAUSE]... -- COMMAND", help="What to check, and the bot.", show_default=False
        ),
    ] = None,
    options: BotOptions = BotOptions(),
    listed: List = False,
    output: ReportOptions = ReportOptions(),
) -> None:
    """Check a bot by short games with a scripted referee.

    The command is started once for each case. {host}, {port}, {name} and {token} are filled in in its
    words; ARENA_HOST, ARENA_PORT, ARENA_NAME and ARENA_TOKEN hold the same. CLAUSE is a section (8), a
    clause (8.1) or a case (8.1/3). Exit status 1: something failed or was not reached. The command
    image:mybot:3 or build:./mybot is a bot in a container, as in a contest.

    Example: arena check bot 3 8.1/2 -- python3 mybot.py {host} {port} {name}
    """
    from arena_check.bot.table import DEFAULTS
    from arena_check.runner import BOT_SUITE
    from arena_cli.local_bots import check_command
    from arena_protocol.games import make_game

    selections, command = _split(words or [])
    cases = _selected(BOT_SUITE, selections)
    if listed:
        _list(cases, as_json=output.as_json)
        return
    if bool(command) == (options.listen is not None):
        raise ConfigError("give the bot's command after --, or --listen HOST:PORT for a bot that you start")
    if options.config is not None:
        from arena_server.terms.stages import load_whole

        options = replace(options, game=load_whole(options.config).contest.game)
    # An unknown game is refused before anything is started.
    make_game(options.game, DEFAULTS.get(options.game, {}))
    if command and not _is_contained(command):
        command = check_command(command, "check bot")
    _report(_bot_results(command, options, cases), "bot", output)


def game(
    player: Annotated[
        str, typer.Argument(metavar="BOT", help="image:NAME or build:FOLDER.", show_default=False)
    ],
    config: Annotated[
        Path, typer.Option(metavar="FILE", help="The contest as which it plays.", show_default=False)
    ],
    name: Annotated[
        str | None, typer.Option(help="The bot of the contest whose limits count.", show_default=False)
    ] = None,
) -> None:
    """Play a deal from every seat in a container as in a contest, against bots that move at random.

    Clocks, options, sandbox and limits are those of the contest. Exit status 1: the bot has committed a
    fault, or a game could not be played.

    Example: arena check game build:./mybot --config boxes.toml
    """
    from arena_cli.check_container import check_games

    if not _is_contained([player]):
        raise ConfigError(f"check game: expected image:NAME or build:FOLDER, got {player!r:.40}")
    if faults := check_games(player, config, name):
        for line in faults:
            typer.echo(line)
        raise typer.Exit(1)
    typer.echo("no fault")


def _is_contained(command: list[str]) -> bool:
    from arena_cli.sandboxes import is_contained

    return len(command) == 1 and is_contained(command[0])


def _bot_results(command: list[str], options: BotOptions, cases: list[Case[Any]]) -> Iterator[CaseResult]:
    """Check the bot of `command`, or the one that connects to --listen. Raises ConfigError."""
    from arena_check.bot.bench import BotSettings
    from arena_check.bot.process import BotUnderTest, ByHand, Process
    from arena_check.runner import check_bot
    from arena_server.host.sockets import parse_address
    from arena_server.places.process import why_not_started

    listen = options.listen
    host, port = ("127.0.0.1", 0) if listen is None else parse_address(listen, "--listen")
    settings = BotSettings(options.name, options.token, options.game, host, port, options.patience)
    if _is_contained(command):
        from arena_cli.check_container import ContainedBot, contest_limits

        _, limits = contest_limits(options.config, options.name)
        with ContainedBot(command[0], limits) as contained:
            yield from check_bot(contained, settings, cases)
        return
    tested: BotUnderTest = Process(command) if command else ByHand()
    try:
        yield from check_bot(tested, settings, cases)
    except OSError as error:
        what = (
            why_not_started(command[0], error)
            if command
            else f"--listen {listen}: {os.strerror(error.errno or 0)}"
        )
        raise ConfigError(f"check bot: {what}") from None


def server(
    where: Annotated[
        str | None, typer.Argument(metavar="HOST:PORT", help="The server.", show_default=False)
    ] = None,
    selections: Annotated[
        list[str] | None, typer.Argument(metavar="[CLAUSE]...", help="What to check.", show_default=False)
    ] = None,
    options: ServerOptions = ServerOptions(),
    listed: List = False,
    output: ReportOptions = ReportOptions(),
) -> None:
    """Check a server by logging in as two bots of its contest.

    The contest is to hold just these two bots, with enough games, no probation and short games; docs/check.md
    has one. CLAUSE is a section (8), a clause (8.1) or a case (8.1/3). Exit status 1: something failed or
    was not reached.

    Example: arena check server localhost:2006 --names check-1,check-2
    """
    from arena_check.cases import SELECTION
    from arena_check.runner import SERVER_SUITE, check_server
    from arena_check.server.bench import ServerSettings
    from arena_server.host.sockets import parse_address

    selections = selections or []
    if listed and where is not None and SELECTION.fullmatch(where):
        selections = [where, *selections]
    cases = _selected(SERVER_SUITE, selections)
    if listed:
        _list(cases, as_json=output.as_json)
        return
    if where is None:
        raise ConfigError("say which server: HOST:PORT")
    first, comma, second = options.names.partition(",")
    if not (first and comma and second) or first == second:
        raise ConfigError(f"--names: expected two names with a comma between them, got {options.names!r}")
    host, port = parse_address(where, "HOST:PORT")
    secret = options.token or os.environ.get("ARENA_TOKEN") or None
    for name in (first, second):
        try:
            encode(Hello(VERSION, name, token=secret))
        except LocalProtocolError as error:
            raise ConfigError(f"--names, --token: {error}") from None
    tls = tls_context(options.tls, options.tls_ca)
    _check_there(host, port, options.patience)
    settings = ServerSettings(host, port, (first, second), secret, options.patience, tls=tls)
    _report(check_server(settings, cases), "server", output)


def _check_there(host: str, port: int, patience: float) -> None:
    """Raises ArenaError if nothing listens: else each case would say so in a line of its own."""
    import socket

    try:
        socket.create_connection((host, port), patience).close()
    except OSError as error:
        why = error.strerror or str(error)
        raise ArenaError(
            f"check server: no server answers at {host}:{port} ({why}); is it running?"
        ) from None


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """Clauses stand before the command; the first word that is none begins it."""
    from arena_check.cases import SELECTION

    place = next((place for place, word in enumerate(words) if not SELECTION.fullmatch(word)), len(words))
    return words[:place], words[place:]


def _selected(suite: Suite[Any], selections: list[str]) -> list[Case[Any]]:
    try:
        return suite.select(selections)
    except ValueError as error:
        raise ConfigError(str(error)) from None


def _list(cases: list[Case[Any]], *, as_json: bool) -> None:
    from arena_check import report

    if as_json:
        print_json({"cases": [report.case_json(case, case.clause) for case in cases]})
    else:
        typer.echo(report.listing(cases))


def _report(results: Iterator[CaseResult], peer: str, output: ReportOptions) -> None:
    """Print each result as it comes, the worst failure in full, and the score; exit with 1 if it fails."""
    from arena_check import report
    from arena_check.cases import is_conformant

    done: list[CaseResult] = []
    for result in results:
        done.append(result)
        if not output.as_json and not result.needed:
            typer.echo(report.line(result))
    worst = report.costliest(done, peer)
    if output.as_json:
        print_json(report.as_json(done, peer))
    else:
        for line in report.not_run(done):
            typer.echo(line)
        if worst is not None:
            typer.echo(f"\n{report.detail(worst, peer)}\n")
        typer.echo(report.summary(done))
    if output.junit is not None:
        try:
            output.junit.write_text(report.as_junit(done, peer, strict=output.strict), encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"--junit: {output.junit}: {error.strerror}") from None
    if not is_conformant(done, strict=output.strict):
        raise typer.Exit(1)
