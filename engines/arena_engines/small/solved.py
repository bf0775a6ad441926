"""Solved games and the engines `perfect` on them.

`Solver` visits every position of any game for two seats once: for games of at most some hundred thousand
positions. `MarksSolver` solves tic-tac-toe up to 4 x 4: for each side it asks whether that side can force a
line. Positions are equal if they are rotations or reflections, or differ only in marks that are on no open
line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from arena_engines.engine import AnyPosition, Engine, Position, Report
from arena_engines.small.openlines import lines_of
from arena_protocol.games.base import Game
from arena_protocol.games.mnk import Marks, MarksGame, board_of


class Outcome(NamedTuple):
    """The result for the side to move: 1 win, 0 draw, -1 loss; and the plies to the end.

    The winner plays for the shortest game, the loser for the longest.
    """

    result: int
    plies: int

    @property
    def rank(self) -> tuple[int, int]:
        """A sort key: the better an outcome for the side to move, the higher."""
        return self.result, -self.result * self.plies

    @property
    def before(self) -> Outcome:
        """The same outcome for the other side, one ply earlier."""
        return Outcome(-self.result, self.plies + 1)


class Solver:
    """The outcomes of one game for two seats that move in turn."""

    def __init__(self, rules: Game[Any]) -> None:
        self.rules = rules
        self._known: dict[Any, Outcome] = {}

    def __len__(self) -> int:
        """The number of solved positions."""
        return len(self._known)

    def outcome(self, position: Any) -> Outcome:
        """The outcome of a position; iterative, since a game may have a thousand plies."""
        waiting = [position]
        while waiting:
            top = waiting[-1]
            unknown = [] if top in self._known else self._unknown_children(top)
            if unknown:
                waiting.extend(unknown)
                continue
            waiting.pop()
            if top not in self._known:
                self._known[top] = self._judge(top)
        return self._known[position]

    def best_move(self, position: Any) -> str:
        """The best move, the first of equals in natural order. The game must not be over."""
        self.outcome(position)
        moves = self.rules.legal_moves(position)
        return max(moves, key=lambda move: self.after(position, move).before.rank)

    def after(self, position: Any, move: str) -> Outcome:
        """The outcome of the position after `move`, for the side to move there."""
        return self.outcome(self.rules.play(position, move).position)

    def _children(self, position: Any) -> list[Any]:
        return [self.rules.play(position, move).position for move in self.rules.legal_moves(position)]

    def _unknown_children(self, position: Any) -> list[Any]:
        return [child for child in self._children(position) if child not in self._known]

    def _judge(self, position: Any) -> Outcome:
        children = self._children(position)
        if not children:
            return Outcome(self._result_of_end(position), 0)
        return max((self._known[child].before for child in children), key=lambda outcome: outcome.rank)

    def _result_of_end(self, position: Any) -> int:
        totals = self.rules.totals(position)
        seat = self.rules.to_move(position)
        mine, theirs = totals[seat - 1], totals[2 - seat]
        return (mine > theirs) - (mine < theirs)


WIN, DRAW, LOSS = 1, 0, -1


class Attack(NamedTuple):
    """Planes of bits: the attacker tries to make a line, the defender to prevent it; walls help neither."""

    attacker: int
    defender: int
    wall: int


class MarksSolver:
    """The outcomes of the positions of one m,n,k game; results are cached."""

    def __init__(self, rules: MarksGame) -> None:
        self.rules = rules
        board = board_of(rules.size)
        self._full = board.full
        self._cells = list(board.cells.values())
        self._lines = list(lines_of(rules.size, rules.win))
        self._images = [_Image(rules.size, symmetry) for symmetry in range(8)]
        self._known: dict[tuple[Attack, bool], bool] = {}

    def outcome(self, position: Marks) -> int:
        """WIN, DRAW or LOSS for the side to move."""
        winner = self.rules.winner(position)
        if winner is not None:
            return DRAW if winner == 0 else LOSS  # a line was made by the move before
        x_moves = self.rules.to_move(position) == 1
        mine, theirs = (position.x, position.o) if x_moves else (position.o, position.x)
        if self._forces(Attack(mine, theirs, 0), attacking=True):
            return WIN
        return LOSS if self._forces(Attack(theirs, mine, 0), attacking=False) else DRAW

    def _forces(self, attack: Attack, *, attacking: bool) -> bool:
        """Whether the attacker forces a line; `attacking`: it is to move. Neither side has a line yet."""
        attack = self._normal(attack)
        if not self._open(attack.defender | attack.wall):
            return False
        mover, other = (attack.attacker, attack.defender) if attacking else (attack.defender, attack.attacker)
        if self._holes(mover, other | attack.wall):
            return attacking
        stops = self._holes(other, mover | attack.wall)
        if stops & (stops - 1):
            return not attacking
        return self._remembered(attack, attacking, stops)

    def _remembered(self, attack: Attack, attacking: bool, stops: int) -> bool:
        key = (self._canonical(attack), attacking)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._search(attack, attacking, stops)
        return known

    def _search(self, attack: Attack, attacking: bool, stops: int) -> bool:
        """Try the useful moves, those on most open lines first; only the forced one if there is one."""
        attacker, defender, wall = attack
        free = stops or self._full & ~(attacker | defender | wall)
        moves = sorted((bit for bit in self._cells if bit & free), key=lambda bit: -self._weight(bit, attack))
        if attacking:
            return any(self._forces(Attack(attacker | bit, defender, wall), attacking=False) for bit in moves)
        if not moves:
            return False
        return all(self._forces(Attack(attacker, defender | bit, wall), attacking=True) for bit in moves)

    def _open(self, against: int) -> int:
        """The cells of all lines that have no cell of `against`."""
        cells = 0
        for line in self._lines:
            if not line & against:
                cells |= line
        return cells

    def _normal(self, attack: Attack) -> Attack:
        """Make walls of marks on no open line of their side, and of empty cells on no open line.

        A move on such a cell is a pass, and a pass is never better than a move.
        """
        attacker, defender, wall = attack
        mine, theirs = self._open(defender | wall), self._open(attacker | wall)
        useless = (
            (attacker & ~mine) | (defender & ~theirs) | (self._full & ~(attacker | defender | mine | theirs))
        )
        return Attack(attacker & mine, defender & theirs, wall | useless)

    def _weight(self, bit: int, attack: Attack) -> int:
        closed, closed_to_defender = attack.defender | attack.wall, attack.attacker | attack.wall
        through = (line for line in self._lines if line & bit)
        return sum((not line & closed) + (not line & closed_to_defender) for line in through)

    def _holes(self, mine: int, against: int) -> int:
        """The empty cells that complete a line of `mine`."""
        holes = 0
        for line in self._lines:
            hole = line & ~mine
            if not hole & (hole - 1) and not hole & against:
                holes |= hole
        return holes

    def _canonical(self, attack: Attack) -> Attack:
        """The representative of all eight rotations and reflections."""
        return min(Attack(*map(image.of, attack)) for image in self._images)


class _Image:
    """One of the eight symmetries of a board, as a table for each row: bits of the row -> plane of bits."""

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
        """The image of a plane."""
        mask = (1 << self._row) - 1
        return sum(table[plane >> self._row * y & mask] for y, table in enumerate(self._tables))


def _turned(size: int, symmetry: int, x: int, y: int) -> int:
    """The number of the cell that column x, row y is mapped to."""
    x, y = (y, x) if symmetry & 4 else (x, y)
    x = size - 1 - x if symmetry & 1 else x
    y = size - 1 - y if symmetry & 2 else y
    return size * y + x


class Perfect(Engine):
    """Plays perfectly: the fastest win, the slowest loss."""

    name = "perfect"

    def __init__(self, values: Mapping[str, int | str | None] | None = None) -> None:
        super().__init__(values)
        self._solver: Solver | None = None

    def choose(self, position: AnyPosition) -> str:
        """The best move, the first of equals in natural order."""
        if self._solver is None or self._solver.rules != position.rules:
            self._solver = Solver(position.rules)
        move = self._solver.best_move(position.state)
        found = self._solver.outcome(position.state)
        self.report = Report(found.plies, found.result, line=(move,))
        return move


class PerfectMarks(Engine):
    """Plays tic-tac-toe without changing the outcome, and takes an immediate win."""

    game = "tictactoe"
    name = "perfect"

    def __init__(self, values: Mapping[str, int | str | None] | None = None) -> None:
        super().__init__(values)
        self._solver: MarksSolver | None = None

    def choose(self, position: Position[MarksGame, Marks]) -> str:
        """A move that wins at once, else the first in natural order that keeps the outcome."""
        rules = position.rules
        if self._solver is None or self._solver.rules != rules:
            self._solver = MarksSolver(rules)
        solver = self._solver

        after = {
            move: rules.play(position.state, move).position for move in rules.legal_moves(position.state)
        }
        for move, state in after.items():
            if rules.end(state) == "win":
                return move
        best = solver.outcome(position.state)
        return next(move for move, state in after.items() if -solver.outcome(state) == best)
