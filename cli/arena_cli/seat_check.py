"""Whether a bot may log in to a server, asked before anything is compiled for its games."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from arena_client.errors import ClientError
from arena_client.transport import LinkError, TlsTransport, tls_context
from arena_protocol import messages as wire
from arena_protocol.errors import ErrorCode
from arena_protocol.link import Link

if TYPE_CHECKING:
    from arena_client.run import ConnectArgs

#: Seconds for the answer. Without one the log-in of the bot says what is wrong.
ANSWER_S: Final = 10.0
READ_BYTES: Final = 65536
#: A bot has 64 slots at most.
NO_SLOT: Final = 1000


def check_seat(seat: ConnectArgs, games: Sequence[str]) -> None:
    """Raise ClientError, as the log-in of the bot would, for a wrong token, or a contest of none of `games`.

    It asks for a slot that no bot has, which is refused after the token has been checked: a bot that has
    logged in could be offered a game at once, and its limit for READY would run. No answer, and what another
    try may change, is left to the log-in.
    """
    try:
        _ask(seat, games)
    except (OSError, LinkError):
        return
    except ClientError as error:
        # Without a code it is no refusal: the log-in of the bot says what is wrong.
        if error.code not in (None, ErrorCode.SLOT):
            raise


def _ask(seat: ConnectArgs, games: Sequence[str]) -> None:
    """Return at the answer to the HELLO, or at the end of the connection. Raises ClientError if refused."""
    deadline = time.monotonic() + ANSWER_S
    hello = wire.Hello(
        wire.VERSION,
        seat.name,
        tuple(games),
        seat.token,
        agent="arena-bot",
        slot=NO_SLOT,
        contest=seat.contest,
    )
    link = Link(hello)
    transport = TlsTransport(tls_context(seat.tls), seat.host)
    with socket.create_connection((seat.host, seat.port), timeout=ANSWER_S) as sock:
        transport.start()
        link.opened()
        while not link.welcomed and link.refusal is None:
            sock.settimeout(max(deadline - time.monotonic(), 0.001))
            sock.sendall(transport.send(link.data_to_send()))
            if not (data := sock.recv(READ_BYTES)):
                return
            for _ in link.receive(transport.receive(data)):
                pass
        if link.welcomed:
            link.quit()
            sock.sendall(transport.send(link.data_to_send()))
