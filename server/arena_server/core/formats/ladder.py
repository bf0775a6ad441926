"""Ladder: open until it is closed; bots come and go, and are paired by rating and waiting time.

A bot that is free waits in a queue. When a game is to start, the bot that has waited longest plays, with the
bots of the queue whose ratings are nearest to its own. A game starts

    as soon as more than an eighth of the bots that are present wait (and enough to fill the seats), or
    as soon as all that are present wait.

So at most an eighth of the bots wait for a better opponent, and the ladder never stands still: as long as a
game runs its bots will be free again, and if none runs all wait. The same bots play no two games in a row
if another waits, or if others have ended a game meanwhile, so that one of them will be free soon.

    Bound on waiting: a bot that joins the queue behind w others plays in one of the next w + 1 games that are
    drawn.

Each game that is drawn takes the first bot out of the queue, and no bot enters before one that waits. Between
two events at most an eighth of the bots wait, or as many as fill the seats: w is at most that, and those that
have become free in the same moment. The bound does not depend on how long games take.

What is owed is not drawn: a void game that is played again, and with paired deals the other games of a deal.
It starts as soon as its players are free. While all of them are present each keeps a place free for it, and
waits in the queue only with the places that are left; what it waits for is games that run. Who waits with its
last place keeps that one, leaves the queue, and joins it again behind the others. If one of the players
leaves, the others go on without it.

Two bots that meet again change seats; otherwise the seats go to those that have had them least. Ratings
(`rating_queue.py`) only choose opponents: those that are published are fitted to all games at once
(`stats/ratings.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import ClassVar, Final

from arena_server.core.formats.base import Format, Pairing, PairingError
from arena_server.core.formats.length import GAMES, MOST_GAMES, Length
from arena_server.core.formats.owed_games import Owed, OwedGames
from arena_server.core.formats.rating_queue import EloRatings, Queue
from arena_server.stats.results import PastGame
from arena_server.terms.formats import FormatError, Option, Terms

#: One bot of this many may wait for a better opponent. In simulated fields of 20 to 60 bots with a standard
#: deviation of 400 Elo, twice as many find the order hardly earlier, and the bots play 13 % fewer games.
WAITING_SHARE: Final = 8


class SeatMemory:
    """Who sits where: two that meet again change seats, otherwise who has had a seat least gets it."""

    def __init__(self, seats: int) -> None:
        self._seats = seats
        #: How many games each player has had on each seat.
        self._counts: list[list[int]] = []
        #: The players, one bit each, that sat behind each player when they last met; of two seats only.
        self._behind: list[int] = []

    def add_player(self) -> None:
        self._counts.append([0] * self._seats)
        self._behind.append(0)

    def arrange(self, players: Sequence[int]) -> tuple[int, ...]:
        """The players in the order of their seats: one of the ways to turn their order."""
        one, other = players[:2]
        if self._seats == 2 and self._behind[one] >> other & 1:
            return other, one
        if self._seats == 2 and self._behind[other] >> one & 1:
            return one, other
        turns = [tuple(players[turn:]) + tuple(players[:turn]) for turn in range(len(players))]
        return min(turns, key=self._had)

    def _had(self, players: Sequence[int]) -> int:
        return sum(self._counts[player][seat] for seat, player in enumerate(players))

    def started(self, players: Sequence[int]) -> None:
        """A game of these players, in the order of their seats, has been handed out."""
        for seat, player in enumerate(players):
            self._counts[player][seat] += 1
        one, other = players[:2]
        self._behind[one] |= 1 << other
        self._behind[other] &= ~(1 << one)


class Ladder(Format):
    NAME = "ladder"
    MEANING = "open until it is closed: bots that are free are paired by rating and waiting time"
    READS_OWNERS = False
    OPTIONS: ClassVar = {
        "games": Option(0, 0, MOST_GAMES, "after how many games it closes by itself; 0: it does not")
    }

    def __init__(self, terms: Terms) -> None:
        self.check(terms)
        self._size = terms.seats
        self._paired = terms.paired
        self._total = self.option(terms, "games") or None
        #: How many games may still be drawn, those of their deals included; None: any number.
        self._left = self._total
        self._number = 1
        self._names: list[str] = []
        self._places: dict[str, int] = {}
        self.estimates = EloRatings()
        self.seats = SeatMemory(terms.seats)
        self.queue = Queue(self.estimates.ratings)
        #: The number of the last game of each player, and how many results there were when it began.
        self._last: list[tuple[int, int]] = []
        self._results = 0
        #: The players that are present, and how many games more each of them can start.
        self._free: dict[int, int] = {}
        #: The players that are present and can start none.
        self._busy: set[int] = set()
        self._owed = OwedGames()
        for name in terms.names:
            self.join(name)

    @classmethod
    def check(cls, terms: Terms) -> None:
        super().check(terms)
        games = cls.option(terms, "games")
        if terms.paired and games % terms.seats:
            raise FormatError(
                f"contest.games: expected a multiple of {terms.seats} with paired deals, so that each is "
                f"played from every seat, got {games}"
            )

    # -- what is known in advance

    @property
    def total(self) -> int | None:
        return None if self._total is None else self._total - len(self._owed.dropped)

    @property
    def next_number(self) -> int:
        return self._number

    def planned(self, first: int, end: int) -> Iterator[Pairing]:
        return iter(())

    # -- bots

    def join(self, name: str, owner: str = "") -> None:
        self._places[name] = len(self._names)
        self._names.append(name)
        self.estimates.add_player()
        self.seats.add_player()
        self._last.append((0, 0))
        self._owed.by_player.append({})

    @property
    def length(self) -> Length:
        if self._total is None or self._left is None:
            raise FormatError("contest.games: this ladder is open, and has no number of games to extend")
        step = self._size if self._paired else 1
        drawn = max(step, self._total - self._left)
        return Length(self._total, drawn, MOST_GAMES, GAMES, step)

    def resize(self, to: int, first: int | None = None) -> None:
        assert self._total is not None, "an open ladder has no length"
        assert self._left is not None
        self._left += to - self._total
        self._total = to

    def leave(self, name: str) -> None:
        self._owed.leave(self._places[name])
        self._update(*self._free)

    def come_back(self, name: str) -> None:
        self._owed.come_back(self._places[name])
        self._update(*self._free)

    def enter(self, name: str, *, late: bool = False) -> None:
        player = self._places[name]
        if player not in self._free:
            self._free[player] = 0
            self._busy.add(player)
            self._update(player, *self._owed.partners(player))

    def withdraw(self, name: str) -> None:
        player = self._places[name]
        if self._free.pop(player, None) is not None:
            self._busy.discard(player)
            self._update(player, *self._owed.partners(player))

    def free(self, name: str, games: int) -> None:
        player = self._places[name]
        self._free[player] = games
        if games:
            self._busy.discard(player)
            self._owed.look_at(player)
        else:
            self._busy.add(player)
        self._update(player)

    def _update(self, *players: int) -> None:
        """Let each wait in the queue if it can start more games than it owes to players that are here."""
        for player in players:
            places = self._free.get(player, 0)
            places -= sum(self._free.keys() >= set(owed.players) for owed in self._owed.by_player[player])
            if places > 0 and player not in self.queue:
                self.queue.enter(player)
            elif places <= 0 and player in self.queue:
                self.queue.leave(player)

    # -- games

    def next(self) -> Pairing | None:
        if (owed := self._owed.take(self._free)) is not None:
            number = self._number if owed.number is None else owed.number
            pairing: Pairing | None = Pairing(number, self._named(owed.players), owed.deal)
        else:
            pairing = self._draw()
        if pairing is not None:
            self._hand_out(pairing)
            for name in pairing.names:
                self.free(name, self._free[self._places[name]] - 1)
        return pairing

    def _draw(self) -> Pairing | None:
        """A game of those who wait."""
        waiting = len(self.queue)
        if waiting < self._size or self._left == 0:
            return None
        if self._busy and waiting <= len(self._free) // WAITING_SHARE:
            return None
        first = next(iter(self.queue))
        nearest = self.queue.nearest(first)
        players = [first, *(next(nearest) for _ in range(self._size - 1))]
        (last, results), *others = (self._last[player] for player in players)
        if last and all(other == last for other, _ in others):
            other = next(nearest, None)
            if other is not None:
                players[-1] = other
            elif self._busy and self._results > results + 1:
                return None  # others end their games meanwhile: one of them will be free soon
        for player in players:  # who has places left waits behind all others
            self.queue.leave(player)
        number = self._number
        return Pairing(number, self._named(self.seats.arrange(players)), number)

    def _named(self, players: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._names[player] for player in players)

    def _hand_out(self, pairing: Pairing) -> None:
        """A game starts that was drawn or owed. Raises PairingError for one that can have been neither."""
        players = tuple(self._places[name] for name in pairing.names)
        repeat, other = Owed(players, pairing.deal, pairing.number), Owed(players, pairing.deal)
        if repeat in self._owed.by_player[players[0]]:
            self._owed.remove(repeat)
        elif pairing.number != self._number:
            raise PairingError(f"g{pairing.number} cannot follow g{self._number - 1}")
        else:
            if other in self._owed.by_player[players[0]]:
                self._owed.remove(other)
            elif pairing.deal == pairing.number:
                self._count(players, pairing.deal)
            else:
                raise PairingError(
                    f"g{pairing.number} was played on deal {pairing.deal}, which is not its own"
                )
            self._number += 1
        self._update(*players)
        for player in players:
            self._last[player] = pairing.number, self._results
        self.seats.started(players)

    def _count(self, players: tuple[int, ...], deal: int) -> None:
        """A game was drawn: with paired deals the others of its deal are owed."""
        if self._left is not None:
            self._left -= self._size if self._paired else 1
        if self._paired:
            for turn in range(1, self._size):
                self._owed.add(Owed(players[turn:] + players[:turn], deal))

    def again(self, pairing: Pairing, void: int) -> None:
        self._number += 1
        players = tuple(self._places[name] for name in pairing.names)
        self._owed.add(Owed(players, pairing.deal, pairing.number))
        self._update(*players)

    def result(self, game: PastGame) -> None:
        players = [self._places[name] for name in game.names]
        self._results += 1
        self.estimates.add(players, game.totals)
        for player in players:
            self.queue.rerate(player)

    # -- an interrupted contest

    def started(self, pairing: Pairing) -> None:
        if len(pairing.names) != self._size or len(set(pairing.names)) != self._size:
            raise PairingError(f"g{pairing.number} has not {self._size} players")
        if unknown := [name for name in pairing.names if name not in self._places]:
            raise PairingError(f"g{pairing.number} was played by {unknown[0]}, which is not of this contest")
        self._hand_out(pairing)

    # -- what is left

    def has_games(self, name: str) -> bool:
        """Whether others wait for `name`: it owes a game, or too few are present for any."""
        too_few = len(self._free) < self._size
        return bool(self._owed.by_player[self._places[name]]) or (too_few and self._left != 0)

    def exhausted(self, absent: Collection[str]) -> bool:
        missing = {self._places[name] for name in absent}
        if self._total is None or (self._left and len(self._names) - len(missing) >= self._size):
            return False
        return all(not missing.isdisjoint(owed.players) for owed in self._owed)

    def unplayed(self) -> Iterator[tuple[tuple[str, ...], int]]:
        for owed in self._owed:
            yield self._named(owed.players), 1
        if self._left:
            yield (), self._left
