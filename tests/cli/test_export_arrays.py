"""`arena export --format npz`: a row a ply, equal to the records played again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
from tests.protocol.records import a_record
from tests.server.programs import Shell
from tests.slices import all_of

from arena.encoding import PositionEncoder
from arena_cli import export_arrays
from arena_cli.export_arrays import COLUMNS, ONCE, write_plies
from arena_protocol.games import make_game
from arena_protocol.games.base import Deal
from arena_protocol.record import VOID, GameRecord
from arena_protocol.record_codec import decode


def opened(path: Path) -> IO[bytes]:
    return path.open("wb")


def loaded(path: Path) -> dict[str, Any]:
    with np.load(path) as file:  # without pickle
        return dict(file)


def check(found: dict[str, Any], records: list[GameRecord]) -> None:
    """The rows are the plies of the records, played again by the rules."""
    row = 0
    for record in records:
        game = make_game(record.game, {**record.options, "seats": len(record.names)})
        encoder, position = PositionEncoder(game), game.start(Deal(record.board, record.sequence))
        best = max(record.totals)
        for number, ply in enumerate(record.plies, start=1):
            own = record.totals[ply.seat - 1]
            result = -1 if own < best else int(record.totals.count(best) == 1)
            assert {name: found[name][row].tolist() for name in found if found[name].ndim == 1} == {
                "game": record.game_id,
                "ply": number,
                "seat": ply.seat,
                "bot": record.names[ply.seat - 1],
                "version": found["version"][row],
                "move": encoder.actions.index(ply.move),
                "points": ply.points,
                "time_ms": ply.time_ms,
                "zombie": ply.zombie,
                "result": result,
            }
            assert (found["observation"][row] == encoder.observation(position, ply.seat)).all()
            assert (found["action_mask"][row] == encoder.mask(position)).all()
            assert found["clock"][row].tolist() == list(ply.clock)
            assert found["totals"][row].tolist() == list(record.totals)
            position = game.play(position, ply.move).position
            row += 1
    assert row == len(found["ply"])


def rows_of(path: Path) -> dict[str, Any]:
    found = loaded(path)
    assert tuple(found) == (*COLUMNS, *ONCE)
    assert {name: found[name].dtype.name.rstrip("0123456789") for name in COLUMNS} == {
        name: dtype.rstrip("0123456789") for name, dtype in COLUMNS.items()
    }
    return {name: found[name] for name in COLUMNS}


def test_the_plies_of_a_contest(here: Path, shell: Shell) -> None:
    outcome = shell("export", "arrays", "--format", "npz")
    assert outcome.out == "exported: 6 games of trial to arrays\n"
    (path,) = (here / "arrays").iterdir()
    assert (path.name, path.stat().st_mode & 0o777) == ("plies-00001.npz", 0o600)
    shell("export", "records")
    records = [decode((here / "records" / f"g{number}.record").read_bytes()) for number in range(1, 7)]
    found = rows_of(path)
    check(found, records)
    assert set(found["zombie"].tolist()) == {False, True}
    assert loaded(path)["actions"].tolist() == [str(number) for number in range(1, 16)]
    assert loaded(path)["signs"].tolist() == list("1234567")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_other_libraries_read_it(tmp_path: Path, library: str) -> None:
    frames = pytest.importorskip(library)
    (path,) = write_plies(tmp_path, [(a_record(), ("one/1", None))], opened)
    table = {name: column for name, column in rows_of(path).items() if column.ndim == 1}
    frame = frames.DataFrame(table)
    assert frame["points"].sum() == sum(a_record().totals)
    assert set(frame["version"]) == {"one/1", ""}


@all_of("part", [1, 4, 512])
def test_files_have_a_bounded_number_of_rows(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_arrays, "ROWS", 10)
    monkeypatch.setattr(export_arrays, "PART", part)
    plies, events = len(a_record().plies), []
    records = [replace(a_record(), game_id=f"g{number}") for number in range(1, 6)]

    def games() -> Iterator[tuple[GameRecord, tuple[()]]]:
        for record in records:
            events.append(record.game_id)
            yield record, ()

    def noted(path: Path) -> IO[bytes]:
        events.append(path.name)
        return path.open("wb")

    paths = write_plies(tmp_path, games(), noted)
    assert events.index("plies-00001.npz") <= -(-10 // plies), (
        "a file is written before further games are read"
    )
    files = [rows_of(path) for path in paths]
    assert [len(each["ply"]) for each in files] == [10] * (5 * plies // 10) + [5 * plies % 10] * bool(
        5 * plies % 10
    )
    check({name: np.concatenate([each[name] for each in files]) for name in COLUMNS}, records)


def test_void_games_are_left_out_and_other_options_begin_a_file(tmp_path: Path) -> None:
    record = replace(a_record(), game_id="g1")
    totals = tuple(max(record.totals) for _ in record.totals)
    games = [
        (record, ()),
        (replace(record, end=VOID, game_id="g2"), ()),
        (replace(record, options={**record.options, "lookahead": "1"}, totals=totals, game_id="g3"), ()),
    ]
    first, second = (rows_of(path) for path in write_plies(tmp_path, games, opened))
    assert (set(first["game"]), set(second["game"]), set(second["result"])) == ({"g1"}, {"g3"}, {0})
    assert first["observation"].shape[1] > second["observation"].shape[1]
    (tmp_path / "plies-new.npz").touch()
    # The files of the export before are gone: who reads all of them would take their plies for ours.
    assert write_plies(tmp_path, games[:1], opened) == [tmp_path / "plies-00001.npz"]
    assert {path.name for path in tmp_path.iterdir()} == {"plies-00001.npz", "plies-new.npz"}
    assert write_plies(tmp_path, [(replace(record, end=VOID), ())], opened) == []
    assert [path.name for path in tmp_path.iterdir()] == ["plies-new.npz"]
