"""`arena export`: the same records in three forms."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from tests.protocol.records import a_record
from tests.server.programs import Shell

from arena_cli.export import TABLES, csv_rows
from arena_protocol.record import FORFEIT, InfoRecord, UsageRecord
from arena_protocol.record_codec import decode, to_json


class TestMsgpack:
    def test_one_file_per_game_with_the_same_bytes(self, here: Path, shell: Shell) -> None:
        outcome = shell("export", "records")
        assert outcome.out.startswith("exported: 6 games of trial to records\nhead: ")
        names = sorted(path.name for path in (here / "records").glob("*.record"))
        assert names == [f"g{number}.record" for number in range(1, 7)]
        record = decode((here / "records" / "g1.record").read_bytes())
        assert (record.game_id, record.contest, len(record.plies)) == ("g1", "trial", 8)
        answer = json.loads(shell("export", "records", "--json").out)
        assert answer["contest"] == "trial"
        assert len(answer["files"]) == 6

    def test_the_files_are_private(self, here: Path, shell: Shell) -> None:
        shell("export", "records")
        modes = {path.stat().st_mode & 0o777 for path in (here / "records").iterdir()}
        assert modes == {0o600}

    def test_a_folder_that_cannot_be_made(self, here: Path, shell: Shell) -> None:
        (here / "taken").touch()
        outcome = shell("export", "taken")
        assert (outcome.code, outcome.line) == (1, "arena: taken: cannot be written: File exists")


class TestJson:
    def test_one_object_per_game_as_replay_prints_it(self, here: Path, shell: Shell) -> None:
        outcome = shell("export", "records", "--format", "json")
        assert outcome.out == "exported: 6 games of trial to records\n"
        names = sorted(path.name for path in (here / "records").iterdir())
        assert names == [f"g{number}.json" for number in range(1, 7)]
        text = (here / "records" / "g2.json").read_text()
        assert json.loads(text) == json.loads(shell("replay", "g2", "--json").out)
        shell("export", "bytes")
        record = decode((here / "bytes" / "g2.record").read_bytes())
        assert json.loads(text) == json.loads(json.dumps(to_json(record)))
        assert (here / "records" / "g2.json").stat().st_mode & 0o777 == 0o600
        answer = json.loads(shell("export", "records", "--format", "json", "--json").out)
        assert answer["contest"] == "trial"
        assert len(answer["files"]) == 6
        assert "head" not in answer


def read(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / f"{table}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


class TestCsv:
    def test_the_tables_hold_all_games(self, here: Path, shell: Shell) -> None:
        outcome = shell("export", "tables", "--format", "csv")
        assert outcome.out == "exported: 6 games of trial to tables\n"
        folder = here / "tables"
        assert sorted(path.name for path in folder.iterdir()) == sorted(f"{table}.csv" for table in TABLES)
        assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
        shell("export", "bytes")
        records = [decode((here / "bytes" / f"g{number}.record").read_bytes()) for number in range(1, 7)]
        games = read(folder, "games")
        assert [(game["game_id"], game["end"], game["plies"]) for game in games] == [
            (record.game_id, record.end, str(len(record.plies))) for record in records
        ]
        assert games[0]["options"].split() == sorted(f"{k}={v}" for k, v in records[0].options.items())
        assert [(row["name"], row["total"]) for row in read(folder, "seats")] == [
            (name, str(total))
            for record in records
            for name, total in zip(record.names, record.totals, strict=True)
        ]
        plies = read(folder, "plies")
        assert [(row["game_id"], row["ply"], row["move"], row["clock"]) for row in plies] == [
            (record.game_id, str(number), ply.move, f"{ply.clock[0]} {ply.clock[1]}")
            for record in records
            for number, ply in enumerate(record.plies, start=1)
        ]
        assert {row["zombie"] for row in plies} == {"0", "1"}
        faults = read(folder, "faults")
        assert {row["kind"] for row in faults} == {"illegal"}
        assert {bytes.fromhex(row["line"]) for row in faults} == {b"MOVE 0"}

    def test_every_field_of_a_record_is_in_a_table(self) -> None:
        record = a_record(faults={3: (1, "illegal")})
        plain = to_json(record) | {"infos": [InfoRecord(1, 1)._asdict()]}
        for key, table in (("plies", "plies"), ("faults", "faults"), ("infos", "infos")):
            assert set(plain[key][0]) <= set(TABLES[table])
        own = set(plain) - {"format", "names", "totals", "plies", "faults", "infos", "usage", "images"}
        assert own <= set(TABLES["games"])

    def test_what_bots_in_containers_used_is_in_their_rows(self) -> None:
        from dataclasses import replace

        record = replace(a_record(), usage=(UsageRecord(2, 70, 5, None),), images=("-", "sha256:ab"))
        seats = [row for table, row in csv_rows(record) if table == "seats"]
        columns = ("cpu_ms", "cpu_throttled_ms", "cpu_pressure_ms")
        assert [[row[column] for column in columns] for row in seats] == [[None] * 3, [70, 5, None]]
        assert [row["image"] for row in seats] == ["-", "sha256:ab"]

    def test_notes_and_formulas(self, tmp_path: Path) -> None:
        from dataclasses import replace

        from arena_cli.export import _cell

        record = replace(a_record(), infos=(InfoRecord(2, 1, 9, -30, None, None, "=1+1"),), end=FORFEIT)
        ((_, row),) = [line for line in csv_rows(record) if line[0] == "infos"]
        assert [_cell(row[column]) for column in TABLES["infos"]] == [
            record.game_id, 2, 1, 9, -30, None, None, "'=1+1",
        ]  # fmt: skip

    def test_an_unknown_form_is_refused(self, here: Path, shell: Shell) -> None:
        outcome = shell("export", "tables", "--format", "xml")
        assert outcome.code == 2
        assert "'--format'" in outcome.line
