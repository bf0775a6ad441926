"""The right to begin contests: what begins at the same time shares it, and it is given up with the last."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from arena_server.errors import StoreError
from arena_server.host.begin_right import BeginRight


class Database:
    """Counts who has the right; `take` waits for `free`."""

    def __init__(self, *, error: str = "") -> None:
        self.taken = self.given_up = 0
        self.error = error
        self.free = asyncio.Event()

    @property
    def held(self) -> bool:
        return self.taken > self.given_up

    def take(self) -> Database:
        if self.error:
            raise StoreError(self.error)
        self.taken += 1
        return self

    def release(self) -> None:
        self.given_up += 1

    async def on_a_thread(self, take: Callable[[], object]) -> object:
        await self.free.wait()
        return take()


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Any:
    database = Database()
    monkeypatch.setattr(asyncio, "to_thread", database.on_a_thread)
    return database


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.asyncio
async def test_those_that_begin_at_once_share_it(database: Database) -> None:
    right = BeginRight(database.take)
    waits = []
    for _ in range(3):
        right.claim()
        waits.append(asyncio.ensure_future(right.wait()))
    await settle()
    assert not any(wait.done() for wait in waits)
    database.free.set()
    await asyncio.gather(*waits)
    assert database.taken == 1
    for _ in waits:
        assert database.held
        right.release()
    assert not database.held
    right.claim()
    await right.wait()
    assert (database.taken, database.held) == (2, True)
    right.release()
    assert database.given_up == 2


@pytest.mark.asyncio
async def test_one_that_is_held_is_not_taken_before_its_claim_is_given_up(database: Database) -> None:
    database.taken = 1
    right = BeginRight(database.take, database)
    right.claim()
    await right.wait()  # at once
    right.release()
    assert database.held
    right.claim()
    right.release()
    right.release()
    assert (database.taken, database.held) == (1, False)


@pytest.mark.asyncio
async def test_nobody_waits_any_more_when_it_comes(database: Database) -> None:
    right = BeginRight(database.take)
    right.claim()
    wait = asyncio.ensure_future(right.wait())
    await settle()
    wait.cancel()
    right.release()
    database.free.set()
    await settle()
    assert (database.taken, database.held) == (1, False)


@pytest.mark.asyncio
async def test_another_server_that_keeps_it_is_an_error_of_all_that_wait(database: Database) -> None:
    database.error = "another server"
    right = BeginRight(database.take)
    database.free.set()
    for _ in range(2):  # the second time it is asked for again
        right.claim()
        right.claim()
        ends = await asyncio.gather(right.wait(), right.wait(), return_exceptions=True)
        assert [str(end) for end in ends] == ["another server"] * 2
        right.release()
        right.release()
    database.error = ""
    right.claim()
    await right.wait()
    assert database.held
    right.release()


@pytest.mark.asyncio
async def test_where_there_is_no_other_server_it_is_there(database: Database) -> None:
    right = BeginRight()
    right.claim()
    await right.wait()
    right.release()
    assert database.taken == 0
