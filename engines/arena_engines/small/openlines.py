"""The open-lines heuristic of tic-tac-toe and the engine `openlines`: minimax over it.

E(P) = lines open to X - lines open to O: a line is a row, column or diagonal of the winning length, and it is
open to a side if it has no mark of the other side. The function of N. J. Nilsson (1971), as seed 004 prints
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from arena_engines.engine import Engine, Parameter, Position
from arena_protocol.games.mnk import Marks, MarksGame, board_of

#: Above the 24 lines of three on a 4 x 4 board.
WON = 100


def lines_of(size: int, win: int) -> Iterator[int]:
    """Every winning line as a plane of bits: `win` consecutive cells in one of four directions."""
    bits = list(board_of(size).cells.values())
    for column in range(size):
        for row in range(size):
            for across, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
                cells = [(column + step * across, row + step * up) for step in range(win)]
                if all(0 <= x < size and 0 <= y < size for x, y in cells):
                    yield sum(bits[size * y + x] for x, y in cells)


def open_lines(rules: MarksGame, position: Marks) -> tuple[int, int]:
    """The number of lines open to X, and of those open to O."""
    lines = _lines(rules)
    return (
        sum(1 for line in lines if not line & position.o),
        sum(1 for line in lines if not line & position.x),
    )


def evaluate(rules: MarksGame, position: Marks) -> int:
    """E(P): WON or -WON for a finished line of X or O, 0 for a draw, else the difference of open lines."""
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
        """The best move at this depth, the first of equals in natural order."""
        rules = position.rules
        depth = int(self.values["depth"] or 1)
        best, chosen = -2 * WON, ""
        for move in rules.legal_moves(position.state):
            value = -_search(rules, rules.play(position.state, move).position, depth - 1, -2 * WON, -best)
            if value > best:
                best, chosen = value, move
        return chosen


def _search(rules: MarksGame, position: Marks, depth: int, low: int, high: int) -> int:
    """The value for the side to move, or a bound outside low..high; a faster win is worth more."""
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
