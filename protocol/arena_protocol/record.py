"""The record of one game: all that is needed to replay and to check it, and what it says in words.

Its bytes are those of `record_codec.py`; whether a record is true is checked by `verify.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from operator import itemgetter
from typing import NamedTuple

from arena_protocol.errors import UserError

#: Version of the layout; incremented by a change that old readers would misread.
FORMAT = 2


#: Ends of a game that its rules do not have: a seat forfeited, or the platform aborted the game.
FORFEIT, VOID = "forfeit", "void"
#: The end of a result that the jury has corrected; no record has it.
CORRECTED = "corrected"


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
    RESOURCE = "resource"
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


class UsageRecord(NamedTuple):
    """What the bot of `seat`, started by the referee's side, got of the processor in the game, in ms.

    None: it is not known. `used_ms` by all its programs; `throttled_ms`: it stood still because of its own
    limit; `pressure_ms`: it was ready to run and waited, because its machine was busy. It proves nothing.
    """

    seat: int
    used_ms: int | None
    throttled_ms: int | None
    pressure_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """A whole game. `board` and `sequence` are what `seed` deals and what `commit` commits to.

    `options` are the game's own, as GAME prints them; there is one seat per name. `final` is the
    position after the last ply, as STATE prints it: without it, the last move could be replaced
    by another with the same points. `end` is the game's own word (`complete`, ...), `forfeit`, or
    `void` for a game that the platform aborted after any ply. `usage` is that of bots that the
    referee's side has started.

    A game that was played away from the contest's server names the `worker` and the machine, `host`, with the
    model of its `cpu`, the `cores` that the players were bound to (`0-1`, or `0/1` for a core each; empty: to
    none), and the `bench`, how many plies a second of the rules it made before its first game (0: not known);
    nothing of that can be proved. `images` are those of the containers of the seats, by digest, as the server
    named them, `-` for a seat without one; empty: none has one.
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
    worker: str = ""
    host: str = ""
    usage: tuple[UsageRecord, ...] = ()
    cpu: str = ""
    cores: str = ""
    bench: int = 0
    images: tuple[str, ...] = ()


def commitment(nonce: str, board: str, sequence: str) -> str:
    """What GAME promises as `commit=`: the SHA-256 of `nonce:board:sequence`, in hex."""
    return sha256(f"{nonce}:{board}:{sequence}".encode()).hexdigest()


__all__ = [
    "CORRECTED",
    "FORFEIT",
    "FORMAT",
    "VOID",
    "FaultKind",
    "FaultRecord",
    "GameRecord",
    "InfoRecord",
    "PlyRecord",
    "RecordError",
    "UsageRecord",
    "commitment",
    "describe_result",
    "describe_usage",
    "time_used",
    "winning_seats",
]


#: Of a ply; by its name it takes three times as long, and each result asks for all.
_CHARGE = itemgetter(PlyRecord._fields.index("time_ms"))


def time_used(plies: Iterable[PlyRecord], seats: int) -> tuple[int, ...]:
    """Return the milliseconds that were charged to each seat."""
    used = [0] * seats
    for ply in filter(_CHARGE, plies):  # a quick ply has none
        used[ply.seat - 1] += ply.time_ms
    return tuple(used)


def winning_seats(totals: Sequence[int], end: str) -> list[int]:
    """Return the seats with the most points; more than one is a draw of these, none a void game."""
    return [] if end == VOID else [seat for seat, total in enumerate(totals, 1) if total == max(totals)]


def describe_result(names: Sequence[str], totals: Sequence[int], end: str) -> str:
    """Return how a game ended, in words: the winner with the totals of all.

    `end` is that of the record, or CORRECTED.
    """
    winners = [names[seat - 1] for seat in winning_seats(totals, end)]
    how = {FORFEIT: " by forfeit", CORRECTED: ", corrected by the jury"}.get(end, "")
    if not winners:
        return "void, it does not count"
    if len(winners) == 1:
        verdict = f"{winners[0]} wins"
    elif end == FORFEIT:
        verdict = "no winner"
    else:
        verdict = "a draw" if len(winners) == len(names) else f"a draw of {' and '.join(winners)}"
    if len(names) != 2:
        each = ", ".join(f"{name} {total:,}" for name, total in zip(names, totals, strict=True))
        return f"{verdict}{how}: {each}"
    score = " : ".join(f"{total:,}" for total in sorted(totals, reverse=True))
    return f"{verdict}{' ' if len(winners) == 1 else ', '}{score}{how}"


def describe_usage(usage: UsageRecord) -> str:
    """Return what a bot got of the processor, in words."""
    parts = (
        (usage.used_ms, "of processor time"),
        (usage.throttled_ms, "held back by its own limit"),
        (usage.pressure_ms, "kept waiting by a busy machine"),
    )
    return ", ".join(f"{'an unknown time' if ms is None else f'{ms:,} ms'} {what}" for ms, what in parts)


#: How much of an offending line is quoted.
QUOTED = 40

_CAUSES: dict[str, str] = {
    FaultKind.TIMEOUT: "used up its clock",
    FaultKind.ILLEGAL: "sent an illegal move",
    FaultKind.MALFORMED: "sent a line that cannot be parsed,",
    FaultKind.FLOOD: "sent too many unasked lines",
    FaultKind.OUT_OF_TURN: "moved out of turn too often",
    FaultKind.DISCONNECT: "was not connected and did not come back in time",
    FaultKind.NEVER_READY: "did not send READY in time",
    FaultKind.QUIT: "sent QUIT",
    FaultKind.RESOURCE: "was stopped by a limit of its container,",
}
#: The causes that the offending line explains.
_WITH_LINE = (FaultKind.ILLEGAL, FaultKind.MALFORMED, FaultKind.RESOURCE)


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
