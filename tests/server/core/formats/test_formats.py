"""Each format: which bots meet, how often, in which seats, on which deal."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import pytest
from tests.slices import all_of

from arena_server.core.formats import FORMATS, format_of, make_format
from arena_server.core.formats.base import Pairing
from arena_server.terms.config import ContestConfig
from arena_server.terms.formats import FormatError, Terms

from .schedules import bots, scheduled

SIZES = [(n, seats) for seats in (2, 3, 4) for n in range(seats, 9)]


def planned(*arguments: Any, **more: Any) -> list[Pairing]:
    """All games of `scheduled` with these arguments."""
    form = scheduled(*arguments, **more)
    return list(form.planned(1, form.total + 1))


@all_of(("n", "seats"), SIZES)
def test_every_group_plays_every_deal_from_every_seat_once(n: int, seats: int) -> None:
    games = planned(bots(n), seats, 2 * seats, paired=True)
    assert [game.number for game in games] == list(range(1, len(games) + 1))
    met = Counter((frozenset(game.names), game.deal, game.names[0]) for game in games)
    assert met == Counter(
        (frozenset(group), deal, first)
        for group in combinations(bots(n), seats)
        for deal in (1, 2)
        for first in group
    )


@all_of(("n", "seats"), SIZES)
def test_fresh_deals_are_never_played_twice_and_the_seats_are_balanced(n: int, seats: int) -> None:
    games = planned(bots(n), seats, 2 * seats)
    assert len({(frozenset(game.names), game.deal) for game in games}) == len(games)
    first = Counter((frozenset(game.names), game.names[0]) for game in games)
    assert set(first.values()) == {2}


@pytest.mark.parametrize("seats", [3, 4])
def test_the_seats_turn_so_that_neighbours_stay_neighbours(seats: int) -> None:
    first, *others = [game.names for game in planned(bots(seats), seats, seats)]
    assert others == [first[turn:] + first[:turn] for turn in range(1, seats)]


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_matches_are_played_in_disjoint_groups_in_the_order_of_the_names(seats: int) -> None:
    schedule = scheduled(bots(2 * seats), seats, 2 * seats, "matches", paired=True)
    groups = [schedule.groups[number] for number in range(len(schedule.groups))]
    assert groups == [tuple(range(seats)), tuple(range(seats, 2 * seats))]
    games = list(schedule.planned(1, schedule.total + 1))
    assert len(games) == schedule.total == 4 * seats
    met = Counter((frozenset(game.names), game.deal, game.names[0]) for game in games)
    assert met == Counter(
        (frozenset(f"b{player}" for player in group), deal, f"b{first}")
        for group in groups
        for deal in (1, 2)
        for first in group
    )
    followed = Counter(
        (one, other) for game in games for one, other in zip(game.names, game.names[1:], strict=False)
    )
    assert all(followed[one, other] == count for (other, one), count in followed.items())


def test_matches_leave_no_bot_out() -> None:
    with pytest.raises(
        FormatError,
        match=r'^contest.format: expected a multiple of 3 bots for "matches" in 3 seats, got 4$',
    ):
        scheduled(bots(4), 3, 3, "matches")


def test_two_thousand_bots_are_no_burden() -> None:
    schedule = scheduled(bots(2000), 2, 2)
    assert schedule.total == 2000 * 1999
    last = schedule.pairing(schedule.total)
    assert list(schedule.planned(schedule.total - 1, schedule.total + 9))[1:] == [last]


def test_a_game_is_known_by_its_number() -> None:
    schedule = scheduled(bots(5), 2, 4)
    assert schedule.total == 40
    games = list(schedule.planned(1, 41))
    assert [schedule.pairing(game.number) for game in games] == games
    assert list(schedule.planned(39, 99)) == games[38:]
    assert list(schedule.planned(-5, 2)) == games[:1]


def test_too_few_bots() -> None:
    with pytest.raises(FormatError, match=r"^bot: expected at least 3, for 3 seats, got 2$"):
        scheduled(bots(2), 3, 3)


@all_of("games", [0, 3, -2])
@all_of(("count", "form"), [(2, "round-robin"), (4, "matches"), (4, "gauntlet")])
def test_an_unfair_number_of_games(count: int, form: str, games: int) -> None:
    text = f"^contest.games_per_pair: expected a multiple of 2, so that every bot has .* got {games}$"
    with pytest.raises(FormatError, match=text):
        scheduled(bots(count), 2, games, form)


@pytest.mark.parametrize(("n", "games"), [(3, 1), (8, 1), (9, 3), (10, 5)])
def test_a_single_round_robin_has_even_seats(n: int, games: int) -> None:
    """Every pair plays an odd number of games; each bot has one seat once more at most."""
    played = planned(bots(n), 2, games)
    assert Counter(frozenset(game.names) for game in played) == Counter(
        dict.fromkeys(map(frozenset, combinations(bots(n), 2)), games)
    )
    first = Counter(game.names[0] for game in played)
    assert all(abs(2 * first[name] - games * (n - 1)) <= 1 for name in bots(n))
    with pytest.raises(FormatError, match=r"^contest.games_per_pair: expected a multiple of 2, "):
        scheduled(bots(n), 2, games, paired=True)


def test_a_second_leg_turns_the_seats() -> None:
    form = scheduled(bots(5), 2, 1)
    first = [game.names for game in form.planned(1, form.total + 1)]
    form.extend(1)
    assert [game.names[::-1] for game in form.planned(11, 21)] == first
    with pytest.raises(FormatError, match=r"^expected a number of games above 0, got 0$"):
        form.extend(0)


def test_a_single_game_has_the_bots_in_the_order_of_their_seats() -> None:
    (game,) = planned(("b", "a", "c"), 3, 1, "single")
    assert (game.number, game.names, game.deal) == (1, ("b", "a", "c"), 1)
    config = ContestConfig(name="x", seed=1, format="single", games_per_pair=1)
    (pair,) = format_of(config, ("b", "a"), 2).planned(1, 9)
    assert pair.names == ("b", "a")


@pytest.mark.parametrize(("count", "games"), [(4, 1), (3, 3)])
def test_what_is_not_a_single_game(count: int, games: int) -> None:
    with pytest.raises(
        FormatError, match=f"^a single game has 3 bots, not {count}, and is one, not {games}$"
    ):
        scheduled(bots(count), 3, games, "single")


# -- gauntlet


@all_of(
    ("n", "seats", "challengers"),
    [(2, 2, 1), (6, 2, 1), (6, 2, 2), (6, 2, 5), (5, 3, 1), (5, 3, 3), (6, 3, 2), (7, 4, 2)],
)
@all_of("paired", [False, True])
def test_each_challenger_plays_against_every_set_of_the_field(
    n: int, seats: int, challengers: int, paired: bool
) -> None:
    games = planned(bots(n), seats, 2 * seats, "gauntlet", challengers=challengers, paired=paired)
    field = bots(n)[challengers:]
    groups = [
        frozenset((challenger, *others))
        for challenger in bots(challengers)
        for others in combinations(field, seats - 1)
    ]
    met = Counter((frozenset(game.names), seat) for game in games for seat in game.names)
    assert met == {(group, name): 2 * seats for group in groups for name in group}
    firsts = Counter((frozenset(game.names), game.names[0]) for game in games)
    assert firsts == {(group, name): 2 for group in groups for name in group}
    deals = Counter((frozenset(game.names), game.deal) for game in games)
    assert set(deals.values()) == ({seats} if paired else {1})


def test_neighbours_of_a_gauntlet_share_few_bots() -> None:
    games = planned(bots(6), 2, 2, "gauntlet", challengers=2)
    for one, other in zip(games[::2], games[1::2], strict=True):
        assert not {*one.names} & {*other.names}


@pytest.mark.parametrize(
    ("n", "seats", "challengers", "text"),
    [
        (4, 2, 0, "contest.challengers: expected 1 to 10000, got 0"),
        (
            4,
            2,
            4,
            "contest.challengers: expected at most 3 of 4 bots, so that a field is left for 2 seats, got 4",
        ),
        (
            4,
            3,
            3,
            "contest.challengers: expected at most 2 of 4 bots, so that a field is left for 3 seats, got 3",
        ),
    ],
)
def test_challengers_that_leave_no_field(n: int, seats: int, challengers: int, text: str) -> None:
    with pytest.raises(FormatError) as caught:
        scheduled(bots(n), seats, seats, "gauntlet", challengers=challengers)
    assert str(caught.value) == text


def test_a_slow_bot_of_the_field_holds_no_other_back_beyond_the_bound() -> None:
    """Three of the field are as fast as the challenger, which plays on with them while the fourth thinks."""
    form = scheduled(bots(5), 2, 8, "gauntlet")
    for name in bots(5):
        form.enter(name)
        form.free(name, 4 if name == "b0" else 1)
    running = list(iter(form.next, None))
    met = Counter(name for game in running for name in game.names)
    assert met == {"b0": 4, "b1": 1, "b2": 1, "b3": 1, "b4": 1}
    for _ in range(2):
        for game in running:
            if "b4" not in game.names:
                form.free("b0", 1)
                form.free(next(name for name in game.names if name != "b0"), 1)
                running = [each for each in running if each is not game] + list(iter(form.next, None))
                met.update(running[-1].names)
    assert met["b4"] == 1
    assert {met[name] for name in ("b1", "b2", "b3")} == {3}
    assert form.next() is None


# -- the registry


def test_an_unknown_format_is_refused_with_the_list() -> None:
    text = rf"^contest\.format: expected one of {', '.join(FORMATS)}, got 'league'$"
    with pytest.raises(FormatError, match=text):
        make_format("league", Terms(("a", "b"), 2, 2))


@all_of("name", FORMATS)
def test_an_option_that_the_format_does_not_have(name: str) -> None:
    known = ", ".join(FORMATS[name].OPTIONS) or "none"
    with pytest.raises(FormatError) as caught:
        make_format(name, Terms(("a", "b"), 2, 2, options={"length": 3}))
    assert str(caught.value) == f"contest.length: not an option of {name}; its options: {known}"
