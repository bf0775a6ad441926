"""What all pages have in common for the eye: one scale of sizes, and a picture for each name."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .browser import Watched
from .node import Node

SHEET = (files("arena_server.web") / "static" / "site.css").read_text(encoding="utf-8")
#: A drop zone, a slider, a sign and a dot, and the paper.
ONE_OFF = {"4rem", "1.3rem", "0.45em", "-4px", "10mm"}
NAMES = [f"bot-{each:02}" for each in range(1, 33)]


def test_each_size_of_a_text_is_one_of_the_scale() -> None:
    scale = set(re.findall(r"var\(--(\w+)\)", "".join(re.findall(r"font(?:-size)?: [^;}]*", SHEET))))
    assert scale == {"tiny", "small", "body", "lead", "title", "big"}
    assert [
        each for each in re.findall(r"font-size: ([^;} ]+)", SHEET) if not each.startswith("var(--")
    ] == []


def test_each_gap_and_corner_is_a_step() -> None:
    """A number of its own only where it is none of them."""
    declared = re.findall(r"[\s{](?:padding|margin|gap|row-gap|column-gap)(?:-[a-z]+)*: ([^;}]+)", SHEET)
    gaps = set(re.sub(r"calc\(-1 \* (var\(--\w+\))\)", r"\1", " ".join(declared)).split())
    steps = {f"var(--{step})" for step in ("hair", "near", "gap", "far", "wide", "apart")}
    assert gaps - steps - {"0", "auto", "!important"} == ONE_OFF
    corners = " ".join(re.findall(r"border-radius: ([^;}]+)", SHEET)).split()
    assert set(corners) == {"0", "50%", "var(--bead)", "var(--corner)", "var(--round)"}


def test_each_class_of_the_sheet_is_one_that_a_page_has() -> None:
    """In the scripts, or in the scenes that a game's rules draw; `share-${part}` stands for all parts."""
    rules = re.sub(r"/\*.*?\*/|\"[^\"]*\"|\{[^{}]*\}", " ", SHEET, flags=re.DOTALL)
    classes = set(re.findall(r"\.([a-z][\w-]*)", rules))
    root = Path(__file__).parents[3]
    sources = [*(root / "server/arena_server/web").rglob("*.js"), *(root / "protocol").rglob("*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    words = set(re.findall(r"[\w-]+", text))
    unused = {name for name in classes if not {name, re.sub(r"\d+$", "", name)} & words}
    # The state of a match, as `named` has it.
    assert {name for name in unused if name.replace("-", " ") not in text} == set()


def test_the_weights_are_four() -> None:
    assert set(re.findall(r"font-weight: (\d+)", SHEET)) <= {"400", "500", "600", "700"}


def test_nothing_glides_where_motion_is_unwanted() -> None:
    assert "transition" in SHEET
    assert "@media (prefers-reduced-motion: reduce) { * { transition: none !important; } }" in SHEET


def test_a_row_slides_from_its_old_rank_unless_motion_is_unwanted(node: Node) -> None:
    before, after = ["ann", "bob", "cleo", "dan"], ["bob", "ann", "cleo", "eve", "dan"]
    slid = {"ann": "translateY(-28px)", "bob": "translateY(28px)", "dan": "translateY(-28px)"}
    assert node("slide", before=before, after=after, still=False) == [slid, True]
    assert node("slide", before=before, after=after, still=True) == [{}, False]
    # Most results change no rank.
    assert node("slide", before=before, after=before, still=False) == [{}, False]
    assert node("slide", before=before, after=[*before, "eve"], still=False) == [{}, False]


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


HEAD = """<div class="contest-head"><h2>A cup of the autumn</h2><p class="sub words">An evening of bots.</p>
<p class="chips"><span class="tag">Insertion</span> <span class="tag">Swiss</span></p>
<p class="leader">ann leads with a score of 7.5 in 12 games</p><p class="progress"><progress></progress>
<span>120 of 480 games; 40 games an hour, about 9 hours left</span></p>
<p class="sub">Latest: g120: ann wins 120 : 90</p><p class="sub waiting">{held}</p></div>"""
BOARD = """<div class="wall-box"><div class="wall"><a class="card">
<svg class="board" viewBox="0 0 500 500"></svg><span class="row">ann</span><span class="row">bob</span>
<span class="sub">g121, ply 7</span></a></div></div>"""
CARD = """<section class="playing beside{waits}">{head}{board}</section>"""
#: In how many rows the boards stand, whether each that waits is one line, and how many windows it all fills.
SEEN = """(() => {
  const runs = [...document.querySelectorAll(".beside:not(.waits)")].map((card) => card.offsetTop);
  const waits = [...document.querySelectorAll(".waits")].map((card) => card.offsetHeight);
  const windows = document.documentElement.scrollHeight / innerHeight;
  return [new Set(runs).size, waits.every((height) => height < 60), windows];
})()"""


@pytest.mark.real
@pytest.mark.soak
@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
def test_ten_contests_are_in_two_windows_of_the_first_page(
    size: tuple[int, int], pages: Watched, tmp_path: Path
) -> None:
    """Cards of contests that run, two in a row, of five and more three; those that wait are lines."""
    for running, rows in [(10, 4), (7, 3), (5, 2), (4, 2), (3, 2), (2, 1), (0, 0)]:
        waiting = HEAD.format(held="Waiting for " + ", ".join(["bot (never connected)"] * 9))
        cards = [CARD.format(waits="", head=HEAD.format(held=""), board=BOARD)] * running
        cards += [CARD.format(waits=" waits", head=waiting, board=BOARD)] * (10 - running)
        body = f"<main><div class='contests'>{''.join(cards)}</div></main>"
        path = tmp_path / "index.html"
        path.write_text(f"<!doctype html><html data-page=index><style>{SHEET}</style><body>{body}")
        found = pages.open(path.as_uri(), size).evaluate(SEEN)
        assert found[:2] == [rows, True], running
        assert found[2] <= 2, running
