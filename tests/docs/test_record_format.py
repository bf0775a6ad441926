"""docs/record-format.md: its tables are those of the code, its program reads an exported record."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import msgpack
import pytest
from tests.protocol.records import a_record
from tests.server.programs import inside

from arena_cli.export import FORMULA, TABLES, FileFormat
from arena_cli.export_arrays import COLUMNS, ONCE, ROWS
from arena_protocol.record import FORMAT, FaultRecord, GameRecord, InfoRecord, PlyRecord, UsageRecord
from arena_protocol.record_codec import encode

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "record-format.md").read_text(encoding="utf-8")


def tables(header: str) -> list[list[list[str]]]:
    """The rows of every table whose header begins so, as lists of cells."""
    found = re.findall(rf"^\| {re.escape(header)} \|.*\n\|---.*\n((?:\|.*\n)+)", PAGE, re.M)
    return [
        [[cell.strip() for cell in row.strip("|").split("|")] for row in rows.splitlines()] for rows in found
    ]


def names(rows: list[list[str]]) -> list[str]:
    return [row[0].strip("`") for row in rows]


def test_the_fields_are_those_of_the_record_in_its_order() -> None:
    (rows,) = tables("field")
    assert names(rows) == [field.name for field in fields(GameRecord)]
    assert f"| `format` | integer | {FORMAT}, " in PAGE
    assert list(msgpack.unpackb(encode(a_record())[:-32])) == names(rows)[:-9]
    noted = replace(
        a_record(),
        first_move_limit_ms=1,
        infos=(InfoRecord(1, 1),),
        worker="local-1",
        host="box",
        usage=(UsageRecord(1, 2, None, 3),),
        cpu="Xeon",
        cores="0/1",
        bench=120_000,
        images=("sha256:ab", "-"),
    )
    assert list(msgpack.unpackb(encode(noted)[:-32])) == names(rows)


def test_the_arrays_are_those_of_the_code() -> None:
    assert [names(rows) for rows in tables("value")] == [
        list(kind._fields) for kind in (PlyRecord, FaultRecord, InfoRecord, UsageRecord)
    ]


def test_the_columns_and_forms_are_those_of_the_export() -> None:
    (rows,) = tables("file")
    assert {row[0].strip("`"): tuple(re.findall(r"`(\w+)`", row[2])) for row in rows} == {
        f"{table}.csv": columns for table, columns in TABLES.items()
    }
    (forms,) = tables("form")
    assert [re.findall(r"`(\w+)`", row[0])[0] for row in forms] == list(FileFormat)
    assert all(f"`{sign}`" in PAGE for sign in FORMULA)


def test_the_arrays_of_the_page_are_those_of_the_export() -> None:
    (rows,) = tables("array")
    assert names(rows) == [*COLUMNS, *ONCE]
    dtypes = [row[1].rpartition(" ")[2] for row in rows]
    assert dtypes == [*COLUMNS.values(), "str", "str"]
    assert f"at most {ROWS:,} rows" in PAGE


@pytest.mark.real
@pytest.mark.soak
def test_the_program_of_the_page_reads_a_record_and_refuses_a_changed_one(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    (tmp_path / "read.py").write_text(found[1])
    record = a_record(faults={3: (1, "illegal")})
    data = encode(record)
    results = []
    for number, content in enumerate((data, data[:40] + bytes([data[40] ^ 1]) + data[41:])):
        (tmp_path / f"{number}.record").write_bytes(content)
        command = [sys.executable, "read.py", f"{number}.record"]
        results.append(
            subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        )
    good, bad = results
    assert good.returncode == 0, good.stderr
    first, *plies = good.stdout.splitlines()
    assert first.split() == [record.game_id, *record.names, *map(str, record.totals), record.end]
    assert plies == [f"{ply.seat} {ply.move} {ply.time_ms}" for ply in record.plies]
    assert bad.returncode == 1
    assert "the file is damaged" in bad.stderr


@pytest.mark.real
def test_the_commands_of_the_page_write_the_files_that_it_names(tmp_path: Path) -> None:
    match = ("match", "greedy", "dummy", "--keep", "arena.db", "--deals", "1", "--option", "plies=6")
    assert inside(*match, cwd=tmp_path).code == 0
    found = re.search(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    for line in found[1].splitlines():
        if line.endswith(" parquet"):
            continue  # tests/cli/test_export_parquet.py: it needs an extra of its own
        assert inside(*line.split()[1:], cwd=tmp_path).code == 0
    assert (tmp_path / "arrays" / "plies-00001.npz").exists()
    written = {
        path.name
        for folder in ("records", "objects", "tables", "grades")
        for path in (tmp_path / folder).iterdir()
    }
    named = set(re.findall(r"`([\w]+\.(?:record|json|csv))`", PAGE))
    assert {name for name in named if not name.startswith("g1")} <= written
    assert {"g1.record", "g1.json"} <= written & named
