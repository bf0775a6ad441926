"""The player `xo1970`: the program of Barnev, Tomov, Dobrev, Ivanov and Kulekov, as their paper prints it.

Which of its parts moves is decided here; the parts are in scale, estimates, procedure and
minimax. It looks at no clock (the program of 1970 had none).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arena_engines.engine import EngineError, Parameter
from arena_engines.table import Table, TableEngine
from arena_engines.xo.cells import Sides, cell_names, sides_of
from arena_engines.xo.estimates import Estimates, estimates_of
from arena_engines.xo.minimax import NODE_LIMIT, THRESHOLDS, Analysis1970, double_threat, winning_cell
from arena_engines.xo.procedure import general_procedure, opening_move
from arena_engines.xo.scale import MOST, NOTHING
from arena_protocol.games.xo import Xo

MAX_LEVELS = 12


@dataclass(frozen=True, slots=True)
class Thresholds(Parameter):
    """The level thresholds in the paper's units, joined by `/`: `3.5/3.5/3.5/3.5/4/4/5`."""

    @property
    def expected(self) -> str:
        """What values are right, as a person reads it."""
        return f"2 to {MAX_LEVELS} rising numbers of 0.5, 1, ... 5 joined by '/', the last one 5"

    def parse(self, text: str) -> str:
        """Return the text unchanged. Raises EngineError naming what is expected."""
        halves = thresholds_of(text)
        if not 2 <= len(halves) <= MAX_LEVELS or halves != sorted(halves) or halves[-1] != MOST:
            raise EngineError(f"{self.name}={text}: expected {self.expected}")
        return text


def thresholds_of(text: str) -> list[int]:
    """Return the thresholds in halves; an empty list if the text is none."""
    halves = {f"{half / 2:g}": half for half in range(NOTHING, MOST + 1)}
    parts = text.split("/")
    return [halves[part] for part in parts] if set(parts) <= set(halves) else []


class Xo1970(TableEngine):
    """The XO program of 1970; `nodes` ends an analysis that thresholds of one's own let grow too large."""

    game = "xo"
    name = "xo1970"
    parameters = (
        Thresholds("thresholds", "/".join(f"{half / 2:g}" for half in THRESHOLDS)),
        Parameter("nodes", NODE_LIMIT, 1, 10**9),
    )

    def __init__(self, values: Mapping[str, int | str | None] | None = None) -> None:
        super().__init__(values)
        self._thresholds = thresholds_of(str(self.values["thresholds"]))
        self._limit = int(self.values["nodes"] or NODE_LIMIT)
        self._openings = 0

    def choose(self, table: Table) -> str:
        """Return the program's move; of games it opens, each begins on another central cell."""
        assert isinstance(table.rules, Xo), "the registry gives this engine XO only"
        size = table.rules.size
        return cell_names(size)[self._cell(size, sides_of(size, table.position))]

    def _cell(self, size: int, sides: Sides) -> int:
        marked = [*sides.x, *sides.o]
        if len(marked) > 1:
            return self.move_on(estimates_of(size, *sides), sides.to_move)
        self._openings += not marked
        return opening_move(size, marked[0] if marked else None, self._openings - 1)

    def move_on(self, board: Estimates, side: int) -> int:
        """Return the cell for `side` on a board with at least two marks."""
        win = winning_cell(board, side)
        if win is not None:
            return win
        if not double_threat(board, 1 - side):
            found = Analysis1970(side, self._thresholds, self._limit).best_move(board)
            if found is not None:
                return found[0]
        return general_procedure(board, side).cell
