"""`arena admin`: the organiser's word to a running server."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from arena_cli.admin_contests import manage
from arena_cli.invitations import NO_INVITATIONS, InviteOptions, invite_all
from arena_cli.options import DEFAULT_DATABASE, Database, Json, print_json, refuse
from arena_server.core.orders import ORDERS, VOID_WORKER

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from arena_server.web.admin_file import Access

Order = Literal[
    "status",
    "orders",
    "pause",
    "resume",
    "drain",
    "abort",
    "extend",
    "shorten",
    "pair",
    "forbid",
    "allow",
    "kick",
    "lift",
    "validate",
    "void",
    "replay",
    "add",
    "remove",
    "token",
    "invite",
    "registration",
    "approve",
    "reject",
    "contest",
    "forfeit",
    "correct",
    "disqualify",
    "penalty",
    "undo",
]
ContestName = Annotated[
    str | None,
    typer.Argument(
        metavar="[FILE|NAME|RESULT]",
        help="contest: which one; the jury: which bot or result.",
        show_default=False,
    ),
]
STATUS, LIST, CONTEST = "status", "orders", "contest"
#: Of `add` where versions of late entrants are sent.
SENT = "added: {} plays when a version is sent (arena submit); its token, which is shown only now: {token}"
#: Names in a line of the status.
SHOWN_NAMES = 20
#: Of `undo`.
UNDONE = "undone: {undone}"
#: Of `registration 0`.
CLOSED = "registration is closed"


@dataclass(frozen=True, slots=True)
class Given:
    """What is kept with an order."""

    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Why; it is kept with the order.", show_default=False)
    ] = ""
    by: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Who orders it; else the name of your account.", show_default=False
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Meant:
    """What an order is about, beside its target."""

    worker: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="void: all games of this worker (--on) instead of one; they are played again.",
            show_default=False,
        ),
    ] = None
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="extend: also to more than ten times the length; pair: also bots that have met; forbid: "
            "also if not all rounds can be drawn then.",
            show_default=False,
        ),
    ] = False
    approval: Annotated[
        bool,
        typer.Option("--approval", help="registration: each bot waits for your approval."),
    ] = False
    every: Annotated[bool, typer.Option("--all", help="approve: all that wait.", show_default=False)] = False


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a bot that is added."""

    owner: Annotated[str, typer.Option(metavar="NAME", help="add: whose bot it is.")] = ""
    author: Annotated[str, typer.Option(metavar="TEXT", help="add: who wrote it.")] = ""
    language: Annotated[str, typer.Option(metavar="TEXT", help="add: in which language.")] = ""
    url: Annotated[str, typer.Option(metavar="URL", help="add: where it is described.")] = ""


@dataclass(frozen=True, slots=True)
class Where:
    """Which contest of which server."""

    connect: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="The admin port; else as the file beside the database says."),
    ] = None
    contest: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Which contest, if the server or the database has several."),
    ] = None
    database: Database = DEFAULT_DATABASE


Target = Annotated[
    str | None,
    typer.Argument(metavar="[BOT|GAME|N|OWNER|PAIRS]", help="Whom or what it is about.", show_default=False),
]


