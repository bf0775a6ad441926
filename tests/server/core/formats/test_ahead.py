"""No pair and no bot gets far ahead of another, and no game is held back by more than that.

docs/operating.md promises two games for pairs and three for bots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_server.core.formats.balance import Balance, Bounds
from arena_server.core.formats.base import Pairing
from arena_server.core.formats.scheduled import Scheduled

from .schedules import Field, bots, pairer_of, scheduled

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
            takes = sum(seconds[schedule.places[name]] for name in pairing.names) * rng.uniform(0.5, 1.5)
            heappush(running, (now + takes, pairing.number, pairing))
            met[frozenset(pairing.names)] += 1
            own.update(pairing.names)
            free.update({name: free[name] - 1 for name in pairing.names})
            assert max(met.values()) - min(met.values()) <= 2
            assert max(own.values()) - min(own.values()) <= 3
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
        assert max(met.values()) - min(met.values()) <= 2
        assert max(own) - min(own) <= 3
    assert states > 100
