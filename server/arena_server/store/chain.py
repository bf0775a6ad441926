"""The hash chain over a contest's records, and what breaks it.

    chain(0) = 32 zero bytes
    chain(n) = SHA-256( chain(n - 1) || SHA-256(bytes of the n-th record stored) )

Records count in the order in which they were stored; the last value is the head. Who knows a
head knows, by 32 bytes, every byte of every record up to it and their order.
It must not know: where records are kept, what they say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

#: What the first record is chained to.
GENESIS: Final = bytes(32)
#: So many breaks have no common cause any more, and are not looked into one by one.
MANY: Final = 100


def link(previous: bytes, digest: bytes) -> bytes:
    """The value of a record with this SHA-256 digest, after the `previous` value."""
    return sha256(previous + digest).digest()


def extend(previous: bytes, record: bytes) -> bytes:
    """The value of a record of these bytes, after the `previous` value."""
    return link(previous, sha256(record).digest())


def add_checksum(payload: bytes) -> bytes:
    """The payload and its digest; `verify_checksum` gives it back."""
    return payload + sha256(payload).digest()


def verify_checksum(data: bytes) -> bytes:
    """The payload of sealed bytes. Raises ValueError if the digest is not its own."""
    payload, digest = data[:-_DIGEST], data[-_DIGEST:]
    if sha256(payload).digest() != digest:
        raise ValueError("a row of the journal does not match its SHA-256 digest")
    return payload


@dataclass(frozen=True, slots=True)
class Link:
    """A stored record as the chain sees it: its place (from 1), the digest of its bytes, its value."""

    place: int
    game_id: str
    digest: bytes
    chain: bytes


@dataclass(frozen=True, slots=True)
class Flaw:
    """One break. `kind`: record, order, missing, extra, chain, head; `text` is one line about it.

    `previous` and `chain` are the values around a changed record: its bytes have to lead
    from the one to the other.
    """

    kind: str
    game_id: str
    text: str
    previous: bytes = GENESIS
    chain: bytes = GENESIS


def audit(links: Iterable[Link], head: bytes | None = None) -> list[Flaw]:
    """Every break in a chain, in order of the places. `head` is that of the whole chain, if it is known."""
    return _Audit(sorted(links, key=lambda each: each.place), head).run()


class _Audit:
    def __init__(self, links: Sequence[Link], head: bytes | None) -> None:
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

    def _gap(self, index: int, found: Link) -> None:
        """Rows are gone; what came before is known no more, so this row's value has to be believed."""
        gone = found.place - self._place
        games = "1 game" if gone == 1 else f"{gone} games"
        after = f"after {self._links[index - 1].game_id}" if index else "at the beginning"
        text = f"{games} missing {after}: place {self._place} of the chain"
        self._flaw("missing", found.game_id, text if gone == 1 else f"{text} to {found.place - 1}")
        self._value = found.chain

    def _break(self, index: int, found: Link) -> None:
        """Find out why the value of this row does not follow from the last one and its record."""
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
        """Whether what follows row `index` follows from a value; None if nothing is known to follow."""
        if index + 1 < len(self._links):
            return _Follower(self._links[index + 1].digest, self._links[index + 1].chain)
        return None if self._head is None else _Follower(None, self._head)

    def _owner(self, found: Link) -> str | None:
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
    """Tells whether `chain` follows from a value: by a record of this digest, or at once without one."""

    digest: bytes | None
    chain: bytes

    def __call__(self, value: bytes) -> bool:
        return self.chain == (value if self.digest is None else link(value, self.digest))


def changed_bytes(record: bytes, flaw: Flaw, *, thorough: bool) -> tuple[tuple[int, int], ...]:
    """Where `record`, of a flaw of kind `record`, was changed: places from 0, and what was there.

    () means that it was in more than one place, or cannot be told.
    A record ends with the digest of its payload. What is tried: the digest alone was changed;
    one bit of the payload was; one was, and the digest made to fit; with `thorough` any one
    byte, which takes half a minute for 9 kB. The chain proves the find.
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
#: The changes of a byte that are tried: one bit first, for that is what hardware does.
_BITS: Final = tuple(1 << bit for bit in range(8))
_OTHERS: Final = tuple(mask for mask in range(1, 256) if mask not in _BITS)
