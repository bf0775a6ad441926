"""Which group plays next, so that no bot and no pair gets far ahead of the others.

The level of a player, and of a group, is the number of games that it has started, without those that
are void and to be played again. Only players that are present count, and groups of such players that
have games left.

    A group plays if it is less than AHEAD games above the lowest group, and each of its players less than
    AHEAD games above the lowest player.
    If the lowest player has no such group, it plays the one below the bound of groups whose players go
    least beyond theirs.
    If none of its groups is below the bound of groups, it plays the lowest of them.

While all players are present, and no game is void, the number of games that have started differs

    between two groups by at most AHEAD: a player whose groups are all AHEAD games above the lowest has
    played more than the players of the lowest. So it is not the lowest, and the third line is not needed;
    between two players by at most AHEAD + 1, with two seats or up to six players: so it is in every state
    that up to six players can reach, and in all that random searches reached with up to 12 and two seats.
    With three seats and eight players searches found 6.

A player that comes later, or whose game is void, is behind by more; no game starts that brings another
further ahead, except one of the lowest player that has no game within the bounds.

What the rule allows starts at once: there are no rounds, and no player waits for the end of one. If no game
runs, the lowest player can play: a contest never stands still. Among the games that may start the lowest
player comes first, with its lowest group, the first in their order.

A set of players is an integer with a bit for each: 2,000 players have two million pairs, and what a
player can do now is found with a few operations on its row of bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import combinations
from typing import Final

from arena_server.core.formats.groups import CirclePairs, Group, Groups, members

#: How many games a player or a group may be ahead. With one, six bots of equal speed wait a sixth of their
#: time for each other; with two, a tenth.
AHEAD: Final = 2

_NO_BOUND: Final = 1 << 60


class GroupTable:
    """The level of every group of players, and whether it is open.

    A row belongs to all players of a group but one; it has, for each level, those who complete a group:

        2 seats, row (0,):  {3: 0b10110, 4: 0b01000}    0 is at level 3 with 1, 2 and 4, at 4 with 3
    """

    def __init__(self, groups: Groups, players: int) -> None:
        self._groups = groups
        self._seats = len(groups[0])
        self._rows: dict[Group, dict[int, int]] = {}
        self._open: dict[Group, int] = {}
        #: The row where `lowest` has ended the last time; the next search mostly ends there, too.
        self._lowest_row: Group = ()
        if isinstance(groups, CirclePairs):
            everyone = (1 << players) - 1
            self._open = {(player,): everyone ^ (1 << player) for player in range(players)}
        else:
            for index in range(len(groups)):
                for rest, bit in _rows_of(groups[index]):
                    self._open[rest] = self._open.get(rest, 0) | bit
        self._rows = {rest: {0: others} for rest, others in self._open.items()}

    def join(self, groups: Groups, added: Iterable[Group]) -> None:
        """There is one more player: `added` are its groups, and `groups` are all."""
        self._groups = groups
        for group in added:
            for rest, bit in _rows_of(group):
                row = self._rows.setdefault(rest, {})
                row[0] = row.get(0, 0) | bit
                self._open[rest] = self._open.get(rest, 0) | bit

    def level(self, group: Group) -> int:
        rest, bit = next(_rows_of(group))
        return next(level for level, others in self._rows[rest].items() if others & bit)

    def move(self, group: Group, by: int) -> None:
        """Change the level of a group."""
        level = self.level(group)
        for rest, bit in _rows_of(group):
            row = self._rows[rest]
            row[level] ^= bit
            if not row[level]:
                del row[level]
            row[level + by] = row.get(level + by, 0) | bit

    def set_open(self, group: Group, is_open: bool) -> None:
        """Note whether a group has games left."""
        for rest, bit in _rows_of(group):
            self._open[rest] = self._open[rest] | bit if is_open else self._open[rest] & ~bit

    def groups_of(self, player: int) -> Iterator[Group]:
        """All groups of a player, each once, with its players in any order."""
        for rest, row in self._rows.items():
            if any(others >> player & 1 for others in row.values()):
                yield (*rest, player)

    def raise_to(self, lowest: int, player: int | None = None) -> None:
        """Bring every group, or those of one player, up to a level."""
        for rest, row in self._rows.items():
            chosen = -1 if player is None or player in rest else 1 << player
            for level in [level for level in row if level < lowest and row[level] & chosen]:
                row[lowest] = row.get(lowest, 0) | row[level] & chosen
                row[level] &= ~chosen
                if not row[level]:
                    del row[level]

    def highest(self) -> int:
        """The highest level of any group."""
        return max(max(row) for row in self._rows.values())

    def lowest(self, among: int, at_least: int) -> int | None:
        """The lowest level of an open group of players of `among`; None if there is none.

        The search ends with a group at the level `at_least`; none may be below it.
        """
        last = self._rows.get(self._lowest_row)
        if last is not None and self._lowest_in(self._lowest_row, last, among) == at_least:
            return at_least
        lowest = None
        for rest, row in self._rows.items():
            found = self._lowest_in(rest, row, among)
            if found is not None and (lowest is None or found < lowest):
                lowest, self._lowest_row = found, rest
                if lowest <= at_least:
                    break
        return lowest

    def lowest_of(self, player: int, among: int) -> int | None:
        """The lowest level of an open group of `player` with others of `among`."""
        found = (
            self._lowest_in(rest, row, among | 1 << player) for rest, row in self._rows_with(player, among)
        )
        return min((level for level in found if level is not None), default=None)

    def has(self, player: int, among: int, below: int) -> bool:
        """Whether `player` has an open group below a level with others of `among`."""
        for rest, row in self._rows_with(player, among):
            others = among & self._open[rest]
            if others and any(others & found for level, found in row.items() if level < below):
                return True
        return False

    def pick(self, player: int, among: int, below: int) -> Group | None:
        """The lowest open group of `player` below a level with others of `among`.

        Of several the first in their order.
        """
        best: tuple[int, int] | None = None
        for rest, row in self._rows_with(player, among):
            others = among & self._open[rest]
            level = min((level for level, found in row.items() if others & found), default=below)
            if level < below:
                other = self._groups.first(rest, others & row[level])
                found = level, self._groups.number(*rest, other)
                best = found if best is None else min(best, found)
        return None if best is None else self._groups[best[1]]

    def _rows_with(self, player: int, among: int) -> Iterator[tuple[Group, dict[int, int]]]:
        """The rows of `player` with others of `among`."""
        if self._seats == 2:
            if (player,) in self._rows:
                yield (player,), self._rows[player,]
            return
        for others in combinations(members(among & ~(1 << player)), self._seats - 2):
            rest = tuple(sorted((player, *others)))
            if rest in self._rows:
                yield rest, self._rows[rest]

    def _lowest_in(self, rest: Group, row: dict[int, int], among: int) -> int | None:
        others = among & self._open[rest]
        if not others:
            return None
        for player in rest:
            if not among >> player & 1:
                return None
        return min((level for level, found in row.items() if found & others), default=None)


def _rows_of(group: Group) -> Iterator[tuple[Group, int]]:
    """Each row of a group, with the bit of the player that completes it."""
    players = sorted(group)
    for at, player in enumerate(players):
        yield (*players[:at], *players[at + 1 :]), 1 << player


class Bounds(Enum):
    """What is kept level."""

    BOTH = "groups and players"
    #: For players that have different numbers of games.
    GROUPS = "groups"
    #: For groups without a common player: there is nothing to compare them by.
    NONE = "nothing"


class Balance:
    """Chooses the groups that play."""

    def __init__(self, groups: Groups, players: int, bounds: Bounds = Bounds.BOTH) -> None:
        self._table = GroupTable(groups, players)
        self._ahead = _NO_BOUND if bounds is Bounds.NONE else AHEAD
        self._player_ahead = AHEAD if bounds is Bounds.BOTH else _NO_BOUND
        self._levels = [0] * players
        #: The players that are present, by level.
        self._present_at: dict[int, int] = {}
        self._present = self._free = 0
        #: No group is below it.
        self._lowest = 0
        #: Whether a game may have become possible since `next` has found none.
        self._changed = False

    # -- who can play

    def join(self, groups: Groups, added: Iterable[Group]) -> None:
        """There is one more player, who is not present: `added` are its groups, and `groups` are all."""
        self._table.join(groups, added)
        self._levels.append(0)

    def groups_of(self, player: int) -> Iterator[Group]:
        """All groups of a player, each once, with its players in any order."""
        return self._table.groups_of(player)

    def set_open(self, group: Group, *, is_open: bool) -> None:
        """Note whether a group may play again, or no more."""
        self._table.set_open(group, is_open)
        self._changed = True

    def enter(self, player: int, *, late: bool = False) -> None:
        """`player` is present. One that comes `late` is not to catch up: it is as far as the lowest."""
        if late and self._ahead == AHEAD:
            self._credit(player)
        self._toggle(player)
        lowest = self._table.lowest_of(player, self._present)
        if lowest is not None:
            self._lowest = min(self._lowest, lowest)
        self._changed = True

    def withdraw(self, player: int) -> None:
        """`player` is not present any more."""
        self._toggle(player)
        self.set_free(player, is_free=False)

    def set_free(self, player: int, is_free: bool) -> None:
        """Note whether `player` can start a game now."""
        self._free = self._free | 1 << player if is_free else self._free & ~(1 << player)
        self._changed = True

    def has_games(self, player: int, without: int = 0) -> bool:
        """Whether a group of `player` has games left, none of whose players is one of `without`."""
        return self._table.has(player, ~without & (1 << len(self._levels)) - 1, _NO_BOUND)

    def is_over(self, without: int) -> bool:
        """Whether every group with games left has a player of `without`."""
        return self._table.lowest(~without & (1 << len(self._levels)) - 1, _NO_BOUND) is None

    # -- games

    def started(self, group: Group, *, last: bool) -> None:
        """A game of `group` has been handed out; `last`: it has no other left."""
        self._move(group, 1)
        if last:
            self._table.set_open(group, is_open=False)

    def owed(self, group: Group) -> None:
        """A game of `group` is void, and to be played again."""
        self._move(group, -1)
        self._table.set_open(group, is_open=True)
        self._lowest = min(self._lowest, self._table.level(group))

    def recalled(self) -> None:
        """All games of an interrupted contest have been noted; who is beyond the bounds was late."""
        self._table.raise_to(self._table.highest() - self._ahead)
        lowest = max(self._levels) - self._player_ahead - 1
        self._levels = [max(level, lowest) for level in self._levels]

    def next(self) -> Group | None:
        """The group whose game is to start now, or None; call `started` with it."""
        if self._changed:
            lowest, lowest_player = self._find_lowest(), self._lowest_player()
            if lowest is not None and lowest_player is not None:
                group = self._choose(lowest + self._ahead, lowest_player)
                if group is not None:
                    return group
            self._changed = False
        return None

    def _choose(self, below: int, lowest: int) -> Group | None:
        """The next of the groups below a level that have players near the level of the lowest player."""
        table, levels = self._table, sorted(self._present_at)
        near = 0
        for level in levels:
            if level < lowest + self._player_ahead:
                near |= self._present_at[level]
        ready = near & self._free
        for level in levels:
            for player in members(self._present_at[level] & ready):
                if (group := table.pick(player, ready, below)) is not None:
                    return group
        for player in members(self._present_at[lowest] & self._free):
            if table.has(player, near, below):
                continue  # others of the group play still
            if (group := self._pick_beyond(player, near, below)) is not None:
                return group
        return None

    def _pick_beyond(self, player: int, near: int, below: int) -> Group | None:
        """The group of a lowest player that goes least beyond the bounds; None if one of it is not free."""
        own = self._table.lowest_of(player, self._present)
        if own is None:
            return None
        # After late entries and void games the groups of a player can be high though it has played least. It
        # plays all the same: the others wait for it, and the contest would stand still.
        below = max(below, own + 1)
        reach, levels = near, iter(sorted(self._present_at))
        while not self._table.has(player, reach, below):
            reach |= self._present_at[next(levels)]
        return self._table.pick(player, reach & self._free, below)

    # -- levels

    def _find_lowest(self) -> int | None:
        """The level of the lowest group."""
        lowest = self._table.lowest(self._present, self._lowest)
        if lowest is not None:
            self._lowest = lowest
        return lowest

    def _lowest_player(self) -> int | None:
        """The level of the lowest player that is present and has a group."""
        for level in sorted(self._present_at):
            players = members(self._present_at[level])
            if any(self._table.has(player, self._present, _NO_BOUND) for player in players):
                return level
        return None

    def _credit(self, player: int) -> None:
        """Bring `player`, who is not present, up to the lowest that is, and its groups so that none waits."""
        lowest, lowest_player = self._find_lowest(), self._lowest_player()
        if lowest is not None and lowest_player is not None:
            self._table.raise_to(lowest + self._ahead - 1, player)
            self._levels[player] = max(self._levels[player], lowest_player)

    def _move(self, group: Group, by: int) -> None:
        self._table.move(group, by)
        for player in group:
            is_present = self._present >> player & 1
            if is_present:
                self._toggle(player)
            self._levels[player] += by
            if is_present:
                self._toggle(player)
        self._changed = True

    def _toggle(self, player: int) -> None:
        """Add `player` to those that are present, or take it out."""
        bit, level = 1 << player, self._levels[player]
        self._present ^= bit
        at = self._present_at.get(level, 0) ^ bit
        if at:
            self._present_at[level] = at
        else:
            self._present_at.pop(level, None)
