"""The asyncio and the trio client, with the same tests on real sockets: one connection."""

from __future__ import annotations

import inspect
import threading

import pytest

from arena_client import Bot, ClientError, GameView, asyncio_client, trio_client

from .bots import Blocking, Instant, Recorder, four, whole_contest
from .conftest import EAGER, Driver
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
    ask_once,
)


@pytest.mark.parametrize("make", [Recorder, Instant])
def test_a_whole_contest(driver: Driver, server: FakeServer, make: type[Recorder]) -> None:
    server.follow(whole_contest)
    bot = make()
    assert driver.play(bot, server.port) == "finished"
    assert bot.calls == [
        ("new", "g1"),
        ("choose", 1, "53351/34233/13552/44215/44526", "61"),
        ("choose", 3, "1.351/5.423/6.552/14215/44526", "63"),
        ("over", (60, 0)),
    ]
    on_the_loop = bot.threads == {threading.main_thread()}
    assert len(bot.threads) == 1
    assert on_the_loop == bot.instant


def test_the_token_is_sent_and_games_are_listed(driver: Driver, server: FakeServer) -> None:
    class Listed(Recorder):
        games = ("insertion", "xo")

    def script(connection: Connection) -> None:
        hello = connection.log_in()
        assert hello == "HELLO 1 me games=insertion,xo token=s3cret agent=arena-client"
        connection.send_lines(BYE)

    server.follow(script)
    assert driver.play(Listed, server.port, token="s3cret") == "finished"


def test_ping_is_answered_while_the_bot_thinks(driver: Driver, server: FakeServer) -> None:
    bot = Blocking()

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.send_lines(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.send_lines(START, TURN_1)
        assert bot.asked.wait(20)
        connection.sync("while-thinking")
        assert not connection.has_sent()
        bot.let_go.set()
        connection.expect("MOVE 4")
        connection.send_lines(PLAYED_1, PLAYED_2, TURN_3)
        connection.expect("MOVE 4")
        connection.send_lines(PLAYED_3, PLAYED_4, OVER, BYE)

    server.follow(script)
    assert driver.play(bot, server.port) == "finished"


def test_byte_by_byte(driver: Driver, server: FakeServer) -> None:
    """The answers do not depend on the segments of the server's bytes."""

    class Dripping(Connection):
        def send(self, data: bytes) -> None:
            for byte in data:
                super().send(bytes([byte]))

    server.follow(lambda connection: whole_contest(Dripping(connection.sock)))
    bot = Recorder()
    assert driver.play(bot, server.port) == "finished"
    assert [entry[0] for entry in bot.calls if isinstance(entry, tuple)] == [
        "new",
        "choose",
        "choose",
        "over",
    ]


def test_pause_in_the_middle_of_a_line(driver: Driver, server: FakeServer) -> None:
    """Half a line has no effect; the client waits for the rest."""
    bot = Recorder()

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.send_lines(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.send_lines(START)
        connection.send(b"PING a\nTURN 1 clock=20000,")
        connection.expect("PONG a")
        assert ("choose", 1) not in [entry[:2] for entry in bot.calls if isinstance(entry, tuple)]
        connection.send(b"20000 lag=0 credit=0\n")
        connection.expect("MOVE 4")
        connection.send_lines(PLAYED_1, BYE)

    server.follow(script)
    assert driver.play(bot, server.port) == "finished"


def test_slow_reader(driver: Driver, server: FakeServer) -> None:
    """The client does not read from a server that does not read: memory is bounded, nothing is lost."""
    token = "x" * 900

    def script(connection: Connection) -> None:
        connection.log_in()
        times, rest = connection.fill(f"PING {token}")
        for _ in range(times - bool(rest)):
            connection.expect(f"PONG {token}")
        connection.send(rest)
        if rest:
            connection.expect(f"PONG {token}")
        connection.sync()
        connection.send_lines(BYE)

    server.follow(script)
    assert driver.play(four, server.port) == "finished"


@pytest.mark.parametrize("instant", [False, True])
def test_an_exception_of_the_bot_closes_the_connection_without_quit(
    driver: Driver, server: FakeServer, instant: bool
) -> None:
    """Even an OSError of the bot is not a lost connection. Without QUIT a restarted bot resumes."""

    class Broken(Bot):
        def choose(self, view: GameView) -> int:
            raise FileNotFoundError("no opening book")

    server.follow(ask_once)
    bot = Broken()
    bot.instant = instant
    with pytest.raises(FileNotFoundError, match="no opening book"):
        driver.play(bot, server.port)


def test_a_timeout_of_the_bot_is_not_a_lost_connection(driver: Driver, server: FakeServer) -> None:
    class Hasty(Instant):
        def choose(self, view: GameView) -> int:
            raise TimeoutError("the book did not answer")

    server.follow(ask_once)
    with pytest.raises(TimeoutError, match="the book did not answer"):
        driver.play(Hasty, server.port)


def test_small_lines_leave_at_once(
    driver: Driver, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuned = []
    monkeypatch.setattr(driver.shell, "tune", lambda sock: tuned.append(sock))
    server.follow(whole_contest)
    driver.play(four, server.port)
    assert len(tuned) == 1


def test_a_port_out_of_range(driver: Driver) -> None:
    with pytest.raises(ClientError, match=r"^a port is a number from 1 to 65535, not 70000$"):
        driver.play(four, 70000)


def test_both_clients_have_the_same_names() -> None:
    """The same functions, methods and arguments."""

    def names(module: object) -> dict[str, list[str]]:
        methods = vars(module.Connection).items()  # type: ignore[attr-defined]
        functions = {f"Connection.{name}": f for name, f in methods if inspect.isfunction(f)}
        functions |= {name: getattr(module, name) for name in ("run", "play", "connect")}
        return {name: list(inspect.signature(f).parameters) for name, f in functions.items()}

    in_trio = names(trio_client)
    renamed = {
        name: ["sock" if value == "stream" else value for value in values] for name, values in in_trio.items()
    }
    assert names(asyncio_client) == renamed


def test_the_retries_of_these_tests_are_finite() -> None:
    assert len(list(EAGER.delays())) == 2


def test_a_note_is_sent_while_the_bot_still_thinks(driver: Driver, server: FakeServer) -> None:
    arrived = threading.Event()

    class Noting(Bot):
        def choose(self, view: GameView) -> int:
            if view.ply == 1:
                view.note("thinking", depth=3)
                assert arrived.wait(20)
            return 4

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.send_lines(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.send_lines(START, TURN_1)
        connection.expect("INFO game=g1 ply=1 depth=3 text=thinking")
        arrived.set()
        connection.expect("MOVE 4")
        connection.send_lines(PLAYED_1, PLAYED_2, TURN_3)
        connection.expect("MOVE 4")
        connection.send_lines(PLAYED_3, PLAYED_4, OVER, BYE)

    server.follow(script)
    assert driver.play(Noting, server.port) == "finished"
