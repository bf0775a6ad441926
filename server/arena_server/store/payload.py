"""Entries of the journal as bytes, and back: msgpack followed by its SHA-256 digest.

It must not know: what an entry means, where the bytes are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

import msgpack

from arena_server.core.journal import Entry

_DIGEST = sha256().digest_size


def pack(entries: Iterable[Entry]) -> bytes:
    """The bytes of these entries; `unpack` reads them back."""
    payload: bytes = msgpack.packb(list(entries))
    return payload + sha256(payload).digest()


def unpack(data: bytes) -> list[Entry]:
    """Read entries. Raises ValueError for bytes that `pack` did not write."""
    payload, digest = data[:-_DIGEST], data[-_DIGEST:]
    if sha256(payload).digest() != digest:
        raise ValueError("a row of the journal does not match its SHA-256 digest")
    try:
        entries = msgpack.unpackb(payload, use_list=False)
    except (ValueError, msgpack.UnpackException):
        raise ValueError("a row of the journal is not msgpack") from None
    if type(entries) is not tuple or not all(type(entry) is tuple and entry for entry in entries):
        raise ValueError("a row of the journal does not hold entries")
    return list(entries)
