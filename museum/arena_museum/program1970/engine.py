"""The engine `xo1970`: the opening (section 3.3 of the paper), general procedure (3.2), analysis (3.4).

The analysis in depth is alpha-beta over perspective moves: cells whose value for either side reaches the
threshold of their level. M is the machine's side, P its opponent (the paper's Pi). The program of 1970 had no
clock; here an analysis that takes too long for the clock is given up.

Source: P. Barnev, V. Tomov, D. Dobrev, K. Ivanov, G. Kulekov, "An algorithm and a programme for the game XO",
1970.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

from arena_engines.engine import LIMIT_OVERHEAD, Engine, EngineError, Parameter, Position, Report
from arena_engines.lateness import Lateness
from arena_engines.xo.cells import Sides, cell_names, sides_of
from arena_museum.program1970.evaluation import MOST, NOTHING, WINS, Estimates, empty_board, estimates_of
from arena_protocol.games.mnk import SIZES, Marks, Xo


class Choice(NamedTuple):
    """A cell and its values, in halves, for the side to move and for the other side."""

    cell: int
    own: int
    foe: int


def general_procedure(board: Estimates, side: int) -> Choice:
    """The move of `side` by the values alone (section 3.2); the board must not be full.

    If the highest own value is at least the other side's highest, `side` has the initiative and takes its
    best cell, else the other side's best cell. Ties go to the larger value for the other of the two, then to
    the first cell in scan order.
    """
    own, foe = board.values[side], board.values[1 - side]
    leading, other = (own, foe) if max(own) >= max(foe) else (foe, own)
    best = max(leading)
    cells = [cell for cell, value in enumerate(leading) if value == best]
    cell = max(cells, key=other.__getitem__)
    return Choice(cell, own[cell], foe[cell])


def central_cells(size: int) -> tuple[int, ...]:
    """The four central cells; on an odd board the middle one and its neighbours to the right and above."""
    low = (size - 1) // 2
    return tuple(size * row + column for row in (low, low + 1) for column in (low, low + 1))


def opening_move(size: int, marked: int | None, turn: int) -> int:
    """The machine's first move (section 3.3), on an empty board (`marked` is None) or after one mark.

    On an empty board a central cell, chosen by `turn` (0, 1, ...). Against a mark on a central cell the one
    diagonally opposite; against another mark its diagonal neighbour nearest the middle.
    """
    centre = central_cells(size)
    if marked is None:
        return centre[turn % len(centre)]
    if marked in centre:
        return centre[len(centre) - 1 - centre.index(marked)]
    return min(_diagonal_neighbours(size, marked), key=lambda cell: _distance(size, cell))


def _diagonal_neighbours(size: int, cell: int) -> list[int]:
    column, row = cell % size, cell // size
    corners = [(column + dx, row + dy) for dy in (-1, 1) for dx in (-1, 1)]
    return [size * y + x for x, y in corners if 0 <= x < size and 0 <= y < size]


def _distance(size: int, cell: int) -> int:
    """Four times the square of the distance to the middle of the board."""
    return (2 * (cell % size) - size + 1) ** 2 + (2 * (cell // size) - size + 1) ** 2


#: The level thresholds of the paper (section 4), in halves: 3.5 3.5 3.5 3.5 4 4 5.
THRESHOLDS = (7, 7, 7, 7, 8, 8, 10)
#: With these thresholds an analysis has at most some thousand nodes; lower thresholds can have any number.
#: At 30,000 nodes a second a limit of 100,000 ends an analysis after about three seconds.
NODE_LIMIT = 100_000


class Vector(NamedTuple):
    """A static estimate (section 3.4), compared element by element; larger is better for M.

    p is the initiative in the paper's units, q by how many more cells M has it, r prefers short wins.
    """

    p: float
    q: int
    r: int


class OutOfTime(Exception):  # noqa: N818 - not an error: the moves analysed so far count
    """The time of an analysis is over."""


LOWEST = Vector(float("-inf"), 0, 0)
HIGHEST = Vector(float("inf"), 0, 0)
WON_P = 5.0


@dataclass(slots=True)
class Analysis1970:
    """One analysis for machine side `machine`; `nodes` counts the positions evaluated.

    `thresholds[k]`, in halves, selects the moves of level k; at the last level every position is dead, that
    is, a leaf. `node_limit` bounds the tree of low thresholds: from then on every new position is dead.
    `stop`: whether the time is over.
    """

    machine: int
    thresholds: Sequence[int] = THRESHOLDS
    node_limit: int | None = None
    nodes: int = 0
    stop: Callable[[], bool] = lambda: False

    def best_move(self, board: Estimates) -> tuple[int, Vector] | None:
        """The machine's move and its value; None for a position without perspective moves.

        The machine must be to move, without a win in one move and not facing a double threat. At `stop` the
        moves analysed by then count, None if there are none.
        """
        best: tuple[int, Vector] | None = None
        floor = LOWEST
        for cell in self.perspective_moves(board, 0):
            try:
                value = self._value(board.after(cell, self.machine), 1, floor, HIGHEST)
            except OutOfTime:
                break
            if best is None or value > best[1]:
                best = cell, value
                floor = value
        return best

    def perspective_moves(self, board: Estimates, level: int) -> list[int]:
        """The cells with a value of at least this level's threshold for either side, the highest value first.

        The paper leaves their order open; this one causes the most cutoffs. The last level has none.
        """
        if level >= len(self.thresholds) - 1:
            return []
        threshold = self.thresholds[level]
        higher = [max(pair) for pair in zip(*board.values, strict=True)]
        cells = [cell for cell, value in enumerate(higher) if value >= threshold]
        return sorted(cells, key=lambda cell: -higher[cell])

    def _value(self, board: Estimates, level: int, low: Vector, high: Vector) -> Vector:
        """The minimax value, or a bound of it outside low..high. Raises OutOfTime."""
        if self.stop():
            raise OutOfTime
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
    """The first cell in scan order where `side` makes five, or None."""
    return next((cell for cell, value in enumerate(board.values[side]) if value >= WINS), None)


def double_threat(board: Estimates, side: int) -> bool:
    """Whether `side` can make five on two cells: one move does not stop both."""
    return sum(1 for value in board.values[side] if value >= WINS) >= 2


def immediate_end(board: Estimates, mover: int, machine: int, level: int) -> Vector | None:
    """(5 or -5, 0, r) if the mover wins in one move or faces a double threat, else None."""
    if max(board.values[mover]) >= WINS:
        winner = mover
    elif double_threat(board, 1 - mover):
        winner = 1 - mover
    else:
        return None
    p = WON_P if winner == machine else -WON_P
    return Vector(p, 0, _length_term(p, level))


def static_vector(board: Estimates, mover: int, machine: int, level: int) -> Vector:
    """The static estimate of a dead position: table 1 applied to the cell of the general procedure.

    The vector of a full board, a draw, is zero.
    """
    if not max(board.values[mover]):
        return Vector(0.0, 0, 0)
    choice = general_procedure(board, mover)
    alpha, beta = (choice.own, choice.foe) if mover == machine else (choice.foe, choice.own)
    p = initiative(alpha / 2, beta / 2, machine_moves=mover == machine)
    highest = max(alpha, beta)
    q = board.values[machine].count(highest) - board.values[1 - machine].count(highest)
    return Vector(p, q, _length_term(p, level))


def initiative(alpha: float, beta: float, *, machine_moves: bool) -> float:
    """Table 1: the sign is the side that has the initiative (a tie is the mover's), the size its strength.

    Two cells of the printed table are empty; remarks d) and e) of the paper give them.
    """
    if machine_moves:
        return alpha if alpha >= beta else -(beta - 0.25)
    return alpha - 0.25 if alpha > beta else -beta


def _length_term(p: float, level: int) -> int:
    """The third element, -k sign p: the winner prefers a short game, the loser a long one."""
    return -level if p > 0 else level if p < 0 else 0


MAX_LEVELS = 12
#: A move takes at most this part of the clock, less what is kept of it, in milliseconds.
CLOCK_SHARE, KEPT = 1 / 8, 100.0


@dataclass(frozen=True, slots=True)
class Thresholds(Parameter):
    """The level thresholds in the paper's units joined by `/`: `3.5/3.5/3.5/3.5/4/4/5`."""

    @property
    def expected(self) -> str:
        """The valid values, for an error text."""
        return f"2 to {MAX_LEVELS} rising numbers of 0.5, 1, ... 5 joined by '/', the last one 5"

    def parse(self, text: str) -> str:
        """Return the text unchanged. Raises EngineError naming what is expected."""
        halves = thresholds_of(text)
        if not 2 <= len(halves) <= MAX_LEVELS or halves != sorted(halves) or halves[-1] != MOST:
            raise EngineError(f"{self.name}={text}: expected {self.expected}")
        return text


