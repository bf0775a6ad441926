"""Last coin loses: the seats take one or two coins in turn; the seat that takes the last one loses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from arena_protocol.games.base import Deal, DecidedGame, GameError, Step, whole_number
from arena_protocol.games.scene import BUTTON, BUTTON_WIDTH, EMPTY, BoardLayout, Cell, Label, Scene

MAX_COINS = 1000
TAKES = ("1", "2")
#: As many coins are drawn, this many in a row.
SHOWN, COLUMNS = 200, 10


@dataclass(frozen=True, slots=True)
class Heap:
    """The coins left and the seat to move."""

    coins: int
    seat: int


@cache
def coins_layout(coins: int) -> BoardLayout:
    """Rows of coins from the upper left, and a button for each move below."""
    rows = -(-coins // COLUMNS)
    wide = len(TAKES) * (BUTTON_WIDTH + 0.4) - 0.4
    return BoardLayout(
        max(min(coins, COLUMNS), wide),
        rows,
        tuple(Cell(coin % COLUMNS, coin // COLUMNS) for coin in range(coins)),
        tuple(
            Label((BUTTON_WIDTH + 0.4) * at, rows + 0.2, f"take {take}", take, BUTTON)
            for at, take in enumerate(TAKES)
        ),
        (("o", "coin"), (EMPTY, "coin-gone")),
        "bare",
    )


@dataclass(frozen=True)
class LastCoin(DecidedGame[Heap]):
    """Last coin loses with `coins` coins at the start; a move is the number of coins taken."""

    name: ClassVar[str] = "lastcoin"
    title: ClassVar[str] = "Last coin loses"
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
        return {"coins": str(self.coins)}

    def brief(self) -> str:
        return "A move takes 1 or 2 coins; the seat that takes the last one loses."

    def scene(self, position: Heap) -> Scene:
        """The coins that are left, and the places of those that were taken."""
        left = min(position.coins, SHOWN)
        gone = min(self.coins, SHOWN) - left
        words = f"{position.coins} of {self.coins} coins are left; the last one loses."
        return Scene(coins_layout(min(self.coins, SHOWN)), "o" * left + EMPTY * gone, words=words)

    def deal(self, seed: int) -> Deal:
        """All coins, seat 1 to move, for every seed."""
        return Deal(self.state_text(Heap(self.coins, 1)))

    def start(self, deal: Deal) -> Heap:
        """Parse STATE. Raises GameError for a bad text."""
        coins, _, seat = deal.board.partition("/")
        if coins.isascii() and coins.isdigit() and len(coins) < 5 and seat in ("1", "2"):
            return Heap(int(coins), int(seat))
        raise GameError(f"a position of lastcoin is COINS/SEAT, such as 7/1, not {deal.board!r}")

    def state_text(self, position: Heap) -> str:
        """`COINS/SEAT`."""
        return f"{position.coins}/{position.seat}"

    def to_move(self, position: Heap) -> int:
        return position.seat

    def winner(self, position: Heap) -> int | None:
        """The seat to move when no coin is left: the other one took the last."""
        return position.seat if position.coins == 0 else None

    def legal_moves(self, position: Heap) -> tuple[str, ...]:
        return TAKES[: position.coins]

    def play(self, position: Heap, move: str) -> Step[Heap]:
        """Take coins. The mover never gets points: the last coin wins for the other seat.

        Raises GameError if the move is not legal.
        """
        if not position.coins:
            raise GameError("the game is over: no coin is left")
        if move not in self.legal_moves(position):
            raise GameError(f"a move of lastcoin is to take 1 or 2 of {position.coins} coins, not {move!r}")
        return Step(Heap(position.coins - int(move), 3 - position.seat), 0)
