"""Last coin loses: in turn each takes one or two coins, and whoever takes the last has lost.

It must not know: engines, clocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from arena_protocol.games.base import Deal, DecidedGame, GameError, Step, whole_number

MAX_COINS = 1000
TAKES = ("1", "2")


@dataclass(frozen=True, slots=True)
class Heap:
    """The coins left and the seat to move."""

    coins: int
    seat: int


@dataclass(frozen=True)
class LastCoin(DecidedGame[Heap]):
    """Last coin loses, with its first heap fixed; a move is the number of coins taken."""

    name: ClassVar[str] = "lastcoin"
    #: One coin can be taken from any heap.
    zombie_move: ClassVar[str | None] = "1"
    OPTIONS: ClassVar[frozenset[str]] = frozenset({"seats", "coins"})

    coins: int = 7

    @classmethod
    def from_options(cls, options: Mapping[str, object]) -> LastCoin:
        """Build from the options of GAME or of a configuration. Raises GameError, naming the option."""
        whole_number(cls.name, options, "seats", 2, 2, 2)
        return cls(whole_number(cls.name, options, "coins", cls.coins, 1, MAX_COINS))

    def options(self) -> dict[str, str]:
        """The coins of the start."""
        return {"coins": str(self.coins)}

    def brief(self) -> str:
        """What COINS/SEAT and a move are."""
        return "A position is COINS/SEAT. A move takes 1 or 2 coins; whoever takes the last one loses."

    def deal(self, seed: int) -> Deal:
        """All coins, seat 1 to move, whatever the seed."""
        return Deal(self.state_text(Heap(self.coins, 1)))

    def start(self, deal: Deal) -> Heap:
        """The position of STATE. Raises GameError if the text is none."""
        coins, _, seat = deal.board.partition("/")
        if coins.isascii() and coins.isdigit() and len(coins) < 5 and seat in ("1", "2"):
            return Heap(int(coins), int(seat))
        raise GameError(f"a position of lastcoin is COINS/SEAT, such as 7/1, not {deal.board!r}")

    def state_text(self, position: Heap) -> str:
        """`COINS/SEAT`."""
        return f"{position.coins}/{position.seat}"

    def to_move(self, position: Heap) -> int:
        """The seats take in turn."""
        return position.seat

    def winner(self, position: Heap) -> int | None:
        """The seat to move when no coin is left: the other one has taken the last."""
        return position.seat if position.coins == 0 else None

    def legal_moves(self, position: Heap) -> tuple[str, ...]:
        """One coin, or two if there are two."""
        return TAKES[: position.coins]

    def play(self, position: Heap, move: str) -> Step[Heap]:
        """Take coins; the points of the last one go to the other seat. Raises GameError if not legal."""
        if not position.coins:
            raise GameError("the game is over: no coin is left")
        if move not in self.legal_moves(position):
            raise GameError(f"a move of lastcoin is to take 1 or 2 of {position.coins} coins, not {move!r}")
        return Step(Heap(position.coins - int(move), 3 - position.seat), 0)
