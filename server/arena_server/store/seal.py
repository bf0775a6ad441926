"""Bytes that end with their own SHA-256 digest. It must not know: what they mean, where they are kept."""

from __future__ import annotations

from hashlib import sha256

_DIGEST = sha256().digest_size


def seal(payload: bytes) -> bytes:
    """The payload and its digest; `opened` gives it back."""
    return payload + sha256(payload).digest()


def opened(data: bytes) -> bytes:
    """The payload of sealed bytes. Raises ValueError if the digest is not its own."""
    payload, digest = data[:-_DIGEST], data[-_DIGEST:]
    if sha256(payload).digest() != digest:
        raise ValueError("a row of the journal does not match its SHA-256 digest")
    return payload
