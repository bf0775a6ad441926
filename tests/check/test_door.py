"""The port behind which a bot is checked: its connections, its end, what is left of an earlier case."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from arena_check.bot.door import Listening, how_it_ended


class Scripted:
    """A bot under test whose end and connections the test decides."""

    def __init__(self) -> None:
        self.exited: socket.socket | None = None
        self.given: tuple[str, int, str, str] | None = None
        self.ended: int | None = None

    def start(self, host: str, port: int, name: str, token: str) -> None:
        self.given = host, port, name, token

    def status(self) -> int | None:
        return self.ended

    def printed(self) -> str:
        return "its stdout"

    def stop(self) -> str:
        return "its stderr"

    def end(self, status: int) -> None:
        self.ended = status
        self.exited, other = socket.socketpair()
        other.close()


@pytest.fixture
def bot() -> Iterator[Scripted]:
    bot = Scripted()
    yield bot
    if bot.exited is not None:
        bot.exited.close()


@pytest.fixture
def door(bot: Scripted) -> Iterator[Listening]:
    door = Listening(bot, "127.0.0.1", 0)
    yield door
    door.close()


def connect(door: Listening) -> socket.socket:
    host, _, port = door.address.partition(":")
    return socket.create_connection((host, int(port)))


def test_the_bot_is_told_where_to_connect(bot: Scripted, door: Listening) -> None:
    door.start("me", "s3cret")
    assert bot.given is not None
    host, port, *rest = bot.given
    assert (f"{host}:{port}", rest) == (door.address, ["me", "s3cret"])


def test_a_connection_goes_before_the_end(bot: Scripted, door: Listening) -> None:
    bot.end(3)
    with connect(door):
        taken = door.accept(30)
        assert isinstance(taken, socket.socket)
        taken.close()
    assert door.accept(30) == "the bot ended with status 3"
    assert (door.end(30), door.status(), door.sees_end) == ("the bot ended with status 3", 3, True)


def test_nothing_in_time(bot: Scripted, door: Listening) -> None:
    assert door.accept(0.01) == "none within 0.01 s"
    assert (door.end(0.01), door.status(), door.sees_end) == ("", None, False)
    bot.exited, other = socket.socketpair()
    with other:
        assert door.end(0.01) == ""


def test_connections_that_no_case_has_taken_are_dropped(door: Listening) -> None:
    with connect(door) as left, connect(door) as also:
        assert (door.printed(), door.stop()) == ("its stdout", "its stderr")
        assert (left.recv(1), also.recv(1)) == (b"", b"")
    assert door.accept(0.01) == "none within 0.01 s"


@pytest.mark.parametrize(
    ("status", "text"),
    [(None, "the bot ended"), (0, "the bot ended with status 0"), (-11, "the bot ended by signal 11")],
)
def test_how_a_bot_ended(status: int | None, text: str) -> None:
    assert how_it_ended(status) == text
