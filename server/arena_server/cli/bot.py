"""`arena bot`: an engine of ours, or a scripted bot, plays a contest."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from arena_server.cli.options import Tls, TlsCa, trust

EXAMPLE = "say where to play: --connect HOST:PORT, or ARENA_HOST and ARENA_PORT set"


def command(
    engine: Annotated[
        str, typer.Argument(metavar="ENGINE", help="An engine or a scripted bot.", show_default=False)
    ],
    connect: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="The server; else ARENA_HOST and ARENA_PORT.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The bot's name; else ARENA_NAME, else the engine's.")
    ] = None,
    token: Annotated[str | None, typer.Option(help="Its token; better given as ARENA_TOKEN.")] = None,
    game: Annotated[str, typer.Option(help="The game the engine is to play.")] = "insertion",
    tls: Tls = False,
    tls_ca: TlsCa = None,
) -> None:
    """Let an engine play at a server until it says BYE.

    ENGINE is NAME or NAME:key=value,... of an engine (champion:depth=5, greedy, random, dummy,
    minimax:depth=3) or of a scripted bot, good or bad (zero-based, flooder, silent, ...).

    Example: arena bot champion:depth=5 --connect localhost:2006 --name mine
    """
    from arena_client.entry import Invitation
    from arena_server.cli.players import play
    from arena_server.errors import ConfigError

    host, _, port = (connect or "").rpartition(":")
    if connect is None:
        host, port = os.environ.get("ARENA_HOST", ""), os.environ.get("ARENA_PORT", "")
    if not host or not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ConfigError(EXAMPLE if connect is None else f"--connect: expected HOST:PORT, got {connect!r}")
    seat = Invitation(
        host.strip("[]"),
        int(port),
        name or os.environ.get("ARENA_NAME") or engine.partition(":")[0],
        token or os.environ.get("ARENA_TOKEN") or None,
        trust(tls, tls_ca),
    )
    typer.echo(f"{seat.name} leaves: {play(engine, game, seat)}")
