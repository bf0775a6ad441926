"""The bots of a contest that are started together with it, as its host knows them.

    contest --SetFrozen, games, log-ins-----> StartedBots --orders--> BotGroup.obey -> container, process
    contest <--Thawed, UsageRecord----------- StartedBots <--answers--

Who plays no game rests, who has no connection runs. Orders and answers are JSON objects: those who run the
bots of `arena tournament` are another process than the host.
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
    ConnectionLost,
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


class StartedBots(BotPlaces):
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
        #: Those of `bots` that play in the running games by their seats, and what was measured when their
        #: games began.
        self._games: dict[str, dict[int, tuple[str, int]]] = {}
        self._begun: dict[tuple[str, str], Answer] = {}
        #: The program of each connection.
        self._connections: dict[int, tuple[str, int]] = {}
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
            case LoggedIn(conn=conn, bot=str(bot), slot=slot) if bot in self.bots:
                self._connections[conn] = bot, slot
                self._rest(bot, slot)
            case ConnectionLost(conn=conn):
                self.closing(conn)
            case ValidationStarted(bot=bot):
                # Which of its programs plays is not said: all of them run.
                for slot in self._slots(bot):
                    self._order({"plays": bot, "slot": slot})
            case BotValidated(bot, game) | ValidationFailed(bot, game):
                self._games.pop(game, None)
                for slot in self._slots(bot):
                    self._rest(bot, slot)

    def closing(self, conn: int) -> None:
        program = self._connections.pop(conn, None)
        # Of a program that has logged in again its former connection ends.
        if program is not None and program not in self._connections.values():
            # It has to read BYE, and may connect again.
            self._order({"plays": program[0], "slot": program[1]})

    def _slots(self, bot: str) -> list[int]:
        """The slots in which a bot has a connection."""
        return sorted(slot for name, slot in self._connections.values() if name == bot)

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
            # What is not measured when its game begins is not waited for at the end.
            case {"measured": str(bot), "game": str(game), "run": str()} if game in self._games:
                self._begun[game, bot] = answer


def _usage(seat: int, begun: Answer, now: Answer | None) -> UsageRecord | None:
    """The difference of two answers; None if it does not run any more, or another program began at 0."""
    if now is None or now["run"] != begun["run"]:
        return None
    used, throttled, pressure = (
        None if now[key] is None or begun[key] is None else (now[key] - begun[key]) // US_PER_MS
        for key in ("used", "throttled", "pressure")
    )
    return UsageRecord(seat, used, throttled, pressure)
