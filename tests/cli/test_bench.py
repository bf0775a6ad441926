"""`arena analyse`, and Ctrl-C during compiled searches."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from tests.server.programs import Shell

from arena_engines.engine import EngineError


class TestAnalyse:
    POSITION = "53351/34233/13552/44215/44526 61634513435625445315"

    def test_json(self, tmp_path: Path, shell: Shell) -> None:
        path = tmp_path / "positions"
        path.write_text(f"{self.POSITION}\n")
        outcome = shell(
            "analyse", "insertion", "--engine", "minimax", "--depth", "1", "--positions", str(path), "--json"
        )
        analysis = json.loads(outcome.out)
        (answer,) = analysis["positions"]
        assert 1 <= answer["move"] <= 15
        assert len(answer["eval"]) == 3
        assert answer["nodes"] >= 1
        assert analysis["seconds"] >= 0
        assert shell("analyse", "insertion", "--depth", "1", "--positions", str(path)).code == 0

    def test_a_library_gets_the_positions_and_an_engine_plays_them(
        self, tmp_path: Path, shell: Shell
    ) -> None:
        path, library = tmp_path / "positions", tmp_path / "library.jsonl"
        path.write_text("x../.../...\n.../.x./...\n")
        command = (
            "analyse",
            "tictactoe",
            "--positions",
            str(path),
            "--depth",
            "3",
            "--library",
            str(library),
        )
        assert shell(*command).code == 0
        entries = [json.loads(line) for line in library.read_text().splitlines()]
        assert [entry["state"] for entry in entries] == ["x../.../...", ".../.x./..."]
        assert {entry["depth"] for entry in entries} == {3}
        assert shell(*command, "--engine", "weighted:k=3/1/2").code == 0
        assert [json.loads(line) for line in library.read_text().splitlines()] == entries

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
            (("match", "greedy", "dummy"), "arena_cli.match_run.play"),
            (("play", "insertion"), "arena_cli.play.play_game"),
        ],
    )
    def test_ctrl_c_kills_the_process_during_a_compiled_search(
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
