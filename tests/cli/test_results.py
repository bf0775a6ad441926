"""`arena standings` and `arena export`: output, refusals and exit status."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.server.programs import Shell

from arena_protocol.record import decode

ROOT = Path(__file__).resolve().parents[2]


class TestStandings:
    def test_for_people(self, here: Path, shell: Shell) -> None:
        outcome = shell("standings")
        assert outcome.code == 0
        assert outcome.out.startswith("trial: insertion, 6 of 6 games, scored by points, finished\n")
        assert re.search(r"^ +\d +zero .*illegal 4 *$", outcome.out, re.MULTILINE)

    def test_for_programs(self, here: Path, shell: Shell) -> None:
        told = json.loads(shell("standings", "--contest", "trial", "--json").out)
        assert told["contest"]["status"] == "finished"
        assert told["contest"]["games"] == {"played": 6, "total": 6}
        assert [row["games"] for row in told["standings"]] == [4, 4, 4]
        ranks = [row["rank"] for row in told["standings"]]
        assert ranks == sorted(ranks)
        assert ranks[0] == 1

    def test_a_contest_that_is_not_there(self, here: Path, shell: Shell) -> None:
        outcome = shell("standings", "--contest", "other")
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.line == "arena: arena.db: no contest 'other' here; there are: 1 trial"

    def test_no_database(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell) -> None:
        monkeypatch.chdir(tmp_path)
        outcome = shell("standings")
        assert outcome.code == 1
        assert (
            outcome.line
            == "arena: arena.db: no such database; has a contest been played here? Try --database"
        )


class TestExport:
    def test_a_file_a_game_with_the_very_bytes(self, here: Path, shell: Shell) -> None:
        outcome = shell("export", "records")
        assert outcome.out.startswith("exported: 6 games of trial to records\nhead: ")
        names = sorted(path.name for path in (here / "records").glob("*.record"))
        assert names == [f"g{number}.record" for number in range(1, 7)]
        record = decode((here / "records" / "g1.record").read_bytes())
        assert (record.game_id, record.contest, len(record.plies)) == ("g1", "trial", 8)
        told = json.loads(shell("export", "records", "--json").out)
        assert told["contest"] == "trial"
        assert len(told["files"]) == 6

    def test_a_folder_that_cannot_be(self, here: Path, shell: Shell) -> None:
        (here / "taken").touch()
        outcome = shell("export", "taken")
        assert (outcome.code, outcome.line) == (1, "arena: taken: cannot be written: File exists")


class TestWhereNobodyMayWrite:
    def test_results_are_read_as_they_are(
        self, here: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whoever runs the tests may write everywhere, so the system is asked on behalf of somebody else."""
        folder = here / "published results"
        folder.mkdir()
        (here / "arena.db").rename(folder / "arena.db")
        told: list[Path] = []

        def access(path: Path, _: int) -> bool:
            told.append(path)
            return path != folder

        monkeypatch.setattr("arena_server.store.preflight.os.access", access)
        seen: list[list[str]] = []
        monkeypatch.setattr(
            "arena_cli.results.print_standings",
            lambda *_: seen.append(sorted(path.name for path in folder.iterdir())),
        )
        assert shell("standings", "--database", f"sqlite:///{folder}/arena.db").code == 0
        assert seen == [["arena.db"]], "read without any file beside it"
        assert folder in told
        assert shell("verify", "--database", f"sqlite:///{folder}/arena.db").out == "verified: 6 games\n"
