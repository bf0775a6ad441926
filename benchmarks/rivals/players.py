"""Players of insertion outside master's listed opponent models, for benchmarks/rivals/run.py.

half      own points less half of the others', 4 plies             tuned on
noisy     the champion's move at 3 plies; one in four is random     tuned on
mean      own points, the mean over all replies, 3 plies            tuned on
ties      own points, 3 plies, a random one of the equal moves      held out
switch    3 plies, cooperative and spoiling in turn                 held out
builder   own points and pairs of equal neighbours, 2 plies         held out
tree        own points less half of the others', a tree search by samples of 8 plies    tuned on
treelead    the lead, the same search                           held out
weighW-F-D  own points less W of the others' and F of what falls, D plies; any of equal moves (Weigher)
"""

from __future__ import annotations

import math
import random
from abc import abstractmethod
from collections.abc import Iterator

import numpy as np

from arena_engines.engine import Engine
from arena_engines.insertion.champion import search
from arena_engines.insertion.evaluation import COOPERATIVE, FELL, INFINITY, MINE, SPOILING
from arena_engines.insertion.fixed_depth import InsertionPosition, Task, task_of
from arena_engines.insertion.master.layout import Memory
from arena_engines.jit import compiled
from arena_protocol.games.insertion.board import Planes
from arena_protocol.games.insertion.rules import MOVES, NOT_TOP, count, distinct_moves, play

Weights = tuple[int, int]

#: 10 points for an own cell, 5 less for another's, in the first tier of the packed value.
HALF: Weights = (10 * MINE, -5 * MINE)
#: Fractions of a cell in `mean_search`.
SCALE = 1 << 20


def mean_search(p0: int, p1: int, p2: int, pictures: int, depth: int, mine: int) -> int:
    """Return the own cells in `depth` plies, in 1 / SCALE: my best move, the mean of all replies."""
    distinct = distinct_moves(p0, p1, p2)
    best = 0
    total = 0
    moves = 0
    for move in range(1, MOVES + 1):
        if distinct >> move & 1:
            q0, q1, q2, removed, _, _ = play(p0, p1, p2, move, pictures & 7)
            value = removed * SCALE if mine else 0
            if depth > 1:
                value += mean_search(q0, q1, q2, pictures >> 3, depth - 1, 1 - mine)
            best = max(best, value)
            total += value
            moves += 1
    return best if mine else total // moves


def weighed_search(
    p0: int,
    p1: int,
    p2: int,
    pictures: int,
    depth: int,
    alpha: int,
    beta: int,
    mine: int,
    own: int,
    theirs: int,
    fell: int,
) -> int:
    """Return the value of `depth` plies: `own` and `theirs` for a cell removed, `fell` for one pushed off.

    Fail-soft; values are those of the side that moves first (`mine` = 1).
    """
    distinct, rest = distinct_moves(p0, p1, p2), pictures >> 3
    best = -INFINITY if mine else INFINITY
    for move in range(1, MOVES + 1):
        if distinct >> move & 1:
            q0, q1, q2, removed, pushed, _ = play(p0, p1, p2, move, pictures & 7)
            value = removed * (own if mine else theirs) + pushed * fell
            if depth > 1:
                value += weighed_search(
                    q0, q1, q2, rest, depth - 1, alpha - value, beta - value, 1 - mine, own, theirs, fell
                )
            if mine:
                best = max(best, value)
                alpha = max(alpha, value)
            else:
                best = min(best, value)
                beta = min(beta, value)
            if alpha >= beta:
                break
    return best


#: A node of `sampled_tree`, by move: the child, its visits, the sum of its values. Move 0 is not used.
NODE, VISITS, SUMS = 48, 16, 32
#: Plies of a sample, their number, and the weight of exploring, in hundredths of a cell.
SAMPLE_PLIES, SAMPLES, EXPLORING = 8, 2000, 250
#: The path of a sample in front of the nodes: by ply the node, the move, and the cells removed.
PATH = 3 * (SAMPLE_PLIES + 1)


def greedy_move(p0: int, p1: int, p2: int, picture: int, start: int) -> int:
    """Return the first of the moves of the most points, counted from `start` (0..14) on."""
    best, most = 1, -1
    for turn in range(MOVES):
        move = 1 + (start + turn) % MOVES
        removed = play(p0, p1, p2, move, picture)[3]
        if removed > most:
            best, most = move, removed
    return best


def chosen(node: int, distinct: int, start: int, mem: Memory) -> int:
    """Return a move without visits, else that of the highest upper confidence bound."""
    visits = 0
    for move in range(1, MOVES + 1):
        visits += mem[node + VISITS + move]
    best, most = 0, 0.0
    for turn in range(MOVES):
        move = 1 + (start + turn) % MOVES
        if distinct >> move & 1:
            seen = mem[node + VISITS + move]
            if seen == 0:
                return move
            bound = mem[node + SUMS + move] / seen + EXPLORING * math.sqrt(math.log(visits) / seen)
            if best == 0 or bound > most:
                best, most = move, bound
    return best


