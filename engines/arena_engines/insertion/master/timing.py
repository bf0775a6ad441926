"""How long to think: a bank for the whole game, spread over the moves that are left.

The referee charges the wire and the scheduler to the mover as well, so a share of the bank stays untouched,
each move is planned shorter than its share, and since the next TURN tells the true clock, what was not used
comes back. It must not know: what is thought.
"""

from __future__ import annotations

from arena_engines.insertion.fixed_depth import InsertionPosition

#: Of the bank this much is never planned with, nor less than so many milliseconds.
RESERVE = 0.02
LEAST_RESERVE = 100.0
#: What a move costs beside the search: the wire, waking up, a late timer (measured: below 1 ms at p99
#: on an idle machine, some ms when another program takes the processor).
OVERHEAD = 3.0


def budget(position: InsertionPosition, unclocked: float) -> float:
    """Return the milliseconds to think now; 0 when there is no time at all.

    `unclocked` is the answer where nobody keeps a clock.
    """
    if position.clock is None:
        return unclocked
    reserve = max(RESERVE * (position.bank or position.clock), LEAST_RESERVE)
    rules = position.rules
    moves = -(-(rules.plies - position.state.played) // rules.seats)
    return max(0.0, (position.clock - reserve) / moves - OVERHEAD)
