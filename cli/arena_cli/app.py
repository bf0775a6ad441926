"""The table of all commands. A command's module is imported only when it is called.

Building one typer command takes about a millisecond per parameter; building all of them would
take a tenth of the time to `listening` of `arena serve`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from arena_cli.options import expanded

#: Plain help, the same in a pipe and in a terminal.
STYLE: dict[str, Any] = {"rich_markup_mode": None, "add_completion": False, "pretty_exceptions_enable": False}

#: A built command or group; typer's classes for them are not public.
Command = Any


def single(module: str, function: str = "command") -> Callable[[str], Command]:
    """Return a builder of the command that is `function` of `arena_cli.<module>`."""

    def build(name: str) -> Command:
        app = typer.Typer(**STYLE)
        app.command(name)(expanded(getattr(import_module(f"arena_cli.{module}"), function)))
        return get_command(app)

    return build


def group(module: str, function: str = "group") -> Callable[[str], Command]:
    """Return a builder of the group whose typer.Typer is the result of `function` of `arena_cli.<module>`."""

    def build(name: str) -> Command:
        app = typer.Typer(**STYLE)
        app.add_typer(getattr(import_module(f"arena_cli.{module}"), function)(), name=name)
        return getattr(get_command(app), "commands")[name]  # noqa: B009 - the attribute is not public

    return build


#: Every command, in the order of `arena --help`.
COMMANDS: Mapping[str, Callable[[str], Command]] = {
    "tournament": single("tournament"),
    "simulate": single("simulate"),
    "rehearse": single("rehearse"),
    "serve": single("serve"),
    "bot": single("bot"),
    "standings": single("standings"),
    "ratings": single("ratings"),
    "watch": single("watch"),
    "replay": single("replay"),
    "why": single("why"),
    "log": single("log"),
    "submit": single("submit"),
    "verify": single("verify"),
    "export": single("export"),
    "backup": single("backup"),
    "site": single("site"),
    "report": single("report"),
    "publish": single("publish"),
    "web": single("web"),
    "admin": single("admin"),
    "play": single("play"),
    "match": single("match"),
    "check": group("check"),
    "proxy": single("proxy"),
    "bridge": single("bridge"),
    "brain": single("bridge", "brain"),
    "engines": single("engines"),
    "analyse": single("bench", "analyse"),
    "bench": group("bench"),
    "explain": group("explain"),
}


class _LazyGroup(TyperGroup):
    """A group that builds each command when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Command | None:
        if cmd_name not in self.commands and cmd_name in COMMANDS:
            command = COMMANDS[cmd_name](cmd_name)
            command.name = cmd_name
            self.commands[cmd_name] = command
        return self.commands.get(cmd_name)


app = typer.Typer(
    name="arena",
    cls=_LazyGroup,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    **STYLE,
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        from arena_protocol.messages import VERSION

        typer.echo(f"arena {version('insertion-arena')}, protocol {VERSION}")
        raise typer.Exit


@app.callback()
def _arena(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A contest server for programs that play board games.

    Example: arena tournament examples/local.toml
    """
    if context.invoked_subcommand != "serve":
        gc.freeze()  # what start-up has made lives until the end: no collection looks at it again
        gc.enable()
