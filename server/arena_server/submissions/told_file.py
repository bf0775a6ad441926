"""The file for a machine that examines a version: game and clocks of the contest, and limits of the bot.

The seed of the deals, tokens, webhooks and the other bots stay with the server.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import count, islice
from pathlib import Path
from typing import Any, Final

from arena_server.terms.file import load_contest, read_tables
from arena_server.terms.terms import GameTerms, terms_of

#: Keys of `[contest]`: those that a game is played by.
_CONTEST: Final = frozenset(
    source.key.partition(".")[2] for _, source in terms_of(GameTerms) if source.key.startswith("contest.")
)
_LIMITS: Final = ("cpus", "memory", "pids", "ponder")
#: Replaced by the positions in it.
_LIBRARY: Final = "library"


def told_file(path: Path, bot: str, seats: int) -> str:
    """The text of a file by which `arena check` does with this bot what the contest of `path` would.

    Raises ConfigError.
    """
    tables = read_tables(path)
    given = tables["contest"]
    game = {key: value for key, value in tables.get("game", {}).items() if key != _LIBRARY}
    if _LIBRARY in tables.get("game", {}):
        game["board"] = load_contest(path).game.own_options["board"]
    own: dict[str, Any] = next((each for each in tables["bot"] if each["name"] == bot), {})
    limits = {key: own[key] for key in _LIMITS if key in own}
    others = islice((name for number in count(1) if (name := f"other-{number}") != bot), max(1, seats - 1))
    told = {
        "contest": {"name": given["name"]} | {key: given[key] for key in sorted(_CONTEST & given.keys())},
        "game": game,
        "container": tables.get("container", {}),
    }
    lines = [line for name, table in told.items() for line in (f"[{name}]", *_lines(table))]
    lines += ["[[bot]]", *_lines({"name": bot, "image": bot} | limits)]
    lines += [line for name in others for line in ("[[bot]]", *_lines({"name": name}))]
    return "\n".join(lines) + "\n"


def _lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{json.dumps(key)} = {_toml(value)}" for key, value in table.items()]


def _toml(value: object) -> str:
    """A value of a TOML file as its text."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list() | tuple():
            return f"[{', '.join(map(_toml, value))}]"
        case dict():
            inner = (f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items())
            return f"{{{', '.join(inner)}}}"
    return str(value)
