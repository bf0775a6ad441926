"""Victory by continuous fours: every move threatens five, so the answer is forced.

The functions compile; the search keeps its own stack. They must not know: alpha-beta, time.
"""

from __future__ import annotations

from arena_engines.jit import outlined
from arena_engines.xo.modern.board import MARK, World, cell_of_rank, how_many, make, rank_of, unmake
from arena_engines.xo.modern.memory import ANSWER, FORCED, FOUR, FOURS_LEFT, NEXT
from arena_engines.xo.modern.patterns import EMPTY, SINGLE_FOUR, WINS_NEXT, WINS_NOW, Array

#: What `settled` says of a position beyond a number of plies.
OPEN, LOST = 0, -1
#: A win is told as plies * PLIES + cell.
PLIES = 256


@outlined
def win_by_fours(world: World, path: Array, control: Array, side: int, depth: int) -> int:
    """The plies in which `side`, to move, wins by fours alone, and the first of them: plies * PLIES + cell.

    At most `depth` fours are made before two threats at once decide. 0 if there is no such win, or
    none is found before control[FOURS_LEFT] positions are used up.
    """
    level = 0
    found = settled(world, control, side, depth)
    begin_level(world, path, side, level)
    while found == OPEN or (found == LOST and level > 0):
        cell = -1 if found == LOST else next_four(world, path, side, level)
        if cell >= 0:
            make_pair(world, path, side, level, cell)
            level += 1
            found = settled(world, control, side, depth - level)
            begin_level(world, path, side, level)
        elif level > 0:
            level -= 1
            take_back(world, path, side, level)
            found = OPEN
        else:
            return 0
    while level > 0:
        level -= 1
        take_back(world, path, side, level)
        found = (found // PLIES + 2) * PLIES + path[level, FOUR]
    return max(found, 0)


def make_pair(world: World, path: Array, side: int, level: int, cell: int) -> None:
    """Make a four and the answer that stops the first five it threatens."""
    path[level, FOUR] = cell
    make(world, cell, side)
    path[level, ANSWER] = cell_of_rank(world, side, WINS_NOW)
    make(world, path[level, ANSWER], 1 - side)


def take_back(world: World, path: Array, side: int, level: int) -> None:
    """Take a four and its answer back."""
    unmake(world, path[level, ANSWER], 1 - side)
    unmake(world, path[level, FOUR], side)


def settled(world: World, control: Array, side: int, depth: int) -> int:
    """What is plain to see when `side` is to make the next four: a win, LOST, or OPEN."""
    if how_many(world, side, WINS_NOW):
        return PLIES + cell_of_rank(world, side, WINS_NOW)
    threats = how_many(world, 1 - side, WINS_NOW)
    if threats == 0 and how_many(world, side, WINS_NEXT):
        return 3 * PLIES + cell_of_rank(world, side, WINS_NEXT)
    control[FOURS_LEFT] -= 1
    return LOST if threats > 1 or depth <= 0 or control[FOURS_LEFT] < 0 else OPEN


def begin_level(world: World, path: Array, side: int, level: int) -> None:
    """Begin to look for fours; under a threat of five only one on the cell that stops it goes on."""
    path[level, NEXT] = 0
    path[level, FORCED] = -1
    if how_many(world, 1 - side, WINS_NOW):
        path[level, FORCED] = cell_of_rank(world, 1 - side, WINS_NOW)


def next_four(world: World, path: Array, side: int, level: int) -> int:
    """The next cell on which a mark makes a four, -1 if there is none left."""
    board = world[0]
    forced = path[level, FORCED]
    for cell in range(path[level, NEXT], board.shape[1]):
        allowed = board[MARK, cell] == EMPTY and (forced < 0 or cell == forced)
        if allowed and rank_of(world, cell, side) >= SINGLE_FOUR:
            path[level, NEXT] = cell + 1
            return cell
    return -1
