"""The ladder: who is paired with whom, and how long a bot waits."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.slices import rows

from arena_server.core.formats.base import Pairing
from arena_server.core.formats.ladder import (
    WAITING_SHARE,
)
from arena_server.stats.results import PastGame

from .ladders import Crowd, Field, ladder, open_to, over, taken
from .schedules import bots

# -- who is paired with whom


def test_who_has_waited_longest_plays_the_nearest_of_those_who_wait() -> None:
    """Of 32 bots four may wait: the fifth that is free lets a game start."""
    form = open_to(ladder(bots(32)), *bots(32))
    games = taken(form)
    left = set(bots(32)) - {name for game in games for name in game.names}
    for game in games[:3]:
        form.result(PastGame(game.number, game.names, game.deal, (1, 0), "complete", 1))
    for name in left:
        form.withdraw(name)
    (first, loser), (winner, other), (second, _) = (game.names for game in games[:3])
    for name in (loser, first, winner):
        form.free(name, 1)
        assert form.next() is None
    form.free(other, 1)
    (game,) = taken(form)
    assert set(game.names) == {loser, other}
    form.free(second, 1)
    form.free(games[3].names[0], 1)
    (game,) = taken(form)  # `first` has waited longest; the ratings of `winner` and `second` are its own
    assert set(game.names) in ({first, winner}, {first, second})


def test_a_game_starts_at_once_if_all_who_are_present_wait() -> None:
    form = open_to(ladder(bots(40)), "b3", "b30")
    (game,) = taken(form)
    assert set(game.names) == {"b3", "b30"}


def test_an_eighth_of_those_who_are_present_waits_for_a_better_opponent() -> None:
    form = open_to(ladder(bots(80)), *bots(80))
    games = taken(form)
    assert len(games) == 35
    for name in set(bots(80)) - {name for game in games for name in game.names}:
        form.withdraw(name)
        form.enter(name)
    for game in games[:5]:
        over(form, game)
        assert form.next() is None
    form.free(games[5].names[0], 1)
    assert form.next() is not None
    assert form.next() is None


def test_two_bots_that_have_just_played_wait_for_another() -> None:
    """Others have ended a game since theirs began, and will end the next one soon."""
    form = open_to(ladder(bots(4)), *bots(4))
    one, other = taken(form)
    over(form, other)
    (again,) = taken(form)
    over(form, one)
    assert taken(form) == []
    over(form, again)
    met = [set(game.names) for game in taken(form)]
    assert len(met) == 2
    assert not {frozenset(one.names), frozenset(other.names)} & set(map(frozenset, met))


def test_two_bots_that_have_just_played_play_on_if_nobody_else_is_there() -> None:
    form = open_to(ladder(bots(4)), "b0", "b1")
    for _ in range(4):
        (game,) = taken(form)
        over(form, game)


def test_two_bots_play_on_while_the_others_are_slow() -> None:
    """None of the others has ended a game since theirs began: so it may take long until one does."""
    form = open_to(ladder(bots(4)), *bots(4))
    _, game = taken(form)
    for _ in range(4):
        over(form, game)
        (again,) = taken(form)
        assert set(again.names) == set(game.names)
        game = again


def test_with_three_seats_the_last_of_the_same_three_is_another() -> None:
    form = open_to(ladder(bots(7), 3), *bots(7))
    one, other = taken(form)
    over(form, one, 0, 0, 0)
    # Seven are present, and the fourth that waits is the one that did not play.
    (next_game,) = taken(form)
    assert len(set(next_game.names) & set(one.names)) == 2
    over(form, other, 0, 0, 0)
    assert len(taken(form)) == 1


def test_a_bot_that_joins_is_paired_at_once() -> None:
    form = open_to(ladder(bots(2)), "b0")
    form.join("late")
    form.enter("late")
    form.free("late", 1)
    (game,) = taken(form)
    assert set(game.names) == {"b0", "late"}


def test_a_void_game_of_a_bot_that_has_left_is_not_played_again() -> None:
    form = open_to(ladder(bots(3)), "b0", "b1")
    (game,) = taken(form)
    form.leave("b0")
    form.again(Pairing(2, game.names, 2), game.number)
    form.free("b1", 1)
    assert taken(form) == []
    open_to(form, "b2")
    assert [set(each.names) for each in taken(form)] == [{"b1", "b2"}]


def test_a_bot_with_more_places_plays_different_bots_at_once() -> None:
    form = open_to(ladder(bots(4)), "b1", "b2", "b3")
    form.withdraw("b1")
    open_to(form, "b0", games=3)
    met = [set(game.names) - {"b0"} for game in taken(form)]
    assert sorted(map(len, met)) == [1, 1]
    open_to(form, "b1")
    assert [set(game.names) for game in taken(form)] == [{"b0", "b1"}]


def test_opponents_change_seats_when_they_meet_again() -> None:
    form = open_to(ladder(bots(2)), *bots(2))
    seats = []
    for _ in range(6):
        (game,) = taken(form)
        seats.append(game.names)
        over(form, game)
    assert seats == [("b0", "b1"), ("b1", "b0")] * 3


@given(st.integers(2, 9), st.integers(0, 1 << 32))
@settings(deadline=None)
def test_of_a_pair_nobody_has_a_seat_twice_more_often(n: int, seed: int) -> None:
    field = Field(bots(n), Random(seed))
    field.play(40)
    first = Counter(game.names for game in field.games)
    for one, other in combinations(bots(n), 2):
        assert abs(first[one, other] - first[other, one]) <= 1


def test_seats_are_shared_out_where_no_pair_meets_twice() -> None:
    """Without memory of pairs: three seats, 30 bots."""
    field = Field(bots(30), Random(1), seats=3)
    field.play(600)
    seats = Counter((name, seat) for game in field.games for seat, name in enumerate(game.names))
    for name in bots(30):
        had = [seats[name, seat] for seat in range(3)]
        assert max(had) - min(had) <= 4


# -- how long a bot waits


@given(st.integers(2, 20), st.sampled_from([2, 2, 3]), st.booleans(), st.integers(0, 1 << 32))
@example(2, 3, False, 25939379)  # a game is void of a bot that waits with its other place
@settings(deadline=None)
def test_the_bound_on_waiting_holds(n: int, seats: int, paired: bool, seed: int) -> None:
    """Who begins to wait behind w others plays in one of the next w + 1 games that are drawn.

    A place that is kept for a void game is one with which it does not wait any more.
    """
    names = bots(n + seats)
    crowd = Crowd(names, seats, paired, Random(seed))
    #: Behind how many each began to wait, and how many games have been drawn since.
    behind: dict[str, int] = {}
    drawn: dict[str, int] = {}
    #: Its place when it was looked at last: no bot comes before one that waits.
    last: dict[str, int] = {}

    def look() -> None:
        waiting = {names[player]: place for place, player in enumerate(crowd.form.queue)}
        again = {name for name in crowd.owing if name in behind and waiting.get(name, 0) > last[name]}
        for name in (waiting.keys() - behind.keys()) | again:
            behind[name], drawn[name] = waiting[name], 0
        for name in behind.keys() - waiting.keys():
            del behind[name], drawn[name]
        last.clear()
        last.update(waiting)

    for _ in range(80):
        crowd.step()
        look()
        while (game := crowd.hand_out()) is not None:
            if crowd.is_drawn(game):
                for name in drawn:
                    drawn[name] += 1
                for name in game.names:  # with places left it begins to wait again
                    del behind[name], drawn[name]
            look()
            assert all(drawn[name] <= behind[name] for name in drawn)
        assert len(crowd.form.queue) <= max(len(crowd.here) // WAITING_SHARE, seats)


@pytest.mark.parametrize("n", rows([5, 4, 20], 3))
def test_a_slow_bot_holds_no_other_back(n: int) -> None:
    """It takes 50 times as long: those who do not play it play on, nearly as if two bots were missing."""
    plain, slow = Field(bots(n - 2), Random(1)), Field(bots(n), Random(1), slow=frozenset({"b1"}))
    for field in (plain, slow):
        while field.time < 1000:
            field.play(1)
    assert len(slow.games) > 0.9 * len(plain.games)
