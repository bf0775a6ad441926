"""The bots of a contest that run in containers, as its host knows them.

    contest --SetFrozen--> ContainedBots --orders--> BotGroup.obey -> the container
    contest <--Thawed, BotUsage-- ContainedBots <--answers--

Orders and answers are JSON objects: `arena tournament` has the containers in another process than the host.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from arena_server.core.effects import SetFrozen
from arena_server.core.events import Thawed
from arena_server.core.log_events import GameOver, GameResumed, GameStarted, LogEvent
from arena_server.hosted import ContestObserver, HostedContest
from arena_server.launch.base import Answer, Order
from arena_server.logs import BotUsage

US_PER_MS = 1000
#: Seconds that the end of a contest waits for answers.
FINISH_S = 2.0


class ContainedBots(ContestObserver):
    """Has these bots of a contest frozen, thawed and measured (`interfaces.BotPlaces`).

    Make it before the contest starts. `order` sends an order to who runs them, `answered` takes the answer.
    """

    def __init__(self, hosted: HostedContest, bots: Collection[str], order: Callable[[Order], None]) -> None:
        self.bots = bots
        self._order = order
        self._feed = hosted.feed
        self._log = hosted.log
        hosted.places.append(self)
        hosted.observe(self)
        #: The players of the running games in containers, and what was measured when their games began.
        self._games: dict[str, list[tuple[str, int]]] = {}
        self._begun: dict[tuple[str, str], Mapping[str, Any]] = {}
        #: How many orders to measure have no answer.
        self._awaited = 0
        self._answered = asyncio.Event()

    def set_frozen(self, order: SetFrozen) -> None:
        bot, slot, frozen, number = order
        self._order({"freeze" if frozen else "thaw": bot, "slot": slot, "number": number})

    def happened(self, event: LogEvent) -> None:
        match event:
            case GameStarted(game, names, slots) | GameResumed(game, names, _, slots):
                players = zip(names, slots or (1,) * len(names), strict=True)
                self._games[game] = [each for each in players if each[0] in self.bots]
                self._measure(game)
            case GameOver(game) if game in self._games:
                self._measure(game)
                del self._games[game]

    def _measure(self, game: str) -> None:
        for bot, slot in self._games[game]:
            self._awaited += 1
            self._order({"measure": bot, "slot": slot, "game": game})

    async def finish(self) -> None:
        """Wait for what was measured of the last games, for a short time: the log has it, nothing else."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FINISH_S):
                while self._awaited > 0:
                    self._answered.clear()
                    await self._answered.wait()

    def answered(self, answer: Answer) -> None:
        """Who runs the bots has carried out an order."""
        match answer:
            case {"thawed": str(bot), "slot": int(slot), "number": int(number)}:
                self._feed(Thawed(bot, slot, number))
            case {"measured": str(bot), "slot": int(slot), "game": str(game)}:
                self._awaited -= 1
                self._answered.set()
                self._measured(game, bot, slot, answer)

    def _measured(self, game: str, bot: str, slot: int, now: Mapping[str, Any]) -> None:
        """The first answer of a game is that of its begin, the second that of its end."""
        if (begun := self._begun.pop((game, bot), None)) is None:
            if game in self._games:
                self._begun[game, bot] = now
            return
        # Another container began at 0 meanwhile; None: it did not run, or its machine does not say.
        if now["run"] is None or now["run"] != begun["run"]:
            return
        used, throttled, pressure = (
            None if now[key] is None or begun[key] is None else (now[key] - begun[key]) // US_PER_MS
            for key in ("used", "throttled", "pressure")
        )
        self._log(BotUsage(game, bot, slot, used, throttled, pressure))
