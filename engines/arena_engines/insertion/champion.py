"""The champion: alpha-beta over the three tiers, the last engine of seed 001 (Eval5X, 19 March 2006).

In insertion points come from moves, not from positions, so a bound that is passed down must be reduced by
what the path has gained. The author added the EVAL of the path as an argument; here the window is shifted:
a move that gains g asks its child for alpha - g and beta - g. Without any move ordering it visits about 25
times fewer nodes than minimax at depth 5.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cached_property
from typing import ClassVar

from arena_engines.engine import Analysis, EngineError, Parameter
from arena_engines.insertion.evaluation import (
    ADAPTIVE,
    COOPERATIVE,
    FELL,
    FORCED,
    INFINITY,
    SPOILING,
    STRATEGY,
    THEIRS,
    ZOMBIE_MOVE,
    Strategy,
)
from arena_engines.insertion.fixed_depth import (
    SWITCH,
    WILDCARDS,
    WINDOW,
    ZOMBIE,
    FixedDepth,
    InsertionPosition,
    PlacedValue,
    Task,
    depth_parameter,
    pack_pictures,
    pack_roles,
)
from arena_protocol.games.insertion.board import Planes, parse_board
from arena_protocol.games.insertion.rules import MOVES, distinct_moves, play

#: Plies an opponent is assumed to look ahead; a deeper search differs little and costs more.
ADAPTIVE_DEPTH = 3
#: Votes kept.
MEMORY = 20


def search(
    p0: int,
    p1: int,
    p2: int,
    pictures: int,
    roles: int,
    depth: int,
    alpha: int,
    beta: int,
    my_cell: int,
    their_cell: int,
) -> tuple[int, int, int]:
    """Return (value, best move, nodes) of `depth` >= 1 plies from here; arguments as in history.py.

    The value is exact if alpha < value < beta; a value <= alpha is an upper bound and one >= beta a lower
    bound (fail-soft). The move is exact in a window that contains the value.
    """
    theirs = roles & THEIRS
    moves = 1 << ZOMBIE_MOVE if roles & FORCED else distinct_moves(p0, p1, p2)
    cell = their_cell if theirs else my_cell
    best = INFINITY if theirs else -INFINITY
    best_move = 0
    nodes = 0
    for move in range(1, MOVES + 1):
        if moves >> move & 1:
            q0, q1, q2, removed, fell, _ = play(p0, p1, p2, move, pictures & 7)
            value = removed * cell + fell * FELL
            nodes += 1
            if depth > 1:
                rest, _, below = search(
                    q0,
                    q1,
                    q2,
                    pictures >> 3,
                    roles >> 2,
                    depth - 1,
                    alpha - value,
                    beta - value,
                    my_cell,
                    their_cell,
                )
                value += rest
                nodes += below
            if (value < best) if theirs else (value > best):
                best = value
                best_move = move
                if theirs:
                    beta = min(beta, value)
                else:
                    alpha = max(alpha, value)
                if alpha >= beta:
                    break
    return best, best_move, nodes


class Adaptive:
    """Chooses the opposite of the opponents' strategy, as seed 001 proposes: spoil a cooperative player.

    Each opponent move where the two strategies differ is a vote for the one it agrees with; the last
    MEMORY votes count, and a tie is answered cooperatively. `best` searches a task by a strategy and returns
    the move. Votes are kept per game; another game, or a shorter history of this one, resets them.
    """

    def __init__(self, best: Callable[[Task, Strategy], int]) -> None:
        self._best = best
        self._reset("", (0, 0, 0))

    def _reset(self, start: str, planes: Planes) -> None:
        self._start = start
        self._planes = planes
        self._moves: tuple[str, ...] = ()
        self._votes: deque[int] = deque(maxlen=MEMORY)

    def answer(self, position: InsertionPosition) -> Strategy:
        """Return the strategy for the next move."""
        self._follow(position)
        return SPOILING if sum(self._votes) > 0 else COOPERATIVE

    def _follow(self, position: InsertionPosition) -> None:
        known = len(self._moves)
        if position.start != self._start or position.moves[:known] != self._moves:
            self._reset(position.start, parse_board(position.start))
            known = 0
        pictures, seats = position.state.sequence, position.rules.seats
        for ply, move in enumerate(map(int, position.moves[known:]), start=known):
            if ply % seats != position.seat - 1:
                self._weigh(pictures[ply : ply + ADAPTIVE_DEPTH], move, seats)
            p0, p1, p2, *_ = play(*self._planes, move, int(pictures[ply]))
            self._planes = (p0, p1, p2)
        self._moves = position.moves

    def _weigh(self, visible: str, move: int, seats: int) -> None:
        task = Task(self._planes, pack_pictures(visible), pack_roles(seats), len(visible))
        selfish, spoiling = (self._best(task, strategy) for strategy in (COOPERATIVE, SPOILING))
        # A move that both would play, or neither, tells nothing of the strategy.
        if selfish != spoiling and move in (selfish, spoiling):
            self._votes.append(1 if move == selfish else -1)


class Champion(FixedDepth):
    """Alpha-beta to a fixed depth, equal to minimax in move and `Eval`."""

    name: ClassVar[str] = "champion"
    parameters: ClassVar[tuple[Parameter, ...]] = (depth_parameter(5), STRATEGY, ZOMBIE, SWITCH, WILDCARDS)
    kernel = staticmethod(search)

    def run(self, task: Task, strategy: Strategy) -> PlacedValue:
        value, move, nodes = self.compiled_kernel(
            *task.planes, task.pictures, task.roles, task.depth, *WINDOW, *strategy.cells
        )
        return PlacedValue(move, strategy.eval_of(value), nodes)

    @cached_property
    def _adaptive(self) -> Adaptive:
        return Adaptive(lambda task, strategy: self.run(task, strategy).move)

    def analyse(self, position: InsertionPosition, depth: int) -> Analysis:
        """Return the best move of a fixed strategy. Raises EngineError for `adaptive`: it needs opponents."""
        if self.values["strategy"] == ADAPTIVE:
            raise EngineError(
                "engine champion: strategy=adaptive has no effect on an analysis; use cooperative or spoiling"
            )
        return super().analyse(position, depth)

    def strategy_for(self, position: InsertionPosition) -> Strategy:
        """Return the parameter's strategy; for `adaptive` the opposite of the opponents'."""
        if self.values["strategy"] == ADAPTIVE:
            return self._adaptive.answer(position)
        return super().strategy_for(position)
