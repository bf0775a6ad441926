"""The bots of a contest that run in containers, as its host knows them.

    contest --SetFrozen, games, log-ins-----> ContainedBots --orders--> BotGroup.obey -> the container
    contest <--Thawed, UsageRecord----------- ContainedBots <--answers--

Orders and answers are JSON objects: `arena tournament` has the containers in another process than the host.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress

from arena_protocol.record import UsageRecord
from arena_server.core.effects import SetFrozen
from arena_server.core.events import Thawed
from arena_server.core.log_events import (
    BotValidated,
    GameOver,
    GameResumed,
    GameStarted,
    LogEvent,
    LoggedIn,
    ValidationFailed,
    ValidationStarted,
)
from arena_server.host.log_events import BotUsage
from arena_server.host.observers import BotPlaces, Errand, ObservedContest
from arena_server.places.base import Answer, Order

US_PER_MS = 1000
#: Seconds that the record of a game waits for what its bots used.
MEASURE_S = 2.0


class ContainedBots(BotPlaces):
    """Has these bots of a contest frozen, thawed and measured, and let stand still while they do not play.

    Make it before the contest starts. `order` sends an order to who runs them, `answered` takes the answer.
    """

    def __init__(
        self, contest: ObservedContest, bots: Collection[str], order: Callable[[Order], None]
    ) -> None:
        self.bots = bots
        self._order = order
        self._feed = contest.feed
        self._log = contest.log
        contest.attach(self)
        #: The players of the running games in containers by their seats, and what was measured when their
        #: games began.
        self._games: dict[str, dict[int, tuple[str, int]]] = {}
        self._begun: dict[tuple[str, str], Answer] = {}
        #: The programs that have logged in.
        self._slots: set[tuple[str, int]] = set()
        #: The answers at the end of a game by its bots; None is waited for.
        self._ends: dict[str, dict[str, Answer | None]] = {}
        self._answered = asyncio.Event()

    def carry_out(self, errand: Errand) -> bool:
        match errand:
            case SetFrozen(bot, slot, frozen, number) if bot in self.bots:
                self._order({"freeze" if frozen else "thaw": bot, "slot": slot, "number": number})
                return True
        return False

    def happened(self, event: LogEvent) -> None:
        match event:
            case GameStarted(game, names, slots) | GameResumed(game, names, _, slots):
                players = enumerate(zip(names, slots or (1,) * len(names), strict=True), start=1)
                self._games[game] = {seat: each for seat, each in players if each[0] in self.bots}
                for bot, slot in self._games[game].values():
                    self._order({"plays": bot, "slot": slot})
                self._measure(game, self.bots)
            case GameOver(game):
                self._ends.pop(game, None)
                for bot, slot in self._games.pop(game, {}).values():
                    self._begun.pop((game, bot), None)
                    self._rest(bot, slot)
            case LoggedIn(bot=str(bot), slot=slot) if bot in self.bots:
                self._slots.add((bot, slot))
                self._rest(bot, slot)
            case ValidationStarted(bot=bot):
                # Which of its programs plays is not said: all of them run.
                for name, slot in sorted(self._slots):
                    if name == bot:
                        self._order({"plays": bot, "slot": slot})
            case BotValidated(bot, game) | ValidationFailed(bot, game):
                self._games.pop(game, None)
                for name, slot in sorted(self._slots):
                    if name == bot:
                        self._rest(bot, slot)

    def _rest(self, bot: str, slot: int) -> None:
        """Who plays in no game may stand still; a game that begins says that it plays."""
        if not any((bot, slot) in players.values() for players in self._games.values()):
            self._order({"rests": bot, "slot": slot})

    def _measure(self, game: str, bots: Collection[str]) -> None:
        for bot, slot in self._games[game].values():
            if bot in bots:
                self._order({"measure": bot, "slot": slot, "game": game})

    def measures(self, game: str) -> bool:
        players = self._games.get(game, {}).values()
        return any((game, bot) in self._begun for bot, _ in players)

    async def used_in(self, game: str) -> list[UsageRecord]:
        players = {seat: each for seat, each in self._games[game].items() if (game, each[0]) in self._begun}
        ends: dict[str, Answer | None] = dict.fromkeys(bot for bot, _ in players.values())
        self._ends[game] = ends
        self._measure(game, ends)
        with suppress(TimeoutError):
            async with asyncio.timeout(MEASURE_S):
                while None in ends.values():
                    self._answered.clear()
                    await self._answered.wait()
        found = []
        for seat, (bot, slot) in players.items():
            usage = _usage(seat, self._begun[game, bot], ends[bot])
            if usage is not None:
                self._log(BotUsage(game, bot, slot, *usage[1:]))
                found.append(usage)
        return found

    def answered(self, answer: Answer) -> None:
        """Who runs the bots has carried out an order."""
        match answer:
            case {"thawed": str(bot), "slot": int(slot), "number": int(number)}:
                self._feed(Thawed(bot, slot, number))
            case {"measured": str(bot), "game": str(game)} if game in self._ends:
                if bot in self._ends[game]:
                    self._ends[game][bot] = answer
                    self._answered.set()
            case {"measured": str(bot), "game": str(game)} if game in self._games:
                self._begun[game, bot] = answer


def _usage(seat: int, begun: Answer, now: Answer | None) -> UsageRecord | None:
    """The difference of two answers; None if the container did not run, or another began at 0 meanwhile."""
    if now is None or now["run"] is None or now["run"] != begun["run"]:
        return None
    used, throttled, pressure = (
        None if now[key] is None or begun[key] is None else (now[key] - begun[key]) // US_PER_MS
        for key in ("used", "throttled", "pressure")
    )
    return UsageRecord(seat, used, throttled, pressure)
