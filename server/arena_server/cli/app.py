"""All commands, put together. Importing this is part of every start, so it loads nothing heavy."""

from __future__ import annotations

import gc
from typing import Annotated

import typer

import arena_server.cli.bench as bench
import arena_server.cli.bot as bot
import arena_server.cli.explain as explain
import arena_server.cli.replay as replay
import arena_server.cli.results as results
import arena_server.cli.serve as serve
import arena_server.cli.simulate as simulate
import arena_server.cli.tournament as tournament
import arena_server.cli.watch as watch

app = typer.Typer(
    name="arena",
    help="A contest server for programs that play board games.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
bench_app = typer.Typer(help="Measure search and referee.", no_args_is_help=True, rich_markup_mode=None)

app.command("tournament")(tournament.command)
app.command("warm-up", hidden=True)(tournament.warm_up)
app.command("serve")(serve.command)
app.command("bot")(bot.command)
app.command("standings")(results.standings)
app.command("watch")(watch.command)
app.command("replay")(replay.command)
app.command("verify")(results.verify)
app.command("export")(results.export)
app.command("simulate")(simulate.command)
app.command("analyse")(bench.analyse)
app.add_typer(bench_app, name="bench")
app.add_typer(explain.group(), name="explain")
bench_app.command("search")(bench.search)
bench_app.command("referee")(bench.referee)
app.command("bench-server", hidden=True)(bench.server)
app.command("bench-load", hidden=True)(bench.load)


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
    """A contest server for programs that play board games."""
    if context.invoked_subcommand != "serve":
        gc.enable()
