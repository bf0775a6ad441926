"""Who is recognised: the minds that an opponent may be, and what speaks for and against each."""

from __future__ import annotations

from arena_engines.xo.foretold.minds import Mind1970, budgets, minds_of
from arena_engines.xo.foretold.planner import Planner
from arena_engines.xo.foretold.suspects import Suspects
from arena_engines.xo.minimax import THRESHOLDS
from arena_engines.xo.modern.player import Thinker

from .xo_minds import SIZE, First, Last, Never, Slow, ticks


def told(suspects: Suspects) -> tuple[object, int, int] | None:
    """The likeliest mind, its hits, and how many turns it is unsure of."""
    likeliest = suspects.likeliest
    return likeliest and (likeliest.mind, likeliest.hits, len(likeliest.unsure))


def test_who_would_have_moved_otherwise_is_not_the_opponent() -> None:
    suspects = Suspects([First(), last := Last()], [], [], side=1)
    assert suspects.watch([44, 55, 45, 99, 46, 98], ticks(99)), "55 is an opening, the others are Last's"
    assert told(suspects) == (last, 2, 0)
    suspects.watch([44, 55, 45, 99, 46, 98, 47, 7], ticks(99))
    assert told(suspects) is None


def test_the_first_of_those_who_agree_is_the_likeliest() -> None:
    suspects = Suspects([first := First(), First()], [44, 45], [54, 55], side=0)
    assert suspects.watch([0, 99, 1, 98, 2], ticks(99))
    assert told(suspects) == (first, 3, 0)


def test_what_takes_long_to_tell_counts_neither_for_nor_against() -> None:
    suspects = Suspects([never := Never()], [44], [55], side=0)
    assert suspects.watch([7, 99, 9, 98], ticks(3))
    assert told(suspects) == (never, 0, 1), "it was asked once more about one of the two"
    assert Planner(Thinker(SIZE), never, 1, ticks(99)).plan([44], [55]) == ()
    assert Mind1970(SIZE, (6, 6, 6, 6, 10)).reply([44, 45, 54], [34, 35, 64], 0, 2) is None


def test_the_likeliest_is_asked_again_with_more_patience() -> None:
    suspects = Suspects([never := Never(), Slow()], [44], [55], side=0)
    assert suspects.watch([0, 99, 1, 98], ticks(4))
    assert told(suspects) == (never, 0, 2), "nobody has foretold anything"
    first = Suspects([Slow()], [44], [55], side=0)
    assert first.watch([0, 99, 1, 98, 2], ticks(99))
    assert told(first) is not None
    wrong = Suspects([Slow()], [44], [55], side=0)
    assert wrong.watch([0, 99, 5, 98, 2], ticks(99))
    assert told(wrong) is None


def test_who_there_was_no_time_to_ask_is_asked_the_next_time() -> None:
    suspects = Suspects([Last(), first := First()], [44], [55], side=0)
    moves = [0, 99, 1, 98]
    assert not suspects.watch(moves, ticks(2))
    assert told(suspects) == (first, 1, 0)
    assert suspects.follows(moves)
    assert suspects.watch(moves, ticks(1))
    assert told(suspects) == (first, 2, 0)
    assert not suspects.follows([0, 99, 2, 98])


def test_the_thresholds_of_the_minds_are_legal_and_the_papers_come_first() -> None:
    all_budgets = list(budgets())
    assert all_budgets[0] == THRESHOLDS
    assert len(set(all_budgets)) == len(all_budgets)
    for each in all_budgets:
        assert 2 <= len(each) <= 12
        assert list(each) == sorted(each)
        assert each[-1] == 10
    assert len(minds_of(SIZE)) == len(all_budgets)
