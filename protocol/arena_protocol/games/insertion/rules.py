"""The rules of insertion as pure functions over integers.

The referee and bots run this module as it is; the engines compile the same functions with
numba. So it keeps to the common subset: integers, `if`, `while`, tuples. It must not import numba.

A board is three planes of 25 bits: plane k holds bit k of every cell's colour (0 = empty).
Bit 5*x + y of a plane is the cell in column x from the left, row y from the bottom:

     4  9 14 19 24     top row: moves 5 and 11 push here
     3  8 13 18 23
     2  7 12 17 22
     1  6 11 16 21
     0  5 10 15 20     bottom row: moves 1 and 15 push here

A column is five adjacent bits, so a drop is a carry: the bit above a stack of ones is the stack
plus its lowest bit. A row is every fifth bit, so a push is a shift by five.
"""

COLUMN = 0b11111
BOTTOM = 0b00001_00001_00001_00001_00001
BOARD = 0b11111_11111_11111_11111_11111
NOT_TOP = BOARD ^ (BOTTOM << 4)
NOT_BOTTOM = BOARD ^ BOTTOM
UPPER_THREE = BOARD ^ (BOTTOM | BOTTOM << 1)

MOVES = 15
POINTS_A_CELL = 10


def drop(p0: int, p1: int, p2: int, x: int, colour: int) -> tuple[int, int, int, int]:
    """Drop `colour` into column x (0..4). Returns the planes and the number of pictures that fell off."""
    low = 1 << (5 * x)
    column = COLUMN * low
    stack = (p0 | p1 | p2) & column
    fell = 0
    # A full column: its lowest picture falls out below, and the others move down.
    if stack == column:
        p0 = (p0 & ~column) | ((p0 & column) >> 1 & column)
        p1 = (p1 & ~column) | ((p1 & column) >> 1 & column)
        p2 = (p2 & ~column) | ((p2 & column) >> 1 & column)
        stack >>= 1
        stack &= column
        fell = 1
    # Adding the lowest bit carries through the ones of the stack, up to the first free cell.
    cell = stack + low
    return p0 | cell * (colour & 1), p1 | cell * (colour >> 1 & 1), p2 | cell * (colour >> 2), fell


def push_left(p0: int, p1: int, p2: int, y: int, colour: int) -> tuple[int, int, int, int]:
    """Push `colour` into row y (0..4) from the left. Returns the planes and the number that fell off."""
    occupied = p0 | p1 | p2
    # The row, moved to the bottom: one bit for each of its cells that is empty.
    open_ = ~(occupied >> y) & BOTTOM
    hole = open_ & -open_
    # Every cell from the first empty one on: those before it move, the others stay. Doubling the step
    # takes three shifts for five cells.
    smear = open_ | open_ << 5
    smear |= smear << 10
    smear |= smear << 20
    moving = (BOTTOM & ~smear) << y
    # The picture pushed into the hole may hang over an empty column: it lands on top of that.
    landing = (occupied & (hole * COLUMN)) + hole
    arriving = hole << y
    s0 = (p0 & moving) << 5 | (colour & 1) << y
    s1 = (p1 & moving) << 5 | (colour >> 1 & 1) << y
    s2 = (p2 & moving) << 5 | (colour >> 2) << y
    p0 = (p0 & ~moving) | (s0 & moving)
    p1 = (p1 & ~moving) | (s1 & moving)
    p2 = (p2 & ~moving) | (s2 & moving)
    if hole == 0:
        return p0, p1, p2, 1
    if s0 & arriving:
        p0 |= landing
    if s1 & arriving:
        p1 |= landing
    if s2 & arriving:
        p2 |= landing
    return p0, p1, p2, 0


def push_right(p0: int, p1: int, p2: int, y: int, colour: int) -> tuple[int, int, int, int]:
    """Push `colour` into row y (0..4) from the right. Returns the planes and the number that fell off."""
    occupied = p0 | p1 | p2
    # As push_left, from the other end: the first empty cell is the highest bit, and the shifts go down.
    smear = ~(occupied >> y) & BOTTOM
    smear |= smear >> 5
    smear |= smear >> 10
    smear |= smear >> 20
    hole = smear & ~(smear >> 5)
    moving = (BOTTOM & ~smear) << y
    landing = (occupied & (hole * COLUMN)) + hole
    arriving = hole << y
    s0 = (p0 & moving) >> 5 | (colour & 1) << (20 + y)
    s1 = (p1 & moving) >> 5 | (colour >> 1 & 1) << (20 + y)
    s2 = (p2 & moving) >> 5 | (colour >> 2) << (20 + y)
    p0 = (p0 & ~moving) | (s0 & moving)
    p1 = (p1 & ~moving) | (s1 & moving)
    p2 = (p2 & ~moving) | (s2 & moving)
    if hole == 0:
        return p0, p1, p2, 1
    if s0 & arriving:
        p0 |= landing
    if s1 & arriving:
        p1 |= landing
    if s2 & arriving:
        p2 |= landing
    return p0, p1, p2, 0


