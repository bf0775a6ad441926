"""What a bot author writes: a function, a class with event methods, or an async generator.

    def choose(view): ...                    one move per call, on a thread of its own
    class Mine(Bot): ...                     a thread of its own, new_game and game_over too
    class Mine(AsyncBot): ...                its methods are coroutines, in the event loop of the client
    async def mine(view): ... yield move     one generator per game, in the event loop of the client

`as_bot` turns each of them into a Bot or an AsyncBot.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import Any

from arena_client.errors import ClientError
from arena_protocol.view import GameView, Result

__all__ = ["AnyBot", "AsyncBot", "Bot", "Choose", "GameView", "Result", "as_bot"]

#: A move in the game's notation; an integer type of numpy is accepted too.
MoveLike = int | str
Choose = Callable[[GameView], MoveLike]


class Bot(ABC):
    """A bot whose methods may take their time: subclass it and write `choose`.

    The methods are called one at a time on a thread of the bot's own, while the client answers
    PING. An exception from a method ends the client: the connection is closed without QUIT and
    `play` raises it. LeaveContest sends QUIT.
    """

    #: The games in HELLO; empty: any game.
    games: tuple[str, ...] = ()
    #: Whether every method returns within microseconds; they are then called without a thread.
    instant: bool = False
    #: Bytes that the server keeps for the bot, where it keeps some; None: the bot does not ask. Begin with
    #: b"": before its first game it is what was kept, and what a method sets is kept with the result of the
    #: game, or at once after one.
    kept: bytes | None = None

    def new_game(self, view: GameView) -> None:  # noqa: B027 - most bots have nothing to prepare
        """Prepare for a game. READY is sent when this returns: no clock runs, but READY has a limit."""

    @abstractmethod
    def choose(self, view: GameView) -> MoveLike:
        """Return the move to play now; the clock of `view.my_clock` ms runs."""

    def game_over(self, view: GameView, result: Result) -> None:  # noqa: B027 - as above
        """Receive the result. Not called for a game that ended while the bot was not connected."""


class AsyncBot(ABC):
    """The same with coroutines, awaited one at a time in the client's event loop (asyncio or trio).

    A method that computes for long blocks the loop, so that PING is answered late; use a Bot.
    """

    games: tuple[str, ...] = ()
    #: See `Bot.kept`.
    kept: bytes | None = None

    async def new_game(self, view: GameView) -> None:  # noqa: B027 - as above
        """Prepare for a game; see `Bot.new_game`."""

    @abstractmethod
    async def choose(self, view: GameView) -> MoveLike:
        """Return the move to play now; see `Bot.choose`."""

    async def game_over(self, view: GameView, result: Result) -> None:  # noqa: B027 - as above
        """Receive the result; see `Bot.game_over`."""

    async def aclose(self) -> None:  # noqa: B027 - as above
        """Release resources; awaited once when the client ends."""


AnyBot = Bot | AsyncBot
GeneratorFunction = Callable[[GameView], AsyncGenerator[MoveLike | None, GameView]]
#: Everything that `as_bot` accepts.
BotLike = (
    AnyBot
    | type[Bot]
    | type[AsyncBot]
    | Choose
    | Callable[[GameView], Awaitable[MoveLike]]
    | GeneratorFunction
)


class _Function(Bot):
    def __init__(self, choose: Choose) -> None:
        self._choose = choose

    def choose(self, view: GameView) -> MoveLike:
        return self._choose(view)


class _Coroutine(AsyncBot):
    def __init__(self, choose: Callable[[GameView], Awaitable[MoveLike]]) -> None:
        self._choose = choose

    async def choose(self, view: GameView) -> MoveLike:
        return await self._choose(view)


class _Generator(AsyncBot):
    """One generator per game.

    It is called with the view before READY and runs to its first `yield`. Then each `yield`
    receives the view of the next turn, and gives the move when it is reached again. After the
    game the `yield` receives the last view, with `over` set; the generator is closed then.
    """

    def __init__(self, function: GeneratorFunction) -> None:
        self._function = function
        self._running: AsyncGenerator[MoveLike | None, GameView] | None = None

    async def new_game(self, view: GameView) -> None:
        await self.aclose()  # the end of the last game was not received
        self._running = self._function(view)
        try:
            await anext(self._running)
        except StopAsyncIteration:
            raise ClientError("the bot's generator ended before its first yield") from None

    async def choose(self, view: GameView) -> MoveLike:
        assert self._running is not None, "new_game comes first"
        try:
            move = await self._running.asend(view)
        except StopAsyncIteration:
            raise ClientError("the bot's generator ended before the game") from None
        return move  # type: ignore[return-value] # None is refused like any other value that is not a move

    async def game_over(self, view: GameView, result: Result) -> None:
        assert self._running is not None, "new_game comes first"
        with suppress(StopAsyncIteration):
            await self._running.asend(view)
        await self.aclose()

    async def aclose(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            await running.aclose()


def as_bot(bot: Any) -> AnyBot:
    """Return a Bot or an AsyncBot for any `BotLike`; a class is called without arguments.

    Raises ClientError for anything else.
    """
    if isinstance(bot, Bot | AsyncBot):
        return bot
    if isinstance(bot, type) and issubclass(bot, Bot | AsyncBot):
        return bot()
    if inspect.isasyncgenfunction(bot):
        return _Generator(bot)
    if inspect.iscoroutinefunction(bot):
        return _Coroutine(bot)
    if callable(bot) and not isinstance(bot, type):
        return _Function(bot)
    raise ClientError(
        f"a bot is a function choose(view), an async generator, a Bot or an AsyncBot, not {bot!r}"
    )
