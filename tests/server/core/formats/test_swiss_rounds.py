"""Rounds of a Swiss: how many of those planned can be drawn, and are."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from arena_server.core.formats import swiss_pairing
from arena_server.core.formats.swiss import Swiss, SwissDraw
from arena_server.core.formats.swiss_pairing import Candidate
from arena_server.terms.formats import Terms

from ....slices import rows
from .drawn import Field
from .swiss_twin import all_ways, strengths, sums
from .test_rounds import bots


def whole_rounds(count: int, planned: int, seed: int, drawn: float) -> int:
    """How many of the planned rounds a contest has; a game is a draw up to this difference of strength."""
    rng = Random(seed)
    strength = strengths(count, rng)

    def play(names: tuple[str, ...], rng: Random) -> tuple[int, ...]:
        ahead = strength[names[0]] - strength[names[1]] + rng.gauss(0, 1)
        return (1, 1) if abs(ahead) < drawn else (int(ahead > 0), int(ahead < 0))

    field = Field(Swiss, Terms(bots(count), 2, 1, options={"rounds": planned}, secret=seed), rng, play)
    field.finish()
    assert isinstance(field.form, Swiss)
    assert all(len(made) in (0, (count + 1) // 2) for made in field.form.draws.rounds)
    return len([made for made in field.form.draws.rounds if made])


MANY_ROUNDS = [(6, 4), (6, 5), (8, 6), (10, 9), (7, 7), (9, 9), (24, 23)]


OF_MANY = [(26, 25), (30, 25), (31, 31)]


@pytest.mark.parametrize(("count", "planned"), rows(MANY_ROUNDS + OF_MANY, 3))
@pytest.mark.parametrize("drawn", rows([0.3, 9], 2))
def test_all_planned_rounds_are_played(count: int, planned: int, drawn: float) -> None:
    for seed in range(1 if count > 10 else 3):
        assert whole_rounds(count, planned, seed, drawn) == planned, f"seed {seed}"


@pytest.mark.soak
@pytest.mark.parametrize(("count", "planned"), [*OF_MANY, (40, 39), (50, 30), (50, 49), (61, 61)])
@pytest.mark.parametrize("drawn", [0.3, 9])
def test_all_planned_rounds_of_large_fields_are_played(count: int, planned: int, drawn: float) -> None:
    assert {whole_rounds(count, planned, seed, drawn) for seed in range(5)} == {planned}


@pytest.mark.soak
@pytest.mark.parametrize(("count", "planned"), MANY_ROUNDS)
def test_all_planned_rounds_of_300_contests_are_played(count: int, planned: int) -> None:
    seeds = range(300 if count < 24 else 50)
    assert {whole_rounds(count, planned, seed, 0.3) for seed in seeds} == {planned}


def possible(names: Sequence[str], met: frozenset[frozenset[str]], rounds: int) -> bool:
    """Whether some pairings of these, each pair once, make this number of rounds: by trying all."""
    if rounds == 0:
        return True
    for way in all_ways(tuple(range(len(names)))):
        pairs = frozenset(frozenset((names[a], names[b])) for a, b in way)
        if not pairs & met and possible(names, met | pairs, rounds - 1):
            return True
    return False


@pytest.mark.parametrize("seed", range(20))
def test_the_best_of_the_ways_that_leave_the_rounds_to_come_possible(seed: int) -> None:
    """Six bots, five rounds, against all ways."""
    rng = Random(seed)
    field = Field(Swiss, Terms(bots(6), 2, 1, options={"rounds": 5}, secret=seed), rng)
    for name in bots(6):
        field.enter(name)
    for left in range(5, 0, -1):
        draw = field.form.draw_due(())
        assert isinstance(draw, SwissDraw)
        players, names = draw.players, [each.name for each in draw.players]
        met = frozenset(frozenset((each.name, other)) for each in players for other in each.met)
        good = {}
        for way in all_ways(tuple(range(6))):
            pairs = frozenset(frozenset((names[a], names[b])) for a, b in way)
            if not pairs & met and possible(names, met | pairs, left - 1):
                good[pairs] = sums(players, way)
        field.next_round()
        assert good[frozenset(map(frozenset, field.draws[-1].groups))] == min(good.values())
        while field.running or any(True for _ in field.form.planned(1, field.form.next_number)):
            field.running.extend(iter(field.form.next, None))
            if not field.running:
                break
            field.end()


def test_a_round_of_a_schedule_is_taken_if_none_of_the_best_leaves_it_possible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(swiss_pairing, "TRIED", 0)
    for count, planned in ((6, 4), (6, 5), (7, 7)):
        assert whole_rounds(count, planned, 1, 0.3) == planned


def test_a_round_of_a_schedule_is_taken_as_it_stands_if_what_is_after_a_better_one_is_not_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(swiss_pairing, "can_be_drawn", lambda graph, rounds: False)
    for tried in (0, 16):
        monkeypatch.setattr(swiss_pairing, "TRIED", tried)
        assert whole_rounds(6, 5, 1, 0.3) == 5


def test_which_draws_take_long() -> None:
    """More rounds than half of the bots, in a field of more than 24, are looked at for longer."""
    ten = frozenset(f"b{place}" for place in range(10))
    assert not swiss_pairing.takes_long([Candidate("a", met=ten)] * 24, 13)
    assert not swiss_pairing.takes_long([Candidate("a", met=ten)] * 26, 3)
    assert swiss_pairing.takes_long([Candidate("a", met=ten)] * 26, 4)
    assert swiss_pairing.takes_long([Candidate("a")] * 101, 1)
    assert not swiss_pairing.takes_long([], 1)


def test_as_many_rounds_as_can_be_drawn_are_played() -> None:
    """Two owners of three bots each can have three rounds of the five."""
    owners = {name: str(place % 2) for place, name in enumerate(bots(6))}
    for seed in range(10):
        terms = Terms(bots(6), 2, 1, options={"rounds": 5, "same_owner": "never"}, owners=owners, secret=seed)
        field = Field(Swiss, terms, Random(seed))
        field.finish()
        assert [len(drawn.groups) for drawn in field.draws] == [3, 3, 3, 0]


def test_a_field_larger_than_small_is_paired_with_those_near_by() -> None:
    """All rounds of 130 can be made, and no pair meets twice."""
    rng = Random(3)
    strength = strengths(130, rng)
    field = Field(
        Swiss,
        Terms(tuple(strength), 2, 1, secret=3),
        rng,
        lambda names, _: (1, 0) if strength[names[0]] > strength[names[1]] else (0, 1),
    )
    field.finish()
    assert isinstance(field.form, Swiss)
    assert len(field.draws) == field.form.planned_rounds == 8
    assert len({frozenset(pair) for drawn in field.draws for pair in drawn.pairs}) == 8 * 65
