"""A program that does not play stands still, so that it costs those that play nothing.

    it rests -> nothing is sent to it for IDLE_S -> frozen
    a container: the referee sends -> thawed, then passed on
    a process: its game begins, or its connection ends -> goes on; nothing else that it has to answer comes
    it plays -> it runs, whatever comes; `ponder = "off"` is not decided here

A game begins with GAME, which a bot may answer within 30 s while no clock runs: it does not pay for thawing.
`frozen_bots.py` decides who rests.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Final

#: What a program may compute after its game, for example to keep what it has learned, in seconds.
IDLE_S: Final = 5.0


class Rests(ABC):
    """A program that can stand still by itself while it does not play."""

    # No protocol that is checked at run time: to ask that of a program took 0.3 ms of each game.

    __slots__ = ()

    @abstractmethod
    async def set_resting(self, resting: bool) -> None:
        """It does not play from now on, or it does."""


class IdleFreezer:
    """Freezes and thaws one program by `set_frozen`, which obeys one order after the other."""

    def __init__(self, set_frozen: Callable[[bool], Awaitable[None]]) -> None:
        self._set_frozen = set_frozen
        self._resting = self._frozen = self._closed = False
        #: One order after the other.
        self._orders = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._freezing: asyncio.Future[None] | None = None

    async def set_resting(self, resting: bool) -> None:
        self._resting = resting
        await self.wake()

    async def wake(self) -> None:
        """The program has something to do: it runs when this returns."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._resting and not self._closed:
            self._timer = asyncio.get_running_loop().call_later(IDLE_S, self._freeze)
        async with self._orders:
            if self._frozen:
                self._frozen = False
                await self._set_frozen(False)

    def close(self) -> None:
        """Freeze it no more."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()

    def _freeze(self) -> None:
        self._timer = None
        # Held here: the loop knows a task weakly.
        self._freezing = asyncio.ensure_future(self._stand_still())

    async def _stand_still(self) -> None:
        async with self._orders:
            # It may have been woken since the time was over.
            if self._resting and self._timer is None and not self._closed:
                self._frozen = True
                await self._set_frozen(True)
