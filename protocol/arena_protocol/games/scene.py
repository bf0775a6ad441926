"""A position as shapes: what a terminal, a picture and a web page draw of any game.

    BoardLayout   cells, labels and the moves that a click on them plays: the same in every position
    Scene         the pieces on the cells, marks and texts of one position

Coordinates are in cells, x to the right and y down; a cell or label at (x, y) fills the square to
(x + 1, y + 1). A piece is one sign; `BoardLayout.styles` gives signs that are more than a letter their style:

    cross, ring       marks of seat 1 and seat 2
    tile-1 ... tile-7 pictures of insertion, a colour and a shape each
    disc-1 ... disc-4 a disc in the colour of a seat
    coin, coin-gone   a coin, and the place where one was

A scene says no more than the position: what a viewer may not see must not be in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

#: The sign of a cell without a piece.
EMPTY: Final = "."
#: Signs of games that give no styles of their own.
STYLES: Final = (("x", "cross"), ("o", "ring"))
#: Styles of labels that are arrows; the arrow of the last move shows it.
ARROWS: Final = frozenset({"up", "down", "left", "right"})
BUTTON: Final = "button"
#: The size of a button, in cells.
BUTTON_WIDTH: Final = 2.2
BUTTON_HEIGHT: Final = 0.72
#: Styles of marked cells: changed by the last move; part of a line that has won; the chosen one.
LAST, WON_LINE, CHOSEN = "last", "line", "chosen"
#: A text with fewer rows or cells than this is no board.
SMALLEST: Final = 3


class Cell(NamedTuple):
    """A place for one piece, and the move that a click on it plays."""

    x: float
    y: float
    move: str = ""


class Label(NamedTuple):
    """A text beside the cells; `style` is empty, one of ARROWS (a move goes in that way) or BUTTON."""

    x: float
    y: float
    text: str
    move: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class BoardLayout:
    """What is the same in every position of a game.

    `form` is `square` for cells with a frame around them, `bare` for pieces without a background, and
    `wheel` for cells that are the sectors of a circle, clockwise from the top; the circle fills
    `width` x `width`.
    """

    width: float
    height: float
    cells: tuple[Cell, ...] = ()
    labels: tuple[Label, ...] = ()
    styles: tuple[tuple[str, str], ...] = STYLES
    form: str = "square"

    @property
    def is_grid(self) -> bool:
        """Whether the cells fill the board row by row from the top."""
        places = [(x, y) for y in range(int(self.height)) for x in range(int(self.width))]
        return self.form == "square" and [(cell.x, cell.y) for cell in self.cells] == places

    def to_json(self, *, small: bool = False) -> dict[str, Any]:
        """The layout in the types of JSON; what is absent is empty, and a grid has no `cells`.

        `small` leaves out moves and labels, for a board that is only looked at.
        """
        moves = [] if small else [cell.move for cell in self.cells]
        labels = [] if small else [list(label) for label in self.labels]
        found: dict[str, Any] = {"width": self.width, "height": self.height, "form": self.form}
        if not self.is_grid:
            found["cells"] = [[cell.x, cell.y] for cell in self.cells]
        if any(moves):
            found["moves"] = moves
        return found | ({"labels": labels} if labels else {}) | {"styles": dict(self.styles)}


#: The layout of a position that is no board.
NO_BOARD: Final = BoardLayout(0, 0)


@dataclass(frozen=True, slots=True)
class Scene:
    """One position. `pieces` has a sign for each cell of the layout, EMPTY for none.

    `marks` are cells by their places in the layout, with the style of the mark. `text` stands in the
    middle of a wheel or in the place of a board; `bar` is what is reached of how much. `turn` is the
    place of the cell that is at the top of a wheel. `coming` are the pieces to come, the next one
    first. `words` describe the position to who cannot see it, where the pieces do not.
    """

    layout: BoardLayout
    pieces: str = ""
    marks: tuple[tuple[str, tuple[int, ...]], ...] = ()
    text: str = ""
    bar: tuple[int, int] | None = None
    turn: int = 0
    coming: str = ""
    words: str = ""

    def style(self, sign: str) -> str:
        """The style of a sign; empty for one that is shown as a letter."""
        return dict(self.layout.styles).get(sign, "")

    def rows(self) -> tuple[str, ...]:
        """The pieces of a grid, row by row from the top."""
        width = int(self.layout.width)
        return tuple(self.pieces[start : start + width] for start in range(0, len(self.pieces), width))

    def describe(self) -> str:
        """The position in words."""
        return self.words or self.text or ("/".join(self.rows()) if self.layout.is_grid else self.pieces)

    def after(self, before: Scene, move: str | None) -> Scene:
        """The same scene with the cells marked that the last move `move` has changed, None for no move.

        No cell is marked where an arrow shows the move.
        """
        if move is None or not ARROWS.isdisjoint([label.style for label in self.layout.labels]):
            return self
        pairs = enumerate(zip(before.pieces, self.pieces, strict=True))
        # A list: a generator would be resumed for every cell.
        places = [place for place, (old, new) in pairs if old != new]
        return replace(self, marks=((LAST, tuple(places)), *self.marks)) if places else self

    def to_json(self) -> dict[str, Any]:
        """The scene without its layout in the types of JSON; what is absent is empty."""
        found: dict[str, Any] = {
            "pieces": self.pieces,
            "marks": {style: list(places) for style, places in self.marks},
            "text": self.text,
            "bar": None if self.bar is None else list(self.bar),
            "turn": self.turn,
            "coming": self.coming,
            "words": self.words,
        }
        return {key: value for key, value in found.items() if value}


@lru_cache(maxsize=64)
def grid(
    width: int,
    height: int,
    *,
    moves: tuple[str, ...] = (),
    top: tuple[str, ...] = (),
    right: tuple[str, ...] = (),
    bottom: tuple[str, ...] = (),
    left: tuple[str, ...] = (),
    styles: tuple[tuple[str, str], ...] = STYLES,
    arrows: bool = False,
) -> BoardLayout:
    """A board of rows of cells.

    `moves` are those of the cells, row by row from the top; `top` to `left` are names at the edges,
    from the left or from the top. With `arrows` the names are moves that go into the board there.
    """
    places = [(x, y) for y in range(height) for x in range(width)]
    named = moves or ("",) * len(places)
    edges = [
        *((x, -1, text, "down") for x, text in enumerate(top)),
        *((width, y, text, "left") for y, text in enumerate(right)),
        *((x, height, text, "up") for x, text in enumerate(bottom)),
        *((-1, y, text, "right") for y, text in enumerate(left)),
    ]
    return BoardLayout(
        width,
        height,
        tuple(Cell(x, y, move) for (x, y), move in zip(places, named, strict=True)),
        tuple(Label(x, y, text, *((text, way) if arrows else ())) for x, y, text, way in edges),
        styles,
    )


def rows_scene(text: str, layout: BoardLayout | None = None, **more: Any) -> Scene:
    """The scene of a position whose text is rows of cells from the top, joined by `/`.

    `layout` is a grid of this size, else one without names. A text that is no board is shown as it
    is. `more` are further fields of Scene.
    """
    rows = text.split("/")
    if layout is None and (len(rows) < SMALLEST or len(rows[0]) < SMALLEST or len({*map(len, rows)}) > 1):
        return Scene(NO_BOARD, text=text, **more)
    return Scene(layout or grid(len(rows[0]), len(rows)), "".join(rows), **more)
