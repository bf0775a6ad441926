"""The seed's other board: 5 x 5 bytes and the heights of the columns, against the bit-packed one.

    python benchmarks/byte_board.py

The author measured his bit-packed rows 1 to 2 % slower than plain bytes. Here the same tree of moves is
walked on both boards, both compiled, and the counts must agree.
"""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from arena_engines.analysis import bench_positions
from arena_engines.insertion.fixed_depth import Task, task_of
from arena_engines.insertion.perft import perft
from arena_engines.jit import compiled

DEPTH = 4
Bytes = NDArray[np.int8]


#: One ply's layer: 25 cells, column by column from the bottom, then the five heights.
LAYER = 30


@numba.njit
def drop(b: Bytes, at: int, x: int, colour: int) -> None:
    """Drop into column x of the layer at `at`; a full column loses its bottom picture."""
    column = at + 5 * x
    height = b[at + 25 + x]
    if height == 5:
        b[column] = b[column + 1]
        b[column + 1] = b[column + 2]
        b[column + 2] = b[column + 3]
        b[column + 3] = b[column + 4]
        b[column + 4] = colour
    else:
        b[column + height] = colour
        b[at + 25 + x] = height + 1


@numba.njit
def push(b: Bytes, at: int, y: int, rim: int, step: int, colour: int) -> None:
    """Push into row y from the column `rim` on in steps of 1 or -1."""
    x = rim
    while b[at + 25 + x] > y:
        cell = at + 5 * x + y
        moved = b[cell]
        b[cell] = colour
        colour = moved
        x += step
        if x < 0 or x > 4:
            return
    drop(b, at, x, colour)


@numba.njit
def runs(b: Bytes, at: int) -> int:
    """Return the cells of all runs as bits."""
    gone = 0
    for line in range(5):
        for start in range(3):
            cell = 5 * line + start
            colour = b[at + cell]
            if colour and colour == b[at + cell + 1] and colour == b[at + cell + 2]:
                gone |= 0b111 << cell
            cell = 5 * start + line
            colour = b[at + cell]
            if colour and colour == b[at + cell + 5] and colour == b[at + cell + 10]:
                gone |= 0b10000100001 << cell
    return gone


@numba.njit
def fall(b: Bytes, at: int, gone: int) -> int:
    """Take the marked cells away and let the others fall; returns how many went."""
    removed = 0
    for x in range(5):
        column = at + 5 * x
        old = b[at + 25 + x]
        height = 0
        for y in range(old):
            if not gone >> 5 * x + y & 1:
                b[column + height] = b[column + y]
                height += 1
        for y in range(height, old):
            b[column + y] = 0
        b[at + 25 + x] = height
        removed += old - height
    return removed


@numba.njit
def play(b: Bytes, at: int, move: int, colour: int) -> int:
    """One whole ply in place; returns the cells removed."""
    if move <= 5:
        push(b, at, move - 1, 0, 1, colour)
    elif move <= 10:
        drop(b, at, move - 6, colour)
    else:
        push(b, at, 15 - move, 4, -1, colour)
    removed = 0
    gone = runs(b, at)
    while gone:
        removed += fall(b, at, gone)
        gone = runs(b, at)
    return removed


@numba.njit
def byte_perft(b: Bytes, at: int, pictures: int, depth: int) -> tuple[int, int]:
    """Walk the tree as `perft` does; each ply has the layer after its parent's."""
    nodes = 0
    total = 0
    left = b[at + 25]
    right = b[at + 29]
    below = at + LAYER
    for move in range(1, 16):
        if (left + 1 < move <= 6) or (10 < move <= 15 - right):
            continue
        for cell in range(LAYER):
            b[below + cell] = b[at + cell]
        total += play(b, below, move, pictures & 7)
        nodes += 1
        if depth > 1:
            deeper, more = byte_perft(b, below, pictures >> 3, depth - 1)
            nodes += deeper
            total += more
    return nodes, total


class Speed(NamedTuple):
    """Moves made, cells removed and moves a second."""

    nodes: int
    removed: int
    rate: float


def layers(task: Task) -> Bytes:
    """Return the byte board of a task, followed by room for a layer a ply."""
    bits = range(25)
    cells = [sum((plane >> bit & 1) << k for k, plane in enumerate(task.planes)) for bit in bits]
    heights = [sum(cell > 0 for cell in cells[5 * x : 5 * x + 5]) for x in range(5)]
    return np.array(cells + heights + [0] * LAYER * task.depth, dtype=np.int8)


def compare(runs: int = 3) -> tuple[Speed, Speed]:
    """Return the speed of the byte board and of the bit-packed one over the bench positions."""
    tasks = [task_of(position, DEPTH) for position in bench_positions()]
    kernel = compiled(perft)
    boards = [layers(task) for task in tasks]
    byte_perft(boards[0], 0, tasks[0].pictures, DEPTH)
    results = []
    for walk in (
        lambda: [
            byte_perft(board, 0, task.pictures, DEPTH) for board, task in zip(boards, tasks, strict=True)
        ],
        lambda: [kernel(*task.planes, task.pictures, DEPTH) for task in tasks],
    ):
        seconds = []
        for _ in range(runs):
            began = perf_counter()
            counts = walk()
            seconds.append(perf_counter() - began)
        nodes, removed = (sum(column) for column in zip(*counts, strict=True))
        results.append(Speed(nodes, removed, nodes / min(seconds)))
    assert results[0][:2] == results[1][:2], "the two boards must agree"
    return results[0], results[1]


def main() -> None:
    """Print both speeds."""
    bytes_, bits = compare()
    print(f"byte board {bytes_.rate / 1e6:.1f}, bit planes {bits.rate / 1e6:.1f} million moves a second")
    print(f"bit planes are {bits.rate / bytes_.rate:.2f} times as fast ({bits.nodes:,} moves on both)")


if __name__ == "__main__":
    main()
