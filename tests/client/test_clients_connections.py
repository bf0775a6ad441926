"""The asyncio and the trio client, with the same tests on real sockets: lost connections and retries."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Callable

import pytest

from arena_client import ClientError
from arena_client.errors import SILENT
from arena_client.retry import RetryPolicy

from .bots import Blocking, Recorder, four, whole_contest
from .conftest import Driver, VirtualTime
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


def test_after_the_end_of_a_connection_the_seat_is_resumed(driver: Driver, server: FakeServer) -> None:
    """EOF during a game: the next connection resumes the seat and answers the ply."""
    bot = Recorder()

    def first(connection: Connection) -> None:
        assert "resume" not in connection.log_in(resume="secret1")
        connection.send_lines(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.send_lines(START, TURN_1)
        connection.expect("MOVE 4")
        connection.send_lines(PLAYED_1)
        connection.sync()

    def second(connection: Connection) -> None:
        connection.send_lines("ARENA 1 fake/1")
        connection.expect("HELLO 1 me resume=secret1 agent=arena-client")
        connection.send_lines("WELCOME me session=s2 resume=secret2")
        connection.send_lines(OFFER, *DEALT, START, PLAYED_1, PLAYED_2, TURN_3)
        line = connection.read_line()
        connection.expect("MOVE 4") if line == "READY g1" else None
        connection.send_lines(PLAYED_3, PLAYED_4, OVER, BYE)

    server.follow(first, second)
    assert driver.play(bot, server.port, token="t") == "finished"
    assert bot.calls[0] == ("new", "g1")
    assert [entry[:2] for entry in bot.calls[1:] if isinstance(entry, tuple)] == [
        ("choose", 1),
        ("choose", 3),
        ("over", (60, 0)),
    ]


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_search_outlives_its_connection(driver: Driver, server: FakeServer, how: str) -> None:
    """The bot computes on while the connection is replaced, and is not asked twice."""
    bot = Blocking()

    def first(connection: Connection) -> None:
        connection.log_in()
        connection.send_lines(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.send_lines(START, TURN_1)
        assert bot.asked.wait(20)
        getattr(connection, how)()

    def second(connection: Connection) -> None:
        connection.log_in()
        connection.send_lines(OFFER, *DEALT, START, TURN_1)
        bot.let_go.set()
        while (line := connection.read_line()) == "READY g1":
            pass
        assert line == "MOVE 4"
        connection.send_lines(PLAYED_1, BYE)

    server.follow(first, second)
    assert driver.play(bot, server.port) == "finished"
    assert bot.times == 1


@pytest.mark.parametrize("code", ["version", "name", "token", "name-taken", "game", "login"])
def test_a_refusal_ends_the_client(driver: Driver, server: FakeServer, code: str) -> None:
    def script(connection: Connection) -> None:
        connection.send_lines("ARENA 1 fake/1")
        connection.read_line()
        connection.send_lines(f"ERROR {code} no")
        connection.expect_end()

    server.follow(script)
    with pytest.raises(ClientError, match=f"^the server refuses me: {code}: no$") as caught:
        driver.play(four, server.port)
    assert caught.value.code == code


def test_a_full_server_is_asked_again(driver: Driver, server: FakeServer) -> None:
    def full(connection: Connection) -> None:
        connection.send_lines("ARENA 1 fake/1", "ERROR full come back later")

    server.follow(full, full, whole_contest)
    assert driver.play(four, server.port) == "finished"


def test_giving_up_names_the_last_reason(driver: Driver, server: FakeServer) -> None:
    def full(connection: Connection) -> None:
        connection.send_lines("ARENA 1 fake/1", "ERROR full come back later")

    server.follow(full, full, full)
    port = server.port
    with pytest.raises(
        ClientError, match=f"^gave up on 127.0.0.1:{port} after 3 tries: full: come back later$"
    ):
        driver.play(four, port)


def test_a_refused_connection(driver: Driver, server: FakeServer) -> None:
    port = server.port
    server.close()
    with pytest.raises(ClientError, match=f"^gave up on 127.0.0.1:{port} after 3 tries: .*refused"):
        driver.play(four, port)


ONCE = RetryPolicy(delays=lambda: iter(()))


def says_nothing_more(time: VirtualTime) -> Callable[[Connection], None]:
    """A script that lets the client's time pass until the client is gone.

    The steps are short beside the limits: the connection that is being made does not use one up.
    """

    def script(connection: Connection) -> None:
        while not connection.has_sent():
            time.let_pass(0.1)
        connection.expect_end()

    return script


def test_a_server_that_does_not_answer_the_log_in(driver: Driver, server: FakeServer) -> None:
    time = VirtualTime()

    def script(connection: Connection) -> None:
        connection.send_lines("ARENA 1 test/1")
        connection.read_line()
        says_nothing_more(time)(connection)

    server.follow(script)
    with pytest.raises(ClientError, match=r"127.0.0.1:[0-9]+: the server did not log the bot in$"):
        driver.play_in(time, four, server.port, ONCE)


def test_a_silent_peer_may_not_be_an_arena_server(driver: Driver, server: FakeServer) -> None:
    time = VirtualTime()
    server.follow(says_nothing_more(time))
    with pytest.raises(ClientError, match=rf" the server did not log the bot in; {re.escape(SILENT)}$"):
        driver.play_in(time, four, server.port, ONCE)


def test_the_time_with_silent_peers_is_limited(driver: Driver, server: FakeServer) -> None:
    time = VirtualTime()
    server.follow(says_nothing_more(time), says_nothing_more(time))
    brief = RetryPolicy(delays=lambda: itertools.repeat(0.0), login_budget_s=15.0)
    with pytest.raises(ClientError, match=r" after 2 tries: the server did not log the bot in; the server "):
        driver.play_in(time, four, server.port, brief)


@pytest.mark.parametrize("line", ["SSH-2.0-OpenSSH_9.2", "HTTP/1.1 400 Bad Request", "+OK ready"])
def test_a_peer_of_another_protocol(driver: Driver, server: FakeServer, line: str) -> None:
    server.follow(lambda connection: connection.send_lines(line))
    with pytest.raises(ClientError) as caught:
        driver.play(four, server.port)
    assert str(caught.value) == (
        "the server broke the protocol: "
        f"the first line of a server is ARENA: {line!r}; is it an arena server?"
    )


def test_after_the_log_in_there_is_no_time_limit(
    driver: Driver, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit for the log-in ends with it."""
    limit = driver.reading_limit(monkeypatch)
    server.follow(whole_contest)
    driver.play(four, server.port)
    assert limit() is None


