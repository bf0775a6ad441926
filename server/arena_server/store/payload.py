"""Entries of the journal as bytes, and back: msgpack followed by its SHA-256 digest.

It must not know: what an entry means, where the bytes are kept.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgpack

from arena_server.core.journal import Entry
from arena_server.store.seal import opened, seal


def pack(entries: Iterable[Entry]) -> bytes:
    """The bytes of these entries; `unpack` reads them back."""
    return seal(msgpack.packb(list(entries)))


def unpack(data: bytes) -> list[Entry]:
    """Read entries. Raises ValueError for bytes that `pack` did not write."""
    payload = opened(data)
    try:
        entries = msgpack.unpackb(payload, use_list=False)
    except (ValueError, msgpack.UnpackException):
        raise ValueError("a row of the journal is not msgpack") from None
    if type(entries) is not tuple or not all(type(entry) is tuple and entry for entry in entries):
        raise ValueError("a row of the journal does not hold entries")
    return list(entries)
