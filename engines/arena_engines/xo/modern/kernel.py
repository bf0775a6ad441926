"""The one entry to the compiled code of `xo`, so that everything is compiled once; a task is a number.

It must not know: what is asked for when.
"""

from __future__ import annotations

from arena_engines.xo.modern.board import World, clear, fill_reach, make
from arena_engines.xo.modern.fours import win_by_fours
from arena_engines.xo.modern.memory import HASH, Memory
from arena_engines.xo.modern.patterns import EMPTY, Array, fill_cells, fill_lines
from arena_engines.xo.modern.search import search_root
from arena_engines.xo.modern.threats import win_by_threats

#: What `run` does. BUILD: fill the tables for a board of size `a`. SET_UP: put the marks on the board.
#: FOURS, THREATS: look for a win in at most `a` of them. SEARCH: alpha-beta to depth `a` in `low`..`high`.
BUILD, SET_UP, FOURS, THREATS, SEARCH = range(5)

WORLD = "Tuple((int32[:,::1], int16[:,::1], uint8[::1], int32[:,::1]))"
MEMORY = (
    "Tuple((int64[:,::1], int64[:,::1], int64[:,::1], int64[:,::1], int32[:,::1], int32[:,::1], "
    "int32[:,::1], int64[:,::1], int32[:,::1], int64[::1]))"
)
SIGNATURE = f"int64({WORLD}, {MEMORY}, uint8[::1], int64, int64, int64, int64, int64)"


def run(world: World, memory: Memory, marks: Array, task: int, side: int, a: int, low: int, high: int) -> int:
    """Do one task for the side to move and return what it found; 0 where there is nothing to find."""
    if task == BUILD:
        build(world, a)
    elif task == SET_UP:
        set_up(world, memory, marks)
    elif task == FOURS:
        return win_by_fours(world, memory[5], memory[9], side, a)
    elif task == THREATS:
        return win_by_threats(world, memory, side, a)
    else:
        return search_root(world, memory, side, a, low, high)
    return 0


def build(world: World, size: int) -> None:
    """Fill the tables of a world."""
    _, reach, lines, cells = world
    fill_lines(lines)
    fill_cells(cells)
    fill_reach(reach, size)


def set_up(world: World, memory: Memory, marks: Array) -> None:
    """Make the board that of a position, `marks` being EMPTY, X or O a cell."""
    _, _, hashes, _, _, _, _, _, _, control = memory
    clear(world)
    control[HASH] = 0
    for cell in range(marks.shape[0]):
        if marks[cell] != EMPTY:
            make(world, cell, marks[cell] - 1)
            control[HASH] ^= hashes[marks[cell] - 1, cell]
