"""`arena bridge`: a program on stdin and stdout plays."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena_cli.options import (
    BotName,
    Connect,
    ContestName,
    Slot,
    Tls,
    TlsCa,
    contest_of,
    duration,
    refuse,
    server_address,
    tls_context,
)
from arena_server.errors import ConfigError

if TYPE_CHECKING:
    from arena_client.bridges.adapters import Adapter
    from arena_client.bridges.seat import Seat


@dataclass(frozen=True, slots=True)
class SeatOptions:
    """Who plays where; what is not given is read from the environment."""

    connect: Connect = None
    name: BotName = None
    token: Annotated[str | None, typer.Option(help="Its token; better given as ARENA_TOKEN.")] = None
    slot: Slot = None
    contest: ContestName = None
    tls: Tls = False
    tls_ca: TlsCa = None


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """What the program speaks, and its bounds."""

    piskvork: Annotated[bool, typer.Option("--piskvork", help="The program is a Gomocup brain.")] = False
    turn: Annotated[
        str | None, typer.Option(metavar="DURATION", help="A brain's time for a move; else from the clock.")
    ] = None
    memory: Annotated[
        int, typer.Option(min=0, metavar="MB", help="INFO max_memory of a brain; 0 is no limit.")
    ] = 350
    stderr: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Append the program's stderr to a file.", show_default=False),
    ] = None


def command(
    program: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND", help="The program.", show_default=False)
    ],
    bot: SeatOptions = SeatOptions(),
    options: ProgramOptions = ProgramOptions(),
) -> None:
    """Connect a program to a contest by its stdin and stdout.

    The program gets the lines of PROTOCOL.md from ARENA on and answers READY and MOVE; the bridge logs in,
    answers PING, and resumes the seat after a lost connection, of which the program sees nothing. With
    --piskvork the program is a Gomocup brain, which plays XO. A program that ends in a game loses it by
    QUIT and is started again for the next one; after three ends without a whole game the bridge gives up.

    Example: arena bridge --piskvork --connect localhost:2006 --name pela -- ./pbrain-pela
    """
    import asyncio
    import sys
    from contextlib import nullcontext

    from arena_client.bridges.run import Bridge
    from arena_server.host.sockets import parse_address

    name = bot.name or os.environ.get("ARENA_NAME")
    if not name:
        raise ConfigError("say who plays: --name NAME, or ARENA_NAME set")
    seat, adapter = _seat(name, bot, options)
    host, port = parse_address(*server_address(bot.connect))
    context = tls_context(bot.tls, bot.tls_ca)
    try:
        # Opened first: a wrong path is found before the seat is taken.
        file = None if options.stderr is None else options.stderr.open("ab")
    except OSError as error:
        raise ConfigError(f"--stderr: {options.stderr}: {error.strerror}") from None
    with file or nullcontext(sys.stderr.buffer) as sink:
        reason = asyncio.run(Bridge(program, adapter, seat, host, port, tls=context, stderr=sink).run())
    typer.echo(f"{name} leaves: {reason}")


def _seat(name: str, bot: SeatOptions, options: ProgramOptions) -> tuple[Seat, Adapter]:
    """The bot as which the program plays, and what translates for it. Raises ConfigError."""
    from arena_client.bridges.adapters import Adapter, BrainLimits, Manager
    from arena_client.bridges.seat import Seat
    from arena_client.run import slot_of
    from arena_client.transport import debug_trace

    adapter: Adapter = Adapter(name)
    if not options.piskvork:
        refuse(options, "expected with --piskvork: it is for a Gomocup brain", "turn", "memory")
    else:
        turn_ms = None if options.turn is None else duration(options.turn, "--turn")
        adapter = Manager(name, BrainLimits(turn_ms, options.memory * 1024 * 1024))
    token = bot.token or os.environ.get("ARENA_TOKEN") or None
    slot = slot_of(os.environ) if bot.slot is None else bot.slot
    return Seat(name, token, adapter.games, debug_trace(), slot, contest_of(bot.contest)), adapter
