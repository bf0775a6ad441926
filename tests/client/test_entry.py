"""The five-minute way in: where `run(bot)` finds the contest, and what it tells when it cannot."""

from __future__ import annotations

import threading

import pytest

from arena_client import Bot, GameView, asyncio_client, run
from arena_client.errors import ClientError
from arena_client.retry import Patience
from arena_client.run import Invitation, invitation

from .fake_server import BYE, Connection, FakeServer, play_game

USAGE = "say where to play: HOST PORT NAME [TOKEN] as arguments, or ARENA_HOST, ARENA_PORT and ARENA_NAME set"
AT_ONCE = Patience(delays=lambda: iter(()))
ENVIRONMENT = {"ARENA_HOST": "env", "ARENA_PORT": "1", "ARENA_NAME": "e", "ARENA_TOKEN": "t"}


def four(view: GameView) -> int:
    return 4


@pytest.fixture(autouse=True)
def _nobody_else_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["mybot.py"])
    for key in ENVIRONMENT:
        monkeypatch.delenv(key, raising=False)


def test_the_environment() -> None:
    assert invitation([], ENVIRONMENT) == Invitation("env", 1, "e", "t")


def test_the_command_line_comes_before_the_environment() -> None:
    assert invitation(["arg", "2", "a"], ENVIRONMENT) == Invitation("arg", 2, "a", "t")
    assert invitation(["arg", "2", "a", "s"], ENVIRONMENT) == Invitation("arg", 2, "a", "s")


def test_keywords_come_before_both() -> None:
    assert invitation(["arg", "2", "a"], ENVIRONMENT, port=3) == Invitation("arg", 3, "a", "t")


def test_with_all_keywords_the_command_line_is_the_bots_own() -> None:
    found = invitation(["--depth", "5", "a", "b", "c"], {}, host="key", port=3, name="k")
    assert found == Invitation("key", 3, "k", None)


@pytest.mark.parametrize("missing", ["ARENA_HOST", "ARENA_PORT", "ARENA_NAME"])
def test_what_is_missing_is_told(missing: str) -> None:
    with pytest.raises(ClientError) as caught:
        invitation([], {**ENVIRONMENT, missing: ""})
    assert str(caught.value) == USAGE


def test_too_many_arguments() -> None:
    with pytest.raises(ClientError) as caught:
        invitation(["a", "1", "b", "c", "d"], {})
    assert str(caught.value) == f"5 arguments are too many; {USAGE}"


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1", "1" * 5000, "٣"])
def test_a_port_that_is_none(port: str) -> None:
    with pytest.raises(ClientError) as caught:
        invitation(["here", port, "me"], {})
    assert str(caught.value) == f"a port is a number from 1 to 65535, not {port!r}"


def test_run_plays_to_the_end(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def script(connection: Connection) -> None:
        assert connection.log_in() == "HELLO 1 me token=t agent=arena-client"
        play_game(connection)
        connection.say(BYE)

    server.follow(script)
    monkeypatch.setattr("sys.argv", ["mybot.py", "127.0.0.1", str(server.port), "me", "t"])
    assert run(four) == "finished"


def test_a_failure_is_one_line_and_exit_status_1() -> None:
    with pytest.raises(SystemExit) as caught:
        run(four)
    assert caught.value.code == USAGE, "a text means: print it to stderr, exit with 1"


def test_a_server_that_refuses_is_one_line(server: FakeServer) -> None:
    server.follow(lambda connection: connection.say("ARENA 1 fake/1", "ERROR token no"))
    with pytest.raises(SystemExit) as caught:
        run(four, "127.0.0.1", server.port, name="me", patience=AT_ONCE)
    assert caught.value.code == "the server refuses me: token: no"


def test_what_is_no_bot_is_one_line() -> None:
    with pytest.raises(SystemExit) as caught:
        run("bot", "127.0.0.1", 1, name="me")  # type: ignore[arg-type]
    assert caught.value.code == "a bot is a Bot, a subclass of Bot or a function choose(view), not 'bot'"


def test_a_fault_of_the_bot_keeps_its_traceback(server: FakeServer) -> None:
    class Broken(Bot):
        def new_game(self, view: GameView) -> None:
            raise KeyError("opening")

        def choose(self, view: GameView) -> int:
            return 4

    def script(connection: Connection) -> None:
        connection.log_in()
        with pytest.raises(AssertionError):
            play_game(connection)

    server.follow(script)
    with pytest.raises(KeyError, match="opening"):
        run(Broken, "127.0.0.1", server.port, name="me")


def test_ctrl_c_leaves_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(asyncio_client, "run", interrupted)
    with pytest.raises(SystemExit) as caught:
        run(four, "127.0.0.1", 1, name="me")
    assert caught.value.code == 130
    assert threading.current_thread() is threading.main_thread()
