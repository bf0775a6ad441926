"""All commands by name. Only the one that is asked for is loaded and built: a server's start pays for it.

Building a command costs a validator a parameter; with all commands that would be a tenth of
the time in which a server has to listen.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

#: How help is printed: plain, the same in a pipe and in a terminal.
STYLE: dict[str, Any] = {"rich_markup_mode": None, "add_completion": False, "pretty_exceptions_enable": False}

#: A built command or group of commands, as typer makes it.
Command = Any


def single(module: str, function: str = "command", *, hidden: bool = False) -> Callable[[str], Command]:
    """Build the command that is `function` of the module `arena_cli.<module>`."""

    def build(name: str) -> Command:
        app = typer.Typer(**STYLE)
        app.command(name, hidden=hidden)(getattr(import_module(f"arena_cli.{module}"), function))
        return get_command(app)

    return build


def group(module: str, function: str = "group") -> Callable[[str], Command]:
    """Build the group of commands whose typer.Typer `function` of `arena_cli.<module>` returns."""

    def build(name: str) -> Command:
        app = typer.Typer(**STYLE)
        app.add_typer(getattr(import_module(f"arena_cli.{module}"), function)(), name=name)
        return getattr(get_command(app), "commands")[name]  # noqa: B009 - its class is typer's own affair

    return build


#: Every command, in the order in which help lists them.
COMMANDS: Mapping[str, Callable[[str], Command]] = {
    "tournament": single("tournament"),
    "serve": single("serve"),
    "bot": single("bot"),
    "standings": single("results", "standings"),
    "watch": single("watch"),
    "replay": single("replay"),
    "verify": single("verify"),
    "export": single("results", "export"),
    "admin": single("admin"),
    "play": single("play"),
    "match": single("match"),
    "analyse": single("bench", "analyse"),
    "bench": group("bench"),
    "explain": group("explain"),
    "warm-up": single("tournament", "warm_up", hidden=True),
}


class _Commands(TyperGroup):
    """The group of all commands, each built when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, in order."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Command | None:
        """Build the command of this name, or return None if there is none."""
        if cmd_name not in self.commands and cmd_name in COMMANDS:
            command = COMMANDS[cmd_name](cmd_name)
            command.name = cmd_name
            self.commands[cmd_name] = command
        return self.commands.get(cmd_name)


app = typer.Typer(
    name="arena",
    cls=_Commands,
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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """A contest server for programs that play board games.

    Example: arena tournament examples/local.toml
    """
    if context.invoked_subcommand != "serve":
        gc.enable()
