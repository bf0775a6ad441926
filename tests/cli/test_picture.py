"""Pictures of games: every tile of the position is there, in its colour, and nothing else is."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.server.programs import Shell
from tests.slices import rows

from arena_cli import drawing
from arena_cli.drawing import (
    ACCENT,
    BAD,
    FRAME,
    GOOD,
    PAGE,
    PAINT,
    SEATS,
    Box,
    Circle,
    Drawing,
    Polygon,
    Stroke,
    Text,
    font_of,
    svg_text,
)
from arena_cli.picture import COLUMN, LEFT, SEAT, SIDE, TOP, draw_ply, gif_bytes, link_painter, link_png
from arena_cli.render import record_frames
from arena_protocol.errors import needs_extra
from arena_protocol.games import GAMES, make_game
from arena_protocol.record import FaultKind, FaultRecord

from .test_render import played

Image = pytest.importorskip("PIL.Image")

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", sorted(GAMES))
def test_every_ply_of_every_game_is_well_formed(name: str) -> None:
    record = played(name, 4)
    for ply in range(5):
        root = ElementTree.fromstring(svg_text(draw_ply(record, ply)))
        assert {each.tag for each in root} <= {
            f"{SVG}{tag}" for tag in ("title", "rect", "polygon", "circle", "line", "text")
        }
        _, _, width, height = map(float, root.attrib["viewBox"].split())
        for each in root.iter(f"{SVG}text"):
            assert 0 < float(each.attrib["x"]) < width
            assert 0 < float(each.attrib["y"]) < height
    assert svg_text(draw_ply(record)) == svg_text(draw_ply(record, 4))


def test_the_tiles_of_insertion_are_those_of_the_position() -> None:
    record = played("insertion", 30)
    for ply, frame in enumerate(record_frames(record)):
        boxes = [
            each for each in draw_ply(record, ply).shapes if isinstance(each, Box) and each.fill in PAINT
        ]
        on_board = [each for each in boxes if each.y + each.height < TOP + SIDE]
        cells = Counter(frame.scene.pieces.replace(".", ""))
        assert Counter(str(PAINT.index(each.fill)) for each in on_board) == cells
        assert len(boxes) - len(on_board) == min(20, len(frame.scene.coming))


def test_marks_and_the_last_move() -> None:
    record = played("xo", 5)
    shapes = draw_ply(record).shapes
    assert sum(isinstance(each, Stroke) for each in shapes) == 2 * 3
    assert sum(isinstance(each, Circle) for each in shapes) == 2
    assert sum(isinstance(each, Box) and each.fill == "#c3d5e6" for each in shapes) == 1


def test_the_disc_has_its_top_segment_above_and_the_sum() -> None:
    record = played("disc", 4)  # the tops are 2, 3, 4, 5
    for ply, (total, top) in enumerate([(0, 1), (2, 2), (5, 3), (9, 4), (14, 5)]):
        shapes = draw_ply(record, ply).shapes
        board = [each for each in shapes if isinstance(each, Polygon)]
        assert len(board) == 1 + 6
        (lit,) = [each for each in board[1:] if each.fill == board[0].fill]
        assert min(y for _, y in lit.corners) == min(y for each in board[1:] for _, y in each.corners)
        numbers = [each for each in shapes if isinstance(each, Text) and each.text in "123456"]
        on_top = min((each for each in numbers if each.size == 33), key=lambda each: each.y)
        assert on_top.text == str(top)
        assert f"{total} of 13" in [each.text for each in shapes if isinstance(each, Text)]
        bars = [each for each in shapes if isinstance(each, Box) and each.fill == GOOD]
        assert [round(bar.width * 300 / SIDE) for bar in bars] == (
            [round(240 * min(1, total / 13))] if total else []
        )


def test_the_coins_that_are_left_and_those_just_taken() -> None:
    record = played("lastcoin", 3)  # each takes 1 of 7
    for ply in range(4):
        coins = [each for each in draw_ply(record, ply).shapes if isinstance(each, Circle)][::2]
        assert [each.fill == PAINT[1] for each in coins] == [True] * (7 - ply) + [False] * ply
        edges = [each.edge for each in coins if not each.fill]
        assert edges == ([ACCENT] + [FRAME] * (ply - 1) if ply else [])


@pytest.mark.parametrize("coins", ["1", "11", "1000"])
def test_few_and_many_coins_have_room(coins: str) -> None:
    game = make_game("lastcoin", {"coins": coins})
    record = replace(played("lastcoin", 0), options=game.options(), board=game.deal(1).board)
    scene = draw_ply(record)
    circles = [each for each in scene.shapes if isinstance(each, Circle)]
    assert len(circles) == 2 * min(int(coins), 200)
    assert all(each.x + each.r < LEFT + SIDE and each.y + each.r < scene.height for each in circles)


def test_names_and_faults_are_text_and_never_markup() -> None:
    fault = FaultRecord(2, 2, FaultKind.ILLEGAL, b"MOVE <svg onload=alert(1)>")
    record = replace(played("insertion", 2), names=("<script>&", '"]]>' + "n" * 60), faults=(fault,))
    text = svg_text(draw_ply(record))
    assert "<script" not in text
    assert "<svg onload" not in text
    root = ElementTree.fromstring(text)
    words = [each.text or "" for each in root.iter(f"{SVG}text")]
    assert "<script>&" in words
    assert "sent an illegal move" in " ".join(words)


def test_more_seats_than_the_board_is_high() -> None:
    record = played("disc", 2)
    scene = draw_ply(replace(record, names=("a", "b"), end="win"))
    sentence = "The game is over: a draw, 0 : 0."
    assert Text(LEFT - 32, scene.height - 24, 17, sentence, bold=True) in scene.shapes


def marks(drawing: Drawing) -> list[tuple[str, str]]:
    """What is said of each seat beside its name and points, and in which colour."""
    words = ("zombie", "to move", "wins", "draws")
    return [
        (shape.text, shape.colour)
        for shape in drawing.shapes
        if isinstance(shape, Text) and shape.text.startswith(words)
    ]


def rings(drawing: Drawing) -> list[str]:
    """The colours of the rings round the panels of seats."""
    return [each.fill for each in drawing.shapes if isinstance(each, Box) and each.x == COLUMN - 4]


def test_the_mover_zombies_and_winners_are_marked() -> None:
    fault = FaultRecord(2, 2, FaultKind.ILLEGAL, b"MOVE 0")
    record = replace(played("insertion", 4), faults=(fault,), totals=(30, 10), end="complete")
    shown = [draw_ply(record, ply) for ply in range(5)]
    assert [marks(scene) for scene in shown] == [
        [("to move", SEATS[0])],
        [("to move", SEATS[1])],
        [("to move", SEATS[0]), ("zombie", BAD)],
        [("zombie, to move", BAD)],
        [("wins", SEATS[0]), ("zombie", BAD)],
    ]
    assert [rings(scene) for scene in shown] == [[SEATS[ply % 2]] for ply in range(4)] + [[SEATS[0]]]
    drawn = draw_ply(replace(record, totals=(20, 20), faults=()))
    assert marks(drawn) == [("draws", SEATS[0]), ("draws", SEATS[1])]
    void = draw_ply(replace(record, end="void"))
    assert (marks(void), rings(void)) == ([("zombie", BAD)], [])


def test_a_forfeit_has_the_points_of_its_result() -> None:
    record = replace(played("xo", 2), totals=(0, 2), end="forfeit")
    scene = draw_ply(record)
    assert [each.text for each in scene.shapes if isinstance(each, Text) and each.size == 25] == ["0", "2"]
    assert marks(scene) == [("wins", SEATS[1])]


@pytest.mark.parametrize("name", rows(sorted(GAMES), 3))
def test_the_picture_of_a_link_has_the_size_and_the_colours_of_the_page(name: str) -> None:
    record = played(name, 4)
    assert link_painter() is link_png
    shown = Image.open(BytesIO(link_png(record, 2)))
    assert (shown.format, shown.size) == ("PNG", (1200, 630))
    colours = {colour for _, colour in shown.convert("RGB").getcolors()}
    assert {bytes.fromhex(colour[1:]) for colour in (PAGE, SEATS[0], SEATS[1])} <= set(map(bytes, colours))
    assert link_png(record, None) == link_png(record, 4) != link_png(record, 2)
    assert len(link_png(record, 4)) < 40_000
    with pytest.raises(IndexError):
        link_png(record, 5)


def test_a_name_that_no_font_can_draw_is_that_of_the_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    record = played("xo", 4)
    drawn = link_png(replace(record, names=("person-1", record.names[1])), None)
    for name in ("\U0002fa1d", "Мария"):
        monkeypatch.setattr(drawing, "FONTS", ())
        drawing.font_of.cache_clear()
        assert link_png(replace(record, names=(name, record.names[1])), None) == drawn
    drawing.font_of.cache_clear()
    assert font_of("person-1", 20) is not None


def test_the_marks_are_in_a_gif_too() -> None:
    image = Image.open(BytesIO(gif_bytes(played("insertion", 2))))
    for ply in range(2):
        image.seek(ply)
        pixels = image.convert("RGB")
        for seat in range(2):
            # At the left edge of the ring, half-way down.
            at = (COLUMN - 2, TOP - 6 + seat * (SEAT + 12) + SEAT // 2)
            wanted = bytes.fromhex((SEATS[seat] if seat == ply else PAGE)[1:])
            assert max(abs(a - b) for a, b in zip(pixels.getpixel(at), wanted, strict=True)) < 24


def test_a_gif_has_a_frame_per_ply_and_the_colours_of_the_board() -> None:
    record = played("insertion", 6)
    image = Image.open(BytesIO(gif_bytes(record, 0.25)))
    assert image.n_frames == 7
    step = SIDE / 5
    for ply, frame in enumerate(record_frames(record)):
        image.seek(ply)
        assert image.info["duration"] == (250 if ply < 6 else 1500)
        pixels = image.convert("RGB")
        for down, row in enumerate(frame.scene.rows()):
            for across, cell in enumerate(row):
                if cell == ".":
                    continue
                # Near the upper left corner of the tile, beside its white shape.
                at = (round(LEFT + (across + 0.14) * step), round(TOP + (down + 0.5) * step))
                wanted = bytes.fromhex(PAINT[int(cell)][1:])
                assert max(abs(a - b) for a, b in zip(pixels.getpixel(at), wanted, strict=True)) < 12


class TestReplay:
    def test_svg_and_gif_and_html_at_once(self, here: Path, shell: Shell) -> None:
        outcome = shell("replay", "g1", "--ply", "3", "--svg", "p.svg", "--gif", "g.gif", "--html", "p.html")
        assert outcome.out == "written: p.html\nwritten: p.svg\nwritten: g.gif\n"
        assert "ply 3 of 8" in (here / "p.svg").read_text()
        assert (here / "g.gif").read_bytes().startswith(b"GIF89a")

    def test_the_last_ply_is_drawn_without_ply(self, here: Path, shell: Shell) -> None:
        shell("replay", "g1", "--svg", "p.svg")
        text = (here / "p.svg").read_text()
        assert re.search(r"ply 8 of 8.*The game is over: [^<]+ \d+ : \d+\.<", text, re.DOTALL)

    def test_a_ply_that_was_not_played(self, here: Path, shell: Shell) -> None:
        outcome = shell("replay", "g1", "--ply", "9", "--svg", "p.svg")
        assert (outcome.code, outcome.line) == (1, "arena: game g1 has 8 plies, not 9")
        assert not (here / "p.svg").exists()

    @pytest.mark.parametrize("option", ["--svg", "--gif", "--html"])
    def test_a_file_that_cannot_be_written(self, here: Path, shell: Shell, option: str) -> None:
        outcome = shell("replay", "g1", option, "no/such/folder/x")
        assert (outcome.code, outcome.line) == (
            1,
            f"arena: {option}: no/such/folder/x: cannot be written: No such file or directory",
        )

    def test_a_gif_without_pillow(self, here: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        import sys

        monkeypatch.setitem(sys.modules, "PIL", None)
        outcome = shell("replay", "g1", "--gif", "g.gif")
        assert (outcome.code, outcome.line) == (
            2,
            f"arena: {needs_extra('--gif', 'pictures')}",
        )
