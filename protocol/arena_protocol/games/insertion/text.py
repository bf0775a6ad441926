"""Boards and sequences of insertion as text: what STATE, NEXT and records print.

A board is five rows from the top down joined by `/`, a digit a picture and `.` for an
empty cell; a sequence is a string of digits. It must not know: moves, seats, options.
"""

from __future__ import annotations

from arena_protocol.games.base import GameError

#: Three planes of 25 bits; `rules.py` draws the bits.
Planes = tuple[int, int, int]

SIDE = 5
MAX_COLOURS = 7
EMPTY_BOARD = "...../...../...../...../....."

_DIGITS = ".1234567"


def parse_board(text: str, colours: int = MAX_COLOURS) -> Planes:
    """Return the planes of a board such as `5.351/6.423/1.552/44215/44526`.

    Raises GameError if the text is not five rows of five cells, has a colour beyond
    `colours`, or a picture hangs over an empty cell. Runs are allowed here.
    """
    rows = text.split("/")
    if [len(row) for row in rows] != [SIDE] * SIDE:
        raise GameError(f"a board is five rows of five cells joined by '/', not {text!r}")
    planes = [0, 0, 0]
    for y, row in enumerate(reversed(rows)):
        for x, cell in enumerate(row):
            colour = _colour(cell, colours)
            for k in range(3):
                planes[k] |= (colour >> k & 1) << SIDE * x + y
    p0, p1, p2 = planes
    _check_gravity(p0 | p1 | p2, text)
    return p0, p1, p2


def _colour(cell: str, colours: int) -> int:
    colour = _DIGITS.find(cell)
    if not 0 <= colour <= colours:
        raise GameError(f"a cell of the board is '.' or a colour from 1 to {colours}, not {cell!r}")
    return colour


def _check_gravity(occupied: int, text: str) -> None:
    for x in range(SIDE):
        stack = occupied >> SIDE * x & 0b11111
        if stack & (stack + 1):  # a stack from the bottom up is 0, 1, 11, 111, ...
            raise GameError(f"a picture hangs over an empty cell in column {x + 1} of {text!r}")


def format_board(planes: Planes) -> str:
    """Return the text of a board; `parse_board` reads it back."""
    p0, p1, p2 = planes
    return "/".join(
        "".join(
            _DIGITS[(p0 >> bit & 1) | (p1 >> bit & 1) << 1 | (p2 >> bit & 1) << 2]
            for bit in range(y, SIDE * SIDE, SIDE)
        )
        for y in reversed(range(SIDE))
    )


def check_sequence(text: str, colours: int = MAX_COLOURS) -> str:
    """Return a sequence of pictures unchanged. Raises GameError if one is not of 1..colours."""
    strangers = text.strip(_DIGITS[1 : colours + 1])
    if strangers:
        raise GameError(f"a picture of the sequence is a colour from 1 to {colours}, not {strangers[0]!r}")
    return text
