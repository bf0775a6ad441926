"""docs/add-a-format.md, executed: its code becomes a format that obeys the laws and plays a contest."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena_engines.bot import bot_of
from arena_protocol.verify import verify
from arena_server import config_file, config_schema
from arena_server.config_file import config_of, parse_contest
from arena_server.core import formats
from arena_server.core.formats.base import Format, FormatError, Option, Terms
from arena_server.errors import ConfigError

from ....client.test_with_the_referee import Loopback, PlayerEnd, ScriptEnd
from .laws import LAWS, Law, total_of

ROOT = Path(__file__).resolve().parents[4]
PAGE = (ROOT / "docs" / "add-a-format.md").read_text(encoding="utf-8")
(SOURCE,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
(CONTEST,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
REGISTERED, ROW = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module", autouse=True)
def ring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[type[Format]]:
    """Steps 1 and 2: the file of the format, and its entry."""
    file = tmp_path_factory.mktemp("page") / "ring.py"
    file.write_text(SOURCE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("page_ring", file)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(formats.FORMATS, "ring", made.Ring)
        # What these two modules derive from the registry when they are imported.
        patch.setattr(config_schema, "FORMAT_OPTIONS", config_schema.FORMAT_OPTIONS | {"reach"})
        patch.setitem(config_file._KEYS, "contest", config_file._KEYS["contest"] | {"reach"})
        yield made.Ring


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_format_of_the_page_obeys_the_laws(law: Law, ring: type[Format]) -> None:
    @settings(deadline=None)
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


def test_the_entry_of_the_page_stands_where_it_says(ring: type[Format]) -> None:
    init = (ROOT / "server/arena_server/core/formats/__init__.py").read_text(encoding="utf-8")
    for line in REGISTERED.replace("ring", "gauntlet").replace("Ring", "Gauntlet").splitlines():
        assert f"{line}\n" in init
    (option,) = ring.OPTIONS.items()
    key, value = option
    assert isinstance(value, Option)
    assert f'| `"ring"` | {ring.MEANING} | `{key}` (`{value.default}`): {value.meaning} |\n' == ROW


@pytest.mark.real
def test_the_code_of_the_page_is_in_the_style_of_the_house() -> None:
    ruff = Path(sys.executable).with_name("ruff")
    for command in (["check", "--quiet"], ["format", "--check", "--quiet"]):
        name = ["--stdin-filename", "server/arena_server/core/formats/ring.py", "-"]
        ran = subprocess.run([ruff, *command, *name], input=SOURCE, text=True, cwd=ROOT, check=False)
        assert ran.returncode == 0
