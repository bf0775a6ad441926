"""Both shells, test by test the same: one bot, one scripted server, real sockets, no waiting for time.

Here how connections begin, are lost and begin again, and when that is given up.
"""

from __future__ import annotations

import itertools
import logging
import re

import pytest

from arena_client import ClientError
from arena_client.errors import SILENT
from arena_client.retry import Patience

from .conftest import Driver
from .fake_server import (
    BYE,
    DEALT,
    OFFER,
    OVER,
    PLAYED_1,
    PLAYED_2,
    PLAYED_3,
    PLAYED_4,
    START,
    TURN_1,
    TURN_3,
    Connection,
    FakeServer,
)
from .visitors import Diary, Thinker, four, whole_visit


def test_the_end_of_a_connection_is_the_start_of_the_next(driver: Driver, server: FakeServer) -> None:
    """EOF in mid-game: the seat is taken up by the resume token, and the ply is answered there."""
    bot = Diary()

    def first(connection: Connection) -> None:
        assert "resume" not in connection.log_in(resume="secret1")
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1)
        connection.expect("MOVE 4")
        connection.say(PLAYED_1)
        connection.settle()

    def second(connection: Connection) -> None:
        connection.say("ARENA 1 fake/1")
        connection.expect("HELLO 1 me resume=secret1 agent=arena-client")
        connection.say("WELCOME me session=s2 resume=secret2")
        connection.say(OFFER, *DEALT, START, PLAYED_1, PLAYED_2, TURN_3)
        heard = connection.hear()
        connection.expect("MOVE 4") if heard == "READY g1" else None
        connection.say(PLAYED_3, PLAYED_4, OVER, BYE)

    server.follow(first, second)
    assert driver.play(bot, server.port, token="t") == "finished"
    assert bot.told[0] == ("new", "g1")
    assert [entry[:2] for entry in bot.told[1:] if isinstance(entry, tuple)] == [
        ("choose", 1),
        ("choose", 3),
        ("over", (60, 0)),
    ]


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_search_outlives_its_connection(driver: Driver, server: FakeServer, how: str) -> None:
    """Thinking goes on while the connection is replaced; the bot is not asked twice."""
    bot = Thinker()

    def first(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1)
        assert bot.asked.wait(20)
        getattr(connection, how)()

    def second(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT, START, TURN_1)
        bot.let_go.set()
        while (heard := connection.hear()) == "READY g1":
            pass
        assert heard == "MOVE 4"
        connection.say(PLAYED_1, BYE)

    server.follow(first, second)
    assert driver.play(bot, server.port) == "finished"
    assert bot.times == 1


@pytest.mark.parametrize("code", ["version", "name", "token", "name-taken", "game", "login"])
def test_a_refusal_ends_the_visit(driver: Driver, server: FakeServer, code: str) -> None:
    def script(connection: Connection) -> None:
        connection.say("ARENA 1 fake/1")
        connection.hear()
        connection.say(f"ERROR {code} this will not do")
        connection.expect_end()

    server.follow(script)
    with pytest.raises(ClientError, match=f"^the server refuses me: {code}: this will not do$") as caught:
        driver.play(four, server.port)
    assert caught.value.code == code


def test_a_full_server_is_asked_again(driver: Driver, server: FakeServer) -> None:
    def full(connection: Connection) -> None:
        connection.say("ARENA 1 fake/1", "ERROR full come back later")

    server.follow(full, full, whole_visit)
    assert driver.play(four, server.port) == "finished"


def test_giving_up_tells_the_last_reason(driver: Driver, server: FakeServer) -> None:
    def full(connection: Connection) -> None:
        connection.say("ARENA 1 fake/1", "ERROR full come back later")

    server.follow(full, full, full)
    port = server.port
    with pytest.raises(
        ClientError, match=f"^gave up on 127.0.0.1:{port} after 3 tries: full: come back later$"
    ):
        driver.play(four, port)


