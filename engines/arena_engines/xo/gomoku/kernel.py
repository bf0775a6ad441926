"""The one compiled entry of `xo`: everything is compiled once, and a task is a number."""

from __future__ import annotations

from arena_engines.xo.gomoku.alphabeta import search_root
from arena_engines.xo.gomoku.board import Board, clear, fill_neighbours, fill_places, make
from arena_engines.xo.gomoku.memory import HASH, Memory
from arena_engines.xo.gomoku.patterns import EMPTY, Array, fill_cells, fill_lines
from arena_engines.xo.gomoku.threats import vcf, vct

#: The tasks of `run`. BUILD: fill the tables for a board of size `a`. SET_POSITION: put `marks` on the board.
#: VCF, VCT: look for a win in at most `a` threats. SEARCH: alpha-beta to depth `a` in `low`..`high`.
BUILD, SET_POSITION, VCF, VCT, SEARCH = range(5)

BOARD = (
    "Tuple((int32[:,::1], int16[:,::1], uint8[:,::1], int64[:,::1], uint8[::1], int64[:,::1], uint8[:,::1], "
    "int64[:,::1], int64[:,::1], int64[::1]))"
)
MEMORY = (
    "Tuple((int64[:,::1], int64[:,::1], int64[:,::1], int64[:,::1], int32[:,::1], int32[:,::1], "
    "int32[:,::1], int64[:,::1], int32[:,::1], int64[::1]))"
)
SIGNATURE = f"int64({BOARD}, {MEMORY}, uint8[::1], int64, int64, int64, int64, int64)"


def run(board: Board, memory: Memory, marks: Array, task: int, side: int, a: int, low: int, high: int) -> int:
    """Do one task for the side to move and return what it found; 0 where there is nothing to find."""
    if task == BUILD:
        build(board, a)
    elif task == SET_POSITION:
        set_position(board, memory, marks)
    elif task == VCF:
        return vcf(board, memory[5], memory[9], side, a)
    elif task == VCT:
        return vct(board, memory, side, a)
    else:
        return search_root(board, memory, side, a, low, high)
    return 0


def build(board: Board, size: int) -> None:
    """Fill the tables of a board of size x size."""
    _, neighbours, places, _, line_table, cell_table, _, _, _, _ = board
    fill_lines(line_table)
    fill_cells(cell_table)
    fill_neighbours(neighbours, size)
    fill_places(places, size)


def set_position(board: Board, memory: Memory, marks: Array) -> None:
    """Set the board to `marks` (uint8, cells): EMPTY, X or O."""
    _, _, hashes, _, _, _, _, _, _, control = memory
    clear(board)
    control[HASH] = 0
    for cell in range(marks.shape[0]):
        if marks[cell] != EMPTY:
            make(board, cell, marks[cell] - 1)
            control[HASH] ^= hashes[marks[cell] - 1, cell]
