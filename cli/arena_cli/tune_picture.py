"""The chart of `arena tune --plot`: the path of each parameter over the steps, in its range."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from arena_cli.drawing import ACCENT, GOOD, INK, LINE, PANEL, SOFT, Box, Drawing, Shape, Stroke, Text
from arena_cli.tune_search import Param, Point

WIDTH, PANEL_HEIGHT, GAP, TOP = 720, 130, 26, 40
LEFT, RIGHT = 96, 90


def chart(params: Sequence[Param], path: Sequence[Point], best: Point, title: str) -> Drawing:
    """A panel for each parameter: the range upwards, the steps to the right, the answer as a line."""
    shapes: list[Shape] = [Text(16, 20, 14, _ascii(title), bold=True)]
    for number, param in enumerate(params):
        y = TOP + number * (PANEL_HEIGHT + GAP)
        shapes += _panel(param, [point[number] for point in path], best[number], y)
    height = TOP + len(params) * (PANEL_HEIGHT + GAP) + 16
    last = f"step {len(path) - 1}"
    shapes += [
        Text(LEFT, height - 22, 11, "step 0", SOFT),
        Text(WIDTH - RIGHT, height - 22, 11, last, SOFT, "end"),
    ]
    return Drawing(WIDTH, height, _ascii(title), tuple(shapes))


def _panel(param: Param, places: Sequence[float], best: float, top: float) -> list[Shape]:
    width, bottom = WIDTH - LEFT - RIGHT, top + PANEL_HEIGHT

    def at(step: int, place: float) -> tuple[float, float]:
        return LEFT + width * step / max(1, len(places) - 1), bottom - PANEL_HEIGHT * place

    _, level = at(0, best)
    corners = [at(step, place) for step, place in enumerate(places)]
    return [
        Box(LEFT, top, width, PANEL_HEIGHT, 3, PANEL, LINE),
        Text(LEFT - 8, top + 8, 11, f"{param.high:g}", SOFT, "end"),
        Text(LEFT - 8, bottom - 8, 11, f"{param.low:g}", SOFT, "end"),
        Text(LEFT - 8, top + PANEL_HEIGHT / 2, 13, f"{param.name:.12}", INK, "end", bold=True),
        Stroke(LEFT, level, LEFT + width, level, GOOD, 1.5),
        Text(LEFT + width + 8, level, 12, param.text(best), GOOD, bold=True),
        *(Stroke(*one, *two, ACCENT, 2) for one, two in pairwise(corners)),
    ]


def _ascii(text: str) -> str:
    return text.encode("ascii", "replace").decode("ascii")
