"""Both shells, test by test the same: one bot, one scripted server, real sockets, no waiting for time.

Here one connection from its first line to its last.
"""

from __future__ import annotations

import inspect
import threading

import pytest

from arena_client import Bot, ClientError, GameView, asyncio_client, trio_client

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
)
from .visitors import Diary, Instant, Thinker, four, whole_visit


@pytest.mark.parametrize("make", [Diary, Instant])
def test_a_whole_visit(driver: Driver, server: FakeServer, make: type[Diary]) -> None:
    server.follow(whole_visit)
    bot = make()
    assert driver.play(bot, server.port) == "finished"
    assert bot.told == [
        ("new", "g1"),
        ("choose", 1, "53351/34233/13552/44215/44526", "61"),
        ("choose", 3, "1.351/5.423/6.552/14215/44526", "63"),
        ("over", (60, 0)),
    ]
    on_the_loop = bot.threads == {threading.main_thread()}
    assert len(bot.threads) == 1
    assert on_the_loop == bot.instant


def test_the_token_is_sent_and_games_are_listed(driver: Driver, server: FakeServer) -> None:
    class Picky(Diary):
        games = ("insertion", "xo")

    def script(connection: Connection) -> None:
        hello = connection.log_in()
        assert hello == "HELLO 1 me games=insertion,xo token=s3cret agent=arena-client"
        connection.say(BYE)

    server.follow(script)
    assert driver.play(Picky, server.port, token="s3cret") == "finished"


def test_ping_is_answered_while_the_bot_thinks(driver: Driver, server: FakeServer) -> None:
    bot = Thinker()

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1)
        assert bot.asked.wait(20)
        connection.settle("while-thinking")
        assert not connection.says_anything()
        bot.let_go.set()
        connection.expect("MOVE 4")
        connection.say(PLAYED_1, PLAYED_2, TURN_3)
        connection.expect("MOVE 4")
        connection.say(PLAYED_3, PLAYED_4, OVER, BYE)

    server.follow(script)
    assert driver.play(bot, server.port) == "finished"


def test_byte_by_byte(driver: Driver, server: FakeServer) -> None:
    """The server's bytes come one a segment; the answers do not change."""

    class Dripping(Connection):
        def send(self, data: bytes) -> None:
            for byte in data:
                super().send(bytes([byte]))

    server.follow(lambda connection: whole_visit(Dripping(connection.sock)))
    bot = Diary()
    assert driver.play(bot, server.port) == "finished"
    assert [entry[0] for entry in bot.told if isinstance(entry, tuple)] == ["new", "choose", "choose", "over"]


def test_pause_in_the_middle_of_a_line(driver: Driver, server: FakeServer) -> None:
    """Half a line asks for nothing; the client waits for the rest, however long it takes."""
    bot = Diary()

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START)
        connection.send(b"PING a\nTURN 1 clock=20000,")
        connection.expect("PONG a")
        assert ("choose", 1) not in [entry[:2] for entry in bot.told if isinstance(entry, tuple)]
        connection.send(b"20000 lag=0 credit=0\n")
        connection.expect("MOVE 4")
        connection.say(PLAYED_1, BYE)

    server.follow(script)
    assert driver.play(bot, server.port) == "finished"


def test_slow_reader(driver: Driver, server: FakeServer) -> None:
    """A server that does not read is not read from: nothing piles up, and nothing is lost later."""
    token = "x" * 900

    def script(connection: Connection) -> None:
        connection.log_in()
        times, rest = connection.stuff(f"PING {token}")
        for _ in range(times - bool(rest)):
            connection.expect(f"PONG {token}")
        connection.send(rest)
        if rest:
            connection.expect(f"PONG {token}")
        connection.settle()
        connection.say(BYE)

    server.follow(script)
    assert driver.play(four, server.port) == "finished"


@pytest.mark.parametrize("instant", [False, True])
def test_what_the_bot_raises_reaches_the_caller(driver: Driver, server: FakeServer, instant: bool) -> None:
    """Even an OSError of the bot's own is no lost connection."""

    class Broken(Bot):
        def choose(self, view: GameView) -> int:
            raise FileNotFoundError("no opening book")

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1)
        connection.expect("QUIT")
        connection.expect_end()

    server.follow(script)
    bot = Broken()
    bot.instant = instant
    with pytest.raises(FileNotFoundError, match="no opening book"):
        driver.play(bot, server.port)


def test_a_time_limit_of_the_bots_own_is_no_lost_connection(driver: Driver, server: FakeServer) -> None:
    class Hasty(Instant):
        def choose(self, view: GameView) -> int:
            raise TimeoutError("the book did not answer")

    def script(connection: Connection) -> None:
        connection.log_in()
        connection.say(OFFER, *DEALT)
        connection.expect("READY g1")
        connection.say(START, TURN_1)
        connection.expect("QUIT")

    server.follow(script)
    with pytest.raises(TimeoutError, match="the book did not answer"):
        driver.play(Hasty, server.port)


def test_small_lines_leave_at_once(
    driver: Driver, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuned = []
    monkeypatch.setattr(driver.shell, "tune", lambda sock: tuned.append(sock))
    server.follow(whole_visit)
    driver.play(four, server.port)
    assert len(tuned) == 1


def test_a_port_that_cannot_be_one(driver: Driver) -> None:
    with pytest.raises(ClientError, match=r"^a port is a number from 1 to 65535, not 70000$"):
        driver.play(four, 70000)


def test_the_shells_have_the_same_names() -> None:
    """Parallel files stay parallel: the same functions, the same methods, the same arguments."""

    def names(module: object) -> dict[str, list[str]]:
        visit = module.Visit  # type: ignore[attr-defined]
        functions = {f"Visit.{name}": f for name, f in vars(visit).items() if inspect.isfunction(f)}
        functions |= {name: getattr(module, name) for name in ("run", "play", "connect")}
        return {name: list(inspect.signature(f).parameters) for name, f in functions.items()}

    in_trio = names(trio_client)
    assert in_trio.pop("Visit._wake") == ["self"], "a trio Event is replaced, not cleared"
    renamed = {
        name: ["sock" if value == "stream" else value for value in values] for name, values in in_trio.items()
    }
    assert names(asyncio_client) == renamed


def test_the_patience_of_these_tests_is_finite() -> None:
    assert len(list(EAGER.delays())) == 2
