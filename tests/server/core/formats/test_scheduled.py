"""Which game of a schedule starts next, who waits, and what is left."""

from __future__ import annotations

from arena_server.core.formats.base import Pairing

from .schedules import bots, game_of, pairer_of, scheduled, taken

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
