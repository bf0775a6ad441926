"""One round of the Swiss keeps the rules of docs/swiss.md: a twin by brute force, and an oracle."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_server.core.facts import Drawn
from arena_server.core.formats import swiss_pairing
from arena_server.core.formats.swiss import Swiss, SwissDraw
from arena_server.core.formats.swiss_pairing import FIRST, SECOND, Candidate, pair
from arena_server.terms.formats import Terms

from ....slices import all_of, rows
from .drawn import Field
from .swiss_twin import all_ways, allowed, strengths, sums, twin, wish
from .test_rounds import bots


@st.composite
def fields(draw: st.DrawFn) -> list[Candidate]:
    """Players with any past, in their order."""
    count = draw(st.integers(2, 7))
    names = bots(count)
    pairs = [(a, b) for a in range(count) for b in range(a) if draw(st.integers(0, 3)) == 0]
    scores = sorted(draw(st.lists(st.integers(0, 6), min_size=count, max_size=count)), reverse=True)
    return [
        Candidate(
            name,
            scores[place],
            frozenset(names[a if b == place else b] for a, b in pairs if place in (a, b)),
            tuple(draw(st.lists(st.sampled_from((FIRST, SECOND)), max_size=5))),
            draw(st.integers(0, 3)) == 0,
            draw(st.sampled_from(("", "x", "y"))),
            draw(st.integers(0, 3)) == 0,
        )
        for place, name in enumerate(names)
    ]


@settings(deadline=None)
@given(fields(), st.booleans(), st.integers(0, 99))
def test_no_way_to_pair_a_small_field_is_better(
    players: list[Candidate], owners_meet: bool, salt: int
) -> None:
    found, expected = pair(players, owners_meet=owners_meet, salt=salt), twin(players, owners_meet)
    if expected is None:
        assert found is None
        return
    assert found is not None
    byes = [group[0] for group in found if len(group) == 1]
    assert byes == ([] if expected[0] is None else [expected[0]])
    rest = [player for player in players if player.name not in byes]
    places = {player.name: place for place, player in enumerate(rest)}
    pairs = tuple((min(places[a], places[b]), max(places[a], places[b])) for a, b in found[: len(rest) // 2])
    assert sorted(place for each in pairs for place in each) == list(range(len(rest)))
    assert allowed(rest, pairs, owners_meet)
    assert sums(rest, pairs) == expected[1]
    assert found == pair(players, owners_meet=owners_meet, salt=salt)  # byte for byte
    by_name = {player.name: player for player in rest}
    for names in found[: len(rest) // 2]:
        wishes = [wish(by_name[name].seats) for name in names]
        for (seat, much), (other, others_much), own in zip(
            wishes, wishes[::-1], (FIRST, SECOND), strict=True
        ):
            if seat and (much > others_much or (much == others_much and other != seat)):
                assert own == seat


def test_seats_without_a_stronger_wish() -> None:
    """Both change those of the latest round in which they differed; else the higher one gets its wish."""
    one, other = Candidate("a", seats=(FIRST, SECOND, SECOND, FIRST)), Candidate("b", seats=(SECOND, FIRST))
    assert pair((one, other)) == (
        ("b", "a"),
    )  # a wishes for the second seat, b for the second: a had the first
    assert pair((Candidate("a", seats=(SECOND,)), Candidate("b", seats=(SECOND,)))) == (("a", "b"),)
    four = tuple(Candidate(name) for name in "abcd")
    assert pair(four) == (("a", "c"), ("d", "b"))


def test_the_first_round_of_eight() -> None:
    draw = Swiss(Terms(bots(8), 2, 2)).draw_due(())
    assert draw is not None
    assert not draw.slow
    assert draw.run() == Drawn(1, 1, 2, (("b0", "b4"), ("b5", "b1"), ("b2", "b6"), ("b7", "b3")))


def test_a_weight_of_a_large_field_fits_the_library() -> None:
    """The sums of 2,000 players after 100 rounds leave fewer bits to the lot."""
    players = [
        Candidate(f"b{place}", 200 - place // 10, seats=(FIRST,) * (place % 3), owner=str(place // 2))
        for place in range(2000)
    ]
    edges = list(swiss_pairing.edges(players, 2, True))
    weights = [-weight for _, _, weight in swiss_pairing.weighted(players, edges, 1)]
    assert max(weights) * len(players) // 2 < 1 << swiss_pairing.WEIGHT_BITS


@all_of("salt", range(3))
def test_rounds_come_in_the_order_of_their_costs_and_each_once(salt: int) -> None:
    """Against all matchings."""
    players = [Candidate(f"b{place}", place % 3, owner=str(place % 2)) for place in range(6)]
    edges = list(swiss_pairing.edges(players, len(players), True))
    weights = {(a, b): weight for a, b, weight in swiss_pairing.weighted(players, edges, salt)}
    right = sorted(
        map(list, all_ways(tuple(range(6)))), key=lambda each: -sum(map(weights.__getitem__, each))
    )
    assert [sorted(each) for each in swiss_pairing._ranked(players, True, salt)] == right


# -- an oracle: the Dutch system of FIDE


def dutch(players: Sequence[Candidate], number: int, rounds: int) -> set[frozenset[str]]:
    """The pairings of caissify-pairings; `players` are b0, b1, ... by their seeds."""
    engine = pytest.importorskip("caissify_pairings.engines.dutch")
    colours = {FIRST: "white", SECOND: "black"}
    ids = {player.name: int(player.name[1:]) + 1 for player in players}
    names = {number: name for name, number in ids.items()}
    raw: list[dict[str, Any]] = [
        {
            "id": ids[player.name],
            "name": player.name,
            "score": player.score / 2,
            "rating": 3000 - ids[player.name],
            "starting_number": ids[player.name],
            "pairing_number": ids[player.name],
            "color_hist": [colours[seat] for seat in player.seats],
            "float_history": [],
            "bye_count": int(player.had_bye),
        }
        for player in players
    ]
    met = {(ids[player.name], ids[other]) for player in players for other in player.met}
    found = engine.DutchEngine(raw, met, number, rounds).generate_pairings()
    return {
        frozenset(names[each[key]] for key in ("white_id", "black_id") if each[key] is not None)
        for each in found
    }


@pytest.mark.parametrize("seed", rows(range(30), 30))
def test_the_dutch_system_is_never_better_by_our_sums(seed: int) -> None:
    """Its rules forbid the same pairs and the same byes: what it finds is a way of ours, too."""
    rng = Random(seed)
    count = rng.randint(3, 12) * 2
    strength = strengths(count, rng)
    play = lambda names, rng: (1, 0) if strength[names[0]] + rng.gauss(0, 1) > strength[names[1]] else (0, 1)  # noqa: E731
    field = Field(Swiss, Terms(tuple(strength), 2, 1, secret=seed), rng, play)
    for name in field.terms.names:
        field.enter(name)
    while (draw := field.form.draw_due(())) is not None:
        assert isinstance(draw, SwissDraw)
        players = draw.players
        theirs = dutch(players, draw.draw, 5)
        field.next_round()
        ours = {frozenset(group) for group in field.draws[-1].groups}
        places = {player.name: place for place, player in enumerate(players)}
        theirs_sums, ours_sums = (
            sums(players, tuple((min(map(places.get, each)), max(map(places.get, each))) for each in found))  # type: ignore[type-var, misc]
            for found in (theirs, ours)
        )
        assert ours_sums <= theirs_sums
        if draw.draw == 1:
            assert ours == theirs
        while field.running or any(True for _ in field.form.planned(1, field.form.next_number)):
            field.running.extend(iter(field.form.next, None))
            field.end()
