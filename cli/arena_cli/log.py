"""`arena log`: a bot's author fetches what the server exchanged with the bot."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from arena_cli.options import (
    BotName,
    BotToken,
    ConnectOrHere,
    ContestName,
    Json,
    Tls,
    TlsCa,
    check_login,
    contest_of,
    tls_context,
)
from arena_server.errors import ArenaError, ConfigError

if TYPE_CHECKING:
    import socket

    from arena_client.transport import TlsTransport

#: The limit of each wait for the server, and the bytes of a read.
WAIT_S = 10.0
READ_BYTES = 65536

_FROM = {"C": "client", "S": "server", "*": "event"}


def command(
    connect: ConnectOrHere = None,
    name: BotName = None,
    token: BotToken = None,
    contest: ContestName = None,
    tls: Tls = False,
    tls_ca: TlsCa = None,
    as_json: Json = False,
) -> None:
    """Print the log that a server keeps of a bot, oldest line first.

    A line is the time (UTC), C for the client's lines, S for the server's, * for events, and the line.
    Only the bot's token opens its log; the bot may play meanwhile. The server keeps logs if the
    organiser has set server.bot_logs, and drops the oldest lines. --json prints an object per line.

    Example: arena log --connect localhost:2006 --name mine
    """
    import json

    from arena_cli.watch import default_server, open_connection
    from arena_client.transport import TlsTransport
    from arena_server.host.sockets import parse_address

    host, port = parse_address(connect, "--connect") if connect is not None else default_server()
    name = name or os.environ.get("ARENA_NAME")
    if not name:
        raise ConfigError("say which bot: --name, or ARENA_NAME set")
    token = token or os.environ.get("ARENA_TOKEN") or None
    check_login(name, token)
    transport = TlsTransport(tls_context(tls, tls_ca), host)
    with open_connection(host, port) as sock:
        for line in fetch(sock, transport, name, token, contest_of(contest)):
            typer.echo(json.dumps(line_json(line)) if as_json else line)


def fetch(
    sock: socket.socket,
    transport: TlsTransport,
    name: str,
    token: str | None,
    contest: str | None = None,
) -> Iterator[str]:
    """Log in and yield the lines of the log. Raises ArenaError or ClientError if the server sends none."""
    from arena_protocol import messages as wire
    from arena_protocol.link import Link

    link = Link(wire.Hello(wire.VERSION, name, token=token, role=wire.LOG_READER, contest=contest))
    link.opened()
    count = 0
    sock.settimeout(WAIT_S)
    transport.start()
    while True:
        try:
            sock.sendall(transport.send(link.data_to_send()))
            data = sock.recv(READ_BYTES)
            if not data:
                raise ArenaError("the server closed the connection before the end of the log; try again")
            plain = transport.receive(data)
        except OSError as error:
            raise ArenaError(f"the connection was lost: {error.strerror or error}; try again") from None
        for _, message in link.receive(plain):
            match message:
                case wire.Log(text):
                    count += 1
                    yield text
                case wire.Error():
                    raise link.refused(message)
                case wire.Bye():
                    if not count:
                        raise ArenaError(
                            f"the server keeps no log of {name}; the organiser can set server.bot_logs"
                        )
                    return


def line_json(line: str) -> dict[str, Any]:
    """Return a line of a log as JSON types; `from` is `client`, `server` or `event`."""
    stamp, _, rest = line.partition(" ")
    side, _, text = rest.partition(" ")
    return {"time": stamp, "from": _FROM.get(side, side), "line": text}