def command(
    order: Annotated[Order, typer.Argument(metavar="COMMAND", help="See above.", show_default=False)],
    target: Target = None,
    name: ContestName = None,
    meant: Meant = Meant(),
    given: Given = Given(),
    bot: About = About(),
    invited: InviteOptions = NO_INVITATIONS,
    where: Where = Where(),
    as_json: Json = False,
) -> None:
    """Look after a contest that is being played.

    The server has to be started with an admin port (arena serve --admin-port 0). The commands:
    status (what runs, where each bot is), orders (all that were given: who, when, why), pause (no
    game begins), resume, drain (stop once no game runs), abort (end it now, for good), extend N (N
    more games a pair, or rounds), shorten N, pair A:B,C:D,E (a round of a Swiss by hand),
    forbid A:B, allow A:B (who may meet), kick BOT, lift BOT (forgive its faulty games), validate
    BOT (a validation game before its next game), void GAME (break it off for good), void --worker
    NAME (play all games of a worker again, without it), replay GAME (play a running or void game
    again), add BOT (a late entrant), remove BOT (withdraw it), token BOT (the old one is dead), invite
    OWNER (a link by which an author registers one bot; with --file links, tokens or cards to print
    for a class), registration N (one link by which every author registers up to N bots; 0 closes
    it), approve BOT, reject BOT (one that has registered and waits), contest add FILE (one more),
    contest start NAME (begin it now), contest archive NAME (what is over is shown alone). The jury,
    with --reason: forfeit GAME BOT, correct GAME RESULT (2-0), disqualify BOT leave|lost (its games do
    not count, or it has lost them), penalty BOT POINTS. undo takes the last order back.

    Address and token come from the file beside the server's database, or from --connect and
    ARENA_ADMIN_TOKEN.

    Example: arena admin void g7 --reason "the network was down"
    """
    of_many = invited.file is not None or meant.every
    about = _about(order, target, name, meant.worker, of_many=of_many)
    _refuse_options(order, meant, given, bot, invited)
    kept = {"by": _account() if given.by is None else given.by, "reason": given.reason}
    if order == CONTEST:
        manage(target, name, lambda of: _access_to(where, of), kept, as_json=as_json)
    elif order == LIST:
        _show_orders(_orders(where), as_json=as_json)
    elif order == STATUS:
        from arena_server.web import client

        _show(client.status(_access(where), where.contest), as_json=as_json)
    else:
        described = asdict(bot) if order == "add" else {}
        _give(order, about, meant, invited, where, kept | described, as_json=as_json)


def _give(
    order: str,
    about: str,
    meant: Meant,
    invited: InviteOptions,
    where: Where,
    texts: dict[str, str],
    *,
    as_json: bool,
) -> None:
    """Give an order, or one to each bot or person that is meant; `texts` come with it."""
    from arena_server.web import client
    from arena_server.web.orders import YES

    persons = [] if invited.file is None else invited.persons(invited.file)
    access = _access(where)
    if persons:
        invite_all(access, where.contest, invited, persons, texts, as_json=as_json)
        return
    for key, said in (("confirmed", meant.yes), ("approval", meant.approval), ("renew", invited.renew)):
        if said:
            texts[key] = YES
    verb = order if meant.worker is None else VOID_WORKER
    for each in _applicants(access, where.contest) if meant.every else [about]:
        answer = client.order(access, verb, each, where.contest, **texts)
        _show_done(verb, each, answer, as_json=as_json)


def _show_done(verb: str, target: str, answer: dict[str, Any], *, as_json: bool) -> None:
    made = {key: answer[key] for key in ("token", "submit", "link", "until", "undone") if key in answer}
    if as_json:
        print_json({"order": verb, "target": target or None, "done": True} | made)
    else:
        done = SENT if made.get("submit") else ORDERS[verb].done
        if verb == "registration" and "link" not in made:
            done = CLOSED
        if "undone" in made:
            done = UNDONE
        typer.echo(done.format(target, **made))


def _applicants(access: Access, contest: str | None) -> list[str]:
    """The bots that wait for approval. Raises ArenaError without any."""
    from arena_server.errors import ArenaError
    from arena_server.web import client

    names = [str(bot["name"]) for bot in client.status(access, contest)["applicants"]]
    if not names:
        raise ArenaError("no bot waits for approval")
    return names


def _access(where: Where) -> Access:
    from arena_server.store.database import database_of
    from arena_server.web.admin_file import find_access

    return find_access(database_of(where.database), where.contest, where.connect, os.environ)


def _access_to(where: Where, contest: str | None) -> Access:
    """The server of a contest, or that which is to have it: one of several contests is meant as a whole."""
    from arena_server.store.database import database_of
    from arena_server.web.admin_file import find_access

    wanted = where.contest if contest is None else contest
    return find_access(database_of(where.database), wanted, where.connect, os.environ, known=False)


