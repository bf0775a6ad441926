"""A ladder over its games: what is owed, until when it is open, an interrupted contest, its ratings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of, rows

from arena_server.core.formats.base import Pairing, PairingError
from arena_server.core.formats.ladder import Ladder
from arena_server.core.formats.rating_queue import (
    FIRST_STEP,
    LAST_STEP,
    START,
    EloRatings,
    Queue,
    expected_score,
)
from arena_server.terms.formats import FormatError, Terms

from .ladders import Crowd, Field, in_order, ladder, open_to, over, taken, void
from .schedules import bots


def test_a_void_game_is_played_again_as_soon_as_its_bots_are_free() -> None:
    form = open_to(ladder(bots(4)), *bots(4))
    _, other = taken(form)
    again = void(form, other)
    assert taken(form) == [again]
    void(form, again)
    form.withdraw(again.names[0])
    assert taken(form) == []
    open_to(form, again.names[0])
    assert [game.number for game in taken(form)] == [4]


def test_while_both_are_present_neither_starts_another_game() -> None:
    """The one that is free keeps its place for the game that it owes, until the other goes."""
    form = open_to(ladder(bots(5)), *bots(4))
    one, other = taken(form)
    stays, goes = one.names
    form.withdraw(goes)
    again = void_of_one(form, one, stays)
    over(form, other)
    (game,) = taken(form)  # `goes` is away: `stays` plays another
    assert stays in game.names
    open_to(form, goes)
    third = ({*other.names} - {*game.names}).pop()
    open_to(form, "b4")
    assert [set(each.names) for each in taken(form)] == [{third, "b4"}]
    over(form, game)
    assert again in taken(form)


def test_a_place_is_kept_for_a_void_game_also_before_its_bots_are_free() -> None:
    form = open_to(open_to(ladder(bots(3)), "b0", games=2), "b1")
    (game,) = taken(form)
    again = Pairing(form.next_number, game.names, form.next_number)
    form.again(again, game.number)
    open_to(form, "b2")
    assert taken(form) == []
    form.free("b0", 2)
    assert [set(each.names) for each in taken(form)] == [{"b0", "b2"}]
    form.free("b1", 1)
    assert taken(form) == [again]


def void_of_one(form: Ladder, game: Pairing, free: str) -> Pairing:
    """The same of a game of whose bots only one is present."""
    again = Pairing(form.next_number, game.names, form.next_number)
    form.again(again, game.number)
    form.free(free, 1)
    return again


def test_a_paired_deal_is_played_from_every_seat_one_game_after_the_other() -> None:
    form = open_to(ladder(bots(20), paired=True), *bots(20))
    games = taken(form)
    for game in games:
        assert game.deal == game.number
        over(form, game)
        (second,) = taken(form)
        assert (second.names, second.deal) == (game.names[::-1], game.deal)


def test_with_three_seats_a_paired_deal_has_three_games() -> None:
    form = open_to(ladder(bots(3), 3, games=3, paired=True), *bots(3))
    played = []
    for _ in range(3):
        (game,) = taken(form)
        played.append(game)
        over(form, game)
    assert taken(form) == []
    assert {game.deal for game in played} == {1}
    assert {game.names[0] for game in played} == set(bots(3))


def test_it_is_open_until_it_is_closed() -> None:
    form = open_to(ladder(bots(2)), *bots(2))
    assert form.total is None
    for _ in range(50):
        (game,) = taken(form)
        over(form, game)
    assert not form.exhausted(bots(2))
    assert list(form.unplayed()) == []
    assert list(form.planned(1, 60)) == []


def test_it_waits_for_others_only_if_too_few_are_there_or_a_game_is_owed() -> None:
    form = open_to(ladder(bots(4)), "b0")
    assert all(map(form.has_games, bots(4)))
    open_to(form, "b1")
    assert not any(map(form.has_games, bots(4)))
    (game,) = taken(form)
    void(form, game)
    assert [form.has_games(name) for name in bots(4)] == [True, True, False, False]


def test_it_closes_after_a_number_of_games() -> None:
    form = open_to(ladder(bots(3), games=3), *bots(3))
    assert form.total == 3
    (one,) = taken(form)
    assert list(form.unplayed()) == [((), 2)]
    assert not form.exhausted(())
    assert form.exhausted(["b0", "b1"])
    over(form, one)
    (two,) = taken(form)
    over(form, two)
    (three,) = taken(form)
    assert form.exhausted(())
    again = void(form, three)
    assert not form.exhausted(())
    assert form.exhausted([again.names[1]])
    assert form.has_games(again.names[0])
    assert not form.has_games(({*bots(3)} - {*again.names}).pop())
    assert list(form.unplayed()) == [(again.names, 1)]
    assert taken(form) == [again]
    over(form, again)
    assert taken(form) == []
    assert form.exhausted(())
    assert not any(map(form.has_games, bots(3)))
    assert list(form.unplayed()) == []


def test_paired_deals_close_with_whole_deals() -> None:
    text = r"^contest.games: expected a multiple of 2 with paired deals, so that .* every seat, got 7$"
    with pytest.raises(FormatError, match=text):
        ladder(bots(4), games=7, paired=True)
    assert ladder(bots(4), games=7).total == 7


@given(st.integers(2, 9), st.booleans(), st.integers(0, 1 << 32))
@settings(deadline=None)
def test_a_ladder_that_goes_on_knows_ratings_seats_and_what_is_owed(n: int, paired: bool, seed: int) -> None:
    crowd = Crowd(bots(n), 2, paired, Random(seed))
    handed_out: dict[int, Pairing] = {}
    for _ in range(60):
        crowd.step()
        while (game := crowd.hand_out()) is not None:
            handed_out[game.number] = game
    other = ladder(bots(n), paired=paired)
    for number in sorted(handed_out.keys() | crowd.repeats.keys()):
        if number in crowd.repeats:
            other.again(crowd.repeats[number], 0)
        if number in handed_out:
            other.started(handed_out[number])
    other.recalled()
    for result in crowd.ended:
        other.result(result)
    assert other.next_number == crowd.form.next_number
    assert other.estimates.ratings == crowd.form.estimates.ratings
    assert list(other.unplayed()) == list(crowd.form.unplayed())
    if not crowd.repeats:  # a repeat starts later than its number says
        for pair in combinations(range(n), 2):
            assert other.seats.arrange(pair) == crowd.form.seats.arrange(pair)
    # It may be paused, so that all bots are there before it is asked for a game.
    assert len(taken(open_to(other, *bots(n)))) == n // 2


@all_of(
    ("game", "text"),
    [
        (Pairing(3, ("b0", "b1"), 3), "g3 cannot follow g1"),
        (Pairing(1, ("b0", "b1"), 1), "g1 cannot follow g1"),
        (Pairing(2, ("b0", "b1"), 1), "g2 was played on deal 1, which is not its own"),
        (Pairing(2, ("b0", "zoe"), 2), "g2 was played by zoe, which is not of this contest"),
        (Pairing(2, ("b0", "b0"), 2), "g2 has not 2 players"),
        (Pairing(2, ("b0", "b1", "b2"), 2), "g2 has not 2 players"),
    ],
)
def test_what_it_cannot_have_handed_out(game: Pairing, text: str) -> None:
    form = ladder(bots(4))
    form.started(Pairing(1, ("b0", "b1"), 1))
    with pytest.raises(PairingError) as caught:
        form.started(game)
    assert str(caught.value) == text


def test_a_rating_moves_by_less_with_each_game() -> None:
    estimates = EloRatings()
    for _ in range(2):
        estimates.add_player()
    steps = []
    for game in range(200):
        before = list(estimates.ratings)
        won = game % 2
        estimates.add((0, 1), (won, 1 - won))
        expected = expected_score(before[0] - before[1])
        steps.append((estimates.ratings[0] - before[0]) / (won - expected))
        assert sum(estimates.ratings) == pytest.approx(2 * START)
    assert steps[0] == pytest.approx(FIRST_STEP)
    assert steps[4] == pytest.approx(FIRST_STEP / 2)
    assert all(step >= following - 1e-9 for step, following in pairwise(steps))
    assert steps[-1] == pytest.approx(LAST_STEP)


def test_the_expected_score_of_elo() -> None:
    assert expected_score(0) == 0.5
    assert expected_score(400) == pytest.approx(10 / 11)
    assert expected_score(-400) == pytest.approx(1 / 11)


def test_with_three_seats_the_one_in_the_middle_stays_where_it_is() -> None:
    estimates = EloRatings()
    for _ in range(3):
        estimates.add_player()
    estimates.add((0, 1, 2), (5, 3, 1))
    assert estimates.ratings == [START + FIRST_STEP / 2, START, START - FIRST_STEP / 2]
    estimates.add((0, 2), (1, 1))
    assert estimates.ratings[0] < START + FIRST_STEP / 2


class Shuffled(Queue):
    """Those who wait, in no order of their ratings."""

    def nearest(self, player: int) -> Iterator[int]:
        others = sorted(each for each in range(len(self._ratings)) if each in self and each != player)
        return iter(Random(str((player, others))).sample(others, len(others)))


class ByChance(Ladder):
    """The same that pairs those who wait by chance."""

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self.queue = Shuffled(self.estimates.ratings)


def games_until(share: float, seed: int, kind: type[Ladder]) -> int:
    """After how many games a field of 40 is in the right order but for a share of its pairs."""
    rng = Random(seed)
    strengths = {name: rng.gauss(0, 400) for name in bots(40)}
    field = Field(bots(40), rng, strengths, kind=kind)
    for played in range(10, 4000, 10):
        field.play(10)
        ratings = dict(zip(field.names, field.form.estimates.ratings, strict=True))
        if in_order(strengths, ratings) >= share:
            return played
    raise AssertionError("the order was not found")


@pytest.mark.parametrize("fields", rows([4, 8], 2))
def test_it_finds_the_order_of_a_field_with_fewer_games_than_chance(fields: int) -> None:
    """Fields of 40 bots, until 94 of 100 pairs are in the right order."""
    paired = sum(games_until(0.94, seed, Ladder) for seed in range(fields))
    by_chance = sum(games_until(0.94, seed, ByChance) for seed in range(fields))
    assert paired < 0.8 * by_chance
