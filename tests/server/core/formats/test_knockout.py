"""A knockout: what its levels are called, and what decided a match, in the document of its rounds."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from arena_server.core.formats.document import plain_rounds
from arena_server.core.formats.knockout import Knockout
from arena_server.stats.results import PastGame
from arena_server.terms.formats import Terms

from .drawn import Field


def final(*totals: tuple[int, int], by_points: bool, extra_pairs: int = 0) -> dict[str, Any]:
    """The match of ann and bob, each of whose games ended with these points of ann and bob."""
    names = ("ann", "bob")
    knockout = Knockout(Terms(names, 2, 2, False, {"extra_pairs": extra_pairs}, {}, by_points))
    draw = knockout.draw_due(())
    assert draw is not None
    knockout.drawn(draw.run())
    for name in names:
        knockout.enter(name)
    for ann, bob in totals:
        for name in names:
            knockout.free(name, 1)
        pairing = knockout.next()
        assert pairing is not None
        points = {"ann": ann, "bob": bob}
        knockout.result(
            PastGame(
                pairing.number, pairing.names, 0, tuple(map(points.__getitem__, pairing.names)), "normal", 9
            )
        )
    match: dict[str, Any] = plain_rounds(knockout.rounds(), names, "")["rounds"][0]["matches"][0]
    return match


@pytest.mark.parametrize(
    ("totals", "by_points", "winner", "decided_by"),
    [
        ([(3, 1), (3, 1)], False, "ann", None),
        ([(3, 1), (1, 9)], False, "ann", "seed"),
        ([(3, 1), (1, 9)], True, "bob", "points"),
        ([(3, 1), (1, 3)], True, "ann", "seed"),
        ([(3, 1)], True, None, None),
    ],
)
def test_a_match(
    totals: list[tuple[int, int]], by_points: bool, winner: str | None, decided_by: str | None
) -> None:
    match = final(*totals, by_points=by_points)
    assert (match["winner"], match.get("decided_by")) == (winner, decided_by)


def test_a_tie_that_two_more_games_decide_is_not_over() -> None:
    match = final((3, 1), (1, 3), by_points=False, extra_pairs=1)
    assert (match["winner"], match.get("decided_by"), match["state"]) == (None, None, "open")


def test_the_titles_of_the_levels() -> None:
    field = Field(Knockout, Terms(tuple(f"b{number}" for number in range(16)), 2, 1), Random(1))
    field.finish()
    titles = [each.title for each in field.form.rounds()]
    assert titles == ["last 16", "quarter-finals", "semi-finals", "final"]


@pytest.mark.parametrize("games", [1, 2])
@pytest.mark.parametrize("bots", [4, 5, 8, 16])
def test_the_total_keeps_the_matches_of_those_who_left(bots: int, games: int) -> None:
    """Both players of a pairing of any level leave: what they and the winner miss was planned."""
    names = tuple(f"b{number:02}" for number in range(bots))
    for level in range(bots.bit_length() - 1):
        field = Field(Knockout, Terms(names, 2, games, options={"extra_pairs": 0}), Random(level), first_wins)
        planned = field.form.total
        for name in names:
            field.enter(name)
        field.start()
        while len(field.draws) <= level:
            field.end()
            field.start()
        for name in field.form.draws.last[0].names:
            field.leave(name, for_good=True)
        while field.running:
            field.end(void=True)
        field.finish()
        assert field.form.total == planned
        assert sum(count for _, count in field.form.unplayed()) == planned - len(field.results)


def first_wins(names: tuple[str, ...], rng: Random) -> tuple[int, ...]:
    return tuple(int(name == min(names)) for name in names)
