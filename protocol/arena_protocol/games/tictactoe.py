"""Tic-tac-toe on 3 x 3 or 4 x 4: a whole line of one's own marks wins.

It must not know: engines, clocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from arena_protocol.games.base import Deal
from arena_protocol.games.marks import Marks, MarksGame, format_marks
from arena_protocol.games.options import whole_number


@dataclass(frozen=True)
class TicTacToe(MarksGame):
    """Tic-tac-toe of one size; `win` marks in a line win, the whole side if it is not given."""

    name: ClassVar[str] = "tictactoe"
    zombie_move: ClassVar[str | None] = None
    OPTIONS: ClassVar[frozenset[str]] = frozenset({"seats", "size", "win"})

    size: int = 3
    win: int = 3

    @classmethod
    def from_options(cls, options: Mapping[str, object]) -> TicTacToe:
        """Build from the options of GAME or of a configuration. Raises GameError, naming the option."""
        whole_number(cls.name, options, "seats", 2, 2, 2)
        size = whole_number(cls.name, options, "size", cls.size, 3, 4)
        return cls(size, whole_number(cls.name, options, "win", size, 3, size))

    def options(self) -> dict[str, str]:
        """The size and the length of a winning line."""
        return {"size": str(self.size), "win": str(self.win)}

    def deal(self, seed: int) -> Deal:
        """The empty board, whatever the seed."""
        return Deal(format_marks(Marks(0, 0), self.size))
