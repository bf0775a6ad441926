"""The formats of a contest; a new one is added to FORMATS (docs/add-a-format.md)."""

from __future__ import annotations

from typing import Final

from arena_server.core.formats.base import Format, FormatError, Terms
from arena_server.core.formats.gauntlet import Gauntlet
from arena_server.core.formats.groupstage import GroupStage
from arena_server.core.formats.knockout import Knockout
from arena_server.core.formats.ladder import Ladder
from arena_server.core.formats.matches import Matches, Single
from arena_server.core.formats.roundrobin import RoundRobin
from arena_server.core.formats.swiss import Swiss

_CLASSES: Final[tuple[type[Format], ...]] = (
    RoundRobin,
    Matches,
    Gauntlet,
    Knockout,
    GroupStage,
    Swiss,
    Ladder,
)
#: The formats of a configuration file, by their names.
FORMATS: Final[dict[str, type[Format]]] = {form.NAME: form for form in _CLASSES}


def find_format(name: str) -> type[Format]:
    """The class of a format. Raises FormatError, with the list, for an unknown name."""
    if name == Single.NAME:
        return Single
    if name not in FORMATS:
        raise FormatError(f"contest.format: expected one of {', '.join(FORMATS)}, got {name!r:.60}")
    return FORMATS[name]


def make_format(name: str, terms: Terms) -> Format:
    """The games of a contest that begins. Raises FormatError for an unknown format or impossible terms."""
    return find_format(name)(terms)
