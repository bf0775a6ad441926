"""Many games of insertion as arrays: `Batch(10_000).step(moves)` plays a ply in each, by the compiled rules.

The kernels compile the functions of `arena_protocol.games.insertion.rules`, which the referee runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from arena_engines.jit import compiled
from arena_protocol.errors import needs_extra
from arena_protocol.games.base import Deal, GameError
from arena_protocol.games.insertion import Insertion, Position, format_board, parse_board
from arena_protocol.games.insertion.board import SIDE
from arena_protocol.games.insertion.rules import MOVES, POINTS_A_CELL, distinct_moves, drop, play, runs

try:
    import numpy as np
except ImportError as error:
    raise GameError(needs_extra("arena.insertion", "engines")) from error

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

#: The most games of a batch: 2 GB with the default options.
MOST_GAMES = 10_000_000
MOST_COLOURS = 7


class Batch:
    """Games of insertion that are played in step: each has played as many plies as the others.

    `games` is a number, of deals that `seed` draws, or the deals themselves; `options` are those of the game.
    A drawn deal has the distribution of `Insertion.deal`, and not its bytes: numpy's generator draws it, two
    hundred times as fast.

    Raises:
        GameError: for an impossible option, number or deal.
        EngineError: numba is not installed.

    """

    def __init__(self, games: int | Iterable[Deal], *, seed: int = 0, **options: object) -> None:
        if unknown := sorted(options.keys() - Insertion.OPTIONS):
            raise GameError(
                f"insertion has no option {unknown[0]!r}; it has: {', '.join(sorted(Insertion.OPTIONS))}"
            )
        self.game = Insertion.from_options(options)
        self._kernels = _kernels()
        if isinstance(games, int):
            self._draw(games, np.random.default_rng(seed))
        else:
            self._take(list(games))
        self.played = 0
        self.totals: NDArray[np.int64] = np.zeros((len(self), self.game.seats), np.int64)
        #: The points of all games in one column before they are added to those of the seat.
        self._points: NDArray[np.int64] = np.zeros(len(self), np.int64)

    def _draw(self, games: int, draws: np.random.Generator) -> None:
        _check_number(games)
        game = self.game
        self.planes: NDArray[np.int64] = np.zeros((3, games), np.int64)
        shape = (game.plies, games)
        self._sequences: NDArray[np.int8] = draws.integers(1, game.colours + 1, shape, np.int8)
        if game.board is not None:
            boards = np.array([parse_board(text) for text in game.board.split("|")], np.int64)
            self.planes[:] = boards[draws.integers(0, len(boards), games)].T
            return
        for column in range(SIDE):
            heights = {"full": SIDE, "empty": 0}.get(game.start_kind)
            high = draws.integers(0, SIDE + 1, games) if heights is None else np.full(games, heights)
            for level in range(SIDE):
                self._stack(column, high > level, draws)

    def _stack(self, column: int, wanted: NDArray[np.bool_], draws: np.random.Generator) -> None:
        """Drop a picture that makes no run on a column of each game that is wanted."""
        while count := int(np.count_nonzero(wanted)):
            pictures: NDArray[np.int8] = np.zeros(len(wanted), np.int8)
            pictures[wanted] = draws.integers(1, self.game.colours + 1, count, np.int8)
            self._kernels[1](*self.planes, column, pictures)
            wanted = pictures > 0

    def _take(self, deals: list[Deal]) -> None:
        _check_number(len(deals))
        starts = [self.game.start(deal) for deal in deals]
        if any(len(start.sequence) != self.game.plies for start in starts):
            raise GameError(f"a deal of a batch has all of its {self.game.plies} pictures")
        self.planes = np.array([start.planes for start in starts], np.int64).T.copy()
        pictures = "".join(start.sequence for start in starts).encode("ascii")
        table = np.frombuffer(pictures, np.int8).reshape(len(deals), self.game.plies) - ord("0")
        self._sequences = table.T.astype(np.int8, order="C")

    def __len__(self) -> int:
        return int(self.planes.shape[1])

    @property
    def seat(self) -> int:
        """The seat to move in all games."""
        return self.played % self.game.seats + 1

    @property
    def over(self) -> bool:
        """Whether the last ply has been played."""
        return self.played >= self.game.plies

    def step(self, moves: ArrayLike) -> NDArray[np.int64]:
        """Play a move, 1 to 15, in each game; return the points of the mover, one number a game.

        Raises GameError, and plays nothing, for another shape, type or number, and when the games are over.
        """
        if self.over:
            raise GameError(f"the games are over: all {self.game.plies} plies are played")
        chosen: NDArray[Any] = np.asarray(moves)
        if chosen.shape != (len(self),) or chosen.dtype.kind not in "iu":
            raise GameError(
                f"moves are {len(self)} whole numbers, not {chosen.dtype} of the shape {chosen.shape}"
            )
        if int(chosen.min()) < 1 or int(chosen.max()) > MOVES:
            wrong = chosen[(chosen < 1) | (chosen > MOVES)][0]
            raise GameError(f"a move of insertion is a number from 1 to {MOVES}, not {wrong}")
        numbers = np.ascontiguousarray(chosen, np.int8)
        self._kernels[0](*self.planes, numbers, self._sequences[self.played], self._points)
        points = self._points.copy()
        self.totals[:, self.seat - 1] += points
        self.played += 1
        return points

    def boards(self) -> NDArray[np.uint8]:
        """The pictures on the boards, [game, row from the top, column from the left]; 0 is an empty cell."""
        bits = np.arange(SIDE * SIDE).reshape(SIDE, SIDE).T[::-1]
        cells = sum((self.planes[k][:, None, None] >> bits & 1) << k for k in range(3))
        return np.asarray(cells, np.uint8)

    def coming(self, most: int | None = None) -> NDArray[np.uint8]:
        """The pictures in sight, [game, place], the next one first: `lookahead`, or `most` if fewer."""
        shown = self.game.lookahead if most is None else min(most, self.game.lookahead)
        return self._sequences[self.played : self.played + shown].T.astype(np.uint8)

    def distinct_moves(self) -> NDArray[np.bool_]:
        """Which moves are not equal to one with a lower number, [game, move - 1]; all moves are legal."""
        found: NDArray[np.int64] = np.zeros(len(self), np.int64)
        self._kernels[2](*self.planes, found)
        return (found[:, None] >> np.arange(1, MOVES + 1) & 1).astype(np.bool_)

    def position(self, number: int) -> Position:
        """The position of one game, from 0 on, as a value of the rules: the referee's, with all pictures."""
        planes = tuple(int(plane[number]) for plane in self.planes)
        sequence = "".join(map(str, self._sequences[:, number]))
        totals = tuple(map(int, self.totals[number]))
        return Position((planes[0], planes[1], planes[2]), sequence, self.played, totals)

    def deal(self, number: int) -> Deal:
        """Board and sequence of one game; before the first ply they are its deal."""
        position = self.position(number)
        return Deal(format_board(position.planes), position.sequence)


