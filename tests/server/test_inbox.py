"""The inbox gives the writer what there is in order, a few groups at a time, and comes again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest

from arena_protocol.record import GameRecord
from arena_server.core.journal import Entry
from arena_server.store.writer import GROUPS, Inbox, Writer

from .records import game

pytestmark = pytest.mark.asyncio


class Scripted:
    """A writer that refuses as often as its script says."""

    def __init__(self, refusals: int = 0) -> None:
        self.refusals = refusals
        self.taken: list[object] = []

    def journal(self, groups: Sequence[tuple[Entry, ...]]) -> bool:
        self.refusals -= 1
        if self.refusals >= 0:
            return False
        self.taken.append([number for group in groups for (number, *_) in group])
        return True

    def put(self, game_id: str, record: GameRecord) -> None:
        self.taken.append(game_id)


def entry(number: int) -> tuple[Entry, ...]:
    return ((number, "offer", 0),)


def before(writer: Scripted) -> Inbox:
    return Inbox(cast(Writer, writer), asyncio.get_running_loop())


async def until_taken(writer: Scripted, items: int) -> None:
    async with asyncio.timeout(20):
        while len(writer.taken) < items:
            await asyncio.sleep(0)


async def test_what_one_turn_of_the_loop_brings_is_given_together() -> None:
    writer = Scripted()
    here = before(writer)
    for number in range(1, 4):
        here.journal(entry(number))
    assert writer.taken == []
    await until_taken(writer, 1)
    assert writer.taken == [[1, 2, 3]]


async def test_a_long_turn_is_given_in_parts() -> None:
    writer = Scripted()
    here = before(writer)
    for number in range(1, GROUPS + 3):
        here.journal(entry(number))
    assert writer.taken == [list(range(1, GROUPS + 1))]
    await until_taken(writer, 2)
    assert writer.taken[1] == [GROUPS + 1, GROUPS + 2]


async def test_a_record_goes_behind_its_entries_and_ahead_of_later_ones() -> None:
    writer = Scripted()
    here = before(writer)
    here.journal(entry(1))
    here.store("g1", game(1))
    here.journal(entry(2))
    await until_taken(writer, 3)
    assert writer.taken == [[1], "g1", [2]]


async def test_what_is_refused_keeps_its_place() -> None:
    writer = Scripted(refusals=3)
    here = before(writer)
    here.journal(entry(1))
    here.store("g1", game(1))
    for number in range(2, GROUPS + 4):
        here.journal(entry(number))
    await until_taken(writer, 3)
    assert writer.taken == [[1], "g1", list(range(2, GROUPS + 4))]


async def test_what_comes_while_it_gives_is_given_next() -> None:
    """As when word that something is durable leads to a game's end at once."""

    class Answering(Scripted):
        def journal(self, groups: Sequence[tuple[Entry, ...]]) -> bool:
            taken = super().journal(groups)
            if len(self.taken) == 1:
                here.journal(entry(2))
                here.store("g1", game(1))
                here.journal(entry(3))
            return taken

    writer = Answering()
    here = before(writer)
    here.journal(entry(1))
    await until_taken(writer, 4)
    assert writer.taken == [[1], [2], "g1", [3]]
