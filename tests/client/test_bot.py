"""Functions, coroutines, classes and async generators as bots."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import Any, TypeVar

import pytest

from arena_client import AsyncBot, Bot, ClientError, GameView, as_bot
from arena_client.bot import Result
from arena_protocol import messages as wire

T = TypeVar("T")


def view_at(ply: int, over: bool = False) -> GameView:
    view = GameView.of(wire.Game("g1", "hex", 1, 2, ("me", "rival"), 1000, 0))
    for number in range(1, ply):
        view = view.after(wire.Played(number, 2 - number % 2, "x", 0, (1, 1), 0, (0, 0)))
    return view.after(wire.Over("g1", (5, 3), "complete")) if over else view


def now(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine)


class Six(Bot):
    def choose(self, view: GameView) -> int:
        return 6


class LaterSix(AsyncBot):
    async def choose(self, view: GameView) -> int:
        return 6


def test_bots_and_classes_of_bots() -> None:
    for kind in (Six, LaterSix):
        bot = kind()
        assert as_bot(bot) is bot
        assert isinstance(as_bot(kind), kind)


def test_a_function() -> None:
    bot = as_bot(lambda view: view.ply)
    assert isinstance(bot, Bot)
    assert bot.choose(view_at(3)) == 3


def test_a_coroutine_function() -> None:
    async def choose(view: GameView) -> int:
        return view.ply

    bot = as_bot(choose)
    assert isinstance(bot, AsyncBot)
    assert now(bot.choose(view_at(3))) == 3


@pytest.mark.parametrize("thing", [6, None, int, "bot"])
def test_what_is_not_a_bot(thing: Any) -> None:
    text = r"^a bot is a function choose\(view\), an async generator, a Bot or an AsyncBot, not "
    with pytest.raises(ClientError, match=text):
        as_bot(thing)


# -- generators ---------------------------------------------------------------------------

log: list[object] = []


async def generator(view: GameView) -> AsyncGenerator[int | None, GameView]:
    log.append(("warm up", view.ply))
    move = None
    try:
        while (view := (yield move)).over is None:
            log.append(("choose", view.ply))
            move = view.ply
        log.append(("over", view.totals))
    finally:
        log.append("closed")


@pytest.fixture
def bot() -> AsyncBot:
    log.clear()
    made = as_bot(generator)
    assert isinstance(made, AsyncBot)
    return made


def result_of(view: GameView) -> Result:
    assert view.result is not None
    return view.result


def test_a_generator_plays_a_game(bot: AsyncBot) -> None:
    async def play() -> list[object]:
        await bot.new_game(view_at(1))
        moves: list[object] = [await bot.choose(view_at(ply)) for ply in (1, 3)]
        await bot.game_over(view_at(5, over=True), result_of(view_at(5, over=True)))
        return moves

    assert now(play()) == [1, 3]
    assert log == [("warm up", 1), ("choose", 1), ("choose", 3), ("over", (5, 3)), "closed"]


def test_each_game_has_its_own_generator(bot: AsyncBot) -> None:
    """The first game ended while the bot was not connected: its generator is closed."""

    async def play() -> None:
        await bot.new_game(view_at(1))
        await bot.choose(view_at(1))
        await bot.new_game(view_at(1))
        await bot.aclose()

    now(play())
    assert log == [("warm up", 1), ("choose", 1), "closed", ("warm up", 1), "closed"]


def test_a_generator_that_goes_on_after_the_game_is_closed() -> None:
    async def endless(view: GameView) -> AsyncGenerator[int | None, GameView]:
        try:
            while True:
                view = yield view.ply
        finally:
            log.append("closed")

    async def play() -> None:
        made = as_bot(endless)
        assert isinstance(made, AsyncBot)
        await made.new_game(view_at(1))
        await made.game_over(view_at(5, over=True), result_of(view_at(5, over=True)))

    log.clear()
    now(play())
    assert log == ["closed"]


def test_a_generator_that_ends_too_early() -> None:
    async def at_once(view: GameView) -> AsyncGenerator[int | None, GameView]:
        moves: tuple[int, ...] = ()
        for move in moves:
            yield move

    async def one_move(view: GameView) -> AsyncGenerator[int | None, GameView]:
        yield None

    async def play(function: Any) -> None:
        made = as_bot(function)
        assert isinstance(made, AsyncBot)
        await made.new_game(view_at(1))
        await made.choose(view_at(1))

    with pytest.raises(ClientError, match=r"^the bot's generator ended before its first yield$"):
        now(play(at_once))
    with pytest.raises(ClientError, match=r"^the bot's generator ended before the game$"):
        now(play(one_move))
