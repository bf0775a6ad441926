"""Boards and sequences of insertion as text, as STATE, NEXT and records print them, and the seeded deal.

A board is five rows from the top down joined by `/`, a digit for a picture and `.` for an
empty cell; a sequence is a string of digits. The draws are those of `games/base.py` with the
label `insertion`, because Python's `random` may change its algorithms; `RULES.md` publishes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from arena_protocol.games.base import GameError, draw_below, draw_bytes
from arena_protocol.games.insertion.rules import drop, runs

#: Three planes of 25 bits; `rules.py` has a picture of the bits.
Planes = tuple[int, int, int]

SIDE = 5
MAX_COLOURS = 7

_DIGITS = ".1234567"
#: For each plane the bit of a cell by its character.
_BITS = tuple({ord(cell): str(colour >> k & 1) for colour, cell in enumerate(_DIGITS)} for k in range(3))


def parse_board(text: str, colours: int = MAX_COLOURS) -> Planes:
    """Return the planes of a board such as `5.351/6.423/1.552/44215/44526`.

    Raises GameError if the text is not five rows of five cells, a colour is above `colours`, or a
    picture is above an empty cell. Runs are allowed.
    """
    rows = text.split("/")
    if [len(row) for row in rows] != [SIDE] * SIDE:
        raise GameError(f"a board is five rows of five cells joined by '/', not {text!r}")
    # From the top right cell down, column by column: the bits of a plane from the highest on.
    cells = "".join([row[x] for x in reversed(range(SIDE)) for row in rows])
    if unknown := cells.strip(_DIGITS[: colours + 1]):
        raise GameError(f"a cell of the board is '.' or a colour from 1 to {colours}, not {unknown[0]!r}")
    p0, p1, p2 = (int(cells.translate(bits), 2) for bits in _BITS)
    _check_gravity(p0 | p1 | p2, text)
    return p0, p1, p2


def _check_gravity(occupied: int, text: str) -> None:
    for x in range(SIDE):
        stack = occupied >> SIDE * x & 0b11111
        if stack & (stack + 1):  # without gaps the column is 0, 1, 11, 111, ...
            raise GameError(f"a picture hangs over an empty cell in column {x + 1} of {text!r}")


def format_board(planes: Planes) -> str:
    """Return the text of a board: the inverse of `parse_board`."""
    # Bits read as decimal digits: their sum has the colour of a cell in each.
    b0, b1, b2 = (int(f"{plane:b}") for plane in planes)
    cells = f"{b0 + 2 * b1 + 4 * b2:025}".replace("0", ".")
    return "/".join([cells[top::SIDE][::-1] for top in range(SIDE)])


def check_sequence(text: str, colours: int = MAX_COLOURS) -> str:
    """Return the sequence unchanged. Raises GameError if a picture is not in 1..colours."""
    # strip ends at the first character that is none of them, from either end.
    unknown = text.strip(_DIGITS[1 : colours + 1])
    if unknown:
        raise GameError(f"a picture of the sequence is a colour from 1 to {colours}, not {unknown[0]!r}")
    return text


def draw_deal(seed: int, start: str | Planes, colours: int, plies: int) -> tuple[Planes, str]:
    """Return the start board and a sequence of `plies` pictures.

    `start` is `full`, `partial`, `empty` or a given board, which is returned unchanged. The draws in
    their order: for `partial` the heights of the columns from the left; the pictures of the board
    column by column, each from the bottom up; the pictures of the sequence.
    """
    draws = draw_bytes("insertion", seed)
    board = _board(draws, start, colours) if isinstance(start, str) else start
    # As `draw_below` for each picture, without a call for each.
    drawn = filter((256 - 256 % colours).__gt__, draws)
    return board, "".join([_DIGITS[1 + byte % colours] for byte in islice(drawn, plies)])


def _board(draws: Iterator[int], start: str, colours: int) -> Planes:
    planes = (0, 0, 0)
    for x, height in enumerate(_heights(draws, start)):
        for _ in range(height):
            planes = _stack(draws, planes, x, colours)
    return planes


def _heights(draws: Iterator[int], start: str) -> list[int]:
    if start == "partial":
        return [draw_below(draws, SIDE + 1) for _ in range(SIDE)]
    return [SIDE if start == "full" else 0] * SIDE


def _stack(draws: Iterator[int], planes: Planes, x: int, colours: int) -> Planes:
    """Drop a picture that makes no run on column x; at most two colours make one, and C >= 3."""
    while True:
        # A picture that makes a run is drawn again, so that a game begins without points.
        p0, p1, p2, _ = drop(*planes, x, 1 + draw_below(draws, colours))
        if not runs(p0, p1, p2):
            return p0, p1, p2
