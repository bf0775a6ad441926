"""Which game starts next: no pair and no bot gets far ahead, no game is held back, no contest stops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import combinations, count
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_server.core.formats import make_format
from arena_server.core.formats.balance import AHEAD, Balance, Bounds
from arena_server.core.formats.base import Pairing, PairingError, Terms
from arena_server.core.formats.groups import GroupList
from arena_server.core.formats.scheduled import Scheduled


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
        self.ahead = 10**9 if bounds is Bounds.NONE else AHEAD
        self.player_ahead = AHEAD if bounds is Bounds.BOTH else 10**9

    def live(self) -> list[tuple[int, ...]]:
        """The groups of present players that have games left."""
        return [group for group in self.groups if self.left[group] and self.free.keys() >= set(group)]

    def lowest(self) -> int:
        """The level of the lowest player that has a group to play in."""
        return min(self.own[player] for group in self.live() for player in group)

    def credit(self, player: int) -> None:
        """`player`, who is not present, is as far as the lowest; its groups are as far as may be."""
        if live := self.live():
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


BOUNDS = {"round-robin": Bounds.BOTH, "gauntlet": Bounds.GROUPS, "matches": Bounds.NONE}


@st.composite
def schedules(draw: st.DrawFn) -> Scheduled:
    seats = draw(st.integers(2, 3))
    kind = draw(st.sampled_from(["round-robin"] * 6 + ["gauntlet"] * 3 + ["matches"]))
    if kind == "gauntlet":
        names = bots(draw(st.integers(seats, 7)))
        challengers = draw(st.integers(1, len(names) - seats + 1))
        return scheduled(names, seats, draw(st.integers(1, 3)) * seats, kind, challengers=challengers)
    if kind == "matches":
        return scheduled(bots(2 * seats), seats, 2 * seats, "matches")
    return scheduled(bots(draw(st.integers(seats, 9 - seats))), seats, draw(st.integers(1, 3)) * seats)


@given(st.data(), schedules(), st.integers(0, 1 << 32))
@settings(deadline=None)
def test_every_game_that_starts_is_the_one_that_the_rule_names(
    data: st.DataObject, schedule: Scheduled, seed: int
) -> None:
    """Whatever the speeds, slots and arrivals, with void games and restarts, up to the last game."""
    rng = Random(seed)
    slots = [rng.choice((1, 1, 1, 2, 3)) for _ in schedule.terms.names]
    field = Field(schedule, slots, BOUNDS[schedule.NAME])
    for action in data.draw(st.lists(st.sampled_from("eeeeeevvwcclr"), min_size=40, max_size=160)):
        away = [name for name in schedule.terms.names if name not in field.here]
        if action in "ev" and field.running:
            field.end(rng.randrange(99), void=action == "v")
        elif action in "cl" and away:
            field.enter(rng.choice(away), late=action == "l")
        elif action == "w" and field.here:
            field.withdraw(rng.choice(field.here))
        elif action == "r":
            field.restart()
        field.start()
    for name in schedule.terms.names:
        if name not in field.here:
            field.enter(name, late=rng.random() < 0.5)
    field.start()
    while field.running:
        field.end(rng.randrange(99), void=False)
        field.start()
    assert not any(field.twin.left.values())
    assert field.pairer.exhausted(())
    assert sorted(field.started) == list(range(1, schedule.total + len(field.again) + 1))


@given(
    st.integers(2, 3),
    st.lists(st.tuples(st.floats(0.05, 20), st.integers(1, 3)), min_size=3, max_size=8),
    st.integers(0, 1 << 32),
)
@settings(deadline=None)
def test_no_pair_and_no_bot_gets_far_ahead(
    seats: int, speeds_and_slots: list[tuple[float, int]], seed: int
) -> None:
    """All are present: at every moment, at any speed (seconds that each bot takes for a game)."""
    rng = Random(seed)
    seconds, slots = zip(*speeds_and_slots[: 8 if seats == 2 else 6], strict=True)
    schedule = scheduled(bots(len(seconds)), seats, seats * (3 if seats == 2 else 1))
    pairer = pairer_of(schedule, *schedule.terms.names)
    free = dict(zip(schedule.terms.names, slots, strict=True))
    for name in free:
        pairer.free(name, free[name])
    met = Counter(frozenset(group) for group in combinations(schedule.terms.names, seats))
    own = Counter(schedule.terms.names)
    running: list[tuple[float, int, Pairing]] = []
    now = 0.0
    while not pairer.exhausted(()) or running:
        for pairing in iter(pairer.next, None):
            takes = sum(seconds[player] for player in schedule.players(pairing.names)) * rng.uniform(0.5, 1.5)
            heappush(running, (now + takes, pairing.number, pairing))
            met[frozenset(pairing.names)] += 1
            own.update(pairing.names)
            free.update({name: free[name] - 1 for name in pairing.names})
            assert max(met.values()) - min(met.values()) <= AHEAD
            assert max(own.values()) - min(own.values()) <= AHEAD + 1
        now, _, ended = heappop(running)
        for name in ended.names:
            free[name] += 1
            pairer.free(name, free[name])
    assert len(set(own.values())) == 1


def reachable(players: int, games: int) -> Iterator[tuple[dict[tuple[int, ...], int], list[int]]]:
    """Games by pair and by bot in every state that bots can reach that are free and busy in any order.

    Of a pair alone free, the pair that may start is asked of the rule itself; the state is what was played.
    """
    schedule = scheduled(bots(players), 2, games)
    pairs = list(combinations(range(players), 2))
    seen = {(0,) * len(pairs)}
    todo = list(seen)
    while todo:
        played = todo.pop()
        own = [sum(n for pair, n in zip(pairs, played, strict=True) if p in pair) for p in range(players)]
        yield dict(zip(pairs, played, strict=True)), own
        for at, pair in enumerate(pairs):
            if may_start(schedule, pairs, played, pair):
                after = (*played[:at], played[at] + 1, *played[at + 1 :])
                if after not in seen:
                    seen.add(after)
                    todo.append(after)


def may_start(
    schedule: Scheduled, pairs: Sequence[tuple[int, ...]], played: tuple[int, ...], pair: tuple[int, ...]
) -> bool:
    """Whether a game of `pair` starts if only these two are free."""
    balance = Balance(schedule.groups, len(schedule.terms.names))
    for player in range(len(schedule.terms.names)):
        balance.enter(player)
    for group, games in zip(pairs, played, strict=True):
        for game in range(games):
            balance.started(group, last=game + 1 == schedule.terms.games)
    for player in pair:
        balance.set_free(player, is_free=True)
    found = balance.next()
    return found is not None and set(found) == set(pair)


@pytest.mark.parametrize(("players", "games"), [(3, 8), (4, 4)])
def test_no_order_of_events_brings_a_pair_or_a_bot_far_ahead(players: int, games: int) -> None:
    """Every state of small fields: in any order of free and busy bots, with any number of games at once."""
    states = 0
    for met, own in reachable(players, games):
        states += 1
        assert max(met.values()) - min(met.values()) <= AHEAD
        assert max(own) - min(own) <= AHEAD + 1
    assert states > 100


def test_a_pair_that_is_alone_free_waits_for_the_others() -> None:
    """What happened before there was a bound: three pairs of six bots played forty games each at once."""
    schedule = scheduled(bots(6), 2, 40)
    pairer = pairer_of(schedule, *schedule.terms.names)
    fast, *_ = taken(pairer)
    for _ in range(AHEAD - 1):
        for name in fast.names:
            pairer.free(name, 1)
        (fast,) = taken(pairer)
    for name in fast.names:
        pairer.free(name, 1)
    assert taken(pairer) == []


def test_a_void_game_makes_its_group_the_lowest() -> None:
    """Found by random runs: the lowest level that was known before was taken for the lowest still."""
    field = Field(scheduled(bots(4), 2, 4), [1, 3, 1, 3])
    for name in field.schedule.terms.names:
        field.enter(name, late=False)
    field.start()
    for names, void in [
        ("13", 0),
        ("12", 0),
        ("31", 0),
        ("03", 0),
        ("20", 0),
        ("23", 1),
        ("01", 0),
        ("31", 1),
    ]:
        seated = [tuple(name[1] for name in pairing.names) for pairing in field.running]
        field.end(seated.index(tuple(names)), void=bool(void))
        field.start()


def test_a_bot_that_comes_late_is_not_waited_for() -> None:
    """The others play on with it and without; one that was away for a moment catches up first."""
    schedule = scheduled(bots(4), 2, 20)
    for late in (True, False):
        pairer = pairer_of(schedule, "b0", "b1", "b2")
        running = taken(pairer)
        for _ in range(30):
            for name in running.pop(0).names:
                pairer.free(name, 1)
            running += taken(pairer)
        pairer.enter("b3", late=late)
        pairer.free("b3", 1)
        names = Counter[str]()
        for _ in range(12):
            running += taken(pairer)
            ended = running.pop(0)
            names.update(ended.names)
            for name in ended.names:
                pairer.free(name, 1)
        assert 5 <= names["b3"] <= 7 if late else names["b3"] >= 11


def game_of(schedule: Scheduled, group: int, cycle: int) -> Pairing:
    number = schedule.numbers.number(group, cycle)
    assert number is not None
    return schedule.pairing(number)


def test_after_a_restart_a_bot_that_was_late_is_not_waited_for() -> None:
    """What it was credited with is not kept: who is far behind has been late."""
    schedule = scheduled(bots(3), 2, 20)
    pairer = fresh(schedule)
    for cycle in range(9):
        pairer.started(game_of(schedule, schedule.groups.number(0, 1), cycle))
    pairer.recalled()
    for name in bots(3):
        pairer.enter(name)
        pairer.free(name, 1)
    met = Counter[frozenset[str]]()
    while sum(met.values()) < 12:
        (game,) = taken(pairer)
        met[frozenset(game.names)] += 1
        for name in game.names:
            pairer.free(name, 1)
    assert met[frozenset(("b0", "b1"))] >= 2


def test_a_player_without_a_group_is_no_opponent_and_no_lowest_player() -> None:
    balance = Balance(GroupList([(0, 1)]), 3)
    for player in range(3):
        balance.enter(player)
        balance.set_free(player, is_free=True)
    assert not balance.has_games(2)
    for _ in range(5):
        assert balance.next() == (0, 1)
        balance.started((0, 1), last=False)


# -- what starts


def test_the_first_games_of_the_schedule_whose_players_are_there() -> None:
    schedule = scheduled(bots(4), 2, 2)
    pairer = pairer_of(schedule, "b0", "b1", "b2")
    (first,) = taken(pairer)
    # The first of the bots chooses: who comes first against it in the schedule.
    assert first == next(
        game for game in schedule.planned(1, 99) if "b0" in game.names and "b3" not in game.names
    )
    pairer.enter("b3")
    pairer.free("b3", 1)
    (second,) = taken(pairer)
    assert {*first.names, *second.names} == {*bots(4)}
    everyone = pairer_of(scheduled(bots(6), 2, 2), *bots(6))
    assert [game.number for game in taken(everyone)] == [1, 2, 3]


def test_bots_of_two_matches_neither_meet_nor_wait_for_each_other() -> None:
    schedule = scheduled(bots(4), 2, 6, "matches")
    pairer = pairer_of(schedule, "b0", "b2", "b3")
    for cycle in range(6):
        assert taken(pairer) == [game_of(schedule, 1, cycle)]
        for name in ("b2", "b3"):
            pairer.free(name, 1)
    pairer.enter("b1", late=True)
    pairer.free("b1", 1)
    assert taken(pairer) == [schedule.pairing(1)]


def test_a_bot_without_a_free_slot_is_not_paired() -> None:
    pairer = pairer_of(scheduled(bots(2), 2, 2), "b0", "b1")
    pairer.free("b0", 0)
    assert taken(pairer) == []
    pairer.free("b0", 1)
    assert [game.number for game in taken(pairer)] == [1]


def test_a_bot_that_has_left_is_not_paired() -> None:
    pairer = pairer_of(scheduled(bots(2), 2, 2), "b0", "b1")
    pairer.withdraw("b1")
    pairer.withdraw("b1")
    assert taken(pairer) == []


# -- what is left


def test_no_game_is_left_without_the_missing_bots() -> None:
    pairer = scheduled(bots(3), 2, 2)
    assert not pairer.exhausted(())
    assert not pairer.exhausted({"b0"})
    assert pairer.exhausted({"b0", "b1"})
    assert not pairer.exhausted({"b1"})  # a missing bot may be back


def test_who_has_games_left() -> None:
    schedule = scheduled(bots(3), 2, 2)
    pairer = pairer_of(schedule, "b0", "b1")
    for _ in range(2):
        (game,) = taken(pairer)
        for name in game.names:
            pairer.free(name, 1)
    assert taken(pairer) == []
    assert all(map(pairer.has_games, bots(3)))
    assert sorted(pairer.unplayed()) == [(("b1", "b2"), 2), (("b2", "b0"), 2)]
    pairer.again(Pairing(7, game.names, game.deal), game.number)
    assert sorted((*sorted(names), games) for names, games in pairer.unplayed())[0] == ("b0", "b1", 1)
    (again,) = taken(pairer)
    assert again.number == 7


def test_two_thousand_bots_need_no_table_of_their_pairs() -> None:
    """Their two million pairs would take seconds and hundreds of megabytes."""
    names = bots(2000)
    pairer = pairer_of(scheduled(names, 2, 2), *names)
    games = taken(pairer)
    assert [game.number for game in games] == list(range(1, 1001))
    for name in games[0].names + games[1].names:
        pairer.free(name, 1)
    assert len(taken(pairer)) == 2
