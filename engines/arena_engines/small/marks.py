"""Tic-tac-toe solved: whether the side to move wins, draws or loses, on 3 x 3 and 4 x 4.

Two questions are asked of a position, one for each side: can it force a line? Positions count as
one if they are turned or mirrored images of each other, or differ only in marks that are on no
line still open. It must not know: engines, clocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from arena_protocol.games.mnk import Marks, MarksGame, board_of

WIN, DRAW, LOSS = 1, 0, -1


class Fight(NamedTuple):
    """One side tries to make a line, the other to prevent it. A wall is a cell of use to neither."""

    attacker: int
    defender: int
    wall: int


class MarksSolver:
    """The outcome of any position of one game of marks; what has been solved once is remembered."""

    def __init__(self, rules: MarksGame) -> None:
        self.rules = rules
        board = board_of(rules.size)
        self._full = board.full
        self._cells = list(board.cells.values())
        self._lines = list(lines_of(rules.size, rules.win))
        self._images = [_Image(rules.size, symmetry) for symmetry in range(8)]
        self._known: dict[tuple[Fight, bool], bool] = {}

    def outcome(self, position: Marks) -> int:
        """WIN, DRAW or LOSS for the side to move."""
        winner = self.rules.winner(position)
        if winner is not None:
            return DRAW if winner == 0 else LOSS  # a line was made by the move before
        x_moves = self.rules.to_move(position) == 1
        mine, theirs = (position.x, position.o) if x_moves else (position.o, position.x)
        if self._forces(Fight(mine, theirs, 0), attacking=True):
            return WIN
        return LOSS if self._forces(Fight(theirs, mine, 0), attacking=False) else DRAW

    def _forces(self, fight: Fight, *, attacking: bool) -> bool:
        """Whether the attacker forces a line; `attacking`: it is the attacker's move. Nobody has one yet."""
        fight = self._normal(fight)
        if not self._open(fight.defender | fight.wall):
            return False
        mover, other = (fight.attacker, fight.defender) if attacking else (fight.defender, fight.attacker)
        if self._holes(mover, other | fight.wall):
            return attacking
        stops = self._holes(other, mover | fight.wall)
        if stops & (stops - 1):
            return not attacking
        return self._remembered(fight, attacking, stops)

    def _remembered(self, fight: Fight, attacking: bool, stops: int) -> bool:
        key = (self._canonical(fight), attacking)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._search(fight, attacking, stops)
        return known

    def _search(self, fight: Fight, attacking: bool, stops: int) -> bool:
        """Try the useful moves, those on most open lines first: only the forced one if there is one."""
        attacker, defender, wall = fight
        free = stops or self._full & ~(attacker | defender | wall)
        moves = sorted((bit for bit in self._cells if bit & free), key=lambda bit: -self._weight(bit, fight))
        if attacking:
            return any(self._forces(Fight(attacker | bit, defender, wall), attacking=False) for bit in moves)
        if not moves:
            return False
        return all(self._forces(Fight(attacker, defender | bit, wall), attacking=True) for bit in moves)

    def _open(self, against: int) -> int:
        """The cells of all lines without a cell of `against`."""
        cells = 0
        for line in self._lines:
            if not line & against:
                cells |= line
        return cells

    def _normal(self, fight: Fight) -> Fight:
        """Turn into walls what is on no open line of its side, and empty cells on no open line at all.

        A move there cannot help its side: it is a pass, and to pass is never better than to move.
        """
        attacker, defender, wall = fight
        mine, theirs = self._open(defender | wall), self._open(attacker | wall)
        useless = (
            (attacker & ~mine) | (defender & ~theirs) | (self._full & ~(attacker | defender | mine | theirs))
        )
        return Fight(attacker & mine, defender & theirs, wall | useless)

    def _weight(self, bit: int, fight: Fight) -> int:
        attack, defence = fight.defender | fight.wall, fight.attacker | fight.wall
        through = (line for line in self._lines if line & bit)
        return sum((not line & attack) + (not line & defence) for line in through)

    def _holes(self, mine: int, against: int) -> int:
        """The empty cells that complete a line of `mine`."""
        holes = 0
        for line in self._lines:
            hole = line & ~mine
            if not hole & (hole - 1) and not hole & against:
                holes |= hole
        return holes

    def _canonical(self, fight: Fight) -> Fight:
        """The same for all turned and mirrored images."""
        return min(Fight(*map(image.of, fight)) for image in self._images)


def lines_of(size: int, win: int) -> Iterator[int]:
    """Every line that wins, as a plane of bits: `win` neighbouring cells in one of four directions."""
    bits = list(board_of(size).cells.values())
    for column in range(size):
        for row in range(size):
            for across, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
                cells = [(column + step * across, row + step * up) for step in range(win)]
                if all(0 <= x < size and 0 <= y < size for x, y in cells):
                    yield sum(bits[size * y + x] for x, y in cells)


class _Image:
    """One of the eight ways to turn and mirror a board, as a table a row: row of bits -> plane of bits."""

    def __init__(self, size: int, symmetry: int) -> None:
        bits = list(board_of(size).cells.values())
        self._row = size + 1  # bits a row, the spare one included
        self._tables = [[0] * (1 << self._row) for _ in range(size)]
        for y, table in enumerate(self._tables):
            for content in range(1 << size):
                table[content] = sum(
                    bits[_turned(size, symmetry, x, y)] for x in range(size) if content >> x & 1
                )

    def of(self, plane: int) -> int:
        """The plane turned."""
        mask = (1 << self._row) - 1
        return sum(table[plane >> self._row * y & mask] for y, table in enumerate(self._tables))


def _turned(size: int, symmetry: int, x: int, y: int) -> int:
    """The number of the cell that column x, row y comes to."""
    x, y = (y, x) if symmetry & 4 else (x, y)
    x = size - 1 - x if symmetry & 1 else x
    y = size - 1 - y if symmetry & 2 else y
    return size * y + x
