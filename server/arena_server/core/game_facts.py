"""Facts of a game: what its match has decided.

`Match.apply` (`match.py`) is the only writer of a game's state, from live facts and from the journal's alike.
PlyRecord, FaultRecord and InfoRecord are facts as they stand in the game's record. `journal.py` has their
form in the database, `facts.py` the facts of the contest.
"""

from __future__ import annotations

from typing import NamedTuple

from arena_protocol.record import FaultRecord, InfoRecord, PlyRecord


class Offered(NamedTuple):
    """GAME is sent. It annuls all earlier facts of the same game.

    `names` play in the order of the seats, on deal `deal` (1, 2, ...) of those of these players.
    `slots`: in which slot each seat's bot plays the game; empty: all in slot 1. `agents`: what each
    bot calls its program; empty: none of them says.
    """

    names: tuple[str, ...]
    deal: int
    slots: tuple[int, ...] = ()
    agents: tuple[str | None, ...] = ()


class Ready(NamedTuple):
    """The seat has sent READY in time."""

    seat: int


class Away(NamedTuple):
    """The seat lost its connection before START: it has to send READY again."""

    seat: int


class Started(NamedTuple):
    """Every seat is ready or at fault."""


class Ended(NamedTuple):
    """The game is over; `end` is the game's own word, `forfeit` or `void`."""

    totals: tuple[int, ...]
    end: str


class Leased(NamedTuple):
    """The game is a worker's to play; a result counts with the newest `fence` (1, 2, ...) alone."""

    fence: int


GameFact = Offered | Leased | Ready | Away | Started | PlyRecord | FaultRecord | InfoRecord | Ended
