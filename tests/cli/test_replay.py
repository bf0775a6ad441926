"""`arena replay`: a game drawn in the terminal, and the whole record as JSON."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.server.programs import Shell

from arena_cli import replay
from arena_protocol.record import FaultRecord, InfoRecord, PlyRecord
from arena_protocol.record_codec import decode, encode


class TestReplay:
    def test_in_a_pipe_all_plies_come_at_once_and_plain(self, here: Path, shell: Shell) -> None:
        outcome = shell("replay", "g1")
        assert outcome.code == 0
        assert "\x1b" not in outcome.out
        heads = [line for line in outcome.out.splitlines() if line.startswith("trial g1: ")]
        assert [head.rpartition("ply ")[2] for head in heads] == [f"{ply} of 8" for ply in range(9)]
        assert outcome.out.count("The game is over: ") == 1

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

    def test_a_note_of_a_bot_stands_at_its_ply(self, here: Path, shell: Shell) -> None:
        shell("export", "records")
        record = decode((here / "records" / "g1.record").read_bytes())
        infos = (InfoRecord(2, 2, depth=3, line="6,7"), InfoRecord(1, 3, text="two runs"))
        (here / "noted.record").write_bytes(encode(replace(record, infos=infos)))
        noted = f"note of {record.names[1]}: depth=3 line=6,7"
        assert noted in shell("replay", "noted.record", "--ply", "2").out.splitlines()
        assert "note of" not in shell("replay", "noted.record", "--ply", "1").out
        assert shell("replay", "noted.record").out.count("note of ") == 2

    def test_json_is_the_whole_record(self, here: Path, shell: Shell) -> None:
        shell("export", "records")
        for number in range(1, 7):
            record = decode((here / "records" / f"g{number}.record").read_bytes())
            answer = json.loads(shell("replay", f"g{number}", "--json").out)
            assert answer.keys() == set(record.__slots__)
            assert answer["options"] == record.options
            assert (tuple(answer["names"]), answer["seed"], answer["end"]) == (
                record.names,
                record.seed,
                "complete",
            )
            assert [PlyRecord(**ply | {"clock": tuple(ply["clock"]), "total": tuple(ply["total"])})
                    for ply in answer["plies"]] == list(record.plies)  # fmt: skip
            assert [FaultRecord(**fault | {"line": bytes.fromhex(fault["line"])})
                    for fault in answer["faults"]] == list(record.faults)  # fmt: skip
            assert tuple(answer["totals"]) == record.totals

    def test_a_zombies_moves_are_marked(self, here: Path, shell: Shell) -> None:
        text = "".join(shell("replay", f"g{number}").out for number in range(1, 7))
        assert "zero plays 6, for a zombie: " in text
        frame = next(frame for frame in re.split("(?=^trial )", text, flags=re.M) if "zero sent" in frame)
        ply = re.search(r" ply (\d) of 8\nzero plays 6, for a zombie: ", frame)
        assert ply is not None
        sentence = (
            f'zero sent an illegal move "0" at ply {ply[1]}; the referee plays 6 for it until the game ends'
        )
        assert sentence in frame.splitlines()
        assert text.count("zero sent an illegal move") == 4  # once per faulty game

    def test_in_a_terminal_it_waits_between_plies(
        self, here: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pauses: list[float] = []
        monkeypatch.setattr(time, "sleep", pauses.append)
        monkeypatch.setattr("arena_cli.replay.is_terminal", lambda: True)
        outcome = shell("replay", "g1", "--delay", "0.25")
        assert pauses == [0.25] * 8
        assert outcome.out.count(replay.CLEAR) == 9
        assert "\x1b[30;4" in outcome.out
        plain = shell("replay", "g1", "--no-color", "--delay", "0")
        assert "\x1b" not in plain.out
        monkeypatch.setenv("NO_COLOR", "1")
        assert "\x1b" not in shell("replay", "g1", "--delay", "0").out

    def test_a_damaged_record(self, here: Path, shell: Shell) -> None:
        shell("export", "records")
        data = bytearray((here / "records" / "g1.record").read_bytes())
        data[100] ^= 1
        (here / "x.record").write_bytes(data)
        outcome = shell("replay", "x.record")
        assert outcome.code == 1
        assert outcome.line == ("arena: x.record: damaged record: its bytes do not match its SHA-256 digest")

    @pytest.mark.parametrize("data", [b"", b"what is this", b"x" * 9999])
    def test_a_file_that_is_no_record(self, here: Path, shell: Shell, data: bytes) -> None:
        (here / "x.txt").write_bytes(data)
        outcome = shell("replay", "x.txt")
        assert outcome.code == 1
        assert outcome.line == "arena: x.txt: not a game record as arena export writes it"

    def test_what_a_terminal_would_obey_is_not_printed(self, here: Path, shell: Shell) -> None:
        shell("export", "records")
        record = decode((here / "records" / "g1.record").read_bytes())
        name = "\x1b]0;owned\x07\x1b[2J"
        forged = here / "forged.record"
        forged.write_bytes(encode(replace(record, names=(name, *record.names[1:]))))
        for command in (["replay"], ["replay", "--json"], ["verify"], ["why", "--bot", "ann"]):
            outcome = shell(*command, str(forged))
            assert outcome.code == 1
            assert outcome.out == ""
            assert outcome.line.partition("expected ")[2] == (
                "1 to 32 letters, digits, `_`, `.`, `-`, a letter or digit first, "
                "found '\\x1b]0;owned\\x07\\x1b[2J'"
            )

    def test_a_file_of_any_length_takes_little_memory(self, here: Path, shell: Shell) -> None:
        shell("export", "records")
        long = shutil.copy(here / "records" / "g1.record", here / "long.record")
        os.truncate(long, 1 << 40)
        for command in ("replay", "verify"):
            line = shell(command, "long.record").line
            assert line.endswith("not a game record: a record has at most 8388608 bytes")

    @pytest.mark.parametrize(
        ("target", "problem"),
        [
            ("nowhere.record", "no such file or folder"),
            ("records/g1", "no such file or folder"),
            (".", "cannot be read: Is a directory"),
        ],
    )
    def test_a_file_that_is_not_there(self, here: Path, shell: Shell, target: str, problem: str) -> None:
        outcome = shell("replay", target)
        assert (outcome.code, outcome.line) == (1, f"arena: {target}: {problem}")

    def test_an_unknown_game(self, here: Path, shell: Shell) -> None:
        assert shell("replay", "g99").line == "arena: arena.db: no game 'g99' in contest 1 trial"
