"""The bytes of a record, and its JSON form.

A record is a canonical msgpack map followed by its SHA-256 digest. One record has exactly one
encoding, and bytes that differ from it anywhere are refused. The map has the fields of
`GameRecord` by name and in order, except that `seed` is hex text because it may exceed 64 bits, and
that `first_move_limit_ms`, `infos`, `worker`, `host`, `usage`, `cpu`, `cores`, `bench` and `images` are
absent if they are 0 or empty. Options are sorted by name; plies, faults, infos and usage are arrays of
their fields in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from hashlib import sha256
from typing import Any

import msgpack

from arena_protocol.kinds import COUNT, INTEGER, KEY, NAME, NUMBER_DIGITS, TEXT, WORD, Kind
from arena_protocol.record import (
    FORMAT,
    QUOTED,
    FaultRecord,
    GameRecord,
    InfoRecord,
    PlyRecord,
    RecordError,
    UsageRecord,
)

__all__ = ["MAX_BYTES", "decode", "encode", "to_json"]

_DIGEST = sha256().digest_size
#: A longer record is refused unread. The longest game, 60,000 plies of four seats, has 5.4 MB.
MAX_BYTES = 8 * 1024 * 1024
#: Items of an array or a map: more than any game has plies, any seat notes or any game options.
MAX_ITEMS = 65_536
_Reader = Callable[[object], object]


def encode(record: GameRecord) -> bytes:
    """Return the canonical bytes of a record; `decode` reads them back."""
    payload: bytes = msgpack.packb(_plain(record))
    return payload + sha256(payload).digest()


def decode(data: bytes) -> GameRecord:
    """Read a record; its names, texts and numbers have the forms of PROTOCOL.md.

    Raises RecordError for bytes that `encode` did not write, whatever they are. Of those no more is
    built than a record has.
    """
    if len(data) > MAX_BYTES:
        raise RecordError(f"not a game record: a record has at most {MAX_BYTES} bytes")
    payload, digest = data[:-_DIGEST], data[-_DIGEST:]
    # Before anything is unpacked: damage must not reach the reader of msgpack.
    if sha256(payload).digest() != digest:
        raise RecordError("damaged record: its bytes do not match its SHA-256 digest")
    record = _record(_Cursor(payload).value())
    # One record has one form, or its digest in the chain of results would not be that of the game.
    if encode(record) != data:
        raise RecordError("damaged record: it is not in the canonical form")
    return record


def to_json(record: GameRecord) -> dict[str, Any]:
    """Return the record as JSON types; the bytes of a faulty line become hexadecimal text."""
    return {name: getattr(record, name) for name in _FIELDS} | {
        "options": dict(record.options),
        "plies": [ply._asdict() for ply in record.plies],
        "faults": [fault._asdict() | {"line": fault.line.hex()} for fault in record.faults],
        "infos": [info._asdict() for info in record.infos],
        "usage": [usage._asdict() for usage in record.usage],
    }


def _plain(record: GameRecord) -> dict[str, object]:
    plain = {name: getattr(record, name) for name in _FIELDS}
    plain["options"] = dict(sorted(record.options.items()))
    # A seed has 128 bits, and an integer of msgpack has 64.
    plain["seed"] = f"{record.seed:x}"
    plain["plies"] = record.plies
    plain["faults"] = record.faults
    for name, default in _ADDED.items():
        # As older versions wrote it: their records, and the digests of those, stay the same bytes.
        if plain[name] == default:
            del plain[name]
    return plain


class _Cursor:
    """Reads a payload value by value; of a long array or a map only what is asked for."""

    def __init__(self, payload: bytes) -> None:
        self._payload, self._size = payload, len(payload)
        self._unpacker = msgpack.Unpacker(
            max_buffer_size=MAX_BYTES, use_list=False, max_array_len=MAX_SHORT, max_map_len=MAX_SHORT
        )
        self._unpacker.feed(payload)

    def value(self) -> object:
        """The next value; the items of a `_Array` or a `_Map` come next."""
        unpacker = self._unpacker
        first = self._payload[place] if (place := unpacker.tell()) < self._size else None
        try:
            if first not in _WITH_ITEMS:
                return unpacker.unpack()
            # Not by `unpack`: a few bytes can announce arrays of 2**32 items within each other, and it
            # makes room for all of them before it reads the first item.
            if first in _MAPS:
                return _Map(self, unpacker.read_map_header())
            return _Array(self, unpacker.read_array_header())
        except (ValueError, msgpack.UnpackException) as error:
            raise RecordError(f"damaged record: not msgpack ({error})") from error


#: The most items of an array that is read at once, and of those within it: 15 of its own, one a seat within.
MAX_SHORT = 64
#: The first bytes of maps, and of arrays of more than 15 items: with the length in it, or behind it.
_MAPS = frozenset((*range(0x80, 0x90), 0xDE, 0xDF))
_WITH_ITEMS = _MAPS | {0xDC, 0xDD}


class _Array:
    """`count` items, to be read once, each before the next."""

    __slots__ = ("count", "cursor")

    def __init__(self, cursor: _Cursor, count: int) -> None:
        self.cursor = cursor
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[object]:
        value = self.cursor.value
        return (value() for _ in range(self.count))


class _Map(_Array):
    """`count` keys, each with its value behind it."""

    def pairs(self) -> Iterator[tuple[object, object]]:
        """All pairs, to be read like items."""
        value = self.cursor.value
        return ((value(), value()) for _ in range(self.count))


class _Flaw(Exception):  # noqa: N818 - the RecordError is made of it
    """What is wrong with a value. `within` says where the value is, from the inside out."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
        self.where = ""

    def within(self, where: str) -> _Flaw:
        self.where = where + self.where
        return self


