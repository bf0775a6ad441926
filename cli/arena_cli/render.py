"""Positions as text, for `arena watch`, `arena replay` and `arena play`.

A scene whose cells are a grid is drawn as a board, any other one by the places of its pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from arena_protocol.games import printed_game
from arena_protocol.games.base import Deal, Game
from arena_protocol.games.scene import ARROWS, NO_BOARD, Label, Scene
from arena_protocol.messages import Info
from arena_protocol.record import (
    GameRecord,
    InfoRecord,
    PlyRecord,
    describe_fault,
    describe_result,
    describe_usage,
    winning_seats,
)

#: Backgrounds of tiles 1..7: red, green, yellow, blue, magenta, cyan, white.
_PAINT = {f"tile-{colour}": f"\x1b[30;{40 + colour}m" for colour in range(1, 8)}
_RESET = "\x1b[0m"

#: Columns of a terminal for a cell of a board that is no grid.
CELL_COLUMNS = 3

#: The widest text of a small picture, and what is between two of them.
COMPACT = 30
GAP = "   "
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

#: How many of the next pictures are shown.
PREVIEW = 20


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of a game.

    `seats` has (name, points, milliseconds left) per seat, None without a clock; `notes` are lines
    below them.
    """

    title: str
    caption: str
    scene: Scene
    seats: Sequence[tuple[str, int, int | None]]
    notes: Sequence[str] = ()
    #: How the game ended, in words; None while it runs.
    result: str | None = None
    #: The seat to move, of a game that runs; the seats that are zombies, and those that have won.
    to_move: int | None = None
    zombies: frozenset[int] = frozenset()
    winners: frozenset[int] = frozenset()
    #: The last move, None at the start.
    move: str | None = None


def draw(frame: Frame, *, color: bool) -> str:
    """Return the picture as lines of text; the last line is empty."""
    scene = frame.scene
    lines = [frame.title, frame.caption, "", *_board(scene, scene.layout.labels, color=color), ""]
    if scene.coming:
        preview = (_cell(scene, sign, 3 if color else 1, color=color) for sign in scene.coming[:PREVIEW])
        # Coloured cells include their spaces; with more, twenty would not fit on 80 columns.
        lines.append("next   " + ("" if color else " ").join(preview))
    for name, total, clock in frame.seats:
        time = "" if clock is None else f"   {clock / 1000:>8.3f} s"
        lines.append(f"{name:<32} {total:>6} points{time}")
    lines += frame.notes
    if frame.result is not None:
        lines.append(ended(frame.result))
    return "\n".join([*lines, ""])


def _place(record: GameRecord) -> list[str]:
    """Where a game was played, if that was not the server, and what its bots used."""
    place = []
    if record.worker:
        bound = f", bound to cores {record.cores}" if record.cores else ""
        speed = f", {record.bench:,} plies/s before its first game" if record.bench else ""
        model = f" ({record.cpu}{bound}{speed})" if record.cpu else ""
        place = [f"played by worker {record.worker} on {record.host}{model}"]
    held = zip(record.names, record.images, strict=bool(record.images))
    place += [f"{name}: image {image}" for name, image in held if image != "-"]
    return place + [f"{record.names[each.seat - 1]}: {describe_usage(each)}" for each in record.usage]


def ended(result: str) -> str:
    """The sentence about a result of `describe_result`."""
    return f"The game is over: {result}."


def compact(frame: Frame, *, color: bool) -> list[str]:
    """Return a small picture as lines: title, seats, board without labels, and the last move or the end."""
    title, _, ply = frame.title.partition("   ")
    lines = [f"{title.partition(':')[0]}  {ply}"]
    for name, total, clock in frame.seats:
        time = "" if clock is None else f"{clock / 1000:>7.1f} s"
        lines.append(f"{name:<12.12} {total:>6}{time}")
    last = frame.result if frame.result is not None else frame.caption.partition(" in ")[0]
    return [*lines, *_board(frame.scene, (), color=color), f"{last:.{COMPACT}}"]


def side_by_side(pictures: Sequence[Sequence[str]], columns: int) -> list[str]:
    """Return pictures in rows of `columns`, each padded to the width of the widest one."""
    width = max((printed_width(line) for lines in pictures for line in lines), default=0)
    found: list[str] = []
    for start in range(0, len(pictures), columns):
        for parts in zip_longest(*pictures[start : start + columns], fillvalue=""):
            row = GAP.join(part + " " * (width - printed_width(part)) for part in parts)
            found.append(row.rstrip())
        found.append("")
    return found


def printed_width(line: str) -> int:
    """Return how many columns a line takes, without its colours."""
    return len(_COLOUR.sub("", line))


def frames(record: GameRecord, *, color: bool) -> Iterator[str]:
    """Yield the start position and the position after each ply. Raises GameError for an illegal move."""
    for each in record_frames(record):
        yield draw(each, color=color)


def record_frames(record: GameRecord) -> Iterator[Frame]:
    """Yield a frame of the start and one after each ply. Raises GameError for an illegal move."""
    game: Game[Any] = printed_game(record.game, record.options, len(record.names))
    position = game.start(Deal(record.board, record.sequence))
    before = game.scene(position)
    yield _frame(record, game, position, 0, before)
    for number, ply in enumerate(record.plies, start=1):
        position = game.play(position, ply.move).position
        frame = _frame(record, game, position, number, before)
        before = frame.scene
        yield frame


