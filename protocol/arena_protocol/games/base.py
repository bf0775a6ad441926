"""The interface of a game, and what games share: won-or-drawn games, option parsing, seeded draws.

Referee, clients and tools use a game only through `Game`. Positions are immutable values;
randomness comes in as the seed of `deal`.

Draws that are the same in every language and version: block i (i = 0, 1, ...) is the SHA-256
digest of the ASCII text `LABEL:SEED:i`, SEED in decimal; the blocks are read byte by byte. A
number below n is b % n for the next byte b < 256 - 256 % n; larger bytes are skipped, so that
every number has the same probability.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, count
from typing import ClassVar, Generic, NamedTuple, Self, TypeVar

from arena_protocol.errors import UserError
from arena_protocol.games.scene import Scene, rows_scene

P = TypeVar("P")


class GameError(UserError, ValueError):
    """An option, a position text or a move that the game refuses; the text is one line."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Deal:
    """The start of a game, fixed before the first ply.

    `board` is the text of STATE; `sequence` is the hidden pictures in order, empty for a game
    without hidden information. The referee commits to both before the game.
    """

    board: str
    sequence: str = ""


class Step(NamedTuple, Generic[P]):
    """The effect of one ply: the position after it and the points of the mover."""

    position: P
    points: int


class Game(ABC, Generic[P]):
    """One game with its options fixed; positions of type P are immutable values.

    Seats count from 1. Moves are text in the game's own notation. A subclass is registered in
    `arena_protocol.games.GAMES` and passes the laws of `arena_protocol.testing`.
    """

    name: ClassVar[str]
    #: Counts the rules: a change by which the same moves may score otherwise is another epoch. Games of two
    #: epochs are not compared: no record is played again, and no rating fitted, over both.
    EPOCH: ClassVar[int] = 1
    #: What people call the game; empty: its name.
    title: ClassVar[str] = ""
    #: The move that the server plays for a zombie; None if such a seat forfeits.
    zombie_move: ClassVar[str | None]
    seats: int

    def brief(self) -> str:
        """One line about STATE, moves and aim, for a player at the terminal; empty by default."""
        return ""

    def scene(self, position: P) -> Scene:
        """What is drawn of a position; by default the rows of its text, without names and moves.

        The layout is the same in every position of a game. A client's position and the referee's
        have the same scene: nothing that is hidden may be in it.
        """
        return rows_scene(self.state_text(position))

    @classmethod
    @abstractmethod
    def from_options(cls, options: Mapping[str, object]) -> Self:
        """Build from the options of GAME (text) or of a configuration (numbers, text).

        Raises GameError for an impossible value. Unknown keys are ignored; compare with
        `OPTIONS` to refuse them.
        """

    #: The option names that `from_options` understands.
    OPTIONS: ClassVar[frozenset[str]]

    @abstractmethod
    def options(self) -> dict[str, str]:
        """The game's own options as GAME prints them, without `seats`.

        `from_options({**options(), "seats": seats})` gives an equal game.
        """

    @abstractmethod
    def deal(self, seed: int) -> Deal:
        """The start for this seed, the same in every version."""

    @abstractmethod
    def start(self, deal: Deal) -> P:
        """The position before the first ply. A client passes the visible part of the sequence.

        Raises GameError if the texts are not of this game.
        """

    @abstractmethod
    def state_text(self, position: P) -> str:
        """The position as STATE prints it."""

    def preview(self, deal: Deal) -> str | None:
        """The text of NEXT; None for a game without hidden information."""
        return None

    def reveal(self, deal: Deal, ply: int) -> str | None:
        """The part of the sequence that becomes visible after `ply` (1, 2, ...), or None."""
        return None

    def extend(self, position: P, revealed: str) -> P:
        """The same position with `revealed` added to the visible part of the sequence."""
        return position

    def seen(self, position: P) -> P:
        """The position of the referee without what is hidden: the one that `extend` gives a client.

        All that shows positions of a running game asks it. A game with hidden information writes it.
        """
        return position

    @abstractmethod
    def to_move(self, position: P) -> int:
        """The seat to move (1..seats)."""

    @abstractmethod
    def legal_moves(self, position: P) -> tuple[str, ...]:
        """All legal moves in the game's natural order; none when the game is over."""

    def is_legal(self, position: P, move: str) -> bool:
        return move in self.legal_moves(position)

    @abstractmethod
    def play(self, position: P, move: str) -> Step[P]:
        """Play a move. Raises GameError if it is not legal."""

    def advance(self, position: P, move: str) -> tuple[P, int, tuple[int, ...], int]:
        """Play a move: position and points of `play`, the `totals` then, and who is to move; 0 at the end.

        The referee asks it alone. A game may write it in one frame; `arena_protocol.testing` compares.
        """
        position, points = self.play(position, move)
        seat = self.to_move(position) if self.end(position) is None else 0
        return position, points, self.totals(position), seat

    def waves(self, position: P, move: str) -> int:
        """How many effects of a legal move follow from each other; 0 unless the game has such chains.

        A game that has them writes it: pages and highlights name the moves with the longest ones.
        """
        return 0

    @abstractmethod
    def totals(self, position: P) -> tuple[int, ...]:
        """The points of each seat so far, in the order of the seats."""

    @abstractmethod
    def end(self, position: P) -> str | None:
        """How the game ended (`complete`, `win`, `draw`), or None while it runs."""

    def forfeit(self, position: P, seat: int) -> tuple[int, ...]:
        """The totals if `seat` forfeits; used by games without a zombie move."""
        return tuple(int(other != seat) for other in range(1, self.seats + 1))


