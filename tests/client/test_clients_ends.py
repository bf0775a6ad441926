"""The asyncio and the trio client, with the same tests on real sockets: how a client ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator

import pytest
import trio

from arena_client import AsyncBot, Bot, ClientError, GameView, LeaveContest, Result

from .bots import Blocking, Recorder, four, whole_contest
from .conftest import Driver
from .fake_server import (
    DEALT,
    OFFER,
    START,
    TURN_1,
    UNIT,
    Connection,
    FakeServer,
    ask_once,
)


def test_cancelling_closes_the_connection_without_quit(driver: Driver, server: FakeServer) -> None:
    bot = Blocking()

    server.follow(ask_once)
    assert driver.play_until(bot.asked, bot, server.port)
    bot.let_go.set()


def test_cancelling_before_the_log_in(driver: Driver, server: FakeServer) -> None:
    here = threading.Event()

    def script(connection: Connection) -> None:
        here.set()
        connection.expect_end()

    server.follow(script)
    assert driver.play_until(here, four, server.port)


def test_cancelling_does_not_wait_for_a_server_that_does_not_read(driver: Driver, server: FakeServer) -> None:
    stuck = threading.Event()
    closed = threading.Event()

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.fill("PING " + "x" * 900)
        stuck.set()
        assert closed.wait(5), "less than the 10 s after which the system closes the connection"
        *whole, _incomplete = connection.read_all().split(b"\n")
        assert set(whole) == {b"PONG " + b"x" * 900}

    server.follow(script)
    assert driver.play_until(stuck, four, server.port)
    closed.set()


@pytest.mark.parametrize("instant", [False, True])
def test_a_bot_that_asks_to_leave_sends_quit(driver: Driver, server: FakeServer, instant: bool) -> None:
    class Tired(Recorder):
        def choose(self, view: GameView) -> int:
            raise LeaveContest

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.send_lines(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.send_lines(START, TURN_1)
        connection.expect("QUIT")
        connection.send_lines("BYE reason=quit")
        connection.expect_end()

    server.follow(script)
    bot = Tired()
    bot.instant = instant
    assert driver.play(bot, server.port) == "quit"


def test_an_exception_after_the_server_has_closed(driver: Driver, server: FakeServer) -> None:
    closed = threading.Event()

    class Late(Bot):
        instant = True

        def choose(self, view: GameView) -> int:
            assert closed.wait(20)
            raise KeyError("late")

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.send_lines(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.send_lines(START, TURN_1, "PING unread")
        connection.reset()
        closed.set()

    server.follow(script)
    with pytest.raises(KeyError, match="late"):
        driver.play(Late, server.port)


def test_an_answer_that_is_not_a_move_ends_the_client(driver: Driver, server: FakeServer) -> None:
    server.follow(ask_once)
    with pytest.raises(ClientError, match=r"^the bot's move must be an int or a str, not None$"):
        driver.play(lambda view: None, server.port)


def test_bye_does_not_wait_for_a_search(driver: Driver, server: FakeServer) -> None:
    bot = Blocking()

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.send_lines(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.send_lines(START, TURN_1)
        assert bot.asked.wait(20)
        connection.send_lines("BYE reason=stopped")
        connection.expect_end()

    server.follow(script)
    assert driver.play(bot, server.port) == "stopped"
    bot.let_go.set()


def test_bye_waits_until_the_bot_has_received_the_last_result(driver: Driver, server: FakeServer) -> None:
    closed, ended = threading.Event(), threading.Event()

    class Slow(Recorder):
        def game_over(self, view: GameView, result: Result) -> None:
            assert closed.wait(20)
            self.calls.append("too late" if ended.wait(UNIT) else "in time")

    def script(connection: Connection) -> None:
        whole_contest(connection)
        closed.set()

    bot = Slow()
    server.follow(script)
    assert driver.play(bot, server.port) == "finished"
    ended.set()
    assert bot.calls[-1] == "in time"


# -- coroutines and generators ------------------------------------------------------------


async def generator(view: GameView) -> AsyncGenerator[int | None, GameView]:
    move = None
    while (yield move).over is None:
        move = 4


async def coroutine(view: GameView) -> int:
    return 4


@pytest.mark.parametrize("bot", [generator, coroutine])
def test_a_bot_in_the_event_loop(driver: Driver, server: FakeServer, bot: object) -> None:
    server.follow(whole_contest)
    assert driver.play(bot, server.port) == "finished"


class Waiting(AsyncBot):
    """`choose` sets `asked` and waits without end; `closed` is set at the end of the client."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.closed = threading.Event()

    async def choose(self, view: GameView) -> int:
        self.asked.set()
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            await trio.sleep_forever()
        await asyncio.Event().wait()
        raise AssertionError("it is cancelled")

    async def aclose(self) -> None:
        self.closed.set()


@pytest.mark.parametrize("how", ["bye", "cancelled"])
def test_a_coroutine_of_the_bot_is_cancelled_at_the_end(driver: Driver, server: FakeServer, how: str) -> None:
    bot, answered = Waiting(), threading.Event()

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.send_lines(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.send_lines(START, TURN_1)
        assert bot.asked.wait(20)
        connection.sync("while-waiting")
        answered.set()
        if how == "bye":
            connection.send_lines("BYE reason=stopped")
        connection.expect_end()

    server.follow(script)
    if how == "bye":
        assert driver.play(bot, server.port) == "stopped"
    else:
        assert driver.play_until(answered, bot, server.port)
    assert bot.closed.is_set()


def test_an_exception_of_a_coroutine_is_raised(driver: Driver, server: FakeServer) -> None:
    async def broken(view: GameView) -> int:
        raise KeyError("opening")

    server.follow(ask_once)
    with pytest.raises(KeyError, match="opening"):
        driver.play(broken, server.port)
