"""`arena admin`: the organiser's word to a running server."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from arena_cli.options import DEFAULT_DATABASE, Database, Json, print_json

if TYPE_CHECKING:
    from rich.table import Table

Order = Literal["status", "pause", "resume", "drain", "kick", "lift", "void", "replay"]
STATUS = "status"
#: What the orders that need a target are about.
TARGETS = {"kick": "the name of a bot", "lift": "the name of a bot", "void": "a game", "replay": "a game"}
#: What is said once an order is obeyed.
DONE = {
    "pause": "paused: no game begins; those that run go on",
    "resume": "resumed: games begin again",
    "drain": "draining: no game begins any more, and the contest stops once none runs",
    "kick": "kicked {}: its game is void, and it is paired no more",
    "lift": "lifted: {} is paired again",
    "void": "void: {}; it is not played again",
    "replay": "{} is played again under a new number",
}


def command(
    order: Annotated[Order, typer.Argument(metavar="COMMAND", help="See above.", show_default=False)],
    target: Annotated[
        str | None, typer.Argument(metavar="[BOT|GAME]", help="Whom or what it is about.", show_default=False)
    ] = None,
    connect: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="The admin port; else as the file beside the database says."),
    ] = None,
    contest: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Which contest, if the server or the database has several."),
    ] = None,
    database: Database = DEFAULT_DATABASE,
    as_json: Json = False,
) -> None:
    """Look after a contest that is being played.

    The server has to be started with an admin port (arena serve --admin-port 0). The commands:
    status (what runs, where each bot is), pause (no game begins), resume, drain (stop once no
    game runs), kick BOT, lift BOT (forgive its faulty games: probation ends), void GAME (break
    it off for good), replay GAME (play a running or void game again). Each is in the journal,
    and done when the command returns.

    Address and token come from the file beside the server's database, or from --connect and
    ARENA_ADMIN_TOKEN.

    Example: arena admin kick flooder
    """
    from arena_server.store.database import database_of
    from arena_server.web import client
    from arena_server.web.access import find_access

    about = _about(order, target)
    access = find_access(database_of(database), contest, connect, os.environ)
    if order == STATUS:
        _show(client.status(access, contest), as_json=as_json)
        return
    client.order(access, order, about, contest)
    if as_json:
        print_json({"order": order, "target": about or None, "done": True})
    else:
        typer.echo(DONE[order].format(about))


def _about(order: str, target: str | None) -> str:
    """The target of an order. Raises ConfigError if it has none and needs one, or the other way round."""
    from arena_server.errors import ConfigError

    needed = TARGETS.get(order)
    if needed is not None and target is None:
        raise ConfigError(f"arena admin {order}: expected {needed}")
    if needed is None and target is not None:
        raise ConfigError(f"arena admin {order}: expected nothing more, got {target!r}")
    return target or ""


def _show(status: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(status)
        return
    from rich.console import Console

    from arena_cli.tables import PLAIN_WIDTH
    from arena_server.waiting import waiting_line

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    games = status["games"]
    console.print(
        f"{status['contest']}: {status['state']}, {games['done']} of {games['total']} games, "
        f"{games['running']} running, {games['void']} void, {status['plies']:,} plies, "
        f"{status['connections']} connections",
        markup=False,
        soft_wrap=True,
    )
    for bot in status["waiting"]:
        console.print(waiting_line([bot]), markup=False, soft_wrap=True)
    if status["running"]:
        rows = [(game["game_id"], " - ".join(game["names"]), game["plies"]) for game in status["running"]]
        console.print(_table(("game", "bots", "plies"), rows))
    keys = ("name", "where", "points", "games", "faulty_games")
    rows = [tuple(bot[key] for key in keys) for bot in status["bots"]]
    console.print(_table(("bot", "where", "points", "games", "faulty games"), rows))


def _table(headings: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        number = bool(rows) and all(isinstance(row[headings.index(heading)], int) for row in rows)
        table.add_column(heading, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row))
    return table
