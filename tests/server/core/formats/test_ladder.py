"""The ladder: who is paired with whom, how long a bot waits, and that the order of the field is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as made
from heapq import heappop, heappush
from itertools import combinations, pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_server.core.formats.base import FormatError, Pairing, PairingError, Terms
from arena_server.core.formats.ladder import (
    FIRST_STEP,
    LAST_STEP,
    START,
    WAITING_SHARE,
    EloRatings,
    Ladder,
    Queue,
    expected_score,
)
from arena_server.core.journal import PastGame

from .test_scheduled import bots


def ladder(names: list[str], seats: int = 2, *, games: int = 0, paired: bool = False) -> Ladder:
    """A ladder whose bots have not come yet."""
    return Ladder(Terms(tuple(names), seats, seats, paired, {"games": games} if games else {}))


def open_to(form: Ladder, *names: str, games: int = 1) -> Ladder:
    """The same to which these bots have come, each free for `games` games."""
    for name in names:
        form.enter(name)
        form.free(name, games)
    return form


def taken(form: Ladder) -> list[Pairing]:
    """Every game that starts now."""
    return list(iter(form.next, None))


def over(form: Ladder, game: Pairing, *totals: int) -> None:
    """A game is over, and its bots are free; the first of its seats has won unless there are `totals`."""
    won = totals or (1,) + (0,) * (len(game.names) - 1)
    form.result(PastGame(game.number, game.names, game.deal, won, "complete", 1))
    for name in game.names:
        form.free(name, 1)


@dataclass
class Field:
    """Bots of known strengths whose games take between half a minute and one and a half.

    `slow` bots take 50 times as long.
    """

    names: list[str]
    rng: Random
    strengths: dict[str, float] = made(default_factory=dict)
    slow: frozenset[str] = frozenset()
    seats: int = 2
    paired: bool = False
    kind: type[Ladder] = Ladder

    def __post_init__(self) -> None:
        self.form = self.kind(Terms(tuple(self.names), self.seats, self.seats, self.paired))
        self.games: list[Pairing] = []
        self.busy: list[tuple[float, int, Pairing]] = []
        self.time = 0.0
        open_to(self.form, *self.names)

    def play(self, games: int) -> None:
        """Play until this many games more are over."""
        self.start()
        for _ in range(games):
            self.time, _, game = heappop(self.busy)
            over(self.form, game, *self.totals(game))
            self.start()

    def start(self) -> None:
        for game in taken(self.form):
            self.games.append(game)
            took = self.rng.uniform(0.5, 1.5) * (50 if self.slow & set(game.names) else 1)
            heappush(self.busy, (self.time + took, game.number, game))

    def totals(self, game: Pairing) -> list[int]:
        """The stronger one is likelier to have more: by the model of Bradley, Terry and Luce."""
        weights = [10 ** (self.strengths.get(name, 0) / 400) for name in game.names]
        (winner,) = self.rng.choices(range(len(game.names)), weights)
        return [int(seat == winner) for seat in range(len(game.names))]


def in_order(strengths: dict[str, float], ratings: dict[str, float]) -> float:
    """The share of pairs that two lists of numbers have in the same order."""
    pairs = list(combinations(strengths, 2))
    same = sum((strengths[a] - strengths[b]) * (ratings[a] - ratings[b]) > 0 for a, b in pairs)
    return same / len(pairs)


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


class Crowd:
    """Bots with one place or two that come and go; any game may take long, or be void and played again."""

    def __init__(self, names: list[str], seats: int, paired: bool, rng: Random) -> None:
        self.names, self.rng = names, rng
        self.form = ladder(names, seats, paired=paired)
        self.places = {name: rng.choice((1, 1, 2)) for name in names}
        self.here: set[str] = set()
        self.running: list[Pairing] = []
        self.repeats: dict[int, Pairing] = {}
        self.ended: list[PastGame] = []

    def step(self) -> None:
        """One bot comes or goes, or one game ends."""
        kind = self.rng.choice("ccgeeeeev")
        away = [name for name in self.names if name not in self.here]
        if kind == "c" and away:
            self.here.add(name := self.rng.choice(away))
            self.form.enter(name)
            self.set_free(name)
        elif kind == "g" and self.here:
            self.here.discard(name := self.rng.choice(sorted(self.here)))
            self.form.withdraw(name)
        elif kind in "ev" and self.running:
            self.end(self.running.pop(self.rng.randrange(len(self.running))), void=kind == "v")

    def end(self, game: Pairing, *, void: bool) -> None:
        if void:
            number = self.form.next_number
            self.repeats[number] = Pairing(number, game.names, game.deal)
            self.form.again(self.repeats[number], game.number)
        else:
            totals = tuple(self.rng.choices((0, 1, 2), k=len(game.names)))
            self.ended.append(PastGame(game.number, game.names, game.deal, totals, "complete", 1))
            self.form.result(self.ended[-1])
        for name in game.names:
            if name in self.here:
                self.set_free(name)

    def set_free(self, name: str) -> None:
        self.form.free(name, self.places[name] - sum(name in game.names for game in self.running))

    def hand_out(self) -> Pairing | None:
        if (game := self.form.next()) is not None:
            self.running.append(game)
        return game

    def is_drawn(self, game: Pairing) -> bool:
        """Whether those who wait were drawn for it; else it was owed."""
        return game.number == game.deal and game.number not in self.repeats


@given(st.integers(2, 20), st.sampled_from([2, 2, 3]), st.booleans(), st.integers(0, 1 << 32))
@settings(deadline=None)
def test_the_bound_on_waiting_holds(n: int, seats: int, paired: bool, seed: int) -> None:
    """Who begins to wait behind w others plays in one of the next w + 1 games that are drawn."""
    names = bots(n + seats)
    crowd = Crowd(names, seats, paired, Random(seed))
    #: Behind how many each began to wait, and how many games have been drawn since.
    behind: dict[str, int] = {}
    drawn: dict[str, int] = {}

    def look() -> None:
        waiting = {names[player]: place for place, player in enumerate(crowd.form.queue)}
        for name in waiting.keys() - behind.keys():
            behind[name], drawn[name] = waiting[name], 0
        for name in behind.keys() - waiting.keys():
            del behind[name], drawn[name]

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


@pytest.mark.parametrize("n", [4, 5, 20])
def test_a_slow_bot_holds_no_other_back(n: int) -> None:
    """It takes 50 times as long: those who do not play it play on, nearly as if two bots were missing."""
    plain, slow = Field(bots(n - 2), Random(1)), Field(bots(n), Random(1), slow=frozenset({"b1"}))
    for field in (plain, slow):
        while field.time < 1000:
            field.play(1)
    assert len(slow.games) > 0.9 * len(plain.games)


# -- what is owed


def void(form: Ladder, game: Pairing, *, paired: bool = False) -> Pairing:
    """Break a game off, to be played again."""
    number = form.next_number
    again = Pairing(number, game.names, game.deal if paired else number)
    form.void(game.number)
    form.again(again, game.number)
    for name in game.names:
        form.free(name, 1)
    return again


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


# -- until when it is open


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


# -- an interrupted contest


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


@pytest.mark.parametrize(
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


# -- ratings


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


def test_it_finds_the_order_of_a_field_with_fewer_games_than_chance() -> None:
    """Eight fields of 40 bots, until 94 of 100 pairs are in the right order."""
    paired = sum(games_until(0.94, seed, Ladder) for seed in range(8))
    by_chance = sum(games_until(0.94, seed, ByChance) for seed in range(8))
    assert paired < 0.8 * by_chance