def _record(plain: object) -> GameRecord:
    # What follows reads it by keys.
    if type(plain) is not _Map:
        raise RecordError(f"damaged record: expected a map, found {_kind(plain)}")
    values: dict[str, Any] = dict(_ADDED)
    expected = iter(_FIELDS)
    for key, value in plain.pairs():
        # The fields come in one order; only those that older records do not have may be missing.
        name = next((name for name in expected if name == key or name not in _ADDED), None)
        if name is None or name != key:
            raise _other_fields()
        try:
            values[name] = _FIELDS[name](value)
        except _Flaw as flaw:
            raise RecordError(f"damaged record: {name}{flaw.where}: {flaw.text}") from None
        if name == "format" and value != FORMAT:
            raise RecordError(f"a record of format {value}; this version reads format {FORMAT}")
    if any(name not in _ADDED for name in expected):
        raise _other_fields()
    record = GameRecord(**values)
    _check_seats(record)
    return record


def _check_seats(record: GameRecord) -> None:
    """Raise RecordError for a seat without a name, and for lists without one number per seat."""
    seats = len(record.names)
    _check_number_per_seat("totals", record.totals, seats)
    if len(record.images) not in (0, seats):
        raise RecordError(f"damaged record: images: expected one of each seat, found {len(record.images)}")
    rows: tuple[tuple[str, Sequence[Any], int], ...] = (
        ("plies", record.plies, 1),
        ("faults", record.faults, 0),  # seat 0 is the platform
        ("infos", record.infos, 1),
        ("usage", record.usage, 1),
    )
    for what, found, lowest in rows:
        for number, row in enumerate(found, start=1):
            if not lowest <= row.seat <= seats:
                raise RecordError(
                    f"damaged record: {what} {number}: expected a seat of {seats}, found {row.seat}"
                )
    for number, ply in enumerate(record.plies, start=1):
        if not len(ply.clock) == len(ply.total) == seats:
            _check_number_per_seat(f"plies {number}: clock", ply.clock, seats)
            _check_number_per_seat(f"plies {number}: total", ply.total, seats)


def _check_number_per_seat(where: str, items: Sequence[int], seats: int) -> None:
    if len(items) != seats:
        raise RecordError(f"damaged record: {where}: expected {seats} numbers, found {len(items)}")


def _other_fields() -> RecordError:
    return RecordError(f"damaged record: expected the fields {', '.join(_FIELDS)}")


#: What `unpack` makes of a short array and of a map within it.
_KINDS: Mapping[type, str] = {tuple: "Array", dict: "Map"}


def _kind(value: object) -> str:
    return _KINDS.get(type(value), type(value).__name__.removeprefix("_"))


def _of(expected: type, words: str) -> _Reader:
    def read(value: object) -> object:
        if type(value) is not expected:  # exactly: a bool is an int to isinstance
            raise _Flaw(f"expected {words}, found {_kind(value)}")
        return value

    return read


def _or_none(read: _Reader) -> _Reader:
    return lambda value: None if value is None else read(value)


_whole = _of(int, "a whole number")
_text = _of(str, "text")
_bytes = _of(bytes, "bytes")
_flag = _of(bool, "true or false")


def _array(value: object) -> Any:
    return value if type(value) is tuple else _bounded(value, _Array, "an array")


def _bounded(value: object, expected: type, words: str) -> Any:
    items: Any = _of(expected, words)(value)
    if items.count > MAX_ITEMS:
        raise _Flaw(f"expected at most {MAX_ITEMS} items, found {items.count}")
    return items


