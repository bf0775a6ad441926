"""What is proposed for a new contest: format, clock and games that fill the time, by simulation."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from arena_cli.draft import Draft
from arena_cli.simulate import Processors
from arena_server.terms.config import ContestConfigError

if TYPE_CHECKING:
    from arena_server.host.forecast import Forecast

#: The clocks that are tried, the longest first, in milliseconds.
CLOCKS: Final = (60_000, 30_000, 20_000, 10_000, 5_000, 2_000, 1_000)
#: How often each seat is played in the games of a pair: as often as time allows, and once at least.
TIMES: Final = (16, 8, 4, 2, 1)
#: For how often of these there has to be time at a clock.
USUAL: Final = (2, 1)
#: A round-robin is tried with at most this number of bots: of more, its games grow beyond an evening.
ALL_MEET: Final = 40
#: Contests that are simulated for one answer, and fewer where each has many games.
RUNS, FEW_RUNS, MANY_BOTS = 10, 3, 16
#: How long a contest without an end is simulated, in milliseconds: its games grow with the time.
SLICE_MS: Final = 300_000
SEED: Final = 1


@dataclass(frozen=True, slots=True)
class Proposal:
    """A contest and its forecast; `fits`: nine of ten are over in the time given."""

    draft: Draft
    forecast: Forecast
    fits: bool


def propose(draft: Draft, length_ms: int, form: str) -> Proposal | None:
    """The longest clock at which each seat is played twice in the time, or once, and then the most games.

    Where none fits it is the shortest contest. None: this format is not possible with these bots.
    """
    draft = replace(draft, format=form)
    try:
        if _forecast(draft, CLOCKS[-1], 1, 20_000).is_open:
            return _open(draft, length_ms)
        pairs = ((clock, times) for times in USUAL for clock in CLOCKS)
        clock = next((clock for clock, times in pairs if _fits(draft, clock, times, length_ms)), CLOCKS[-1])
        times = next((each for each in _times(draft) if _fits(draft, clock, each, length_ms)), 1)
        return _proposal(draft, clock, times, length_ms)
    except ContestConfigError:
        return None


def propose_format(draft: Draft, length_ms: int) -> Proposal | None:
    """The first of those that fit: all meet, else a Swiss, else a knockout; None: none is possible."""
    found = None
    for form in ("round-robin", "swiss", "knockout"):
        if form != "round-robin" or len(draft.players) <= ALL_MEET:
            found = propose(draft, length_ms, form) or found
        if found is not None and found.fits:
            break
    return found


def _times(draft: Draft) -> Iterator[int]:
    # More games decide no pairing of a bracket and no round: there a bot meets few others, and often enough.
    yield from TIMES if draft.format in ("round-robin", "matches", "gauntlet") else TIMES[2:]


def _open(draft: Draft, length_ms: int) -> Proposal:
    """A format without an end: it is over after the games that are played in the time."""
    from arena_server.host.forecast import Spread

    clock, part = 10_000, min(length_ms, SLICE_MS)
    found = _forecast(draft, clock, 1, part)
    games = max(1, found.games.p50 * length_ms // part)
    whole = replace(found, games=Spread(games, games, games), duration=Spread(*(length_ms,) * 3))
    return Proposal(replace(draft, clock_ms=clock, games=games), whole, fits=True)


def _proposal(draft: Draft, clock: int, times: int, length_ms: int) -> Proposal:
    made, found = _at(draft, clock, times), _forecast(draft, clock, times, length_ms)
    return Proposal(made, found, found.duration.p90 <= length_ms)


def _fits(draft: Draft, clock: int, times: int, length_ms: int) -> bool:
    return _forecast(draft, clock, times, length_ms).duration.p90 <= length_ms


def _at(draft: Draft, clock: int, times: int) -> Draft:
    from arena_protocol.games import make_game

    return replace(draft, clock_ms=clock, games_per_pair=times * make_game(draft.game, {}).seats)


def _forecast(draft: Draft, clock: int, times: int, length_ms: int) -> Forecast:
    """The forecast of `arena simulate`. Raises ContestConfigError for a format that is not possible."""
    from arena_server.errors import ConfigError
    from arena_server.host.forecast import Pace, forecast
    from arena_server.terms.file import config_of, entrants_of, parse_contest

    try:
        file = parse_contest(_at(draft, clock, times).toml(), "the contest")
    except ConfigError as error:
        raise ContestConfigError(str(error)) from None
    here = sum(player.is_local for player in draft.players)
    machine = Processors(len(os.sched_getaffinity(0)), here, len(draft.players))
    entrants = entrants_of(file)
    runs = RUNS if len(entrants) <= MANY_BOTS else FEW_RUNS
    config, cores = config_of(file), machine.games
    return forecast(config, entrants, Pace(), SEED, runs=runs, until=length_ms, cores=cores)
