"""The encounters of a draw: which draws, games and walkovers cannot have been, and what is played again."""

from __future__ import annotations

import pytest
from tests.slices import all_of

from arena_server.core.facts import Drawn, Walkover
from arena_server.core.formats.base import PairingError
from arena_server.core.formats.knockout import Knockout
from arena_server.core.formats.rounds import Rounds
from arena_server.stats.results import PastGame
from arena_server.terms.formats import Terms

NAMES = ("b0", "b1", "b2", "b3")
FIRST = Drawn(1, 1, 2, (("b0", "b3"), ("b1", "b2")))


def begun(*facts: Drawn) -> Rounds:
    form = Knockout(Terms(NAMES, 2, 2))
    for fact in facts:
        form.drawn(fact)
    return form


@all_of(
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


def test_a_void_game_that_is_played_again_is_not_open() -> None:
    """A server that starts learns of the repeat first, and then that both games were handed out."""
    form = begun(FIRST)
    void, *_ = form.planned(1, 2)
    form.void(1)
    form.again(void.__class__(5, void.names, 5), 1)
    form.started(void)
    (encounter,) = (each for each in form.draws.last if each.names == void.names)
    assert (encounter.open, encounter.void) == (set(), set())
    assert encounter.begun


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
