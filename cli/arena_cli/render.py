"""Positions as text, for `arena watch`, `arena replay` and `arena play`.

A position whose text is rows of equal length joined by `/` is drawn as a board, any other as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from arena_protocol.games import make_game
from arena_protocol.games.base import Deal, Game, Rim
from arena_protocol.messages import Info
from arena_protocol.record import (
    GameRecord,
    InfoRecord,
    PlyRecord,
    describe_fault,
    describe_result,
    winning_seats,
)

#: Backgrounds of pictures 1..7: red, green, yellow, blue, magenta, cyan, white.
_PAINT = {str(colour): f"\x1b[30;{40 + colour}m" for colour in range(1, 8)}
_RESET = "\x1b[0m"

#: The rim of a game that has no names for rows, columns and moves.
NO_RIM = Rim()

#: The widest text of a small picture, and what is between two of them.
COMPACT = 30
GAP = "   "
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

#: How many of the next pictures are shown.
PREVIEW = 20


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of a game: `state` is the text of the position, `preview` the next pictures.

    `seats` has (name, points, milliseconds left) per seat, None without a clock; `notes` are lines
    below them.
    """

    title: str
    caption: str
    state: str
    preview: str
    seats: Sequence[tuple[str, int, int | None]]
    notes: Sequence[str] = ()
    #: How the game ended, in words; None while it runs.
    result: str | None = None
    #: The seat to move, of a game that runs; the seats that are zombies, and those that have won.
    to_move: int | None = None
    zombies: frozenset[int] = frozenset()
    winners: frozenset[int] = frozenset()
    rim: Rim = NO_RIM
    #: The last move, None at the start.
    move: str | None = None
    #: The game, for pictures of boards that are no rows of cells.
    rules: Game[Any] | None = None


def draw(frame: Frame, *, color: bool) -> str:
    """Return the picture as lines of text; the last line is empty."""
    lines = [frame.title, frame.caption, "", *_board(frame.state, frame.rim, color=color), ""]
    if frame.preview:
        preview = (_cell(picture, 3 if color else 1, color=color) for picture in frame.preview[:PREVIEW])
        # Coloured cells include their spaces; with more, twenty would not fit on 80 columns.
        lines.append("next   " + ("" if color else " ").join(preview))
    for name, total, clock in frame.seats:
        time = "" if clock is None else f"   {clock / 1000:>8.3f} s"
        lines.append(f"{name:<32} {total:>6} points{time}")
    lines += frame.notes
    if frame.result is not None:
        lines.append(ended(frame.result))
    return "\n".join([*lines, ""])


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
    return [*lines, *_board(frame.state, NO_RIM, color=color), f"{last:.{COMPACT}}"]


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
    """Yield the same as frames. Raises GameError for an illegal move."""
    game: Game[Any] = make_game(record.game, {**record.options, "seats": len(record.names)})
    position = game.start(Deal(record.board, record.sequence))
    yield _frame(record, game, position, 0)
    for number, ply in enumerate(record.plies, start=1):
        position = game.play(position, ply.move).position
        yield _frame(record, game, position, number)


def _frame(record: GameRecord, game: Game[Any], position: Any, number: int) -> Frame:
    ply = record.plies[number - 1] if number else None
    over = number == len(record.plies)
    # A forfeit gives other totals than the last ply.
    totals = record.totals if over else ply.total if ply is not None else (0,) * len(record.names)
    clocks = ply.clock if ply is not None else (record.clock_ms,) * len(record.names)
    names = " - ".join(record.names)
    return Frame(
        title=f"{record.contest} {record.game_id}: {names}   ply {number} of {len(record.plies)}",
        caption=_caption(record, ply),
        state=game.state_text(position),
        preview=record.sequence[number:],
        seats=list(zip(record.names, totals, clocks, strict=True)),
        notes=[*_faults(record, game, number), *_notes(record, number)],
        result=describe_result(record.names, record.totals, record.end) if over else None,
        to_move=None if over else game.to_move(position),
        zombies=frozenset(
            fault.seat for fault in record.faults if fault.seat and (over or fault.ply <= number)
        ),
        winners=frozenset(winning_seats(record.totals, record.end) if over else ()),
        rim=game.rim(),
        move=None if ply is None else ply.move,
        rules=game,
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


def _board(state: str, rim: Rim, *, color: bool) -> list[str]:
    rows = state.split("/")
    if len(rows) < 3 or len({len(row) for row in rows}) > 1 or len(rows[0]) < 3:
        return [state]
    painted = color and not _PAINT.keys().isdisjoint(state)
    width = 3 if painted else max(map(len, (".", *rim.top, *rim.bottom)))
    cells = [" ".join(_cell(cell, width, color=color) for cell in row) for row in rows]
    edge = max(map(len, (".", *rim.left)))
    bar = " | " if rim.right else " "  # without the bar the numbers would look like one row
    sides = zip_longest(rim.left, cells, rim.right, fillvalue="")
    body = [f"{left:>{edge}}{bar}{row}{bar}{right}".rstrip() for left, row, right in sides]
    lead = " " * (edge + len(bar))
    return [*_column_names(rim.top, width, lead), *body, *_column_names(rim.bottom, width, lead)]


def _column_names(words: Sequence[str], width: int, lead: str) -> list[str]:
    return [lead + " ".join(f"{word:^{width}}" for word in words).rstrip()] if words else []


def _cell(cell: str, width: int, *, color: bool) -> str:
    text = f"{cell:^{width}}"
    return f"{_PAINT[cell]}{text}{_RESET}" if color and cell in _PAINT else text
