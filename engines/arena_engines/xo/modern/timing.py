"""How long to think about a move of XO: a bank for the whole game, more with an increment.

Nobody knows how long a game will be, so each move gets a fixed part of what is left; with the
increment coming back the bank never runs dry. It must not know: what is thought.
"""

from __future__ import annotations

#: The bank is shared out as if so many own moves were left, or as many as the empty cells allow.
MOVES_AHEAD = 12
#: Of the bank this much is never planned with, nor less than so many milliseconds.
RESERVE = 0.02
LEAST_RESERVE = 100.0
#: What a move costs beside the search: the wire, waking up, a late timer.
OVERHEAD = 5.0
#: Of an increment, this part is spent at once.
INCREMENT_SHARE = 0.8
#: A search that is under way may take so many shares; after this part of one no deeper search is begun, since
#: it would hardly come to an end.
MOST = 1.5
ENOUGH = 0.6


def budget(clock: int, bank: int | None, increment: int, empty: int) -> tuple[float, float]:
    """Return after how many milliseconds no deeper search is to be begun, and after how many to stop.

    The arguments are milliseconds but for the number of empty cells. Both answers are 0 when no time is left.
    """
    reserve = max(RESERVE * (bank or clock), LEAST_RESERVE)
    moves = max(1, min(MOVES_AHEAD, -(-empty // 2)))
    free = max(0.0, clock - reserve - OVERHEAD)
    share = free / moves + INCREMENT_SHARE * increment
    return min(free, ENOUGH * share), min(free, MOST * share)
