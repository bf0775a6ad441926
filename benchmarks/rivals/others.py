"""Players of other kinds than players.py and samplers.py; nothing was chosen on them.

copier      inserts where the other inserted last
book        15 own moves of an opening book that a seed decides, then own points, 3 plies
guard       the least points for the other's reply, 2 plies; of equal moves a random one
soft        own points less the worst reply, 2 plies: a move 10 points behind the best is e times rarer
treeown     own points, a tree search by 400 samples of 5 plies; one move in ten is random
turning     `flat` for 60 plies, then own points less those of the others, 4 plies, any of equal moves
sleeper     own points, 3 plies; a zombie from ply 100 on
waking      a zombie for 60 plies, then `half`
"""

from __future__ import annotations

import math

from players import Half, Rival, Tree, Weights, first_tier
from samplers import Flat

from arena_engines.insertion.evaluation import COOPERATIVE, MINE, ZOMBIE_MOVE
from arena_engines.insertion.fixed_depth import InsertionPosition
from arena_protocol.games.insertion.rules import MOVES

LEAD: Weights = (10 * MINE, -10 * MINE)
#: Own moves of the book; plies until a player changes.
BOOK, EARLY, LATE = 15, 60, 100
#: The points behind the best at which `soft` plays a move e times less often.
TEMPERATURE = 10


class Copier(Rival):
    """Inserts where the other inserted last."""

    name = "copier"

    def warm_up(self) -> None:
        """There is nothing to compile."""

    def weights(self, position: InsertionPosition) -> Weights:
        return 1, 0

    def choose(self, position: InsertionPosition) -> int:
        return int(position.moves[-1]) if position.moves else 1


class Cooperative(Rival):
    """The champion's move at 3 plies."""

    def weights(self, position: InsertionPosition) -> Weights:
        return COOPERATIVE.cells


class Book(Cooperative):
    """Begins with the moves of a book, whatever the board is."""

    name = "book"

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self._book = [self._random.randint(1, MOVES) for _ in range(BOOK)]

    def choose(self, position: InsertionPosition) -> int:
        own_moves = len(position.moves) // position.rules.seats
        return self._book[own_moves] if own_moves < BOOK else super().choose(position)


class Guard(Rival):
    """Leaves the other as little as it can; its own points do not count."""

    name = "guard"
    depth = 2

    def weights(self, position: InsertionPosition) -> Weights:
        return 0, -10 * MINE

    def choose(self, position: InsertionPosition) -> int:
        packed = self.move_values(position, self.weights(position))
        return self.any_best({move: first_tier(value) for move, value in packed.items()})


class Soft(Rival):
    """Plays good moves more often than bad ones."""

    name = "soft"
    depth = 2

    def weights(self, position: InsertionPosition) -> Weights:
        return LEAD

    def choose(self, position: InsertionPosition) -> int:
        packed = self.move_values(position, LEAD)
        points = {move: first_tier(value) for move, value in packed.items()}
        best = max(points.values())
        shares = [math.exp((value - best) / TEMPERATURE) for value in points.values()]
        return self._random.choices(list(points), shares)[0]


class TreeOwn(Tree):
    """Searches for its own points; some moves are random."""

    name = "treeown"
    theirs, samples, depth = 0, 400, 5

    def choose(self, position: InsertionPosition) -> int:
        move = super().choose(position)
        return self._random.randint(1, MOVES) if self._random.random() < 0.1 else move


class ForTheLead(Half):
    """Values the others' points as much as its own, 4 plies ahead."""

    def choose(self, position: InsertionPosition) -> int:
        packed = self.move_values(position, LEAD)
        return self.any_best({move: first_tier(value) for move, value in packed.items()})


class Turning(Flat):
    """Samples first, and searches for the lead later."""

    name = "turning"

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self._later = ForTheLead(seed)

    def warm_up(self) -> None:
        super().warm_up()
        self._later.warm_up()

    def choose(self, position: InsertionPosition) -> int:
        return super().choose(position) if len(position.moves) < EARLY else self._later.choose(position)


class Sleeper(Cooperative):
    """Becomes a zombie in the middle of a game."""

    name = "sleeper"

    def choose(self, position: InsertionPosition) -> int:
        return super().choose(position) if len(position.moves) < LATE else ZOMBIE_MOVE


class Waking(Half):
    """Is a zombie at first."""

    name = "waking"

    def choose(self, position: InsertionPosition) -> int:
        return ZOMBIE_MOVE if len(position.moves) < EARLY else super().choose(position)


OTHERS: tuple[type[Rival], ...] = (Copier, Book, Guard, Soft, TreeOwn, Turning, Sleeper, Waking)
