"""`arena bot` and `arena analyse`: whom they know, what they say before anything is played."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from arena_client.bot import Bot
from arena_engines.engine import EngineError

from .programs import Players, Server, Shell, arena, contest


class TestBot:
    def test_what_is_to_be_compiled_is_so_before_the_bot_logs_in(
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
    def test_nowhere_to_play(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, arguments: list[str], line: str
    ) -> None:
        monkeypatch.delenv("ARENA_HOST", raising=False)
        outcome = shell("bot", *arguments)
        assert (outcome.code, outcome.line) == (2, f"arena: {line}")

    def test_nobody_of_that_name(self, shell: Shell) -> None:
        outcome = shell("bot", "chmapion", "--connect", "localhost:2006")
        assert outcome.code == 2
        assert outcome.line.startswith("arena: no engine 'chmapion' for insertion; there are: dummy, ")

    def test_a_name_that_the_server_does_not_know(self, tmp_path: Path) -> None:
        with Server(contest("a", "b"), tmp_path) as server:
            address = f"127.0.0.1:{server.port}"
            outcome = arena("bot", "dummy", "--connect", address, "--name", "c", "--token", "x")
            assert outcome.code == 1
            assert outcome.line.startswith("arena: the server refuses c: token: ")

    def test_where_to_play_comes_from_the_environment(self, tmp_path: Path) -> None:
        with Server(contest("dummy", "b"), tmp_path, "--until-finished") as server:
            other = Players(server.port, [("b", "first-legal")])
            env = {"ARENA_HOST": "127.0.0.1", "ARENA_PORT": str(server.port)}
            outcome = arena("bot", "dummy", env=env)
            assert (outcome.code, outcome.out) == (0, "dummy leaves: finished\n")
            assert other.join() == {"b": "finished"}


class TestAnalyse:
    POSITION = "53351/34233/13552/44215/44526 61634513435625445315"

    def test_as_the_house_has_it(self, tmp_path: Path, shell: Shell) -> None:
        path = tmp_path / "positions"
        path.write_text(f"{self.POSITION}\n")
        outcome = shell(
            "analyse", "insertion", "--engine", "minimax", "--depth", "1", "--positions", str(path), "--json"
        )
        told = json.loads(outcome.out)
        (answer,) = told["positions"]
        assert 1 <= answer["move"] <= 15
        assert len(answer["eval"]) == 3
        assert answer["nodes"] >= 1
        assert told["seconds"] >= 0
        assert shell("analyse", "insertion", "--depth", "1", "--positions", str(path)).code == 0

    def test_a_bad_line_is_named(self, tmp_path: Path, shell: Shell) -> None:
        path = tmp_path / "positions"
        path.write_text("nonsense\n")
        outcome = shell("analyse", "insertion", "--positions", str(path))
        assert outcome.code == 2
        assert outcome.line.startswith(f"arena: {path}:1: expected `<board> <visible sequence>`")

    def test_a_file_without_positions(self, tmp_path: Path, shell: Shell) -> None:
        path = tmp_path / "positions"
        path.write_text("# none yet\n\n")
        outcome = shell("analyse", "insertion", "--positions", str(path))
        assert outcome.code == 2
        assert outcome.line == (
            f"arena: {path}: no positions; expected a line `<board> <visible sequence>` for each"
        )

    @pytest.mark.parametrize(
        ("command", "place"),
        [
            (("analyse", "insertion", "--positions", "positions"), "arena_engines.analysis.analyse_file"),
            (("bench", "search"), "arena_engines.analysis.search_bench"),
            (("match", "greedy", "dummy"), "arena_cli.match.games.match"),
            (("play", "insertion"), "arena_cli.play.play_game"),
        ],
    )
    def test_ctrl_c_ends_a_search_that_hears_no_signal_of_pythons(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], place: str
    ) -> None:
        before = signal.getsignal(signal.SIGINT)
        during: list[object] = []

        def searching(*_: object, **__: object) -> object:
            during.append(signal.getsignal(signal.SIGINT))
            raise EngineError("enough")

        monkeypatch.setattr(place, searching)
        assert shell(*command).line == "arena: enough"
        assert during == [signal.SIG_DFL]
        assert signal.getsignal(signal.SIGINT) is before
