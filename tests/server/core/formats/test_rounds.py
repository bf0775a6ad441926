"""What every format that draws has to keep, whatever comes and goes."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.slices import all_of

from arena_server.core.facts import Walkover
from arena_server.core.formats import FORMATS, doubt_of
from arena_server.core.formats.base import LateEntry, PairingError
from arena_server.core.formats.roundrobin import RoundRobin
from arena_server.core.formats.rounds import Rounds
from arena_server.terms.config import ContestConfig
from arena_server.terms.formats import (
    FlagOption,
    FormatError,
    GroupsOption,
    OptionValue,
    Terms,
    TextOption,
    WordOption,
)

from .drawn import Field, disturb
from .test_encounters import FIRST, NAMES

DRAWING = {name: form for name, form in FORMATS.items() if issubclass(form, Rounds)}
drawing = pytest.mark.parametrize("name", DRAWING)
#: Values of `tie`, the only text.
TIES = ("", "seed", "points", "points,extra", "extra:2,sudden-death:2,seed", "sudden-death:3")
STEPS = st.text("ccceeeeeeeeewvxrgj", max_size=80)


def bots(count: int) -> tuple[str, ...]:
    return tuple(f"b{number}" for number in range(count))


def draw_terms(kind: type[Rounds], data: st.DataObject) -> Terms:
    """Terms that the format accepts."""
    names = bots(data.draw(st.integers(2, 9)))
    options: dict[str, OptionValue] = {}
    for key, option in kind.OPTIONS.items():
        if data.draw(st.booleans()):
            if isinstance(option, WordOption):
                options[key] = data.draw(st.sampled_from(option.words))
            elif isinstance(option, FlagOption):
                options[key] = data.draw(st.booleans())
            elif isinstance(option, TextOption):
                options[key] = data.draw(st.sampled_from(TIES))
            elif isinstance(option, GroupsOption):
                pairs = st.lists(st.sampled_from(names), min_size=2, max_size=2, unique=True)
                options[key] = data.draw(st.lists(pairs, max_size=3))
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
        if not field.absent and not field.void and not field.form.draws.is_short:
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


def test_a_format_that_draws_nothing_refuses_both() -> None:
    form = RoundRobin(Terms(NAMES, 2, 2))
    assert (form.draw_due(()), form.walkover_due(()), form.scores(), form.may_repeat(1)) == (None,) * 3 + (
        True,
    )
    with pytest.raises(PairingError, match=r"^draw 1: round-robin draws nothing$"):
        form.drawn(FIRST)
    with pytest.raises(PairingError, match=r"^draw 1: round-robin draws nothing$"):
        form.walk_over(Walkover(1, ("b0",)))


@all_of("name", FORMATS)
def test_a_format_of_which_it_is_known_how_long_it_is_can_be_resized(name: str) -> None:
    """What an order changes is `length`; without one there is nothing that `resize` could change."""
    options: dict[str, OptionValue] = {"games": 20} if name == "ladder" else {}
    form = FORMATS[name](Terms(NAMES, 2, 4, options=options))
    if FORMATS[name].length is LateEntry.length:
        with pytest.raises(FormatError, match=f'^contest.format: "{name}" cannot be extended or shortened$'):
            form.shorten(2)
        with pytest.raises(NotImplementedError):
            form.resize(2)
    else:
        length, before = form.length, form.total
        form.resize(length.now)
        assert (form.length, form.total) == (length, before)


@drawing
def test_a_format_that_draws_says_what_its_scores_count_and_what_was_not_played(name: str) -> None:
    """Games that rounds did without are known in a Swiss alone; tie-breaks of the others count none."""
    field = Field(DRAWING[name], Terms(NAMES, 2, 2), Random(1))
    field.finish()
    assert field.form.ranked_by == DRAWING[name].RANKED_BY
    assert field.form.scores().keys() == {*NAMES}
    not_played = field.form.not_played()
    assert not_played == ({each: [] for each in NAMES} if name == "swiss" else {})


@all_of("name", FORMATS)
def test_of_a_contest_without_rules_who_may_meet_there_is_no_doubt(name: str) -> None:
    config = ContestConfig(name="c", seed=1, format=name, games_per_pair=2)
    assert doubt_of(config, NAMES, 2) == ""


def test_a_contest_in_which_no_two_may_meet_is_doubted() -> None:
    config = ContestConfig(
        name="c",
        seed=1,
        format="swiss",
        games_per_pair=2,
        format_options={"same_owner": "never"},
        owners=dict.fromkeys(NAMES, "x"),
    )
    assert " rounds cannot be promised where no two bots of one owner meet; " in doubt_of(config, NAMES, 2)


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
