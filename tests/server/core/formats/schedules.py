"""Formats with a fixed schedule for tests: bots that come and go, and a slow twin of the rule."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import pytest

from arena_server.core.formats import make_format
from arena_server.core.formats.balance import Bounds
from arena_server.core.formats.base import Pairing, PairingError
from arena_server.core.formats.scheduled import Scheduled
from arena_server.terms.formats import Terms

#: How many games a pair may be ahead of another: docs/operating.md has the number.
BOUND = 2


def bots(n: int) -> list[str]:
    return [f"b{i}" for i in range(n)]


def scheduled(
    names: Sequence[str],
    seats: int,
    games: int,
    form: str = "round-robin",
    *,
    paired: bool = False,
    challengers: int | None = None,
) -> Scheduled:
    """A format whose bots have not come yet."""
    options = {} if challengers is None else {"challengers": challengers}
    made = make_format(form, Terms(tuple(names), seats, games, paired, options))
    assert isinstance(made, Scheduled)
    return made


def fresh(form: Scheduled) -> Scheduled:
    """The same format, without a game that has started."""
    made = make_format(form.NAME, form.terms)
    assert isinstance(made, Scheduled)
    return made


def pairer_of(form: Scheduled, *names: str, games: int = 1) -> Scheduled:
    """The same to which these bots have come, each free for `games` games."""
    form = fresh(form)
    for name in names:
        form.enter(name)
        form.free(name, games)
    return form


def taken(pairer: Scheduled) -> list[Pairing]:
    """Every game that starts now."""
    return list(iter(pairer.next, None))


class Twin:
    """The rule as docs/architecture.md and balance.py state it, by looking at every group every time."""

    def __init__(self, schedule: Scheduled, bounds: Bounds = Bounds.BOTH) -> None:
        self.names = list(schedule.terms.names)
        self.groups = [schedule.groups[index] for index in range(len(schedule.groups))]
        self.left = dict.fromkeys(self.groups, schedule.terms.games)
        self.games = dict.fromkeys(self.groups, 0)
        self.level = dict(self.games)
        self.own = [0] * len(self.names)
        self.free: dict[int, int] = {}
        self.ahead = 10**9 if bounds is Bounds.NONE else BOUND
        self.player_ahead = BOUND if bounds is Bounds.BOTH else 10**9

    def live(self) -> list[tuple[int, ...]]:
        """The groups of present players that have games left."""
        return [group for group in self.groups if self.left[group] and self.free.keys() >= set(group)]

    def lowest(self) -> int:
        """The level of the lowest player that has a group to play in."""
        return min(self.own[player] for group in self.live() for player in group)

    def credit(self, player: int) -> None:
        """`player`, who is not present, is as far as the lowest; its groups are as far as may be."""
        # Groups without a common player are not compared.
        if self.ahead == BOUND and (live := self.live()):
            self.own[player] = max(self.own[player], self.lowest())
            level = min(self.level[group] for group in live) + self.ahead - 1
            for group in self.groups:
                if player in group:
                    self.level[group] = max(self.level[group], level)

    def choose(self) -> tuple[int, ...] | None:
        live = self.live()
        if not live:
            return None
        bound = self.lowest() + self.player_ahead
        level = min(self.level[group] for group in live) + self.ahead

        def reach(group: tuple[int, ...]) -> int:
            return max(self.own[player] for player in group)

        def pick(player: int, groups: list[tuple[int, ...]]) -> tuple[int, ...] | None:
            """The lowest of the groups with `player` that can start, the first of the schedule."""
            ready = [group for group in groups if player in group and all(map(self.free.get, group))]
            return min(ready, key=lambda group: (self.level[group], self.groups.index(group)), default=None)

        by_level = sorted(self.free, key=lambda player: (self.own[player], player))
        within = [group for group in live if self.level[group] < level and reach(group) < bound]
        for player in by_level:
            if group := pick(player, within):
                return group
        for player in by_level:
            own = [group for group in live if player in group]
            if not own or self.own[player] > self.lowest() or any(player in group for group in within):
                continue
            least = max(level - 1, min(self.level[group] for group in own))
            low = [group for group in own if self.level[group] <= least]
            near = max(bound - 1, min(map(reach, low)))
            if group := pick(player, [group for group in low if reach(group) <= near]):
                return group
        return None

    def count(self, group: tuple[int, ...], by: int) -> None:
        self.left[group] -= by
        self.level[group] += by
        self.games[group] += by
        for player in group:
            self.own[player] += by

    def recalled(self) -> None:
        """What was credited is forgotten; the lowest are as far as they can be if all came in time."""
        lowest = max(self.games.values()) - self.ahead
        self.level = {group: max(games, lowest) for group, games in self.games.items()}
        players = range(len(self.names))
        own = [sum(games for group, games in self.games.items() if player in group) for player in players]
        self.own = [max(games, max(own) - self.player_ahead - 1) for games in own]
        self.free = {}


class Field:
    """Bots that come and go, with games that end, are void and played again; a server that restarts.

    Every game that starts is checked against the twin.
    """

    def __init__(self, schedule: Scheduled, slots: list[int], bounds: Bounds = Bounds.BOTH) -> None:
        self.schedule = schedule
        self.slots = dict(zip(schedule.terms.names, slots, strict=True))
        self.pairer = fresh(schedule)
        self.twin = Twin(schedule, bounds)
        self.running: list[Pairing] = []
        #: Numbers in the order in which they were started, and games to be played again by their own numbers.
        self.started: list[int] = []
        self.again: dict[int, Pairing] = {}
        self.repeats = count(schedule.total + 1)

    def place(self, name: str) -> int:
        return self.twin.names.index(name)

    def group(self, pairing: Pairing) -> tuple[int, ...]:
        players = {self.place(name) for name in pairing.names}
        return next(group for group in self.twin.groups if players == set(group))

    @property
    def here(self) -> list[str]:
        return [name for name in self.twin.names if self.place(name) in self.twin.free]

    def update(self, name: str) -> None:
        """Tell both how many games `name`, which is present, can start."""
        busy = sum(name in pairing.names for pairing in self.running)
        self.pairer.free(name, self.slots[name] - busy)
        self.twin.free[self.place(name)] = self.slots[name] - busy

    def enter(self, name: str, late: bool) -> None:
        if late:
            self.twin.credit(self.place(name))
        self.pairer.enter(name, late=late)
        self.update(name)

    def withdraw(self, name: str) -> None:
        self.pairer.withdraw(name)
        del self.twin.free[self.place(name)]

    def start(self) -> list[Pairing]:
        """Start what can start, one by one."""
        begun = []
        while True:
            expected = self.twin.choose()
            pairing = self.pairer.next()
            if pairing is None:
                assert expected is None, f"{expected} could play"
                break
            assert self.group(pairing) == expected
            self.twin.count(expected, 1)
            self.running.append(pairing)
            self.started.append(pairing.number)
            begun.append(pairing)
            for name in pairing.names:
                self.update(name)
        if not self.running and all(map(self.twin.free.get, self.twin.free)):
            assert not self.twin.live(), "the contest stands still"
        return begun

    def end(self, at: int, void: bool) -> None:
        """A running game ends; a void one is played again."""
        pairing = self.running.pop(at % len(self.running))
        if void:
            new = Pairing(next(self.repeats), pairing.names, pairing.deal)
            self.again[new.number] = new
            self.pairer.again(new, pairing.number)
            self.twin.count(self.group(pairing), -1)
        for name in pairing.names:
            if name in self.here:
                self.update(name)

    def restart(self) -> None:
        """Another pairer gets what the last one has handed out, in the order of the numbers."""
        self.pairer = fresh(self.schedule)
        for pairing in self.again.values():
            self.pairer.again(pairing, 0)
        for number in sorted(self.started):
            pairing = self.again.get(number) or self.schedule.pairing(number)
            self.pairer.started(pairing)
            with pytest.raises(PairingError):
                self.pairer.started(pairing)
        self.pairer.recalled()
        self.twin.recalled()


def game_of(schedule: Scheduled, group: int, cycle: int) -> Pairing:
    number = schedule.numbers.number(group, cycle)
    assert number is not None
    return schedule.pairing(number)
