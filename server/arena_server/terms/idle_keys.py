"""Keys that are right by themselves and would decide nothing: no new contest begins with one.

A contest that goes on, or is shown after its end, is not asked: what decided once has done so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from arena_server.errors import ConfigError
from arena_server.stats.scoring import scoring_of
from arena_server.terms.contest_table import ContestTable
from arena_server.terms.formats import FORMATS
from arena_server.terms.schema import ContestFile
from arena_server.terms.tables import format_duration


def check_idle_keys(file: ContestFile, now: datetime, source: str) -> None:
    """Raise ConfigError for a key that decides nothing in a contest which begins at `now`, which is aware.

    `source` is the name of the file.
    """
    for text in idle_keys(file, now):
        raise ConfigError(f"{source}: {text}")


def idle_keys(file: ContestFile, now: datetime, *, owners: bool = True) -> Iterator[str]:
    """Each key that decides nothing, with what was expected; without `owners` those of bots are not asked."""
    yield from _moments(file.contest, now)
    yield from _probation(file.contest)
    yield from _scoring(file.contest)
    yield from _tie_breaks(file.contest)
    if owners:
        yield from idle_owners(file)


def _moments(contest: ContestTable, now: datetime) -> Iterator[str]:
    begin, end, freeze = contest.starts_at, contest.ends_at, contest.freeze_at
    if begin is not None and end is not None and begin >= end:
        yield "contest.starts_at: expected a moment before that of contest.ends_at"
    for key, moment in (("ends_at", end), ("freeze_at", freeze)):
        if moment is not None and moment <= now:
            yield f"contest.{key}: expected a moment to come, got {moment:%Y-%m-%d %H:%M:%S%z}"
    if freeze is not None and end is not None and freeze >= end:
        yield "contest.freeze_at: expected a moment before that of contest.ends_at, which ends the freeze"


def _probation(contest: ContestTable) -> Iterator[str]:
    if contest.probation_for is not None and not contest.probation:
        given = format_duration(contest.probation_for)
        yield f"contest.probation_for: expected none with probation = 0, which bars no bot, got {given!r}"


def _scoring(contest: ContestTable) -> Iterator[str]:
    scoring = scoring_of(contest.scoring)
    if scoring.bye != scoring.win and contest.format != "swiss":
        yield f"contest.scoring: expected bye with a Swiss alone, got {contest.scoring!r}"
    elif scoring.has_values and contest.format in ("knockout", "double-elimination"):
        yield f'contest.scoring: expected "points" or "wins" for a bracket, got {contest.scoring!r}'


def _tie_breaks(contest: ContestTable) -> Iterator[str]:
    earlier: list[str] = []
    for name in contest.tie_breaks:
        reason = next((why for idle, why in _NO_DIFFERENCE if idle(contest, name)), "")
        if "lot" in earlier:
            reason = "lot before it separates all"
        if reason:
            yield f"contest.tie_breaks: expected only what can decide, got {name!r}: {reason}"
        earlier.append(name)


#: Where a tie-break has the same value for all bots of one score, and why.
_NO_DIFFERENCE: tuple[tuple[Callable[[ContestTable, str], bool], str], ...] = (
    (
        lambda contest, name: (
            name == "points" and contest.scoring == "points" and not FORMATS[contest.format].DRAWS
        ),
        "the table ranks by points already",
    ),
    (
        lambda contest, name: name == "pairs-won" and contest.deals == "fresh",
        'deals = "fresh" has no deal with two games',
    ),
    (
        lambda contest, name: name in ("head-to-head", "direct-match") and contest.format == "knockout",
        "two bots that are out on the same level have not met",
    ),
)


def idle_owners(file: ContestFile) -> Iterator[str]:
    """The same of owners alone."""
    contest, same_owner = file.contest, file.contest.format_options.get("same_owner")
    read = FORMATS[contest.format].READS_OWNERS and same_owner != "ignore"
    if not (read or contest.teams):
        for number, bot in enumerate(file.bot, start=1):
            if bot.owner is not None:
                yield (
                    f"bot {number}: owner: expected none, because no rule of this contest asks for owners "
                    f"(contest.format = {contest.format!r}), got {bot.owner!r}"
                )
    owners = {bot.owner for bot in file.bot}
    if same_owner == "never" and len(owners) == 1 and None not in owners:
        yield (
            'contest.same_owner: expected bots of two owners or more with "never", because else no two of '
            f"them may meet; all are of {file.bot[0].owner!r}"
        )
