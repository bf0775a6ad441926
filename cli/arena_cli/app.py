"""The table of all commands, and what packages add. A module is imported when its command is called.

Building one typer command takes about a millisecond per parameter; building all of them would
take a tenth of the time to `listening` of `arena serve`.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from arena_cli.options import expanded
from arena_protocol.plugins import Plugins

#: Plain help, the same in a pipe and in a terminal.
STYLE: dict[str, Any] = {"rich_markup_mode": None, "add_completion": False, "pretty_exceptions_enable": False}

#: A built command or group; typer's classes for them are not public.
Command = Any

_NEGATIVE = re.compile(r"-[0-9.]+")


def numbers_as_arguments(words: list[str], valued: Collection[str]) -> list[str]:
    """Return the words of a command line so that a negative number is an argument and no option.

    `valued` are the options with a value. Without a negative number the words are as they were.
    """
    options: list[str] = []
    arguments: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            arguments += rest
        elif word[:1] != "-" or word == "-" or _NEGATIVE.fullmatch(word):
            arguments.append(word)
        else:
            options += [word, *islice(rest, word in valued)]
    return [*options, "--", *arguments] if any(map(_NEGATIVE.fullmatch, arguments)) else words


class _Numbers(TyperCommand):
    """A command that takes negative numbers as arguments: `arena admin penalty bob -1`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        options = [each for each in self.params if each.param_type_name == "option"]
        valued = {name for each in options if not getattr(each, "is_flag", False) for name in each.opts}
        return super().parse_args(ctx, numbers_as_arguments(args, valued))


def single(module: str, function: str = "command") -> Callable[[str], Command]:
    """Return a builder of the command that is `function` of `arena_cli.<module>`."""
    return lambda name: _built(name, getattr(import_module(f"arena_cli.{module}"), function))


def group(module: str, function: str = "group") -> Callable[[str], Command]:
    """Return a builder of the group whose typer.Typer is the result of `function` of `arena_cli.<module>`."""
    return lambda name: _built(name, getattr(import_module(f"arena_cli.{module}"), function)())


def _built(name: str, what: typer.Typer | Callable[..., None]) -> Command:
    app = typer.Typer(**STYLE)
    if not isinstance(what, typer.Typer):
        app.command(name, cls=_Numbers)(expanded(what))
        return get_command(app)
    app.add_typer(what, name=name)
    return getattr(get_command(app), "commands")[name]  # noqa: B009 - the attribute is not public


#: Every command of this package by who reads `arena --help`, in its order; docs/commands.md has the same.
GROUPS: Final[Mapping[str, Mapping[str, Callable[[str], Command]]]] = {
    "Organisers": {
        "tournament": single("tournament"),
        "new": group("new"),
        "serve": single("serve"),
        "simulate": single("simulate"),
        "rehearse": single("rehearse"),
        "admin": single("admin"),
        "standings": single("standings"),
        "ratings": single("ratings"),
        "verify": single("verify"),
        "export": single("export"),
        "backup": single("backup"),
        "archive": single("archive"),
        "publish": single("publish"),
        "site": single("site"),
        "report": single("report"),
        "web": single("web"),
        "texts": single("texts"),
    },
    "Bot authors": {
        "match": single("match"),
        "tune": single("tune"),
        "climb": single("climb"),
        "check": group("check"),
        "why": single("why"),
        "log": single("log"),
        "submit": single("submit"),
        "mcp": single("agents"),
        "bridge": single("bridge"),
        "proxy": single("proxy"),
    },
    "Spectators": {
        "watch": single("watch"),
        "replay": single("replay"),
        "highlights": single("highlights"),
        "play": single("play"),
    },
    "Engines": {
        "bot": single("bot"),
        "engines": single("engines"),
        "analyse": single("bench", "analyse"),
        "brain": single("brain"),
        "bench": group("bench"),
    },
}

COMMANDS: Final[Mapping[str, Callable[[str], Command]]] = {
    name: builder for each in GROUPS.values() for name, builder in each.items()
}


def _builder(name: str, found: object) -> Callable[[str], Command]:
    """Return what builds the command of an entry point. Raises TypeError for what is none."""
    if name in COMMANDS:
        return COMMANDS[name]
    if not (isinstance(found, typer.Typer) or callable(found)):
        raise TypeError(f"{found!r:.80} is neither a function nor a typer.Typer")
    return partial(_built, what=found)


#: All commands: those of above, and what installed packages add.
ALL_COMMANDS: Final[Plugins[Callable[[str], Command]]] = Plugins("arena.commands", COMMANDS, _builder)


class _LazyGroup(TyperGroup):
    """A group that builds each command when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(ALL_COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        added = [name for name in ALL_COMMANDS if name not in COMMANDS]
        sections = {title: [*names] for title, names in GROUPS.items()} | {"Plug-ins": added}
        # One column of names for all sections.
        longest = max(map(len, [*COMMANDS, *added]))
        width = formatter.width - 6 - longest
        for title, names in sections.items():
            shown = [(name, self.get_command(ctx, name)) for name in names]
            rows = [
                (name.ljust(longest), each.get_short_help_str(width))
                for name, each in shown
                if each and not each.hidden
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
        for line in ALL_COMMANDS.problems:
            typer.echo(f"arena: {line}", err=True)

    def get_command(self, ctx: Any, cmd_name: str) -> Command | None:
        # The installed packages are searched for a name that is not in COMMANDS alone.
        if cmd_name not in self.commands and cmd_name in ALL_COMMANDS:
            command = ALL_COMMANDS[cmd_name](cmd_name)
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
