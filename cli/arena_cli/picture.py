"""Pictures of a recorded game, for `arena replay --svg` and `--gif`, and for links to the pages.

    draw_ply(record, ply) -> Drawing      what is drawn, as a few shapes in pixels (drawing.py)
    gif_bytes(record)     -> bytes        every ply as a frame
    link_png(data, ply)   -> bytes        what a link to a ply shows on other sites

Shapes and colours are those of the web page (`static/js/boards`), so that pictures differ by more than
their hue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from io import BytesIO
from math import cos, pi, sin
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from arena_cli.drawing import (
    ACCENT,
    BAD,
    CELL,
    FRAME,
    GOOD,
    INK,
    LINE,
    PAGE,
    PAINT,
    PANEL,
    SEATS,
    SOFT,
    Box,
    Circle,
    Drawing,
    Polygon,
    Shape,
    Stroke,
    Text,
    font_of,
    paint,
)
from arena_cli.render import PREVIEW, Frame, ended, record_frames
from arena_protocol.games.scene import (
    BUTTON,
    BUTTON_HEIGHT,
    BUTTON_WIDTH,
    CHOSEN,
    EMPTY,
    LAST,
    NO_BOARD,
    WON_LINE,
    Label,
    Scene,
)

if TYPE_CHECKING:
    from arena_protocol.record import GameRecord

WIDTH: Final = 760
#: The left and upper edge of the board with its labels, and the greatest side of the board itself.
LEFT, TOP, SIDE = 64, 108, 380
#: The room for labels at an edge of a board.
RIM: Final = 44
#: The column of the seats.
COLUMN: Final = LEFT + SIDE + 84
#: The height of a seat's panel.
SEAT: Final = 84
COLOURS: Final = 64
#: Width and height that most sites show of a link.
LINK_SIZE: Final = (1200, 630)
#: How much longer the last frame of a GIF is shown, in plies.
LAST_FRAME: Final = 6


# -- what is drawn


def draw_ply(record: GameRecord, ply: int | None = None) -> Drawing:
    """The position after `ply`, the last one if None. Raises GameError, and IndexError without such a ply."""
    frames = list(record_frames(record))
    return draw(frames[-1 if ply is None else ply])


def draw(frame: Frame) -> Drawing:
    """Draw a frame of `arena_cli.render`."""
    scene = frame.scene
    body: list[Shape]
    if scene.layout == NO_BOARD:
        body, foot = [Text(LEFT, TOP + 90, 40, scene.text, bold=True)], TOP + 200
    elif scene.layout.form == "wheel":
        body, foot = [*_wheel(scene)], TOP + round(WHEEL_HEIGHT * SIDE / WHEEL_WIDTH) + 30
    else:
        body, foot = _board(frame)
    if scene.coming:
        body += _belt(scene, foot)
        foot += 54
    foot = max(foot, TOP + len(frame.seats) * (SEAT + 12) + 24)
    notes = [(frame.caption, INK), *((note, BAD) for note in frame.notes)]
    for note, colour in notes:
        for line in wrap(note, 84):
            body.append(Text(LEFT - 32, foot, 16, line, colour))
            foot += 24
    for line in wrap(ended(frame.result), 76) if frame.result is not None else ():
        body.append(Text(LEFT - 32, foot, 17, line, bold=True))
        foot += 24
    head: list[Shape] = [
        Box(0, 0, WIDTH, foot, 0, PAGE),
        Text(LEFT - 32, 34, 21, _cut(frame.title.partition("   ")[0], 62), bold=True),
        Text(WIDTH - 24, 34, 16, frame.title.rpartition("   ")[2], SOFT, "end"),
    ]
    description = f"{frame.title}; {frame.caption}; position {scene.describe()}"
    return Drawing(WIDTH, round(foot), description, (*head, *_seats(frame), *body))


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3]}..."


def _board(frame: Frame) -> tuple[list[Shape], int]:
    """Cells, pieces and labels, and where they end; the last move and a line that has won are marked."""
    scene, layout = frame.scene, frame.scene.layout
    square = layout.form == "square"
    unit = SIDE / (max(layout.width, layout.height) if square else layout.width + 0.4)
    marked = {place: style for style, places in scene.marks for place in places}
    shapes: list[Shape] = []
    if square:
        box = (layout.width * unit + 12, layout.height * unit + 12)
        shapes.append(Box(LEFT - 6, TOP - 6, *box, 14, FRAME))
    for place, (cell, sign) in enumerate(zip(layout.cells, scene.pieces, strict=True)):
        x, y = LEFT + (cell.x + 0.5) * unit, TOP + (cell.y + 0.5) * unit
        mark = marked.get(place, "")
        if square:
            inner = unit * 0.94
            fill = _CELLS.get(mark, CELL)
            shapes.append(Box(x - inner / 2, y - inner / 2, inner, inner, unit * 0.14, fill))
        shapes += _piece(scene, sign, x, y, unit, mark)
    foot = TOP + layout.height * unit + 36
    for label in layout.labels:
        shapes += _label(label, scene, unit, last=bool(label.move) and label.move == frame.move)
        if label.y >= layout.height:
            foot = TOP + layout.height * unit + (RIM if label.style != BUTTON else unit) + 36
    return shapes, round(foot)


#: The fill of cells with a mark.
_CELLS: Final = {LAST: "#c3d5e6", WON_LINE: "#a9bfae", CHOSEN: ACCENT}


#: The radius of the hole in the disc of a seat, in cells: seats differ by more than their hue.
HOLES: Final = (0.0, 0.14, 0.22, 0.28)


def _piece(scene: Scene, sign: str, x: float, y: float, unit: float, mark: str) -> Iterator[Shape]:
    """A piece with its middle at x, y."""
    kind, _, number = scene.style(sign).partition("-")
    reach, width = unit * 0.24, unit * 0.11
    match kind:
        case "tile":
            yield from tile(int(number), x, y, unit * 0.92)
        case "cross":
            yield Stroke(x - reach, y - reach, x + reach, y + reach, SEATS[0], width)
            yield Stroke(x - reach, y + reach, x + reach, y - reach, SEATS[0], width)
        case "ring":
            yield Circle(x, y, unit * 0.27, "", SEATS[1], width)
        case "disc":
            yield Circle(x, y, unit * 0.38, SEATS[int(number) - 1], "#00000073")
            if hole := HOLES[int(number) - 1]:
                yield Circle(x, y, unit * hole, CELL, "#00000073")
        case "coin":
            fill, edge = (PAINT[1], "#00000073") if not number else ("", ACCENT if mark == LAST else FRAME)
            yield Circle(x, y, 0.4 * unit, fill, edge, 0.04 * unit)
            yield Circle(x, y, 0.26 * unit, fill, edge, 0.04 * unit)
        case _ if sign != EMPTY:
            yield Text(x, y, round(unit * 0.4), sign, INK, "middle", bold=True)


#: The turn of an arrow that points up.
_TURNS: Final = {"up": 0.0, "down": pi, "right": pi / 2, "left": -pi / 2}


def _label(label: Label, scene: Scene, unit: float, *, last: bool) -> Iterator[Shape]:
    """A name at an edge, an arrow, or a button; the one of the last move is lit."""
    layout = scene.layout
    paint = (ACCENT, ACCENT) if last else (CELL, LINE)
    ink = PANEL if last else SOFT
    if label.style == BUTTON:
        left, top = LEFT + (label.x + 0.2) * unit, TOP + label.y * unit
        width, height = BUTTON_WIDTH * unit, BUTTON_HEIGHT * unit
        yield Box(left, top, width, height, 0.16 * unit, *paint)
        size = round(0.34 * unit)
        yield Text(left + width / 2, top + height / 2, size, label.text, ink, "middle", bold=True)
        return
    # Names at the edges are as far from small cells as from large ones.
    middle = RIM / 2 + 8
    x = LEFT + (label.x + 0.5) * unit
    y = TOP + (label.y + 0.5) * unit
    x = (
        LEFT - middle
        if label.x < 0
        else LEFT + layout.width * unit + middle
        if label.x >= layout.width
        else x
    )
    y = (
        TOP - middle
        if label.y < 0
        else TOP + layout.height * unit + middle
        if label.y >= layout.height
        else y
    )
    if label.style:
        angle = _TURNS[label.style]
        corners = tuple(
            (x + px * cos(angle) - py * sin(angle), y + px * sin(angle) + py * cos(angle))
            for px, py in ((-18, 15), (0, -20), (18, 15))
        )
        yield Polygon(corners, *paint)
    yield Text(x, y, 15, label.text, ink if label.style else SOFT, "middle", bold=True)


#: The size of a wheel with its pointer and its bar, in units of which a cell has 40; its page has the same.
WHEEL_WIDTH, WHEEL_HEIGHT, WHEEL_CENTRE = 300, 340, 150


def _wheel(scene: Scene) -> Iterator[Shape]:
    """Sectors with the marked one highlighted, a text in the middle, and a bar."""
    unit = SIDE / WHEEL_WIDTH
    count = len(scene.pieces)
    chosen = {place for style, places in scene.marks if style == CHOSEN for place in places}

    def x(value: float) -> float:
        return LEFT + value * unit

    def y(value: float) -> float:
        return TOP + value * unit

    centre = WHEEL_CENTRE
    yield Polygon(tuple((x(centre + dx), y(26 + dy)) for dx, dy in ((0, 0), (-11, -18), (11, -18))), ACCENT)
    for place, sign in enumerate(scene.pieces):
        middle = (place - scene.turn) * 2 * pi / count
        # Arcs by short sides, with a gap to the neighbours: Pillow fills no path.
        half = pi / count - 0.013
        angles = [middle + half * (i / 12 - 1) for i in range(25)]
        outer = [(x(centre + 120 * sin(a)), y(centre - 120 * cos(a))) for a in angles]
        inner = [(x(centre + 40 * sin(a)), y(centre - 40 * cos(a))) for a in reversed(angles)]
        yield Polygon((*outer, *inner), ACCENT if place in chosen else FRAME)
        spot = x(centre + 82 * sin(middle)), y(centre - 82 * cos(middle))
        yield Text(*spot, round(26 * unit), sign, PANEL if place in chosen else INK, "middle", bold=True)
    yield Text(x(centre), y(centre), round(40 * unit), scene.text, INK, "middle", bold=True)
    if scene.bar is not None:
        reached, of = scene.bar
        yield Box(x(30), y(296), 240 * unit, 14 * unit, 7 * unit, CELL)
        if done := 240 * min(1, reached / of):
            yield Box(x(30), y(296), done * unit, 14 * unit, min(7, done / 2) * unit, GOOD)
        yield Text(x(centre), y(326), round(17 * unit), f"{reached} of {of}", SOFT, "middle", bold=True)


def tile(colour: int, x: float, y: float, side: float) -> Iterator[Shape]:
    """Picture `colour`: its colour, its shape and its number."""
    r = side * 0.34
    yield Box(x - side / 2, y - side / 2, side, side, side * 0.15, PAINT[colour], "#00000040")
    if colour == 1:
        yield Circle(x, y, 0.88 * r, PANEL, "#00000073", 1)
    else:
        yield Polygon(tuple((x + px * r, y + py * r) for px, py in _OUTLINES[colour]), PANEL, "#00000073")
    yield Text(
        x, y + (0.1 * r if colour == 3 else 0), round(side * 0.3), str(colour), "#15181c", "middle", bold=True
    )


def _regular(corners: int, inner: float = 1.0, turn: float = 0.0) -> tuple[tuple[float, float], ...]:
    count = corners if inner == 1 else 2 * corners
    radii = [inner if i % 2 and inner != 1 else 1.0 for i in range(count)]
    angles = [2 * pi * i / count - pi / 2 + turn for i in range(count)]
    return tuple((r * cos(angle), r * sin(angle)) for r, angle in zip(radii, angles, strict=True))


_T: Final = 0.38
#: The outlines of pictures 2 to 7 in a circle of radius 1.
_OUTLINES: Final[dict[int, tuple[tuple[float, float], ...]]] = {
    2: ((-0.78, -0.78), (0.78, -0.78), (0.78, 0.78), (-0.78, 0.78)),
    3: tuple((1.12 * x, 1.12 * y + 0.16) for x, y in _regular(3)),
    4: ((0, -1.08), (0.92, 0), (0, 1.08), (-0.92, 0)),
    5: tuple((1.15 * x, 1.15 * y + 0.04) for x, y in _regular(5, 0.5)),
    6: _regular(6, turn=pi / 6),
    7: (
        *((-_T, -1), (_T, -1), (_T, -_T), (1, -_T), (1, _T), (_T, _T)),
        *((_T, 1), (-_T, 1), (-_T, _T), (-1, _T), (-1, -_T), (-_T, -_T)),
    ),
}


def _belt(scene: Scene, y: float) -> Iterator[Shape]:
    """The pieces to come, the next one larger."""
    yield Text(LEFT - 32, y, 14, "next", SOFT)
    x = LEFT + 26.0
    for number, sign in enumerate(scene.coming[:PREVIEW]):
        side = 34 if number == 0 else 26
        yield from _piece(scene, sign, x, y, side / 0.92, "")
        x += 38 if number == 0 else 30


def _seats(frame: Frame) -> Iterator[Shape]:
    width, height = WIDTH - COLUMN - 24, SEAT
    for seat, (name, points, clock) in enumerate(frame.seats, start=1):
        y = TOP - 6 + (seat - 1) * (height + 12)
        colour = SEATS[(seat - 1) % len(SEATS)]
        if seat == frame.to_move or seat in frame.winners:
            yield Box(COLUMN - 4, y - 4, width + 8, height + 8, 13, colour)
        yield Box(COLUMN, y, width, height, 10, PANEL, LINE)
        yield Box(COLUMN, y, 7, height, 3, colour)
        yield Text(COLUMN + 20, y + 22, 17, _cut(name, 20), colour, bold=True)
        yield Text(COLUMN + 20, y + 56, 25, f"{points:,}", bold=True)
        yield Text(COLUMN + width - 12, y + 57, 16, _clock(clock), SOFT, "end")
        if words := _marks(frame, seat):
            ink = BAD if seat in frame.zombies else colour
            yield Text(COLUMN + width - 12, y + 38, 13, words, ink, "end", bold=True)


def _marks(frame: Frame, seat: int) -> str:
    """What is to be said of a seat, beside its colours: zombie, to move, wins, draws."""
    words = ["zombie"] if seat in frame.zombies else []
    if seat == frame.to_move:
        words.append("to move")
    elif seat in frame.winners:
        words.append("wins" if len(frame.winners) == 1 else "draws")
    return ", ".join(words)


def _clock(ms: int | None) -> str:
    if ms is None:
        return "points"
    minutes, rest = divmod(ms, 60_000)
    return f"{minutes}:{rest // 1000:02}.{rest % 1000 // 100}"


# -- PNG


def link_png(record: GameRecord, ply: int | None) -> bytes:
    """The position after `ply`, the last one if None, as PNG.

    Raises GameError, and IndexError without such a ply.
    """
    from PIL import Image

    # A visitor may have a name of letters that no font here has: then it is called as in the protocol.
    names = (name if font_of(name, 20) else f"person-{seat}" for seat, name in enumerate(record.names, 1))
    image = paint(draw_ply(replace(record, names=tuple(names)), ply))
    size = LINK_SIZE
    image.thumbnail(size)
    card = Image.new("RGB", size, PAGE)
    card.paste(image, ((size[0] - image.width) // 2, (size[1] - image.height) // 2))
    file = BytesIO()
    card.quantize(COLOURS).save(file, "PNG")
    return file.getvalue()


def link_painter() -> Callable[[GameRecord, int | None], bytes] | None:
    """`link_png`, or None where Pillow is not installed."""
    return None if find_spec("PIL") is None else link_png


# -- GIF


def gif_bytes(record: GameRecord, seconds: float = 0.5) -> bytes:
    """The game as an animated GIF, `seconds` per ply. Raises GameError for an illegal move."""
    return animated([list(record_frames(record))], seconds)


def animated(scenes: Sequence[Sequence[Frame]], seconds: float) -> bytes:
    """Frames as an animated GIF, `seconds` each; the last one of each scene is shown longer."""
    from PIL.Image import Dither

    drawings = [draw(frame) for frames in scenes for frame in frames]
    height = max(each.height for each in drawings)
    images = [paint(each, height) for each in drawings]
    # One palette for all frames: tiles keep their colour, and a frame stores only what has changed.
    palette = images[len(images) // 2].quantize(COLOURS)
    first, *rest = [image.quantize(palette=palette, dither=Dither.NONE) for image in images]
    ms = max(20, round(1000 * seconds))
    durations = [each for frames in scenes for each in [ms] * (len(frames) - 1) + [ms * LAST_FRAME]]
    file = BytesIO()
    first.save(
        file, "GIF", save_all=True, append_images=rest, duration=durations, loop=0, optimize=True, disposal=1
    )
    return file.getvalue()
