"""A reader of facts and results sees what the contest itself knows, and nothing before it may."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_protocol.record import VOID
from arena_server.core.facts import (
    ContestFact,
    Drawn,
    Extended,
    Joined,
    Penalised,
    Repeat,
    RunStateSet,
    Shortened,
    Walkover,
)
from arena_server.core.formats.base import PairingError
from arena_server.core.formats.history import History
from arena_server.core.formats.knockout import Knockout
from arena_server.core.formats.rounds import Rounds
from arena_server.core.formats.rounds_json import rounds_json
from arena_server.stats.results import PastGame
from arena_server.terms.formats import FormatError, Terms

from .drawn import Field, disturb
from .test_rounds import DRAWING, STEPS, bots, draw_terms

drawing = pytest.mark.parametrize("name", DRAWING)


def events(field: Field) -> list[Drawn | Joined | Repeat | Walkover | PastGame]:
    """Facts and results in an order in which a server may have stored them."""
    void = {fact.void for fact in field.facts if isinstance(fact, Repeat)} | set(field.void)
    lost = {
        game.number: PastGame(game.number, game.names, game.deal, (0, 0), VOID, 0)
        for game in field.begun
        if game.number in void
    }
    return field.log(lost)


def shown(form: Rounds) -> tuple[object, ...]:
    return form.scores(), form.total, rounds_json(form.rounds(), form.terms.seeds, form.RANKED_BY)


@drawing
def test_it_agrees_with_the_contest(name: str) -> None:
    @settings(deadline=None)
    @given(st.data(), STEPS, st.integers(0, 1 << 32), st.booleans())
    def holds(data: st.DataObject, steps: str, seed: int, checked: bool) -> None:
        field = Field(DRAWING[name], draw_terms(DRAWING[name], data), Random(seed))
        disturb(field, steps)
        field.finish()
        history = History(field.kind(field.terms))
        for game in events(field):
            if isinstance(game, PastGame):
                history.add(game if checked else replace(game, deal=0))
        history.extend([RunStateSet("", "open"), *field.facts])
        history.check(over=True)
        assert shown(history.form) == shown(field.form)

    holds()


@drawing
def test_no_draw_is_seen_before_the_results_that_led_to_it(name: str) -> None:
    """All facts are known, and results come one by one, as on a page that shows them with a delay."""

    @settings(deadline=None)
    @given(st.data(), STEPS, st.integers(0, 1 << 32))
    def holds(data: st.DataObject, steps: str, seed: int) -> None:
        field = Field(DRAWING[name], draw_terms(DRAWING[name], data), Random(seed))
        disturb(field, steps)
        field.finish()
        log = events(field)
        history = History(field.kind(field.terms))
        known: list[ContestFact] = []
        stepwise = History(field.kind(field.terms))
        history.extend(field.facts)
        for each, following in pairwise([*log, None]):
            if isinstance(each, PastGame):
                history.add(each)
                stepwise.add(each)
            elif each is not None:
                known.append(each)
                stepwise.extend(known)
            # What follows from no result but those so far may be seen.
            if following is None or isinstance(following, PastGame):
                assert shown(history.form) == shown(stepwise.form)
        assert shown(stepwise.form) == shown(field.form)

    holds()


FOUR = Terms(bots(4), 2, 2)
FIRST = Drawn(1, 1, 2, (("b0", "b3"), ("b1", "b2")))
FINAL = Drawn(2, 5, 2, (("b0", "b1"),))


def past(number: int, one: str, other: str, totals: tuple[int, int], deal: int = 0) -> PastGame:
    return PastGame(number, (one, other), deal, totals, "complete", 1)


SEMI = [
    past(1, "b0", "b3", (1, 0)),
    past(2, "b1", "b2", (1, 0)),
    past(3, "b3", "b0", (0, 1)),
    past(4, "b2", "b1", (0, 1)),
]


def history(*events: Drawn | Repeat | Walkover | PastGame) -> History:
    history = History(Knockout(FOUR))
    history.extend([each for each in events if not isinstance(each, PastGame)])
    for each in events:
        if isinstance(each, PastGame):
            history.add(each)
    return history


def test_the_document_of_a_bracket() -> None:
    document = history(FIRST, *SEMI[:3]).document()
    assert document["ranked_by"] == "levels of the bracket passed"
    semi, final = document["rounds"]
    assert (semi["title"], semi["kind"], final["title"]) == ("semi-finals", "level", "final")
    over = {"names": ["b0", "b3"], "seeds": [1, 4], "scores": [2.0, 0.0], "points": [2, 0], "games": [1, 3]}
    assert semi["matches"][0] == over | {"winner": "b0", "state": "over"}
    left = {"names": ["b1", "b2"], "seeds": [2, 3], "scores": [1.0, 0.0], "points": [1, 0], "games": [2]}
    assert semi["matches"][1] == left | {"winner": None, "state": "open"}
    nothing = {"scores": [0.0, 0.0], "points": [0, 0], "games": []}
    assert final["matches"] == [
        {"names": ["b0", None], "seeds": [1, None], "winner": None, "state": "to come"} | nothing
    ]


def test_byes_walkovers_and_ties_have_states_of_their_own() -> None:
    first = Drawn(1, 1, 1, (("b0",), ("b1", "b2")))
    form = Knockout(Terms(bots(3), 2, 1, by_points=False))
    seen = History(form)
    seen.extend([first])
    assert [match["state"] for match in seen.document()["rounds"][0]["matches"]] == ["bye", "open"]
    seen.add(past(1, "b1", "b2", (1, 1)))
    assert seen.document()["rounds"][0]["matches"][1]["winner"] is None  # two more games are to come
    seen.extend([first, Drawn(2, 2, 2, (("b1", "b2"),)), Walkover(2, ("b1",))])
    bye, match = seen.document()["rounds"][0]["matches"]
    assert (match["state"], match["winner"], bye["winner"]) == ("walkover", "b2", "b0")
    assert seen.document()["rounds"][1]["matches"][0]["names"] == ["b0", "b2"]


def test_before_the_first_draw_nothing_is_known() -> None:
    assert history().document()["rounds"] == []


@all_of(
    ("events", "text"),
    [
        ([FIRST, *SEMI, past(5, "b0", "b1", (1, 0))], "g5 was played, and was not drawn"),
        ([FIRST, *SEMI[:2], FINAL], "Drawn 2 does not follow from the results before it"),
        ([FIRST, past(1, "b0", "b2", (1, 0))], "g1 was played by b0, b2 on deal 0, and the draw has b0, b3"),
        (
            [FIRST, past(1, "b0", "\x1b", (1, 0))],
            r"g1 was played by b0, \x1b on deal 0, and the draw has b0, b3",
        ),
        ([FIRST, past(1, "b0", "b3", (1, 0), 2)], "g1 was played by b0, b3 on deal 2, and the draw has b0,"),
        ([FIRST, replace(SEMI[0], end=VOID), Repeat(6, 1, 6)], "g6 repeats g1, and is not the next number"),
    ],
)
def test_what_cannot_have_been_is_refused(events: list[Drawn | Repeat | PastGame], text: str) -> None:
    with pytest.raises(PairingError) as caught:
        history(*events).check(over=True)
    assert str(caught.value).startswith(text)


def test_a_contest_that_goes_on_may_have_a_draw_to_come() -> None:
    history(FIRST, *SEMI[:2], FINAL).check(over=False)


def test_what_is_taken_follows_from_the_results_so_far() -> None:
    """A page that shows results with a delay shows no fact that would tell one of them."""
    seen = history(FIRST, FINAL)
    taken = [seen.taken]
    for game in SEMI:
        seen.add(game)
        taken.append(seen.taken)
    assert taken == [*[(FIRST,)] * 4, (FIRST, FINAL)]


def test_penalties_and_rounds_that_fall_away_are_taken_at_once() -> None:
    seen = History(DRAWING["swiss"](FOUR))
    seen.extend([Penalised("b1", 50)])
    assert seen.form.scores() == {"b0": 0, "b1": Fraction(-1, 2), "b2": 0, "b3": 0}
    seen.extend([Penalised("b1", 50), Shortened(1, 1, 1), Penalised("b1", 125)])
    assert (seen.form.scores()["b1"], seen.form.total) == (Fraction(-5, 4), 4)
    assert len(seen.taken) == 3
    seen.extend([Penalised("b1", 50), Shortened(1, 1, 1), Penalised("b1", 125), Shortened(2, 1, 1)])
    with pytest.raises(FormatError, match=r"^expected to shorten by at most 0 rounds, as"):
        seen.check(over=True)


def test_rounds_that_are_added_are_drawn() -> None:
    seen = History(DRAWING["swiss"](FOUR))
    assert seen.form.total == 8
    seen.extend([Extended(1, 1, 1)])
    assert seen.form.total == 12
    seen.extend([Extended(1, 1, 1), Extended(2, 1, 9)])
    with pytest.raises(FormatError, match=r"^expected to extend by at most 0 rounds, as"):
        seen.check(over=True)
