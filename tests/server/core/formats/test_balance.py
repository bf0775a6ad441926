"""No player gets far ahead: who waits, who catches up, and whom none waits for."""

from __future__ import annotations

from collections import Counter

from arena_server.core.formats.balance import Balance
from arena_server.core.formats.groups import GroupList

from .schedules import Field, bots, fresh, game_of, pairer_of, scheduled, taken


def test_a_pair_that_is_alone_free_waits_for_the_others() -> None:
    """What happened before there was a bound: three pairs of six bots played forty games each at once."""
    schedule = scheduled(bots(6), 2, 40)
    pairer = pairer_of(schedule, *schedule.terms.names)
    fast, *_ = taken(pairer)
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
