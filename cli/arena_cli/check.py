"""`arena check`: does a bot, or a server, keep to PROTOCOL.md? A report by clause."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_cli.options import Json, Tls, TlsCa, print_json, tls_context
from arena_server.errors import ConfigError

if TYPE_CHECKING:
    from arena_check.cases import Case, Result, Suite

List = Annotated[bool, typer.Option("--list", help="List the cases and leave.")]
Strict = Annotated[bool, typer.Option("--strict", help="Fail on everything that is not ok.")]
Junit = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a JUnit report, too.", show_default=False)
]
Patience = Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="How long to wait for an answer.")]


def group() -> typer.Typer:
    app = typer.Typer(no_args_is_help=True, help="Check a bot or a server against PROTOCOL.md.")
    app.command("bot")(bot)
    app.command("server")(server)
    return app


def bot(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CLAUSE]... -- COMMAND", help="What to check, and the bot.", show_default=False
        ),
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Wait there for a bot that is started by hand for each case."),
    ] = None,
    game: Annotated[str, typer.Option(help="The game to check it with.")] = "insertion",
    name: Annotated[str, typer.Option(help="The name that the bot is given.")] = "checked",
    token: Annotated[str, typer.Option(help="The token that the bot is given.")] = "s3cret",  # noqa: S107
    patience: Patience = 10.0,
    listed: List = False,
    strict: Strict = False,
    as_json: Json = False,
    junit: Junit = None,
) -> None:
    """Check a bot by short games with a scripted referee.

    The command is started once for each case. {host}, {port}, {name} and {token} are filled in in its
    words; ARENA_HOST, ARENA_PORT, ARENA_NAME and ARENA_TOKEN hold the same. CLAUSE is a section (8), a
    clause (8.1) or a case (8.1/3). Exit status 1: something failed or was not reached.

    Example: arena check bot 3 8.1/2 -- python3 mybot.py {host} {port} {name}
    """
    from arena_check.bot.bench import BotSettings
    from arena_check.bot.process import BotUnderTest, ByHand, Process
    from arena_check.bot.table import DEFAULTS
    from arena_check.runner import BOT_SUITE, check_bot
    from arena_cli.local_bots import check_command
    from arena_protocol.games import make_game
    from arena_server.launch.process import why_not_started
    from arena_server.sockets import parse_address

    selections, command = _split(words or [])
    cases = _selected(BOT_SUITE, selections)
    if listed:
        _list(cases)
        return
    if bool(command) == (listen is not None):
        raise ConfigError("give the bot's command after --, or --listen HOST:PORT for a bot that you start")
    make_game(game, DEFAULTS.get(game, {}))  # an unknown game is refused before anything is started
    if command:
        command = check_command(command, "check bot")
    host, port = ("127.0.0.1", 0) if listen is None else parse_address(listen, "--listen")
    settings = BotSettings(name, token, game, host, port, patience)
    tested: BotUnderTest = Process(command) if command else ByHand()

    def results() -> Iterator[Result]:
        try:
            yield from check_bot(tested, settings, cases)
        except OSError as error:
            what = (
                why_not_started(command[0], error)
                if command
                else f"--listen {listen}: {os.strerror(error.errno or 0)}"
            )
            raise ConfigError(f"check bot: {what}") from None

    _report(results(), "bot", strict=strict, as_json=as_json, junit=junit)


def server(
    where: Annotated[
        str | None, typer.Argument(metavar="HOST:PORT", help="The server.", show_default=False)
    ] = None,
    selections: Annotated[
        list[str] | None, typer.Argument(metavar="[CLAUSE]...", help="What to check.", show_default=False)
    ] = None,
    names: Annotated[
        str, typer.Option(metavar="NAME,NAME", help="Two bots of its contest, to log in as.")
    ] = "check-1,check-2",
    token: Annotated[str | None, typer.Option(help="Their token; better given as ARENA_TOKEN.")] = None,
    tls: Tls = False,
    tls_ca: TlsCa = None,
    patience: Patience = 10.0,
    listed: List = False,
    strict: Strict = False,
    as_json: Json = False,
    junit: Junit = None,
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
    from arena_server.sockets import parse_address

    selections = selections or []
    if listed and where is not None and SELECTION.fullmatch(where):
        selections = [where, *selections]
    cases = _selected(SERVER_SUITE, selections)
    if listed:
        _list(cases)
        return
    if where is None:
        raise ConfigError("say which server: HOST:PORT")
    first, comma, second = names.partition(",")
    if not (first and comma and second) or first == second:
        raise ConfigError(f"--names: expected two names with a comma between them, got {names!r}")
    host, port = parse_address(where, "HOST:PORT")
    secret = token or os.environ.get("ARENA_TOKEN") or None
    settings = ServerSettings(host, port, (first, second), secret, patience, tls=tls_context(tls, tls_ca))
    _report(check_server(settings, cases), "server", strict=strict, as_json=as_json, junit=junit)


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


def _list(cases: list[Case[Any]]) -> None:
    from arena_check import report

    typer.echo(report.listing(cases))


def _report(results: Iterator[Result], peer: str, *, strict: bool, as_json: bool, junit: Path | None) -> None:
    """Print each result as it comes, the first failure in full, and the score; exit with 1 if it fails."""
    from arena_check import report
    from arena_check.cases import Verdict, is_conformant

    done: list[Result] = []
    for result in results:
        done.append(result)
        if not as_json and not result.needed:
            typer.echo(report.line(result))
    first = next((each for each in done if each.verdict is Verdict.FAILED), None)
    first = first or next((each for each in done if each.verdict is Verdict.NOT_REACHED), None)
    if as_json:
        print_json(report.as_json(done, peer))
    else:
        for line in report.not_run(done):
            typer.echo(line)
        if first is not None:
            typer.echo(f"\n{report.detail(first, peer)}\n")
        typer.echo(report.summary(done))
    if junit is not None:
        try:
            junit.write_text(report.as_junit(done, peer, strict=strict), encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"--junit: {junit}: {error.strerror}") from None
    if not is_conformant(done, strict=strict):
        raise typer.Exit(1)
