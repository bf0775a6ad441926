"""`arena bot`: an engine of ours, or a scripted bot, plays a contest."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from arena_server.cli.login import address, check_login
from arena_server.cli.options import Tls, TlsCa, trust
from arena_server.errors import ConfigError

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
    game: Annotated[
        str | None,
        typer.Option(
            metavar="GAME", help="The only game to play; else all that ENGINE can.", show_default=False
        ),
    ] = None,
    tls: Tls = False,
    tls_ca: TlsCa = None,
) -> None:
    """Let an engine play at a server until it says BYE.

    ENGINE is NAME or NAME:key=value,... of an engine (champion:depth=5, greedy, random, dummy,
    minimax:depth=3; xo; perfect) or of a scripted bot, good or bad (zero-based, flooder, silent, ...).

    Example: arena bot champion:depth=5 --connect localhost:2006 --name mine
    """
    from arena_client.entry import Invitation
    from arena_server.cli.players import play

    host, port = address(_invited() if connect is None else connect)
    seat = Invitation(
        host,
        port,
        name or os.environ.get("ARENA_NAME") or engine.partition(":")[0],
        token or os.environ.get("ARENA_TOKEN") or None,
        trust(tls, tls_ca),
    )
    check_login(seat.name, seat.token)
    typer.echo(f"{seat.name} leaves: {play(engine, game, seat)}")


def _invited() -> str:
    """HOST:PORT of the environment. Raises ConfigError."""
    host, port = os.environ.get("ARENA_HOST", ""), os.environ.get("ARENA_PORT", "")
    if not host or not port:
        raise ConfigError(EXAMPLE)
    return f"{host}:{port}"
