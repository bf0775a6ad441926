"""`run(bot)`: where it finds the contest, how it ends, and its errors in one line."""

from __future__ import annotations

import threading

import pytest
from tests.slices import all_of

from arena_client import Bot, GameView, asyncio_client, run
from arena_client.errors import ClientError
from arena_client.retry import RetryPolicy
from arena_client.run import ConnectArgs, connect_args

from .fake_server import BYE, Connection, FakeServer, play_game

USAGE = "say where to play: HOST PORT NAME [TOKEN] as arguments, or ARENA_HOST, ARENA_PORT and ARENA_NAME set"
AT_ONCE = RetryPolicy(delays=lambda: iter(()))
ENVIRONMENT = {"ARENA_HOST": "env", "ARENA_PORT": "1", "ARENA_NAME": "e", "ARENA_TOKEN": "t"}


def four(view: GameView) -> int:
    return 4


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["mybot.py"])
    for key in (*ENVIRONMENT, "ARENA_TLS"):
        monkeypatch.delenv(key, raising=False)


def test_the_environment() -> None:
    assert connect_args([], ENVIRONMENT) == ConnectArgs("env", 1, "e", "t", tls=False)


def test_without_a_host_in_the_environment_the_command_line_comes_first() -> None:
    some = {**ENVIRONMENT, "ARENA_HOST": ""}
    assert connect_args(["arg", "2", "a"], some) == ConnectArgs("arg", 2, "a", "t", tls=False)
    assert connect_args(["arg", "2", "a", "s"], some) == ConnectArgs("arg", 2, "a", "s", tls=False)
    assert connect_args(["arg", "2"], some) == ConnectArgs("arg", 2, "e", "t", tls=False)


@all_of(
    "own", [["--depth", "3"], ["3"], ["deep", "3", "me", "t"], ["a", "b", "c", "d", "e"], ["arg", "2", "a"]]
)
def test_with_a_host_in_the_environment_the_command_line_is_the_bots_own(own: list[str]) -> None:
    assert connect_args(own, ENVIRONMENT) == ConnectArgs("env", 1, "e", "t", tls=False)


def test_keywords_come_before_both() -> None:
    assert connect_args([], ENVIRONMENT, port=3) == ConnectArgs("env", 3, "e", "t", tls=False)
    assert connect_args(["arg", "2", "a"], {}, port=3) == ConnectArgs("arg", 3, "a", tls=False)


def test_an_option_is_no_host() -> None:
    with pytest.raises(ClientError) as caught:
        connect_args(["--depth", "3"], {"ARENA_NAME": "e"})
    assert str(caught.value) == f"'--depth' is no HOST; {USAGE}"


def test_with_all_keywords_the_command_line_is_the_bots_own() -> None:
    found = connect_args(["--depth", "5", "a", "b", "c"], {}, host="key", port=3, name="k")
    assert found == ConnectArgs("key", 3, "k", None, tls=False)


@pytest.mark.parametrize("missing", ["ARENA_HOST", "ARENA_PORT", "ARENA_NAME"])
def test_a_missing_value(missing: str) -> None:
    with pytest.raises(ClientError) as caught:
        connect_args([], {**ENVIRONMENT, missing: ""})
    assert str(caught.value) == USAGE


def test_too_many_arguments() -> None:
    with pytest.raises(ClientError) as caught:
        connect_args(["a", "1", "b", "c", "d"], {})
    assert str(caught.value) == f"5 arguments are too many; {USAGE}"


@all_of("port", ["0", "65536", "http", "-1", "1" * 5000, "٣"])
def test_a_bad_port(port: str) -> None:
    with pytest.raises(ClientError) as caught:
        connect_args(["here", port, "me"], {})
    assert str(caught.value) == f"a port is a number from 1 to 65535, not {port!r}"


@pytest.mark.parametrize(
    ("value", "tls"), [("", False), ("0", False), ("1", True), ("/etc/arena/ca.pem", "/etc/arena/ca.pem")]
)
def test_tls_by_the_environment(value: str, tls: bool | str) -> None:
    assert connect_args([], {**ENVIRONMENT, "ARENA_TLS": value}).tls == tls


def test_a_keyword_comes_before_the_environment_for_tls_too() -> None:
    assert connect_args([], {**ENVIRONMENT, "ARENA_TLS": "1"}, tls=False).tls is False


def test_run_plays_to_the_end(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def script(connection: Connection) -> None:
        assert connection.log_in() == "HELLO 1 me token=t agent=arena-client"
        play_game(connection)
        connection.send_lines(BYE)

    server.follow(script)
    monkeypatch.setattr("sys.argv", ["mybot.py", "127.0.0.1", str(server.port), "me", "t"])
    assert run(four) == "finished"


def test_a_failure_is_one_line_and_exit_status_1() -> None:
    with pytest.raises(SystemExit) as caught:
        run(four)
    assert caught.value.code == USAGE, "a text means: print it to stderr, exit with 1"


def test_a_server_that_refuses_is_one_line(server: FakeServer) -> None:
    server.follow(lambda connection: connection.send_lines("ARENA 1 fake/1", "ERROR token no"))
    with pytest.raises(SystemExit) as caught:
        run(four, "127.0.0.1", server.port, name="me", policy=AT_ONCE)
    assert caught.value.code == "the server refuses me: token: no"


def test_something_that_is_not_a_bot_is_one_line() -> None:
    with pytest.raises(SystemExit) as caught:
        run("bot", "127.0.0.1", 1, name="me")  # type: ignore[arg-type]
    assert (
        caught.value.code
        == "a bot is a function choose(view), an async generator, a Bot or an AsyncBot, not 'bot'"
    )


def test_an_exception_of_the_bot_passes_through(server: FakeServer) -> None:
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


def test_ctrl_c_is_exit_status_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(asyncio_client, "run", interrupted)
    with pytest.raises(SystemExit) as caught:
        run(four, "127.0.0.1", 1, name="me")
    assert caught.value.code == 130
    assert threading.current_thread() is threading.main_thread()


@pytest.mark.parametrize(("text", "slot"), [("", None), ("1", 1), ("12", 12)])
def test_the_slot_of_the_environment(text: str, slot: int | None) -> None:
    assert connect_args([], {**ENVIRONMENT, "ARENA_SLOT": text}).slot == slot
    assert connect_args([], {**ENVIRONMENT, "ARENA_SLOT": text}, slot=3).slot == 3


@pytest.mark.parametrize("text", ["0", "-1", "two", "123456"])
def test_a_slot_that_is_no_number(text: str) -> None:
    with pytest.raises(ClientError) as caught:
        connect_args([], {**ENVIRONMENT, "ARENA_SLOT": text})
    assert str(caught.value) == f"ARENA_SLOT is a number from 1 up, not {text!r}"


def test_the_contest_comes_from_the_call_or_the_environment() -> None:
    environment = {"ARENA_CONTEST": "friday"}
    given = ["localhost", "2006", "mine"]
    assert connect_args(given, environment).contest == "friday"
    assert connect_args(given, environment, contest="saturday").contest == "saturday"
    assert connect_args(given, {}).contest is None
