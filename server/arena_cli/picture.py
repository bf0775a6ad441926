"""Pictures of a recorded game, for `arena replay --svg` and `--gif`.

    draw_ply(record, ply) -> Scene        what is drawn, as a few shapes in pixels
    svg_text(scene)       -> str          the scene as an SVG file
    gif_bytes(record)     -> bytes        every ply as a frame, drawn by Pillow

Shapes and colours are those of the web page, so that pictures differ by more than their hue.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from math import cos, pi, sin
from textwrap import wrap
from typing import TYPE_CHECKING, Final, NamedTuple

from arena_cli.render import PREVIEW, Frame, record_frames

if TYPE_CHECKING:
    from PIL.Image import Image

    from arena_protocol.record import GameRecord

#: Colours of pictures 1 to 7 (Okabe and Ito), of the page, and of the seats.
PAINT: Final = ("", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7")
PAGE, PANEL, INK, SOFT, LINE, CELL, FRAME, ACCENT = (
    *("#f6f5f1", "#ffffff", "#1d2126", "#565d66", "#d9d6cd", "#ebe8e0", "#cfcbbf"),
    "#0b5cad",
)
SEATS: Final = ("#0b5cad", "#b04a00", "#1c6b3a", "#7a3a85")
BAD: Final = "#a3261b"

WIDTH: Final = 760
#: The left and upper edge of the board with its rim, and the greatest side of the board itself.
LEFT, TOP, SIDE = 64, 108, 380
RIM: Final = 44
#: The column of the seats.
COLUMN: Final = LEFT + SIDE + 84
#: The height of a seat's panel.
SEAT: Final = 84
#: Pillow draws at this multiple of the size, then shrinks the image: it does not smooth edges itself.
SCALE: Final = 2
COLOURS: Final = 64
#: How much longer the last frame of a GIF is shown, in plies.
LAST_FRAME: Final = 6


class Polygon(NamedTuple):
    """Corners in order; `edge` is the colour of the outline, empty for none."""

    corners: tuple[tuple[float, float], ...]
    fill: str
    edge: str = ""


class Circle(NamedTuple):
    """A disc, or with an empty `fill` a ring of `width`."""

    x: float
    y: float
    r: float
    fill: str
    edge: str = ""
    width: float = 1.5


class Box(NamedTuple):
    """A rectangle with rounded corners."""

    x: float
    y: float
    width: float
    height: float
    radius: float
    fill: str
    edge: str = ""


class Stroke(NamedTuple):
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float
    colour: str
    width: float


class Text(NamedTuple):
    """A line of ASCII text; `y` is its middle, `anchor` is start, middle or end."""

    x: float
    y: float
    size: int
    text: str
    colour: str = INK
    anchor: str = "start"
    bold: bool = False


Shape = Polygon | Circle | Box | Stroke | Text


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture, from the background to the front; `title` describes it for a screen reader."""

    width: int
    height: int
    title: str
    shapes: tuple[Shape, ...]


# -- what is drawn


def draw_ply(record: GameRecord, ply: int | None = None) -> Scene:
    """The position after `ply`, the last one if None. Raises GameError, and IndexError without such a ply."""
    frames = list(record_frames(record))
    return draw(frames[-1 if ply is None else ply])


def draw(frame: Frame) -> Scene:
    """Draw a frame of `arena_cli.render`."""
    rows = frame.state.split("/")
    board = len({len(row) for row in rows}) == 1 and len(rows) == len(rows[0]) >= 3
    body: list[Shape] = [Text(LEFT, TOP + 90, 40, frame.state, bold=True)]
    foot = TOP + 200
    if board:
        body = [*_board(rows, frame)]
        foot = TOP + SIDE + (RIM if frame.rim.bottom else 0) + 36
    if frame.preview:
        body += _belt(frame.preview, foot)
        foot += 54
    foot = max(foot, TOP + len(frame.seats) * (SEAT + 12) + 24)
    ending = [f"end: {frame.end}"] if frame.end is not None else []
    notes = [(frame.caption, INK), *((note, BAD) for note in frame.notes), *((each, INK) for each in ending)]
    for note, colour in notes:
        for line in wrap(note, 84):
            body.append(Text(LEFT - 32, foot, 16, line, colour))
            foot += 24
    head: list[Shape] = [
        Box(0, 0, WIDTH, foot, 0, PAGE),
        Text(LEFT - 32, 34, 21, _cut(frame.title.partition("   ")[0], 62), bold=True),
        Text(WIDTH - 24, 34, 16, frame.title.rpartition("   ")[2], SOFT, "end"),
    ]
    description = f"{frame.title}; {frame.caption}; position {frame.state}"
    return Scene(WIDTH, round(foot), description, (*head, *_seats(frame), *body))


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3]}..."


