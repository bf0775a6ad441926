"""VCF and VCT: wins of one side by threats alone, each with a stack of its own.

Victory by continuous fours (VCF): every move threatens five, so the defender has one answer.

Victory by continuous threats (VCT): every move threatens five or an open four (or a double four). The
defender then has several answers: an AND/OR search in which even levels are the attacker's (one winning move
is enough) and odd levels the defender's (every answer must lose). It is the threat-space search of L. V.
Allis, H. J. van den Herik and M. P. H. Huntjens, "Go-Moku and threat-space search" (1993), with all defences
tried.

Both are sound: what they return is a proof. They are not complete: a budget of positions ends them.
The functions are compiled by numba; the arrays are described in board.py and memory.py.
"""

from __future__ import annotations

from arena_engines.jit import outlined
from arena_engines.xo.gomoku.board import (
    CELL,
    Board,
    cell_of_rank,
    count_of_rank,
    make,
    next_of_either,
    next_of_rank,
    open_four,
    rank_of,
    unmake,
)
from arena_engines.xo.gomoku.memory import (
    ANSWER,
    FORCED,
    FOUR,
    HASH,
    NEXT,
    STOP,
    THREATS_STOP,
    VCF_BUDGET,
    VCT_BUDGET,
    Memory,
)
from arena_engines.xo.gomoku.patterns import (
    FOUR_AND_THREE,
    ORDER,
    SINGLE_FOUR,
    THREATENS_FOUR,
    WINS_NEXT,
    WINS_NOW,
    Array,
)

#: What `vcf_terminal` returns for a position that is neither won by at most a number of plies nor hopeless.
OPEN, LOST = 0, -1
#: A VCF is returned as plies * PLIES + first cell.
PLIES = 256

#: Results of VCT.
FAILS, WINS, UNDECIDED = 0, 1, 2
#: Mixed into the hash: the attacks of both sides from one position have entries of their own.
SALTS = (0x1E3779B97F4A7C15, 0x2545F4914F6CDD1D)


