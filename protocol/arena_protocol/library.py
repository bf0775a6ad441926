"""Libraries of positions: a text with a JSON object a line.

    {"game": "xo", "options": {"size": "10"}, "state": "...", "move": "e5", "value": 120, "depth": 8,
    "engine": "xo"}

`state` is the text of STATE; `options` are those of the game that are not the default; `sequence`
the visible pictures that a move of insertion was chosen for. `move`, `value`, `depth` and `engine` may be
absent: such a position is only a start. Contests start from the positions (option `board`), engines play the
moves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from arena_protocol.games import make_game
from arena_protocol.games.base import MAX_BOARDS, Deal, Game, GameError


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One position, and what an engine found for it: its move, its value and the depth of its search."""

    game: str
    state: str
    options: Mapping[str, str] = field(default_factory=dict)
    sequence: str = ""
    move: str | None = None
    value: int | None = None
    depth: int = 0
    engine: str = ""

    def is_of(self, rules: Game[Any]) -> bool:
        """Whether the position belongs to this game with its options."""
        return self.game == rules.name and self.options == position_options(rules)


#: The options of a game that a position depends on.
_POSITION_OPTIONS = {"xo": ("size",), "tictactoe": ("size", "win"), "disc": ("m",)}


def position_options(rules: Game[Any]) -> dict[str, str]:
    """Return the options that a position of this game depends on."""
    given = rules.options()
    return {name: given[name] for name in _POSITION_OPTIONS.get(rules.name, ())}


_TYPES = {
    "game": str,
    "state": str,
    "options": dict,
    "sequence": str,
    "move": str,
    "value": int,
    "depth": int,
    "engine": str,
}
_NAMES = {str: "a text", int: "a whole number", dict: "an object"}


def parse_library(text: str) -> list[Entry]:
    """Return the entries of a library. Raises GameError, naming the line, for a line that is none."""
    entries = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            entries.append(_entry(json.loads(line)))
        except GameError as error:
            raise GameError(f"line {number} of the library: {error}") from None
        except (ValueError, RecursionError):  # of the JSON parser
            raise GameError(f"line {number} of the library: expected a JSON object") from None
    return entries


def _entry(found: object) -> Entry:
    if not isinstance(found, dict):
        raise GameError("expected a JSON object")
    for key, value in found.items():
        if key not in _TYPES:
            raise GameError(f"unknown key {key!r}; there are: {', '.join(_TYPES)}")
        if type(value) is not _TYPES[key]:
            raise GameError(f"{key} is {_NAMES[_TYPES[key]]}, not {value!r}")
    if "game" not in found or "state" not in found:
        raise GameError("expected the keys game and state")
    entry = Entry(**found)
    if not all(isinstance(value, str) for value in entry.options.values()):
        raise GameError(f"options are texts, not {dict(entry.options)!r}")
    rules = make_game(entry.game, dict(entry.options))
    position = rules.start(Deal(entry.state, entry.sequence))
    if entry.move is not None and not rules.is_legal(position, entry.move):
        raise GameError(f"{entry.move!r} is not a legal move of {entry.state!r}")
    return replace(entry, options=position_options(rules))


def format_library(entries: Iterable[Entry]) -> str:
    """Return the text of a library; `parse_library` reads it back."""
    return "".join(json.dumps(_short(entry), ensure_ascii=False) + "\n" for entry in entries)


def _short(entry: Entry) -> dict[str, object]:
    plain = asdict(entry)
    return {
        key: value
        for key, value in plain.items()
        if value not in ("", None, {}) and (key, value) != ("depth", 0)
    }


def start_boards(entries: Iterable[Entry], rules: Game[Any]) -> str:
    """Return the positions of this game that are not over as its option `board`.

    Raises GameError if there are none, or more than an option may have.
    """
    boards = dict.fromkeys(entry.state for entry in entries if entry.is_of(rules))
    open_ones = [board for board in boards if rules.end(rules.start(Deal(board))) is None]
    if not 1 <= len(open_ones) <= MAX_BOARDS:
        raise GameError(
            f"a game starts from 1 to {MAX_BOARDS} positions of a library; "
            f"{len(open_ones)} are of {rules.name} with these options"
        )
    return "|".join(open_ones)
