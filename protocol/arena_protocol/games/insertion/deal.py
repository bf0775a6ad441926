"""From a seed to a start board and a sequence, the same in every language and version.

Python's `random` may change its algorithms, so the draws are those of `games/draws.py` with the
label `insertion`; `RULES.md` publishes them. It must not know: options as text, seats, clocks.
"""

from __future__ import annotations

from collections.abc import Iterator

from arena_protocol.games.draws import draw_below, draw_bytes
from arena_protocol.games.insertion.rules import drop, runs
from arena_protocol.games.insertion.text import SIDE, Planes


def draw_deal(seed: int, start: str | Planes, colours: int, plies: int) -> tuple[Planes, str]:
    """Return the start board and a sequence of `plies` pictures.

    `start` is `full`, `partial`, `empty` or a given board, which is taken as it is. The order of
    the draws is: for `partial` the heights of the columns from the left; the pictures of the
    board column by column, each from the bottom up; the pictures of the sequence.
    """
    draws = draw_bytes("insertion", seed)
    board = _board(draws, start, colours) if isinstance(start, str) else start
    return board, "".join(str(1 + draw_below(draws, colours)) for _ in range(plies))


def _board(draws: Iterator[int], start: str, colours: int) -> Planes:
    planes = (0, 0, 0)
    for x, height in enumerate(_heights(draws, start)):
        for _ in range(height):
            planes = _stack(draws, planes, x, colours)
    return planes


def _heights(draws: Iterator[int], start: str) -> list[int]:
    if start == "partial":
        return [draw_below(draws, SIDE + 1) for _ in range(SIDE)]
    return [SIDE if start == "full" else 0] * SIDE


def _stack(draws: Iterator[int], planes: Planes, x: int, colours: int) -> Planes:
    """Put a picture that makes no run on column x; at most two colours would make one, and C >= 3."""
    while True:
        p0, p1, p2, _ = drop(*planes, x, 1 + draw_below(draws, colours))
        if not runs(p0, p1, p2):
            return p0, p1, p2
