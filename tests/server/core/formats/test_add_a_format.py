"""docs/add-a-format.md, executed: its code becomes a format that obeys the laws and plays a contest."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.slices import rows

from arena_engines.bot import bot_of
from arena_protocol.verify import verify
from arena_server.core.formats.base import Format
from arena_server.core.formats.testing import LAWS, Law, total_of
from arena_server.errors import ConfigError
from arena_server.terms.file import config_of, parse_contest
from arena_server.terms.formats import FORMATS, FormatError, Option, Terms

from ....client.test_with_the_referee import Loopback, PlayerEnd, ScriptEnd

ROOT = Path(__file__).resolve().parents[4]
PAGE = (ROOT / "docs" / "add-a-format.md").read_text(encoding="utf-8")
(SOURCE,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
(ROW,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
PROJECT, CONTEST = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
PLACE = tomllib.loads(PROJECT)["project"]["entry-points"]["arena.formats"]["ring"]
#: The entry point of the package of the page.
ENTRY = EntryPoint("ring", PLACE, "arena.formats")


@pytest.fixture(scope="module", autouse=True)
def ring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[type[Format]]:
    """The package of the page is installed."""
    file = tmp_path_factory.mktemp("page") / "arena_ring.py"
    file.write_text(SOURCE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("page_ring", file)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FORMATS, "_outside", lambda: {"ring": ENTRY})
        patch.setitem(sys.modules, "arena_ring", made)
        yield made.Ring
        FORMATS.search()


@pytest.mark.parametrize("law", rows(LAWS, 2), ids=lambda law: law.__name__)
def test_the_format_of_the_page_obeys_the_laws(law: Law, ring: type[Format]) -> None:
    # With 15 no game of it becomes void in a law that starts again.
    @settings(deadline=None, max_examples=max(25, settings().max_examples))
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        law(ring, data)

    holds()


def test_every_bot_plays_those_that_follow_it(ring: type[Format]) -> None:
    form = ring(Terms(("a", "b", "c", "d", "e"), 2, 2, options={"reach": 2}))
    met = Counter(frozenset(game.names) for game in form.planned(1, total_of(form) + 1))
    assert met == {
        frozenset(pair): 2 for pair in ("ab", "bc", "cd", "de", "ea", "ac", "bd", "ce", "da", "eb")
    }


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        (Terms(("a", "b", "c"), 3, 3), 'contest.format: expected a game of 2 seats for "ring", got 3'),
        (Terms(("a", "b"), 2, 2), "contest.reach: expected less than half of 2 bots, got 1"),
        (Terms(("a", "b", "c"), 2, 2, options={"reach": 11}), "contest.reach: expected 1 to 10, got 11"),
    ],
)
def test_what_the_format_of_the_page_refuses(ring: type[Format], terms: Terms, text: str) -> None:
    with pytest.raises(FormatError) as caught:
        ring(terms)
    assert str(caught.value) == text


def test_the_contest_of_the_page_is_played_and_verified() -> None:
    file = parse_contest(CONTEST, "circle.toml")
    ends: dict[str, PlayerEnd | ScriptEnd] = {
        bot.name: PlayerEnd(bot_of(f"{bot.engine}:seed=1", "tictactoe"), bot.name) for bot in file.bot
    }
    world = Loopback(config_of(file), ends).run()
    assert world.finished == "finished"
    met = Counter(frozenset(record.names) for record in world.records.values())
    assert (len(met), set(met.values())) == (10, {2})
    for record in world.records.values():
        verify(record)


def test_a_mistake_in_the_file_is_one_line() -> None:
    for wrong, line in (
        ("reach = 3", "contest.reach: expected less than half of 5 bots, got 3"),
        ('reach = "2"', "contest.reach: expected a whole number, got '2'"),
        ("reech = 2", "contest.reech: unknown key; did you mean 'reach'?"),
    ):
        with pytest.raises(ConfigError) as caught:
            parse_contest(CONTEST.replace("reach = 2", wrong), "circle.toml")
        assert str(caught.value) == f"circle.toml: {line}"


def test_the_row_of_the_page_says_what_the_format_says(ring: type[Format]) -> None:
    (option,) = ring.OPTIONS.items()
    key, value = option
    assert isinstance(value, Option)
    assert f'| `"ring"` | {ring.MEANING} | `{key}` (`{value.default}`): {value.meaning} |\n' == ROW


@pytest.mark.real
@pytest.mark.soak
def test_the_code_of_the_page_is_in_the_style_of_the_house() -> None:
    ruff = Path(sys.executable).with_name("ruff")
    for command in (["check", "--quiet"], ["format", "--check", "--quiet"]):
        name = ["--stdin-filename", "arena_ring.py", "-"]
        ran = subprocess.run([ruff, *command, *name], input=SOURCE, text=True, cwd=ROOT, check=False)
        assert ran.returncode == 0
