"""Whether a bot may log in to a server, asked before anything is compiled for its games."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from arena_client.errors import ClientError
from arena_client.protocol import TEMPORARY
from arena_client.transport import LinkError, TlsTransport, tls_context
from arena_protocol import messages as wire
from arena_protocol.errors import ErrorCode, LocalProtocolError, ProtocolError
from arena_protocol.framing import SERVER_LINE_LIMIT, LineReader, Overlong
from arena_protocol.session import ClientSession

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
        answer = _ask(seat, games)
    except (OSError, LinkError, LocalProtocolError, ProtocolError):
        return
    if isinstance(answer, wire.Error) and answer.code not in (ErrorCode.SLOT, *TEMPORARY):
        raise ClientError(f"the server refuses {seat.name}: {answer.code}: {answer.text}", code=answer.code)


def _ask(seat: ConnectArgs, games: Sequence[str]) -> wire.Welcome | wire.Error | None:
    """The answer to the HELLO; None if the connection ends before it."""
    deadline = time.monotonic() + ANSWER_S
    session, lines, out = ClientSession(), LineReader(SERVER_LINE_LIMIT), b""
    hello = wire.Hello(
        wire.VERSION,
        seat.name,
        tuple(games),
        seat.token,
        agent="arena-bot",
        slot=NO_SLOT,
        contest=seat.contest,
    )
    transport = TlsTransport(tls_context(seat.tls), seat.host)
    with socket.create_connection((seat.host, seat.port), timeout=ANSWER_S) as sock:
        transport.start()
        while True:
            sock.settimeout(max(deadline - time.monotonic(), 0.001))
            sock.sendall(transport.send(out))
            out = b""
            if not (data := sock.recv(READ_BYTES)):
                return None
            for line in lines.feed(transport.receive(data)):
                message = None if isinstance(line, Overlong) else session.receive(line)
                match message:
                    case wire.Arena():
                        out = session.send(hello)
                    case wire.Welcome():
                        sock.sendall(transport.send(session.send(wire.Quit())))
                        return message
                    case wire.Error():
                        return message
