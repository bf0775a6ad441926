"""The formats of a contest, by name: those of this folder, and those of plug-ins (docs/add-a-format.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from arena_protocol.plugins import Plugins
from arena_server.core.formats.base import DrawnFormat, Format
from arena_server.core.formats.matches import Handed, Single
from arena_server.stats.early_stop import check as check_stop
from arena_server.terms import formats
from arena_server.terms.config import ContestConfig, ContestConfigError, check_extra
from arena_server.terms.formats import FormatError, Terms, order_of

#: The list of the terms, which cannot name the class that its formats have in common.
FORMATS: Final = cast("Plugins[type[Format]]", formats.FORMATS)


def find_format(name: str) -> type[Format]:
    """The class of a format. Raises FormatError, with the list, for an unknown name."""
    for form in (Single, Handed):
        if name == form.NAME:
            return form
    if name not in FORMATS:
        raise FormatError(f"contest.format: expected one of {', '.join(FORMATS)}, got {name!r:.60}")
    return FORMATS[name]


def make_format(name: str, terms: Terms) -> Format:
    """The games of a contest that begins. Raises FormatError for an unknown format or impossible terms."""
    return find_format(name)(terms)


def doubt_of(config: ContestConfig, names: Sequence[str], seats: int) -> str:
    """Why a contest of these bots may end before all of its games are played; empty: it need not."""
    form = find_format(config.format)
    return form.doubt(_terms(config, names, seats)) if issubclass(form, DrawnFormat) else ""


def _terms(config: ContestConfig, names: Sequence[str], seats: int) -> Terms:
    return Terms(
        order_of(names, config.seed, anonymous=config.anonymous),
        seats,
        config.games_per_pair,
        paired=config.deals == "paired",
        options=config.format_options,
        owners=config.owners,
        by_points=config.scoring == "points",
        secret=config.seed,
        scoring=config.scoring,
    )


def format_of(config: ContestConfig, names: Sequence[str], seats: int) -> Format:
    """The games of a contest of these bots that begins. Raises ContestConfigError if none can be made."""
    check_extra(config)
    try:
        made = make_format(config.format, _terms(config, names, seats))
        check_stop(config.stop, find_format(config.format), len(names))
        return made
    except ValueError as error:
        raise ContestConfigError(str(error)) from error
