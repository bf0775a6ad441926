"""The commands of a match, which `Match.decide` answers with facts."""

from __future__ import annotations

from typing import NamedTuple

from arena_protocol.record import FaultKind, InfoRecord


class SayReady(NamedTuple):
    """READY came from `seat`."""

    seat: int
    arrived: int


class PlayMove(NamedTuple):
    """MOVE came from `seat` while its TURN was open; `line` is the raw line."""

    seat: int
    move: str
    line: bytes
    arrived: int


class Blame(NamedTuple):
    """`seat` broke a rule of the protocol; `line` is the offending one, if there is one."""

    seat: int
    kind: FaultKind
    line: bytes


class Annotate(NamedTuple):
    """A note came from a bot."""

    info: InfoRecord


class Expire(NamedTuple):
    """The deadline of `timer` has passed."""


class Disconnect(NamedTuple):
    """The connection of `seat` is gone."""

    seat: int


class Abort(NamedTuple):
    """The platform breaks the game off; `reason` goes to the record."""

    reason: str


Command = SayReady | PlayMove | Annotate | Blame | Expire | Disconnect | Abort
