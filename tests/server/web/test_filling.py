"""A thread that fills documents: once for all who wait, and no process waits for it at its end."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from arena_server.web import filling
from arena_server.web.filling import Filling
from arena_server.web.shown_results import ShownResults


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ShownResults:
    monkeypatch.setattr(filling, "WAIT_S", None)
    return ShownResults(tmp_path / "arena.db")


def test_all_who_wait_share_a_filling_and_its_error(shown: ShownResults) -> None:
    asked: list[int] = []
    goes_on = threading.Event()

    def fill(_: ShownResults, number: int, pause: float) -> None:
        goes_on.wait()
        assert pause == filling.PAUSE
        assert threading.current_thread().daemon  # the end of a process joins all others
        asked.append(number)
        if number == 2:
            raise ValueError("two")

    documents = Filling("test", fill)

    async def ask() -> list[bool | BaseException]:
        waiting = asyncio.gather(
            *(documents.wait(shown, each) for each in (1, 1, 2, 2)), return_exceptions=True
        )
        asyncio.get_running_loop().call_later(0, goes_on.set)
        return await waiting

    found = asyncio.run(ask())
    assert (asked, found[:2], [str(each) for each in found[2:]]) == ([1, 2], [True, True], ["two", "two"])
    assert asyncio.run(documents.wait(shown, 3))
    assert asked == [1, 2, 3]


def test_a_loop_that_is_closed_meanwhile(shown: ShownResults, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on, began = threading.Event(), threading.Semaphore(0)

    def fill(*_: object) -> None:
        began.release()
        goes_on.wait()

    documents = Filling("test", fill)
    monkeypatch.setattr(filling, "WAIT_S", 0.0)
    assert not asyncio.run(documents.wait(shown, 1))
    began.acquire()
    goes_on.set()
    monkeypatch.setattr(filling, "WAIT_S", None)
    assert asyncio.run(documents.wait(shown, 2))
    assert asyncio.run(documents.wait(shown, 1))
