"""`arena export --format parquet`: the rows of npz as tables, read back by pandas, polars and numpy."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
from tests.cli.test_export_arrays import check, loaded
from tests.protocol.records import a_record
from tests.server.programs import Shell

pq: Any = pytest.importorskip("pyarrow.parquet", reason="NO PARQUET TESTS: needs the extra [parquet]")
pa: Any = pytest.importorskip("pyarrow")

from arena_cli import export_arrays, export_parquet  # noqa: E402
from arena_cli.export_arrays import COLUMNS  # noqa: E402
from arena_cli.export_parquet import METADATA, write_parquet  # noqa: E402
from arena_protocol.record import VOID, GameRecord  # noqa: E402

Game = tuple[GameRecord, tuple[()]]


def opened(path: Path) -> IO[bytes]:
    return path.open("wb")


def arrays_of(path: Path) -> dict[str, Any]:
    """The columns as numpy has them, in the shapes of the arrays of npz."""
    table = pq.read_table(path)
    assert table.column_names == list(COLUMNS)
    shape = json.loads(table.schema.metadata[METADATA.encode()])["observation"]
    found = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        fixed = pa.types.is_fixed_size_list(column.type)
        values = (column.flatten() if fixed else column).to_numpy(zero_copy_only=False)
        found[name] = values.reshape(len(table), -1) if fixed else values
        if COLUMNS[name] == "str":
            found[name] = values.astype("U")
    found["observation"] = found["observation"].reshape(len(table), *shape)
    return found


def test_the_rows_are_those_of_npz(here: Path, shell: Shell) -> None:
    assert shell("export", "tables", "--format", "parquet").out == "exported: 6 games of trial to tables\n"
    (path,) = (here / "tables").iterdir()
    assert (path.name, path.stat().st_mode & 0o777) == ("plies-00001.parquet", 0o600)
    shell("export", "arrays", "--format", "npz")
    arrays = loaded(here / "arrays" / "plies-00001.npz")
    found = arrays_of(path)
    for name, dtype in COLUMNS.items():
        assert found[name].tolist() == arrays[name].tolist()
        assert dtype == "str" or found[name].dtype == arrays[name].dtype
    once = json.loads(pq.read_schema(path).metadata[METADATA.encode()])
    assert once["actions"] == arrays["actions"].tolist()
    assert once["signs"] == arrays["signs"].tolist()


def test_the_program_of_the_page_reads_it(
    here: Path, shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "record-format.md").read_text(encoding="utf-8")
    assert "arena export frames --format parquet\n" in page
    shell("export", "frames", "--format", "parquet")
    (program,) = re.findall(r"```python\n(import json\n\nimport pyarrow.*?)```", page, re.DOTALL)
    capsys.readouterr()
    exec(program, {})
    shape = arrays_of(here / "frames" / "plies-00001.parquet")["observation"].shape
    assert capsys.readouterr().out.startswith(f"{shape} int32 ")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_other_libraries_read_it(tmp_path: Path, library: str) -> None:
    frames = pytest.importorskip(library)
    record = a_record()
    (path,) = write_parquet(tmp_path, [(record, ("one/1", None))], opened)
    frame = frames.read_parquet(path)
    assert list(frame.columns) == list(COLUMNS)
    assert frame["points"].sum() == sum(record.totals)
    assert set(frame["version"]) == {"one/1", ""}
    clocks = np.array([list(each) for each in frame["clock"]])
    assert clocks.tolist() == [list(ply.clock) for ply in record.plies]
    boards = np.array([np.ravel(each) for each in frame["observation"]])
    assert boards.shape == (len(record.plies), arrays_of(path)["observation"][0].size)


def test_files_and_row_groups_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_arrays, "ROWS", 10)
    monkeypatch.setattr(export_parquet, "GROUPS", 2)
    records = [replace(a_record(), game_id=f"g{number}") for number in range(1, 6)]
    plies = len(records[0].plies) * len(records)
    paths = write_parquet(tmp_path, [(record, ()) for record in records], opened)
    groups = [
        pq.ParquetFile(path).metadata.row_group(number).num_rows
        for path in paths
        for number in range(pq.ParquetFile(path).num_row_groups)
    ]
    assert groups == [10] * (plies // 10) + [plies % 10] * bool(plies % 10)
    assert [pq.ParquetFile(path).num_row_groups for path in paths[:-1]] == [2] * (len(paths) - 1)
    files = [arrays_of(path) for path in paths]
    check({name: np.concatenate([each[name] for each in files]) for name in COLUMNS}, records)
    assert write_parquet(tmp_path, [(records[0], ())], opened) == [*tmp_path.iterdir()]


def test_memory_does_not_grow_with_the_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Arrow holds when a later game is read is what it held at an earlier one."""
    monkeypatch.setattr(export_arrays, "ROWS", 100)
    monkeypatch.setattr(export_parquet, "GROUPS", 5)
    record, held = a_record(), []

    def games() -> Iterator[Game]:
        for number in range(1, 401):
            if number % 100 == 0:
                gc.collect()
                held.append(pa.total_allocated_bytes())
            yield replace(record, game_id=f"g{number:03}"), ()

    write_parquet(tmp_path, games(), opened)
    assert max(held) <= 2 * held[0], "the bytes that Arrow holds at games 100, 200, 300 and 400"


def test_void_games_are_left_out_and_other_options_begin_a_file(tmp_path: Path) -> None:
    record = replace(a_record(), game_id="g1")
    games: list[Game] = [
        (record, ()),
        (replace(record, end=VOID, game_id="g2"), ()),
        (replace(record, options={**record.options, "lookahead": "1"}, game_id="g3"), ()),
    ]
    first, second = (arrays_of(path) for path in write_parquet(tmp_path, games, opened))
    assert (set(first["game"]), set(second["game"])) == ({"g1"}, {"g3"})
    assert first["observation"].shape[1] > second["observation"].shape[1]
    assert write_parquet(tmp_path, [(replace(record, end=VOID), ())], opened) == []
