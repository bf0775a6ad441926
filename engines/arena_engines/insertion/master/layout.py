"""The map of the one array of int64 that a search works in.

    0          REGISTERS   the words below: orders to the kernels and what they found
    8192       PLANS       VIEWS views of the game x 256 plies x 48 words; a search at a ply gets the
                           offset of that ply's record, and the next ply's is RECORD words on
    at LEVELS  scratch     32 levels x 288 words: the fifteen children of one node, lane by lane
    at FIELD   the beam    states of two generations, and a table that finds equal boards
    at TABLE   the transposition table, two words an entry, to the end of the array

One array instead of many: a compiled call passes seven words for each. It must not know: what is
computed. Offsets are words.
"""

from __future__ import annotations

# Registers.
STOP = 0  # not 0: come back at once, what is returned is void
NODES = 1  # moves made
BORN = 2  # the ply at the root, as a plan counts: older entries of the table are free
TABLE_MASK = 3  # pairs of entries - 1, a power of two less one
LOWEST = 4  # the scratch level of the last two plies; read at run time, see tree.last_two
BEST = 5  # the best move of a root
VALUE = 6  # its value
REACHED = 7  # the depth that was completed
SALT = 8  # tells the entries of one game from those of another
REPLIES = 9  # replies predicted
PLANNED = 10  # states looked at by the beam
STATES = 11  # states in the beam's generation
BRED = 12  # children of that generation
WIDE = 13  # INFINITY, read at run time: a constant argument would be compiled as a type of its own

ONLY_ROOT = 14  # the lanes that a deepening begins with, and a beam: two threads take half each
ONLY_BEAM = 15
ORDER = 64  # which of equal moves the beam's replies are (root.py)
SPARE_LANE = 66  # 15, for the same reason: the lane of the move before, where there is none
ROWS = 65  # 8: loops over rows and columns run so far, as vectors do; tree.make_moves
FIRSTS = 16  # 16 words: what the best plan that begins with a move came to, by move

# A plan: for every ply of the game, what it brings.
PLANS = 8192
RECORD = 48
PLIES = 256
VIEW = RECORD * PLIES
VIEWS = 6
COLOUR = 0  # the picture, 1..7
CELL = 1  # what a removed cell is worth to the mover
FELL = 2  # what a picture pushed off the board is worth to the mover
FORCED = 3  # 1: a zombie, its only move is 6
FLIP = 4  # -1: the next ply is the other side's; 1: the same side's
LAST_CUT = 5  # the last move that cut here as the last ply but one
HISTORY = 16  # 16 words: how often the move of a lane cut here
KILLERS = 32  # 16 words: the last move that cut here, by the lane of the move before it
KEPT = 5  # so many words of a record stand; the rest is forgotten with the game

# One level: planes, sight, gain and sort key of the children; lane = move - 1. Lanes beyond the
# fifteenth hold what vector code leaves there.
LEVELS = PLANS + VIEWS * VIEW
LEVEL = 288
P0 = 0
P1 = 24
P2 = 48
SIGHT = 72
GAIN = 96
KEY = 120
# and the same of the boards behind one reply to all of them.
REPLY = 144
ROOT_LEVEL = 31
BEAM_LEVEL = 30

# The beam: a state is four words; generations of at most WIDTH, children at most 15 a state.
WIDTH = 4096
STATE = 4
FIELD = LEVELS + 32 * LEVEL
CHILDREN = FIELD + WIDTH * STATE
FINDER = CHILDREN + 15 * WIDTH * STATE
FINDER_SIZE = 1 << 17
TABLE = FINDER + FINDER_SIZE

#: Beyond every value, with room to shift a window by a path; values stay within 32 bits.
INFINITY = 1 << 40
NONE = -(1 << 62)