def _board(rows: Sequence[str], frame: Frame) -> Iterator[Shape]:
    count = len(rows)
    step = SIDE / count
    yield Box(LEFT - 6, TOP - 6, SIDE + 12, SIDE + 12, 14, FRAME)
    for down, row in enumerate(rows):
        for across, cell in enumerate(row):
            x, y = LEFT + (across + 0.5) * step, TOP + (down + 0.5) * step
            inner = step * 0.94
            is_last = frame.move is not None and frame.move == _cell_name(frame, across, down)
            yield Box(x - inner / 2, y - inner / 2, inner, inner, step * 0.14, "#c3d5e6" if is_last else CELL)
            if cell in "1234567":
                yield from tile(int(cell), x, y, step * 0.92)
            elif cell.lower() in "xo":
                yield from _mark(cell.lower(), x, y, step)
            elif cell != ".":
                yield Text(x, y, round(step * 0.4), cell, INK, "middle", bold=True)
    yield from _rim(frame, step)


def _cell_name(frame: Frame, across: int, down: int) -> str | None:
    """The name of a cell on a board with letters below and numbers at the left, such as c3."""
    rim = frame.rim
    if across < len(rim.bottom) and down < len(rim.left):
        return f"{rim.bottom[across]}{rim.left[down]}"
    return None


def _mark(mark: str, x: float, y: float, step: float) -> Iterator[Shape]:
    reach, width = step * 0.24, step * 0.11
    if mark == "x":
        yield Stroke(x - reach, y - reach, x + reach, y + reach, SEATS[0], width)
        yield Stroke(x - reach, y + reach, x + reach, y - reach, SEATS[0], width)
    else:
        yield Circle(x, y, step * 0.27, "", SEATS[1], width)


def _rim(frame: Frame, step: float) -> Iterator[Shape]:
    """Labels at the edges; where moves go in at the right edge too they are arrows."""
    rim = frame.rim
    middle = RIM / 2 + 8
    places = [
        *((name, LEFT + (i + 0.5) * step, TOP - middle, pi) for i, name in enumerate(rim.top)),
        *((name, LEFT + (i + 0.5) * step, TOP + SIDE + middle, 0.0) for i, name in enumerate(rim.bottom)),
        *((name, LEFT - middle, TOP + (i + 0.5) * step, pi / 2) for i, name in enumerate(rim.left)),
        *((name, LEFT + SIDE + middle, TOP + (i + 0.5) * step, -pi / 2) for i, name in enumerate(rim.right)),
    ]
    for name, x, y, angle in places:
        if not rim.right:
            yield Text(x, y, 15, name, SOFT, "middle", bold=True)
            continue
        last = name == frame.move
        corners = ((-18, 15), (0, -20), (18, 15))
        turned = tuple(
            (x + px * cos(angle) - py * sin(angle), y + px * sin(angle) + py * cos(angle))
            for px, py in corners
        )
        yield Polygon(turned, ACCENT if last else CELL, ACCENT if last else LINE)
        yield Text(x, y, 15, name, PANEL if last else SOFT, "middle", bold=True)


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


def _belt(preview: str, y: float) -> Iterator[Shape]:
    yield Text(LEFT - 32, y, 14, "next", SOFT)
    x = LEFT + 26.0
    for number, picture in enumerate(preview[:PREVIEW]):
        side = 34 if number == 0 else 26
        yield from tile(int(picture), x, y, side)
        x += 38 if number == 0 else 30


def _seats(frame: Frame) -> Iterator[Shape]:
    width, height = WIDTH - COLUMN - 24, SEAT
    for number, (name, points, clock) in enumerate(frame.seats):
        y = TOP - 6 + number * (height + 12)
        colour = SEATS[number % len(SEATS)]
        yield Box(COLUMN, y, width, height, 10, PANEL, LINE)
        yield Box(COLUMN, y, 7, height, 3, colour)
        yield Text(COLUMN + 20, y + 22, 17, _cut(name, 20), colour, bold=True)
        yield Text(COLUMN + 20, y + 56, 25, f"{points:,}", bold=True)
        yield Text(COLUMN + width - 12, y + 57, 16, _clock(clock), SOFT, "end")


def _clock(ms: int | None) -> str:
    if ms is None:
        return "points"
    minutes, rest = divmod(ms, 60_000)
    return f"{minutes}:{rest // 1000:02}.{rest % 1000 // 100}"


