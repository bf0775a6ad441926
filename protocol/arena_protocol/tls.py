"""TLS without I/O: what came from the socket in, what goes to the socket out, lines on the other side.

Both sides of the wire use it, so that encryption is a step of its own between socket and lines:

    socket -> receive -> plain bytes          plain bytes -> send -> data_to_send -> socket

It must not know: sockets, event loops, lines. Importing it loads the ssl library.
"""

from __future__ import annotations

import ssl
from contextlib import suppress

from arena_protocol.errors import TlsError

_CHUNK = 65536


class TlsStream:
    """One end of one connection. The client's end names the server, whose certificate must say so."""

    def __init__(self, context: ssl.SSLContext, *, server: str | None = None) -> None:
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_side=server is None, server_hostname=server)
        self._early: bytearray | None = bytearray()
        if server is not None:
            self._shake_hands()

    def receive(self, data: bytes) -> bytes:
        """Take bytes of the peer's; returns what they say. Raises TlsError for no TLS, or no trust."""
        self._in.write(data)
        try:
            if self._early is not None:
                self._shake_hands()
            return b"" if self._early is not None else self._read()
        except ssl.SSLCertVerificationError as error:
            raise TlsError(f"the certificate is not trusted: {error.verify_message}") from error
        except ssl.SSLError as error:
            raise TlsError(
                f"no TLS connection: {(error.reason or 'broken').replace('_', ' ').lower()}"
            ) from error

    def send(self, data: bytes) -> None:
        """Encrypt; before the handshake is done it waits for that."""
        if self._early is not None:
            self._early += data
        elif data:
            self._tls.write(data)

    def data_to_send(self) -> bytes:
        """Take what is to be sent now."""
        return self._out.read()

    def close(self) -> None:
        """Say that nothing more comes, if there is a connection at all."""
        if self._early is None:
            with suppress(ssl.SSLError):
                self._tls.unwrap()

    def _shake_hands(self) -> None:
        with suppress(ssl.SSLWantReadError):
            self._tls.do_handshake()
            early, self._early = self._early, None
            self.send(bytes(early or b""))

    def _read(self) -> bytes:
        parts = []
        with suppress(ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            while part := self._tls.read(_CHUNK):
                parts.append(part)
        return b"".join(parts)
