"""Counts the move tree of insertion: the first numbers to compare when rules are implemented.

The number of leaves proves little (there are always 15 moves), so the effects of the last ply of
every path are summed too.
"""

from __future__ import annotations

from typing import NamedTuple

from arena_protocol.games.base import GameError
from arena_protocol.games.insertion import rules
from arena_protocol.games.insertion.board import Planes, check_sequence, parse_board

_ALL = (1 << rules.MOVES + 1) - 2


class Perft(NamedTuple):
    """Sums over all paths of one length: how many, and what their last plies did."""

    leaves: int
    removed: int = 0
    fell: int = 0
    waves: int = 0


def perft(board: str, sequence: str, depth: int, *, distinct: bool = False) -> Perft:
    """Play every path of `depth` plies from `board`; with `distinct` no duplicate move is made.

    Raises GameError for an impossible board or sequence, or a sequence shorter than `depth`.
    """
    if not 0 <= depth <= len(sequence):
        raise GameError(
            f"perft: depth is a whole number from 0 to {len(sequence)} (the sequence), not {depth}"
        )
    planes = parse_board(board)
    check_sequence(sequence)
    return _count(planes, [int(picture) for picture in sequence[:depth]], distinct) if depth else Perft(1)


def _count(planes: Planes, pictures: list[int], distinct: bool) -> Perft:
    moves = rules.distinct_moves(*planes) if distinct else _ALL
    total = Perft(0)
    for move in range(1, rules.MOVES + 1):
        if moves >> move & 1:
            total = Perft(*map(sum, zip(total, _below(planes, move, pictures, distinct), strict=True)))
    return total


def _below(planes: Planes, move: int, pictures: list[int], distinct: bool) -> Perft:
    p0, p1, p2, removed, fell, waves = rules.play(*planes, move, pictures[0])
    if len(pictures) == 1:
        return Perft(1, removed, fell, waves)
    return _count((p0, p1, p2), pictures[1:], distinct)
