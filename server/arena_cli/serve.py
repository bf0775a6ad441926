"""`arena serve`: one contest on one port.

    prepare     check the configuration and the database, bind the ports: few imports, no asyncio
    listening   printed; connections wait in the backlog of the socket
    serve       import the rest, run the server, print the standings with --until-finished

The imports inside the functions keep the time to `listening` short; a test holds the list of
modules that must not be loaded before.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from arena_cli.options import DEFAULT_DATABASE, Config, Database, duration
from arena_server.errors import ArenaError

if TYPE_CHECKING:
    import socket

    from arena_server.config_schema import ServerTable
    from arena_server.connection import Cipher
    from arena_server.core.config import ContestPlan, Entrant
    from arena_server.logs import Log
    from arena_server.server import Service
    from arena_server.store.database import Database as StoreURL

#: Token digests (JSON: name to SHA-256) for bots without one in the file. In the environment,
#: because other users can read a command line.
DIGESTS_VARIABLE = "ARENA_TOKEN_DIGESTS"

STDERR = 2


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked contest with a usable database and bound ports; nothing runs yet.

    `seeded` means that the file gives the seed; `admin` is the bound admin port and its token;
    `web_names` are the host names by which it is reached.
    """

    plan: ContestPlan
    entrants: list[Entrant]
    seeded: bool
    database: StoreURL
    max_connections: int
    sock: socket.socket
    admin: tuple[socket.socket, str] | None = None
    web_names: tuple[str, ...] = ()
    cipher: Callable[[], Cipher | None] = lambda: None


def command(
    config: Config,
    host: Annotated[str | None, typer.Option(help="The address to listen on; else server.host.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The port, 0 picks one; else server.port.")
    ] = None,
    database: Database = DEFAULT_DATABASE,
    until_finished: Annotated[
        bool, typer.Option("--until-finished", help="Exit after the last game and print the standings.")
    ] = False,
    new: Annotated[
        bool, typer.Option("--new", help="Begin a new contest even if one of this name is unfinished.")
    ] = False,
    absent: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION", help="Skip the games of a bot after this absence; else contest.absent."
        ),
    ] = None,
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], typer.Option(help="The least level logged on stderr.")
    ] = "info",
    log_format: Annotated[
        Literal["text", "json"], typer.Option(help="The form of the log: text, or a JSON object per line.")
    ] = "text",
    admin_port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="The port of metrics and orders, 0 picks one; else server.admin_port."
        ),
    ] = None,
    admin_host: Annotated[
        str | None, typer.Option(help="The address of the admin port; else server.admin_host.")
    ] = None,
    supervised: Annotated[bool, typer.Option("--supervised", hidden=True)] = False,
) -> None:
    """Run a contest server; bots connect to it over TCP.

    Prints `listening on HOST:PORT` when bots can connect. A pair plays as soon as both bots are
    connected. After the last game every bot gets BYE. The server runs until SIGINT or SIGTERM
    (exit status 0): it voids the running games and keeps all results.

    The same command resumes a contest that was stopped, or whose server was killed: results
    stay, running games continue, void games are played again.

    With an admin port it also prints `admin on http://HOST:PORT`: /metrics, /healthz, /readyz,
    and `arena admin`, which finds the port by a file next to the database.

    Example: arena serve examples/local.toml --port 0
    """
    # Set before `listening` is printed: a supervisor may send SIGTERM right after it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stopped_early)
    prepared = prepare(
        config, host, port, database, absent, new=new, admin_host=admin_host, admin_port=admin_port
    )
    from arena_server.sockets import address_of

    typer.echo(f"listening on {address_of(prepared.sock)}")
    serve(prepared, (log_level, log_format), until_finished=until_finished, supervised=supervised, new=new)


