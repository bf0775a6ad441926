"""Three boards of insertion in one benchmark: bytes, five 16-bit rows, and bit planes.

    python benchmarks/boards.py

bytes: 5 x 5 bytes, column by column, and the heights of the columns. rows: the compact board of seed 001,
five 16-bit numbers of five 3-bit cells, so that a push into a full row is a shift, and the heights. planes:
three planes of 25 bits (arena_protocol.games.insertion.rules). The author measured his rows 1 to 2 % slower
than bytes. The same tree of moves is walked on each, all compiled by numba; moves and removed cells must
agree.
"""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time
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
Rows = NDArray[np.int16]

#: A layer (one for each ply) of the byte board: 25 cells, column by column from the bottom, then five
#: heights.
LAYER = 30
#: A layer of rows: five rows from the bottom, cell x in bits 3x..3x+2, then five heights.
ROW_LAYER = 10
FULL_ROW = (1 << 15) - 1


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
    """Remove the marked cells and let the others fall; return the number removed."""
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
    """Play one whole ply in place; return the cells removed."""
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


@numba.njit
def row_drop(b: Rows, at: int, x: int, colour: int) -> None:
    """Drop into column x of the layer at `at`; a full column loses its bottom picture."""
    cell = 7 << 3 * x
    height = b[at + 5 + x]
    if height == 5:
        for y in range(at, at + 4):
            b[y] = (b[y] & ~cell) | (b[y + 1] & cell)
        b[at + 4] = (b[at + 4] & ~cell) | colour << 3 * x
    else:
        b[at + height] |= colour << 3 * x
        b[at + 5 + x] = height + 1


@numba.njit
def row_push_left(b: Rows, at: int, y: int, colour: int) -> None:
    """Push into row y from the left."""
    row = b[at + y]
    hole = 0
    while hole < 5 and b[at + 5 + hole] > y:
        hole += 1
    if hole == 5:
        b[at + y] = (row << 3 | colour) & FULL_ROW
        return
    moving = (1 << 3 * hole) - 1
    if hole:
        arriving = row >> 3 * (hole - 1) & 7
        b[at + y] = (row & ~moving) | ((row << 3 | colour) & moving)
        colour = arriving
    row_drop(b, at, hole, colour)


@numba.njit
def row_push_right(b: Rows, at: int, y: int, colour: int) -> None:
    """Push into row y from the right."""
    row = b[at + y]
    hole = 4
    while hole >= 0 and b[at + 5 + hole] > y:
        hole -= 1
    if hole < 0:
        b[at + y] = row >> 3 | colour << 12
        return
    still = (1 << 3 * (hole + 1)) - 1
    if hole < 4:
        arriving = row >> 3 * (hole + 1) & 7
        b[at + y] = (row & still) | ((row >> 3 | colour << 12) & ~still)
        colour = arriving
    row_drop(b, at, hole, colour)


@numba.njit
def row_runs(b: Rows, at: int) -> int:
    """Return the cells of all runs as bits, 5y + x."""
    gone = 0
    for y in range(5):
        row = b[at + y]
        for x in range(3):
            colour = row >> 3 * x & 7
            if colour and row >> 3 * x & 0o777 == colour * 0o111:
                gone |= 0b111 << 5 * y + x
    for y in range(3):
        low = b[at + y]
        differ = (low ^ b[at + y + 1]) | (low ^ b[at + y + 2])
        for x in range(5):
            if low >> 3 * x & 7 and not differ >> 3 * x & 7:
                gone |= 0b10000100001 << 5 * y + x
    return gone


@numba.njit
def row_fall(b: Rows, at: int, gone: int) -> int:
    """Remove the marked cells and let the others fall; return the number removed."""
    removed = 0
    for x in range(5):
        old = b[at + 5 + x]
        height = 0
        for y in range(old):
            if not gone >> 5 * y + x & 1:
                if height < y:
                    colour = b[at + y] >> 3 * x & 7
                    b[at + height] = (b[at + height] & ~(7 << 3 * x)) | colour << 3 * x
                height += 1
        for y in range(height, old):
            b[at + y] &= ~(7 << 3 * x)
        b[at + 5 + x] = height
        removed += old - height
    return removed


