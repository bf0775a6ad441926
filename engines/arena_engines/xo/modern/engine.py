"""The player `xo`: what the referee shows becomes a position, a limit becomes a search, a cell a move.

It must not know: how moves are searched for, the wire.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from arena_engines.engine import Parameter
from arena_engines.table import Table, TableEngine
from arena_engines.xo.cells import Sides, cell_names, sides_of
from arena_engines.xo.modern.player import MAX_DEPTH, Limits, Thinker, Thought, run
from arena_engines.xo.modern.timing import budget
from arena_protocol.games.xo import Xo

#: Milliseconds a move where nobody keeps a clock.
UNCLOCKED = 1000


class ModernXo(TableEngine):
    """The strongest player of XO; it uses its clock, at most `time` ms a move.

    With `nodes` or `depth` it looks at no clock: the same position is always answered by the same move.
    """

    game: ClassVar[str] = "xo"
    name: ClassVar[str] = "xo"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("time", None, 1, 3_600_000),
        Parameter("nodes", None, 1, 10**12),
        Parameter("depth", None, 1, MAX_DEPTH),
    )

    def warm_up(self) -> None:
        """Compile or load the kernels."""
        run()

    @cached_property
    def _thinkers(self) -> dict[int, Thinker]:
        """One thinker a board size, made when it is needed."""
        return {}

    def choose(self, table: Table) -> str:
        """Return the name of the cell to mark."""
        assert isinstance(table.rules, Xo), "the registry gives this engine XO only"
        size = table.rules.size
        sides = sides_of(size, table.position)
        if size not in self._thinkers:
            self._thinkers[size] = Thinker(size)
        limits = self._limits(table, size * size - len(sides.x) - len(sides.o))
        return cell_names(size)[self._think(size, sides, limits).cell]

    def _think(self, size: int, sides: Sides, limits: Limits) -> Thought:
        """What a search comes to."""
        thinker = self._thinkers[size]
        thinker.set_up(sides.x, sides.o)
        if self.values["nodes"] or self.values["depth"]:
            thinker.forget()
        return thinker.think(sides.to_move, limits)

    def _limits(self, table: Table, empty: int) -> Limits:
        nodes, depth, most = (self._number(name) for name in ("nodes", "depth", "time"))
        if nodes or depth:
            return Limits(nodes=nodes, depth=depth)
        if table.clock is None:
            return Limits(seconds=(most or UNCLOCKED) / 1000)
        enough, millis = budget(table.clock, table.bank, table.increment, empty)
        return Limits(seconds=min(millis, most or millis) / 1000, enough=enough / 1000)

    def _number(self, name: str) -> int | None:
        value = self.values[name]
        return None if value is None else int(value)
