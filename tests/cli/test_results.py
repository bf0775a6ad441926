"""`arena standings`: output, refusals and exit status."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.server.programs import Shell
from tests.server.records import keep_early_end

from arena_cli.results import games_text, separated_text, unplayed_message

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("done", "total", "text"), [(2, 6, "2 of 6 games"), (1, None, "1 game"), (718, None, "718 games")]
)
def test_an_open_contest_has_no_number_of_all_games(done: int, total: int | None, text: str) -> None:
    assert games_text(done, total) == text


class TestStandings:
    def test_text(self, here: Path, shell: Shell) -> None:
        outcome = shell("standings")
        assert outcome.code == 0
        assert outcome.out.startswith("trial: insertion, 6 of 6 games, scored by points, finished\n")
        assert re.search(r"^ +\d +zero .*illegal 4 *$", outcome.out, re.MULTILINE)
        assert re.fullmatch(
            r'g\d: zero sent an illegal move "0" at ply \d; '
            r"the referee plays 6 for it until the game ends \(the first of 4 faults\)",
            outcome.out.splitlines()[-2],
        )
        assert outcome.out.splitlines()[-1] == "secret of the deals: 7"

    def test_why_it_ended_early(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell) -> None:
        monkeypatch.chdir(tmp_path)
        keep_early_end(tmp_path / "arena.db")
        lines = shell("standings").out.splitlines()
        assert lines[0] == "trial: insertion, 2 of 6 games, scored by points, finished"
        why = "ended early (stop): after 2 games a is separated from all others at 95 %;"
        assert f"{why} games that ran were played to their end" in lines
        answer = json.loads(shell("standings", "--json").out)
        assert answer["separated"] == {"games": 2, "names": ["a"]}

    def test_why_it_is_short(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell) -> None:
        monkeypatch.chdir(tmp_path)
        keep_early_end(tmp_path / "arena.db", "short")
        outcome = shell("standings")
        lines = outcome.out.splitlines()
        assert (outcome.code, lines[0]) == (0, "trial: insertion, 2 of 6 games, scored by points, short")
        reason = "no further round can be drawn of the bots that are left and may meet"
        assert f"ended early: {reason}" in lines
        answer = json.loads(shell("standings", "--json").out)
        assert (answer["contest"]["status"], answer["contest"]["reason"]) == ("short", reason)
        assert answer["contest"]["secret"] is not None, "nothing more is played"

    def test_json(self, here: Path, shell: Shell) -> None:
        answer = json.loads(shell("standings", "--contest", "trial", "--json").out)
        assert answer["contest"]["status"] == "finished"
        assert answer["contest"]["reason"] is None
        assert answer["contest"]["games"] == {"played": 6, "total": 6}
        assert [row["games"] for row in answer["standings"]] == [4, 4, 4]
        (fault,) = answer["first_faults"]
        assert (fault["bot"], fault["kind"], bytes.fromhex(fault["line"])) == ("zero", "illegal", b"MOVE 0")
        assert fault["text"].startswith(f'zero sent an illegal move "0" at ply {fault["ply"]}; ')
        ranks = [row["rank"] for row in answer["standings"]]
        assert ranks == sorted(ranks)
        assert ranks[0] == 1

    def test_an_unknown_contest(self, here: Path, shell: Shell) -> None:
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


class TestUnplayed:
    def test_causes_and_missing_bots_are_on_one_line(self) -> None:
        unplayed = {"absent: a": 4, "void, not played again": 1}
        progress = {"ended": "incomplete", "done": 1, "total": 6, "missing": ["a"], "unplayed": unplayed}
        assert unplayed_message(progress) == (
            "the contest is incomplete: 5 of 6 games have no result "
            "(4 absent: a, 1 void, not played again); missing bots: a"
        )

    def test_a_short_contest_says_why(self) -> None:
        progress = {"ended": "short", "done": 8, "total": 12, "missing": [], "unplayed": {"not drawn": 4}}
        assert unplayed_message(progress) == (
            "the contest is short: no further round can be drawn of the bots that are left and may meet: "
            "4 of 12 games have no result (4 not drawn)"
        )

    def test_without_causes(self) -> None:
        progress = {"ended": "stopped", "done": 0, "total": 6, "missing": [], "unplayed": {}}
        assert unplayed_message(progress) == "the contest is stopped: 6 of 6 games have no result"


class TestReadOnlyFolder:
    def test_results_are_read_as_they_are(
        self, here: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """root may write everywhere, so `os.access` is replaced by the answer for another user."""
        folder = here / "published results"
        folder.mkdir()
        (here / "arena.db").rename(folder / "arena.db")
        asked: list[Path] = []

        def access(path: Path, _: int) -> bool:
            asked.append(path)
            return path != folder

        monkeypatch.setattr("arena_server.store.preflight.os.access", access)
        seen: list[list[str]] = []
        monkeypatch.setattr(
            "arena_cli.standings.print_standings",
            lambda *_, **__: seen.append(sorted(path.name for path in folder.iterdir())),
        )
        assert shell("standings", "--database", f"sqlite:///{folder}/arena.db").code == 0
        assert seen == [["arena.db"]], "read without any file beside it"
        assert folder in asked
        assert shell("verify", "--database", f"sqlite:///{folder}/arena.db").out == "verified: 6 games\n"


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


def test_several_that_are_separated() -> None:
    assert separated_text(["ann", "bob"], 40).startswith(
        "ended early (stop): after 40 games ann, bob are separated"
    )