def _stopped_early(_number: int, _frame: object) -> NoReturn:
    """Exit before the server has started; the server installs handlers of its own."""
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
    """Check the input and bind the ports. Raises ArenaError, with no port left open."""
    from arena_server.config_file import entrants_of, load_contest, plan_of
    from arena_server.sockets import bind
    from arena_server.store.database import database_of
    from arena_server.store.preflight import check_contest, check_writable

    file = load_contest(config)
    plan = plan_of(file, absent_ms=None if absent is None else duration(absent, "--absent"))
    where = database_of(database)
    check_writable(where)
    entrants = entrants_of(file, json.loads(os.environ.get(DIGESTS_VARIABLE, "{}")))
    seeded = file.contest.seed is not None
    check_contest(where, plan, [entrant.name for entrant in entrants], new=new, seeded=seeded)
    cipher = _cipher(file.server)
    sock = bind(host or file.server.host, file.server.port if port is None else port)
    try:
        admin = _bind_admin(
            where,
            admin_host or file.server.admin_host,
            file.server.admin_port if admin_port is None else admin_port,
        )
    except ArenaError:
        sock.close()
        raise
    names = tuple(file.server.web_names)
    return Prepared(plan, entrants, seeded, where, file.server.max_connections, sock, admin, names, cipher)


def _cipher(server: ServerTable) -> Callable[[], Cipher | None]:
    """Return what makes the TLS end of a connection, or None without a certificate. Raises ConfigError."""
    if server.tls_certificate is None or server.tls_key is None:
        return lambda: None
    from arena_server.sockets import tls_ends

    return tls_ends(server.tls_certificate, server.tls_key)


def _bind_admin(database: StoreURL, host: str, port: int | None) -> tuple[socket.socket, str] | None:
    """Bind the admin port and choose its token; None without a port. Raises ArenaError."""
    if port is None:
        return None
    from arena_server.sockets import bind
    from arena_server.web.access import choose_token

    token = choose_token(database, os.environ)
    return bind(host, port, "--admin-port"), token


def serve(
    prepared: Prepared, log: tuple[str, str], *, until_finished: bool, supervised: bool, new: bool
) -> None:
    """Serve until the end; `log` is (level, format). Raises ArenaError if the server fails."""
    import asyncio
    import gc

    from arena_server.logs import LineWriter, Log
    from arena_server.server import Setup
    from arena_server.web.thread import ORGANISER_CONNECTIONS

    gc.enable()
    setup = Setup(
        plan=prepared.plan,
        entrants=prepared.entrants,
        database=prepared.database,
        max_connections=prepared.max_connections,
        until_finished=until_finished,
        new=new,
        seeded=prepared.seeded,
        cipher=prepared.cipher,
        reserved=0 if prepared.admin is None else ORGANISER_CONNECTIONS,
    )
    log_lines = LineWriter(STDERR)
    try:
        asyncio.run(_serve(prepared, setup, Log(log_lines, *log), supervised))
    finally:
        log_lines.close()
    if until_finished and not supervised:
        from arena_cli.results import print_standings
        from arena_server.store.reader import Results

        with Results(prepared.database) as results:
            print_standings(results, results.contest(prepared.plan.name))


async def _serve(prepared: Prepared, setup: Any, log: Log, supervised: bool) -> None:
    from arena_server.server import Service

    service = Service(setup, prepared.sock, log)
    reporter = None
    if supervised:
        from arena_server.tournament.reporter import Reporter

        reporter = Reporter(service)
        service.observe(reporter)
    try:
        with _admin(prepared, service, log):
            await service.run()
    finally:
        if reporter is not None:
            reporter.close()


@contextmanager
def _admin(prepared: Prepared, service: Service, log: Log) -> Iterator[None]:
    """Serve the admin port, if there is one, inside the `with` statement."""
    if prepared.admin is None:
        yield
        return
    from arena_server.sockets import address_of
    from arena_server.web.access import Access, AccessFile
    from arena_server.web.thread import organiser_port

    sock, token = prepared.admin
    address = address_of(sock)
    with (
        AccessFile(prepared.database, prepared.plan.name, Access(address, token), os.environ),
        organiser_port(sock, token, prepared.web_names, service, prepared.plan, log),
    ):
        typer.echo(f"admin on http://{address}")
        yield
