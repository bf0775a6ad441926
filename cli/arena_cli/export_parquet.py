"""`arena export --format parquet`: the plies of `export_arrays` as tables of Parquet; docs/record-format.md.

A file grows by a row group of at most `export_arrays.ROWS` plies, and ends with its footer, which has a
few hundred bytes a column and row group: the next file follows before the footer is large.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from arena.encoding import PositionEncoder
from arena_cli.export_arrays import COLUMNS, ONCE, Games, Opened, blocks, remove_others
from arena_protocol.errors import needs_extra
from arena_server.errors import ConfigError

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    raise ConfigError(needs_extra("--format parquet", "parquet", in_all=False)) from error

#: The most row groups of a file: 262,144 plies.
GROUPS = 32
#: The metadata of the file with what it has once: the moves and the pieces by their numbers, in JSON.
METADATA = "arena"


def write_parquet(folder: Path, games: Games, opened: Opened) -> list[Path]:
    """Write the plies of the games as plies-00001.parquet and so on; a void game has none.

    Raises GameError for a game without a board of cells.
    """
    written: list[Path] = []
    last: PositionEncoder | None = None
    groups = 0
    with ExitStack() as open_file:
        for encoder, arrays in blocks(games):
            if encoder is not last or groups == GROUPS:
                open_file.close()
                written.append(folder / f"plies-{len(written) + 1:05}.parquet")
                file = open_file.enter_context(opened(written[-1]))
                schema = _schema(encoder, arrays)
                writer = open_file.enter_context(pq.ParquetWriter(file, schema, compression="zstd"))
                last, groups = encoder, 0
            writer.write_table(_table(arrays, schema))
            groups += 1
    remove_others(folder, written, "parquet")
    return written


def _schema(encoder: PositionEncoder, arrays: Mapping[str, Any]) -> Any:
    shape = arrays["observation"].shape[1:]
    once = dict(zip(ONCE, (encoder.actions, list(encoder.signs)), strict=True))
    metadata = {METADATA: json.dumps({**once, "observation": shape})}
    fields = []
    for name, dtype in COLUMNS.items():
        kind = pa.string() if dtype == "str" else pa.from_numpy_dtype(arrays[name].dtype)
        if arrays[name].ndim > 1:
            kind = pa.list_(kind, arrays[name][0].size)
        fields.append(pa.field(name, kind, nullable=False))
    return pa.schema(fields, metadata=metadata)


def _table(arrays: Mapping[str, Any], schema: Any) -> Any:
    """The arrays of a block; a row of more than one number is a list of a fixed length."""
    columns = []
    for field in schema:
        values = arrays[field.name]
        if values.ndim == 1:
            columns.append(pa.array(values, field.type))
        else:
            flat = pa.array(values.reshape(-1), field.type.value_type)
            columns.append(pa.FixedSizeListArray.from_arrays(flat, type=field.type))
    return pa.Table.from_arrays(columns, schema=schema)
