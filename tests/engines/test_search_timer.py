"""The call that stops a search: at its time, and never after the block."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from arena_engines import search_timer
from arena_engines.search_timer import SearchTimer

PATIENCE_S = 150


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """The threads that were to be started: they get no core until the test calls them."""
    waiting: list[Callable[[], None]] = []

    def start(run: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        waiting.append(lambda: run(*arguments))

    monkeypatch.setattr(search_timer, "start_new_thread", start)
    return waiting


def test_the_function_is_called_in_another_thread() -> None:
    callers: list[int] = []
    called = threading.Event()

    def call() -> None:
        callers.append(threading.get_ident())
        called.set()

    with SearchTimer(0.001, call):
        assert called.wait(PATIENCE_S)
    assert callers != [threading.get_ident()]


def test_a_block_begins_before_its_thread_has_a_core(threads: list[Callable[[], None]]) -> None:
    called: list[bool] = []
    with SearchTimer(0, lambda: called.append(True)):
        (late,) = threads
        assert called == []
        late()
        assert called == [True]


def test_nothing_is_called_after_the_block(threads: list[Callable[[], None]]) -> None:
    called: list[bool] = []
    with SearchTimer(0, lambda: called.append(True)):
        pass
    (late,) = threads
    late()
    assert called == []


def test_the_time_counts_from_the_beginning_of_the_block(
    threads: list[Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread gets its core an hour later, and then waits no more."""
    seconds = [0.0]
    monkeypatch.setattr(search_timer, "perf_counter", lambda: seconds[0])
    called: list[bool] = []
    with SearchTimer(3600, lambda: called.append(True)):
        seconds[0] = 3600.0
        threads[0]()
        assert called == [True]
