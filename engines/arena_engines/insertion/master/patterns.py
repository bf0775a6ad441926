"""Moves beside a zombie where few pictures are visible: a search of these, and worths of the boards behind.

A plan over sampled pictures knows each sample as if it were visible. Here the visible pictures are searched,
and a board behind my last known move is worth what a player without foresight earned from there on the
average: the sum of learnt worths of its patterns (benchmarks/learn_patterns.py; `patterns.npy`, in 1 / SCALE
cells).

A pattern is which cells of a row, of a column or of a rectangle of six are empty, and which have one colour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.resources import as_file, files
from typing import Any

from arena_engines.insertion.master.layout import INFINITY, Memory
from arena_engines.jit import compiled
from arena_protocol.games.insertion.board import Planes
from arena_protocol.games.insertion.rules import MOVES, distinct_moves, play

#: The move of a zombie.
SIX = 6
SCALE = 64
#: Plies before the end from which on worths count less.
FADING_PLIES = 20
#: My last moves that are valued by one move more, and the most colours.
FURTHER, COLOURS = 4, 7

CELLS = 6
#: A cell that is always empty, the last of a row or a column.
NO_CELL = 25
#: The cells of every pattern: rows, columns, then rectangles of three by two and of two by three.
WINDOWS = (
    *((y, 5 + y, 10 + y, 15 + y, 20 + y, NO_CELL) for y in range(5)),
    *((*range(5 * x, 5 * x + 5), NO_CELL) for x in range(5)),
    *(
        tuple(5 * (x + i) + y + j for i in range(width) for j in range(height))
        for width, height in ((3, 2), (2, 3))
        for x in range(6 - width)
        for y in range(6 - height)
    ),
)
PATTERNS = len(WINDOWS)
#: Ways in which six cells are empty or of equal colours: the partitions of seven things.
KINDS = 877
#: The memory: the colours of a board's cells, the values of moves, the cells of the windows, the kinds by the
#: colours of six cells (three bits each), and the worths by window and kind.
VALUES_AT = 32
WINDOWS_AT = VALUES_AT + MOVES + 1
KINDS_AT = WINDOWS_AT + PATTERNS * CELLS
WORTHS_AT = KINDS_AT + (1 << 3 * CELLS)
WORDS = WORTHS_AT + PATTERNS * KINDS

SIGNATURE = f"UniTuple(int64, 2)({'int64, ' * 8}int64[::1])"


def spread(p0: int, p1: int, p2: int, mem: Memory) -> None:
    """Write the colours of a board's cells into the memory."""
    for cell in range(25):
        mem[cell] = (p0 >> cell & 1) | (p1 >> cell & 1) << 1 | (p2 >> cell & 1) << 2


def worth_at(pattern: int, mem: Memory) -> int:
    """Return where in the memory the worth of a pattern of the board written there is."""
    window = WINDOWS_AT + pattern * CELLS
    colours = 0
    for cell in range(CELLS):
        colours = colours << 3 | mem[mem[window + cell]]
    return WORTHS_AT + pattern * KINDS + mem[KINDS_AT + colours]


def board_worth(p0: int, p1: int, p2: int, left: int, mem: Memory) -> int:
    """Return the worth of a board after my move, `left` plies before my last one."""
    spread(p0, p1, p2, mem)
    total = 0
    for pattern in range(PATTERNS):
        total += mem[worth_at(pattern, mem)]
    return total * min(left, FADING_PLIES) // FADING_PLIES


def best_gain(p0: int, p1: int, p2: int, picture: int, left: int, mem: Memory) -> int:
    """Return the value of my best move: what it removes, and the worth of the board behind it."""
    distinct = distinct_moves(p0, p1, p2)
    best = -INFINITY
    for move in range(1, MOVES + 1):
        if distinct >> move & 1:
            q0, q1, q2, removed, _, _ = play(p0, p1, p2, move, picture)
            best = max(best, removed * SCALE + board_worth(q0, q1, q2, max(left - 2, 0), mem))
    return best


def expected(
    p0: int, p1: int, p2: int, picture: int, hidden: int, left: int, colours: int, mem: Memory
) -> int:
    """Return the mean value of my next move, with a picture not yet visible, behind the zombie's.

    `picture`: the zombie's; with `hidden` = 1 it is not visible either. `left`: plies before the zombie's.
    """
    first, last = picture, picture
    if hidden:
        first, last = 1, colours
    total = 0
    for theirs in range(first, last + 1):
        q0, q1, q2, _, _, _ = play(p0, p1, p2, SIX, theirs)
        for mine in range(1, colours + 1):
            total += best_gain(q0, q1, q2, mine, left - 1, mem)
    return total // ((last + 1 - first) * colours)