def sampled_tree(
    p0: int, p1: int, p2: int, pictures: int, plies: int, theirs: int, samples: int, mem: Memory
) -> int:
    """Return the most visited move of a tree search whose samples end with greedy moves.

    `theirs`: what another's cell counts, in hundredths of an own one; mem[0] is the state of the generator.
    """
    root = 1 + PATH
    mem[root : root + NODE] = 0
    nodes = 1
    for _ in range(samples):
        q0, q1, q2, rest = p0, p1, p2, pictures
        node = root
        for ply in range(plies):
            mem[0] = mem[0] * 6364136223846793005 + 1442695040888963407
            start = (mem[0] >> 33 & 0x7FFFFFFF) % MOVES
            mem[1 + 3 * ply] = node
            if node:
                move = chosen(node, distinct_moves(q0, q1, q2), start, mem)
                after = mem[node + move]
                if after == 0 and mem[node + VISITS + move]:
                    after = root + nodes * NODE
                    mem[node + move] = after
                    mem[after : after + NODE] = 0
                    nodes += 1
                node = after
            else:
                move = greedy_move(q0, q1, q2, rest & 7, start)
            q0, q1, q2, removed, _, _ = play(q0, q1, q2, move, rest & 7)
            mem[2 + 3 * ply] = move
            mem[3 + 3 * ply] = removed
            rest >>= 3
        mine, others = 0, 0
        for ply in range(plies - 1, -1, -1):
            mine, others = others + mem[3 + 3 * ply], mine
            node = mem[1 + 3 * ply]
            if node:
                mem[node + VISITS + mem[2 + 3 * ply]] += 1
                mem[node + SUMS + mem[2 + 3 * ply]] += 100 * mine - theirs * others
    best = 1
    for move in range(1, MOVES + 1):
        if mem[root + VISITS + move] > mem[root + VISITS + best]:
            best = move
    return best


class Rival(Engine):
    """A player of insertion that searches 3 plies and has a seeded random generator."""

    game = "insertion"
    depth = 3

    def __init__(self, seed: int = 0) -> None:
        super().__init__({})
        self._random = random.Random(seed)

    def warm_up(self) -> None:
        """Compile the kernels."""
        self._search, self._mean = compiled(search), compiled(mean_search)

    def choose(self, position: InsertionPosition) -> int:
        """Return the best move by `weights`, the first of equals."""
        values = self.move_values(position, self.weights(position))
        return max(values, key=lambda move: (values[move], -move))

    def any_best(self, values: dict[int, int]) -> int:
        """Return a random one of the best moves."""
        best = max(values.values())
        return self._random.choice([move for move, value in values.items() if value == best])

    @abstractmethod
    def weights(self, position: InsertionPosition) -> Weights:
        """Return what a cell of mine and one of the others' adds."""

    def move_values(self, position: InsertionPosition, weights: Weights) -> dict[int, int]:
        """Return the exact value of every distinct move."""
        task = task_of(position, self.depth)
        rest = (task.pictures >> 3, task.roles >> 2, task.depth - 1, -INFINITY, INFINITY)
        values = {}
        for move, planes, removed, fell in children(task):
            values[move] = removed * weights[0] + fell * FELL
            if task.depth > 1:
                values[move] += self._search(*planes, *rest, *weights)[0]
        return values


def first_tier(value: int) -> int:
    """Return the first tier of a packed value."""
    return -(-value >> 40)


def children(task: Task) -> Iterator[tuple[int, Planes, int, int]]:
    """Yield every distinct move with the planes after it, the cells removed and the pictures pushed off."""
    distinct = distinct_moves(*task.planes)
    for move in range(1, MOVES + 1):
        if distinct >> move & 1:
            p0, p1, p2, removed, fell, _ = play(*task.planes, move, task.pictures & 7)
            yield move, (p0, p1, p2), removed, fell


class Half(Rival):
    """Values the others' points at one half of its own, 4 plies ahead; of equal moves a random one."""

    name = "half"
    depth = 4

    def weights(self, position: InsertionPosition) -> Weights:
        return HALF

    def choose(self, position: InsertionPosition) -> int:
        packed = self.move_values(position, HALF)
        return self.any_best({move: first_tier(value) for move, value in packed.items()})


class Noisy(Rival):
    """Plays the champion's move at 3 plies, but one move in four at random."""

    name = "noisy"

    def weights(self, position: InsertionPosition) -> Weights:
        return COOPERATIVE.cells

    def choose(self, position: InsertionPosition) -> int:
        move = super().choose(position)
        return self._random.randint(1, MOVES) if self._random.random() < 0.25 else move


