"""`arena bot`: the engines it finds, and its errors before anything is played."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest
from tests.server.programs import Players, Server, Shell, contest, inside
from tests.slices import all_of

from arena_cli.seat_check import check_seat
from arena_client.bot import Bot
from arena_client.run import ConnectArgs


class TestBot:
    def test_an_engine_is_compiled_before_the_log_in(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        done: list[str] = []

        def run(*_: object, **__: object) -> str:
            done.append("logged in")
            return "finished"

        monkeypatch.setattr(
            "arena_engines.insertion.baselines.Greedy.warm_up", lambda _: done.append("compiled")
        )
        monkeypatch.setattr("arena_client.asyncio_client.run", run)
        assert shell("bot", "greedy", "--connect", "here:1", "--name", "a").out == "a leaves: finished\n"
        assert done == ["compiled", "logged in"]

    @pytest.mark.real
    def test_nothing_is_compiled_for_another_game_or_a_wrong_token(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        done: list[str] = []
        monkeypatch.setattr("arena_cli.bot.warm_up", lambda specs, game: done.append(game))

        def run(*_: object, **__: object) -> str:
            done.append("in")
            return "done"

        monkeypatch.setattr("arena_client.asyncio_client.run", run)
        with Server(contest("a", "b"), tmp_path) as server:
            at = ("--connect", f"127.0.0.1:{server.port}", "--name", "a")
            refused = shell("bot", "xo", *at)
            assert (refused.code, refused.line, done) == (
                1,
                "arena: the server refuses a: game: this contest plays insertion",
                [],
            )
            wrong = shell("bot", "champion:depth=1", "--name", "c", "--token", "x", *at[:2])
            assert (wrong.code, done) == (1, [])
            assert wrong.line.startswith("arena: the server refuses c: token: ")
            assert shell("bot", "champion:depth=1", *at).code == 0
            assert done == ["insertion", "in"]

    @all_of(
        "answer",
        [
            b"",
            b"ARENA 1 server=x\n",
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            b"ARENA 1\nERROR rate too fast\n",
            b"ARENA 1\nERROR slot a has slot 1 only\n",
            b"ARENA 1\nWELCOME a 01 0123456789abcdef\n",
        ],
    )
    def test_what_another_try_may_change_is_left_to_the_log_in(self, answer: bytes) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:

            def serve() -> None:
                connection, _ = listening.accept()
                with connection:
                    connection.sendall(answer)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(1000):
                        pass

            server = threading.Thread(target=serve)
            server.start()
            check_seat(ConnectArgs("127.0.0.1", listening.getsockname()[1], "a"), ["xo"])
            server.join()
        # Nothing listens there: the client tries again, as it always does.
        check_seat(ConnectArgs("127.0.0.1", 1, "a"), ["xo"])

    @pytest.mark.parametrize(
        ("arguments", "games"),
        [
            (["xo1970"], ["xo"]),
            (["perfect"], ["tictactoe", "disc", "lastcoin"]),
            (["perfect", "--game", "disc"], ["disc"]),
            (["random:seed=1"], ["insertion", "xo", "tictactoe", "disc", "lastcoin"]),
        ],
    )
    def test_an_engine_offers_every_game_that_it_can_play(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, arguments: list[str], games: list[str]
    ) -> None:
        offered: list[str] = []

        def run(bot: Bot, *_: object, **__: object) -> str:
            offered.extend(bot.games)
            return "finished"

        monkeypatch.setattr("arena_client.asyncio_client.run", run)
        assert shell("bot", *arguments, "--connect", "here:1", "--name", "a").code == 0
        assert offered == games

    @pytest.mark.parametrize(
        ("arguments", "line"),
        [
            (["dummy"], "say where to play: --connect HOST:PORT, or ARENA_HOST and ARENA_PORT set"),
            (["dummy", "--connect", "localhost"], "--connect: expected HOST:PORT, got 'localhost'"),
            (["dummy", "--connect", "localhost:0"], "--connect: expected HOST:PORT, got 'localhost:0'"),
            (["dummy", "--connect", ":2006"], "--connect: expected HOST:PORT, got ':2006'"),
        ],
    )
    def test_no_server_is_given(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, arguments: list[str], line: str
    ) -> None:
        monkeypatch.delenv("ARENA_HOST", raising=False)
        outcome = shell("bot", *arguments)
        assert (outcome.code, outcome.line) == (2, f"arena: {line}")

    def test_an_unknown_engine(self, shell: Shell) -> None:
        outcome = shell("bot", "chmapion", "--connect", "localhost:2006")
        assert outcome.code == 2
        assert outcome.line.startswith("arena: no engine 'chmapion' for insertion; there are: dummy, ")

    @pytest.mark.real
    @pytest.mark.soak
    def test_an_unknown_bot_name(self, tmp_path: Path) -> None:
        with Server(contest("a", "b"), tmp_path) as server:
            address = f"127.0.0.1:{server.port}"
            outcome = inside("bot", "dummy", "--connect", address, "--name", "c", "--token", "x")
            assert outcome.code == 1
            assert outcome.line.startswith("arena: the server refuses c: token: ")

    @pytest.mark.real
    @pytest.mark.soak
    def test_the_server_comes_from_the_environment(self, tmp_path: Path) -> None:
        with Server(contest("dummy", "b"), tmp_path, "--until-finished") as server:
            other = Players(server.port, [("b", "first-legal")])
            env = {"ARENA_HOST": "127.0.0.1", "ARENA_PORT": str(server.port)}
            outcome = inside("bot", "dummy", env=env)
            assert (outcome.code, outcome.out) == (0, "dummy leaves: finished\n")
            assert other.join() == {"b": "finished"}
