"""The web ports of a server: the bound sockets, and who may start games on the page."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from arena_cli.options import WEB_PORT
from arena_cli.serve_options import WebOptions
from arena_cli.workers import ARENA
from arena_server.errors import ArenaError

if TYPE_CHECKING:
    import socket

    from arena_protocol.record import GameRecord
    from arena_server.store.database import Database as StoreURL
    from arena_server.terms.schema import ServerTable
    from arena_server.web.ports import CasualSetup, WebPorts

#: Games that visitors of a page on loopback may have at once, where the file gives no number.
CASUAL_GAMES = 2


def _paint_link(record: GameRecord, ply: int | None) -> bytes:
    """`picture.link_png`, whose modules are imported for the first picture, long after the port is open."""
    from arena_cli.picture import link_png

    return link_png(record, ply)


def bind_web(server: ServerTable, options: WebOptions) -> WebPorts:
    """Bind the ports of the site and of the organiser, and choose the token. Raises ArenaError."""
    from arena_server.host.sockets import bind
    from arena_server.web.admin_file import choose_token
    from arena_server.web.ports import WebPorts
    from arena_server.web.roles import roles_of

    roles = roles_of(server.role)
    admin_port = server.admin_port if options.admin_port is None else options.admin_port
    token = choose_token(os.environ)
    organiser = site = None
    if admin_port is not None:
        organiser = bind(options.admin_host or server.admin_host, admin_port, "--admin-port")
    if options.web if options.web is not None else server.web or options.web_port is not None:
        host = options.web_host or server.web_host
        port = server.web_port if options.web_port is None else options.web_port
        try:
            site = bind(host, WEB_PORT if port is None else port, "--web-port")
        except ArenaError:
            if port is not None:
                if organiser is not None:
                    organiser.close()
                raise
            site = bind(host, 0, "--web-port")  # the default is taken: any other will do
    if organiser is None and site is not None and not _is_private(site, server):
        # A public page asks for no token, and orders do not travel over the network in the clear.
        organiser = bind("127.0.0.1", 0)
    names, proxies, embed = server.web_names, server.web_proxies, server.web_embed
    painter = None if site is None or find_spec("PIL") is None else _paint_link
    return WebPorts(
        site, organiser, token, tuple(names), tuple(proxies), tuple(embed), painter=painter, roles=roles
    )


def _is_private(site: socket.socket, server: ServerTable) -> bool:
    """Whether only this machine reaches the page: neither another address nor a proxy's name is given."""
    from arena_server.terms.file import LOOPBACK

    return site.getsockname()[0] in LOOPBACK and not server.web_names


def casual_setup(database: StoreURL, server: ServerTable, site: socket.socket | None) -> CasualSetup | None:
    """Return how visitors start games of their own; None where they may not.

    Without `server.play` they may where only this machine reaches the page.
    """
    from arena_server.host.sockets import bind
    from arena_server.store.database import home_of
    from arena_server.web.ports import CasualSetup

    if site is None:
        return None
    limit = server.play
    if limit is None:
        limit = CASUAL_GAMES if _is_private(site, server) else 0
    if not limit:
        return None
    path = home_of(database)
    sock = bind("127.0.0.1", 0)
    return CasualSetup(limit, path.with_name(f"{path.stem}-play{path.suffix}"), ARENA, sock)
