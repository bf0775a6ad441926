"""XO, five in a row on a board of 10 x 10 to 14 x 14, as the paper of 1970 has it.

Five or more neighbouring marks win; a full board is a draw. It must not know: engines, clocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from arena_protocol.games.base import Deal
from arena_protocol.games.draws import draw_bytes, draw_some
from arena_protocol.games.marks import Marks, MarksGame, board_of, format_marks
from arena_protocol.games.options import whole_number

SIZES = range(10, 15)
WIN = 5
#: Fewer marks than two fives need, so no opening is a game that is over.
MAX_OPENING = 8
#: The openings are drawn from the middle square of this side, so that the marks matter.
OPENING_SIDE = 6


@dataclass(frozen=True)
class Xo(MarksGame):
    """XO with its size fixed. `opening` marks, X and O in turn, stand on the board from the start.

    The paper's game has none; a contest of programs that never vary has some, and swaps seats.
    """

    name: ClassVar[str] = "xo"
    zombie_move: ClassVar[str | None] = None
    OPTIONS: ClassVar[frozenset[str]] = frozenset({"seats", "size", "win", "opening"})

    size: int = SIZES[0]
    opening: int = 0
    win: int = field(default=WIN, init=False)

    @classmethod
    def from_options(cls, options: Mapping[str, object]) -> Xo:
        """Build from the options of GAME or of a configuration. Raises GameError, naming the option."""
        whole_number(cls.name, options, "seats", 2, 2, 2)
        whole_number(cls.name, options, "win", WIN, WIN, WIN)
        return cls(
            size=whole_number(cls.name, options, "size", cls.size, SIZES[0], SIZES[-1]),
            opening=whole_number(cls.name, options, "opening", cls.opening, 0, MAX_OPENING),
        )

    def options(self) -> dict[str, str]:
        """The size and the winning length, and the opening where there is one."""
        printed = {"size": str(self.size), "win": str(self.win)}
        return printed | {"opening": str(self.opening)} if self.opening else printed

    def deal(self, seed: int) -> Deal:
        """The empty board, or one with the opening that the seed draws; X has the first, third, ... cell."""
        drawn = draw_some(draw_bytes(self.name, seed), self._middle(), self.opening)
        return Deal(format_marks(Marks(sum(drawn[::2]), sum(drawn[1::2])), self.size))

    def _middle(self) -> list[int]:
        cells = list(board_of(self.size).cells.values())
        low = (self.size - OPENING_SIDE) // 2
        middle = range(low, low + OPENING_SIDE)
        return [cells[self.size * row + column] for row in middle for column in middle]
