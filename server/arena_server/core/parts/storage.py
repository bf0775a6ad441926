"""Bytes that a bot keeps in the contest: a few KiB for each name, over restarts of program and server.

    STORE without a game   kept at once
    STORE game=g7          staged, and kept when the result of g7 is durable; a void game leaves all as it was
    a worker's result      as a STORE with this game of each bot that has stored there

Both are facts before anything that follows is sent. The bot gets what is kept with WELCOME.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.messages import Keep
from arena_server.core.events import Event, HandIn
from arena_server.core.facts import ContestFact, Kept, Staged
from arena_server.core.games import GameManager
from arena_server.core.login import StoredBytes
from arena_server.core.news import Begins, Brought, Counted, News, Stores
from arena_server.core.parts.part import Part, bot_of_fact
from arena_server.core.peers import Bot, Outbox, Slot


class _Coming(NamedTuple):
    """The parts that a slot has sent so far, for a game or 0, of `size` bytes."""

    game: int
    size: int
    data: bytes


class Storage(Part):
    """The stored bytes of the bots of one contest."""

    def __init__(self, stored: StoredBytes, bots: Mapping[str, Bot], games: GameManager, out: Outbox) -> None:
        self._stored = stored
        self._bots = bots
        self._games = games
        self._out = out
        self._coming: dict[int, _Coming] = {}
        #: What waits for the result of its game, by the key of the slot.
        self._staged: dict[int, Staged] = {}

    # -- what is asked of a `Part`

    def take(self, event: Event | News, now: int) -> bool:
        match event:
            case Stores(slot, message):
                self._store(slot, message)
                return True
            case Brought():
                self._take_from_worker(event)
            case HandIn(stored):
                for name, data in stored.items():
                    self._keep(name, data)
                return True
            case Counted(game):
                self._keep_staged(game.number)
            case Begins():
                # The server was killed between a result and what it lets be kept.
                for number in sorted({each.game for each in self._staged.values()}):
                    if self._games.fixtures.has_result(number):
                        self._keep_staged(number)
        return False

    def restore(self, fact: ContestFact) -> bool:
        match fact:
            case Kept(name, data):
                self._stored.by_name[bot_of_fact(self._bots, name).name] = data
            case Staged(slot, name, game, _):
                bot_of_fact(self._bots, name)
                if game:
                    self._staged[slot] = fact
            case _:
                return False
        return True

    # -- what a bot sends

    def _store(self, slot: Slot, message: Keep) -> None:
        live = slot.game
        if message.game is None:
            number = 0
        elif live is not None and live.counts and live.game_id == message.game:
            number = live.number
        else:
            return  # it came late, as a note does; a validation game has no result that counts
        try:
            data = self._joined(slot, number, message)
        except ProtocolError as problem:
            self._coming.pop(slot.key, None)
            if slot.peer is not None:
                self._out.error(slot.peer, problem)
            return
        if data is None:
            return
        # A result may be durable before a seat that reads slowly has its OVER.
        if not number or self._games.fixtures.has_result(number):
            self._keep(slot.name, data)
        else:
            self._stage(Staged(slot.key, slot.name, number, data))

    def _joined(self, slot: Slot, number: int, message: Keep) -> bytes | None:
        """All bytes, if these are the last of them. Raises ProtocolError."""
        quota, begin = self._stored.quota, message.at or 0
        if message.size > quota:
            raise ProtocolError(
                ErrorCode.TOO_LONG, f"a bot may store {quota} bytes at most, not {message.size}"
            )
        before = self._coming.get(slot.key, _Coming(number, message.size, b""))
        if begin == 0:
            before = _Coming(number, message.size, b"")
        data = before.data + message.data
        follows = (before.game, before.size, len(before.data)) == (number, message.size, begin)
        if not follows or len(data) > message.size:
            raise ProtocolError(
                ErrorCode.UNEXPECTED, "STORE: the parts do not follow each other; begin again"
            )
        if len(data) < message.size:
            self._coming[slot.key] = before._replace(data=data)
            return None
        self._coming.pop(slot.key, None)
        return data

    def _take_from_worker(self, brought: Brought) -> None:
        live = brought.live
        for slot in live.seated:
            data = brought.stored.get(slot.name)
            if data is not None:
                self._stage(Staged(slot.key, slot.name, live.number, data))
            elif (staged := self._staged.get(slot.key)) is not None:
                self._drop(staged)  # of a result that was lost before it was durable, or of a void game

    # -- what is kept

    def _keep(self, name: str, data: bytes) -> None:
        self._stored.by_name[name] = data
        self._out.fact(Kept(name, data))

    def _stage(self, staged: Staged) -> None:
        self._staged[staged.slot] = staged
        self._out.fact(staged)

    def _keep_staged(self, number: int) -> None:
        """Game `number` has a durable result."""
        for staged in [each for each in self._staged.values() if each.game == number]:
            self._keep(staged.name, staged.data)
            # Else a restart would keep it once more, over what was kept since.
            self._drop(staged)

    def _drop(self, staged: Staged) -> None:
        del self._staged[staged.slot]
        self._out.fact(staged._replace(game=0, data=b""))
