"""The adaptive strategy: play the opposite of what the opponents play.

The seed's author thought of it and left it alone, for want of time and of arguments. Here is his idea
as he states it: against a spoiler be cooperative, against a cooperative player spoil. An opponent's
strategy shows in the moves where the two would differ: each such move is a vote for the one it agrees
with. The votes of the last moves count, and while they are even the play is cooperative.

It must not know: how the own move is searched for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from arena_engines.insertion.fixed_depth import InsertionPosition, Task, pack_pictures, pack_roles
from arena_engines.insertion.strategy import COOPERATIVE, SPOILING, Strategy
from arena_protocol.games.insertion.rules import play
from arena_protocol.games.insertion.text import Planes, parse_board

#: An opponent is taken to look so far ahead; deeper differs little and costs more.
DEPTH = 3
#: So many of the opponents' last telling moves vote.
MEMORY = 20


class Adaptive:
    """Follows a game and tells which strategy answers the opponents' play.

    `best` searches a task by a strategy and returns the move. What was seen of a game is kept, so each
    move is weighed once; another game, or a step back in this one, starts it afresh.
    """

    def __init__(self, best: Callable[[Task, Strategy], int]) -> None:
        self._best = best
        self._forget("", (0, 0, 0))

    def _forget(self, start: str, planes: Planes) -> None:
        self._start = start
        self._planes = planes
        self._moves: tuple[str, ...] = ()
        self._votes: deque[int] = deque(maxlen=MEMORY)

    def answer(self, position: InsertionPosition) -> Strategy:
        """Return the strategy to play by now."""
        self._follow(position)
        return SPOILING if sum(self._votes) > 0 else COOPERATIVE

    def _follow(self, position: InsertionPosition) -> None:
        known = len(self._moves)
        if position.start != self._start or position.moves[:known] != self._moves:
            self._forget(position.start, parse_board(position.start))
            known = 0
        pictures, seats = position.state.sequence, position.rules.seats
        for ply, move in enumerate(map(int, position.moves[known:]), start=known):
            if ply % seats != position.seat - 1:
                self._weigh(pictures[ply : ply + DEPTH], move, seats)
            p0, p1, p2, *_ = play(*self._planes, move, int(pictures[ply]))
            self._planes = (p0, p1, p2)
        self._moves = position.moves

    def _weigh(self, visible: str, move: int, seats: int) -> None:
        task = Task(self._planes, pack_pictures(visible), pack_roles(seats), len(visible))
        selfish, spoiling = (self._best(task, strategy) for strategy in (COOPERATIVE, SPOILING))
        if selfish != spoiling and move in (selfish, spoiling):
            self._votes.append(1 if move == selfish else -1)
