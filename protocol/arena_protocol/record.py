"""The record of one game, and its bytes: all that is needed to replay and to check the game.

A record is a canonical msgpack map followed by its SHA-256 digest. One record has exactly one
encoding, and bytes that differ from it anywhere are refused. The map has the fields of
`GameRecord` by name and in order, except that `seed` is hex text because it may exceed 64 bits, and
that `first_move_limit_ms` and `infos` are absent if they are 0 and empty. Options are sorted by
name; plies, faults and infos are arrays of their fields in order. Whether a record is true is
checked by `verify.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple

import msgpack

from arena_protocol.errors import UserError

#: Version of the layout; incremented by a change that old readers would misread.
FORMAT = 2


#: Ends of a game that its rules do not have: a seat forfeited, or the platform aborted the game.
FORFEIT, VOID = "forfeit", "void"


class RecordError(UserError, ValueError):
    """A record that cannot be read or is not true; the text is one line."""


class FaultKind(StrEnum):
    """Why a seat became a zombie (or forfeited); VOID is a fault of the platform."""

    TIMEOUT = "timeout"
    ILLEGAL = "illegal"
    MALFORMED = "malformed"
    FLOOD = "flood"
    OUT_OF_TURN = "out-of-turn"
    DISCONNECT = "disconnect"
    NEVER_READY = "never-ready"
    QUIT = "quit"
    VOID = "void"


class PlyRecord(NamedTuple):
    """One ply: the mover, the move, its times, and the clocks and points after it.

    `handed_ns` (TURN written to the socket) and `arrived_ns` (the move arrived) are nanoseconds of
    a monotonic clock since START, without the time during which the server was down. `time_ms`
    is the charge, `clock` the clocks of all seats in milliseconds. A zombie's ply costs no time
    except the one on which its flag fell. `lag_ms` and `credit_ms` are the values in TURN.
    """

    seat: int
    move: str
    time_ms: int
    handed_ns: int
    arrived_ns: int
    clock: tuple[int, ...]
    points: int
    total: tuple[int, ...]
    zombie: bool
    lag_ms: int = 0
    credit_ms: int = 0


class FaultRecord(NamedTuple):
    """A fault of `seat` (0: of the platform) when `ply` was due, with the offending line.

    A fault before START has ply 0 or 1. A seat is a zombie from its first fault on.
    """

    seat: int
    ply: int
    kind: str
    line: bytes


class InfoRecord(NamedTuple):
    """A note that the bot of `seat` sent about `ply`: see `messages.Info`. It proves nothing."""

    seat: int
    ply: int
    depth: int | None = None
    eval: int | None = None
    nodes: int | None = None
    line: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """A whole game. `board` and `sequence` are what `seed` deals and what `commit` commits to.

    `options` are the game's own, as GAME prints them; there is one seat per name. `final` is the
    position after the last ply, as STATE prints it: without it, the last move could be replaced
    by another with the same points. `end` is the game's own word (`complete`, ...), `forfeit`, or
    `void` for a game that the platform aborted after any ply.
    """

    format: int = FORMAT
    software: str
    contest: str
    game_id: str
    game: str
    options: Mapping[str, str]
    names: tuple[str, ...]
    seed: int
    nonce: str
    commit: str
    board: str
    sequence: str
    clock_ms: int
    increment_ms: int
    margin_ms: int
    move_limit_ms: int = 0
    byoyomi_ms: int = 0
    lag_quota_ms: int = 0
    plies: tuple[PlyRecord, ...]
    faults: tuple[FaultRecord, ...]
    final: str
    totals: tuple[int, ...]
    end: str
    first_move_limit_ms: int = 0
    infos: tuple[InfoRecord, ...] = ()


def commitment(nonce: str, board: str, sequence: str) -> str:
    """What GAME promises as `commit=`: the SHA-256 of `nonce:board:sequence`, in hex."""
    return sha256(f"{nonce}:{board}:{sequence}".encode()).hexdigest()


_DIGEST = sha256().digest_size
#: Far more digits than any seed has, and few enough to be printed in decimal.
_HEX = re.compile("-?[0-9a-f]{1,256}", re.ASCII)
_Reader = Callable[[object, str], object]


def encode(record: GameRecord) -> bytes:
    """Return the canonical bytes of a record; `decode` reads them back."""
    payload: bytes = msgpack.packb(_plain(record))
    return payload + sha256(payload).digest()


def decode(data: bytes) -> GameRecord:
    """Read a record. Raises RecordError for bytes that `encode` did not write, whatever they are."""
    payload, digest = data[:-_DIGEST], data[-_DIGEST:]
    if sha256(payload).digest() != digest:
        raise RecordError("damaged record: its bytes do not match its SHA-256 digest")
    record = _record(_unpack(payload))
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
    }


def _plain(record: GameRecord) -> dict[str, object]:
    plain = {name: getattr(record, name) for name in _FIELDS}
    plain["options"] = dict(sorted(record.options.items()))
    plain["seed"] = f"{record.seed:x}"
    plain["plies"] = record.plies
    plain["faults"] = record.faults
    for name, default in _ADDED.items():
        if plain[name] == default:
            del plain[name]
    return plain


def _unpack(payload: bytes) -> object:
    try:
        return msgpack.unpackb(payload, use_list=False)
    except (ValueError, msgpack.UnpackException) as error:
        raise RecordError(f"damaged record: not msgpack ({error})") from error


def _record(plain: object) -> GameRecord:
    if not isinstance(plain, dict):
        raise RecordError(f"damaged record: expected a map, found {_kind(plain)}")
    if plain.get("format") != FORMAT:
        found = plain.get("format")
        raise RecordError(f"a record of format {found!r:.20}; this version reads format {FORMAT}")
    if list(plain) != [name for name in _FIELDS if name in plain or name not in _ADDED]:
        raise RecordError(f"damaged record: expected the fields {', '.join(_FIELDS)}")
    plain = _ADDED | plain
    values: dict[str, Any] = {name: read(plain[name], name) for name, read in _FIELDS.items()}
    return GameRecord(**values)


def _kind(value: object) -> str:
    return type(value).__name__


def _of(expected: type, words: str) -> _Reader:
    def read(value: object, where: str) -> object:
        if type(value) is not expected:  # exactly: a bool is an int to isinstance
            raise RecordError(f"damaged record: {where}: expected {words}, found {_kind(value)}")
        return value

    return read


def _or_none(read: _Reader) -> _Reader:
    return lambda value, where: None if value is None else read(value, where)


_whole = _of(int, "a whole number")
_text = _of(str, "text")
_whole_or_none = _or_none(_whole)
_text_or_none = _or_none(_text)
_bytes = _of(bytes, "bytes")
_flag = _of(bool, "true or false")
_array = _of(tuple, "an array")
_map = _of(dict, "a map")


def _each(read: _Reader) -> _Reader:
    def read_all(value: object, where: str) -> object:
        items: Any = _array(value, where)
        return tuple(read(item, f"{where} {number}") for number, item in enumerate(items, start=1))

    return read_all


def _row(build: Callable[..., object], columns: dict[str, _Reader]) -> _Reader:
    def read_row(value: object, where: str) -> object:
        items: Any = _array(value, where)
        if len(items) != len(columns):
            raise RecordError(f"damaged record: {where}: expected {len(columns)} values, found {len(items)}")
        cells = zip(columns.items(), items, strict=True)
        return build(*(read(item, f"{where}: {name}") for (name, read), item in cells))

    return read_row


def _options(value: object, where: str) -> object:
    pairs: Any = _map(value, where)
    return {_text(key, where): _text(text, f"{where}: {key}") for key, text in pairs.items()}


def _seed(value: object, where: str) -> object:
    text: Any = _text(value, where)
    if not _HEX.fullmatch(text):
        raise RecordError(f"damaged record: {where}: expected hex digits, found {text[:20]!r}")
    return int(text, 16)


_PLY: dict[str, _Reader] = {
    "seat": _whole,
    "move": _text,
    "time_ms": _whole,
    "handed_ns": _whole,
    "arrived_ns": _whole,
    "clock": _each(_whole),
    "points": _whole,
    "total": _each(_whole),
    "zombie": _flag,
    "lag_ms": _whole,
    "credit_ms": _whole,
}
_FAULT: dict[str, _Reader] = {"seat": _whole, "ply": _whole, "kind": _text, "line": _bytes}
_INFO: dict[str, _Reader] = {
    "seat": _whole,
    "ply": _whole,
    "depth": _whole_or_none,
    "eval": _whole_or_none,
    "nodes": _whole_or_none,
    "line": _text_or_none,
    "text": _text_or_none,
}
_SPECIAL: dict[str, _Reader] = {
    "options": _options,
    "names": _each(_text),
    "seed": _seed,
    "plies": _each(_row(PlyRecord, _PLY)),
    "faults": _each(_row(FaultRecord, _FAULT)),
    "totals": _each(_whole),
    "infos": _each(_row(InfoRecord, _INFO)),
}
#: Fields that older records do not have, with the values that are left out.
_ADDED: dict[str, object] = {"first_move_limit_ms": 0, "infos": ()}
_SIMPLE = {"int": _whole, "str": _text}
_FIELDS: dict[str, _Reader] = {
    field.name: _SPECIAL.get(field.name) or _SIMPLE[str(field.type)] for field in fields(GameRecord)
}


__all__ = [
    "FORFEIT",
    "FORMAT",
    "VOID",
    "FaultKind",
    "FaultRecord",
    "GameRecord",
    "InfoRecord",
    "PlyRecord",
    "RecordError",
    "commitment",
    "decode",
    "encode",
    "to_json",
]


#: How much of an offending line is quoted.
QUOTED = 40

_CAUSES: dict[str, str] = {
    FaultKind.TIMEOUT: "used up its clock",
    FaultKind.ILLEGAL: "sent an illegal move",
    FaultKind.MALFORMED: "sent a line that cannot be parsed,",
    FaultKind.FLOOD: "sent too many unasked lines",
    FaultKind.OUT_OF_TURN: "moved out of turn too often",
    FaultKind.DISCONNECT: "was not connected when its time ran out",
    FaultKind.NEVER_READY: "did not send READY in time",
    FaultKind.QUIT: "sent QUIT",
}
#: The causes that the offending line explains.
_WITH_LINE = (FaultKind.ILLEGAL, FaultKind.MALFORMED)


def describe_fault(name: str, kind: str, ply: int, line: bytes = b"", *, zombie_move: str | None) -> str:
    """Return who did what at which ply, and what the referee does about it, as one line of ASCII.

    `line` is the offending line, if it is known; `zombie_move` the move that the server plays for
    the seat, None in a game that the seat forfeits.
    """
    cause = _CAUSES.get(kind, f"is at fault ({kind})")
    if kind in _WITH_LINE:
        shown = line.removeprefix(b"MOVE ") if kind == FaultKind.ILLEGAL else line
        cause = f"{cause} {_quote(shown)}" if line else cause.removesuffix(",")
    when = f" at ply {ply}" if ply else " before the first ply"
    verdict = "the seat loses the game"
    if zombie_move is not None:
        verdict = f"the referee plays {zombie_move} for it until the game ends"
    return f"{name} {cause}{when}; {verdict}"


def _quote(line: bytes) -> str:
    """Return the beginning of a line in quotes, with escapes for what is not printable ASCII."""
    text = json.dumps(line[:QUOTED].decode("latin-1"))
    return f"{text}..." if len(line) > QUOTED else text
