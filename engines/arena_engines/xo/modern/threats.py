"""Victory by continuous threats: every move threatens five or an open four, and every answer is tried.

Wider than fours alone: an open three leaves the other side some answers, all of which must lose. Even
levels are the attacker's (one good move is enough), odd ones the defender's (no answer may hold): an
AND/OR search with a stack of its own. The functions compile. They must not know: alpha-beta, time.
"""

from __future__ import annotations

from arena_engines.jit import outlined
from arena_engines.xo.modern.board import CELL, MARK, World, cell_of_rank, how_many, make, rank_of, unmake
from arena_engines.xo.modern.memory import ENOUGH, HASH, STOP, THREATS_LEFT, Memory
from arena_engines.xo.modern.patterns import (
    EMPTY,
    INTEREST,
    SINGLE_FOUR,
    THREATENS_FOUR,
    WINS_NEXT,
    WINS_NOW,
    Array,
)

FAILS, WINS, UNDECIDED = 0, 1, 2
#: Mixed into the hash, so that both sides' attacks from one position are kept apart.
SALTS = (0x1E3779B97F4A7C15, 0x2545F4914F6CDD1D)


@outlined
def win_by_threats(world: World, memory: Memory, side: int, depth: int) -> int:
    """The first move of a win of `side`, to move, in at most `depth` threats, as 1 + cell, or 0.

    It gives up when control[THREATS_LEFT] positions are used up, or control[STOP] or [ENOUGH] is set.
    """
    _, _, hashes, _, _, _, lists, stack, _, control = memory
    level = 0
    status = open_attack(world, memory, side, 0, depth)
    while True:
        while status == UNDECIDED:
            mover = side ^ level & 1
            cell = lists[2 * level, stack[level, 1]]
            stack[level, 1] += 1
            make(world, cell, mover)
            control[HASH] ^= hashes[mover, cell]
            level += 1
            if level & 1:
                status = open_defence(world, lists, stack, side, level)
            else:
                status = open_attack(world, memory, side, level, depth - level // 2)
        if level == 0:
            return 1 + lists[0, stack[0, 1] - 1] if status == WINS else 0
        level -= 1
        mover = side ^ level & 1
        cell = lists[2 * level, stack[level, 1] - 1]
        control[HASH] ^= hashes[mover, cell]
        unmake(world, cell, mover)
        status = resume(memory, side, level, depth - level // 2, status)


def resume(memory: Memory, side: int, level: int, depth: int, status: int) -> int:
    """What a level comes to after a move of it WINS or FAILS; UNDECIDED: the next move is to be tried."""
    _, known, _, _, _, _, _, stack, _, control = memory
    attacks = level & 1 == 0
    if status == (FAILS if attacks else WINS) and stack[level, 1] < stack[level, 0]:
        return UNDECIDED
    # What was cut short proves nothing but a win.
    if attacks and (status == WINS or not given_up(control)):
        note(known, control[HASH] ^ SALTS[side], status, depth)
    return status


def open_attack(world: World, memory: Memory, side: int, level: int, depth: int) -> int:
    """Whether the attacker wins or fails plainly; else its threats are listed."""
    _, known, _, _, _, _, lists, stack, _, control = memory
    stack[level, 0] = 0
    stack[level, 1] = 1
    control[THREATS_LEFT] -= 1
    if how_many(world, side, WINS_NOW):
        lists[2 * level, 0] = cell_of_rank(world, side, WINS_NOW)
        return WINS
    against = how_many(world, 1 - side, WINS_NOW)
    if against == 0 and how_many(world, side, WINS_NEXT):
        lists[2 * level, 0] = cell_of_rank(world, side, WINS_NEXT)
        return WINS
    if against > 1 or depth <= 0 or given_up(control):
        return FAILS
    status = recalled(known, control[HASH] ^ SALTS[side], depth)
    # At the root the move is asked for, and what is known has none.
    if status == FAILS or (status == WINS and level > 0):
        return status
    stack[level, 1] = 0
    if against:
        # Only this cell stops five; whether a threat is left then, the defence will see.
        stack[level, 0] = 1
        lists[2 * level, 0] = cell_of_rank(world, 1 - side, WINS_NOW)
        return UNDECIDED
    # Against an open four only fours are quick enough.
    least = SINGLE_FOUR if how_many(world, 1 - side, WINS_NEXT) else THREATENS_FOUR
    list_threats(world, lists, stack, level, side, least)
    return UNDECIDED if stack[level, 0] else FAILS


def open_defence(world: World, lists: Array, stack: Array, side: int, level: int) -> int:
    """Whether the threat just made wins or fails plainly; else the answers to it are listed."""
    other = 1 - side
    stack[level, 0] = 0
    stack[level, 1] = 0
    if how_many(world, other, WINS_NOW):
        return FAILS
    fives = how_many(world, side, WINS_NOW)
    if fives > 1:
        return WINS
    if fives == 1:
        stack[level, 0] = 1
        lists[2 * level, 0] = cell_of_rank(world, side, WINS_NOW)
        return UNDECIDED
    if how_many(world, side, WINS_NEXT) == 0 or how_many(world, other, WINS_NEXT):
        return FAILS
    list_answers(world, lists, stack, level, side)
    return UNDECIDED


def given_up(control: Array) -> bool:
    """Whether the search must come to an end: what it has not found is not known then."""
    return bool(control[THREATS_LEFT] < 0 or control[STOP] or control[ENOUGH])


def list_threats(world: World, lists: Array, stack: Array, level: int, side: int, least: int) -> None:
    """List the empty cells of at least this rank for the attacker, the most interesting first."""
    board, _, _, cells = world
    for cell in range(board.shape[1]):
        if board[MARK, cell] == EMPTY and rank_of(world, cell, side) >= least:
            put_in(lists, stack, level, cell, cells[board[CELL + side, cell], INTEREST])


def list_answers(world: World, lists: Array, stack: Array, level: int, side: int) -> None:
    """List the cells of the line that threatens, and the defender's own fours, which win time.

    Nothing else can hold: an open four or a double four can only be stopped on a cell of the fives that it
    leads to, and on each of those the attacker has at least a four.
    """
    board, _, _, cells = world
    for cell in range(board.shape[1]):
        if board[MARK, cell] == EMPTY:
            most = max(rank_of(world, cell, side), rank_of(world, cell, 1 - side))
            if most >= SINGLE_FOUR:
                mine, theirs = board[CELL + 1 - side, cell], board[CELL + side, cell]
                put_in(lists, stack, level, cell, cells[mine, INTEREST] + cells[theirs, INTEREST])


def put_in(lists: Array, stack: Array, level: int, cell: int, value: int) -> None:
    """Add a move to the list of a level, where its value belongs; the row below keeps the values."""
    place = stack[level, 0]
    stack[level, 0] = place + 1
    while place > 0 and lists[2 * level + 1, place - 1] < value:
        lists[2 * level, place] = lists[2 * level, place - 1]
        lists[2 * level + 1, place] = lists[2 * level + 1, place - 1]
        place -= 1
    lists[2 * level, place] = cell
    lists[2 * level + 1, place] = value


def note(known: Array, key: int, status: int, effort: int) -> None:
    """Remember what an attack comes to: effort << 1 | status, the effort in threats."""
    slot = key & (known.shape[0] - 1)
    known[slot, 0] = key
    known[slot, 1] = effort << 1 | status


def recalled(known: Array, key: int, effort: int) -> int:
    """WINS, or FAILS with at least this effort, or UNDECIDED if nothing is known."""
    slot = key & (known.shape[0] - 1)
    if known[slot, 0] != key:
        return UNDECIDED
    if known[slot, 1] & 1:
        return WINS
    return FAILS if known[slot, 1] >> 1 >= effort else UNDECIDED
