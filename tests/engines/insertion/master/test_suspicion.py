"""The odds that the opponent is a zombie: what proves it, what does not, and what ends all suspicion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_engines.engine import Engine
from arena_engines.insertion.baselines import Dummy, Random
from arena_engines.insertion.champion import Champion
from arena_engines.insertion.master.suspicion import AT_FIRST, LATER, LEAST, Suspicion

from ....slices import rows
from .games import followed, positions

CHANCES = st.floats(0.001, 1.0)


def after(*moves: tuple[bool, float], is_known: bool = False) -> Suspicion:
    suspicion = Suspicion(is_known=is_known)
    for is_six, chosen in moves:
        suspicion.note(is_six=is_six, chosen=chosen)
    return suspicion


@given(st.lists(CHANCES, max_size=8), st.booleans())
def test_the_odds_are_those_of_all_sixes_by_bayes(chances: list[float], is_known: bool) -> None:
    odds = LATER if is_known else AT_FIRST
    for chance in chances:
        odds *= 1 / chance
    found = after(*[(True, chance) for chance in chances], is_known=is_known)
    assert found.odds == pytest.approx(odds)
    assert found.is_likely == (found.odds >= 1)


@given(st.lists(st.tuples(st.booleans(), CHANCES)), CHANCES)
def test_any_other_move_ends_the_suspicion(moves: list[tuple[bool, float]], chance: float) -> None:
    assert after(*moves, (False, chance)).odds == LATER


def test_an_expected_six_proves_nothing_and_an_impossible_one_not_more_than_another() -> None:
    assert not after(*[(True, 1.0)] * 100).is_likely
    assert after((True, 0.0)).odds == after((True, LEAST)).odds


def test_a_zombie_is_seen_at_once_if_no_model_expects_its_first_six() -> None:
    seen = positions(Dummy())
    assert [followed(seen[:count]).alone for count in (1, 2, 3)] == [False, True, True]
    assert not followed(seen[:20], sixes=0).alone


@pytest.mark.parametrize(
    ("opponent", "plies"),
    rows([(Random({"seed": 3}), 40), (Champion({"depth": 4, "strategy": "spoiling"}), 60)], 1),
)
def test_a_living_opponent_that_plays_a_six_is_none(opponent: Engine, plies: int) -> None:
    seen = positions(opponent, plies=plies)
    sixes = [count for count, each in enumerate(seen, start=1) if each.moves and each.moves[-1] == "6"]
    assert sixes
    assert not any(followed(seen[:count]).alone for count in sixes)
