"""One search: limits and registers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from arena_engines.xo.gomoku import memory
from arena_engines.xo.gomoku.searcher import Limits, Searcher


def test_a_search_without_any_other_limit_is_stopped_by_its_time() -> None:
    searcher = Searcher(10)
    searcher.set_position([44], [55])
    assert 0 <= searcher.search(0, Limits(seconds=0.05)).cell < 100


class Impatient(Searcher):
    """A searcher whose alarms for one register ring at once, and never for the other."""

    register = memory.STOP

    @contextmanager
    def _alarm(self, seconds: float | None, register: int) -> Iterator[None]:
        if register == self.register:
            self._control[register] = 1
        yield


def test_a_search_stopped_at_once_answers_with_the_first_candidate() -> None:
    searcher = Impatient(10)
    searcher.set_position([44, 45, 46], [55, 3])
    assert searcher.search(1, Limits(seconds=3600)).cell in (43, 47)


def test_without_time_for_threats_the_search_goes_on() -> None:
    searcher = Impatient(10)
    searcher.register = memory.VCT_STOP
    searcher.set_position([44, 46], [55, 33])
    result = searcher.search(0, Limits(seconds=3600, depth=4))
    assert (result.depth, result.decided) == (4, False)
    assert searcher.vct(0) is None
    searcher.set_position([44, 45, 63, 73], [0, 9, 90, 99])
    assert searcher.vct(0) is not None, "the next search begins afresh"
