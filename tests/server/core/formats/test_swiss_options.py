"""Accelerated rounds and forbidden pairs of a Swiss, by rule, and in random tournaments by a plain twin."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.slices import all_of

from arena_server.core.formats.acceleration import Baku
from arena_server.core.formats.swiss import Swiss, SwissDraw
from arena_server.stats.scoring import scoring_of
from arena_server.terms.formats import FormatError, OptionValue, Terms

from .drawn import Field
from .test_rounds import bots

HALF = Fraction(1, 2)


# -- C.04.5.1, rule by rule


@all_of(
    ("players", "upper"), [(2, 2), (3, 2), (4, 2), (5, 4), (8, 4), (9, 6), (160, 80), (161, 82), (164, 82)]
)
def test_the_first_group_is_half_of_the_players_rounded_up_to_an_even_number(
    players: int, upper: int
) -> None:
    seeds = bots(players)
    assert Baku(seeds, 9, scoring_of("wins")).upper(seeds) == seeds[:upper]


@all_of(
    ("rounds", "points"),
    [
        (1, [1]),
        (2, [1, 0]),
        (4, [1, HALF, 0, 0]),
        (5, [1, 1, HALF, 0, 0]),
        (9, [1, 1, 1, HALF, HALF, 0, 0, 0, 0]),
        (11, [1, 1, 1, HALF, HALF, HALF, 0, 0, 0, 0, 0]),
    ],
)
def test_virtual_points_of_each_round(rounds: int, points: list[Fraction]) -> None:
    baku = Baku(bots(8), rounds, scoring_of("wins"))
    assert [baku.points(number) for number in range(1, rounds + 1)] == points
    of_values = Baku(bots(8), rounds, scoring_of("3-1-0"))
    expected = [{Fraction(1): 3, HALF: 1}.get(Fraction(each), 0) for each in points]
    assert [of_values.points(number) for number in range(1, rounds + 1)] == expected


def test_the_table_of_the_page() -> None:
    page = (Path(__file__).parents[4] / "docs" / "swiss.md").read_text(encoding="utf-8")
    section = page.partition("## Accelerated rounds")[2].partition("## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if re.match(r"\| \d", line)]
    assert len(rows) == 3
    for bots_text, rounds_text, upper, *columns in rows:
        seeds, rounds = bots(int(bots_text)), int(rounds_text)
        baku = Baku(seeds, rounds, scoring_of("wins"))
        assert len(baku.upper(seeds)) == int(upper)
        for worth, column in zip((1, HALF, 0), columns, strict=True):
            first, last = [int(number) for number in re.findall(r"\d+", column)] * (1 + ("s" not in column))
            numbers = [number for number in range(1, rounds + 1) if baku.points(number) == worth]
            assert numbers == list(range(first, last + 1))


@pytest.mark.parametrize("seeding", ["file", "lot"])
def test_a_late_entrant_does_not_change_who_is_last_of_the_first_group(seeding: str) -> None:
    """It is in the group if its seed is before that of the last one, which may then have an odd number."""
    options: dict[str, OptionValue] = {"acceleration": "baku", "seeding": seeding, "rounds": 5}
    seen = set()
    for secret in range(20):
        form = Swiss(Terms(bots(8), 2, 1, options=options, secret=secret))
        last = form.terms.seeds[3]
        form.join("late")
        seeds = form.terms.seeds
        upper = form.virtual_points(1)
        assert [*upper] == [*seeds[: seeds.index(last) + 1]]
        seen.add(len(upper))
    assert seen == ({4} if seeding == "file" else {4, 5})


def test_the_first_round_of_eight_is_of_two_halves() -> None:
    draw = Swiss(Terms(bots(8), 2, 1, options={"acceleration": "baku"})).draw_due(())
    assert draw is not None
    assert [set(pair) for pair in draw.run().groups] == [
        {"b0", "b2"}, {"b1", "b3"}, {"b4", "b6"}, {"b5", "b7"}
    ]  # fmt: skip


def test_an_extended_contest_is_accelerated_in_the_same_rounds() -> None:
    form = Swiss(Terms(bots(12), 2, 1, options={"acceleration": "baku", "rounds": 4}))
    form.extend(4)
    assert [bool(form.virtual_points(number)) for number in range(1, 9)] == [True, True, *[False] * 6]


def play(seed: int, **options: Any) -> Field:
    """A random tournament; who has the better seed wins in two of three games that are not drawn."""
    rng = Random(seed)
    names = bots(rng.randint(4, 24))
    places = {name: place for place, name in enumerate(names)}

    def result(pair: tuple[str, ...], rng: Random) -> tuple[int, ...]:
        if rng.random() < 0.2:
            return 1, 1
        better = (places[pair[0]] < places[pair[1]]) == (rng.random() < 0.67)
        return int(better), int(not better)

    return Field(Swiss, Terms(names, 2, 1, options=options, secret=seed), rng, result)


def rounds_of(field: Field) -> list[SwissDraw]:
    """Play it to its end; what each round was drawn of."""
    draws = []
    for name in field.terms.names:
        field.enter(name)
    while (draw := field.form.draw_due(())) is not None:
        assert isinstance(draw, SwissDraw)
        draws.append(draw)
        field.next_round()
        while field.form.draws.is_open:
            field.running.extend(iter(field.form.next, None))
            field.end()
    return draws


@all_of("seed", range(20))
def test_accelerated_tournaments_are_paired_by_points_with_virtual_ones(seed: int) -> None:
    """The twin adds them up from the results alone."""
    field = play(seed, acceleration="baku", rounds=3 + seed % 3)
    names = field.terms.names
    draws = rounds_of(field)
    rounds = field.form.draws.rounds
    assert len(draws) == 3 + seed % 3
    for number, draw in enumerate(draws):
        half = (len(names) + 3) // 4 * 2
        accelerated = (len(draws) + 1) // 2
        extra = 0 if number >= accelerated else 2 if number < (accelerated + 1) // 2 else 1
        expected = {name: extra * (place < half) for place, name in enumerate(names)}
        for each in (each for made in rounds[:number] for each in made):
            if isinstance(each, str):
                expected[each] += 2
            elif each is not None:
                for name in each.names:
                    expected[name] += 2 if each.winner == name else 1 if each.winner is None else 0
        assert {each.name: each.score for each in draw.players} == expected
        assert [each.score for each in draw.players] == sorted(expected.values(), reverse=True)
    assert sum(field.form.scores().values() or ()) == sum(map(len, rounds)), "no virtual point in the table"


# -- forbidden pairs


@all_of("seed", range(20))
def test_forbidden_pairs_never_meet(seed: int) -> None:
    rng = Random(seed)
    names = bots(rng.randint(8, 16))
    groups = [rng.sample(names, rng.choice((2, 2, 3))) for _ in range(3)]
    field = Field(Swiss, Terms(names, 2, 1, options={"forbidden_pairs": groups, "rounds": 4}), rng)
    rounds_of(field)
    met = {frozenset(each.names) for each in field.form.draws.encounters}
    assert not met & {frozenset(pair) for group in groups for pair in combinations(group, 2)}
    assert len(field.form.draws.rounds) == 4, "all planned rounds"


@all_of(
    ("value", "problem"),
    [
        ("ann", 'expected lists as [["ann", "bob"]], got \'ann\''),
        (["ann"], "expected two different bots or more, got 'ann'"),
        ([["ann"]], "expected two different bots or more, got ['ann']"),
        ([["ann", "ann"]], "expected two different bots or more, got ['ann', 'ann']"),
        ([["ann", 1]], "expected two different bots or more, got ['ann', 1]"),
        ([["ann", "eve"]], "no bot of this contest is called 'eve'"),
    ],
)
def test_what_is_no_list_of_pairs_is_refused(value: Any, problem: str) -> None:
    with pytest.raises(FormatError) as caught:
        Swiss(Terms(("ann", "bob", "cid"), 2, 1, options={"forbidden_pairs": value}))
    assert str(caught.value) == f"contest.forbidden_pairs: {problem}"


def test_too_many_forbidden_pairs_are_doubted() -> None:
    """ann may meet dan alone, and three rounds are planned."""
    options: dict[str, Any] = {"forbidden_pairs": [["ann", "bob"], ["ann", "cid"]], "rounds": 3}
    terms = Terms(("ann", "bob", "cid", "dan"), 2, 1, options=options)
    assert Swiss.doubt(terms) == (
        "contest.rounds: 3 rounds cannot be promised where pairs are forbidden; a contest in which no round "
        "can be drawn any more ends as short, with status 1"
    )
    both = Terms(terms.names, 2, 1, options={**options, "same_owner": "never"})
    assert "where no two bots of one owner meet and pairs are forbidden;" in Swiss.doubt(both)
    options["rounds"] = 1
    assert Swiss.doubt(Terms(terms.names, 2, 1, options=options)) == ""
