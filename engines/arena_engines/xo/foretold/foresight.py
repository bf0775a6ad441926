"""The move of a plan, if the opponent of a game is known and a plan against it is found.

It must not know: alpha-beta, how long a move may take, the game's texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from arena_engines.xo.foretold.minds import Mind, minds_of
from arena_engines.xo.foretold.planner import Planner, Step
from arena_engines.xo.foretold.suspects import Suspects
from arena_engines.xo.modern.player import Thinker

#: An opponent is known when so many of its moves were foretold.
KNOWN = 2
#: Until so many were, a move that the opponent, if it were another, could punish by threats is not safe.
TRUSTED = 4
#: The effort to see whether it could.
PUNISHMENT_NODES = 20_000
#: Where a win is on the board, no plan is needed: the effort to see it.
PLAIN_NODES = 5000
#: These parts of the time for a move may be gone when a mind is asked whether it is the opponent, and while
#: a plan is made.
ASKING, PLANNING = 0.25, 0.5
#: Games that are watched at a time.
GAMES = 4


class Advice(NamedTuple):
    """A cell to mark by plan; if it is not safe, only where all else is lost."""

    cell: int
    safe: bool


class Story(NamedTuple):
    """A game up to now, X and O each as the cells marked at its start; `moves` are the cells since."""

    x: Sequence[int]
    o: Sequence[int]
    moves: Sequence[int]

    def marks(self) -> tuple[list[int], list[int]]:
        """The marks of both sides now."""
        marks = (list(self.x), list(self.o))
        for cell in self.moves:
            marks[len(marks[0]) - len(marks[1])].append(cell)
        return marks


class Watched:
    """One game, who the opponent may be, and what is planned."""

    def __init__(self, minds: Sequence[Mind], story: Story, side: int) -> None:
        self.suspects = Suspects(minds, story.x, story.o, 1 - side)
        self.start = (side, list(story.x), list(story.o))
        self._plan: tuple[Step, ...] = ()
        self._planned = 0

    def keep(self, plan: tuple[Step, ...], moves: int) -> None:
        """Keep a plan for when so many moves are made."""
        self._plan = plan
        self._planned = moves

    def rest(self, moves: Sequence[int]) -> tuple[Step, ...]:
        """The rest of the plan if all moves since were those of it."""
        made = list(moves[self._planned :])
        planned = [cell for step in self._plan for cell in step]
        return self._plan[len(made) // 2 :] if made == planned[: len(made)] else ()

    def is_of(self, story: Story, side: int) -> bool:
        """Whether this is the game that the story tells."""
        return self.start == (side, list(story.x), list(story.o)) and self.suspects.follows(story.moves)


class Foresight:
    """Plans against opponents of games on one size of board."""

    def __init__(self, thinker: Thinker) -> None:
        self._thinker = thinker
        self._minds = minds_of(thinker.size)
        self._games: list[Watched] = []

    def advice(self, story: Story, in_time: Callable[[float], bool]) -> Advice | None:
        """The move of a plan, or None if the opponent is unknown or no plan is found in time.

        `in_time` tells whether less than a part of the time for this move is gone.
        """
        marks = story.marks()
        side = len(marks[0]) - len(marks[1])
        game = self._game(story, side)
        all_asked = game.suspects.watch(story.moves, partial(in_time, ASKING))
        suspect = game.suspects.likeliest
        if not all_asked or suspect is None or suspect.hits < KNOWN or self._is_plain(marks, side):
            return None
        steps = game.rest(story.moves)
        if not steps:
            steps = Planner(self._thinker, suspect.mind, side, partial(in_time, PLANNING)).plan(*marks)
            game.keep(steps, len(story.moves))
        if not steps:
            return None
        cell = steps[0].cell
        return Advice(cell, suspect.hits >= TRUSTED or not self._is_punished(marks, side, cell))

    def _game(self, story: Story, side: int) -> Watched:
        """The watched game that this is, else a new one."""
        game = next((game for game in self._games if game.is_of(story, side)), None)
        if game is None:
            game = Watched(self._minds, story, side)
            self._games = [game, *self._games[: GAMES - 1]]
        return game

    def _is_plain(self, marks: tuple[list[int], list[int]], side: int) -> bool:
        """Whether a win is on the board already."""
        self._thinker.set_up(*marks)
        return self._wins(side, PLAIN_NODES)

    def _is_punished(self, marks: tuple[list[int], list[int]], side: int, cell: int) -> bool:
        """Whether the opponent would have a win by threats after this move."""
        marks[side].append(cell)
        self._thinker.set_up(*marks)
        return self._wins(1 - side, PUNISHMENT_NODES)

    def _wins(self, side: int, nodes: int) -> bool:
        """Whether this side, to move, is seen to win by fours or by threats."""
        thinker = self._thinker
        return bool(thinker.win_by_fours(side, nodes=nodes) or thinker.win_by_threats(side, nodes=nodes))
