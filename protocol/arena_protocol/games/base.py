"""What a game is to everybody else: a small interface that every game plugs into.

Referee, clients and tools see a game only through this file. It must not know any
particular game, nor seats' names, clocks, sockets or randomness: a seed comes in as a number.

What the games for two that end by a win or a draw have in common: totals, ends, forfeits.

A game says who has won, this file says what that is worth. It must not know: boards, moves,
any particular game.

Reading the options of a small game: numbers that come as text (GAME) or as numbers (configuration).

It must not know: any particular game, what an option means.

Random draws that are the same in every language and version: what a seed fixes.

Block i (i = 0, 1, ...) is the SHA-256 digest of the ASCII text `LABEL:SEED:i`, SEED in decimal;
the blocks are read byte by byte. A number below n takes the next byte b < 256 - 256 % n and is
b % n; bytes beyond that are skipped, so that every number is equally likely.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, count
from typing import ClassVar, Generic, NamedTuple, Self, TypeVar

P = TypeVar("P")


class GameError(ValueError):
    """Options, a position text or a move that this game refuses; the text is one clear line."""


@dataclass(frozen=True, slots=True)
class Deal:
    """What is fixed before the first ply: the start position, and what the game keeps hidden.

    `board` is the text of STATE; `sequence` the hidden pictures in order (empty for a game
    that hides nothing). The referee commits to both before the game and reveals them after.
    """

    board: str
    sequence: str = ""


@dataclass(frozen=True, slots=True)
class Rim:
    """What stands around a board that STATE draws: a word a column, and a word a row from the top down."""

    top: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    bottom: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class Step(NamedTuple, Generic[P]):
    """The effect of one ply: the position after it and the points it gave the mover."""

    position: P
    points: int


class Game(ABC, Generic[P]):
    """One game with its options fixed; positions of type P are immutable values.

    Seats count from 1. Moves are text in the game's own notation. A subclass is registered
    in `arena_protocol.games.GAMES` and must pass the common kit of laws in the tests.
    """

    name: ClassVar[str]
    #: The move the server plays for a misbehaving seat; None: such a seat forfeits.
    zombie_move: ClassVar[str | None]
    seats: int

    def brief(self) -> str:
        """The game in one line for a person at the terminal: STATE, a move, the aim; nothing by default."""
        return ""

    def rim(self) -> Rim:
        """The names of columns, rows or moves to be drawn around the board; none by default."""
        return Rim()

    @classmethod
    @abstractmethod
    def from_options(cls, options: Mapping[str, object]) -> Self:
        """Build from the options of GAME (text) or of a configuration (numbers, text).

        Raises GameError for an impossible value. Unknown keys are ignored here; use
        `OPTIONS` to refuse them where a typing mistake is likelier than a newer version.
        """

    #: The option names that `from_options` understands.
    OPTIONS: ClassVar[frozenset[str]]

    @abstractmethod
    def options(self) -> dict[str, str]:
        """The game's own options as GAME prints them, without `seats`, which GAME prints for every game.

        `from_options({**options(), "seats": seats})` gives an equal game.
        """

    @abstractmethod
    def deal(self, seed: int) -> Deal:
        """The start that this seed fixes; the same seed gives the same deal everywhere."""

    @abstractmethod
    def start(self, deal: Deal) -> P:
        """The position before the first ply. A client passes the part of the sequence it sees.

        Raises GameError if the texts are not of this game.
        """

    @abstractmethod
    def state_text(self, position: P) -> str:
        """The position as STATE prints it."""

    def preview(self, deal: Deal) -> str | None:
        """What NEXT shows of the hidden sequence at the start; None: nothing is hidden."""
        return None

    def reveal(self, deal: Deal, ply: int) -> str | None:
        """What comes into sight once `ply` (1, 2, ...) has been played; None: nothing."""
        return None

    def extend(self, position: P, revealed: str) -> P:
        """The same position seen by a client that has just learned `revealed`."""
        return position

    @abstractmethod
    def to_move(self, position: P) -> int:
        """The seat whose turn it is (1..seats)."""

    @abstractmethod
    def legal_moves(self, position: P) -> tuple[str, ...]:
        """Every legal move, in the game's natural order; empty when the game is over."""

    def is_legal(self, position: P, move: str) -> bool:
        """Whether `move` may be played here."""
        return move in self.legal_moves(position)

    @abstractmethod
    def play(self, position: P, move: str) -> Step[P]:
        """Play a legal move. Raises GameError for one that is not."""

    @abstractmethod
    def totals(self, position: P) -> tuple[int, ...]:
        """The points of each seat so far, in the order of the seats."""

    @abstractmethod
    def end(self, position: P) -> str | None:
        """Why the game is over (`complete`, `win`, `draw`), or None while it goes on."""

    def forfeit(self, position: P, seat: int) -> tuple[int, ...]:
        """The totals if `seat` forfeits here: only for games without a zombie move."""
        return tuple(int(other != seat) for other in range(1, self.seats + 1))


#: A won game is two points and a drawn one a point each, so that totals stay whole numbers.
WIN_POINTS = 2
DRAW_POINTS = 1

DRAW = 0


class DecidedGame(Game[P]):
    """A game for two seats with no points on the way: it is won, lost or drawn."""

    seats = 2

    @abstractmethod
    def winner(self, position: P) -> int | None:
        """The seat that has won (1 or 2), DRAW, or None while the game goes on."""

    def totals(self, position: P) -> tuple[int, ...]:
        """2,0 or 0,2 for a win, 1,1 for a draw, 0,0 before the end."""
        winner = self.winner(position)
        if winner is None:
            return (0, 0)
        if winner == DRAW:
            return (DRAW_POINTS, DRAW_POINTS)
        return (WIN_POINTS, 0) if winner == 1 else (0, WIN_POINTS)

    def end(self, position: P) -> str | None:
        """`win` or `draw`; None while the game goes on."""
        winner = self.winner(position)
        if winner is None:
            return None
        return "draw" if winner == DRAW else "win"

    def forfeit(self, position: P, seat: int) -> tuple[int, ...]:
        """A forfeit is a win of the other seat."""
        return (0, WIN_POINTS) if seat == 1 else (WIN_POINTS, 0)


def whole_number(
    game: str, options: Mapping[str, object], key: str, default: int, low: int, high: int
) -> int:
    """Return option `key` as a number from `low` to `high`, `default` if it is absent.

    Raises GameError, one line that names the game, the option and what came.
    """
    value = options.get(key, default)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= len(str(high)):
        value = int(value)
    if type(value) is not int or not low <= value <= high:  # a bool is no number here
        expected = str(low) if low == high else f"a whole number from {low} to {high}"
        raise GameError(f"{game}: {key} is {expected}, not {value!r}")
    return value


T = TypeVar("T")


def draw_bytes(label: str, seed: int) -> Iterator[int]:
    """The endless bytes of one seed; `label` is the game's name."""
    blocks = (sha256(f"{label}:{seed}:{block}".encode("ascii")).digest() for block in count())
    return chain.from_iterable(blocks)


def draw_below(draws: Iterator[int], n: int) -> int:
    """The next number from 0 to n - 1, n at most 256."""
    limit = 256 - 256 % n
    return next(byte for byte in draws if byte < limit) % n


def draw_some(draws: Iterator[int], items: Sequence[T], count: int) -> list[T]:
    """`count` different ones of `items`, in the order drawn."""
    left = list(items)
    return [left.pop(draw_below(draws, len(left))) for _ in range(count)]
