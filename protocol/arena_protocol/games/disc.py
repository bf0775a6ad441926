"""The disc game: a disc of six segments 1..6 is turned by one segment, its top is added to a sum.

Whoever reaches m wins. It must not know: engines, clocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from arena_protocol.games.base import WIN_POINTS, Deal, DecidedGame, GameError, Step, whole_number

SEGMENTS = 6
#: The longest game turns 1 and 2 up in turn, so it has about 2/3 m plies; far beyond any use.
MAX_M = 1000


@dataclass(frozen=True, slots=True)
class Turned:
    """The sum so far, the segment on top, and the seat to move."""

    total: int
    top: int
    seat: int

    @property
    def reachable(self) -> tuple[int, int]:
        """The segments that may come on top: the next one, then the one before."""
        return self.top % SEGMENTS + 1, (self.top - 2) % SEGMENTS + 1


@dataclass(frozen=True)
class Disc(DecidedGame[Turned]):
    """The disc game to `m`; a move is the segment that comes on top."""

    name: ClassVar[str] = "disc"
    zombie_move: ClassVar[str | None] = None
    OPTIONS: ClassVar[frozenset[str]] = frozenset({"seats", "m"})

    m: int = 13

    @classmethod
    def from_options(cls, options: Mapping[str, object]) -> Disc:
        """Build from the options of GAME or of a configuration. Raises GameError, naming the option."""
        whole_number(cls.name, options, "seats", 2, 2, 2)
        return cls(whole_number(cls.name, options, "m", cls.m, 1, MAX_M))

    def options(self) -> dict[str, str]:
        """The sum that wins."""
        return {"m": str(self.m)}

    def brief(self) -> str:
        """What SUM/TOP/SEAT and a move are."""
        return (
            "A position is SUM/TOP/SEAT. A move is the segment that comes on top, a neighbour of TOP, "
            f"and adds its number to SUM; whoever reaches {self.m} wins."
        )

    def deal(self, seed: int) -> Deal:
        """Sum 0, 1 on top, seat 1 to move, whatever the seed."""
        return Deal(self.state_text(Turned(0, 1, 1)))

    def start(self, deal: Deal) -> Turned:
        """The position of STATE. Raises GameError if the text is none."""
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
        """The seats turn the disc in turn."""
        return position.seat

    def winner(self, position: Turned) -> int | None:
        """Whoever made the sum reach m: the seat that moved last."""
        return 3 - position.seat if position.total >= self.m else None

    def legal_moves(self, position: Turned) -> tuple[str, ...]:
        """The two segments beside the top."""
        return () if position.total >= self.m else tuple(str(segment) for segment in position.reachable)

    def play(self, position: Turned, move: str) -> Step[Turned]:
        """Turn a segment up. Raises GameError if the game is over, or the segment is not beside the top."""
        legal = self.legal_moves(position)
        if not legal:
            raise GameError(f"the game is over: the sum has reached {self.m}")
        if move not in legal:
            raise GameError(f"a move of disc is {legal[0]} or {legal[1]} here, not {move!r}")
        after = Turned(position.total + int(move), int(move), 3 - position.seat)
        return Step(after, WIN_POINTS if after.total >= self.m else 0)
