"""docs/configuration.md against the code: every key, its table and its default; the example is a contest."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import PydanticUndefined

from arena_server.config_file import parse_contest
from arena_server.config_schema import BotTable, ContestTable, GameTable, ServerTable, parse_duration

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
TABLES: dict[str, type[Any]] = {
    "[contest]": ContestTable,
    "[game]": GameTable,
    "[server]": ServerTable,
    "[[bot]]": BotTable,
}
#: What the page says of a key without a value of its own.
WORDS = {"random", "never", "none"}


def documented(table: str) -> dict[str, str]:
    """The keys that the page has of a table, with their defaults as written."""
    section = PAGE.partition(f"## `{table}`")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)` \| `?([^|`]+)`? \|", section, re.MULTILINE))


@pytest.mark.parametrize("table", TABLES)
def test_every_key_is_documented_and_every_documented_key_exists(table: str) -> None:
    assert list(documented(table)) == list(TABLES[table].model_fields)


@pytest.mark.parametrize(("table", "key"), [(t, k) for t in TABLES for k in TABLES[t].model_fields])
def test_the_defaults_are_those_of_the_code(table: str, key: str) -> None:
    said = documented(table)[key]
    default = TABLES[table].model_fields[key].get_default(call_default_factory=True)
    if default is PydanticUndefined:
        assert said == "required"
    elif default is None:
        assert said in WORDS
    elif isinstance(default, bool):
        assert said == str(default).lower()
    elif said.startswith('"') and isinstance(default, int):
        assert parse_duration(said.strip('"')) == default
    else:
        assert said.strip('"') == str(default)


def test_the_example_is_a_contest() -> None:
    example = PAGE.partition("```toml\n")[2].partition("```")[0]
    file = parse_contest(example, "docs/configuration.md")
    assert [bot.is_local for bot in file.bot] == [True, True, False]
