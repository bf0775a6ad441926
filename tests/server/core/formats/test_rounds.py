"""What every format that draws has to keep, whatever comes and goes."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arena_server.core.facts import Drawn, Walkover
from arena_server.core.formats import FORMATS
from arena_server.core.formats.base import PairingError
from arena_server.core.formats.roundrobin import RoundRobin
from arena_server.core.formats.rounds import Rounds
from arena_server.stats.results import PastGame
from arena_server.terms.formats import FormatError, Terms, WordOption

from .drawn import Field, disturb

DRAWING = {name: form for name, form in FORMATS.items() if issubclass(form, Rounds)}
drawing = pytest.mark.parametrize("name", DRAWING)
STEPS = st.text("ccceeeeeeeeewvxrgj", max_size=80)


def bots(count: int) -> tuple[str, ...]:
    return tuple(f"b{number}" for number in range(count))


def draw_terms(kind: type[Rounds], data: st.DataObject) -> Terms:
    """Terms that the format accepts."""
    names = bots(data.draw(st.integers(2, 9)))
    options: dict[str, int | str] = {}
    for key, option in kind.OPTIONS.items():
        if data.draw(st.booleans()):
            if isinstance(option, WordOption):
                options[key] = data.draw(st.sampled_from(option.words))
            else:
                options[key] = data.draw(st.integers(option.low, min(option.high, 4)))
    owners = {name: data.draw(st.sampled_from("xyz")) for name in names if data.draw(st.booleans())}
    terms = Terms(
        names,
        2,
        data.draw(st.integers(1, 4)),
        data.draw(st.booleans()),
        options,
        owners,
        data.draw(st.booleans()),
        data.draw(st.integers(0, 99)),
    )
    try:
        kind.check(terms)
    except FormatError:
        assume(False)
    return terms


@drawing
def test_every_contest_comes_to_its_end(name: str) -> None:
    """No round is left open, no bot plays two games at once, and a killed server goes on as it was."""

    @settings(deadline=None)
    @given(st.data(), STEPS, st.integers(0, 1 << 32))
    def holds(data: st.DataObject, steps: str, seed: int) -> None:
        terms = draw_terms(DRAWING[name], data)
        field = Field(DRAWING[name], terms, Random(seed))
        disturb(field, steps)
        field.finish()
        before = field.state()
        field.restart()
        assert field.state() == before
        numbers = [past.number for past in field.results]
        assert len(set(numbers)) == len(numbers)
        if not field.absent and not field.void:
            assert field.form.total == len(field.results)
            assert list(field.form.unplayed()) == []

    holds()


@drawing
def test_nothing_stands_still(name: str) -> None:
    """If no game runs and nothing is drawn, the contest is over or waits for a bot that may come."""

    @settings(deadline=None)
    @given(st.data(), STEPS, st.integers(0, 1 << 32))
    def holds(data: st.DataObject, steps: str, seed: int) -> None:
        field = Field(DRAWING[name], draw_terms(DRAWING[name], data), Random(seed))
        field.start()
        disturb(field, steps)
        if not field.running and not field.form.exhausted(field.absent):
            awaited = set(field.form.terms.names) - field.here - field.absent
            assert any(awaited & set(names) for names, _ in field.form.unplayed())

    holds()


@drawing
def test_a_deal_is_of_one_pair_of_games(name: str) -> None:
    """With fresh deals of one game; with paired ones of two, with the seats changed."""

    @settings(deadline=None)
    @given(st.data(), st.integers(0, 1 << 32))
    def holds(data: st.DataObject, seed: int) -> None:
        field = Field(DRAWING[name], draw_terms(DRAWING[name], data), Random(seed))
        field.finish()
        deals: dict[tuple[frozenset[str], int], list[tuple[str, ...]]] = {}
        for game in field.begun:
            deals.setdefault((frozenset(game.names), game.deal), []).append(game.names)
        for played in deals.values():
            assert len(set(played)) == len(played) <= (2 if field.terms.paired else 1)

    holds()


@drawing
def test_a_paired_deal_is_drawn_for_both_seats(name: str) -> None:
    form = DRAWING[name](Terms(bots(4), 2, 4, True))
    draw = form.draw_due(())
    assert draw is not None
    form.drawn(draw.run())
    deals: dict[tuple[frozenset[str], int], list[tuple[str, ...]]] = {}
    for pairing in form.planned(1, form.next_number):
        deals.setdefault((frozenset(pairing.names), pairing.deal), []).append(pairing.names)
    assert {(len(played), len(set(played))) for played in deals.values()} == {(2, 2)}


NAMES = bots(4)
FIRST = Drawn(1, 1, 2, (("b0", "b3"), ("b1", "b2")))


def begun(*facts: Drawn) -> Rounds:
    form = DRAWING["knockout"](Terms(NAMES, 2, 2))
    assert isinstance(form, Rounds)
    for fact in facts:
        form.drawn(fact)
    return form


@pytest.mark.parametrize(
    ("drawn", "text"),
    [
        (FIRST._replace(draw=2), "draw 2, from g1 on: expected draw 1, from g1 on"),
        (FIRST._replace(first=3), "draw 1, from g3 on: expected draw 1, from g1 on"),
        (FIRST._replace(games=0), "draw 1: expected groups of up to 2, with games"),
        (FIRST._replace(groups=(("b0", "b1", "b2"),)), "draw 1: expected groups of up to 2, with games"),
        (FIRST._replace(groups=(("b0", "b0"),)), "draw 1: expected every bot once, and none that is not of"),
        (FIRST._replace(groups=(("b0", "b9"),)), "draw 1: expected every bot once, and none that is not of"),
    ],
)
def test_a_draw_that_cannot_have_been_made_is_refused(drawn: Drawn, text: str) -> None:
    with pytest.raises(PairingError) as caught:
        begun().drawn(drawn)
    assert str(caught.value).startswith(text)


def test_a_game_that_was_not_drawn_is_refused() -> None:
    form = begun(FIRST)
    (game,) = form.planned(1, 2)
    for wrong, text in (
        (game.__class__(5, game.names, 5), "g5 is not a game of this contest"),
        (game.__class__(1, ("b3", "b0"), 1), "g1 was played by b3, b0 on deal 1, and the draw has b0, b3"),
        (game.__class__(1, game.names, 2), "g1 was played by b0, b3 on deal 2, and the draw has b0, b3 on"),
    ):
        with pytest.raises(PairingError) as caught:
            form.started(wrong)
        assert str(caught.value).startswith(text)
    form.started(game)
    with pytest.raises(PairingError, match=r"^g1 was started twice$"):
        form.started(game)
    with pytest.raises(PairingError, match=r"^g9 is not a game of this contest$"):
        form.void(9)


def test_a_game_of_an_earlier_round_is_not_played_again() -> None:
    form = begun(FIRST)
    assert form.may_repeat(1)
    for game in list(form.planned(1, 5)):
        form.started(game)
        form.result(PastGame(game.number, game.names, game.deal, (1, 0), "win", 1))
    draw = form.draw_due(())
    assert draw is not None
    assert not draw.slow
    form.drawn(Drawn(2, 5, 2, (("b0", "b1"),)))
    assert [form.may_repeat(number) for number in (1, 5)] == [False, True]
    form.walk_over(Walkover(2, ("b0",)))
    assert not form.may_repeat(5)


def test_a_walkover_of_a_round_that_was_not_drawn_is_refused() -> None:
    with pytest.raises(PairingError, match=r"^draw 2 of a walkover has not been made$"):
        begun(FIRST).walk_over(Walkover(2, ("b0",)))


def test_a_format_that_draws_nothing_refuses_both() -> None:
    form = RoundRobin(Terms(NAMES, 2, 2))
    assert (form.draw_due(()), form.walkover_due(()), form.scores(), form.may_repeat(1)) == (None,) * 3 + (
        True,
    )
    with pytest.raises(PairingError, match=r"^draw 1: round-robin draws nothing$"):
        form.drawn(FIRST)
    with pytest.raises(PairingError, match=r"^draw 1: round-robin draws nothing$"):
        form.walk_over(Walkover(1, ("b0",)))


@drawing
def test_what_no_contest_can_be_made_of(name: str) -> None:
    kind = DRAWING[name]
    for terms, text in (
        (
            Terms(bots(6), 3, 3),
            f'contest.format: expected a game of 2 seats for "{name}", got one of 3; a round',
        ),
        (
            Terms(bots(6), 2, 3, paired=True),
            'contest.games_per_pair: expected a multiple of 2 with deals = "pai',
        ),
        (Terms(bots(1), 2, 2), "bot: expected at least 2, for 2 seats, got 1"),
        (
            Terms(bots(4), 2, 2, options={"seeding": "age"}),
            "contest.seeding: expected one of file, lot, got 'age'",
        ),
    ):
        with pytest.raises(FormatError) as caught:
            kind(terms)
        assert str(caught.value).startswith(text)