@numba.njit
def row_play(b: Rows, at: int, move: int, colour: int) -> int:
    """Play one whole ply in place; return the cells removed."""
    if move <= 5:
        row_push_left(b, at, move - 1, colour)
    elif move <= 10:
        row_drop(b, at, move - 6, colour)
    else:
        row_push_right(b, at, 15 - move, colour)
    removed = 0
    gone = row_runs(b, at)
    while gone:
        removed += row_fall(b, at, gone)
        gone = row_runs(b, at)
    return removed


@numba.njit
def row_perft(b: Rows, at: int, pictures: int, depth: int) -> tuple[int, int]:
    """Walk the tree as `perft` does; each ply has the layer after its parent's."""
    nodes = 0
    total = 0
    left = b[at + 5]
    right = b[at + 9]
    below = at + ROW_LAYER
    for move in range(1, 16):
        if (left + 1 < move <= 6) or (10 < move <= 15 - right):
            continue
        for word in range(ROW_LAYER):
            b[below + word] = b[at + word]
        total += row_play(b, below, move, pictures & 7)
        nodes += 1
        if depth > 1:
            deeper, more = row_perft(b, below, pictures >> 3, depth - 1)
            nodes += deeper
            total += more
    return nodes, total


class Speed(NamedTuple):
    """Moves made, cells removed and moves a second."""

    nodes: int
    removed: int
    rate: float


def cells_of(task: Task) -> list[int]:
    """Return the 25 colours, column by column from the bottom."""
    return [sum((plane >> bit & 1) << k for k, plane in enumerate(task.planes)) for bit in range(25)]


def byte_layers(task: Task) -> Bytes:
    """Return the byte board of a task, followed by a layer for each ply."""
    cells = cells_of(task)
    heights = [sum(cell > 0 for cell in cells[5 * x : 5 * x + 5]) for x in range(5)]
    return np.array(cells + heights + [0] * LAYER * task.depth, dtype=np.int8)


def row_layers(task: Task) -> Rows:
    """Return the board of rows of a task, followed by a layer for each ply."""
    cells = cells_of(task)
    rows = [sum(cells[5 * x + y] << 3 * x for x in range(5)) for y in range(5)]
    heights = [sum(cell > 0 for cell in cells[5 * x : 5 * x + 5]) for x in range(5)]
    return np.array(rows + heights + [0] * ROW_LAYER * task.depth, dtype=np.int16)


def compare(depth: int = DEPTH, runs: int = 9) -> dict[str, Speed]:
    """Return the speed of each board over the bench positions, by processor time, the fastest of `runs`.

    Raises AssertionError if the boards disagree on the moves made or the cells removed.
    """
    tasks = [task_of(position, depth) for position in bench_positions()]
    kernel = compiled(perft)
    bytes_, rows = [byte_layers(task) for task in tasks], [row_layers(task) for task in tasks]
    walks: dict[str, Callable[[], list[tuple[int, int]]]] = {
        "bytes": lambda: [byte_perft(b, 0, t.pictures, depth) for b, t in zip(bytes_, tasks, strict=True)],
        "rows": lambda: [row_perft(b, 0, t.pictures, depth) for b, t in zip(rows, tasks, strict=True)],
        "planes": lambda: [kernel(*task.planes, task.pictures, depth) for task in tasks],
    }
    counts = {name: walk() for name, walk in walks.items()}  # compiles
    seconds: dict[str, list[float]] = {name: [] for name in walks}
    for _ in range(runs):
        for name, walk in walks.items():
            began = thread_time()
            walk()
            seconds[name].append(thread_time() - began)
    results = {}
    for name in walks:
        nodes, removed = (sum(column) for column in zip(*counts[name], strict=True))
        results[name] = Speed(nodes, removed, nodes / min(seconds[name]))
    assert len({speed[:2] for speed in results.values()}) == 1, "the boards must agree"
    return results


def main() -> None:
    """Print the speeds."""
    speeds = compare()
    print("| board | moves | cells removed | million moves a second | of bytes |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, speed in speeds.items():
        share = speed.rate / speeds["bytes"].rate
        print(f"| {name} | {speed.nodes:,} | {speed.removed:,} | {speed.rate / 1e6:.1f} | {share:.2f} |")


if __name__ == "__main__":
    main()
