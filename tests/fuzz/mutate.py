"""Bad input out of one seed: valid text with something wrong in it, now and then nothing but noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

#: What parsers stumble over: limits, signs, separators, other alphabets, ends of lines.
WORDS = (
    b"0", b"-1", b"00", b"1e9", b"999999999999", b"9999999999999999999999", b"=", b"==", b",", b",,", b" ",
    b"  ", b"\t", b"\r", b"\n", b"\x00", b"\xff", b"\xc3\xa9", b"\xef\xbb\xbf", b"a=", b"=a", b"seat=0", b"*",
    b"/", b".", b"..", b"nan", b"inf", b"None", b"true", b"'", b'"', b"[", b"]", b"{", b"}", b"#", b"%s",
    b"{0}", b"\x1b[2J", b"g1", b"g999999999", b"token=", b"resume=", b"x" * 40, b"7" * 1030,
)  # fmt: skip


class Mutator:
    """Makes bad input of `seeds`; the same random source gives the same input."""

    def __init__(self, rng: Random, seeds: Sequence[bytes]) -> None:
        self._rng = rng
        self._seeds = seeds
        self._ways: tuple[Callable[[bytearray], None], ...] = (
            self._flip, self._insert, self._insert, self._delete, self._repeat, self._truncate, self._splice,
        )  # fmt: skip

    def one(self) -> bytes:
        """One piece of input."""
        if self._rng.randrange(16) == 0:
            return self._rng.randbytes(self._rng.randrange(64))
        data = bytearray(self._rng.choice(self._seeds))
        for _ in range(self._rng.choice((0, 1, 1, 1, 2, 3))):
            self._rng.choice(self._ways)(data)
        return bytes(data)

    def many(self, number: int) -> Iterator[bytes]:
        """`number` pieces of input."""
        return (self.one() for _ in range(number))

    def _place(self, data: bytearray) -> int:
        return self._rng.randrange(len(data) + 1)

    def _flip(self, data: bytearray) -> None:
        if data:
            data[self._rng.randrange(len(data))] = self._rng.randrange(256)

    def _insert(self, data: bytearray) -> None:
        place = self._place(data)
        data[place:place] = self._rng.choice(WORDS)

    def _delete(self, data: bytearray) -> None:
        place = self._place(data)
        del data[place : place + self._rng.randrange(1, 9)]

    def _repeat(self, data: bytearray) -> None:
        place = self._place(data)
        piece = data[place : place + self._rng.randrange(1, 20)]
        data[place:place] = piece * self._rng.randrange(1, 4)

    def _truncate(self, data: bytearray) -> None:
        del data[self._place(data) :]

    def _splice(self, data: bytearray) -> None:
        other = self._rng.choice(self._seeds)
        data[self._place(data) :] = other[self._rng.randrange(len(other) + 1) :]
