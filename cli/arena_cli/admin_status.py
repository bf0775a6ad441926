"""What `arena admin status` and `arena admin orders` print."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import typer

from arena_cli.options import print_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

#: Names in a line of the status.
SHOWN_NAMES = 20


def show_orders(orders: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json(orders)
        return
    if not orders:
        typer.echo("no orders")
        return
    rows = [
        (str(each["number"]), each["at"], each["who"], f"{each['verb']} {each['target']}", each["reason"])
        for each in orders
    ]
    _console().print(_table(("order", "at", "who", "what", "why"), rows))


def show_contests(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    """A line for each contest of a server."""
    if as_json:
        print_json(rows)
        return
    for row in rows:
        typer.echo(_contest_line(row))


def _contest_line(row: dict[str, Any]) -> str:
    from arena_cli.results import games_text
    from arena_server.core.life import WAITING

    if "games" not in row:
        return f"{row['contest']}: {row['state']}" + (f": {row['problem']}" if row["problem"] else "")
    games = row["games"]
    archived = ", archived" if row["phase"] == "archived" else ""
    said = f"{row['contest']}: {row['state']}{archived}, {games_text(games['done'], games['total'])}"
    if row["ended"] is not None:
        return said
    # Whom it waits for may be a long list, which the status of the one contest has.
    holds = [each["text"] if each["hold"] != WAITING else "bots are missing" for each in row["holds"]]
    return "; ".join([f"{said}, {games['running']} running, {row['connected']} connected", *holds])


def _console() -> Console:
    from rich.console import Console

    from arena_cli.tables import PLAIN_WIDTH

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    return console


def show_status(status: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(status)
        return
    from arena_cli.results import games_text
    from arena_server.core.life import WAITING
    from arena_server.host.waiting import waiting_line
    from arena_server.stats.pace import pace_text

    console = _console()
    games = status["games"]
    archived = ", archived" if status["phase"] == "archived" else ""
    console.print(
        f"{status['contest']}: {status['state']}{archived}{_hours(status)}, "
        f"{games_text(games['done'], games['total'])}, "
        f"{games['running']} running, {games['void']} void, {status['plies']:,} plies, "
        f"{status['connections']} connections",
        markup=False,
        soft_wrap=True,
    )
    if (pace := status["pace"]) is not None:
        eta = "" if pace["left_s"] is None else f", {pace_text(pace)}"
        console.print(f"pace: {pace['games_per_hour']:,.0f} games an hour{eta}", markup=False)
    if (length := status["length"]) is not None:
        console.print(_length_text(length), markup=False, soft_wrap=True)
    _show_workers(status, console)
    for hold in status["holds"]:
        if hold["hold"] != WAITING:  # of which each bot has a line
            console.print(hold["text"], markup=False, soft_wrap=True)
    if invited := status["invitations"]:
        console.print(_invited_text(invited), markup=False, soft_wrap=True)
    _show_registrations(status, console)
    for bot in status["waiting"]:
        console.print(waiting_line([bot]), markup=False, soft_wrap=True)
    if status["running"]:
        rows = [(game["game_id"], " - ".join(game["names"]), game["plies"]) for game in status["running"]]
        console.print(_table(("game", "bots", "plies"), rows))
    keys = ("name", "where", "points", "games", "faulty_games")
    rows = [tuple(bot[key] for key in keys) for bot in status["bots"]]
    console.print(_table(("bot", "where", "points", "games", "faulty games"), rows))


def _show_registrations(status: dict[str, Any], console: Console) -> None:
    if (terms := status["registration"]) is not None:
        approved = ", approved one by one" if terms["approves"] else ""
        console.print(
            f"registration is open: {terms['quota']} for each author until {terms['until']}{approved}",
            markup=False,
            soft_wrap=True,
        )
    for terms in status["registrations"]:
        text = f"registration of {terms['owner']} is open: {terms['quota']} bots until {terms['until']}"
        console.print(text, markup=False, soft_wrap=True)
    for bot in status["applicants"]:
        console.print(f"waiting for approval: {bot['name']} of {bot['owner']}", markup=False, soft_wrap=True)


def _show_workers(status: dict[str, Any], console: Console) -> None:
    from arena_server.host.log_events import slow_line, stands_out_line

    for each in status["workers"]:
        line = stands_out_line(each["worker"], each["what"], each["games"], f"{each['chance']:.1e}")
        console.print(line, markup=False, soft_wrap=True)
    if benches := status["benches"]:
        speeds = ", ".join(f"{each['worker']} {each['bench']:,}" for each in benches)
        console.print(f"workers, plies/s before their first game: {speeds}", markup=False, soft_wrap=True)
    for each in benches:
        if each["slow"]:
            line = slow_line(each["worker"], each["bench"], each["others"])
            console.print(line, markup=False, soft_wrap=True)


def _invited_text(invited: list[dict[str, Any]]) -> str:
    """How many of those that were invited have registered a bot, and who has not."""
    left = [each["owner"] + " (expired)" * each["expired"] for each in invited if each["bot"] is None]
    names = ", ".join(left[:SHOWN_NAMES]) + (
        f" and {len(left) - SHOWN_NAMES} more" if left[SHOWN_NAMES:] else ""
    )
    missing = f"; not yet: {names}" if left else ""
    return f"invited: {len(invited):,}, of which {len(invited) - len(left):,} have registered{missing}"


def _length_text(length: dict[str, Any]) -> str:
    """How long the contest is, and how long `extend` and `shorten` may make it."""
    steps = f", in steps of {length['step']}" if length["step"] > 1 else ""
    most = max(length["most"], length["now"])
    return f"length: {length['now']:,} {length['unit']} ({length['least']:,} to {most:,} possible{steps})"


def _hours(status: dict[str, Any]) -> str:
    """Until when a contest with hours is open or closed; empty for any other."""
    if status["until"] is None or status["state"] not in ("open", "closed"):
        return ""
    return time.strftime(" until %Y-%m-%d %H:%M UTC", time.gmtime(status["until"] // 1000))


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
