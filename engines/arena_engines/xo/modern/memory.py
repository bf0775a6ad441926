"""What the searches work with beside the board: their stacks, what they remember, their registers.

    table     int64, a power of two x 2: what alpha-beta knows of positions (search.py)
    known     int64, a power of two x 2: what the search for threats knows of attacks (threats.py)
    hashes    int64, 2 x cells: a random number for each mark; the hash of a position is their xor
    frames    int64, plies x FRAME: the tasks of the plies (search.py)
    moves     int32, plies x cells: the moves of each ply, best first; the lower half keeps their values
    path      int32, fours x PATH: the search for fours (fours.py)
    lists     int32, levels x cells: the moves of each level of the search for threats (threats.py)
    stack     int64, levels x 2: how many those are, and the next one to make
    history   int32, 2 x cells: how often a cell was good for a side
    control   int64: the registers below

It must not know: how anything is searched.
"""

from __future__ import annotations

from arena_engines.xo.modern.patterns import Array

#: (table, known, hashes, frames, moves, path, lists, stack, history, control)
Memory = tuple[Array, Array, Array, Array, Array, Array, Array, Array, Array, Array]

#: Registers: set by anybody to stop; nodes so far and at most; the hash; the best move; positions left to
#: look for fours and for threats in; set by anybody to stop looking for threats.
STOP, NODES, LIMIT, HASH, BEST, FOURS_LEFT, THREATS_LEFT, ENOUGH = range(8)
CONTROLS = 8

MAX_PLY = 120
#: Columns of `frames`: the task of a ply, and how far it has come.
DEPTH, LOW, HIGH, FIRST_LOW, BEST_VALUE, CHOSEN, NUMBER, COUNT, LEFT, AGAIN, KEY = range(11)
FRAME = 11
#: The longest win by fours that is looked for.
MAX_FOURS = 40
#: Columns of `path`: the four, its answer, where to go on looking, the only cell that is allowed or -1.
FOUR, ANSWER, NEXT, FORCED = range(4)
PATH = 4
#: The longest win by threats that is looked for.
MAX_THREATS = 20
#: Levels of the search for threats: two a threat.
LEVELS = 2 * (MAX_THREATS + 2)
