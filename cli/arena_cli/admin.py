"""`arena admin`: the organiser's word to a running server."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from arena_cli.admin_contests import manage
from arena_cli.admin_status import show_contests, show_orders, show_status
from arena_cli.invitations import NO_INVITATIONS, InviteOptions, invite_all
from arena_cli.options import DEFAULT_DATABASE, Database, Json, print_json, refuse
from arena_server.core.orders import ORDERS, VOID_WORKER

if TYPE_CHECKING:
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
#: Of `undo`.
UNDONE = "undone: {undone}"
#: Of `registration 0`.
CLOSED = "registration{whose} is closed"
#: Of `registration N OWNER`.
OF_OWNER = "registration of {} is open until {until}, up to {quota} bots, at: {link}"


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
    status (what runs, where each bot is; of several contests a line each), orders (all that were
    given: who, when, why), pause (no game begins), resume, drain (stop once no game runs), abort
    (end it now, for good), extend N (N more games a pair, or rounds), shorten N, pair A:B,C:D,E (a
    round of a Swiss by hand), forbid A:B, allow A:B (who may meet), kick BOT, lift BOT (forgive its
    faulty games), validate BOT (a validation game before its next game), void GAME (break it off
    for good), void --worker NAME (play all games of a worker again, without it), replay GAME (play
    a running or void game again), add BOT (a late entrant), remove BOT (withdraw it), token BOT
    (the old one is dead), invite OWNER (a link by which an author registers one bot; with --file
    links, tokens or cards to print for a class), registration N OWNER (one link by which up to N
    bots of OWNER are registered; without OWNER by every author; 0 closes it), approve BOT, reject
    BOT (one that has registered and waits), contest add FILE (one more), contest start NAME (begin
    it now), contest archive NAME (what is over is shown alone). The jury, with --reason: forfeit
    GAME BOT, correct GAME RESULT (2-0), disqualify BOT leave|lost (its games do not count, or it
    has lost them), penalty BOT POINTS. undo takes the last order back.

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
        show_orders(_orders(where), as_json=as_json)
    elif order == STATUS:
        _show_status(where, as_json=as_json)
    else:
        described = asdict(bot) if order == "add" else {}
        _give(order, about, meant, invited, where, kept | described, as_json=as_json)


def _show_status(where: Where, *, as_json: bool) -> None:
    """The status of one contest, or a line for each of several of which none is named."""
    from arena_server.web import client

    access = _access(where) if where.contest is not None else _access_to(where, None)
    rows = [] if where.contest is not None else client.contests(access)
    if len(rows) > 1:
        show_contests(rows, as_json=as_json)
    else:
        show_status(client.status(access, where.contest), as_json=as_json)


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
    shown = ("token", "submit", "link", "until", "undone")
    made: dict[str, Any] = {key: answer[key] for key in shown if key in answer}
    if as_json:
        print_json({"order": verb, "target": target or None, "done": True} | made)
    else:
        done = SENT if made.get("submit") else ORDERS[verb].done
        quota, _, owner = target.partition(" ")
        if verb == "registration":
            done = CLOSED if "link" not in made else OF_OWNER if owner else done
            target = owner or quota
            made |= {"quota": quota, "whose": f" of {owner}" if owner else ""}
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
    if needed and (target is None or (two and not ORDERS[order].optional and name is None)):
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
