"""What lies over the lines on an encrypted connection, and nothing at all on a plain one.

Both shells pass every byte through it, so that they are the same with TLS and without. It
must not know: sockets, event loops, lines.
"""

from __future__ import annotations

import ssl

from arena_client.errors import ClientError
from arena_protocol.errors import TlsError
from arena_protocol.tls import TlsStream


class Veil:
    """Encrypts for the server `host` if there is a `context`; `begin` before each connection."""

    def __init__(self, context: ssl.SSLContext | None, host: str) -> None:
        self._context = context
        self._host = host
        self._stream: TlsStream | None = None

    def begin(self) -> None:
        """Begin a new connection; then `send` gives the first bytes, even of nothing."""
        if self._context is not None:
            self._stream = TlsStream(self._context, server=self._host)

    def receive(self, data: bytes) -> bytes:
        """What the server's bytes say. Raises ClientError: another try would not help."""
        if self._stream is None:
            return data
        try:
            return self._stream.receive(data)
        except TlsError as error:
            trusted = not isinstance(error.__cause__, ssl.SSLCertVerificationError)
            hint = "; is it an arena server, and does it want TLS?" * trusted
            raise ClientError(f"cannot speak TLS with {self._host}: {error}{hint}") from error

    def send(self, data: bytes) -> bytes:
        """What is to be sent so that the server reads `data`, and answers to the handshake."""
        if self._stream is None:
            return data
        self._stream.send(data)
        return self._stream.data_to_send()