def insert(p0: int, p1: int, p2: int, move: int, colour: int) -> tuple[int, int, int, int]:
    """Insert `colour` (1..7) by `move` (1..15) without removing runs; returned values as for `drop`."""
    if move <= 5:
        return push_left(p0, p1, p2, move - 1, colour)
    if move <= 10:
        return drop(p0, p1, p2, move - 6, colour)
    return push_right(p0, p1, p2, 15 - move, colour)


def runs(p0: int, p1: int, p2: int) -> int:
    """Return the cells of all runs of three or more as one plane of bits."""
    occupied = p0 | p1 | p2
    # Bits whose neighbour has the same colour: no plane differs.
    across = occupied & ~((p0 ^ p0 >> 5) | (p1 ^ p1 >> 5) | (p2 ^ p2 >> 5))
    across &= across >> 5
    # The bit above a top cell is the bottom of the next column.
    up = occupied & NOT_TOP & ~((p0 ^ p0 >> 1) | (p1 ^ p1 >> 1) | (p2 ^ p2 >> 1))
    up &= up >> 1
    # Most boards have none.
    if across | up == 0:
        return 0
    return across | across << 5 | across << 10 | up | up << 1 | up << 2


def remove(p0: int, p1: int, p2: int, gone: int) -> tuple[int, int, int]:
    """Remove the cells of `gone` and let the pictures above them fall, all columns in parallel."""
    p0 &= ~gone
    p1 &= ~gone
    p2 &= ~gone
    while True:
        occupied = p0 | p1 | p2
        # All cells with a gap somewhere below; they fall by one, and again until none is left.
        above = (BOARD & ~occupied) << 1 & NOT_BOTTOM
        above |= above << 1 & NOT_BOTTOM
        above |= above << 2 & UPPER_THREE
        above &= occupied
        if above == 0:
            return p0, p1, p2
        p0 = (p0 & ~above) | (p0 & above) >> 1
        p1 = (p1 & ~above) | (p1 & above) >> 1
        p2 = (p2 & ~above) | (p2 & above) >> 1


def count(cells: int) -> int:
    """Return the number of set bits of a 25-bit plane (SWAR population count)."""
    cells -= cells >> 1 & 0x5555555
    cells = (cells & 0x3333333) + (cells >> 2 & 0x3333333)
    cells = (cells + (cells >> 4)) & 0xF0F0F0F
    return (cells * 0x1010101 >> 24) & 0x1F


def settle(p0: int, p1: int, p2: int) -> tuple[int, int, int, int, int]:
    """Remove runs until none is left. Returns the planes, the number of cells removed and of waves."""
    removed = 0
    waves = 0
    gone = runs(p0, p1, p2)
    while gone:
        removed += count(gone)
        waves += 1
        p0, p1, p2 = remove(p0, p1, p2, gone)
        gone = runs(p0, p1, p2)
    return p0, p1, p2, removed, waves


def play(p0: int, p1: int, p2: int, move: int, colour: int) -> tuple[int, int, int, int, int, int]:
    """Play one ply. Returns (p0, p1, p2, removed, fell, waves); its points are POINTS_A_CELL * removed."""
    p0, p1, p2, fell = insert(p0, p1, p2, move, colour)
    p0, p1, p2, removed, waves = settle(p0, p1, p2)
    return p0, p1, p2, removed, fell, waves


def height(p0: int, p1: int, p2: int, x: int) -> int:
    """Return the number of pictures in column x (0..4)."""
    return count((p0 | p1 | p2) & COLUMN << 5 * x)


def distinct_moves(p0: int, p1: int, p2: int) -> int:
    """Return the moves with different effects as bits 1..15; of equal moves the lowest number.

    A push into a row whose rim cell is empty lands on the stack of that rim column, like the drop
    there: with a left column of height h the moves h+1..6 are equal, and with a right column of
    height g the moves 10..15-g.
    """
    left = height(p0, p1, p2, 0)
    right = height(p0, p1, p2, 4)
    first = (1 << (left + 2)) - 2
    middle = 0b111 << 7
    last = 1 << 10 | (0xFFFF & ~((1 << (16 - right)) - 1))
    return first | middle | last
