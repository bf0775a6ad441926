"""Memory layout of a search: one array of int64, addressed by word offsets.

    0                 registers      orders to the kernels and their results
    RECORDS           records        VIEWS views of the game x PLIES plies x RECORD words; a search gets the
                                     offset of its ply's record, the next ply's is RECORD words further
    LEVELS            levels         32 x LEVEL words: the fifteen children of one node, lane by lane
    BEAM_STATES       the beam       states of two generations, and a hash table of the boards in one
    TABLE             transposition table, two words an entry, to the end of the array

One array instead of many, since a compiled call passes seven words for each.
"""

from __future__ import annotations

# Registers.
STOP = 0  # not 0: return at once; the result is void
NODES = 1  # moves made
ROOT_PLY = 2  # the ply at the root, counted within the records; entries of earlier plies are replaced first
TABLE_MASK = 3  # pairs of entries - 1; the number of pairs is a power of two
LEAF_LEVEL = 4  # offset of the level of the last two plies; see leaf.last_two_plies
BEST = 5  # the best move of a root, 1..15
VALUE = 6  # its value
GENERATION = 8  # part of every hash key: separates the entries of one game from those of another
STATE_COUNT = 11  # states in the beam's generation
CHILD_COUNT = 12  # children of that generation
OPEN = 13  # INFINITY; read at run time, since numba would compile a constant argument as a type of its own
ROOT_LANES = 14  # the lanes that a deepening begins with, and a beam: two threads take half each
BEAM_LANES = 15
FIRST_VALUES = 16  # 16 words: the value of the best plan that begins with a move, by move
REPLY_ORDER = 64  # tie-break of the beam's replies (search.FIRST, search.LAST)
VECTOR = 65  # 8; read at run time, so that loops over rows and columns become vector code
CONFIDENCE = 67  # probability that a predicted reply is played, in 1 / 1024
SPARE_LANE = 66  # 15; read at run time: the lane of the previous move where there is none
TIES = 68  # after a search with search.ALL: the moves of the best value, bit n for move n; 0 if stopped
DRAW = 69  # which members of the sets of equal replies a beam continues with

# A record: for every ply of the game, what it brings.
RECORDS = 8192
RECORD = 48
PLIES = 256
VIEW = RECORD * PLIES
VIEWS = 8 + 48  # fixed ones, and a grid of weights of the opponent (workspace.py)
COLOUR = 0  # the picture, 1..7
CELL = 1  # value of a removed cell to the mover
FELL = 2  # value of a picture pushed off the board to the mover
FORCED = 3  # 1: a zombie, its only move is 6
FLIP = 4  # -1: the other side moves next; 1: the same side
STATIC = 5  # words above are written with the game; the words below are cleared with it
LAST_CUT = 5  # the last move that cut here as the last ply but one
HISTORY = 16  # 16 words by lane: weight of the cut-offs here
KILLERS = 32  # 16 words by lane of the previous move: the last move that cut here

# A level: planes, move masks, gain and sort key of the children; lane = move - 1. Lane 15 is scratch.
LEVELS = RECORDS + VIEWS * VIEW
LEVEL = 288
P0 = 0
P1 = 24
P2 = 48
MASKS = 72
GAIN = 96
KEY = 120
# The same of the boards behind one reply to all children.
REPLY = 144
ROOT_LEVEL = 31
BEAM_LEVEL = 30

# The beam: a state is four words (beam.py); generations of at most WIDTH, at most 15 children a state.
WIDTH = 4096
STATE = 4
BEAM_STATES = LEVELS + 32 * LEVEL
BEAM_CHILDREN = BEAM_STATES + WIDTH * STATE
BEAM_HASH = BEAM_CHILDREN + 15 * WIDTH * STATE
BEAM_HASH_SIZE = 1 << 17
TABLE = BEAM_HASH + BEAM_HASH_SIZE

#: Greater than every value, with room to shift a window by a path; values fit in 32 bits.
INFINITY = 1 << 40
NONE = -(1 << 62)

#: The array, int64[::1]; a list to the type checker, since it is indexed by numbers only.
Memory = list[int]
LANES = 16
#: Offsets of levels and records are below this. The mask shows the compiler that no index is negative
#: (Python counts those from the end); without it no loop becomes vector code.
OFFSETS = 0xFFFFF