# -- SVG


def svg_text(scene: Scene) -> str:
    """The scene as an SVG file without scripts and external parts."""
    title = escape(scene.title)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {scene.width} {scene.height}" '
        f'width="{scene.width}" height="{scene.height}" role="img" font-family="system-ui, sans-serif">',
        f"<title>{title}</title>",
        *map(_element, scene.shapes),
        "</svg>",
    ]
    return "\n".join([*lines, ""])


def _element(shape: Shape) -> str:
    match shape:
        case Polygon(corners, fill, edge):
            points = " ".join(f"{_n(x)},{_n(y)}" for x, y in corners)
            return f'<polygon points="{points}"{_paint(fill, edge)}/>'
        case Circle(x, y, r, fill, edge, width):
            return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(r)}"{_paint(fill, edge, width)}/>'
        case Box(x, y, width, height, radius, fill, edge):
            place = f'x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"'
            return f'<rect {place} rx="{_n(radius)}"{_paint(fill, edge)}/>'
        case Stroke(x1, y1, x2, y2, colour, width):
            ends = f'x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"'
            return f'<line {ends} stroke="{colour}" stroke-width="{_n(width)}" stroke-linecap="round"/>'
        case Text(x, y, size, text, colour, anchor, bold):
            # 0.35 em below its middle is the baseline: not every viewer knows dominant-baseline.
            place = f'x="{_n(x)}" y="{_n(y + 0.35 * size)}" font-size="{size}" fill="{colour}"'
            weight = ' font-weight="700"' if bold else ""
            return f'<text {place} text-anchor="{anchor}"{weight}>{escape(text)}</text>'


def _paint(fill: str, edge: str, width: float = 1.5) -> str:
    outline = f' stroke="{edge}" stroke-width="{_n(width)}"' if edge else ""
    return f' fill="{fill or "none"}"{outline}'


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


# -- GIF


def gif_bytes(record: GameRecord, seconds: float = 0.5) -> bytes:
    """The game as an animated GIF, `seconds` per ply. Raises GameError for an illegal move."""
    from PIL.Image import Dither

    scenes = [draw(frame) for frame in record_frames(record)]
    height = max(scene.height for scene in scenes)
    images = [paint(scene, height) for scene in scenes]
    # One palette for all frames: tiles keep their colour, and a frame stores only what has changed.
    palette = images[len(images) // 2].quantize(COLOURS)
    first, *rest = [image.quantize(palette=palette, dither=Dither.NONE) for image in images]
    ms = max(20, round(1000 * seconds))
    durations = [ms] * len(rest) + [ms * LAST_FRAME]
    file = BytesIO()
    first.save(
        file, "GIF", save_all=True, append_images=rest, duration=durations, loop=0, optimize=True, disposal=1
    )
    return file.getvalue()


def paint(scene: Scene, height: int | None = None) -> Image:
    """The scene as an RGB image, at least `height` pixels high."""
    from PIL import Image, ImageDraw, ImageFont

    size = (scene.width * SCALE, (height or scene.height) * SCALE)
    image = Image.new("RGB", size, PAGE)
    draw = ImageDraw.Draw(image, "RGBA")
    for shape in scene.shapes:
        match shape:
            case Polygon(corners, fill, edge):
                draw.polygon([(x * SCALE, y * SCALE) for x, y in corners], fill, edge or None, SCALE)
            case Circle(x, y, r, fill, edge, width):
                # SVG centres an outline on the edge, Pillow draws it inside.
                outer = r + width / 2
                box = tuple(each * SCALE for each in (x - outer, y - outer, x + outer, y + outer))
                draw.ellipse(box, fill or None, edge or None, round(width * SCALE))
            case Box(x, y, width, tall, radius, fill, edge):
                box = tuple(each * SCALE for each in (x, y, x + width, y + tall))
                draw.rounded_rectangle(box, radius * SCALE, fill, edge or None, SCALE)
            case Stroke(x1, y1, x2, y2, colour, width):
                ends = [(x1 * SCALE, y1 * SCALE), (x2 * SCALE, y2 * SCALE)]
                draw.line(ends, colour, round(width * SCALE))
            case Text(x, y, points, text, colour, anchor, bold):
                font = ImageFont.load_default(points * SCALE)
                side = {"start": "l", "middle": "m", "end": "r"}[anchor]
                weight = SCALE // 2 if bold else 0
                draw.text((x * SCALE, y * SCALE), text, colour, font, f"{side}m", stroke_width=weight)
    return image.reduce(SCALE)
