"""The record of one game: what it holds, its bytes on disk, and the check that it is true."""

from arena_protocol.record.audit import verify
from arena_protocol.record.codec import decode, encode
from arena_protocol.record.model import (
    FORMAT,
    FaultKind,
    FaultRecord,
    GameRecord,
    PlyRecord,
    RecordError,
    commitment,
)

__all__ = [
    "FORMAT",
    "FaultKind",
    "FaultRecord",
    "GameRecord",
    "PlyRecord",
    "RecordError",
    "commitment",
    "decode",
    "encode",
    "verify",
]
