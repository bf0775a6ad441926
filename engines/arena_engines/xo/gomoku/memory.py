"""The arrays of the searches beside the board: stacks, tables, registers.

table     int64, a power of two x 2: the transposition table (alphabeta.py)
attacks   int64, a power of two x 2: results of VCT searches (threats.py)
hashes    int64, 2 x cells: a random number for each mark; the hash of a position is their xor
frames    int64, plies x FRAME: the stack of alpha-beta
moves     int32, 2 * plies x cells: the moves of each ply, best first; their scores in the mirrored row
path      int32, fours x PATH: the stack of VCF
lists     int32, 2 * levels x cells: the moves of each level of VCT, and their scores
stack     int64, levels x 2: the number of those moves, and the next one to make
history   int32, 2 x cells: history heuristic, for each side and cell
control   int64, CONTROLS: the registers below
"""

from __future__ import annotations

from arena_engines.xo.gomoku.patterns import Array

#: (table, attacks, hashes, frames, moves, path, lists, stack, history, control)
Memory = tuple[Array, Array, Array, Array, Array, Array, Array, Array, Array, Array]

#: Registers. STOP ends the search, THREATS_STOP VCF and VCT at the root; any thread may set them. NODES and
#: LIMIT count alpha-beta nodes, VCF_BUDGET and VCT_BUDGET the positions left; HASH is the position's, BEST
#: the best move at the root, ROOT_WIDTH the most moves that are tried there, ATTACK_NODES what
#: the positions of a VCT inside the search are a part of.
STOP, NODES, LIMIT, HASH, BEST, VCF_BUDGET, VCT_BUDGET, THREATS_STOP, ROOT_WIDTH, ATTACK_NODES = range(10)
CONTROLS = 10

MAX_PLY = 120
#: Columns of `frames`: the task of a ply, and how far it has come.
DEPTH, LOW, HIGH, FIRST_LOW, BEST_VALUE, CHOSEN, NUMBER, COUNT, LEFT, AGAIN, KEY, CUT = range(12)
FRAME = 12
#: The most fours of a VCF.
MAX_FOURS = 40
#: Columns of `path`: the four, its answer, the next cell to try, the only cell allowed or -1.
FOUR, ANSWER, NEXT, FORCED = range(4)
PATH = 4
#: The most threats of a VCT.
MAX_THREATS = 20
#: Levels of VCT: two a threat.
LEVELS = 2 * (MAX_THREATS + 2)
