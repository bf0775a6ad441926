"""A fault as one sentence, the same in the log of a bot, `arena watch`, `arena replay` and the standings."""

from __future__ import annotations

import json

from arena_protocol.record import FaultKind

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
