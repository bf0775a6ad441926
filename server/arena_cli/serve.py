"""`arena serve`: one contest on one port. What is imported before the port is open is kept small."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

from arena_cli.options import DEFAULT_DATABASE, Config, Database
from arena_server.errors import ArenaError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from arena_server.config_schema import ServerTable
    from arena_server.connection import Cipher
    from arena_server.core.config import ContestPlan, Entrant
    from arena_server.store.database import Database as Where

#: Token digests (JSON: name to SHA-256) for bots that the file gives no token. The
#: environment of a process is for its own user's eyes; a command line is for everybody's.
DIGESTS_VARIABLE = "ARENA_TOKEN_DIGESTS"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A contest that is checked, with its database ready and its ports open; nothing runs yet.

    `seeded`: the file gives the seed. `admin` is the organiser's port, and the token for it.
    """

    plan: ContestPlan
    entrants: list[Entrant]
    seeded: bool
    database: Where
    max_connections: int
    sock: socket.socket
    admin: tuple[socket.socket, str] | None = None
    cipher: Callable[[], Cipher | None] = lambda: None


def command(
    config: Config,
    host: Annotated[str | None, typer.Option(help="Where to listen; else server.host.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The port, 0 picks one; else server.port.")
    ] = None,
    database: Database = DEFAULT_DATABASE,
    until_finished: Annotated[
        bool, typer.Option("--until-finished", help="Leave after the last game, printing the standings.")
    ] = False,
    new: Annotated[
        bool, typer.Option("--new", help="Begin a new contest even if one of this name is unfinished.")
    ] = False,
    absent: Annotated[
        str | None, typer.Option(metavar="DURATION", help="How long to wait for a bot; else contest.absent.")
    ] = None,
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], typer.Option(help="What to log on stderr.")
    ] = "info",
    log_format: Annotated[
        Literal["text", "json"], typer.Option(help="How to log: for people, or an object a line.")
    ] = "text",
    admin_port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Metrics and orders, 0 picks one; else server.admin_port."),
    ] = None,
    admin_host: Annotated[
        str | None, typer.Option(help="Where to listen for them; else server.admin_host.")
    ] = None,
    supervised: Annotated[bool, typer.Option("--supervised", hidden=True)] = False,
) -> None:
    """Serve a contest; bots come from anywhere.

    A pair plays as soon as both are connected. After the last game every bot gets BYE; the
    server stays until it is stopped (SIGINT or SIGTERM: running games are void, results are
    kept, exit status 0). Prints `listening on HOST:PORT` once bots may come.

    The same command again goes on with a contest that was stopped or whose server was killed:
    results stand, running games go on, void games are played again.

    With an admin port it prints `admin on http://HOST:PORT` too: /metrics, /healthz and /readyz
    are there, and arena admin finds it by a file beside the database.

    Example: arena serve examples/local.toml --port 0
    """
    # From the first moment on: whoever reads `listening` may stop us at once.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stopped_early)
    prepared = prepare(
        config, host, port, database, absent, new=new, admin_host=admin_host, admin_port=admin_port
    )
    from arena_server.sockets import address_of

    typer.echo(f"listening on {address_of(prepared.sock)}")
    # Bots may come from here on, and wait in the backlog while the rest is loaded.
    from arena_cli.serving import serve

    serve(prepared, (log_level, log_format), until_finished=until_finished, supervised=supervised, new=new)


def _stopped_early(_number: int, _frame: object) -> NoReturn:
    """Leave in good order: nothing has been started yet. The service has a handler of its own."""
    raise SystemExit(0)


def prepare(
    config: Path,
    host: str | None,
    port: int | None,
    database: str,
    absent: str | None,
    *,
    new: bool = False,
    admin_host: str | None = None,
    admin_port: int | None = None,
) -> Prepared:
    """Check everything and open the ports. Raises ArenaError with one line; nothing has been started then."""
    from arena_server.config_file import entrants_of, load_contest, plan_of
    from arena_server.sockets import bind
    from arena_server.store.database import database_of
    from arena_server.store.preflight import check_contest, check_writable

    file = load_contest(config)
    plan = plan_of(file, absent_ms=None if absent is None else _absent(absent))
    where = database_of(database)
    check_writable(where)
    entrants = entrants_of(file, json.loads(os.environ.get(DIGESTS_VARIABLE, "{}")))
    seeded = file.contest.seed is not None
    check_contest(where, plan, [entrant.name for entrant in entrants], new=new, seeded=seeded)
    cipher = _cipher(file.server)
    sock = bind(host or file.server.host, file.server.port if port is None else port)
    try:
        admin = _admin_socket(
            where, admin_host or file.server.admin_host, _either(admin_port, file.server.admin_port)
        )
    except ArenaError:
        sock.close()
        raise
    return Prepared(plan, entrants, seeded, where, file.server.max_connections, sock, admin, cipher)


def _cipher(server: ServerTable) -> Callable[[], Cipher | None]:
    """What encrypts each connection, if the file has a certificate. Raises ConfigError."""
    if server.tls_certificate is None or server.tls_key is None:
        return lambda: None
    from arena_server.sockets import tls_ends

    return tls_ends(server.tls_certificate, server.tls_key)


def _either(port: int | None, default: int | None) -> int | None:
    return default if port is None else port


def _admin_socket(database: Where, host: str, port: int | None) -> tuple[socket.socket, str] | None:
    """The organiser's port, if one is wanted, and the token for it. Raises ArenaError."""
    if port is None:
        return None
    from arena_server.admin.access import choose_token
    from arena_server.sockets import bind

    token = choose_token(database, os.environ)
    return bind(host, port, "--admin-port"), token


def _absent(text: str) -> int:
    from arena_server.config_schema import parse_duration
    from arena_server.errors import ConfigError

    try:
        milliseconds = parse_duration(text)
    except ValueError as error:
        raise ConfigError(f"--absent: {error}, got {text!r}") from None
    return max(1, milliseconds)
