"""docs/plug-ins.md: it has all groups, and its examples are plug-ins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from arena_protocol.plugins import GROUPS
from arena_server.places.base import LocalBot
from arena_server.places.launchers import LAUNCHERS, Place, launcher_of
from arena_server.stats.tiebreaks import PlayerSums, values

from ..plugged import install, plugged

PAGE = (Path(__file__).parents[2] / "docs" / "plug-ins.md").read_text(encoding="utf-8")
TIE_BREAK, LAUNCHER = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(autouse=True)
def installed(tmp_path: Path) -> Iterator[None]:
    """A package with the examples of the page."""
    (tmp_path / "pagepack.py").write_text(f"{TIE_BREAK}\n\n{LAUNCHER}")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "page-pack"\nversion = "1"\n'
        '[project.entry-points."arena.tie_breaks"]\nmean = "pagepack:mean_points"\n'
        '[project.entry-points."arena.launchers"]\nnice = "pagepack:nice"\n'
    )
    install(tmp_path, tmp_path / "pyproject.toml")
    with plugged(tmp_path):
        yield


def test_the_page_has_all_groups() -> None:
    assert set(re.findall(r"^\| `(arena\.\w+)` \|", PAGE, re.MULTILINE)) == set(GROUPS)


def test_the_tie_break_of_the_page_is_one() -> None:
    entrants = {"ann": PlayerSums(points=7, games=2), "bob": PlayerSums()}
    scores = dict.fromkeys(entrants, Fraction(1))
    assert values(["mean"], entrants, scores, 1) == {"ann": (Fraction(7, 2),), "bob": (Fraction(0),)}


@pytest.mark.real
@pytest.mark.asyncio
async def test_the_launcher_of_the_page_starts_a_bot() -> None:
    bot = LocalBot("slow", ["sh", "-c", "nice"], "token", launcher="nice")
    async with launcher_of([bot], Place("127.0.0.1", 2006, "trial")) as launcher:
        running = await launcher.start(bot)
        ended = await running.wait()
        await running.end()
    assert list(LAUNCHERS) == ["nice"]
    assert ended.status == 0
    assert int(ended.lines[-1]) >= 10, "the priority that `nice` prints"
