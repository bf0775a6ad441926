"""A position of any game as arrays: the cells of its scene as planes, and its moves as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arena_protocol.errors import needs_extra
from arena_protocol.games.base import Game, GameError
from arena_protocol.games.scene import CHOSEN, EMPTY, Scene

try:
    import numpy as np
except ImportError as error:
    raise GameError(needs_extra("a position as arrays", "learning")) from error

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The number of a sign that no style explains, in `cells` and `coming`: such a piece is a letter.
LETTER = 255


class PositionEncoder:
    """The arrays of the positions of one game, whose shapes follow from its options.

    `actions` are the moves by their numbers: the shorter first, else by the alphabet. `signs` are the pieces:
    number n of an array is `signs[n - 1]`, 0 is none. `shape` is rows and columns of the board; a
    board that is no grid is one row of its cells. `ahead` is how many pieces to come are in sight at most.

    Raises GameError for a game whose scene has no cells or names no moves.
    """

    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        scene = game.scene(game.seen(game.start(game.deal(0))))
        layout = scene.layout
        moves = {cell.move for cell in layout.cells} | {label.move for label in layout.labels}
        self.actions = tuple(sorted(moves - {""}, key=lambda move: (len(move), move)))
        if not layout.cells or not self.actions:
            raise GameError(f"{game.name} has no board of cells whose moves are known, and so no arrays")
        self._numbers = {move: number for number, move in enumerate(self.actions)}
        self.signs = "".join(sign for sign, _ in layout.styles if sign != EMPTY)
        self.ahead = len(scene.coming)
        self.shape = (int(layout.height), int(layout.width)) if layout.is_grid else (1, len(layout.cells))
        self._table: NDArray[np.uint8] = np.full(128, LETTER, np.uint8)
        self._table[ord(EMPTY)] = 0
        for number, sign in enumerate(self.signs, start=1):
            self._table[ord(sign)] = number
        #: Signs, letters, chosen cells, bar, seat, points, pieces to come.
        self.depth = len(self.signs) + 4 + game.seats + self.ahead

    def number(self, move: str) -> int:
        """The number of a move. Raises GameError for a move that the game does not have."""
        try:
            return self._numbers[move]
        except KeyError:
            raise GameError(f"{self.game.name} has no move {move!r}") from None

    def scene(self, position: Any) -> Scene:
        """What is drawn of a position, without what is hidden."""
        return self.game.scene(self.game.seen(position))

    def cells(self, scene: Scene) -> NDArray[np.uint8]:
        """The number of the sign in each cell, of `shape`."""
        return self._numbered(scene.pieces).reshape(self.shape)

    def coming(self, scene: Scene) -> NDArray[np.uint8]:
        """The numbers of the `ahead` next pieces, 0 where none is known."""
        return self._numbered(self._ahead(scene))

    def _numbered(self, signs: str) -> NDArray[np.uint8]:
        return self._table[np.frombuffer(signs.encode("ascii"), np.uint8)]

    def mask(self, position: Any) -> NDArray[np.int8]:
        """1 for each action that is legal, else 0."""
        legal: NDArray[np.int8] = np.zeros(len(self.actions), np.int8)
        legal[[self._numbers[move] for move in self.game.legal_moves(position)]] = 1
        return legal

    def observation(self, position: Any, seat: int) -> NDArray[np.int32]:
        """The planes [plane, row, column] as `seat` sees them; docs/rules-in-python.md has their order."""
        planes: NDArray[np.int32] = self.observations([position], [seat])[0]
        return planes

    def observations(self, positions: Sequence[Any], seats: Sequence[int]) -> NDArray[np.int32]:
        """The planes [position, plane, row, column], each position as the seat beside it sees it."""
        scenes, signs = [self.scene(position) for position in positions], len(self.signs)
        pieces = np.frombuffer("".join(scene.pieces for scene in scenes).encode("ascii"), np.uint8)
        pieces = pieces.reshape(len(scenes), -1)
        cells = self._table[pieces]
        flat: NDArray[np.int32] = np.zeros((len(scenes), self.depth, pieces.shape[1]), np.int32)
        flat[:, :signs] = cells[:, None] == np.arange(1, signs + 1)[:, None]
        if (letters := cells == LETTER).any():
            flat[:, signs][letters] = pieces[letters]
        numbers = []
        for planes, scene, position, seat in zip(flat, scenes, positions, seats, strict=True):
            for style, places in scene.marks:
                if style == CHOSEN:
                    planes[signs + 1, list(places)] = 1
            totals = self.game.totals(position)
            bar = scene.bar[0] if scene.bar else 0
            numbers.append((bar, seat, *totals[seat - 1 :], *totals[: seat - 1]))
        ahead = self.depth - self.ahead
        flat[:, signs + 2 : ahead] = np.array(numbers, np.int32)[:, :, None]
        if self.ahead:
            flat[:, ahead:] = self._numbered("".join(map(self._ahead, scenes))).reshape(-1, self.ahead, 1)
        return flat.reshape(len(scenes), self.depth, *self.shape)

    def _ahead(self, scene: Scene) -> str:
        return scene.coming[: self.ahead].ljust(self.ahead, EMPTY)


def lead(totals: tuple[int, ...], seat: int) -> float:
    """The points of a seat, less the mean of the others'."""
    own = totals[seat - 1]
    return own - (sum(totals) - own) / (len(totals) - 1)
