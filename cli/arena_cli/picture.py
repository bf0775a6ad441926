"""Pictures of a recorded game, for `arena replay --svg` and `--gif`.

    draw_ply(record, ply) -> Scene        what is drawn, as a few shapes in pixels (scene.py)
    gif_bytes(record)     -> bytes        every ply as a frame

Shapes and colours are those of the web page (`static/js/boards`), so that pictures differ by more than
their hue.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from math import cos, pi, sin
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from arena_cli.render import PREVIEW, Frame, ended, record_frames
from arena_cli.scene import (
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
    Polygon,
    Scene,
    Shape,
    Stroke,
    Text,
    paint,
)
from arena_protocol.games.disc import SEGMENTS, Disc
from arena_protocol.games.lastcoin import LastCoin

if TYPE_CHECKING:
    from arena_protocol.record import GameRecord

WIDTH: Final = 760
#: The left and upper edge of the board with its rim, and the greatest side of the board itself.
LEFT, TOP, SIDE = 64, 108, 380
RIM: Final = 44
#: The column of the seats.
COLUMN: Final = LEFT + SIDE + 84
#: The height of a seat's panel.
SEAT: Final = 84
COLOURS: Final = 64
#: How much longer the last frame of a GIF is shown, in plies.
LAST_FRAME: Final = 6


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
    if isinstance(frame.rules, Disc):
        body = [*_disc(frame.rules, frame)]
        foot = TOP + round(DISC_HEIGHT * SIDE / DISC_WIDTH) + 30
    elif isinstance(frame.rules, LastCoin):
        body, foot = _coins(frame.rules, frame)
    elif board:
        body = [*_board(rows, frame)]
        foot = TOP + SIDE + (RIM if frame.rim.bottom else 0) + 36
    if frame.preview:
        body += _belt(frame.preview, foot)
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


#: The view boxes of the page's boards, whose numbers the next two functions share with boards/*.js.
DISC_WIDTH, DISC_HEIGHT, DISC_CENTRE = 300, 340, 150
COINS_SHOWN, COIN_COLUMNS, COIN_STEP = 200, 10, 50


def _disc(rules: Disc, frame: Frame) -> Iterator[Shape]:
    """Six segments with that on top highlighted, the sum in the middle, and a bar for it."""
    total, top, _ = map(int, frame.state.split("/"))
    unit = SIDE / DISC_WIDTH

    def x(value: float) -> float:
        return LEFT + value * unit

    def y(value: float) -> float:
        return TOP + value * unit

    centre = DISC_CENTRE
    yield Polygon(tuple((x(centre + dx), y(26 + dy)) for dx, dy in ((0, 0), (-11, -18), (11, -18))), ACCENT)
    for segment in range(1, SEGMENTS + 1):
        middle = (segment - top) * 2 * pi / SEGMENTS
        is_top = segment == top
        # Arcs by short sides, with a gap to the neighbours: Pillow fills no path.
        half = pi / SEGMENTS - 0.013
        angles = [middle + half * (i / 12 - 1) for i in range(25)]
        outer = [(x(centre + 120 * sin(a)), y(centre - 120 * cos(a))) for a in angles]
        inner = [(x(centre + 40 * sin(a)), y(centre - 40 * cos(a))) for a in reversed(angles)]
        yield Polygon((*outer, *inner), ACCENT if is_top else FRAME)
        place = x(centre + 82 * sin(middle)), y(centre - 82 * cos(middle))
        yield Text(*place, round(26 * unit), str(segment), PANEL if is_top else INK, "middle", bold=True)
    yield Text(x(centre), y(centre), round(40 * unit), str(total), INK, "middle", bold=True)
    yield Box(x(30), y(296), 240 * unit, 14 * unit, 7 * unit, CELL)
    done = 240 * min(1, total / rules.m)
    if done:
        yield Box(x(30), y(296), done * unit, 14 * unit, min(7, done / 2) * unit, GOOD)
    yield Text(x(centre), y(326), round(17 * unit), f"{total} of {rules.m}", SOFT, "middle", bold=True)


def _coins(rules: LastCoin, frame: Frame) -> tuple[list[Shape], int]:
    """Coins, hollow once taken and the last ones in the accent, and the moves; and where they end."""
    left = int(frame.state.partition("/")[0])
    taken = int(frame.move or 0)
    count = min(rules.coins, COINS_SHOWN)
    columns = min(count, COIN_COLUMNS)
    unit = SIDE / max(COIN_STEP * columns + 10, 270)
    shapes: list[Shape] = []
    for coin in range(count):
        down, across = divmod(coin, columns)
        x, y = LEFT + (COIN_STEP * across + 30) * unit, TOP + (COIN_STEP * down + 30) * unit
        fill, edge = PAINT[1], "#00000073"
        if coin >= left:
            fill, edge = "", ACCENT if coin < left + taken else FRAME
        shapes += [Circle(x, y, r * unit, fill, edge, 2 * unit) for r in (20, 13)]
    height = COIN_STEP * -(-count // columns) + 10
    for take in (1, 2):
        x, y = LEFT + (10 + 130 * (take - 1)) * unit, TOP + (height + 10) * unit
        last = take == taken
        colours = (ACCENT, ACCENT) if last else (CELL, LINE)
        shapes.append(Box(x, y, 110 * unit, 36 * unit, 8 * unit, *colours))
        words, ink = f"take {take}", PANEL if last else SOFT
        shapes.append(Text(x + 55 * unit, y + 18 * unit, round(17 * unit), words, ink, "middle", bold=True))
    return shapes, TOP + round((height + 60) * unit) + 20


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