def test_nobody_listens(driver: Driver, server: FakeServer) -> None:
    port = server.port
    server.close()
    with pytest.raises(ClientError, match=f"^gave up on 127.0.0.1:{port} after 3 tries: .*refused"):
        driver.play(four, port)


HASTY = Patience(delays=lambda: iter(()), greeting=0.05)


def test_a_server_that_never_greets_is_given_up(driver: Driver, server: FakeServer) -> None:
    def script(connection: Connection) -> None:
        connection.say("ARENA 1 test/1")
        connection.hear()
        connection.expect_end()

    server.follow(script)
    with pytest.raises(ClientError, match=r"127.0.0.1:[0-9]+: the server did not log the bot in$"):
        driver.play(four, server.port, patience=HASTY)


def test_who_says_nothing_may_be_no_arena_server(driver: Driver, server: FakeServer) -> None:
    server.follow(Connection.expect_end)
    with pytest.raises(ClientError, match=rf" the server did not log the bot in; {re.escape(SILENT)}$"):
        driver.play(four, server.port, patience=HASTY)


def test_who_says_nothing_is_not_tried_for_long(driver: Driver, server: FakeServer) -> None:
    server.follow(Connection.expect_end, Connection.expect_end)
    brief = Patience(delays=lambda: itertools.repeat(0.0), greeting=0.05, vain=0.08)
    with pytest.raises(ClientError, match=r" after 2 tries: the server did not log the bot in; nothing "):
        driver.play(four, server.port, patience=brief)


@pytest.mark.parametrize("line", ["SSH-2.0-OpenSSH_9.2", "HTTP/1.1 400 Bad Request", "+OK ready"])
def test_who_speaks_otherwise_is_no_arena_server(driver: Driver, server: FakeServer, line: str) -> None:
    server.follow(lambda connection: connection.say(line))
    with pytest.raises(ClientError) as caught:
        driver.play(four, server.port)
    assert str(caught.value) == (
        f"the server broke the protocol: a server says ARENA first: {line!r}; is it an arena server?"
    )


def test_once_logged_in_there_is_no_hurry(
    driver: Driver, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit for the greeting does not count on into the games."""
    limit = driver.reading_limit(monkeypatch)
    server.follow(whole_visit)
    driver.play(four, server.port)
    assert limit() is None


def test_a_log_in_begins_the_count_of_tries_anew(driver: Driver, server: FakeServer) -> None:
    def gone_again(connection: Connection) -> None:
        connection.log_in()

    server.follow(*[gone_again] * 6, whole_visit)
    assert driver.play(four, server.port) == "finished"


def test_a_reset_while_the_client_writes(driver: Driver, server: FakeServer) -> None:
    """The reset meets a client that waits for the server to read: it comes back all the same."""

    def first(connection: Connection) -> None:
        connection.log_in()
        connection.stuff("PING " + "x" * 900)
        connection.reset()

    server.follow(first, whole_visit)
    assert driver.play(four, server.port) == "finished"


def test_a_server_that_breaks_the_protocol_ends_the_visit(driver: Driver, server: FakeServer) -> None:
    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say("TURN 1 clock=1,1 lag=0 credit=0")
        connection.expect("QUIT")

    server.follow(script)
    with pytest.raises(
        ClientError, match=r"^the server broke the protocol: TURN has no meaning in the lobby"
    ):
        driver.play(four, server.port)


def test_a_lost_connection_is_told_in_one_line(
    driver: Driver, server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.follow(lambda connection: None, whole_visit)
    with caplog.at_level(logging.INFO, "arena_client"):
        driver.play(four, server.port)
    assert caplog.messages == [
        f"me: no connection (the server closed the connection; {SILENT}), next try in 0.0 s"
    ] or caplog.messages == [f"me: no connection (Connection reset by peer; {SILENT}), next try in 0.0 s"]
