"""Matches: the bots play in groups of their own, which have nothing to do with each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from arena_server.core.formats.balance import Bounds
from arena_server.core.formats.base import Format, FreeBots, Pairing, PairingError
from arena_server.core.formats.groups import GroupList
from arena_server.core.formats.scheduled import Scheduled
from arena_server.terms.config import HANDED, SINGLE
from arena_server.terms.formats import FormatError, Terms


class Matches(Scheduled):
    NAME = "matches"
    MEANING = (
        "the bots play in groups in the order of the file, with two seats the first with the second, the "
        "third with the fourth"
    )
    BY_LOT = False

    def __init__(self, terms: Terms) -> None:
        self.check(terms)
        seats, everyone = terms.seats, range(len(terms.names))
        groups = GroupList([tuple(everyone[at : at + seats]) for at in everyone[::seats]])
        # Else, with three seats and more, a player would always follow the same other.
        super().__init__(terms, groups, Bounds.NONE, reverse=seats > 2)

    def check_late(self) -> None:
        self.late_groups(len(self.terms.names))

    @classmethod
    def check(cls, terms: Terms) -> None:
        super().check(terms)
        if len(terms.names) % terms.seats:
            raise FormatError(
                f'contest.format: expected a multiple of {terms.seats} bots for "matches" in {terms.seats} '
                f"seats, got {len(terms.names)}"
            )


class Single(Scheduled):
    """One game of all bots in the order of their seats: that of a visitor of the page."""

    NAME = SINGLE
    MEANING = "one game of all bots in the order of their seats"

    def __init__(self, terms: Terms) -> None:
        self.check(terms)
        super().__init__(terms, GroupList([tuple(range(terms.seats))]), Bounds.NONE)

    @classmethod
    def check(cls, terms: Terms) -> None:
        seats, bots, games = terms.seats, len(terms.names), terms.games
        if (bots, games) != (seats, 1):
            raise FormatError(f"a single game has {seats} bots, not {bots}, and is one, not {games}")


class Handed(FreeBots, Format):
    """One game after the other of all bots, as the shell hands them out: those of a worker.

    A void game is not played again: who has handed it out may do so once more.
    """

    NAME = HANDED
    MEANING = "games that are handed out one by one"

    def __init__(self, terms: Terms) -> None:
        super().__init__()
        self.check(terms)
        self._last = 0
        self._waiting: Pairing | None = None

    def hand_out(self, names: tuple[str, ...], dealt: tuple[int, str]) -> None:
        """The next game; the last one has started."""
        self._last += 1
        self._waiting = Pairing(self._last, names, self._last, dealt)

    @property
    def total(self) -> int | None:
        return None

    @property
    def next_number(self) -> int:
        return self._last + 1

    def planned(self, first: int, end: int) -> Iterator[Pairing]:
        return iter(())

    def next(self) -> Pairing | None:
        pairing = self._waiting
        if pairing is None or not self.occupy(pairing.names):
            return None
        self._waiting = None
        return pairing

    def may_repeat(self, number: int) -> bool:
        return False

    def again(self, pairing: Pairing, void: int) -> None:
        raise AssertionError("no void game is played again")

    def started(self, pairing: Pairing) -> None:
        raise PairingError(f"g{pairing.number} was handed out, and is not known any more")

    def has_games(self, name: str) -> bool:
        return self._waiting is not None and name in self._waiting.names

    def exhausted(self, absent: Collection[str]) -> bool:
        return any(map(self.has_games, absent))

    def unplayed(self) -> Iterator[tuple[tuple[str, ...], int]]:
        if self._waiting is not None:
            yield self._waiting.names, 1