def _frame(record: GameRecord, game: Game[Any], position: Any, number: int, before: Scene) -> Frame:
    ply = record.plies[number - 1] if number else None
    over = number == len(record.plies)
    # A forfeit gives other totals than the last ply.
    totals = record.totals if over else ply.total if ply is not None else (0,) * len(record.names)
    clocks = ply.clock if ply is not None else (record.clock_ms,) * len(record.names)
    names = " - ".join(record.names)
    return Frame(
        title=f"{record.contest} {record.game_id}: {names}   ply {number} of {len(record.plies)}",
        caption=_caption(record, ply),
        scene=game.scene(position).after(before, None if ply is None else ply.move),
        seats=list(zip(record.names, totals, clocks, strict=True)),
        notes=[*_faults(record, game, number), *_notes(record, number), *(_place(record) if over else ())],
        result=describe_result(record.names, record.totals, record.end) if over else None,
        to_move=None if over else game.to_move(position),
        zombies=frozenset(
            fault.seat for fault in record.faults if fault.seat and (over or fault.ply <= number)
        ),
        winners=frozenset(winning_seats(record.totals, record.end) if over else ()),
        move=None if ply is None else ply.move,
    )


def _caption(record: GameRecord, ply: PlyRecord | None) -> str:
    if ply is None:
        return "start position"
    zombie = ", for a zombie" if ply.zombie else ""
    return f"{record.names[ply.seat - 1]} plays {ply.move}{zombie}: {ply.points} points in {ply.time_ms} ms"


def _faults(record: GameRecord, game: Game[Any], number: int) -> list[str]:
    """Return the faults at ply `number`; those that ended the game without a ply belong to the last one."""
    return [
        describe_fault(
            record.names[fault.seat - 1], fault.kind, fault.ply, fault.line, zombie_move=game.zombie_move
        )
        if fault.seat
        else f"the server aborted the game at ply {fault.ply}"
        for fault in record.faults
        if min(fault.ply, len(record.plies)) == number
    ]


def _notes(record: GameRecord, number: int) -> list[str]:
    """Return the notes of bots about ply `number`."""
    return [
        f"note of {record.names[info.seat - 1]}: {describe_note(info)}"
        for info in record.infos
        if info.ply == number
    ]


def describe_note(note: Info | InfoRecord) -> str:
    """Return the fields of a note as INFO has them, without game, ply and seat."""
    fields = ((key, getattr(note, key)) for key in ("depth", "eval", "nodes", "line", "text"))
    return " ".join(f"{key}={value}" for key, value in fields if value is not None)


def _board(scene: Scene, labels: Sequence[Label], *, color: bool) -> list[str]:
    if scene.layout == NO_BOARD:
        return [scene.text]
    if not scene.layout.is_grid:
        return [*_placed(scene), scene.describe()]
    top, right, bottom, left = _sides(scene, labels)
    painted = color and any(scene.style(sign) in _PAINT for sign in scene.pieces)
    width = 3 if painted else max(map(len, (".", *top.values(), *bottom.values())))
    cells = [" ".join(_cell(scene, sign, width, color=color) for sign in row) for row in scene.rows()]
    edge = max(map(len, (".", *left.values())))
    # Without the bar the numbers of moves at both edges would look like one row with the cells.
    bar = " | " if any(label.style in ARROWS for label in labels) else " "
    body = [
        f"{left.get(y, ''):>{edge}}{bar}{row}{bar}{right.get(y, '')}".rstrip() for y, row in enumerate(cells)
    ]
    lead = " " * (edge + len(bar))
    return [*_column_names(top, width, lead), *body, *_column_names(bottom, width, lead)]


def _sides(scene: Scene, labels: Sequence[Label]) -> tuple[dict[float, str], ...]:
    """The labels above, right of, below and left of a grid, by their column or row."""
    layout = scene.layout
    return (
        {each.x: each.text for each in labels if each.y < 0},
        {each.y: each.text for each in labels if each.x >= layout.width},
        {each.x: each.text for each in labels if each.y >= layout.height},
        {each.y: each.text for each in labels if each.x < 0},
    )


def _placed(scene: Scene) -> list[str]:
    """The pieces at the places of their cells; the text of a wheel in its middle."""
    cells = scene.layout.cells
    spots: dict[int, dict[int, str]] = {}
    for place, sign in enumerate(scene.pieces):
        cell = cells[(place - scene.turn) % len(cells)]
        spots.setdefault(int(cell.y), {})[round(CELL_COLUMNS * cell.x)] = sign
    if scene.text:
        middle = int((CELL_COLUMNS * (scene.layout.width - 1) + 1 - len(scene.text)) / 2)
        spots.setdefault(int((scene.layout.height - 1) / 2), {})[middle] = scene.text
    lines = []
    for y in range(max(spots) + 1):
        line = ""
        for x, text in sorted(spots.get(y, {}).items()):
            line = line.ljust(x) + text
        lines.append(line)
    return lines


def _column_names(words: Mapping[float, str], width: int, lead: str) -> list[str]:
    if not words:
        return []
    names = " ".join(f"{words.get(x, ''):^{width}}" for x in range(int(max(words)) + 1))
    return [lead + names.rstrip()]


def _cell(scene: Scene, sign: str, width: int, *, color: bool) -> str:
    text = f"{sign:^{width}}"
    paint = _PAINT.get(scene.style(sign)) if color else None
    return f"{paint}{text}{_RESET}" if paint else text
