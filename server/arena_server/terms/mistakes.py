"""What is wrong with a configuration file, as one line: the key, what was expected and what came."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, time
from typing import TYPE_CHECKING

from pydantic import ValidationError

from arena_server.terms.contest_table import FORMAT_OPTIONS, OPTIONS_PLACE, ContestTable, GameTable
from arena_server.terms.schema import BotTable, ContestFile, RoleTable, ServerTable, SiteTable, WebhookTable
from arena_server.terms.tables import ContainerTable, SourceTable, SubmissionsTable

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

#: A table of tables, as errors name it.
ROLE = "server.role"
#: The longest value shown in an error, so that it does not hide the sentence.
SHOWN = 60

KEYS: Mapping[str, frozenset[str]] = {
    "": frozenset(ContestFile.model_fields),
    "contest": frozenset(ContestTable.model_fields) - {"format_options"} | FORMAT_OPTIONS,
    "game": frozenset(GameTable.model_fields),
    "server": frozenset(ServerTable.model_fields),
    "site": frozenset(SiteTable.model_fields),
    "container": frozenset(ContainerTable.model_fields),
    "submissions": frozenset(SubmissionsTable.model_fields),
    "bot": frozenset(BotTable.model_fields),
    "webhook": frozenset(WebhookTable.model_fields),
    "entrants_from": frozenset(SourceTable.model_fields),
    ROLE: frozenset(RoleTable.model_fields),
}

#: Tables of which a file may have several.
_REPEATED = ("bot", "webhook", ROLE)
#: A table within `[[stage]]`, and never one by itself.
_INNER = "entrants_from"

_EXPECTED = {
    "string_type": "a text in quotes",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "model_type": "a table",
    "string_too_short": "a text that is not empty",
    "string_pattern_mismatch": "64 hexadecimal digits in lower case",
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
    "too_short": "a list with an entry",
    "too_long": "at most {max_length} entries",
    "literal_error": "{expected}",
}


def mistake(error: ValidationError, options: frozenset[str] = frozenset()) -> str:
    """The first mistake, and how many more there are; `options` are those of the format."""
    details = error.errors(include_url=False)
    # An unknown key often causes a missing one, so it comes first.
    details.sort(key=lambda detail: detail["type"] != "extra_forbidden")
    more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
    return _sentence(details[0], options) + more


def _sentence(detail: ErrorDetails, options: frozenset[str]) -> str:
    location = tuple(part for part in detail["loc"] if part != OPTIONS_PLACE)
    key = _place(location)
    if detail["type"] == "extra_forbidden":
        table = str(location[0]) if len(location) > 1 else ""
        table = ROLE if len(location) > 3 and location[:2] == ("server", "role") else table
        known = KEYS[table] | options if table == "contest" else KEYS[table]
        return unknown_key(key, str(location[-1]), known)
    if detail["type"] == "missing":
        return f"{key}: missing"
    prefix = f"{key}: " if key else ""
    if detail["type"] == "value_error":
        text = str(detail["ctx"]["error"])
        return f"{prefix}{text}" if "got " in text else f"{prefix}{text}, got {_shown(detail['input'])}"
    template = _EXPECTED.get(detail["type"])
    expected = template.format(**detail.get("ctx", {})) if template else detail["msg"]
    return f"{prefix}expected {expected}, got {_shown(detail['input'])}"


def _place(location: tuple[int | str, ...]) -> str:
    """`contest.seed`, or `bot 2: engine` for the second [[bot]]."""
    parts = [str(part) for part in location]
    if location[:2] == ("server", "role") and len(location) > 2:
        location, parts = (ROLE, *location[2:]), [ROLE, *parts[2:]]
    if len(location) > 1 and isinstance(location[1], int) and location[0] in (*_REPEATED, _INNER):
        return ": ".join([f"{location[0]} {location[1] + 1}", ".".join(parts[2:])]).removesuffix(": ")
    return ".".join(parts)


def unknown_key(place: str, key: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches  # only a mistake needs it

    close = get_close_matches(key, sorted(known), n=1, cutoff=0.58)
    # A word of another table is not misspelt.
    homes = [
        f"[[{table}]]" if table in _REPEATED else f"[{table}]"
        for table in KEYS
        if table not in ("", _INNER) and key in KEYS[table]
    ]
    if homes:
        hint = f"it belongs in {' or '.join(homes)}"
    else:
        hint = f"did you mean {close[0]!r}?" if close else f"known here: {', '.join(sorted(known))}"
    return f"{place}: unknown key; {hint}"


def _shown(value: object) -> str:
    """The value as TOML has it, cut short."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date | time):  # a moment is a date
        return value.isoformat()
    if isinstance(value, dict) and value:
        text = "{ " + ", ".join(f"{key} = {_shown(each)}" for key, each in value.items()) + " }"
    else:
        text = "a table" if isinstance(value, dict) else repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
