"""What the record of a game holds: enough to play it again and to judge every verdict in it.

It must not know: how records are stored, any particular game, clocks that run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

#: The layout of the record; a change that old readers would misread adds one.
FORMAT = 2


class RecordError(ValueError):
    """A record that cannot be read or is not true; the text is one clear line."""


class FaultKind(StrEnum):
    """Why a seat became a zombie (or forfeited); VOID alone is the platform's own fault."""

    TIMEOUT = "timeout"
    ILLEGAL = "illegal"
    MALFORMED = "malformed"
    FLOOD = "flood"
    OUT_OF_TURN = "out-of-turn"
    DISCONNECT = "disconnect"
    NEVER_READY = "never-ready"
    QUIT = "quit"
    VOID = "void"


@dataclass(frozen=True, slots=True)
class PlyRecord:
    """One ply: who played what, when, and the clocks and points after it.

    `handed_ns` (TURN went to the socket) and `arrived_ns` (the move was there) are monotonic
    nanoseconds since START, less what the server was down; `time_ms` is the charge and `clock`
    every seat's clock in milliseconds. A zombie's ply costs no time, but for the one on which
    its flag fell. `lag_ms` and `credit_ms` are what TURN said of the connection's lag, and
    what of it was to be forgiven.
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


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """A fault of `seat` (0: the platform's) while `ply` was to be played, with the offending bytes.

    A fault before START has ply 0 or 1. From its fault on, a seat is a zombie.
    """

    seat: int
    ply: int
    kind: str
    line: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """A whole game. `board` and `sequence` are what `seed` deals and `commit` fixed beforehand.

    `options` are the game's own, as GAME prints them; the seats are as many as `names`.
    `final` is the position after the last ply, as STATE prints it: without it, a move could be
    exchanged for another that earns the same. `end` is the game's own word (`complete`, ...),
    `forfeit`, or `void` for a game that the platform broke off, wherever its plies stop.
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


def commitment(nonce: str, board: str, sequence: str) -> str:
    """What GAME promises as `commit=`: the SHA-256 of `nonce:board:sequence`, in hex."""
    return sha256(f"{nonce}:{board}:{sequence}".encode()).hexdigest()