def _number(kind: Kind, lowest: int) -> _Reader:
    highest = 10**NUMBER_DIGITS - 1

    def read(value: object) -> object:
        if type(value) is int and lowest <= value <= highest:
            return value
        raise _Flaw(f"expected {kind.meaning}, found {_whole(value)}")

    return read


def _form(pattern: str, meaning: str) -> _Reader:
    # A record may come from anywhere and is printed on terminals: no control character passes.
    fits = re.compile(pattern).fullmatch

    def read(value: object) -> object:
        if type(value) is str and fits(value):
            return value
        text: Any = _text(value)
        raise _Flaw(f"expected {meaning}, found {text[:QUOTED]!a}")

    return read


_count, _integer = _number(COUNT, 0), _number(INTEGER, 1 - 10**NUMBER_DIGITS)
_name, _word, _words = (_form(kind.pattern, kind.meaning) for kind in (NAME, WORD, TEXT))
_word_or_nothing = _form(f"(?:{WORD.pattern})?", WORD.meaning)
_key = _form(KEY, "the key of an option")
#: Far more digits than any seed has, and few enough to be printed in decimal.
_seed_text = _form("-?[0-9a-f]{1,256}", "hex digits")


def _each(read: _Reader) -> _Reader:
    def read_all(value: object) -> object:
        items = _array(value)
        found: list[object] = []
        try:
            for item in items:
                found.append(read(item))
        except _Flaw as flaw:
            raise flaw.within(f" {len(found) + 1}") from None
        return tuple(found)

    return read_all


def _row(build: Callable[..., object], columns: dict[str, _Reader]) -> _Reader:
    names, readers = tuple(columns), tuple(columns.values())

    def read_row(value: object) -> object:
        items = _array(value)
        if len(items) != len(readers):
            raise _Flaw(f"expected {len(readers)} values, found {len(items)}")
        cells: list[object] = []
        try:
            for read, item in zip(readers, items, strict=True):
                cells.append(read(item))
        except _Flaw as flaw:
            raise flaw.within(f": {names[len(cells)]}") from None
        return build(*cells)

    return read_row


def _options(value: object) -> object:
    items = _bounded(value, _Map, "a map")
    found: dict[object, object] = {}
    for key, text in items.pairs():
        name = _key(key)
        try:
            found[name] = _word(text)
        except _Flaw as flaw:
            raise flaw.within(f": {name}") from None
    return found


def _seed(value: object) -> object:
    text: Any = _seed_text(value)
    return int(text, 16)


_PLY: dict[str, _Reader] = {
    "seat": _count,
    "move": _word,
    "time_ms": _count,
    "handed_ns": _whole,
    "arrived_ns": _whole,
    "clock": _each(_count),
    "points": _integer,
    "total": _each(_integer),
    "zombie": _flag,
    "lag_ms": _count,
    "credit_ms": _count,
}
_FAULT: dict[str, _Reader] = {"seat": _count, "ply": _count, "kind": _word, "line": _bytes}
_INFO: dict[str, _Reader] = {
    "seat": _count,
    "ply": _count,
    "depth": _or_none(_count),
    "eval": _or_none(_integer),
    "nodes": _or_none(_count),
    "line": _or_none(_word),
    "text": _or_none(_words),
}
_USAGE: dict[str, _Reader] = {
    "seat": _count,
    "used_ms": _or_none(_count),
    "throttled_ms": _or_none(_count),
    "pressure_ms": _or_none(_count),
}
_SPECIAL: dict[str, _Reader] = {
    "contest": _name,
    "options": _options,
    "names": _each(_name),
    "seed": _seed,
    "sequence": _word_or_nothing,
    "plies": _each(_row(PlyRecord, _PLY)),
    "faults": _each(_row(FaultRecord, _FAULT)),
    "totals": _each(_integer),
    "infos": _each(_row(InfoRecord, _INFO)),
    "usage": _each(_row(UsageRecord, _USAGE)),
    "images": _each(_word),
}
#: Fields that older records do not have, with the values that are left out.
_ADDED: dict[str, object] = {
    "first_move_limit_ms": 0,
    "infos": (),
    "worker": "",
    "host": "",
    "usage": (),
    "cpu": "",
    "cores": "",
    "bench": 0,
    "images": (),
}
_SIMPLE = {"int": _count, "str": _word}
_FIELDS: dict[str, _Reader] = {
    field.name: _SPECIAL.get(field.name) or _SIMPLE[str(field.type)] for field in fields(GameRecord)
}
