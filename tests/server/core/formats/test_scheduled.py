"""Which game of a schedule starts next, who waits, and what is left."""

from __future__ import annotations

from collections import Counter

from arena_server.core.formats.balance import Balance
from arena_server.core.formats.base import Pairing
from arena_server.core.formats.groups import GroupList
from arena_server.core.formats.scheduled import Scheduled

from .schedules import Field, bots, fresh, pairer_of, scheduled, taken


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