def afterstates(
    planes: NDArray[np.int64], pictures: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every move on every board: the planes [3, board, move - 1] after it, and its points [board, move - 1].

    `planes` are [3, board], as of `Batch.planes`; `pictures` has the colour to insert, one a board or one for
    all. Raises GameError for another shape.
    """
    boards = np.ascontiguousarray(planes, np.int64)
    if boards.ndim != 2 or len(boards) != 3:
        raise GameError(f"planes have the shape (3, boards), not {boards.shape}")
    count = boards.shape[1]
    given: NDArray[Any] = np.asarray(pictures)
    if not given.size:
        given = np.zeros(given.shape, np.int8)  # an empty list has the type of a float
    if given.shape not in ((), (count,)) or given.dtype.kind not in "iu":
        raise GameError(
            f"pictures are {count} whole numbers or one, not {given.dtype} of the shape {given.shape}"
        )
    if count and (int(given.min()) < 1 or int(given.max()) > MOST_COLOURS):
        raise GameError(f"a picture is a colour from 1 to {MOST_COLOURS}")
    colours: NDArray[np.int8] = np.full(count, given, np.int8)
    after: NDArray[np.int64] = np.empty((3, count * MOVES), np.int64)
    points: NDArray[np.int64] = np.empty(count * MOVES, np.int64)
    _kernels()[3](*boards, colours, *after, points)
    return after.reshape(3, count, MOVES), points.reshape(count, MOVES)


def _check_number(games: int) -> None:
    if not 1 <= games <= MOST_GAMES:
        raise GameError(f"a batch has 1 to {MOST_GAMES} games, not {games}")


_PLANES = "int64[::1], int64[::1], int64[::1]"


@cache
def _kernels() -> tuple[Any, Any, Any, Any]:
    return (
        compiled(play_all, f"void({_PLANES}, int8[::1], int8[::1], int64[::1])"),
        compiled(stack_all, f"void({_PLANES}, int64, int8[::1])"),
        compiled(distinct_all, f"void({_PLANES}, int64[::1])"),
        compiled(try_all, f"void({_PLANES}, int8[::1], {_PLANES}, int64[::1])"),
    )


def play_all(p0: Any, p1: Any, p2: Any, moves: Any, pictures: Any, points: Any) -> None:
    """Play one ply in every game."""
    for game in range(len(p0)):
        # `& 15` makes an int64 of an int8, as the rules have it.
        p0[game], p1[game], p2[game], removed, _, _ = play(
            p0[game], p1[game], p2[game], moves[game] & 15, pictures[game] & 7
        )
        points[game] = POINTS_A_CELL * removed


def stack_all(p0: Any, p1: Any, p2: Any, column: int, pictures: Any) -> None:
    """Drop the picture of each game, 0 for none, unless it makes a run; the dropped ones become 0."""
    for game in range(len(p0)):
        if pictures[game]:
            a, b, c, _ = drop(p0[game], p1[game], p2[game], column, pictures[game] & 7)
            if runs(a, b, c) == 0:
                p0[game], p1[game], p2[game] = a, b, c
                pictures[game] = 0


def distinct_all(p0: Any, p1: Any, p2: Any, found: Any) -> None:
    """Write the distinct moves of each game as bits."""
    for game in range(len(p0)):
        found[game] = distinct_moves(p0[game], p1[game], p2[game])


def try_all(p0: Any, p1: Any, p2: Any, pictures: Any, a0: Any, a1: Any, a2: Any, points: Any) -> None:
    """Write what each of the moves makes of each board, and its points."""
    for board in range(len(p0)):
        for move in range(1, MOVES + 1):
            at = board * MOVES + move - 1
            a0[at], a1[at], a2[at], removed, _, _ = play(
                p0[board], p1[board], p2[board], move, pictures[board] & 7
            )
            points[at] = POINTS_A_CELL * removed
