"""Random draws that are the same in every language and version: what a seed fixes.

Block i (i = 0, 1, ...) is the SHA-256 digest of the ASCII text `LABEL:SEED:i`, SEED in decimal;
the blocks are read byte by byte. A number below n takes the next byte b < 256 - 256 % n and is
b % n; bytes beyond that are skipped, so that every number is equally likely.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import chain, count
from typing import TypeVar

T = TypeVar("T")


def draw_bytes(label: str, seed: int) -> Iterator[int]:
    """The endless bytes of one seed; `label` is the game's name."""
    blocks = (sha256(f"{label}:{seed}:{block}".encode("ascii")).digest() for block in count())
    return chain.from_iterable(blocks)


def draw_below(draws: Iterator[int], n: int) -> int:
    """The next number from 0 to n - 1, n at most 256."""
    limit = 256 - 256 % n
    return next(byte for byte in draws if byte < limit) % n


def draw_some(draws: Iterator[int], items: Sequence[T], count: int) -> list[T]:
    """`count` different ones of `items`, in the order drawn."""
    left = list(items)
    return [left.pop(draw_below(draws, len(left))) for _ in range(count)]
