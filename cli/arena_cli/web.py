"""`arena web`: the site alone, over a database and over servers that play elsewhere."""

from __future__ import annotations

import asyncio
import json
import signal
import ssl
import threading
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from arena_cli.options import (
    DEFAULT_DATABASE,
    WEB_PORT,
    Database,
    Json,
    SiteConfig,
    Tls,
    TlsCa,
    refuse,
    repeated,
    site_identity,
    tls_context,
)
from arena_cli.streams import outlive_readers
from arena_server.host.interrupts import stop_signals

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from arena_server.store.database import Database as StoreURL
    from arena_server.web.feeds import GameServer
    from arena_server.web.ports import WebPorts

STDERR = 2


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Where the running games come from, and where the page is."""

    connect: Annotated[
        list[str] | None,
        repeated("HOST:PORT", "A server that plays into the database, for its running games"),
    ] = None
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port, 0 picks one.")] = WEB_PORT
    name: Annotated[list[str] | None, repeated("HOST", "A host name by which browsers reach the page")] = None
    proxy: Annotated[
        list[str] | None,
        repeated("NETWORK", "A proxy's address or network: its X-Forwarded-For says which client asks"),
    ] = None
    embed: Annotated[
        list[str] | None,
        repeated("ORIGIN", "An origin (https://example.org) whose pages may show a game in a frame"),
    ] = None
    tls: Tls = False
    tls_ca: TlsCa = None
    config: SiteConfig = None


def command(
    database: Database = DEFAULT_DATABASE, options: PageOptions = PageOptions(), as_json: Json = False
) -> None:
    """Serve the pages of a database without a contest server.

    Contests, standings and replays come from the database, running games from the servers of
    --connect, as any spectator sees them: after the contest's delay. As many of these processes as
    wanted may run over one database. A server that is not there is tried again every few seconds, and the
    page says so. Prints `web on http://HOST:PORT`, and ends with Ctrl-C, SIGTERM, SIGHUP or SIGQUIT (exit
    status 0).

    Example: arena web --database sqlite:///arena.db --connect localhost:2006 --port 2080
    """
    outlive_readers()
    stop = threading.Event()
    for number in stop_signals():
        signal.signal(number, lambda *_: stop.set())

    from arena_cli.picture import link_painter
    from arena_server.host.sockets import bind, urls_of
    from arena_server.store.database import database_of
    from arena_server.store.reader import Results
    from arena_server.web.ports import WebPorts

    where = database_of(database)
    about = site_identity(options.config)
    proxies = tuple(_proxy(proxy) for proxy in options.proxy or ())
    embed = tuple(_origin(origin) for origin in options.embed or ())
    if not options.connect:
        refuse(options, "expected with --connect, whose connection it encrypts", "tls", "tls_ca")
    context = tls_context(options.tls, options.tls_ca)
    servers = [_server(address, context) for address in options.connect or ()]
    with Results(where):
        pass  # it is there, and ours
    sock = bind(options.host, options.port, "--port")
    url, outside = urls_of(sock)
    if as_json:
        typer.echo(json.dumps({"web": url, "outside": outside}))  # one line: the command goes on
    else:
        typer.echo(f"web on {url}" if outside is None else f"web on {url} (from other machines: {outside})")
    ports = WebPorts(
        site=sock,
        names=options.name or (),
        proxies=proxies,
        embed=embed,
        about=about,
        connections=_connections(),
        painter=link_painter(),
    )
    _serve(ports, where, servers, stop)


def _server(address: str, context: ssl.SSLContext | None) -> GameServer:
    """A server of --connect. Raises ConfigError for no address."""
    from arena_server.host.sockets import parse_address
    from arena_server.web.feeds import GameServer

    host, port = parse_address(address, "--connect")
    return GameServer(address, partial(asyncio.open_connection, host, port, ssl=context))


def _proxy(text: str) -> str:
    """A proxy of --proxy, as in `server.web_proxies`. Raises ConfigError for anything else."""
    from arena_server.errors import ConfigError
    from arena_server.terms.schema import check_proxy

    try:
        check_proxy(text)
    except ValueError as error:
        raise ConfigError(f"--proxy: {error}") from None
    return text


def _origin(text: str) -> str:
    """An origin of --embed. Raises ConfigError for anything else."""
    from arena_server.errors import ConfigError
    from arena_server.terms.schema import ORIGIN

    if not ORIGIN.fullmatch(text):
        raise ConfigError(f'--embed: expected an origin such as "https://example.org", got {text!r}')
    return text


def _connections() -> int:
    """How many connections the descriptors allow."""
    from arena_server.host.listener import RESERVE, raise_descriptor_limit
    from arena_server.web.ports import SITE_CONNECTIONS

    descriptors = raise_descriptor_limit()
    return SITE_CONNECTIONS if descriptors is None else min(SITE_CONNECTIONS, descriptors - RESERVE)


def _serve(ports: WebPorts, database: StoreURL, servers: list[GameServer], stop: threading.Event) -> None:
    """Serve until `stop` is set. Raises ArenaError after a failure, which the log describes."""
    from arena_server.errors import ArenaError
    from arena_server.host.log_events import PageError
    from arena_server.host.logs import LineWriter, Log
    from arena_server.web.thread import WebThread

    failures: list[bool] = []

    def failed() -> None:
        failures.append(True)
        stop.set()

    def make() -> ASGIApp:
        from arena_server.web.app import archive_app

        return archive_app(database, servers, ports, lambda error: log.write(PageError(error)))

    assert ports.site is not None
    lines = LineWriter(STDERR)
    log = Log(lines)
    try:
        with WebThread(ports.site, make, ports.connections, log, failed):
            stop.wait()
    finally:
        lines.close()
    if failures:
        raise ArenaError("the page stopped at a fault of its own; the log above says where")
