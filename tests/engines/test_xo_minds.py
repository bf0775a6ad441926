"""Who is recognised: the minds that an opponent may be, and what speaks for and against each."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from arena_engines.xo.foretold import minds
from arena_engines.xo.foretold.experience import FORETOLD, Experience
from arena_engines.xo.foretold.minds import (
    LIMITS,
    Memory,
    Mind,
    Mind1970,
    Told,
    budgets,
    late_budgets,
    minds_of,
    reserve_budgets,
    reserve_of,
)
from arena_engines.xo.foretold.suspects import (
    PATIENCE,
    QUICK,
    RIGHT_BY_CHANCE,
    UNLIKELY,
    Suspect,
    Suspects,
    Turn,
)
from arena_engines.xo.minimax import NODE_LIMIT, THRESHOLDS
from arena_engines.xo.swift.player import Swift1970

from .xo_minds import SIZE, First, Last, Never, Slow, ticks


def told(suspects: Suspects) -> tuple[object, int, list[int]] | None:
    """The likeliest mind, its hits, and how many turns it is unsure of, by the patience."""
    likeliest = suspects.likeliest
    return likeliest and (likeliest.mind, likeliest.hits, [len(turns) for turns in likeliest.unsure])


def test_who_would_have_moved_otherwise_is_not_the_opponent() -> None:
    suspects = Suspects([First(), last := Last()], [], [], side=1)
    assert suspects.watch([44, 55, 45, 99, 46, 98], ticks(99)), "55 is an opening, the others are Last's"
    assert told(suspects) == (last, 2, [0, 0, 0, 0])
    suspects.watch([44, 55, 45, 99, 46, 98, 47, 7], ticks(99))
    assert told(suspects) is None


def test_the_first_of_those_who_agree_is_the_likeliest() -> None:
    suspects = Suspects([first := First(), First()], [44, 45], [54, 55], side=0)
    assert suspects.watch([0, 99, 1, 98, 2], ticks(99))
    assert told(suspects) == (first, 3, [0, 0, 0, 0])


def test_who_was_likelier_before_the_game_is_likelier_while_nothing_speaks_against_it() -> None:
    suspects = Suspects([First(), heavy := First()], [44, 45], [54, 55], 0, [0.1, 0.9])
    assert suspects.watch([0, 99, 1], ticks(99))
    assert told(suspects) == (heavy, 2, [0, 0, 0, 0])


def test_what_could_never_be_told_makes_it_the_less_likely_the_more_it_is() -> None:
    suspects = Suspects([never := Never()], [44], [55], side=0)
    assert suspects.watch([7, 99, 9, 98], ticks(99))
    assert told(suspects) == (never, 0, [0, 0, 0, 2]), "it was asked with all the patience there is"
    assert suspects.likeliest is not None
    assert suspects.likeliest.belief == RIGHT_BY_CHANCE**2
    both = Suspects([Never(), first := First()], [44], [55], side=0)
    assert both.watch([0, 99, 1, 98], ticks(99))
    assert told(both) == (first, 2, [0, 0, 0, 0])


def test_with_too_little_patience_a_mind_does_not_tell() -> None:
    mind = Mind1970(SIZE, (6, 6, 6, 6, 10))
    assert mind.reply([44, 45, 54], [34, 35, 64], 0, 2) is None
    assert mind.reply([44, 45, 54], [34, 35, 64], 0, 99_999) is not None


class Thinking(Mind1970):
    """A mind that counts how often it must think."""

    thought = 0

    def _ask(self, x: Sequence[int], o: Sequence[int], side: int, patience: int) -> int | None:
        self.thought += 1
        return super()._ask(x, o, side, patience)


def test_what_a_mind_has_told_it_does_not_think_about_again() -> None:
    mind = Thinking(SIZE, (6, 6, 6, 6, 10))
    x, o = [44, 45, 54], [34, 35, 64]
    assert [mind.reply(x, o, 0, patience) for patience in (2, 2, 1)] == [None] * 3
    assert mind.thought == 1
    cells = {mind.reply(x, o, 0, 99_999), mind.reply(x[::-1], o, 0, 99_999), mind.reply(x, o, 0, 2)}
    assert (len(cells), mind.thought) == (1, 2), "what is told is told, however little the patience"
    assert mind.reply([44, 45, 55], o, 0, 2) is None
    assert mind.thought == 3


def test_with_all_patience_a_mind_tells_what_the_program_makes_do_with() -> None:
    widest, x, o = (1, 1, 1, 1, 1, 1, 10), [44, 45, 54], [34, 35, 64]
    mind, program = Mind1970(SIZE, widest), Swift1970(SIZE, widest)
    assert mind.reply(x, o, 0, NODE_LIMIT - 1) is None
    assert mind.reply(x, o, 0, NODE_LIMIT) == program.reply(x, o, 0)
    assert program.nodes >= NODE_LIMIT


def test_a_memory_forgets_the_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minds, "KEPT", 2)
    memory, told = Memory(), Told(7, 100)
    for position in (1, 2, 3):
        assert memory.keep("mind", position, 0, told) == told
    kept = [memory.told("mind", position, 0, 100) for position in (1, 2, 3)]
    assert kept == [None, told, told]
    assert memory.told("another", 3, 0, 100) is None


class Counting(Never):
    """A mind that never can tell, and counts with how much patience it was asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def reply(self, x: Sequence[int], o: Sequence[int], side: int, patience: int = 0) -> int | None:
        self.asked.append(patience)
        return None


