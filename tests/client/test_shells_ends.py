"""Both shells, test by test the same: one bot, one scripted server, real sockets, no waiting for time.

Here how a visit ends: BYE, QUIT, cancelling, answers that are none.
"""

from __future__ import annotations

import threading

import pytest

from arena_client import Bot, ClientError, GameView, Result
from arena_client.protocol import Player

from .conftest import Driver
from .fake_server import (
    DEALT,
    OFFER,
    START,
    TURN_1,
    UNIT,
    Connection,
    FakeServer,
)
from .visitors import Diary, Thinker, four, whole_visit


def test_cancelling_says_quit(driver: Driver, server: FakeServer) -> None:
    bot = Thinker()

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1)
        connection.expect("QUIT")
        connection.expect_end()

    server.follow(script)
    assert driver.play_until(bot.asked, bot, server.port)
    bot.let_go.set()


def test_cancelling_before_the_log_in_only_closes(driver: Driver, server: FakeServer) -> None:
    here = threading.Event()

    def script(connection: Connection) -> None:
        here.set()
        connection.expect_end()

    server.follow(script)
    assert driver.play_until(here, four, server.port)


def test_cancelling_amid_a_line_that_does_not_leave_says_nothing_more(
    driver: Driver, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QUIT would land inside the unfinished line; and nothing waits for a server that does not read."""
    stuck = threading.Event()
    closed = threading.Event()

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.stuff("PING " + "x" * 900)
        stuck.set()
        assert closed.wait(5), "less than the 10 s after which the system gives the connection up by itself"
        *whole, _torn = connection.hear_all().split(b"\n")
        assert set(whole) == {b"PONG " + b"x" * 900}

    tried: list[Player] = []
    monkeypatch.setattr(Player, "quit", tried.append)
    server.follow(script)
    assert driver.play_until(stuck, four, server.port)
    assert tried == []
    closed.set()


def test_quit_to_a_server_that_is_gone(driver: Driver, server: FakeServer) -> None:
    """Leaving does not mind that nobody is there to hear it."""
    gone = threading.Event()

    class Late(Bot):
        instant = True

        def choose(self, view: GameView) -> int:
            assert gone.wait(20)
            raise KeyError("late")

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1, "PING unread")
        connection.reset()
        gone.set()

    server.follow(script)
    with pytest.raises(KeyError, match="late"):
        driver.play(Late, server.port)


def test_an_answer_that_is_no_move_ends_the_visit(driver: Driver, server: FakeServer) -> None:
    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1)
        connection.expect("QUIT")

    server.follow(script)
    with pytest.raises(ClientError, match=r"^choose\(\) must return a move as an int or a str, not None$"):
        driver.play(lambda view: None, server.port)


def test_bye_does_not_wait_for_a_search_that_no_longer_matters(driver: Driver, server: FakeServer) -> None:
    bot = Thinker()

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1)
        assert bot.asked.wait(20)
        connection.say("BYE reason=stopped")
        connection.expect_end()

    server.follow(script)
    assert driver.play(bot, server.port) == "stopped"
    bot.let_go.set()


def test_bye_waits_until_the_bot_has_heard_the_last_result(driver: Driver, server: FakeServer) -> None:
    closed, ended = threading.Event(), threading.Event()

    class Mourner(Diary):
        def game_over(self, view: GameView, result: Result) -> None:
            assert closed.wait(20)
            self.told.append("too late" if ended.wait(UNIT) else "in time")

    def script(connection: Connection) -> None:
        whole_visit(connection)
        closed.set()

    bot = Mourner()
    server.follow(script)
    assert driver.play(bot, server.port) == "finished"
    ended.set()
    assert bot.told[-1] == "in time"
