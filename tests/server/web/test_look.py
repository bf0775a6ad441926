"""What all pages have in common for the eye: one scale of sizes, and a picture for each name."""

from __future__ import annotations

import re
from importlib.resources import files

from hypothesis import given
from hypothesis import strategies as st

from .node import Node

SHEET = (files("arena_server.web") / "static" / "site.css").read_text(encoding="utf-8")
NAMES = [f"bot-{each:02}" for each in range(1, 33)]


def test_each_size_of_a_text_is_one_of_the_scale() -> None:
    scale = set(re.findall(r"var\(--(\w+)\)", "".join(re.findall(r"font(?:-size)?: [^;}]*", SHEET))))
    assert scale == {"tiny", "small", "body", "lead", "title", "big"}
    assert [
        each for each in re.findall(r"font-size: ([^;} ]+)", SHEET) if not each.startswith("var(--")
    ] == []


def test_the_weights_are_four() -> None:
    assert set(re.findall(r"font-weight: (\d+)", SHEET)) <= {"400", "500", "600", "700"}


@given(st.text(min_size=1, max_size=32))
def test_the_picture_of_a_name_is_symmetric_and_never_empty(node: Node, name: str) -> None:
    found = node("sign", name=name)
    squares = {(int(x), int(y)) for x, y in re.findall(r"M(\d) (\d)h1v1h-1z", found["path"])}
    assert (2, 2) in squares
    assert {(4 - x, y) for x, y in squares} == squares <= {(x, y) for x in range(5) for y in range(5)}
    assert found["hue"] in range(0, 360, 30)
    assert found == node("sign", name=name)


def test_like_names_have_different_pictures(node: Node) -> None:
    found = [node("sign", name=name) for name in NAMES]
    assert len({(each["path"], each["hue"]) for each in found}) == len(NAMES)
