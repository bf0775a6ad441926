"""The one entry to all compiled code of master, so that the tree search is compiled once.

A task is a number and up to nine more; what they mean stands beside each branch. It must not know:
what is asked for when.
"""

from __future__ import annotations

from arena_engines.insertion.master.beam import beam
from arena_engines.insertion.master.children import Memory
from arena_engines.insertion.master.root import decide

DECIDE, BEAM = 0, 1
SIGNATURE = "int64(int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64[::1])"


def run(
    task: int, p0: int, p1: int, p2: int, plan: int, a: int, b: int, c: int, d: int, e: int, mem: Memory
) -> int:
    """Do one task on a board at a ply and return its move; the registers hold the rest."""
    if task == DECIDE:
        return decide(
            p0, p1, p2, plan, a, b, c, d, mem
        )  # from depth a to b by steps of c; d: first of equals
    # The own view is a words away; width b, plies c, the depth of replies d, that of the last search e.
    return beam(p0, p1, p2, plan, a, b, c, d, e, mem)
