"""TLS without I/O, used by both sides between the socket and the lines.

    socket -> receive -> plain bytes          plain bytes -> send -> data_to_send -> socket

After `receive`, send what `data_to_send` returns: the handshake needs answers. Importing this
module loads the ssl library.
"""

from __future__ import annotations

import ssl
from contextlib import suppress

from arena_protocol.errors import TlsError

_CHUNK = 65536


class TlsStream:
    """One end of one connection. `server`: the name to check in the certificate, at the client's end."""

    def __init__(self, context: ssl.SSLContext, *, server: str | None = None) -> None:
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_side=server is None, server_hostname=server)
        self._early: bytearray | None = bytearray()
        if server is not None:
            self._handshake()

    def receive(self, data: bytes) -> bytes:
        """Decrypt bytes of the peer. Raises TlsError if they are not TLS or the certificate is refused."""
        self._in.write(data)
        try:
            if self._early is not None:
                self._handshake()
            return b"" if self._early is not None else self._read()
        except ssl.SSLCertVerificationError as error:
            raise TlsError(f"the certificate is not trusted: {error.verify_message}") from error
        except ssl.SSLError as error:
            raise TlsError(
                f"no TLS connection: {(error.reason or 'broken').replace('_', ' ').lower()}"
            ) from error

    def send(self, data: bytes) -> None:
        """Encrypt; data sent before the end of the handshake is kept until then."""
        if self._early is not None:
            self._early += data
        elif data:
            self._tls.write(data)

    def data_to_send(self) -> bytes:
        """Take the bytes that the socket has to send."""
        return self._out.read()

    def close(self) -> None:
        """Queue the closing alert, if the handshake was completed."""
        if self._early is None:
            with suppress(ssl.SSLError):
                self._tls.unwrap()

    def _handshake(self) -> None:
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