def test_a_log_in_resets_the_count_of_tries(driver: Driver, server: FakeServer) -> None:
    def gone_again(connection: Connection) -> None:
        connection.log_in()

    server.follow(*[gone_again] * 6, whole_contest)
    assert driver.play(four, server.port) == "finished"


def test_a_reset_while_the_client_writes(driver: Driver, server: FakeServer) -> None:
    """The reset arrives while the client waits for the server to read; it connects again."""

    def first(connection: Connection) -> None:
        connection.log_in()
        connection.fill("PING " + "x" * 900)
        connection.reset()

    server.follow(first, whole_contest)
    assert driver.play(four, server.port) == "finished"


def test_a_server_that_breaks_the_protocol_ends_the_client(driver: Driver, server: FakeServer) -> None:
    def script(connection: Connection) -> None:
        connection.log_in()
        connection.send_lines("TURN 1 clock=1,1 lag=0 credit=0")
        connection.expect_end()

    server.follow(script)
    with pytest.raises(
        ClientError, match=r"^the server broke the protocol: TURN has no meaning in the lobby"
    ):
        driver.play(four, server.port)


def test_a_lost_connection_is_one_line_of_the_log(
    driver: Driver, server: FakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.follow(lambda connection: None, whole_contest)
    port = server.port
    with caplog.at_level(logging.WARNING, "arena_client"):
        driver.play(four, port)
    start = f"me: no connection to 127.0.0.1:{port}"
    assert caplog.messages == [
        f"{start} (the server closed the connection; {SILENT}), next try in 0.0 s"
    ] or caplog.messages == [f"{start} (Connection reset by peer; {SILENT}), next try in 0.0 s"]