#: A win is two points and a draw one each, so that totals stay whole numbers.
WIN_POINTS = 2
DRAW_POINTS = 1

DRAW = 0


class DecidedGame(Game[P]):
    """A game for two seats that ends with a win or a draw and has no points before its end."""

    seats = 2

    @abstractmethod
    def winner(self, position: P) -> int | None:
        """The seat that has won (1 or 2), DRAW, or None while the game runs."""

    def totals(self, position: P) -> tuple[int, ...]:
        """2,0 or 0,2 for a win, 1,1 for a draw, 0,0 before the end."""
        winner = self.winner(position)
        if winner is None:
            return (0, 0)
        if winner == DRAW:
            return (DRAW_POINTS, DRAW_POINTS)
        return (WIN_POINTS, 0) if winner == 1 else (0, WIN_POINTS)

    def end(self, position: P) -> str | None:
        """`win` or `draw`, or None while the game runs."""
        winner = self.winner(position)
        if winner is None:
            return None
        return "draw" if winner == DRAW else "win"

    def forfeit(self, position: P, seat: int) -> tuple[int, ...]:
        """The other seat wins."""
        return (0, WIN_POINTS) if seat == 1 else (WIN_POINTS, 0)


def whole_number(
    game: str, options: Mapping[str, object], key: str, default: int, low: int, high: int
) -> int:
    """Return option `key` as a number from `low` to `high`, `default` if it is absent.

    Raises GameError, which names the game, the option and the value.
    """
    value = options.get(key, default)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= len(str(high)):
        value = int(value)
    if type(value) is not int or not low <= value <= high:  # a bool is not a number here
        expected = str(low) if low == high else f"a whole number from {low} to {high}"
        raise GameError(f"{game}: {key} is {expected}, not {value!r}")
    return value


#: A board of several is drawn by one byte.
MAX_BOARDS = 256


def given_boards(game: str, options: Mapping[str, object]) -> tuple[str, ...]:
    """Return the start boards of option `board`, joined by `|`; empty if it is absent.

    Raises GameError for a value that is not text, and for more than MAX_BOARDS boards.
    """
    given = options.get("board")
    if given is None:
        return ()
    if not isinstance(given, str) or given.count("|") >= MAX_BOARDS:
        found = f"{given.count('|') + 1} boards" if isinstance(given, str) else repr(given)
        raise GameError(f"{game}: board is 1 to {MAX_BOARDS} boards joined by '|', not {found}")
    return tuple(given.split("|"))


def drawn_board(game: str, boards: Sequence[str], seed: int) -> str:
    """Return the board that a seed draws."""
    return boards[draw_below(draw_bytes(f"{game}-board", seed), len(boards))]


T = TypeVar("T")


def draw_bytes(label: str, seed: int) -> Iterator[int]:
    """The infinite byte stream of one seed; `label` is the game's name."""
    blocks = (sha256(f"{label}:{seed}:{block}".encode("ascii")).digest() for block in count())
    return chain.from_iterable(blocks)


def draw_below(draws: Iterator[int], n: int) -> int:
    """Draw a number from 0 to n - 1; n is at most 256."""
    limit = 256 - 256 % n
    return next(byte for byte in draws if byte < limit) % n


def draw_some(draws: Iterator[int], items: Sequence[T], count: int) -> list[T]:
    """Draw `count` different items, in the order drawn."""
    left = list(items)
    return [left.pop(draw_below(draws, len(left))) for _ in range(count)]
