"""The analysis in depth of the 1970 paper (section 3.4): perspective moves, dead positions, vectors.

The minimax goes over perspective moves only, and cuts branches whose value cannot rise to the
root. M is the machine's side, P the paper's Pi, its opponent. It must not know: openings, clocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from arena_engines.xo.estimates import Estimates
from arena_engines.xo.procedure import general_procedure
from arena_engines.xo.scale import WINS

#: The level thresholds of the paper, in halves: 3.5 3.5 3.5 3.5 4 4 5.
THRESHOLDS = (7, 7, 7, 7, 8, 8, 10)
#: With these thresholds an analysis has at most some thousand nodes; lower thresholds can have any number.
#: At 30,000 nodes a second a limit of 100,000 ends an analysis after about three seconds.
NODE_LIMIT = 100_000


class Vector(NamedTuple):
    """A static estimate, compared element by element; the larger, the better for M.

    p is the initiative in the paper's units, q how many more cells carry it, r hurries the winner.
    """

    p: float
    q: int
    r: int


LOWEST = Vector(float("-inf"), 0, 0)
HIGHEST = Vector(float("inf"), 0, 0)
WON_P = 5.0


@dataclass(slots=True)
class Analysis1970:
    """One analysis for machine side `machine`; `nodes` counts the positions it has looked at.

    `thresholds[k]` says which moves of level k are looked at; the last one closes the tree: a
    position of its level is dead. `node_limit` guards against thresholds that open the tree too wide:
    beyond it every new position is taken as dead.
    """

    machine: int
    thresholds: Sequence[int] = THRESHOLDS
    node_limit: int | None = None
    nodes: int = 0

    def best_move(self, board: Estimates) -> tuple[int, Vector] | None:
        """The machine's move and its value; None for a quiet position, left to the general procedure.

        The machine is to move, and neither a win in one move nor a double threat stands on the board.
        """
        best: tuple[int, Vector] | None = None
        floor = LOWEST
        for cell in self.perspective_moves(board, 0):
            value = self._value(board.after(cell, self.machine), 1, floor, HIGHEST)
            if best is None or value > best[1]:
                best = cell, value
                floor = value
        return best

    def perspective_moves(self, board: Estimates, level: int) -> list[int]:
        """The cells with a value of at least this level's threshold for either side, the highest first.

        The paper leaves their order open; this one cuts best. The last level has none.
        """
        if level >= len(self.thresholds) - 1:
            return []
        threshold = self.thresholds[level]
        higher = [max(pair) for pair in zip(*board.values, strict=True)]
        cells = [cell for cell, value in enumerate(higher) if value >= threshold]
        return sorted(cells, key=lambda cell: -higher[cell])

    def _value(self, board: Estimates, level: int, low: Vector, high: Vector) -> Vector:
        """The minimax value if it lies between low and high, else a bound on the same side of them."""
        self.nodes += 1
        mover = self.machine if level % 2 == 0 else 1 - self.machine
        settled = immediate_end(board, mover, self.machine, level)
        if settled is not None:
            return settled
        moves = [] if self._exhausted() else self.perspective_moves(board, level)
        if not moves:
            return static_vector(board, mover, self.machine, level)
        return self._over_moves(board, moves, mover, level, low, high)

    def _over_moves(
        self, board: Estimates, moves: list[int], mover: int, level: int, low: Vector, high: Vector
    ) -> Vector:
        maximising = mover == self.machine
        best = LOWEST if maximising else HIGHEST
        for cell in moves:
            value = self._value(board.after(cell, mover), level + 1, low, high)
            if maximising:
                best = max(best, value)
                low = max(low, value)
            else:
                best = min(best, value)
                high = min(high, value)
            if low >= high:
                break
        return best

    def _exhausted(self) -> bool:
        return self.node_limit is not None and self.nodes >= self.node_limit


def winning_cell(board: Estimates, side: int) -> int | None:
    """A cell where `side` makes five at once, the first in scan order; None if there is none."""
    return next((cell for cell, value in enumerate(board.values[side]) if value >= WINS), None)


def double_threat(board: Estimates, side: int) -> bool:
    """Whether `side` could make five on two cells, so that one move does not stop it."""
    return sum(1 for value in board.values[side] if value >= WINS) >= 2


def immediate_end(board: Estimates, mover: int, machine: int, level: int) -> Vector | None:
    """(5 or -5, 0, r) if the mover wins in one move, or cannot stop the other from it; else None."""
    if max(board.values[mover]) >= WINS:
        winner = mover
    elif double_threat(board, 1 - mover):
        winner = 1 - mover
    else:
        return None
    p = WON_P if winner == machine else -WON_P
    return Vector(p, 0, _haste(p, level))


def static_vector(board: Estimates, mover: int, machine: int, level: int) -> Vector:
    """The static estimate of a dead position: table 1 on the cell of the general procedure.

    A full board is a draw, and its vector zero.
    """
    if not max(board.values[mover]):
        return Vector(0.0, 0, 0)
    choice = general_procedure(board, mover)
    alpha, beta = (choice.own, choice.foe) if mover == machine else (choice.foe, choice.own)
    p = initiative(alpha / 2, beta / 2, machine_moves=mover == machine)
    highest = max(alpha, beta)
    q = board.values[machine].count(highest) - board.values[1 - machine].count(highest)
    return Vector(p, q, _haste(p, level))


def initiative(alpha: float, beta: float, *, machine_moves: bool) -> float:
    """Table 1, restored: who holds the initiative, and how strongly; a tie is the mover's."""
    if machine_moves:
        return alpha if alpha >= beta else -(beta - 0.25)
    return alpha - 0.25 if alpha > beta else -beta


def _haste(p: float, level: int) -> int:
    """The third element, -k sign p: the winner wants a short game, the loser a long one."""
    return -level if p > 0 else level if p < 0 else 0