def thresholds_of(text: str) -> list[int]:
    """Return the thresholds in halves; an empty list for a text that is not a list of thresholds."""
    halves = {f"{half / 2:g}": half for half in range(NOTHING, MOST + 1)}
    parts = text.split("/")
    return [halves[part] for part in parts] if set(parts) <= set(halves) else []


class Xo1970(Engine):
    """The XO program of 1970; `nodes` and the clock bound an analysis (Analysis1970).

    It opens on a random central cell (the same for the same `seed`), and each later game on the next one.
    """

    game = "xo"
    name = "xo1970"
    stronger_than = "random"
    dialogue = "arena_museum.program1970.console"
    parameters = (
        Thresholds("thresholds", "/".join(f"{half / 2:g}" for half in THRESHOLDS)),
        Parameter("nodes", NODE_LIMIT, 1, 10**9),
        Parameter("seed", None, 0, 2**31 - 1),
    )

    def __init__(self, values: Mapping[str, int | str | None] | None = None) -> None:
        super().__init__(values)
        self._thresholds = thresholds_of(str(self.values["thresholds"]))
        self._limit = int(self.values["nodes"] or NODE_LIMIT)
        self._opening = random.Random(self.values["seed"]).randrange(4)  # noqa: S311 - a game, not a secret
        self._lateness = Lateness(LIMIT_OVERHEAD)

    def warm_up(self) -> None:
        """Compute the values of the empty boards, and what all boards share."""
        for size in SIZES:
            empty_board(size)

    def choose(self, position: Position[Xo, Marks]) -> str:
        """Return the program's move; the empty board is the start of a new game."""
        size = position.rules.size
        began = perf_counter()
        self._lateness.begin(position)
        millis = longest_analysis(position, self._lateness.cautious)
        cell = self._cell(size, sides_of(size, position.state), began + millis / 1000)
        self._lateness.end(millis)
        return cell_names(size)[cell]

    def _cell(self, size: int, sides: Sides, end: float) -> int:
        marked = [*sides.x, *sides.o]
        if len(marked) > 1:
            return self.move_on(estimates_of(size, *sides), sides.to_move, lambda: perf_counter() >= end)
        if not marked:
            self._opening += 1
        return opening_move(size, marked[0] if marked else None, self._opening)

    def move_on(self, board: Estimates, side: int, stop: Callable[[], bool] = lambda: False) -> int:
        """Return the cell for `side` on a board with at least two marks; the analysis ends at `stop`."""
        win = winning_cell(board, side)
        if win is not None:
            return win
        if not double_threat(board, 1 - side):
            analysis = Analysis1970(side, self._thresholds, self._limit, stop=stop)
            found = analysis.best_move(board)
            if found is not None:
                self.report = Report(nodes=analysis.nodes)
                return found[0]
        return general_procedure(board, side).cell


def longest_analysis(position: Position[Xo, Marks], late: float) -> float:
    """Return the most milliseconds of a move that may be so much `late`; infinite without a clock."""
    most = position.longest(None, late)
    if position.clock is None:
        return most
    return min(most, CLOCK_SHARE * max(0.0, position.clock - KEPT))
