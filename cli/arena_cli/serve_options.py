"""The options of `arena serve`, and of the commands that serve a contest of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from arena_cli.options import DEFAULT_DATABASE, Database, Library, Web, WebPort
from arena_cli.workers import WorkerOptions


@dataclass(frozen=True, slots=True)
class WebOptions:
    """The options of the web ports; None leaves the choice to the file."""

    web: Web = None
    web_port: WebPort = None
    web_host: Annotated[
        str | None, typer.Option(help="The address of the web page; else server.web_host, 127.0.0.1.")
    ] = None
    admin_port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="The port of metrics and orders, 0 picks one; else server.admin_port."
        ),
    ] = None
    admin_host: Annotated[
        str | None, typer.Option(help="The address of the admin port; else server.admin_host.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What the server hosts, and where; None leaves the choice to the file."""

    host: Annotated[str | None, typer.Option(help="The address to listen on; else server.host.")] = None
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The port, 0 picks one; else server.port.")
    ] = None
    database: Database = DEFAULT_DATABASE
    new: Annotated[
        bool,
        typer.Option("--new", help="Begin a new contest though one of this name is unfinished or over."),
    ] = False
    absent: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION", help="Skip the games of a bot after this absence; else contest.absent."
        ),
    ] = None
    web: WebOptions = field(default_factory=WebOptions)
    library: Library = None
    bot_logs: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep a private log of every bot here, for `arena log`; else server.bot_logs.",
            show_default=False,
        ),
    ] = None
    debug_bot: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Stop all clocks of a game while this bot thinks, for breakpoints; never with remote bots.",
            show_default=False,
        ),
    ] = None
    workers: WorkerOptions = field(default_factory=WorkerOptions)
    #: The only one of its stages that is played, for `arena tournament`.
    stage: Annotated[str | None, typer.Option("--stage", hidden=True)] = None
