"""The move of a plan, if the opponent of a game is known and a plan against it is found.

It must not know: alpha-beta, how long a move may take, the game's texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from arena_engines.xo.foretold.experience import Experience
from arena_engines.xo.foretold.minds import Memory, Mind, minds_of, reserve_of
from arena_engines.xo.foretold.panel import Panel
from arena_engines.xo.foretold.planner import Planner
from arena_engines.xo.foretold.repertoire import Repertoire
from arena_engines.xo.foretold.suspects import OPENING_MARKS, Suspect
from arena_engines.xo.foretold.watched import Step, Story, Watched
from arena_engines.xo.modern.player import Thinker

#: An opponent is known when so many of its moves were foretold, or if nobody else is to be expected.
KNOWN = 2
#: Until so many were, a move that the opponent, if it were another, could punish by threats is not safe.
TRUSTED = 4
#: The effort to see whether it could.
PUNISHMENT_NODES = 20_000
#: The effort to see that a game is won.
WON_NODES = 1000
#: These parts of the time for a move may be gone when a mind is asked whether it is the opponent, and while
#: a plan is made; where there is no plan the minds are asked on.
ASKING, PLANNING = 0.45, 0.9
#: While the likeliest is less likely than this, plans are hardly ever agreed on, and asking may take longer.
DOUBTFUL, ASKING_LONG = 0.3, 0.75
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
        self._experience = Experience(minds) if minds else experience_of(size)
        self._repertoire = Repertoire()
        self._games: list[Watched] = []

    def advice(self, story: Story, in_time: Callable[[float], bool]) -> Advice | None:
        """The move of a plan, or None if the opponent is unknown or no good plan is found in time.

        `in_time` tells whether less than a part of the time for this move is gone.
        """
        game = self._game(story)
        all_asked = game.suspects.watch(story.moves, partial(in_time, ASKING))
        if game.suspects.certainty < DOUBTFUL:
            all_asked = game.suspects.watch(story.moves, partial(in_time, ASKING_LONG))
        self._learn(game, story)
        plan = self._kept(game, story)
        if not plan.steps and all_asked and self._is_known(game):
            plan = self._plan(game, story, partial(in_time, PLANNING))
        if plan.steps:
            return self._advise(game, story, plan)
        game.suspects.watch(story.moves, partial(in_time, PLANNING))
        return None

    def _learn(self, game: Watched, story: Story) -> None:
        """Keep how the game was won, where it is won."""
        if self._wins(story.marks(), story.side, WON_NODES):
            known = self._certain(game)
            self._repertoire.learn(known.mind if known else None, story)

    def _certain(self, game: Watched) -> Suspect | None:
        """Who the opponent is, if that is hardly in doubt."""
        return game.suspects.likeliest if game.suspects.certainty >= AGREED else None

    def _is_known(self, game: Watched) -> bool:
        """Whether the likeliest mind has foretold enough, now or before, to be planned against."""
        likeliest = game.suspects.likeliest
        return likeliest is not None and (likeliest.hits >= KNOWN or self._certain(game) is not None)

    def _kept(self, game: Watched, story: Story) -> Plan:
        """The rest of this game's plan, or the step by which another game was won."""
        rest, known = game.rest(story.moves), self._certain(game)
        step = None if rest else self._repertoire.step(known.mind if known else None, story)
        return Plan((step,) if step else rest, 1.0)

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
        """Plans that were put to the vote, against the likeliest first; on the empty board none."""
        if sum(map(len, story.marks())) + 1 < OPENING_MARKS:
            return
        guide, enough = game.suspects.likeliest, self._enough(story)
        panel = Panel(game.suspects.left, story, in_time)
        while guide is not None and in_time():
            hint = partial(self._repertoire.mirrored, guide.mind, size=self._thinker.size)
            planner, other = Planner(self._thinker, guide.mind, story.side, in_time, hint), None
            for steps in islice(planner.plans(*story.marks()), PLANS):
                vote = panel.vote(steps, guide, enough)
                yield Plan(steps, vote.share)
                planner.refuse(steps[: vote.heard])
                other = vote.against
            guide = other

    def _is_punished(self, story: Story, cell: int) -> bool:
        """Whether the opponent would have a win by threats after this move."""
        marks = story.marks()
        marks[story.side].append(cell)
        return self._wins(marks, 1 - story.side, PUNISHMENT_NODES)

    def _wins(self, marks: Sequence[Sequence[int]], side: int, nodes: int) -> bool:
        """Whether `side`, to move, is seen to win by threats with so much effort."""
        thinker = self._thinker
        thinker.set_up(*marks)
        return bool(thinker.win_by_fours(side, nodes=nodes) or thinker.win_by_threats(side, nodes=nodes))


def experience_of(size: int) -> Experience:
    """All minds for a board of size x size, who share one memory."""
    memory = Memory()
    return Experience(minds_of(size, memory), reserve_of(size, memory))
