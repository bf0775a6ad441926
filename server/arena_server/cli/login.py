"""Where a visitor goes and under which name, checked before anything is opened.

It must not know: sockets, what the visitor does there.
"""

from __future__ import annotations

from arena_server.errors import ConfigError


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
