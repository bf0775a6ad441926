"""A game as pictures of text: one frame a ply. It must not know: any game but by its plug-in.

A position whose text is equal rows joined by `/` is drawn as a board, any other as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game
from arena_protocol.record import GameRecord, PlyRecord

#: Backgrounds of pictures 1..7: red, green, yellow, blue, magenta, cyan, white.
_PAINT = {str(colour): f"\x1b[30;{40 + colour}m" for colour in range(1, 8)}
_RESET = "\x1b[0m"

#: How many of the pictures to come are shown.
AHEAD = 20


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture: `state` is the position's text, `sides` are name, points and milliseconds a seat."""

    title: str
    deed: str
    state: str
    coming: str
    sides: Sequence[tuple[str, int, int]]
    end: str | None = None


def draw(scene: Scene, *, color: bool) -> str:
    """The picture, a few lines of text; the last one is empty."""
    lines = [scene.title, scene.deed, "", *_board(scene.state, color=color), ""]
    if scene.coming:
        coming = (_cell(picture, color=color) for picture in scene.coming[:AHEAD])
        lines.append("next   " + " ".join(coming))
    for name, total, clock in scene.sides:
        lines.append(f"{name:<32} {total:>6} points   {clock / 1000:>8.3f} s")
    if scene.end is not None:
        lines.append(f"end: {scene.end}")
    return "\n".join([*lines, ""])


def frames(record: GameRecord, *, color: bool) -> Iterator[str]:
    """Yield the start and the position after each ply. Raises GameError if a move is not one."""
    game: Game[Any] = make_game(record.game, {**record.options, "seats": len(record.names)})
    position = game.start(Deal(record.board, record.sequence))
    yield draw(_scene(record, game.state_text(position), 0, None), color=color)
    for number, ply in enumerate(record.plies, start=1):
        position = game.play(position, ply.move).position
        yield draw(_scene(record, game.state_text(position), number, ply), color=color)


def _scene(record: GameRecord, state: str, number: int, ply: PlyRecord | None) -> Scene:
    names = " - ".join(record.names)
    totals = ply.total if ply is not None else (0,) * len(record.names)
    clocks = ply.clock if ply is not None else (record.clock_ms,) * len(record.names)
    return Scene(
        title=f"{record.contest} {record.game_id}: {names}   ply {number} of {len(record.plies)}",
        deed=_deed(record, ply),
        state=state,
        coming=record.sequence[number:],
        sides=list(zip(record.names, totals, clocks, strict=True)),
        end=record.end if number == len(record.plies) else None,
    )


def _deed(record: GameRecord, ply: PlyRecord | None) -> str:
    if ply is None:
        return "the start"
    zombie = ", for a zombie" if ply.zombie else ""
    return f"{record.names[ply.seat - 1]} plays {ply.move}{zombie}: {ply.points} points in {ply.time_ms} ms"


def _board(state: str, *, color: bool) -> list[str]:
    rows = state.split("/")
    if len(rows) < 3 or len({len(row) for row in rows}) > 1 or len(rows[0]) < 3:
        return [state]
    return ["  " + " ".join(_cell(cell, color=color) for cell in row) for row in rows]


def _cell(cell: str, *, color: bool) -> str:
    return f"{_PAINT[cell]} {cell} {_RESET}" if color and cell in _PAINT else f" {cell} " if color else cell
