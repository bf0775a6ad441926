"""Players that choose by samples: half predicted by master's models; nothing was chosen on them.

flat        own points less half of the others', 12 samples a move of 6 plies; one move in ten is random
flatlead    the lead, 40 samples a move of 4 plies
flatown     own points, 20 samples a move of 5 plies; one move in five is random
tree60      own points less half of the others', a tree search by 60 samples of 4 plies
tree150     the lead, by 150 samples of 6 plies; one move in twenty is random
tree800     own points less three quarters of the others', by 800 samples of 6 plies
"""

from __future__ import annotations

import numpy as np
from players import Rival, Tree, Weights, greedy_move

from arena_engines.insertion.fixed_depth import InsertionPosition, task_of
from arena_engines.insertion.master.layout import Memory
from arena_engines.jit import compiled
from arena_protocol.games.insertion.rules import MOVES, distinct_moves, play


def flat_search(
    p0: int, p1: int, p2: int, pictures: int, plies: int, theirs: int, samples: int, mem: Memory
) -> int:
    """Return the best move by the sum of samples of greedy moves, a third of them random.

    `theirs`: what another's cell counts, in hundredths of an own one; mem[0] is the state of the generator.
    """
    distinct = distinct_moves(p0, p1, p2)
    best, most = 0, 0
    for move in range(1, MOVES + 1):
        if distinct >> move & 1 == 0:
            continue
        total = 0
        for _ in range(samples):
            q0, q1, q2, removed, _, _ = play(p0, p1, p2, move, pictures & 7)
            total += 100 * removed
            rest = pictures >> 3
            for ply in range(1, plies):
                mem[0] = mem[0] * 6364136223846793005 + 1442695040888963407
                drawn = mem[0] >> 33 & 0x7FFFFFFF
                reply = 1 + (drawn >> 8) % MOVES
                if drawn % 3:
                    reply = greedy_move(q0, q1, q2, rest & 7, reply - 1)
                q0, q1, q2, removed, _, _ = play(q0, q1, q2, reply, rest & 7)
                total += (-theirs if ply & 1 else 100) * removed
                rest >>= 3
        if best == 0 or total > most:
            best, most = move, total
    return best


class Flat(Rival):
    """Values every move by the mean of samples."""

    name = "flat"
    theirs, samples, depth, random_moves = 50, 12, 6, 0.1

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self._mem = np.full(1, seed * 2654435761 + 1, dtype=np.int64)

    def warm_up(self) -> None:
        self._flat = compiled(flat_search, f"int64({'int64, ' * 7}int64[::1])")

    def weights(self, position: InsertionPosition) -> Weights:
        return 100, -self.theirs

    def choose(self, position: InsertionPosition) -> int:
        task = task_of(position, self.depth)
        move = self._flat(*task.planes, task.pictures, task.depth, self.theirs, self.samples, self._mem)
        return self._random.randint(1, MOVES) if self._random.random() < self.random_moves else move


class FlatLead(Flat):
    """Values the lead."""

    name = "flatlead"
    theirs, samples, depth, random_moves = 100, 40, 4, 0.0


class FlatOwn(Flat):
    """Values its own points."""

    name = "flatown"
    theirs, samples, depth, random_moves = 0, 20, 5, 0.2


class Tree60(Tree):
    """A short and narrow tree."""

    name = "tree60"
    theirs, samples, depth = 50, 60, 4


class Tree150(Tree):
    """A narrow tree for the lead; some moves are random."""

    name = "tree150"
    theirs, samples, depth = 100, 150, 6

    def choose(self, position: InsertionPosition) -> int:
        move = super().choose(position)
        return self._random.randint(1, MOVES) if self._random.random() < 0.05 else move


class Tree800(Tree):
    """A tree between the others."""

    name = "tree800"
    theirs, samples, depth = 75, 800, 6


SAMPLERS: tuple[type[Rival], ...] = (Flat, FlatLead, FlatOwn, Tree60, Tree150, Tree800)