@outlined
def vcf(board: Board, path: Array, control: Array, side: int, depth: int) -> int:
    """The VCF of `side`, to move, in at most `depth` fours before the move that decides.

    Returns plies * PLIES + first cell; 0 if there is none, if control[VCF_BUDGET] positions do not find it,
    or if control[THREATS_STOP] is set meanwhile.
    """
    level = 0
    found = vcf_terminal(board, control, side, depth)
    begin_fours(board, path, side, level)
    while found == OPEN or (found == LOST and level > 0):
        cell = -1 if found == LOST else next_four(board, path, side, level)
        if cell >= 0:
            make_four(board, path, side, level, cell)
            level += 1
            found = vcf_terminal(board, control, side, depth - level)
            begin_fours(board, path, side, level)
        elif level > 0:
            level -= 1
            unmake_four(board, path, side, level)
            found = OPEN
        else:
            return 0
    while level > 0:
        level -= 1
        unmake_four(board, path, side, level)
        found = (found // PLIES + 2) * PLIES + path[level, FOUR]
    return max(found, 0)


def make_four(board: Board, path: Array, side: int, level: int, cell: int) -> None:
    """Make a four and the answer that stops the first five it threatens."""
    path[level, FOUR] = cell
    make(board, cell, side)
    path[level, ANSWER] = cell_of_rank(board, side, WINS_NOW)
    make(board, path[level, ANSWER], 1 - side)


def unmake_four(board: Board, path: Array, side: int, level: int) -> None:
    """Take a four and its answer back."""
    unmake(board, path[level, ANSWER], 1 - side)
    unmake(board, path[level, FOUR], side)


def vcf_terminal(board: Board, control: Array, side: int, depth: int) -> int:
    """The ranks decide: a win of `side`, to move, as plies * PLIES + cell, else LOST or OPEN."""
    if count_of_rank(board, side, WINS_NOW):
        return PLIES + cell_of_rank(board, side, WINS_NOW)
    cell = open_four(board, side)
    if cell >= 0:
        return 3 * PLIES + cell
    control[VCF_BUDGET] -= 1
    fives = count_of_rank(board, 1 - side, WINS_NOW)
    if fives > 1 or depth <= 0 or control[VCF_BUDGET] < 0 or control[THREATS_STOP]:
        return LOST
    fours = count_of_rank(board, side, SINGLE_FOUR) + count_of_rank(board, side, FOUR_AND_THREE)
    return OPEN if fours + count_of_rank(board, side, WINS_NEXT) else LOST


def begin_fours(board: Board, path: Array, side: int, level: int) -> None:
    """Start a level of VCF. Against a threat of five only a four on the cell of that five goes on."""
    path[level, NEXT] = 0
    path[level, FORCED] = -1
    if count_of_rank(board, 1 - side, WINS_NOW):
        path[level, FORCED] = cell_of_rank(board, 1 - side, WINS_NOW)


def next_four(board: Board, path: Array, side: int, level: int) -> int:
    """The next cell on which a mark makes a four, -1 if there is none left."""
    forced = int(path[level, FORCED])
    if forced >= 0:
        if path[level, NEXT] or rank_of(board, forced, side) < SINGLE_FOUR:
            return -1
        path[level, NEXT] = 1
        return forced
    cell = next_of_rank(board, side, SINGLE_FOUR, path[level, NEXT])
    path[level, NEXT] = cell + 1
    return cell


@outlined
def vct(board: Board, memory: Memory, side: int, depth: int) -> int:
    """The first move of a VCT of `side`, to move, in at most `depth` threats, as 1 + cell, or 0.

    It gives up when control[VCT_BUDGET] positions are used up, or control[STOP] or control[THREATS_STOP] is
    set.
    """
    _, _, hashes, _, _, _, lists, stack, _, control = memory
    level = 0
    status = begin_attack(board, memory, side, 0, depth)
    while True:
        while status == UNDECIDED:
            mover = side ^ level & 1
            cell = lists[2 * level, stack[level, 1]]
            stack[level, 1] += 1
            make(board, cell, mover)
            control[HASH] ^= hashes[mover, cell]
            level += 1
            if level & 1:
                status = begin_defence(board, lists, stack, side, level)
            else:
                status = begin_attack(board, memory, side, level, depth - level // 2)
        if level == 0:
            return 1 + lists[0, stack[0, 1] - 1] if status == WINS else 0
        level -= 1
        mover = side ^ level & 1
        cell = lists[2 * level, stack[level, 1] - 1]
        control[HASH] ^= hashes[mover, cell]
        unmake(board, cell, mover)
        status = update_attack(memory, side, level, depth - level // 2, status)


def update_attack(memory: Memory, side: int, level: int, depth: int, status: int) -> int:
    """The result of a level after a move that WINS or FAILS; UNDECIDED if the next move must be tried."""
    _, attacks, _, _, _, _, _, stack, _, control = memory
    attacking = level & 1 == 0
    if status == (FAILS if attacking else WINS) and stack[level, 1] < stack[level, 0]:
        return UNDECIDED
    # A failure after giving up proves nothing; a win is a win.
    if attacking and (status == WINS or not gives_up(control)):
        store_attack(attacks, control[HASH] ^ SALTS[side], status, depth)
    return status


def begin_attack(board: Board, memory: Memory, side: int, level: int, depth: int) -> int:
    """WINS or FAILS if ranks, depth or table decide; else list the attacker's threats, UNDECIDED."""
    _, attacks, _, _, _, _, lists, stack, _, control = memory
    stack[level, 0] = 0
    stack[level, 1] = 1
    control[VCT_BUDGET] -= 1
    if count_of_rank(board, side, WINS_NOW):
        lists[2 * level, 0] = cell_of_rank(board, side, WINS_NOW)
        return WINS
    four = open_four(board, side)
    if four >= 0:
        lists[2 * level, 0] = four
        return WINS
    fives = count_of_rank(board, 1 - side, WINS_NOW)
    if fives > 1 or depth <= 0 or gives_up(control):
        return FAILS
    status = probe_attack(attacks, control[HASH] ^ SALTS[side], depth)
    # The table keeps no move, and the root must return one.
    if status == FAILS or (status == WINS and level > 0):
        return status
    stack[level, 1] = 0
    if fives:
        # Only this cell stops five; begin_defence sees whether it threatens anything.
        stack[level, 0] = 1
        lists[2 * level, 0] = cell_of_rank(board, 1 - side, WINS_NOW)
        return UNDECIDED
    # Against an open four only fours are quick enough.
    least = SINGLE_FOUR if count_of_rank(board, 1 - side, WINS_NEXT) else THREATENS_FOUR
    list_threats(board, lists, stack, level, side, least)
    return UNDECIDED if stack[level, 0] else FAILS


def begin_defence(board: Board, lists: Array, stack: Array, side: int, level: int) -> int:
    """WINS or FAILS if ranks decide after a threat of `side`; else list the answers to it, UNDECIDED."""
    other = 1 - side
    stack[level, 0] = 0
    stack[level, 1] = 0
    if count_of_rank(board, other, WINS_NOW):
        return FAILS
    fives = count_of_rank(board, side, WINS_NOW)
    if fives > 1:
        return WINS
    if fives == 1:
        stack[level, 0] = 1
        lists[2 * level, 0] = cell_of_rank(board, side, WINS_NOW)
        return UNDECIDED
    if count_of_rank(board, side, WINS_NEXT) == 0 or count_of_rank(board, other, WINS_NEXT):
        return FAILS
    list_answers(board, lists, stack, level, side)
    return UNDECIDED


def gives_up(control: Array) -> bool:
    """Whether the budget is used up or a stop register is set; a failure is then no result."""
    return bool(control[VCT_BUDGET] < 0 or control[STOP] or control[THREATS_STOP])


def list_threats(board: Board, lists: Array, stack: Array, level: int, side: int, least: int) -> None:
    """List the empty cells of at least this rank for the attacker, best ordering score first."""
    grid, _, _, _, _, cell_table, _, _, _, _ = board
    cell = next_of_rank(board, side, least, 0)
    while cell >= 0:
        insert_threat(lists, stack, level, cell, cell_table[grid[CELL + side, cell], ORDER])
        cell = next_of_rank(board, side, least, cell + 1)


def list_answers(board: Board, lists: Array, stack: Array, level: int, side: int) -> None:
    """List every answer that can hold against a threat of an open four or a double four by `side`.

    These are the cells of the fives that the threatened move leads to, on each of which the attacker has at
    least a four now, and the defender's own fours. Any other answer leaves the threatened move in place.
    """
    grid, _, _, _, _, cell_table, _, _, _, _ = board
    cell = next_of_either(board, SINGLE_FOUR, 0)
    while cell >= 0:
        mine, theirs = grid[CELL + 1 - side, cell], grid[CELL + side, cell]
        insert_threat(lists, stack, level, cell, cell_table[mine, ORDER] + cell_table[theirs, ORDER])
        cell = next_of_either(board, SINGLE_FOUR, cell + 1)


def insert_threat(lists: Array, stack: Array, level: int, cell: int, score: int) -> None:
    """Insert a move into the sorted list of a level; the row below the moves keeps their scores."""
    place = stack[level, 0]
    stack[level, 0] = place + 1
    while place > 0 and lists[2 * level + 1, place - 1] < score:
        lists[2 * level, place] = lists[2 * level, place - 1]
        lists[2 * level + 1, place] = lists[2 * level + 1, place - 1]
        place -= 1
    lists[2 * level, place] = cell
    lists[2 * level + 1, place] = score


def store_attack(attacks: Array, key: int, status: int, effort: int) -> None:
    """Store a result: effort << 1 | status. The effort of VCT is its depth in threats."""
    slot = key & (attacks.shape[0] - 1)
    attacks[slot, 0] = key
    attacks[slot, 1] = effort << 1 | status


def probe_attack(attacks: Array, key: int, effort: int) -> int:
    """WINS, or FAILS if stored with at least this effort, else UNDECIDED."""
    slot = key & (attacks.shape[0] - 1)
    if attacks[slot, 0] != key:
        return UNDECIDED
    if attacks[slot, 1] & 1:
        return WINS
    return FAILS if attacks[slot, 1] >> 1 >= effort else UNDECIDED
