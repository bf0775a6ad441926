"""A game as pictures of text: one frame a ply. It must not know: any game but by its plug-in.

A position whose text is equal rows joined by `/` is drawn as a board, any other as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game, Rim
from arena_protocol.record import GameRecord, PlyRecord

#: Backgrounds of pictures 1..7: red, green, yellow, blue, magenta, cyan, white.
_PAINT = {str(colour): f"\x1b[30;{40 + colour}m" for colour in range(1, 8)}
_RESET = "\x1b[0m"

#: What stands around a board that says nothing of it.
NO_RIM = Rim()

#: How many of the pictures to come are shown.
AHEAD = 20


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture: `state` is the position's text, `sides` are name, points and milliseconds a seat.

    Milliseconds are None where nobody keeps time; `rim` is drawn around a board.
    """

    title: str
    deed: str
    state: str
    coming: str
    sides: Sequence[tuple[str, int, int | None]]
    end: str | None = None
    rim: Rim = NO_RIM


def draw(scene: Scene, *, color: bool) -> str:
    """The picture, a few lines of text; the last one is empty."""
    lines = [scene.title, scene.deed, "", *_board(scene.state, scene.rim, color=color), ""]
    if scene.coming:
        coming = (_cell(picture, 3 if color else 1, color=color) for picture in scene.coming[:AHEAD])
        # Painted cells bring their own space; twenty of them with more do not fit on 80 columns.
        lines.append("next   " + ("" if color else " ").join(coming))
    for name, total, clock in scene.sides:
        time = "" if clock is None else f"   {clock / 1000:>8.3f} s"
        lines.append(f"{name:<32} {total:>6} points{time}")
    if scene.end is not None:
        lines.append(f"end: {scene.end}")
    return "\n".join([*lines, ""])


def frames(record: GameRecord, *, color: bool) -> Iterator[str]:
    """Yield the start and the position after each ply. Raises GameError if a move is not one."""
    game: Game[Any] = make_game(record.game, {**record.options, "seats": len(record.names)})
    position = game.start(Deal(record.board, record.sequence))
    yield draw(_scene(record, game, position, 0), color=color)
    for number, ply in enumerate(record.plies, start=1):
        position = game.play(position, ply.move).position
        yield draw(_scene(record, game, position, number), color=color)


def _scene(record: GameRecord, game: Game[Any], position: Any, number: int) -> Scene:
    ply = record.plies[number - 1] if number else None
    names = " - ".join(record.names)
    totals = ply.total if ply is not None else (0,) * len(record.names)
    clocks = ply.clock if ply is not None else (record.clock_ms,) * len(record.names)
    return Scene(
        title=f"{record.contest} {record.game_id}: {names}   ply {number} of {len(record.plies)}",
        deed=_deed(record, ply),
        state=game.state_text(position),
        coming=record.sequence[number:],
        sides=list(zip(record.names, totals, clocks, strict=True)),
        end=record.end if number == len(record.plies) else None,
        rim=game.rim(),
    )


def _deed(record: GameRecord, ply: PlyRecord | None) -> str:
    if ply is None:
        return "the start"
    zombie = ", for a zombie" if ply.zombie else ""
    return f"{record.names[ply.seat - 1]} plays {ply.move}{zombie}: {ply.points} points in {ply.time_ms} ms"


def _board(state: str, rim: Rim, *, color: bool) -> list[str]:
    rows = state.split("/")
    if len(rows) < 3 or len({len(row) for row in rows}) > 1 or len(rows[0]) < 3:
        return [state]
    painted = color and not _PAINT.keys().isdisjoint(state)
    width = 3 if painted else max(map(len, (".", *rim.top, *rim.bottom)))
    cells = [" ".join(_cell(cell, width, color=color) for cell in row) for row in rows]
    edge = max(map(len, (".", *rim.left)))
    bar = " | " if rim.right else " "  # numbers beside numbers would be read as one row
    sides = zip_longest(rim.left, cells, rim.right, fillvalue="")
    body = [f"{left:>{edge}}{bar}{row}{bar}{right}".rstrip() for left, row, right in sides]
    lead = " " * (edge + len(bar))
    return [*_names(rim.top, width, lead), *body, *_names(rim.bottom, width, lead)]


def _names(words: Sequence[str], width: int, lead: str) -> list[str]:
    """A line of the names of columns, if they have any."""
    return [lead + " ".join(f"{word:^{width}}" for word in words).rstrip()] if words else []


def _cell(cell: str, width: int, *, color: bool) -> str:
    text = f"{cell:^{width}}"
    return f"{_PAINT[cell]}{text}{_RESET}" if color and cell in _PAINT else text
