"""`arena bot`: an engine of ours, or a scripted bot, plays a contest at a server.

`check` and `warm_up` are used by `arena tournament`, which starts such bots as processes.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_cli.options import (
    Connect,
    ContestName,
    Slot,
    Tls,
    TlsCa,
    check_login,
    contest_of,
    server_address,
    tls_context,
)
from arena_server.errors import ConfigError
from arena_server.host.interrupts import handled, stop_signals

if TYPE_CHECKING:
    from arena_client.run import ConnectArgs

STEADY = "An engine answers as before where a game is played again and goes the same way."
Opening = Annotated[
    str, typer.Option(metavar="MOVES", help="An engine begins with these moves of all seats, by blanks.")
]


def command(
    engine: Annotated[
        str, typer.Argument(metavar="ENGINE", help="An engine or a scripted bot.", show_default=False)
    ],
    connect: Connect = None,
    name: Annotated[
        str | None, typer.Option(help="The bot's name; else ARENA_NAME, else the engine's.")
    ] = None,
    token: Annotated[
        str | None, typer.Option(help="Its token; safer in ARENA_TOKEN, because other users see this option.")
    ] = None,
    game: Annotated[
        str | None,
        typer.Option(
            metavar="GAME", help="Play only this game; else every game that ENGINE can.", show_default=False
        ),
    ] = None,
    slot: Slot = None,
    contest: ContestName = None,
    tls: Tls = False,
    tls_ca: TlsCa = None,
    steady: Annotated[bool, typer.Option("--steady", help=STEADY)] = False,
    opening: Opening = "",
) -> None:
    """Let an engine play at a server until the server sends BYE.

    ENGINE is NAME or NAME:key=value,... of an engine (champion:depth=5, greedy, random, dummy,
    minimax:depth=3; xo; perfect) or of a scripted bot, good or bad (zero-based, flooder, silent, ...).

    Example: arena bot champion:depth=5 --connect localhost:2006 --name mine
    """
    from arena_client.run import ConnectArgs, slot_of
    from arena_server.host.sockets import parse_address

    host, port = parse_address(*server_address(connect))
    seat = ConnectArgs(
        host,
        port,
        name or os.environ.get("ARENA_NAME") or engine.partition(":")[0],
        token or os.environ.get("ARENA_TOKEN") or None,
        tls_context(tls, tls_ca),
        slot_of(os.environ) if slot is None else slot,
        contest_of(contest),
    )
    check_login(seat.name, seat.token)
    # A search of seconds runs no Python handler; a bot has started nothing that would be left.
    with handled(signal.SIG_DFL, stop_signals(ctrl_c=False)):
        typer.echo(f"{seat.name} leaves: {play(engine, game, seat, steady=steady, opening=opening.split())}")


def play(
    spec: str, game: str | None, seat: ConnectArgs, *, steady: bool = False, opening: Sequence[str] = ()
) -> str:
    """Compile for the server's game, log in, play to the end and return the reason of BYE.

    Raises ClientError, for a wrong token and another game before anything is compiled, or EngineError.

    Without a `game` the bot plays every game that has an engine of this name.
    """
    from arena_cli.seat_check import check_seat
    from arena_client import asyncio_client, scripted
    from arena_engines import bot as engine_bot
    from arena_engines import registry
    from arena_protocol.games import FLAGSHIP

    games = (game,) if game is not None else registry.games_of(spec.partition(":")[0]) or (FLAGSHIP,)
    for each in games:
        check(spec, each)
    login: dict[str, Any] = {
        "name": seat.name,
        "token": seat.token,
        "slot": seat.slot,
        "contest": seat.contest,
        "tls": seat.tls,
    }
    if is_scripted(spec):
        return scripted.run(spec, seat.host, seat.port, **login)
    # Compiled before the log-in, because READY has a time limit that a cold, busy machine can exceed; and
    # after the server has accepted game and token, because compiling takes up to a minute.
    if any(compiles(spec, each) for each in games):
        check_seat(seat, games)
    for each in games:
        warm_up((spec,), each)
    bot = engine_bot.bot_of(spec, game)
    if opening:
        bot = engine_bot.OpeningBot(bot, opening)
    if steady:
        bot = engine_bot.SteadyBot(bot)
    return asyncio_client.run(bot, seat.host, seat.port, **login)


def check(spec: str, game: str) -> None:
    """Raise ConfigError or EngineError, with the possible names, unless `spec` can play `game`."""
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
        if game in registry.games_of(spec.partition(":")[0]):
            raise
        raise ConfigError(f"{error}; scripted bots: {', '.join(scripted.SCRIPTED)}") from None


def warm_up(specs: Iterable[str], game: str) -> None:
    """Compile what these engines need into the cache on disk."""
    from arena_engines import registry

    for spec in specs:
        if not is_scripted(spec):
            registry.create(spec, game).warm_up()


def compiles(spec: str, game: str) -> bool:
    """Whether an engine that `check` has accepted has functions to compile; it is only created here."""
    from arena_engines import registry
    from arena_engines.engine import Engine

    return not is_scripted(spec) and type(registry.create(spec, game)).warm_up is not Engine.warm_up


def is_scripted(spec: str) -> bool:
    """Return whether `spec` is one of the bots of `arena_client.scripted`, not an engine."""
    from arena_client.scripted import SCRIPTED

    return spec.partition(":")[0] in SCRIPTED
