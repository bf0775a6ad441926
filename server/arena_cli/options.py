"""Arguments and options that several commands share, and what they have in common.

Where a visitor goes and under which name, checked before anything is opened.

It must not know: sockets, what the visitor does there.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_server.errors import ConfigError

if TYPE_CHECKING:
    import ssl

DEFAULT_DATABASE = "sqlite:///arena.db"

Config = Annotated[
    Path, typer.Argument(metavar="CONFIG", help="The contest's TOML file.", show_default=False)
]
Database = Annotated[
    str, typer.Option(metavar="URL", help="Where results are kept: sqlite:///FILE or postgresql://...")
]
ContestChoice = Annotated[
    str | None,
    typer.Option(
        "--contest", metavar="NAME|ID", help="Which contest; the latest by default.", show_default=False
    ),
]
Tls = Annotated[bool, typer.Option("--tls", help="Encrypt the connection.")]
TlsCa = Annotated[
    Path | None,
    typer.Option(
        "--tls-ca",
        metavar="FILE",
        help="Encrypt, and trust these certificates (PEM).",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]


def trust(tls: bool, certificates: Path | None) -> ssl.SSLContext | None:
    """Whom `--tls` and `--tls-ca` believe that they are the server: the system's authorities, or a file's.

    None: the connection is not encrypted. Raises ConfigError.
    """
    if not tls and certificates is None:
        return None
    import ssl

    from arena_server.errors import ConfigError

    try:
        return ssl.create_default_context(cafile=certificates)
    except OSError as error:
        why = "no certificates in PEM" if isinstance(error, ssl.SSLError) else error.strerror
        raise ConfigError(f"--tls-ca: {certificates}: {why}") from None


def options_of(given: Iterable[str], flag: str = "--option") -> dict[str, object]:
    """The options of a game, given as KEY=VALUE by `flag`. Raises ConfigError."""
    from arena_server.errors import ConfigError

    options: dict[str, object] = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        if not (key and equals and value):
            raise ConfigError(f"{flag}: expected KEY=VALUE, got {pair!r}")
        options[key] = value
    return options


def is_terminal() -> bool:
    """Whether a person is looking."""
    return sys.stdout.isatty()


def may_paint(color: bool, *, terminal: bool) -> bool:
    """Whether to print colours: the person wants them, a terminal shows them, NO_COLOR is not set."""
    return color and terminal and not os.environ.get("NO_COLOR")


@contextmanager
def ends_at_once() -> Iterator[None]:
    """Let ctrl-C end the process even amid a compiled search, which answers no signal of Python's.

    For commands that leave nothing behind: nothing of ours runs after it.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def print_json(value: Any) -> None:
    """Print one JSON document on stdout."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def address(connect: str) -> tuple[str, int]:
    """The host and the port of HOST:PORT, as `--connect` has it. Raises ConfigError."""
    host, _, port = connect.rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536):
        raise ConfigError(f"--connect: expected HOST:PORT, got {connect!r}")
    return host.strip("[]"), int(port)


def check_login(name: str, token: str | None, game_id: str | None = None) -> None:
    """Raise ConfigError unless a HELLO can say this name and token, and a WATCH this game."""
    from arena_protocol import messages as wire
    from arena_protocol.errors import LocalProtocolError

    try:
        wire.encode(wire.Hello(wire.VERSION, name, token=token))
        if game_id is not None:
            wire.encode(wire.Watch(game_id))
    except LocalProtocolError as error:
        raise ConfigError(f"this cannot be said to a server: {error}") from None
