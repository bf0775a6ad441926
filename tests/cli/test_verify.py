"""`arena verify`: single records and the columns stored next to them; the chain has tests of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.server.programs import Shell
from tests.server.records import change

from arena_cli import results


class TestVerify:
    def test_all_games_one_game_and_a_file(self, here: Path, shell: Shell) -> None:
        assert shell("verify").out == "verified: 6 games\n"
        assert shell("verify", "g3").out == "verified: 1 game\n"
        assert shell("export", "records").code == 0
        assert shell("verify", "records/g6.record").out == "verified: 1 game\n"
        answer = json.loads(shell("verify", "--json").out)
        assert len(answer.pop("head")) == 64
        assert answer == {
            "games": 6,
            "verified": 6,
            "withheld": 0,
            "validations": 0,
            "played_on": 0,
            "wrong": [],
        }

    def test_of_many_games_a_terminal_shows_how_far_it_is(
        self, here: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert shell("verify").err == ""
        monkeypatch.setenv("FORCE_COLOR", "1")  # as if stderr were a terminal
        assert "verifying" not in shell("verify").err
        monkeypatch.setattr(results, "SHOWN_GAMES", 6)
        outcome = shell("verify")
        assert outcome.out == "verified: 6 games\n"
        assert "verifying" in outcome.err
        assert "verifying" not in shell("verify", "g3").err
        assert "exporting" in shell("export", "records").err
        assert "exporting" in shell("export", "tables", "--format", "csv").err
        assert "writing" in shell("site", "pages").err

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
        change(here / "arena.db", "UPDATE games SET record = :data WHERE game_id = 'g2'", data=bytes(data))
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
        change(here / "arena.db", f"UPDATE games SET {column} = :value WHERE game_id = 'g1'", value=value)
        outcome = shell("verify")
        assert outcome.code == 1
        assert outcome.line.startswith("arena: not verified: game g1, database: ")
        assert words in outcome.line

    def test_a_deleted_fault_is_found(self, here: Path, shell: Shell) -> None:
        change(here / "arena.db", "DELETE FROM faults WHERE id = (SELECT min(id) FROM faults)")
        assert ", database: faults: expected [(" in shell("verify").line

    def test_a_column_that_is_no_json(self, here: Path, shell: Shell) -> None:
        change(here / "arena.db", "UPDATE games SET totals = 'nonsense' WHERE game_id = 'g1'")
        outcome = shell("verify")
        assert outcome.code == 1
        assert outcome.line.startswith("arena: arena.db: the database is damaged (")

    def test_a_folder_against_the_published_secret(self, here: Path, shell: Shell) -> None:
        """The secret that `arena standings` prints derives every deal; no other number does."""
        secret = json.loads(shell("standings", "--json").out)["contest"]["secret"]
        assert shell("export", "records").code == 0
        assert shell("verify", "records", "--secret", secret).out == "verified: 6 games\n"
        outcome = shell("verify", "records", "--secret", str(int(secret) + 1), "--json")
        assert outcome.code == 1
        assert {each["error"] for each in json.loads(outcome.out)["wrong"]} == {
            f"g{number}: the deal is not derived from the contest's secret" for number in range(1, 7)
        }

    @pytest.mark.parametrize("secret", ["", "-1", "x", "1" * 79, "²"])
    def test_what_is_no_secret(self, here: Path, shell: Shell, secret: str) -> None:
        outcome = shell("verify", "records", "--secret", secret)
        assert outcome.code == 2
        assert outcome.line.startswith(
            "arena: --secret: expected the decimal number that arena standings prints"
        )

    def test_a_secret_without_a_folder(self, here: Path, shell: Shell) -> None:
        outcome = shell("verify", "--secret", "5")
        assert outcome.code == 2
        assert outcome.line == (
            "arena: --secret: expected a folder of arena export; a database has the secret itself"
        )

    def test_several_wrong_games_are_counted(self, here: Path, shell: Shell) -> None:
        change(here / "arena.db", "UPDATE games SET plies = 3 WHERE game_id = 'g1'")
        change(here / "arena.db", "UPDATE games SET plies = 3 WHERE game_id = 'g4'")
        outcome = shell("verify", "--json")
        assert outcome.code == 1
        assert outcome.line.endswith("(and 1 more games)")
        answer = json.loads(outcome.out)
        assert (answer["games"], answer["verified"]) == (6, 4)
        assert [wrong["game"] for wrong in answer["wrong"]] == ["g1", "g4"]

    def test_an_unknown_game(self, here: Path, shell: Shell) -> None:
        outcome = shell("verify", "g99")
        assert (outcome.code, outcome.line) == (1, "arena: arena.db: no game 'g99' in contest 1 trial")