def search_known(
    p0: int, p1: int, p2: int, pictures: int, known: int, left: int, further: int, colours: int, mem: Memory
) -> tuple[int, int]:
    """Return the value and the best move of my moves with `known` >= 1 pictures, three bits each, mine first.

    The zombie moves after each. `left` > 0: plies to the end of the game. `further` > 0: of my last moves the
    best of this number are valued by the expected value of one move more.
    """
    distinct = distinct_moves(p0, p1, p2)
    best, best_move = -INFINITY, 0
    last = left <= 2 or known <= 2
    for move in range(1, MOVES + 1):
        if distinct >> move & 1:
            q0, q1, q2, removed, _, _ = play(p0, p1, p2, move, pictures & 7)
            value = removed * SCALE
            if last:
                value += board_worth(q0, q1, q2, max(left - 2, 0), mem)
            else:
                q0, q1, q2, _, _, _ = play(q0, q1, q2, SIX, pictures >> 3 & 7)
                below, _ = search_known(q0, q1, q2, pictures >> 6, known - 2, left - 2, further, colours, mem)
                value += below
            mem[VALUES_AT + move] = value
            if value > best:
                best, best_move = value, move
    if not last or left <= 2 or further == 0:
        return best, best_move
    best = -INFINITY
    for _ in range(further):
        # The next best by the worths: of equals the first.
        move = 0
        for each in range(1, MOVES + 1):
            if distinct >> each & 1 and (move == 0 or mem[VALUES_AT + each] > mem[VALUES_AT + move]):
                move = each
        if move == 0:
            break
        distinct &= ~(1 << move)
        q0, q1, q2, removed, _, _ = play(p0, p1, p2, move, pictures & 7)
        hidden = 1 if known == 1 else 0
        value = removed * SCALE
        value += expected(q0, q1, q2, pictures >> 3 & 7, hidden, left - 1, colours, mem)
        if value > best:
            best, best_move = value, move
    return best, best_move


def new_memory() -> Any:
    """Return a memory with all worths 0: an array of int64."""
    import numpy as np  # here, so that naming the engine needs no numpy

    mem = np.zeros(WORDS, dtype=np.int64)
    mem[WINDOWS_AT:KINDS_AT] = np.array(WINDOWS).ravel()
    # Cells are named in their order: 0 if empty, else by the first cell of their colour.
    colours = np.arange(1 << 3 * CELLS)[:, None] >> 3 * np.arange(CELLS - 1, -1, -1) & 7
    names = np.argmax(colours[:, :, None] == colours[:, None, :], axis=2) + 1
    names[colours == 0] = 0
    keys = (names * (CELLS + 1) ** np.arange(CELLS)).sum(axis=1)
    _, mem[KINDS_AT:WORTHS_AT] = np.unique(keys, return_inverse=True)
    return mem


class PatternSearch:
    """The search with the worths that come with the package."""

    def __init__(self) -> None:
        import numpy as np

        self._mem = new_memory()
        with as_file(files(__package__) / "patterns.npy") as path:
            self._mem[WORTHS_AT:] = np.load(path)
        self._search: Callable[..., tuple[int, int]] = compiled(search_known, SIGNATURE)

    def best_move(
        self, planes: Planes, pictures: str, left: int, colours: int, seconds_left: Callable[[], float]
    ) -> int:
        """Return the best move: of the deepest search that the time is enough for, but at least of one move.

        `pictures`: the visible ones, mine first; `left`: plies to the end of the game.
        """
        packed = sum(int(picture) << 3 * ply for ply, picture in enumerate(pictures))
        move, spent = 0, 0.0
        for known, further, growth in stages(len(pictures)):
            began = seconds_left()
            if move and spent * growth >= began:
                break
            _, move = self._search(*planes, packed, known, left, further, colours, self._mem)
            spent = began - seconds_left()
        return move


def stages(known: int) -> Iterator[tuple[int, int, int]]:
    """Yield the searches of a number of visible pictures: of how many, `further`, how many times as long."""
    for odd in range(1, known + 1, 2):
        yield odd, 0, MOVES
    # One move more for each colour, and for each of the zombie's if that is hidden.
    colours = COLOURS if known % 2 == 0 else COLOURS * COLOURS
    for further in range(1, FURTHER + 1):
        yield known, further, colours + 1 if further == 1 else 2
