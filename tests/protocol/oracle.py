"""Insertion written slowly and obviously, on a list of rows with the top row first.

It follows the published rules, not `rules.py`.
"""

from __future__ import annotations

Grid = list[list[int]]  # grid[row][column], row 0 on top, 0 = empty


def grid_of(text: str) -> Grid:
    return [[0 if cell == "." else int(cell) for cell in row] for row in text.split("/")]


def text_of(grid: Grid) -> str:
    return "/".join("".join(str(cell or ".") for cell in row) for row in grid)


def fall(grid: Grid) -> None:
    """Let every picture fall, one cell at a time, until nothing moves."""
    moved = True
    while moved:
        moved = False
        for row in range(4):
            for column in range(5):
                if grid[row][column] and not grid[row + 1][column]:
                    grid[row + 1][column], grid[row][column] = grid[row][column], 0
                    moved = True


def drop(grid: Grid, column: int, colour: int) -> int:
    stack = [grid[row][column] for row in range(4, -1, -1) if grid[row][column]]
    stack.append(colour)
    fell = 0
    if len(stack) == 6:
        stack.pop(0)
        fell = 1
    for row in range(5):
        height = 4 - row
        grid[row][column] = stack[height] if height < len(stack) else 0
    return fell


def push(grid: Grid, row: int, columns: list[int], colour: int) -> int:
    """Push into `row`; `columns` are its columns from the rim inwards."""
    if not grid[row][columns[0]]:
        return drop(grid, columns[0], colour)
    carried = colour
    for column in columns:
        grid[row][column], carried = carried, grid[row][column]
        if not carried:  # that cell was empty: what moved into it falls
            fall(grid)
            return 0
    return 1


def insert(grid: Grid, move: int, colour: int) -> int:
    if 1 <= move <= 5:
        return push(grid, 5 - move, [0, 1, 2, 3, 4], colour)
    if 6 <= move <= 10:
        return drop(grid, move - 6, colour)
    assert 11 <= move <= 15
    return push(grid, move - 11, [4, 3, 2, 1, 0], colour)


def cells_of_runs(grid: Grid) -> set[tuple[int, int]]:
    found = set()
    for row in range(5):
        for column in range(5):
            for down, right in ((0, 1), (1, 0)):
                line = [(row + down * step, column + right * step) for step in range(3)]
                if all(r < 5 and c < 5 for r, c in line):
                    colours = {grid[r][c] for r, c in line}
                    if len(colours) == 1 and colours != {0}:
                        found.update(line)  # a longer run is the union of its threes
    return found


def settle(grid: Grid) -> tuple[int, int]:
    removed = waves = 0
    while cells := cells_of_runs(grid):
        for row, column in cells:
            grid[row][column] = 0
        removed += len(cells)
        waves += 1
        fall(grid)
    return removed, waves


def play(board: str, move: int, colour: int) -> tuple[str, int, int, int]:
    """One ply from a board text. Returns (board after, removed, fell, waves)."""
    grid = grid_of(board)
    fell = insert(grid, move, colour)
    removed, waves = settle(grid)
    return text_of(grid), removed, fell, waves


def perft(board: str, sequence: str, depth: int) -> tuple[int, int, int, int]:
    """Leaves, and the sums of removed, fell and waves over the last plies."""
    leaves = removed = fell = waves = 0
    for move in range(1, 16):
        after, *last = play(board, move, int(sequence[0]))
        more = (1, *last) if depth == 1 else perft(after, sequence[1:], depth - 1)
        leaves, removed, fell, waves = (
            leaves + more[0],
            removed + more[1],
            fell + more[2],
            waves + more[3],
        )
    return leaves, removed, fell, waves