def test_who_could_not_tell_is_asked_with_ever_more_patience() -> None:
    suspects = Suspects([mind := Counting()], [44], [55], side=0)
    assert suspects.watch([0], ticks(99))
    assert tuple(mind.asked) == PATIENCE
    assert suspects.watch([0, 99, 1], ticks(99))
    assert tuple(mind.asked) == 2 * PATIENCE, "what it could not tell with all patience it is not asked again"


@pytest.mark.parametrize(
    ("time", "asked"),
    [(3, [1, 1, 1]), (5, [1, 3, 1]), (6, [1, 4, 1]), (7, [1, 4, 2]), (9, [1, 4, 4]), (10, [2, 4, 4])],
)
def test_the_likeliest_is_asked_about_everything_and_then_the_others_by_their_price(
    time: int, asked: list[int]
) -> None:
    minds = [Counting(), Counting(), Counting()]
    suspects = Suspects(minds, [44], [55], 0, [0.001, 0.5, 0.3])
    suspects.watch([0], ticks(time))
    assert [len(mind.asked) for mind in minds] == asked


@pytest.mark.parametrize(("weights", "asked"), [([0.9, 0.1], 1), ([0.5, 0.5], len(PATIENCE))])
def test_where_the_likeliest_leaves_no_doubt_nobody_is_asked_again(weights: list[float], asked: int) -> None:
    suspects = Suspects([First(), other := Counting()], [44], [55], 0, weights)
    assert suspects.watch([0], ticks(99))
    assert len(other.asked) == asked


def test_who_takes_long_and_was_wrong_is_out_all_the_same() -> None:
    right = Suspects([slow := Slow()], [44], [55], side=0)
    assert right.watch([0, 99, 1, 98, 2], ticks(99))
    assert told(right) == (slow, 3, [0, 0, 0, 0])
    wrong = Suspects([Slow()], [44], [55], side=0)
    assert wrong.watch([0, 99, 5, 98, 2], ticks(99))
    assert told(wrong) is None


def test_a_suspect_with_nothing_left_to_tell_has_no_price() -> None:
    suspect = Suspect(Slow(), 0, 0.5)
    assert suspect.price == float("inf")
    suspect.ask(Turn((44,), (55,), 0))
    assert suspect.price == PATIENCE[1] / (0.5 * RIGHT_BY_CHANCE)
    suspect.ask_again()
    assert (suspect.price, suspect.belief, suspect.hits) == (float("inf"), 0.5, 1)
    assert PATIENCE[0] == QUICK


