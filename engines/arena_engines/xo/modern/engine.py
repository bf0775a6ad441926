"""The player `xo`: what the referee shows becomes a position, a limit becomes a search, a cell a move.

It must not know: how moves are searched for, the wire.
"""

from __future__ import annotations

from concurrent.futures import Future, wait
from functools import cached_property
from typing import ClassVar

from arena_engines.engine import Engine, Parameter, Position
from arena_engines.xo.cells import Sides, cell_names, sides_of
from arena_engines.xo.foretold import minds
from arena_engines.xo.foretold.adviser import Adviser, Whistle
from arena_engines.xo.foretold.foresight import Advice, Foresight
from arena_engines.xo.foretold.watched import Story
from arena_engines.xo.modern.player import MAX_DEPTH, Limits, Thinker, Thought, run
from arena_engines.xo.modern.timing import budget
from arena_protocol.games.mnk import Marks, Xo

#: Milliseconds a move where nobody keeps a clock.
UNCLOCKED = 1000
#: With less time than this for a move, in seconds, nothing is foretold.
LEAST_PLANNED = 0.1


class ModernXo(Engine):
    """The strongest player of XO; it uses its clock, at most `time` ms a move.

    By the clock it also plans against opponents whose moves can be foretold, unless `foresight` is 0.

    With `nodes` or `depth` it looks at no clock: the same position is always answered by the same move.
    """

    game: ClassVar[str] = "xo"
    name: ClassVar[str] = "xo"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("time", None, 1, 3_600_000),
        Parameter("nodes", None, 1, 10**12),
        Parameter("depth", None, 1, MAX_DEPTH),
        Parameter("foresight", None, 0, 1),
    )

    def warm_up(self) -> None:
        """Compile or load the kernels."""
        run()
        minds.warm_up()

    @cached_property
    def _thinkers(self) -> dict[int, Thinker]:
        """One thinker a board size, made when it is needed."""
        return {}

    @cached_property
    def _advisers(self) -> dict[int, Adviser]:
        """Who foretells the opponents' moves, a board size."""
        return {}

    def choose(self, position: Position[Xo, Marks]) -> str:
        """Return the name of the cell to mark; where all is lost there is time for advice."""
        size = position.rules.size
        sides = sides_of(size, position.state)
        if size not in self._thinkers:
            self._thinkers[size] = Thinker(size)
        limits = self._limits(position, size * size - len(sides.x) - len(sides.o))
        whistle = Whistle(self._thinkers[size].stop)
        advising = self._advising(size, sides, position.moves, limits, whistle)
        try:
            thought = self._think(size, sides, limits._replace(over=whistle.blown))
            if advising and thought.lost:
                wait([advising], limits.seconds)
        finally:
            whistle.blow()
        advice = advising.result() if advising and advising.done() else None
        return cell_names(size)[chosen(thought, advice)]

    def _advising(
        self, size: int, sides: Sides, moves: tuple[str, ...], limits: Limits, whistle: Whistle
    ) -> Future[Advice | None] | None:
        """The advice that is looked for beside the search; None without a clock to plan by."""
        seconds = limits.seconds
        if seconds is None or seconds < LEAST_PLANNED or self.values["foresight"] == 0:
            return None
        if size not in self._advisers:
            self._advisers[size] = Adviser(Foresight(size))
        names = cell_names(size)
        story = story_of(sides, [names.index(move) for move in moves])
        return self._advisers[size].ask(story, seconds, whistle)

    def _think(self, size: int, sides: Sides, limits: Limits) -> Thought:
        """What a search comes to."""
        thinker = self._thinkers[size]
        thinker.set_up(sides.x, sides.o)
        if self.values["nodes"] or self.values["depth"]:
            thinker.forget()
        return thinker.think(sides.to_move, limits)

    def _limits(self, position: Position[Xo, Marks], empty: int) -> Limits:
        nodes, depth, most = (self._number(name) for name in ("nodes", "depth", "time"))
        if nodes or depth:
            return Limits(nodes=nodes, depth=depth)
        if position.clock is None:
            return Limits(seconds=(most or UNCLOCKED) / 1000)
        enough, millis = budget(position.clock, position.bank, position.increment, empty)
        return Limits(seconds=min(millis, most or millis) / 1000, enough=enough / 1000)

    def _number(self, name: str) -> int | None:
        value = self.values[name]
        return None if value is None else int(value)


def chosen(thought: Thought, advice: Advice | None) -> int:
    """The cell to mark: a win that is seen goes before advice, and what is not safe is for the lost."""
    if advice is None or thought.won or not (advice.safe or thought.lost):
        return thought.cell
    return advice.cell


def story_of(sides: Sides, moves: list[int]) -> Story:
    """The game that these moves led to the marks of both sides in."""
    made = set(moves)
    return Story(
        [cell for cell in sides.x if cell not in made], [cell for cell in sides.o if cell not in made], moves
    )
