"""The player `openlines`: minimax to a depth over open lines, the heuristic of seed 004.

E(P) = lines still open to the mover - lines still open to the other side; a line is a row, a
column or a diagonal long enough to win. It must not know: clocks, the client.
"""

from __future__ import annotations

from functools import cache

from arena_engines.engine import Engine, Parameter, Position
from arena_engines.small.marks import lines_of
from arena_protocol.games.mnk import Marks, MarksGame

#: More than all lines of a 4 x 4 board for three in a row (24).
WON = 100


def open_lines(rules: MarksGame, position: Marks) -> tuple[int, int]:
    """How many lines are open to X, and how many to O: without a mark of the other side."""
    lines = _lines(rules)
    return (
        sum(1 for line in lines if not line & position.o),
        sum(1 for line in lines if not line & position.x),
    )


def evaluate(rules: MarksGame, position: Marks) -> int:
    """E(P) for X: WON or -WON for a finished line, 0 for a draw, else the difference of open lines."""
    winner = rules.winner(position)
    if winner is not None:
        return (0, WON, -WON)[winner]
    mine, theirs = open_lines(rules, position)
    return mine - theirs


@cache
def _lines(rules: MarksGame) -> tuple[int, ...]:
    return tuple(lines_of(rules.size, rules.win))


class OpenLines(Engine):
    """Alpha-beta to `depth` plies with E(P) at the leaves."""

    game = "tictactoe"
    name = "openlines"
    parameters = (Parameter("depth", 3, 1, 9),)

    def choose(self, position: Position[MarksGame, Marks]) -> str:
        """Return the best move at this depth, the first in natural order of equals."""
        rules = position.rules
        depth = int(self.values["depth"] or 1)
        best, chosen = -2 * WON, ""
        for move in rules.legal_moves(position.state):
            value = -_search(rules, rules.play(position.state, move).position, depth - 1, -2 * WON, -best)
            if value > best:
                best, chosen = value, move
        return chosen


def _search(rules: MarksGame, position: Marks, depth: int, low: int, high: int) -> int:
    """The value for the side to move, exact between low and high; a quicker win is worth more."""
    moves = rules.legal_moves(position)
    if not moves or depth == 0:
        sign = 1 if rules.to_move(position) == 1 else -1
        value = sign * evaluate(rules, position)
        return value + depth * (value >= WON) - depth * (value <= -WON)
    for move in moves:
        low = max(low, -_search(rules, rules.play(position, move).position, depth - 1, -high, -low))
        if low >= high:
            break
    return low
