"""Bots that are started again when they end before their contest does.

BotGroup.run_beside(server) -> RestartingBot.run -> Launcher.start ... Ended -> wait -> Launcher.start ...
server is over -> contest_over -> the bots end -> none is left
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any, TypeVar

from arena_server.places.base import (
    ORDERS,
    Answer,
    BotEnded,
    BotError,
    BotGames,
    Cause,
    Launcher,
    LaunchError,
    LocalBot,
    Order,
    Running,
)
from arena_server.places.cgroup import CpuTime
from arena_server.places.idle import Rests
from arena_server.places.process import BotProcess

#: Seconds before each restart of a bot that ended; the last one repeats.
RESTARTS_S = (0.5, 1.0, 2.0, 4.0, 8.0)
#: Seconds for the report of a log-in to arrive.
REPORT_S = 1.5
#: Seconds for a bot to end after the server's BYE.
LEAVE_S = 2.0
#: Seconds for the server to end after it was asked to; its own limits add up to less.
STOP_S = 40.0
#: How many causes of crashes of a bot are remembered.
MOST_CAUSES = 16

T = TypeVar("T")


@dataclass
class RestartingBot:
    """Runs one bot, and starts it again when it ends before the contest does.

    `logged_in` has to be set after its first log-in: a process that ends without one is not started again.
    After two equal crashes in one game, or one by a limit of its place, it is started again when that game is
    over.
    """

    bot: LocalBot
    launcher: Launcher
    games: BotGames
    say: Callable[[str], None]
    logged_in: asyncio.Event = field(default_factory=asyncio.Event)
    #: Its present run, and the game in which that has stopped to answer.
    running: Running | None = None
    _silent_in: str = ""
    _silent: asyncio.Event = field(default_factory=asyncio.Event)
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    #: The causes of the last crashes, whose traces have been printed.
    _printed: deque[Cause] = field(default_factory=lambda: deque(maxlen=MOST_CAUSES))

    async def run(self) -> None:
        """Keep the bot running until `contest_over`. Raises BotError if it ended without a log-in."""
        waits, last = chain(RESTARTS_S, repeat(RESTARTS_S[-1])), None
        while True:
            self._silent.clear()
            ended = await self._run_once()
            if self._silent.is_set() and not self._over.is_set():
                self.say(f"bot {self.bot.label} does not answer since {self._silent_in}; starting it again")
                continue
            if ended is None or self._over.is_set():
                break
            game = await self._before_the_end(self._game())
            if game is not None and (ended.exceeded or last == (game, ended.cause)):
                again = "" if ended.exceeded else " again"
                self._complain(f"ended {ended}{again}; starting it again when {game} is over", ended)
                waits, last = chain(RESTARTS_S, repeat(RESTARTS_S[-1])), None
                await self._before_the_end(
                    self.games.abandon(self.bot.name, self.bot.slot, game, ended.exceeded)
                )
                await self._before_the_end(asyncio.sleep(next(waits)))
                if self._over.is_set():
                    return
                continue
            last = game, ended.cause
            # The bots get BYE just before the end of the server is seen here.
            await self._before_the_end(asyncio.sleep(next(waits)))
            if self._over.is_set():
                break
            if not await self._has_logged_in():
                what = ended.error or f"it ended {ended} before it logged in"
                raise BotError(f"bot {self.bot.label} cannot start: {what}")
            self._complain(f"ended {ended}; starting it again", ended)
        if ended is not None and ended.status:
            # The crash may be why the contest ended, so its author needs the output.
            self._complain(f"ended {ended}", ended)

    async def _game(self) -> str | None:
        """The game that its process left; None between two games."""
        with suppress(TimeoutError):
            async with asyncio.timeout(REPORT_S):
                return await self.games.game_of(self.bot.name, self.bot.slot)
        return None

    async def _before_the_end(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Return the result of `work`, None if the contest ends before."""
        working, over = asyncio.ensure_future(work), asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait([working, over], return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else None
        finally:
            working.cancel()
            over.cancel()

    async def _has_logged_in(self) -> bool:
        # The server's report of the log-in may arrive after the bot's end.
        with suppress(TimeoutError):
            async with asyncio.timeout(REPORT_S):
                await self.logged_in.wait()
        return self.logged_in.is_set()

    def contest_over(self) -> None:
        """Let the bot end; it is not started again."""
        self._over.set()

    def silent(self, game: str) -> None:
        """Its present run was too late in this game, and has sent nothing since."""
        self._silent_in = game
        self._silent.set()

    async def _run_once(self) -> BotEnded | None:
        """Start the bot and wait for its end; None if the contest was over or it is `silent`."""
        try:
            running = self.running = await self.launcher.start(self.bot)
        except LaunchError as error:
            return BotEnded(None, str(error))
        try:
            return await self._wait(running)
        finally:
            self.running = None
            await running.end()

    async def _wait(self, running: Running) -> BotEnded | None:
        """Wait for the bot's end, at most `LEAVE_S` after the end of the contest, or until it is `silent`."""
        ended, over = asyncio.ensure_future(running.wait()), asyncio.ensure_future(self._over.wait())
        silent = asyncio.ensure_future(self._silent.wait())
        try:
            await asyncio.wait([ended, over, silent], return_when=asyncio.FIRST_COMPLETED)
            if over.done():
                await asyncio.wait([ended], timeout=LEAVE_S)
            return ended.result() if ended.done() else None
        finally:
            for each in (ended, over, silent):
                each.cancel()

    def _complain(self, what: str, ended: BotEnded) -> None:
        """Say that the process ended; the cause is printed with its first crash only."""
        self.say(f"bot {self.bot.label} {what}")
        if ended.cause not in self._printed:
            self._printed.append(ended.cause)
            for line in ended.trace or ended.lines:
                self.say(f"  {self.bot.label}: {line}")


def program_of(order: Order) -> tuple[str, int]:
    """The name and the slot that an order is about."""
    return next(order[verb] for verb in ORDERS if verb in order), order["slot"]


class Orders:
    """Carries out the orders of `frozen_bots.py`, those to one program in their order."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def give(self, running: Running | None, order: Order, answer: Callable[[Answer], None]) -> None:
        """Carry an order out, and `answer` it if it wants that; `running` is None for what does not run."""
        task = asyncio.ensure_future(self._carry_out(running, order, answer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry_out(
        self, running: Running | None, order: Order, answer: Callable[[Answer], None]
    ) -> None:
        match order:
            case {"freeze": _}:
                if running is not None:
                    await running.set_frozen(True)
            case {"thaw": name, "slot": slot, "number": number}:
                if running is not None:
                    await running.set_frozen(False)
                answer({"thawed": name, "slot": slot, "number": number})
            case {"rests": _} | {"plays": _}:
                if isinstance(running, Rests):
                    await running.set_resting("rests" in order)
            case {"measure": name, "slot": slot, "game": game}:
                run, time = (running and await running.cpu_time()) or (None, CpuTime(0, 0, None))
                measured = {"measured": name, "slot": slot, "game": game, "run": run}
                answer(measured | {key: getattr(time, key) for key in time.__slots__})


class BotGroup:
    """The bots of one contest."""

    def __init__(
        self, bots: Sequence[LocalBot], launcher: Launcher, games: BotGames, say: Callable[[str], None]
    ) -> None:
        self._bots = {(bot.name, bot.slot): RestartingBot(bot, launcher, games, say) for bot in bots}
        self._orders = Orders()

    def obey(self, order: Order, answer: Callable[[Answer], None]) -> None:
        """Carry out an order of `frozen_bots.py`, and answer it if it wants an answer."""
        bot = self._bots.get(program_of(order))
        self._orders.give(None if bot is None else bot.running, order, answer)

    def logged_in(self, name: str, slot: int) -> None:
        """A bot has logged in for the first time; one that is not of the group may be named, too."""
        if (bot := self._bots.get((name, slot))) is not None:
            bot.logged_in.set()

    def silent(self, name: str, slot: int, game: str) -> None:
        """A bot was too late in a game and has sent nothing since: it is ended and started again."""
        if (bot := self._bots.get((name, slot))) is not None:
            bot.silent(game)

    def group_of(self, name: str, slot: int) -> int | None:
        """The process group of the present run of a bot; None without one."""
        bot = self._bots.get((name, slot))
        return bot.running.group if bot is not None and isinstance(bot.running, BotProcess) else None

    def contest_over(self) -> None:
        """Let the bots end; they are not started again."""
        for bot in self._bots.values():
            bot.contest_over()

    async def run_beside(self, serving: asyncio.Future[T], stop: Callable[[], None]) -> T:
        """Keep the bots running until `serving` is done, and return its result; no bot is left then.

        Raises BotError for a bot that cannot start, when `stop` has ended `serving`.
        """
        running = [asyncio.ensure_future(bot.run()) for bot in self._bots.values()]
        tasks: list[asyncio.Future[Any]] = [serving, *running]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            failed = [task.exception() for task in running if task.done()]
            for error in failed:
                if error is not None:
                    stop()
                    await asyncio.wait([serving], timeout=STOP_S)
                    raise error
            return await serving
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