def _account() -> str:
    """The name of the account; empty where the system knows none."""
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):  # a container with a number for a user
        return ""


def _about(order: str, target: str | None, name: str | None, worker: str | None, *, of_many: bool) -> str:
    """The target of an order. Raises ConfigError if it has none and needs one, or the other way round."""
    from arena_server.errors import ConfigError

    if order == CONTEST:
        return target or ""
    two = order in ORDERS and ORDERS[order].words == 2
    if name is not None and not two:
        raise ConfigError(f"arena admin {order}: expected nothing more, got {name!r}")
    if of_many and order in ("invite", "approve"):
        if target is not None:
            raise ConfigError(f"arena admin {order}: expected no name beside --file or --all, got {target!r}")
        return ""
    if worker is not None:
        if order != "void" or target is not None:
            raise ConfigError("--worker: expected it with void and without a game")
        return worker
    needed = ORDERS[order].about if order in ORDERS else ""
    if needed and (target is None or (two and name is None)):
        raise ConfigError(f"arena admin {order}: expected {needed}")
    if not needed and target is not None:
        raise ConfigError(f"arena admin {order}: expected nothing more, got {target!r}")
    return " ".join(word for word in (target, name) if word is not None)


def _refuse_options(order: str, meant: Meant, given: Given, bot: About, invited: InviteOptions) -> None:
    """Raises ConfigError if an option is given that has no effect on this order."""
    from arena_server.errors import ConfigError

    if order not in ("extend", "pair", "forbid"):
        refuse(meant, "expected with extend, pair or forbid", "yes")
    if order != "registration":
        refuse(meant, "expected with registration", "approval")
    if meant.every and order != "approve":
        raise ConfigError("--all: expected with approve")
    if order == "invite":
        invited.check()
    else:
        refuse(invited, "expected with invite", *(field.name for field in fields(invited)))
    if order != "add":
        refuse(bot, "expected with add, whose bot it describes", "owner", "author", "language", "url")
    if order in (STATUS, LIST):
        refuse(given, "expected with an order, with which it is kept", "by", "reason")


def _orders(where: Where) -> list[dict[str, Any]]:
    """All orders, from the server; where none runs, from the database."""
    from arena_cli.results import open_results
    from arena_server.errors import ArenaError, ConfigError
    from arena_server.web import client
    from arena_server.web.orders import order_json

    try:
        return client.orders(_access(where), where.contest)
    except ConfigError:
        raise
    except ArenaError:
        # An address means a server; without one the database has all orders of a server that has ended.
        if where.connect is not None:
            raise
        with open_results(where.database) as results:
            return [order_json(each) for each in results.facts.orders(results.contest(where.contest))]


def _show_orders(orders: list[dict[str, Any]], *, as_json: bool) -> None:
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


def _console() -> Console:
    from rich.console import Console

    from arena_cli.tables import PLAIN_WIDTH

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    return console


def _show(status: dict[str, Any], *, as_json: bool) -> None:
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
    if (terms := status["registration"]) is not None:
        approved = ", approved one by one" if terms["approves"] else ""
        console.print(
            f"registration is open: {terms['quota']} for each author until {terms['until']}{approved}",
            markup=False,
            soft_wrap=True,
        )
    for bot in status["applicants"]:
        console.print(f"waiting for approval: {bot['name']} of {bot['owner']}", markup=False, soft_wrap=True)
    for bot in status["waiting"]:
        console.print(waiting_line([bot]), markup=False, soft_wrap=True)
    if status["running"]:
        rows = [(game["game_id"], " - ".join(game["names"]), game["plies"]) for game in status["running"]]
        console.print(_table(("game", "bots", "plies"), rows))
    keys = ("name", "where", "points", "games", "faulty_games")
    rows = [tuple(bot[key] for key in keys) for bot in status["bots"]]
    console.print(_table(("bot", "where", "points", "games", "faulty games"), rows))


def _show_workers(status: dict[str, Any], console: Console) -> None:
    from arena_server.host.logs import slow_line, stands_out_line

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
