"""The hash chain over a contest's records, its audit, and the checksum of a row.

    chain(0) = 32 zero bytes
    chain(n) = SHA-256( chain(n - 1) || SHA-256(bytes of the n-th record stored) )

Records are numbered in the order in which they were stored; the last value is the head. A head
determines every byte of all records up to it, and their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

GENESIS: Final = bytes(32)
#: After this many flaws the audit no longer searches for the record that was moved (quadratic time).
MANY: Final = 100


def link(previous: bytes, digest: bytes) -> bytes:
    """The chain value of a record with this SHA-256 digest after the value `previous`."""
    return sha256(previous + digest).digest()


def extend(previous: bytes, record: bytes) -> bytes:
    """The chain value of an encoded record after the value `previous`."""
    return link(previous, sha256(record).digest())


def add_checksum(payload: bytes) -> bytes:
    """The payload followed by its SHA-256 digest."""
    return payload + sha256(payload).digest()


def verify_checksum(data: bytes) -> bytes:
    """The payload of `add_checksum`. Raises ValueError if the digest is another one."""
    payload, digest = data[:-_DIGEST], data[-_DIGEST:]
    if sha256(payload).digest() != digest:
        raise ValueError("a row of the journal does not match its SHA-256 digest")
    return payload


@dataclass(frozen=True, slots=True)
class ChainLink:
    """A stored record: its place (from 1), the SHA-256 digest of its bytes, its chain value."""

    place: int
    game_id: str
    digest: bytes
    chain: bytes


@dataclass(frozen=True, slots=True)
class Flaw:
    """One break. `kind`: record, order, missing, extra, chain, head; `text` is one line about it.

    `previous` and `chain` are the values before and after a changed record.
    """

    kind: str
    game_id: str
    text: str
    previous: bytes = GENESIS
    chain: bytes = GENESIS


def audit(links: Iterable[ChainLink], head: bytes | None = None) -> list[Flaw]:
    """Every break in a chain, in the order of the places. `head` is that of the whole chain, if known."""
    return _ChainAudit(sorted(links, key=lambda each: each.place), head).run()


class _ChainAudit:
    def __init__(self, links: Sequence[ChainLink], head: bytes | None) -> None:
        self._links = links
        self._head = head
        self._flaws: list[Flaw] = []
        self._value = GENESIS
        self._place = 1

    def run(self) -> list[Flaw]:
        for index, each in enumerate(self._links):
            if each.place < self._place:
                self._flaw("extra", each.game_id, f"game {each.game_id}: place {each.place} is taken twice")
                continue
            if each.place > self._place:
                self._gap(index, each)
            elif link(self._value, each.digest) == each.chain:
                self._value = each.chain
            else:
                self._break(index, each)
            self._place = each.place + 1
        if self._head is not None and self._value != self._head and not self._flaws:
            self._flaw("head", self._links[-1].game_id if self._links else "", self._cut_off())
        return self._flaws

    def _flaw(self, kind: str, game_id: str, text: str, chain: bytes = GENESIS) -> None:
        self._flaws.append(Flaw(kind, game_id, text, self._value, chain))

    def _gap(self, index: int, found: ChainLink) -> None:
        """Rows are missing. The value before this row is unknown, so the row's own value is accepted."""
        gone = found.place - self._place
        games = "1 game" if gone == 1 else f"{gone} games"
        after = f"after {self._links[index - 1].game_id}" if index else "at the beginning"
        text = f"{games} missing {after}: place {self._place} of the chain"
        self._flaw("missing", found.game_id, text if gone == 1 else f"{text} to {found.place - 1}")
        self._value = found.chain

    def _break(self, index: int, found: ChainLink) -> None:
        """Find out why the value of this row does not follow from the previous one and the record."""
        computed = link(self._value, found.digest)
        after = self._after(index)
        if after is not None and after(computed):
            self._flaw("chain", found.game_id, f"game {found.game_id}: its chain value was changed")
            self._value = computed
        elif len(self._flaws) < MANY and (other := self._owner(found)) is not None:
            text = (
                f"game {found.game_id}: at place {found.place} of the chain the record of {other} was stored"
            )
            self._flaw("order", found.game_id, text)
            self._value = found.chain
        elif after is not None and after(self._value):
            self._flaw("extra", found.game_id, f"game {found.game_id}: it was added to the chain later")
        else:
            text = f"game {found.game_id}: its record was changed, or replaced"
            self._flaw("record", found.game_id, text, found.chain)
            self._value = found.chain

    def _after(self, index: int) -> _Follower | None:
        """What has to follow the value of row `index`; None if nothing is known to follow."""
        if index + 1 < len(self._links):
            return _Follower(self._links[index + 1].digest, self._links[index + 1].chain)
        return None if self._head is None else _Follower(None, self._head)

    def _owner(self, found: ChainLink) -> str | None:
        """The game whose record was stored where `found` stands now."""
        for each in self._links:
            if each is not found and link(self._value, each.digest) == found.chain:
                return each.game_id
        return None

    def _cut_off(self) -> str:
        last = f"after {self._links[-1].game_id}" if self._links else "at the beginning"
        return f"games missing {last}: the chain ended with another head"


@dataclass(frozen=True, slots=True)
class _Follower:
    """Whether `chain` follows from a value by a record of this digest, or equals it without a digest."""

    digest: bytes | None
    chain: bytes

    def __call__(self, value: bytes) -> bool:
        return self.chain == (value if self.digest is None else link(value, self.digest))


def changed_bytes(record: bytes, flaw: Flaw, *, thorough: bool) -> tuple[tuple[int, int], ...]:
    """Where the `record` of a flaw of kind `record` was changed: pairs of offset and original byte.

    () means that more than one place was changed, or that the place was not found. A record ends
    with the digest of its payload. Tried are: a change of the digest alone; of one bit of the
    payload, with the digest recomputed or not; with `thorough` of one byte of the payload, which
    takes half a minute for 9 kB. The chain proves the result.
    """
    payload, digest = record[:-_DIGEST], record[-_DIGEST:]
    previous, chain = flaw.previous, flaw.chain
    true = sha256(payload).digest()
    if extend(previous, payload + true) == chain:
        return tuple((len(payload) + place, byte) for place, byte in enumerate(true) if byte != digest[place])
    fitted = true == digest
    for masks in (_BITS, _OTHERS) if thorough else (_BITS,):
        for place in range(len(payload)):
            before, rest = sha256(payload[:place]), payload[place + 1 :]
            for mask in masks:
                tail = bytes((payload[place] ^ mask,)) + rest
                attempt = before.copy()
                attempt.update(tail)
                found = attempt.digest()
                if (fitted or found == digest) and extend(previous, payload[:place] + tail + found) == chain:
                    return ((place, tail[0]),)
    return ()


_DIGEST: Final = 32
#: One flipped bit first: the usual fault of hardware.
_BITS: Final = tuple(1 << bit for bit in range(8))
_OTHERS: Final = tuple(mask for mask in range(1, 256) if mask not in _BITS)
