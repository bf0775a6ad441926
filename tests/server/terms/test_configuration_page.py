"""docs/configuration.md against the code: every key, its table and its default; the example is a contest."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pydantic_core import PydanticUndefined
from tests.slices import all_of

from arena_server.core.formats import FORMATS
from arena_server.stats.tiebreaks import TIE_BREAKS
from arena_server.terms.contest_table import ContestTable, GameTable
from arena_server.terms.file import parse_contest
from arena_server.terms.sandbox import parse_size
from arena_server.terms.schema import BotTable, ServerTable, SiteTable, WebhookTable
from arena_server.terms.tables import ContainerTable, StageTable, SubmissionsTable, parse_duration

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "configuration.md").read_text(encoding="utf-8")
TABLES: dict[str, type[Any]] = {
    "[contest]": ContestTable,
    "[game]": GameTable,
    "[server]": ServerTable,
    "[container]": ContainerTable,
    "[site]": SiteTable,
    "[submissions]": SubmissionsTable,
    "[[bot]]": BotTable,
    "[[webhook]]": WebhookTable,
    "[[stage]]": StageTable,
}
#: What the page says of a key without a value of its own.
WORDS = {"random", "never", "none"}


def documented(table: str) -> dict[str, str]:
    """The keys that the page has of a table, with their defaults as written."""
    # A table within this one has a section of its own, with its name as a title.
    section = PAGE.partition(f"## `{table}`")[2].partition("\n## ")[0].partition("\n### `")[0]
    return dict(re.findall(r"^\| `(\w+)` \| `?([^|`]+)`? \|", section, re.MULTILINE))


def shown(default: object) -> str:
    """A default of a format as the page has it."""
    if default == ():
        return "[]"
    return str(default).lower() if isinstance(default, bool) else str(default) or '""'


def own_keys(table: str) -> list[str]:
    """The keys of a table in a file, without those that only some formats take; inherited ones come last."""
    keys = sorted(TABLES[table].model_fields, key=lambda key: key not in TABLES[table].__annotations__)
    return [key for key in keys if key != "format_options"]


KEYS = {table: own_keys(table) for table in TABLES}


@all_of("table", TABLES)
def test_every_key_is_documented_and_every_documented_key_exists(table: str) -> None:
    assert list(documented(table)) == KEYS[table]


def test_every_format_is_documented_with_its_keys() -> None:
    section = PAGE.partition("### Formats")[2].partition("\n## ")[0]
    rows = re.findall(r'^\| `"([\w-]+)"` \| (.+) \| (.+) \|$', section, re.MULTILINE)
    assert rows == [
        (
            name,
            form.MEANING,
            "; ".join(
                f"`{key}` (`{shown(each.default)}`): {each.meaning}" for key, each in form.OPTIONS.items()
            )
            or "none",
        )
        for name, form in FORMATS.items()
    ]


def test_every_tie_break_is_documented() -> None:
    section = PAGE.partition("### Tie-breaks")[2].partition("\n## ")[0]
    assert re.findall(r'^\| `"([\w-]+)"` \|', section, re.MULTILINE) == list(TIE_BREAKS)


@all_of(("table", "key"), [(t, k) for t in TABLES for k in KEYS[t]])
def test_the_defaults_are_those_of_the_code(table: str, key: str) -> None:
    said = documented(table)[key]
    default = TABLES[table].model_fields[key].get_default(call_default_factory=True)
    if default is PydanticUndefined:
        assert said == "required"
    elif default is None:
        assert said in WORDS
    elif isinstance(default, bool):
        assert said == str(default).lower()
    elif isinstance(default, list):
        assert json.loads(said) == default
    elif said.startswith('"') and isinstance(default, int):
        read = parse_size if said.endswith('B"') else parse_duration
        assert read(said.strip('"')) == default
    else:
        assert said.strip('"') == str(default)


def test_the_example_is_a_contest() -> None:
    example = PAGE.partition("```toml\n")[2].partition("```")[0]
    file = parse_contest(example, "docs/configuration.md")
    assert [bot.is_local for bot in file.bot] == [True, True, False]
