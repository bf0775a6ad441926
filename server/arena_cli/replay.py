"""`arena replay`: a game drawn in the terminal, step by step, or its whole record for a program."""

from __future__ import annotations

import time
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_cli.options import (
    DEFAULT_DATABASE,
    ContestChoice,
    Database,
    Json,
    is_terminal,
    may_paint,
    print_json,
)

if TYPE_CHECKING:
    from arena_protocol.record import GameRecord

#: Clear the screen and go to its top left corner.
CLEAR = "\x1b[2J\x1b[H"


def command(
    game: Annotated[
        str, typer.Argument(metavar="GAME|FILE", help="A game's id or a record's file.", show_default=False)
    ],
    contest: ContestChoice = None,
    database: Database = DEFAULT_DATABASE,
    delay: Annotated[float, typer.Option(min=0, help="Seconds between two plies, in a terminal.")] = 0.5,
    ply: Annotated[
        int | None, typer.Option(min=0, help="Show the position after this ply only; 0 is the start.")
    ] = None,
    color: Annotated[bool, typer.Option("--color/--no-color", help="Paint the pictures.")] = True,
    as_json: Json = False,
) -> None:
    """Draw a game in the terminal, ply by ply.

    In a pipe all of it comes at once, and without colours. With --json it is the whole record:
    deal, clocks, every ply with its times, faults with the offending bytes in hexadecimal.

    Example: arena replay g1 --contest local --delay 0.2
    """
    from arena_cli.render import frames
    from arena_cli.results import read_file
    from arena_protocol.record import RecordError, decode
    from arena_server.errors import StoreError

    data = read_file(Path(game)) if Path(game).is_file() else _stored(game, contest, database)
    if data.startswith(b"XO "):
        _show_frames(_console_game(data, game), ply, game, delay, painted=False)
        return
    try:
        record = decode(data)
    except RecordError as error:
        raise StoreError(f"{game}: {error}") from None
    if as_json:
        print_json(plain(record))
        return
    painted = may_paint(color, terminal=is_terminal())
    _show_frames(list(frames(record, color=painted)), ply, record.game_id, delay, painted=painted)


def _console_game(data: bytes, name: str) -> list[str]:
    """The positions of a game that the console of xo1970 stored. Raises StoreError."""
    from arena_cli.console import frames
    from arena_protocol.games.base import GameError
    from arena_server.errors import StoreError

    try:
        return frames(data.decode())
    except (GameError, UnicodeDecodeError) as error:
        raise StoreError(f"{name}: {error}") from None


def _show_frames(wanted: list[str], ply: int | None, name: str, delay: float, *, painted: bool) -> None:
    """Print the frames of a game, or that of one ply; in a terminal one after the other."""
    from arena_server.errors import StoreError

    terminal = is_terminal()
    if ply is not None:
        if ply >= len(wanted):
            raise StoreError(f"game {name} has {len(wanted) - 1} plies, not {ply}")
        wanted = [wanted[ply]]
    for number, frame in enumerate(wanted):
        if terminal and number:
            time.sleep(delay)
        # Without being told so, echo would take the colours out again for want of a terminal.
        typer.echo(f"{CLEAR}{frame}" if painted and len(wanted) > 1 else frame, color=painted or None)


def plain(record: GameRecord) -> dict[str, Any]:
    """A record in the types of JSON."""
    return {field.name: getattr(record, field.name) for field in fields(record)} | {
        "options": dict(record.options),
        "plies": [ply._asdict() for ply in record.plies],
        "faults": [fault._asdict() | {"line": fault.line.hex()} for fault in record.faults],
    }


def _stored(game: str, contest: str | None, database: str) -> bytes:
    from arena_server.store.database import database_of
    from arena_server.store.reader import Results

    with Results(database_of(database)) as results:
        return results.record(results.contest(contest), game)
