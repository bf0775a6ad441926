"""The server's certificate, and a TLS end for each connection. It must not know: sockets, lines."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from functools import partial

from arena_protocol.tls import TlsStream
from arena_server.errors import ConfigError


def tls_ends(certificate: str, key: str) -> Callable[[], TlsStream]:
    """What makes the server's end of each connection. Raises ConfigError for files that are no such pair."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # Without a password function an encrypted key would be asked for on the terminal.
        context.load_cert_chain(certificate, key, password=lambda: "")
    except ssl.SSLError:
        raise ConfigError(
            f"server.tls_certificate, server.tls_key: {certificate} and {key} are no certificate and its "
            "key (PEM, the key not encrypted)"
        ) from None
    except OSError as error:
        raise ConfigError(
            f"server.tls_certificate, server.tls_key: cannot read {certificate} and {key}: {error.strerror}"
        ) from None
    return partial(TlsStream, context)
