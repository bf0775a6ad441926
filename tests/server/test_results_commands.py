"""The commands that read results, as a person types them: what they print, refuse and how they exit."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from arena_cli import replay
from arena_protocol.record import FaultRecord, PlyRecord, decode

from .programs import Shell

ROOT = Path(__file__).resolve().parents[2]


def change(folder: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / "arena.db")) as database:
        assert database.execute(statement, values).rowcount == 1
        database.commit()


class TestStandingsOfAFile:
    """The table of seed 001: the program that loses every game wins on points."""

    FILE = str(ROOT / "examples" / "paradox.txt")

    def table(self, shell: Shell, *arguments: str) -> dict[str, tuple[int, int, int]]:
        """Rank, points and wins by name."""
        answer = json.loads(shell("standings", "--file", self.FILE, "--json", *arguments).out)
        assert answer["games"] == 45
        return {row["bot"]: (row["rank"], row["points"], row["wins"]) for row in answer["standings"]}

    def test_by_points_the_program_that_lost_every_game_is_first(self, shell: Shell) -> None:
        others = {f"program{number}": (2, 660, 1) for number in range(2, 10)}
        assert self.table(shell) == {"program1": (1, 900, 0), **others, "program10": (10, 600, 9)}

    def test_by_wins_the_order_is_the_reverse(self, shell: Shell) -> None:
        others = {f"program{number}": (2, 660, 1) for number in range(2, 10)}
        by_wins = self.table(shell, "--scoring", "wins")
        assert by_wins == {"program10": (1, 600, 9), **others, "program1": (10, 900, 0)}

    def test_for_people(self, shell: Shell) -> None:
        shown = shell("standings", "--file", self.FILE, "--scoring", "wins").out
        assert re.search(r"^ +1 +program10 +600 +9 +66\.7 +9 +- *$", shown, re.MULTILINE)

    def test_games_of_three(self, tmp_path: Path, shell: Shell) -> None:
        path = tmp_path / "games"
        path.write_text("a 30 b 20 c -10  # the first\n\nb 40 c 0 a 40\n")
        answer = json.loads(shell("standings", "--file", str(path), "--json").out)
        rows = [(row["bot"], row["points"], row["wins"]) for row in answer["standings"]]
        assert rows == [("a", 70, 1), ("b", 60, 0), ("c", -10, 0)]

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("a 10 b\n", ":1: expected `NAME POINTS NAME POINTS ...`, got 'a 10 b'"),
            ("a 10\n", ":1: expected `NAME POINTS NAME POINTS ...`, got 'a 10'"),
            ("a 1 b 2\na x b 2\n", ":2: expected `NAME POINTS NAME POINTS ...`, got 'a x b 2'"),
            ("a 1 a 2\n", ":1: a bot plays once in a game, got 'a 1 a 2'"),
            ("# none\n", " holds no game; expected a line `NAME POINTS NAME POINTS ...` for each"),
        ],
    )
    def test_a_bad_file_is_one_line(self, tmp_path: Path, shell: Shell, text: str, line: str) -> None:
        path = tmp_path / "games"
        path.write_text(text)
        outcome = shell("standings", "--file", str(path))
        assert outcome.code == 2
        assert outcome.line.endswith(f"{path}{line}")

    def test_a_file_that_cannot_be_read_and_a_contest_are_refused(self, tmp_path: Path, shell: Shell) -> None:
        outcome = shell("standings", "--file", str(tmp_path / "none"))
        assert (outcome.code, outcome.line.endswith("none: No such file or directory")) == (2, True)
        (tmp_path / "binary").write_bytes(b"\xff")
        assert shell("standings", "--file", str(tmp_path / "binary")).line.endswith("binary: it is not text")
        outcome = shell("standings", "--file", self.FILE, "--contest", "trial")
        assert outcome.line == "arena: --file: a file of results has no contests; leave out --contest"


class TestStandings:
    def test_by_the_other_scoring(self, here: Path, shell: Shell) -> None:
        answer = json.loads(shell("standings", "--scoring", "wins", "--json").out)
        assert answer["contest"]["scoring"] == "wins"
        wins = [row["wins"] for row in answer["standings"]]
        assert wins == sorted(wins, reverse=True)

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


class TestVerify:
    def test_all_games_one_game_and_a_file(self, here: Path, shell: Shell) -> None:
        assert shell("verify").out == "verified: 6 games\n"
        assert shell("verify", "g3").out == "verified: 1 game\n"
        assert shell("export", "records").code == 0
        assert shell("verify", "records/g6.record").out == "verified: 1 game\n"
        told = json.loads(shell("verify", "--json").out)
        assert len(told.pop("head")) == 64
        assert told == {"games": 6, "verified": 6, "wrong": []}

    @pytest.mark.parametrize("place", [0, 1, 40, 300, -33, -32, -1])
    def test_any_changed_byte_is_refused(self, here: Path, shell: Shell, place: int) -> None:
        shell("export", "records")
        path = here / "records" / "g2.record"
        data = bytearray(path.read_bytes())
        data[place] ^= 0x01
        path.write_bytes(data)
        outcome = shell("verify", str(path))
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.line.startswith(f"arena: not verified: game {path}: damaged record: ")
        change(here, "UPDATE games SET record = ? WHERE game_id = 'g2'", bytes(data))
        outcome = shell("verify")
        assert outcome.code == 1
        assert outcome.line.startswith("arena: not verified: game g2: damaged record: ")

    @pytest.mark.parametrize(
        ("column", "value", "words"),
        [
            ("totals", "[9999, 0]", "totals: expected "),
            ("names", '["six", "six"]', "names: expected "),
            ("end", "won", "end: expected 'complete', found 'won'"),
            ("plies", 3, "plies: expected 8, found 3"),
        ],
    )
    def test_a_changed_column_is_refused_too(
        self, here: Path, shell: Shell, column: str, value: object, words: str
    ) -> None:
        change(here, f"UPDATE games SET {column} = ? WHERE game_id = 'g1'", value)
        outcome = shell("verify")
        assert outcome.code == 1
        assert outcome.line.startswith("arena: not verified: game g1, database: ")
        assert words in outcome.line

    def test_a_fault_struck_out_is_missed(self, here: Path, shell: Shell) -> None:
        change(here, "DELETE FROM faults WHERE id = (SELECT min(id) FROM faults)")
        assert ", database: faults: expected [(" in shell("verify").line

    def test_a_column_that_is_no_json(self, here: Path, shell: Shell) -> None:
        change(here, "UPDATE games SET totals = 'nonsense' WHERE game_id = 'g1'")
        outcome = shell("verify")
        assert outcome.code == 1
        assert outcome.line.startswith("arena: arena.db: the database is damaged (")

    def test_several_wrong_games_are_counted(self, here: Path, shell: Shell) -> None:
        change(here, "UPDATE games SET plies = 3 WHERE game_id = 'g1'")
        change(here, "UPDATE games SET plies = 3 WHERE game_id = 'g4'")
        outcome = shell("verify", "--json")
        assert outcome.code == 1
        assert outcome.line.endswith("(and 1 more games)")
        told = json.loads(outcome.out)
        assert (told["games"], told["verified"]) == (6, 4)
        assert [wrong["game"] for wrong in told["wrong"]] == ["g1", "g4"]

    def test_a_game_that_is_not_there(self, here: Path, shell: Shell) -> None:
        outcome = shell("verify", "g99")
        assert (outcome.code, outcome.line) == (1, "arena: arena.db: no game 'g99' in contest 1 trial")


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


class TestReplay:
    def test_in_a_pipe_all_plies_come_at_once_and_plain(self, here: Path, shell: Shell) -> None:
        outcome = shell("replay", "g1")
        assert outcome.code == 0
        assert "\x1b" not in outcome.out
        heads = [line for line in outcome.out.splitlines() if line.startswith("trial g1: ")]
        assert [head.rpartition("ply ")[2] for head in heads] == [f"{ply} of 8" for ply in range(9)]
        assert outcome.out.count("end: complete") == 1

    def test_one_ply(self, here: Path, shell: Shell) -> None:
        outcome = shell("replay", "g1", "--ply", "2")
        lines = outcome.out.splitlines()
        assert lines[0].endswith("ply 2 of 8")
        assert " plays " in lines[1]
        assert lines[3].split() == ["6", "7", "8", "9", "10"]
        board = lines[4:9]
        assert all(re.fullmatch(r"[1-5] \| [1-6.](  [1-6.]){4}  \| 1[1-5]", row) for row in board)
        assert lines[10].startswith("next   ")

    def test_a_ply_that_was_not_played(self, here: Path, shell: Shell) -> None:
        assert shell("replay", "g1", "--ply", "9").line == "arena: game g1 has 8 plies, not 9"

    def test_a_record_file_needs_no_database(self, here: Path, shell: Shell) -> None:
        shell("export", "records")
        (here / "arena.db").unlink()
        assert shell("replay", "records/g5.record", "--ply", "0").out.startswith("trial g5: ")

    def test_json_is_the_whole_record(self, here: Path, shell: Shell) -> None:
        shell("export", "records")
        for number in range(1, 7):
            record = decode((here / "records" / f"g{number}.record").read_bytes())
            told = json.loads(shell("replay", f"g{number}", "--json").out)
            assert told.keys() == set(record.__slots__)
            assert told["options"] == record.options
            assert (tuple(told["names"]), told["seed"], told["end"]) == (
                record.names,
                record.seed,
                "complete",
            )
            assert [PlyRecord(**ply | {"clock": tuple(ply["clock"]), "total": tuple(ply["total"])})
                    for ply in told["plies"]] == list(record.plies)  # fmt: skip
            assert [FaultRecord(**fault | {"line": bytes.fromhex(fault["line"])})
                    for fault in told["faults"]] == list(record.faults)  # fmt: skip
            assert tuple(told["totals"]) == record.totals

    def test_a_zombies_moves_are_marked(self, here: Path, shell: Shell) -> None:
        text = "".join(shell("replay", f"g{number}").out for number in range(1, 7))
        assert "zero plays 6, for a zombie: " in text

    def test_in_a_terminal_it_takes_its_time(
        self, here: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pauses: list[float] = []
        monkeypatch.setattr(replay.time, "sleep", pauses.append)
        monkeypatch.setattr("arena_cli.replay.is_terminal", lambda: True)
        outcome = shell("replay", "g1", "--delay", "0.25")
        assert pauses == [0.25] * 8
        assert outcome.out.count(replay.CLEAR) == 9
        assert "\x1b[30;4" in outcome.out
        plain = shell("replay", "g1", "--no-color", "--delay", "0")
        assert "\x1b" not in plain.out
        monkeypatch.setenv("NO_COLOR", "1")
        assert "\x1b" not in shell("replay", "g1", "--delay", "0").out

    def test_a_damaged_file(self, here: Path, shell: Shell) -> None:
        (here / "x.record").write_bytes(b"what is this")
        outcome = shell("replay", "x.record")
        assert outcome.code == 1
        assert outcome.line.startswith("arena: x.record: damaged record: ")
