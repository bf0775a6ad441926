"""Guess which opponents have become zombies: nobody tells, but a zombie plays nothing but 6.

After five or six sixes in a row the seed takes it for certain. From then on that seat's plies have
one move instead of fifteen, and the search may look twice as far for the same price. It must not know:
boards, pictures, how a tree is searched.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena_engines.engine import Parameter

ZOMBIE_MOVE = 6

#: How many sixes in a row make a zombie; 0: never guess. The seed says 5 or 6.
ZOMBIE = Parameter("zombie", 6, 0, 100)


def zombies(moves: Sequence[str], seats: int, seat: int, sixes: int) -> frozenset[int]:
    """Return the other seats whose last `sixes` moves were all 6.

    `moves` are those of the whole game, seat 1 first. A seat that has made fewer moves is none.
    """
    if sixes == 0:
        return frozenset()
    others = (other for other in range(1, seats + 1) if other != seat)
    return frozenset(other for other in others if _plays_six(moves[other - 1 :: seats], sixes))


def _plays_six(moves: Sequence[str], sixes: int) -> bool:
    return len(moves) >= sixes and all(int(move) == ZOMBIE_MOVE for move in moves[-sixes:])


def depth_among(depth: int, seats: int, found: int) -> int:
    """Return the depth that costs what `depth` costs when nobody is a zombie: with two seats, twice it.

    Zombies' plies add no branches, so the plies of the living are spread over more of them.
    """
    return depth * seats // (seats - found)
