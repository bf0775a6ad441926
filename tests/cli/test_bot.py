"""`arena bot`: the engines it finds, and its errors before anything is played."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.server.programs import Players, Server, Shell, contest, inside

from arena_client.bot import Bot


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
    def test_an_unknown_bot_name(self, tmp_path: Path) -> None:
        with Server(contest("a", "b"), tmp_path) as server:
            address = f"127.0.0.1:{server.port}"
            outcome = inside("bot", "dummy", "--connect", address, "--name", "c", "--token", "x")
            assert outcome.code == 1
            assert outcome.line.startswith("arena: the server refuses c: token: ")

    @pytest.mark.real
    def test_the_server_comes_from_the_environment(self, tmp_path: Path) -> None:
        with Server(contest("dummy", "b"), tmp_path, "--until-finished") as server:
            other = Players(server.port, [("b", "first-legal")])
            env = {"ARENA_HOST": "127.0.0.1", "ARENA_PORT": str(server.port)}
            outcome = inside("bot", "dummy", env=env)
            assert (outcome.code, outcome.out) == (0, "dummy leaves: finished\n")
            assert other.join() == {"b": "finished"}