class Mean(Rival):
    """Takes the reply for random: the mean over all replies instead of the worst."""

    name = "mean"

    def weights(self, position: InsertionPosition) -> Weights:
        return COOPERATIVE.cells

    def move_values(self, position: InsertionPosition, weights: Weights) -> dict[int, int]:
        task = task_of(position, 3)
        return {
            move: removed * SCALE
            + (self._mean(*planes, task.pictures >> 3, task.depth - 1, 0) if task.depth > 1 else 0)
            for move, planes, removed, _ in children(task)
        }


class Ties(Rival):
    """Counts own points alone and plays a random one of the equal moves."""

    name = "ties"

    def weights(self, position: InsertionPosition) -> Weights:
        return 10 * MINE, 0

    def choose(self, position: InsertionPosition) -> int:
        packed = self.move_values(position, self.weights(position))
        return self.any_best({move: first_tier(value) for move, value in packed.items()})


class Switch(Rival):
    """Is cooperative and spoils in turn."""

    name = "switch"

    def weights(self, position: InsertionPosition) -> Weights:
        own_moves = len(position.moves) // position.rules.seats
        return (SPOILING if own_moves % 2 else COOPERATIVE).cells


class Builder(Rival):
    """Weighs cells removed, pairs of equal neighbours left, and the best reply: 100, 8 and -60."""

    name = "builder"

    def weights(self, position: InsertionPosition) -> Weights:
        return 100, -60

    def move_values(self, position: InsertionPosition, weights: Weights) -> dict[int, int]:
        task = task_of(position, 2)
        values = {}
        for move, planes, removed, _ in children(task):
            values[move] = removed * weights[0] + 8 * pairs(*planes)
            if task.depth > 1:
                after = task._replace(planes=planes, pictures=task.pictures >> 3)
                values[move] += weights[1] * max(cells for _, _, cells, _ in children(after))
        return values


class Tree(Rival):
    """Searches a tree by samples; the other's cell counts half of an own one."""

    name = "tree"
    theirs = 50
    depth, samples = SAMPLE_PLIES, SAMPLES

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self._mem = np.zeros(1 + PATH + (self.samples + 1) * NODE, dtype=np.int64)
        self._mem[0] = seed

    def warm_up(self) -> None:
        self._tree = compiled(sampled_tree, f"int64({'int64, ' * 7}int64[::1])")

    def weights(self, position: InsertionPosition) -> Weights:
        return 100, -self.theirs

    def choose(self, position: InsertionPosition) -> int:
        task = task_of(position, self.depth)
        return self._tree(*task.planes, task.pictures, task.depth, self.theirs, self.samples, self._mem)


class TreeLead(Tree):
    """The same for the lead."""

    name = "treelead"
    theirs = 100


class Weigher(Rival):
    """Counts others' cells at `theirs` and pictures pushed off at `fell`, in hundredths of an own cell."""

    theirs: int
    fell: int

    def warm_up(self) -> None:
        self._weighed = compiled(weighed_search)

    def choose(self, position: InsertionPosition) -> int:
        return self.any_best(self.move_values(position, self.weights(position)))

    def weights(self, position: InsertionPosition) -> Weights:
        return 100, -self.theirs

    def move_values(self, position: InsertionPosition, weights: Weights) -> dict[int, int]:
        task = task_of(position, self.depth)
        values = {}
        for move, planes, removed, fell in children(task):
            values[move] = removed * weights[0] - fell * self.fell
            if task.depth > 1:
                rest = (task.pictures >> 3, task.depth - 1, -INFINITY, INFINITY, 0)
                values[move] += self._weighed(*planes, *rest, *weights, -self.fell)
        return values


def weigher(theirs: int, fell: int, depth: int) -> type[Weigher]:
    """Return a kind of Weigher, weights in hundredths."""
    name = f"weigh{theirs / 100:g}-{fell / 100:g}-{depth}"
    return type(name, (Weigher,), {"name": name, "theirs": theirs, "fell": fell, "depth": depth})


def pairs(p0: int, p1: int, p2: int) -> int:
    """Return the number of equal neighbours of a board."""
    occupied = p0 | p1 | p2
    across = occupied & ~((p0 ^ p0 >> 5) | (p1 ^ p1 >> 5) | (p2 ^ p2 >> 5))
    up = occupied & NOT_TOP & ~((p0 ^ p0 >> 1) | (p1 ^ p1 >> 1) | (p2 ^ p2 >> 1))
    return count(across) + count(up)


TUNED: tuple[type[Rival], ...] = (
    Half,
    Noisy,
    Mean,
    Tree,
    weigher(30, 0, 4),
    weigher(150, 0, 5),
    weigher(200, 100, 4),
)
HELD_OUT: tuple[type[Rival], ...] = (
    Ties,
    Switch,
    Builder,
    TreeLead,
    weigher(20, 50, 5),
    weigher(70, 100, 4),
    weigher(135, 0, 5),
    weigher(220, 0, 5),
    weigher(180, 25, 5),
)
