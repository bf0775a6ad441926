"""The calls that a match has accepted, kept for the journal; and a match brought back by them.

Moments are nanoseconds since the game was offered, so that they outlive the clock.
It must not know: how entries become durable, the course of a game.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from arena_protocol.record import FaultKind
from arena_server.core.journal import OFFER, Entry

if TYPE_CHECKING:
    from arena_server.core.match import Match


class Diary:
    """What game `number`, offered at the moment `offered`, has to remember."""

    __slots__ = ("_entries", "_hasty", "_number", "offered")

    def __init__(self, number: int, offered: int) -> None:
        self.offered = offered
        self._number = number
        self._entries: list[Entry] = []
        self.log(OFFER, now=offered)

    def log(self, kind: str, *values: object, now: int) -> None:
        """Keep an accepted call, with all that `redo` needs."""
        self.jot(kind, *values, now=now)
        self._hasty = True

    def jot(self, kind: str, *values: object, now: int) -> None:
        """Keep a call of which nobody hears by itself: it waits for the next that matters."""
        self._entries.append((self._number, kind, *values, now - self.offered))

    def take(self) -> list[Entry]:
        """Take what has to be durable before anything that comes of it is told."""
        return self.take_all() if self._hasty else []

    def take_all(self) -> list[Entry]:
        """Take all that is kept."""
        self._hasty = False
        entries, self._entries = self._entries, []
        return entries


def redo(match: Match, entries: list[Entry]) -> None:
    """Make the calls anew that a match of the same setting has kept; for a match that is new.

    Raises LookupError, TypeError or ValueError for entries that no match has kept: what a
    match has kept it keeps again.
    """
    for call in entries[1:]:
        _redo(match, call)
    if match.diary.take_all() != entries:
        raise ValueError(f"entries of {match.setting.game_id} that do not follow from each other")


def _redo(match: Match, call: Entry) -> None:
    _, kind, *values, moment = call
    if not all(type(value) in _PLAIN for value in call):
        raise ValueError(f"a call with more than numbers, texts and bytes: {call!r}")
    if match.over:
        raise ValueError(f"a call to a game that is over: {call!r}")
    _CALLS[kind](match, values, match.diary.offered + moment)


_PLAIN: Final = frozenset((int, str, bytes))


def _ready(match: Match, values: list[Any], now: int) -> None:
    seat, arrived = values
    match.ready(seat, match.diary.offered + arrived, now)


def _handed(match: Match, values: list[Any], now: int) -> None:
    match.handed(match.mover, match.ply, now)


def _move(match: Match, values: list[Any], now: int) -> None:
    seat, move, arrived = values
    match.move(seat, move, b"", match.diary.offered + arrived, now)


def _fault(match: Match, values: list[Any], now: int) -> None:
    seat, kind, line = values
    match.fault(seat, FaultKind(kind), line, now)


def _expire(match: Match, values: list[Any], now: int) -> None:
    match.expire(now)


#: The call that each kind of entry stands for.
_CALLS: Final[dict[str, Callable[[Match, list[Any], int], object]]] = {
    "ready": _ready,
    "handed": _handed,
    "move": _move,
    "fault": _fault,
    "late": _expire,
    "flag": _expire,
    "grace": _expire,
    "leave": lambda match, values, now: match.leave(values[0], now),
    "back": lambda match, values, now: match.back(values[0], now),
    "lag": lambda match, values, now: match.lag(values[0], values[1], now),
    "restart": lambda match, values, now: match.restart(now),
    "void": lambda match, values, now: match.void(values[0], now),
}
