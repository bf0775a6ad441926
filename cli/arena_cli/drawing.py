"""Drawings of flat shapes in pixels, and how they become files: the layer below the pictures of games.

    svg_text(drawing)  -> str      an SVG file
    paint(drawing)     -> Image    an RGB image, drawn by Pillow

Colours are those of the web page in its light theme (`site.css`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont, ImageFont

#: Colours of pictures 1 to 7 (Okabe and Ito), of the page, and of the seats.
PAINT: Final = ("", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7")
PAGE, PANEL, INK, SOFT, LINE, CELL, FRAME, ACCENT = (
    *("#f6f5f1", "#ffffff", "#1d2126", "#565d66", "#d9d6cd", "#ebe8e0", "#cfcbbf"),
    "#0b5cad",
)
SEATS: Final = ("#0b5cad", "#b04a00", "#1c6b3a", "#7a3a85")
BAD: Final = "#a3261b"
GOOD: Final = "#1c6b3a"

#: Pillow draws at this multiple of the size, then shrinks the image: it does not smooth edges itself.
SCALE: Final = 2
#: Fonts of systems, for letters that Pillow's own has not.
FONTS: Final = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "Arial.ttf")


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
class Drawing:
    """One picture, from the background to the front; `title` describes it for a screen reader."""

    width: int
    height: int
    title: str
    shapes: tuple[Shape, ...]


def svg_text(drawing: Drawing) -> str:
    """The drawing as an SVG file without scripts and external parts."""
    title = escape(drawing.title)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {drawing.width} {drawing.height}" '
        f'width="{drawing.width}" height="{drawing.height}" role="img" font-family="system-ui, sans-serif">',
        f"<title>{title}</title>",
        *map(_element, drawing.shapes),
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


@lru_cache(maxsize=64)
def font_of(text: str, size: float) -> ImageFont | FreeTypeFont | None:
    """A font with all letters of `text`; None where none is installed."""
    from PIL import ImageFont as Fonts

    for name in ("", *FONTS):
        try:
            font = Fonts.truetype(name, size) if name else Fonts.load_default(size)
        except OSError:
            continue
        # A letter that a font lacks is drawn as one that no font has.
        lacking = "" if text.isascii() else bytes(font.getmask("\U0010ffff"))
        if all(letter.isascii() or bytes(font.getmask(letter)) != lacking for letter in set(text)):
            return font
    return None


def paint(drawing: Drawing, height: int | None = None) -> Image:
    """The drawing as an RGB image, at least `height` pixels high."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (drawing.width * SCALE, (height or drawing.height) * SCALE), PAGE)
    draw = ImageDraw.Draw(image, "RGBA")
    for shape in drawing.shapes:
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
                size = points * SCALE
                font = font_of(text, size) or ImageFont.load_default(size)
                side = {"start": "l", "middle": "m", "end": "r"}[anchor]
                weight = SCALE // 2 if bold else 0
                draw.text((x * SCALE, y * SCALE), text, colour, font, f"{side}m", stroke_width=weight)
    return image.reduce(SCALE)
