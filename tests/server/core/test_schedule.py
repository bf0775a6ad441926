"""The schedule: which bots meet, how often, in which seats, on which deal, in which order."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from arena_server.core.config import ContestConfig
from arena_server.core.schedule import Circle, Group, Groups, Schedule, fair_order, members, schedule_of

SIZES = [(n, seats) for seats in (2, 3, 4) for n in range(seats, 9)]


def bots(n: int) -> list[str]:
    return [f"b{i}" for i in range(n)]


def listed(groups: Groups) -> list[Group]:
    return [groups[number] for number in range(len(groups))]


@pytest.mark.parametrize(("n", "seats"), SIZES)
def test_every_group_plays_every_deal_from_every_seat_once(n: int, seats: int) -> None:
    games = list(Schedule(bots(n), seats, 2 * seats, paired=True))
    assert [game.number for game in games] == list(range(1, len(games) + 1))
    met = Counter((frozenset(game.names), game.deal, game.names[0]) for game in games)
    assert met == Counter(
        (frozenset(group), deal, first)
        for group in combinations(bots(n), seats)
        for deal in (1, 2)
        for first in group
    )


@pytest.mark.parametrize(("n", "seats"), SIZES)
def test_fresh_deals_are_never_played_twice_and_the_seats_are_balanced(n: int, seats: int) -> None:
    games = list(Schedule(bots(n), seats, 2 * seats))
    assert len({(frozenset(game.names), game.deal) for game in games}) == len(games)
    first = Counter((frozenset(game.names), game.names[0]) for game in games)
    assert set(first.values()) == {2}


@pytest.mark.parametrize("seats", [3, 4])
def test_the_seats_turn_so_that_neighbours_stay_neighbours(seats: int) -> None:
    first, *others = [game.names for game in Schedule(bots(seats), seats, seats)]
    assert others == [first[turn:] + first[:turn] for turn in range(1, seats)]


@pytest.mark.parametrize("n", range(2, 12))
def test_pairs_come_in_rounds_without_waiting_bots(n: int) -> None:
    order = listed(fair_order(n, 2))
    a_round = n // 2
    for start in range(0, len(order), a_round):
        players = [player for pair in order[start : start + a_round] for player in pair]
        assert len(players) == len(set(players))
    assert len(order) == n * (n - 1) // 2


def walked(n: int) -> list[Group]:
    """The circle method step by step: one player stays, the others move up a chair a round."""
    chairs: list[int | None] = [*range(n), None] if n % 2 else [*range(n)]
    order: list[Group] = []
    for number in range(len(chairs) - 1):
        pairs = [(chairs[i], chairs[-1 - i]) for i in range(len(chairs) // 2)]
        if number % 2:
            pairs[0] = pairs[0][::-1]
        order += [(a, b) for a, b in pairs if a is not None and b is not None]
        chairs = [chairs[0], chairs[-1], *chairs[1:-1]]
    return order


@pytest.mark.parametrize("n", range(2, 20))
def test_the_circle_is_reckoned_as_it_is_walked(n: int) -> None:
    circle, order = Circle(n), walked(n)
    assert listed(circle) == order
    for number, (one, other) in enumerate(order):
        assert circle.number(one, other) == circle.number(other, one) == number
    with pytest.raises(IndexError, match=f"there are {len(order)} pairs, and no number {len(order)}"):
        circle[len(order)]


@given(st.integers(2, 3), st.data())
def test_the_first_of_many_others(seats: int, data: st.DataObject) -> None:
    """Of few, which are looked up, and of many, which are met round by round."""
    n = data.draw(st.integers(seats, 60 if seats == 2 else 8))
    groups = fair_order(n, seats)
    players = tuple(data.draw(st.permutations(range(n)))[: seats - 1])
    others = data.draw(st.integers(1, 2**n - 1)) & ~sum(1 << player for player in players)
    assume(others)
    expected = min(members(others), key=lambda other: groups.number(*players, other))
    assert groups.first(players, others) == expected


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_matches_are_played_in_disjoint_groups_in_the_order_of_the_names(seats: int) -> None:
    schedule = Schedule(bots(2 * seats), seats, 2 * seats, paired=True, matches=True)
    groups = listed(schedule.groups)
    assert groups == [tuple(range(seats)), tuple(range(seats, 2 * seats))]
    games = list(schedule)
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
    with pytest.raises(ValueError, match=r"^matches of 3 seats need a multiple of 3 bots, not 4$"):
        Schedule(bots(4), 3, 3, matches=True)


def test_two_thousand_bots_are_no_burden() -> None:
    schedule = Schedule(bots(2000), 2, 2)
    assert schedule.total == 2000 * 1999
    last = schedule.pairing(schedule.total)
    group = schedule.groups.number(*schedule.players(last.names))
    assert schedule.number(group, 1) == last.number


@pytest.mark.parametrize(("n", "seats"), [(6, 3), (8, 4), (9, 3)])
def test_larger_groups_come_in_rounds_too(n: int, seats: int) -> None:
    groups = fair_order(n, seats)
    order = listed(groups)
    assert {*order[0]}.isdisjoint(order[1])
    assert sorted(map(sorted, order)) == sorted(map(sorted, combinations(range(n), seats)))
    assert [groups.number(*group[::-1]) for group in order] == list(range(len(order)))


@pytest.mark.parametrize("n", range(3, 12))
def test_the_first_seat_is_shared_evenly(n: int) -> None:
    firsts = Counter(pair[0] for pair in listed(fair_order(n, 2)))
    assert all(abs(firsts[player] - (n - 1) / 2) <= 1.5 for player in range(n)), firsts


def test_a_game_is_known_by_its_number() -> None:
    schedule = Schedule(bots(5), 2, 4)
    assert schedule.total == 40
    assert [schedule.pairing(game.number) for game in schedule] == list(schedule)
    assert schedule.players(schedule.pairing(schedule.number(3, 2)).names) == schedule.groups[3]


def test_too_few_bots() -> None:
    with pytest.raises(ValueError, match="a game of 3 seats needs at least 3 bots, not 2"):
        Schedule(bots(2), 3, 3)


@pytest.mark.parametrize("games", [0, 3, -2])
def test_an_unfair_number_of_games(games: int) -> None:
    with pytest.raises(ValueError, match=f"games_per_pair must be a multiple of 2.* not {games}"):
        Schedule(bots(4), 2, games)


def test_a_single_game_has_the_bots_in_the_order_of_their_seats() -> None:
    (game,) = Schedule(("b", "a", "c"), 3, 1, single=True)
    assert (game.number, game.names, game.deal) == (1, ("b", "a", "c"), 1)
    (pair,) = schedule_of(ContestConfig(name="x", seed=1, format="single", games_per_pair=1), ("b", "a"), 2)
    assert pair.names == ("b", "a")


@pytest.mark.parametrize(("count", "games"), [(4, 1), (3, 3)])
def test_what_is_not_a_single_game(count: int, games: int) -> None:
    with pytest.raises(ValueError, match=f"^a single game has 3 bots, not {count}, and is one, not {games}$"):
        Schedule(bots(count), 3, games, single=True)


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("matches", [False, True])
def test_the_games_on_the_deal_of_a_game(seats: int, paired: bool, matches: bool) -> None:
    schedule = Schedule(bots(2 * seats), seats, 2 * seats, paired=paired, matches=matches)
    deals: dict[tuple[frozenset[str], int], list[int]] = {}
    for game in schedule:
        deals.setdefault((frozenset(game.names), game.deal), []).append(game.number)
    for games in deals.values():
        assert len(games) == (seats if paired else 1)
        assert all(schedule.same_deal(number) == games for number in games)
    assert schedule.same_deal(schedule.total + 1) == []


def test_a_single_game_has_its_deal_for_itself() -> None:
    schedule = Schedule(bots(2), 2, 1, paired=True, single=True)
    assert (schedule.seats, schedule.same_deal(1)) == (2, [1])