def test_who_there_was_no_time_to_ask_is_asked_the_next_time() -> None:
    suspects = Suspects([Last(), first := First()], [44], [55], side=0)
    moves = [0, 99, 1, 98]
    assert not suspects.watch(moves, ticks(2))
    assert told(suspects) == (first, 1, [0, 0, 0, 0])
    assert suspects.follows(moves)
    assert suspects.watch(moves, ticks(1))
    assert told(suspects) == (first, 2, [0, 0, 0, 0])
    assert not suspects.follows([0, 99, 2, 98])


def test_the_thresholds_of_the_minds_are_legal_and_the_papers_come_first() -> None:
    all_budgets = list(budgets())
    assert all_budgets[0] == THRESHOLDS
    assert len(set(all_budgets)) == len(all_budgets)
    for each in all_budgets:
        assert 2 <= len(each) <= 12
        assert list(each) == sorted(each)
        assert each[-1] == 10
    each_one: list[Mind] = minds_of(SIZE, Memory())
    assert len(each_one) == len(all_budgets)


def test_the_thresholds_of_the_reserve_are_legal_and_all_begin_lower() -> None:
    reserve = reserve_budgets()
    assert len({*reserve, *budgets()}) == len(reserve) + len(budgets())
    for each in reserve:
        assert 2 <= len(each) <= 12
        assert list(each) == sorted(each)
        assert (each[0], each[-1]) == (5, 10)
    every = reserve_of(SIZE, Memory())
    assert len(every) == len(reserve) + len(late_budgets()) + len(LIMITS) * len(budgets())


def test_late_thresholds_are_legal_and_no_others() -> None:
    late = late_budgets()
    assert not {*late} & {*budgets(), *reserve_budgets()}
    assert len({*late}) == len(late)
    for each in late:
        assert len(each) <= 12
        assert list(each) == sorted(each)
        assert (each[-2], each[-1]) == (9, 10)
    assert (6, 7, 7, 9, 9, 10) in late


@pytest.mark.parametrize("games", [0, 1])
def test_only_the_reserve_is_unlikely_before_a_game(games: int) -> None:
    experience = Experience(minds_of(SIZE, Memory()), reserve_of(SIZE, Memory()))
    for _ in range(games):
        known = Suspect(experience.minds[7], 0)
        known.hits = FORETOLD
        experience.learn([known])
    unlikely = [weight < UNLIKELY for weight in experience.weights]
    assert unlikely == [False] * len(budgets()) + [True] * (len(unlikely) - len(budgets()))


@pytest.mark.parametrize("limit", LIMITS)
def test_a_mind_with_a_limit_is_the_program_with_it(limit: int) -> None:
    widest, x, o = (1, 1, 1, 1, 1, 1, 10), [44, 45, 54], [34, 35, 64]
    mind, program = Mind1970(SIZE, widest, limit=limit), Swift1970(SIZE, widest, limit)
    assert mind.reply(x, o, 0, limit - 1) is None
    assert mind.reply(x, o, 0, limit) == program.reply(x, o, 0)


def test_the_reserve_is_asked_when_nobody_else_has_told_half_of_the_moves() -> None:
    reserve = First()
    suspects = Suspects([Last(), reserve], [44], [55], 0, [1, UNLIKELY / 2])
    assert suspects.watch([99], ticks(99))
    assert told(suspects) is not None
    assert suspects.likeliest is not None
    assert suspects.likeliest.mind is not reserve
    assert suspects.watch([99, 98, 0], ticks(99))
    assert told(suspects) is None, "99 was not foretold by the reserve"
    right = Suspects([Never(), reserve], [44], [55], 0, [1, UNLIKELY / 2])
    assert right.watch([0], ticks(99))
    assert [suspect.mind for suspect in right.left][1:] == [reserve]
    assert right.left[1].hits == 1
