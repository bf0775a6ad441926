"""Follow one game: its plans for the kernels, the position now, and what the moves seen tell of the opponent.

It must not know: how a move is chosen, clocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arena_engines.engine import EngineError
from arena_engines.insertion.fixed_depth import InsertionPosition, task_of
from arena_engines.insertion.master.minds import Mind, Minds
from arena_engines.insertion.master.workspace import (
    CELL,
    GUARD,
    LEAD,
    LEAD_MIND,
    OWN,
    OWN_MIND,
    PLAN,
    POINTS,
    POINTS_MIND,
    SPOILING,
    SPOILING_MIND,
    Weights,
    Workspace,
    shortcut,
)
from arena_engines.insertion.zombies import zombies
from arena_protocol.games.insertion.rules import play
from arena_protocol.games.insertion.text import Planes, parse_board

#: Plans begin anew when a ply's number within them would pass this; so far ahead pictures are used.
LAST_PLY = 200
HORIZON = 40

#: What cells are worth in play: a cell is worth what it pays less what leaving it would have paid later,
#: so the others' cells and those pushed off count against me (measured: docs/engines.md).
GUARD_WEIGHTS = Weights(CELL, -5 * CELL // 4, -CELL // 2)
PLAN_WEIGHTS = Weights(CELL, -CELL // 2, -CELL // 5)
#: Beside a zombie all that is left on the board will be mine.
ALONE_WEIGHTS = Weights(CELL, -2 * CELL, -2 * CELL)


class Follower:
    """The game as the workspace knows it. After `follow` the attributes are those of the ply to be played.

    planes: the board; ply: its number within the plans; known: pictures in sight; lookahead: how many
    pictures each seat sees; alone: all others are zombies; minds: the models, scored by all moves seen
    (two seats only).
    """

    def __init__(self, works: Sequence[Workspace], sixes: int) -> None:
        """Share these workspaces: all get the same plans, and the first scores the minds.

        `sixes`: so many 6 in a row make a zombie; 0: nobody is ever taken for one.
        """
        self.minds = Minds()
        self._works = works
        self._sixes = sixes
        self._start = ""
        self._moves: tuple[str, ...] = ()
        self._restart("", (0, 0, 0))

    def _restart(self, start: str, planes: Planes) -> None:
        """Begin a game on this board."""
        self.minds.restart()
        self.planes = planes
        self.alone = False
        self.known = 0
        self._zombies: frozenset[int] = frozenset()
        self._start, self._moves = start, ()
        self.lookahead = 0
        self._rebase(0)

    def _rebase(self, gone: int) -> None:
        """Let the plans begin with the ply after `gone` plies; nothing is written yet."""
        self._forget()
        self._origin = self._written = gone

    def follow(self, position: InsertionPosition, enough: Callable[[], bool]) -> None:
        """Take in a position; the minds are scored until `enough` says so.

        Raises EngineError for texts that are no position.
        """
        now = task_of(position, 1).planes
        known = len(self._moves)
        if position.start != self._start or position.moves[:known] != self._moves or not position.start:
            self._restart(position.start, parse_board(position.start) if position.start else now)
        self.lookahead = position.rules.lookahead
        self._catch_up(position, enough)
        if self.planes != now:
            raise EngineError(f"board {position.state.board} is not what the moves of this game lead to")
        self._note_zombies(position)
        if position.state.played - self._origin > LAST_PLY:
            self._rebase(position.state.played)
        self.ply = position.state.played - self._origin
        if self._imagined:
            self._forget()
        self._extend(position)
        self.known = min(len(position.state.visible), HORIZON)

    def _catch_up(self, position: InsertionPosition, enough: Callable[[], bool]) -> None:
        """Play the moves made since, and score the minds by the others'."""
        pictures = position.state.sequence
        for gone in range(len(self._moves), len(position.moves)):
            if gone - self._origin > LAST_PLY:
                self._rebase(gone)
            move, seat = int(position.moves[gone]), gone % position.rules.seats + 1
            after = play(*self.planes, move, int(pictures[gone]))[:3]
            if seat != position.seat and position.rules.seats == 2 and not enough():
                self._write(position, pictures[: gone + self.lookahead])
                self._score(position, gone, after, enough)
            self.planes = after
        self._moves = position.moves

    def _score(
        self, position: InsertionPosition, gone: int, after: Planes, enough: Callable[[], bool]
    ) -> None:
        """Ask the minds about a move that led to the board `after`."""
        picture = int((position.state.sequence)[gone])
        sight = min(self.lookahead, position.rules.plies - gone, self._written - gone)

        def foretold(mind: Mind) -> bool:
            depth = min(mind.depth, sight)
            at = gone - self._origin
            move = self._works[0].decide(self.planes, mind.view, at, shortcut(depth), mind.order)
            return play(*self.planes, move, picture)[:3] == after

        self.minds.saw(foretold, enough)

    def _note_zombies(self, position: InsertionPosition) -> None:
        found = zombies(position.moves, position.rules.seats, position.seat, self._sixes)
        if found != self._zombies:
            self._zombies = found
            self._rebase(position.state.played)
        self.alone = len(found) == position.rules.seats - 1

    def _extend(self, position: InsertionPosition) -> None:
        pictures = position.state.sequence
        self._write(position, pictures[: position.state.played + HORIZON])

    def _write(self, position: InsertionPosition, pictures: str) -> None:
        """Write what is new of these pictures of the whole game into all views."""
        if len(pictures) > self._written:
            self._views(position, self._written, pictures[self._written :], self._works)
            self._written = len(pictures)

    def imagine(self, position: InsertionPosition, pictures: str, work: Workspace) -> None:
        """Write pictures behind those in sight into one workspace; the next ones replace them.

        What was found before is void, and so are the moves of chance: also without any picture.
        """
        self._imagined = True
        work.forget()
        if pictures:
            self._views(position, self._written, pictures, (work,))

    def _forget(self) -> None:
        self._imagined = False
        for work in self._works:
            work.forget()

    def _views(
        self, position: InsertionPosition, gone: int, pictures: str, works: Sequence[Workspace]
    ) -> None:
        """Write the plies after `gone` plies of the game into all views."""
        mine, forced = self._roles(position, gone, len(pictures) + 1)
        theirs = [1 - side for side in mine]
        ply = gone - self._origin
        plan = ALONE_WEIGHTS if len(self._zombies) == position.rules.seats - 1 else PLAN_WEIGHTS
        for work in works:
            work.write(GUARD, ply, pictures, mine, GUARD_WEIGHTS, forced)
            work.write(PLAN, ply, pictures, mine, plan, forced)
            work.write(OWN_MIND, ply, pictures, theirs, OWN, forced)
            work.write(SPOILING_MIND, ply, pictures, theirs, SPOILING, forced)
            work.write(POINTS_MIND, ply, pictures, theirs, POINTS, forced)
            work.write(LEAD_MIND, ply, pictures, theirs, LEAD, forced)

    def _roles(
        self, position: InsertionPosition, gone: int, plies: int
    ) -> tuple[Sequence[int], Sequence[int]]:
        """Return, for each ply, whether it is mine, and whether it is a zombie's."""
        seats = [ply % position.rules.seats + 1 for ply in range(gone, gone + plies)]
        return [int(seat == position.seat) for seat in seats], [int(seat in self._zombies) for seat in seats]
