"""One picture of each kind."""

from __future__ import annotations

import pytest

from arena_museum import explain

PICTURES = {
    "example": lambda: explain.example(),
    "disc": lambda: explain.whole("disc", {"m": 13}),
    "coins": lambda: explain.strategy("lastcoin", {}, seat=2, everything=True),
    "hanoi": lambda: explain.hanoi(5),
    "tower": lambda: explain.hanoi(8),
    "long ways": lambda: explain.strategy("disc", {}, seat=1, everything=True),
    "integral": lambda: explain.integral("x^2*sin(x)")[0],
    "maxn": lambda: explain.tree("insertion", {"seats": 3}, depth=2, method="maxn"),
    "chance": lambda: explain.tree(
        "insertion", {"colours": 3}, state="...../...../...../...../12.21", depth=1, method="expectiminimax"
    ),
    "insertion": lambda: explain.tree("insertion", {}, depth=1),
}


EVERY_PICTURE = pytest.mark.parametrize("make", PICTURES.values(), ids=PICTURES.keys())
