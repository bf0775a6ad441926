"""`arena export --format npz`: a row a ply, as arrays of numpy, for programs that learn.

The rows are written in files of ROWS at most, so that any number of games needs the memory of one file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from arena.encoding import PositionEncoder
from arena_protocol.errors import needs_extra
from arena_protocol.games import printed_game
from arena_protocol.games.base import Deal
from arena_protocol.record import VOID, GameRecord, winning_seats
from arena_server.errors import ConfigError

try:
    import numpy as np
except ImportError as error:
    raise ConfigError(needs_extra("--format npz", "learning")) from error

#: The most rows of a file: 27 MB of observations with the default options of insertion, before compression.
ROWS = 8_192
#: The most plies of a game that are encoded at once.
PART = 512
#: Each column with its dtype; texts are as wide as the longest. docs/record-format.md has the shapes.
COLUMNS: Mapping[str, str] = {
    "game": "str",
    "ply": "int32",
    "seat": "int8",
    "bot": "str",
    "version": "str",
    "observation": "int32",
    "action_mask": "int8",
    "move": "int16",
    "points": "int32",
    "time_ms": "int64",
    "clock": "int64",
    "zombie": "bool",
    "result": "int8",
    "totals": "int64",
}
#: What a file has once: the moves and the pieces by their numbers.
ONCE = ("actions", "signs")

#: Plies by column, each a sequence or an array.
Columns = dict[str, Any]
#: Games, each with the versions of its bots; how a file is opened.
Games = Iterable[tuple[GameRecord, Sequence[str | None]]]
Opened = Callable[[Path], IO[bytes]]


def write_plies(folder: Path, games: Games, opened: Opened) -> list[Path]:
    """Write the plies of the games as plies-00001.npz and so on; a void game has none.

    Raises GameError for a game without a board of cells.
    """
    written: list[Path] = []
    for encoder, arrays in blocks(games):
        written.append(folder / f"plies-{len(written) + 1:05}.npz")
        with opened(written[-1]) as file:
            arrays["actions"] = np.array(encoder.actions)
            arrays["signs"] = np.array(list(encoder.signs), "U1")
            np.savez_compressed(file, **arrays)
    remove_others(folder, written, "npz")
    return written


def remove_others(folder: Path, written: Sequence[Path], form: str) -> None:
    """Remove the files of an earlier, longer export: who reads `plies-*` would take their plies for ours."""
    for path in set(folder.glob(f"plies-{'[0-9]' * 5}.{form}")) - set(written):
        path.unlink()


def blocks(games: Games) -> Iterator[tuple[PositionEncoder, dict[str, Any]]]:
    """The plies of the games as arrays by column, at most `ROWS` at once; those of a block have one encoder.

    Raises GameError for a game without a board of cells.
    """
    parts: list[Columns] = []
    rows = 0
    encoder: PositionEncoder | None = None
    for record, versions in games:
        game = printed_game(record.game, record.options, len(record.names))
        if encoder is None or encoder.game != game:
            # The shapes follow from the options.
            if encoder is not None and rows:
                yield encoder, _joined(parts)
                parts, rows = [], 0
            encoder = PositionEncoder(game)
        for part in plies_of(record, versions, encoder):
            parts.append(part)
            rows += len(part["ply"])
            while rows >= ROWS:
                yield encoder, {name: column[:ROWS] for name, column in _joined(parts).items()}
                rows -= ROWS
                parts[:] = [{name: column[len(column) - rows :] for name, column in part.items()}]
    if encoder is not None and rows:
        yield encoder, _joined(parts)


def plies_of(
    record: GameRecord, versions: Sequence[str | None], encoder: PositionEncoder
) -> Iterator[Columns]:
    """The plies of a game by column, at most PART at once."""
    if record.end == VOID:
        return
    game, winners = encoder.game, winning_seats(record.totals, record.end)
    position: Any = game.start(Deal(record.board, record.sequence))
    for first in range(0, len(record.plies), PART):
        plies = record.plies[first : first + PART]
        seats = [ply.seat for ply in plies]
        positions = []
        for ply in plies:
            positions.append(position)
            position = game.play(position, ply.move).position
        yield {
            "game": [record.game_id] * len(plies),
            "ply": range(first + 1, first + len(plies) + 1),
            "seat": seats,
            "bot": [record.names[seat - 1] for seat in seats],
            "version": [(versions[seat - 1] if versions else None) or "" for seat in seats],
            "observation": encoder.observations(positions, seats),
            "action_mask": [encoder.mask(each) for each in positions],
            "move": [encoder.number(ply.move) for ply in plies],
            "points": [ply.points for ply in plies],
            "time_ms": [ply.time_ms for ply in plies],
            "clock": [ply.clock for ply in plies],
            "zombie": [ply.zombie for ply in plies],
            "result": [-1 if seat not in winners else int(len(winners) == 1) for seat in seats],
            "totals": [record.totals] * len(plies),
        }


def _joined(parts: Sequence[Columns]) -> dict[str, Any]:
    return {
        name: np.concatenate([part[name] for part in parts])
        if isinstance(parts[0][name], np.ndarray)
        else np.array([value for part in parts for value in part[name]], dtype)
        for name, dtype in COLUMNS.items()
    }
