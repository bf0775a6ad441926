"""The GIFs that the page makes of a game, read by another program."""

from __future__ import annotations

import io
import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .node import Node

if TYPE_CHECKING:
    from PIL.Image import Image

Pixel = tuple[int, int, int]
#: Each is the middle of what 5 bits tell apart, so that the palette has it exactly.
LEVELS = [round(level * 255 / 31) for level in range(32)]


def coded(node: Node, width: int, height: int, pictures: list[list[Pixel]], delay: int = 7) -> Image:
    """The GIF of `pictures`, as Pillow reads it."""
    from PIL import Image

    data = [b"".join(bytes((*pixel, 255)) for pixel in picture).hex() for picture in pictures]
    found: Any = node("gif", width=width, height=height, pictures=data, delay=delay)
    return Image.open(io.BytesIO(bytes.fromhex(found)))


def frames(image: Any) -> list[list[Pixel]]:
    shown = []
    for number in range(image.n_frames):
        image.seek(number)
        data = image.convert("RGB").tobytes()
        shown.append([(data[at], data[at + 1], data[at + 2]) for at in range(0, len(data), 3)])
    return shown


@given(st.data())
@settings(max_examples=20, deadline=None)
def test_a_gif_has_the_pictures_that_it_was_made_of(node: Node, data: st.DataObject) -> None:
    pytest.importorskip("PIL")
    width, height = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 40))
    palette = data.draw(st.lists(st.tuples(*[st.sampled_from(LEVELS)] * 3), min_size=1, max_size=256))
    chance = data.draw(st.randoms(use_true_random=False))
    pictures = [[chance.choice(palette) for _ in range(width * height)] for _ in range(3)]
    pictures.append(pictures[-1])  # a ply that changes nothing is a frame, too
    found = coded(node, width, height, pictures)
    assert found.size == (width, height)
    shown = frames(found)
    # Pillow joins a frame that changes nothing to the one before it.
    assert [each for before, each in zip([None, *shown], shown, strict=False) if each != before] == [
        each for before, each in zip([None, *pictures], pictures, strict=False) if each != before
    ]


def test_the_table_of_codes_is_begun_again(node: Node) -> None:
    """Noise of 300 x 300 pixels uses up 4,096 codes many times."""
    pytest.importorskip("PIL")
    chance = random.Random(6)
    colours = [tuple(chance.choice(LEVELS) for _ in range(3)) for _ in range(256)]
    picture = [chance.choice(colours) for _ in range(90_000)]
    assert frames(coded(node, 300, 300, [picture])) == [picture]  # type: ignore[list-item]


def test_colours_beyond_the_palette_become_the_nearest(node: Node) -> None:
    pytest.importorskip("PIL")
    greys = [(level, level, level) for level in LEVELS]
    rest = [(level, other, LEVELS[0]) for level in LEVELS for other in LEVELS[1:9]]
    near = (LEVELS[1], LEVELS[1], LEVELS[2])
    picture = [pixel for pixel in greys + rest for _ in range(2)] + [near]
    (shown,) = frames(coded(node, len(picture), 1, [picture]))
    assert len(set(shown)) <= 256
    pairs = zip(shown, picture, strict=True)
    assert max(abs(a - b) for pixels in pairs for a, b in zip(*pixels, strict=True)) < 40


def test_it_runs_for_ever_with_its_delays(node: Node) -> None:
    pytest.importorskip("PIL")
    image = coded(node, 2, 2, [[(0, 0, 0)] * 4, [(255, 255, 255)] * 4], delay=40)
    assert (image.info["loop"], image.info["duration"]) == (0, 400)
