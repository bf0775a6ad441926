"""The bots that `arena bot` and `arena tournament` can start: engines by name, scripted bots by name.

`arena bot`: an engine of ours, or a scripted bot, plays a contest.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from arena_cli.options import Tls, TlsCa, address, check_login, trust
from arena_server.errors import ConfigError

if TYPE_CHECKING:
    from arena_client.run import Invitation


def is_scripted(spec: str) -> bool:
    """Whether `spec` names a scripted bot rather than an engine."""
    from arena_client.scripted import SCRIPTED

    return spec.partition(":")[0] in SCRIPTED


def check(spec: str, game: str) -> None:
    """Raise an error, in one line that lists what there is, if nobody is called `spec`."""
    from arena_client import scripted
    from arena_client.errors import ClientError
    from arena_engines import registry
    from arena_engines.engine import EngineError

    if is_scripted(spec):
        try:
            scripted.create(spec)
        except ClientError as error:
            raise ConfigError(str(error)) from None
        return
    try:
        registry.create(spec, game)
    except EngineError as error:
        if spec.partition(":")[0] in {each.name for each in registry.ENGINES if each.game == game}:
            raise
        raise ConfigError(f"{error}; scripted bots: {', '.join(scripted.SCRIPTED)}") from None


def warm_up(specs: Iterable[str], game: str) -> None:
    """Compile what these engines need, into the cache that their processes will find."""
    from arena_engines import registry

    for spec in specs:
        if not is_scripted(spec):
            registry.create(spec, game).warm_up()


def play(spec: str, game: str | None, seat: Invitation) -> str:
    """Compile, log in and play to the end; return the reason of BYE. Raises ClientError or EngineError.

    Without a `game` it is every game that has an engine of this name.
    """
    from arena_client import asyncio_client, scripted
    from arena_engines import bot as engine_bot

    games = _games_of(spec) if game is None else (game,)
    for each in games:
        check(spec, each)
    if is_scripted(spec):
        return scripted.run(spec, seat.host, seat.port, name=seat.name, token=seat.token, tls=seat.tls)
    # READY has a limit, and a cold and busy machine may take longer to compile a search than that.
    for each in games:
        warm_up((spec,), each)
    bot = engine_bot.bot_of(spec, game)
    return asyncio_client.run(bot, seat.host, seat.port, name=seat.name, token=seat.token, tls=seat.tls)


def _games_of(spec: str) -> tuple[str, ...]:
    """The games that have an engine of this name; for a name that nobody has, the one it is looked for in."""
    from arena_engines import registry
    from arena_protocol.games import FLAGSHIP

    return registry.games_of(spec.partition(":")[0]) or (FLAGSHIP,)


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
    from arena_client.run import Invitation

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
