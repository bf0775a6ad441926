"""The disc game: a disc with segments 1..6 is turned by one segment and its top added to a sum.

The seat that makes the sum reach m wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import cos, pi, sin
from typing import ClassVar

from arena_protocol.games.base import WIN_POINTS, Deal, DecidedGame, GameError, Step, whole_number
from arena_protocol.games.scene import CHOSEN, BoardLayout, Cell, Scene

SEGMENTS = 6
#: The longest game alternates 1 and 2 and has about 2/3 m plies.
MAX_M = 1000

#: The wheel is 6 cells wide; the cells stand in the middle of its sectors.
WHEEL = BoardLayout(
    SEGMENTS,
    SEGMENTS,
    tuple(
        Cell(
            round(2.5 + 2 * sin(2 * pi * place / SEGMENTS), 2),
            round(2.5 - 2 * cos(2 * pi * place / SEGMENTS), 2),
            str(place + 1),
        )
        for place in range(SEGMENTS)
    ),
    styles=(),
    form="wheel",
)


@dataclass(frozen=True, slots=True)
class Turned:
    """The sum so far, the segment on top, and the seat to move."""

    total: int
    top: int
    seat: int

    @property
    def reachable(self) -> tuple[int, int]:
        """The two neighbours of the top segment: the next one, then the previous one."""
        return self.top % SEGMENTS + 1, (self.top - 2) % SEGMENTS + 1


@dataclass(frozen=True)
class Disc(DecidedGame[Turned]):
    """The disc game with target `m`; a move is the new top segment."""

    name: ClassVar[str] = "disc"
    title: ClassVar[str] = "The disc game"
    zombie_move: ClassVar[str | None] = None
    OPTIONS: ClassVar[frozenset[str]] = frozenset({"seats", "m"})

    m: int = 13

    @classmethod
    def from_options(cls, options: Mapping[str, object]) -> Disc:
        """Build from the options of GAME or of a configuration. Raises GameError, naming the option."""
        whole_number(cls.name, options, "seats", 2, 2, 2)
        return cls(whole_number(cls.name, options, "m", cls.m, 1, MAX_M))

    def options(self) -> dict[str, str]:
        return {"m": str(self.m)}

    def brief(self) -> str:
        return (
            "A move is the new top segment, a neighbour of the one on top, and adds its number to the sum; "
            f"the seat that reaches {self.m} wins."
        )

    def scene(self, position: Turned) -> Scene:
        """The disc as it is turned, the sum in its middle, and how much of m that is."""
        words = f"Disc: {position.top} on top, sum {position.total}, {self.m} wins."
        top = position.top - 1
        marks = ((CHOSEN, (top,)),)
        bar = (position.total, self.m)
        return Scene(WHEEL, "123456", marks, str(position.total), bar, top, words=words)

    def deal(self, seed: int) -> Deal:
        """Sum 0, segment 1 on top, seat 1 to move, for every seed."""
        return Deal(self.state_text(Turned(0, 1, 1)))

    def start(self, deal: Deal) -> Turned:
        """Parse STATE. Raises GameError for a bad text."""
        parts = deal.board.split("/")
        if len(parts) == 3 and all(part.isascii() and part.isdigit() and len(part) < 5 for part in parts):
            position = Turned(*(int(part) for part in parts))
            if 1 <= position.top <= SEGMENTS and position.seat in (1, 2):
                return position
        raise GameError(f"a position of disc is SUM/TOP/SEAT, such as 0/1/1, not {deal.board!r}")

    def state_text(self, position: Turned) -> str:
        """`SUM/TOP/SEAT`."""
        return f"{position.total}/{position.top}/{position.seat}"

    def to_move(self, position: Turned) -> int:
        return position.seat

    def winner(self, position: Turned) -> int | None:
        """The seat that moved last, once the sum has reached m."""
        return 3 - position.seat if position.total >= self.m else None

    def legal_moves(self, position: Turned) -> tuple[str, ...]:
        """The two neighbours of the top segment."""
        return () if position.total >= self.m else tuple(str(segment) for segment in position.reachable)

    def play(self, position: Turned, move: str) -> Step[Turned]:
        """Turn the disc. Raises GameError if the game is over or the segment is not beside the top."""
        legal = self.legal_moves(position)
        if not legal:
            raise GameError(f"the game is over: the sum has reached {self.m}")
        if move not in legal:
            raise GameError(f"a move of disc is {legal[0]} or {legal[1]} here, not {move!r}")
        after = Turned(position.total + int(move), int(move), 3 - position.seat)
        return Step(after, WIN_POINTS if after.total >= self.m else 0)
