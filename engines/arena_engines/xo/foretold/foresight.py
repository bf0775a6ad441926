"""The move of a plan, if the opponent of a game is known and a plan against it is found.

It must not know: alpha-beta, how long a move may take, the game's texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from arena_engines.xo.foretold.experience import Experience
from arena_engines.xo.foretold.minds import Mind, minds_of, reserve_of
from arena_engines.xo.foretold.panel import Panel
from arena_engines.xo.foretold.planner import Planner, Step
from arena_engines.xo.foretold.watched import Story, Watched
from arena_engines.xo.modern.player import Thinker

#: An opponent is known when so many of its moves were foretold.
KNOWN = 2
#: Until so many were, a move that the opponent, if it were another, could punish by threats is not safe.
TRUSTED = 4
#: The effort to see whether it could.
PUNISHMENT_NODES = 20_000
#: These parts of the time for a move may be gone when a mind is asked whether it is the opponent, and while
#: a plan is made; where there is no plan the minds are asked on.
ASKING, PLANNING = 0.45, 0.9
#: A plan is good if this part of those who may be the opponent would go along with it.
AGREED = 0.75
#: Where this part of the board is marked, a smaller part will do: who has not won by then hardly will.
LATE, AGREED_LATE = 0.35, 0.5
#: So many plans against one mind are put to the vote before one is made against another.
PLANS = 6
#: Games that are watched at a time.
GAMES = 4


class Advice(NamedTuple):
    """A cell to mark by plan; if it is not safe, only where all else is lost."""

    cell: int
    safe: bool


class Plan(NamedTuple):
    """Steps, and the part of those who may be the opponent that would go along with them."""

    steps: tuple[Step, ...]
    share: float


class Foresight:
    """Plans against opponents of games on boards of size x size, who may be one of these minds."""

    def __init__(self, size: int, minds: Sequence[Mind] = ()) -> None:
        self._thinker = Thinker(size)
        self._experience = Experience(minds) if minds else Experience(minds_of(size), reserve_of(size))
        self._games: list[Watched] = []

    def advice(self, story: Story, in_time: Callable[[float], bool]) -> Advice | None:
        """The move of a plan, or None if the opponent is unknown or no good plan is found in time.

        `in_time` tells whether less than a part of the time for this move is gone.
        """
        game = self._game(story)
        all_asked = game.suspects.watch(story.moves, partial(in_time, ASKING))
        plan = Plan((), 0.0)
        if all_asked and self._is_known(game):
            plan = Plan(game.rest(story.moves), 1.0)
            if not plan.steps:
                plan = self._plan(game, story, partial(in_time, PLANNING))
        if plan.steps:
            return self._advise(game, story, plan)
        game.suspects.watch(story.moves, partial(in_time, PLANNING))
        return None

    def _is_known(self, game: Watched) -> bool:
        """Whether the likeliest mind has foretold enough to be planned against."""
        likeliest = game.suspects.likeliest
        return likeliest is not None and likeliest.hits >= KNOWN

    def _advise(self, game: Watched, story: Story, plan: Plan) -> Advice:
        """The first move of a plan."""
        cell = plan.steps[0].cell
        likeliest = game.suspects.likeliest
        trusted = likeliest is not None and likeliest.hits >= TRUSTED
        good = plan.share >= self._enough(story)
        return Advice(cell, good and (trusted or not self._is_punished(story, cell)))

    def _enough(self, story: Story) -> float:
        """Which part of those who may be the opponent must go along with a plan."""
        marks = len(story.x) + len(story.o) + len(story.moves)
        return AGREED_LATE if marks >= LATE * self._thinker.size**2 else AGREED

    def _game(self, story: Story) -> Watched:
        """The watched game that this is, else a new one; what the one before has taught is kept in mind."""
        game = next((game for game in self._games if game.is_of(story)), None)
        if game is None:
            if self._games:
                self._experience.learn(self._games[0].suspects.left)
            game = Watched(self._experience, story)
            self._games = [game, *self._games[: GAMES - 1]]
        return game

    def _plan(self, game: Watched, story: Story, in_time: Callable[[], bool]) -> Plan:
        """The first good plan, which is kept; if there is no time for one, the best that was found."""
        best = Plan((), 0.0)
        for plan in self._plans(game, story, in_time):
            best = max(best, plan, key=lambda each: each.share)
            if best.share >= self._enough(story):
                game.keep(best.steps, len(story.moves))
                break
        return best

    def _plans(self, game: Watched, story: Story, in_time: Callable[[], bool]) -> Iterator[Plan]:
        """Plans that were put to the vote, against the likeliest first."""
        guide = game.suspects.likeliest
        panel = Panel(game.suspects.left, story, in_time)
        while guide is not None and in_time():
            planner, other = Planner(self._thinker, guide.mind, story.side, in_time), None
            for steps in islice(planner.plans(*story.marks()), PLANS):
                vote = panel.vote(steps, guide, self._enough(story))
                yield Plan(steps, vote.share)
                planner.refuse(steps[: vote.heard])
                other = vote.against
            guide = other

    def _is_punished(self, story: Story, cell: int) -> bool:
        """Whether the opponent would have a win by threats after this move."""
        marks, foe = story.marks(), 1 - story.side
        marks[story.side].append(cell)
        thinker = self._thinker
        thinker.set_up(*marks)
        return bool(
            thinker.win_by_fours(foe, nodes=PUNISHMENT_NODES)
            or thinker.win_by_threats(foe, nodes=PUNISHMENT_NODES)
        )
