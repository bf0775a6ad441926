"""What a row of the table of messages is.

It must not know: which verbs there are, nor what any of them means.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from enum import Enum
from typing import Any, Final

from arena_protocol.fields import TEXT, Kind
from arena_protocol.lines import CLIENT_LINE_LIMIT, SERVER_LINE_LIMIT

#: The default of an attribute that has none: no value is ever equal to it.
REQUIRED: Final = object()


class Direction(Enum):
    """Who may say a verb."""

    CLIENT = "client"
    SERVER = "server"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Shape:
    """One row of the table: how one verb reads and prints.

    `positionals` and `options` map names to kinds, in the order of printing; the names are
    the attributes of `type`, in the same order. A positional is always there; an option may
    be absent if its attribute has a default. A positional of kind TEXT is the last and runs
    to the end of the line or to the options of this row. `own_after` is the option after
    which the game's own options stand; they are the last attribute, `options`.
    """

    verb: str
    type: type[Any]
    direction: Direction
    positionals: dict[str, Kind] = field(default_factory=dict)
    options: dict[str, Kind] = field(default_factory=dict)
    own_after: str | None = None

    @property
    def limit(self) -> int:
        """Bytes of the longest line of this verb, its line end not counted."""
        return SERVER_LINE_LIMIT if self.direction is Direction.SERVER else CLIENT_LINE_LIMIT

    @property
    def defaults(self) -> dict[str, Any]:
        """What each option is when it is absent; REQUIRED where it may not be."""
        given = {f.name: f.default for f in fields(self.type) if f.default is not MISSING}
        return {name: given.get(name, REQUIRED) for name in self.options}

    @property
    def is_regular(self) -> bool:
        """Whether one regular expression tells all values of a line apart."""
        return self.own_after is None and TEXT not in self.positionals.values()

    def pattern(self) -> str:
        """Give the regular expression of a regular line in the order of printing, a group a value."""
        parts = [self.verb, *(f" ({kind.pattern})" for kind in self.positionals.values())]
        for (key, kind), default in zip(self.options.items(), self.defaults.values(), strict=True):
            group = f" {key}=({kind.pattern})"
            parts.append(group if default is REQUIRED else f"(?:{group})?")
        return "".join(parts)
