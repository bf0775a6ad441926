"""What a bot answers, and to what: from its values to messages of the wire.

It must not know: sockets, connections, when anything is sent.
"""

from __future__ import annotations

import operator
from typing import SupportsIndex

from arena_client.errors import ClientError
from arena_client.view import GameView
from arena_protocol import messages as wire
from arena_protocol.errors import LocalProtocolError

#: What an answer of the bot is an answer to: the game, its start and the moves played.
Moment = tuple[str, str, tuple[str, ...]]


def moment(view: GameView) -> Moment:
    """The very moment of the game that `view` shows."""
    return view.game_id, view.state, view.moves


def is_dealt(view: GameView) -> bool:
    """Whether all that comes before READY has come."""
    return bool(view.state) and (bool(view.shown) or not view.hides)


def move_of(value: object) -> wire.Move:
    """Make the bot's answer a MOVE; any integer type will do, numpy's too. Raises ClientError."""
    text = value if isinstance(value, str) else _number(value)
    try:
        wire.encode(wire.Move(text))
    except LocalProtocolError as error:
        raise ClientError(f"choose() returned {value!r}, which cannot be sent as a move: {error}") from error
    return wire.Move(text)


def _number(value: object) -> str:
    if isinstance(value, SupportsIndex):
        return str(operator.index(value))
    raise ClientError(f"choose() must return a move as an int or a str, not {value!r}")


def check_hello(hello: wire.Hello) -> None:
    """Raise ClientError for a name, token or game list that cannot stand in HELLO."""
    try:
        wire.encode(hello)
    except LocalProtocolError as error:
        raise ClientError(f"the server could not read this log-in: {error}") from error


def shown(line: bytes) -> str:
    """The beginning of a line of the server's, for people."""
    return repr(line[:80])[1:]
