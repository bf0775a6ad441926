"""`arena simulate`: the plan of a contest before it begins, from simulated contests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena_cli.options import Config, Json, Library, duration, print_json, refuse, span
from arena_cli.tables import Cell, Column, ResultTable

if TYPE_CHECKING:
    from pathlib import Path

    from arena_server.host.forecast import Forecast, Pace, Spread
    from arena_server.terms.config import ContestConfig, Entrant
    from arena_server.terms.schema import ContestFile
    from arena_server.terms.stages import SeasonStage
    from arena_server.terms.timetable import Timetable

#: The most rounds that are printed; JSON has all.
SHOWN_ROUNDS = 12
#: The most that is simulated of a contest without an end of its own: a ladder of a month has as many games as
#: it has time for, and each day of it is like the others.
LONGEST_OPEN_MS = 24 * 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateOptions:
    """What is assumed, and how often it is played."""

    seed: Annotated[int, typer.Option(min=0, help="The seed of all chance.")] = 1
    share: Annotated[
        float,
        typer.Option(min=0.001, max=1, help="The share of its clock that a bot uses, in the mean."),
    ] = 0.5
    move_time: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION", help="The mean time of a move instead, such as 50ms.", show_default=False
        ),
    ] = None
    time: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="When a contest without an end is closed; else at its ends_at (24h at most), or after 1h.",
            show_default=False,
        ),
    ] = None
    runs: Annotated[
        int | None,
        typer.Option(min=1, max=10_000, help="How many contests; else as many as a second allows, 3 to 100."),
    ] = None
    cores: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10_000,
            help="The processors for the bots that the contest's machine starts; else those of this one.",
            show_default=False,
        ),
    ] = None
    compare: Annotated[
        bool, typer.Option("--compare", help="All formats with the same bots instead of that of CONFIG.")
    ] = False
    start: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%dT%H:%M"],
            metavar="MOMENT",
            help="When the contest begins, such as 2026-12-24T18:00; else now.",
            show_default=False,
        ),
    ] = None
    library: Library = None


@dataclass(frozen=True, slots=True)
class Processors:
    """The processors of a machine that starts `here` of the `bots`."""

    cores: int
    here: int
    bots: int

    @property
    def games(self) -> float | None:
        """How many games at once do not slow each other; None: any number.

        One bot of a game thinks at a time, and that is one of `here` in this share of the games.
        """
        return self.cores * self.bots / self.here if self.here else None

    def assumed(self) -> str:
        """What is said of it; empty if no bot runs here."""
        bots = "1 bot" if self.here == 1 else f"{self.here} bots"
        cores = "1 processor" if self.cores == 1 else f"{self.cores} processors"
        return f"assumed: {cores} for the {bots} that the machine starts (--cores)" if self.here else ""


def command(config: Config, options: SimulateOptions = SimulateOptions(), as_json: Json = False) -> None:
    """Print rounds, games and duration that CONFIG leads to, without playing it.

    Contests are simulated with the rules by which the server pairs; results and lengths of the games are
    those of random moves. All bots are present, equally strong and without faults. In the mean a bot uses
    --share of the time that its clock gives it, or --move-time a move; each bot has a pace of its own,
    from a fifth of that to nine fifths, and a game differs from it by up to a quarter. One bot of a game
    thinks at a time; more games at once than --cores slow each other if the machine starts their bots. The
    referee takes no time. "1 of 10 below" is what one contest of ten stays below. With contest.open or
    contest.ends_at it also prints on which day the contest is over. Of a file with stages it prints how many
    bots, games and how long each has, and when it begins; each gets its bots from the simulated ones before.

    Example: arena simulate examples/local.toml --move-time 20ms
    """
    from arena_server.errors import ConfigError
    from arena_server.terms.stages import idle_keys_of_stages, load_stages

    stages = load_stages(config, options.library)
    for _, text in idle_keys_of_stages(stages, _start(options)):
        raise ConfigError(f"{config}: {text}")
    pace = _pace(options)
    for stage in stages:
        _check_clock(stage.file, pace)
    limits = [_limits(config, stage, options) for stage in stages]
    if stages[0].season:
        refuse(options, "expected a file of one contest, got one of stages", "compare")
        from arena_cli.simulate_season import simulate_season
        from arena_server.host.season_forecast import StageLimits

        everyone = {bot.name: bot for stage in stages for bot in stage.pool}
        here = max(machine.here for _, machine in limits)
        whole = Processors(limits[0][1].cores, here, len(everyone))
        assumed = [*filter(None, (_assumed(pace), whole.assumed()))]
        bounds = [StageLimits(until, machine.games) for until, machine in limits]
        simulate_season(stages, bounds, pace, options.seed, options.runs, assumed, as_json=as_json)
        return
    _simulate(stages[0].file, pace, options, *limits[0], as_json=as_json)


def _pace(options: SimulateOptions) -> Pace:
    from arena_server.host.forecast import Pace

    if options.move_time is not None:
        refuse(options, "expected without --move-time, which says how long a bot thinks", "share")
    return Pace(
        options.share, None if options.move_time is None else duration(options.move_time, "--move-time")
    )


def _limits(config: Path, stage: SeasonStage, options: SimulateOptions) -> tuple[int, Processors]:
    """When a contest without an end is closed, and the processors for its bots."""
    from arena_cli.tournament import bots_to_start
    from arena_server.terms.file import timetable_of

    # A wrong engine is found now, not in the evening of the contest.
    here = len({each.name for each in bots_to_start(stage.everyone, config) if not each.launcher})
    machine = Processors(options.cores or len(os.sched_getaffinity(0)), here, len(stage.pool))
    return _closes_after(timetable_of(stage.file), options), machine


def _simulate(
    file: ContestFile, pace: Pace, options: SimulateOptions, until: int, machine: Processors, *, as_json: bool
) -> None:
    from arena_server.terms.file import config_of, entrants_of, timetable_of

    contest, entrants, timetable = config_of(file), entrants_of(file), timetable_of(file)
    simulated = until if options.time is not None else min(until, LONGEST_OPEN_MS)
    if options.compare:
        _compare(contest, entrants, pace, options, simulated, machine, as_json=as_json)
        return
    found = _forecast(contest, entrants, pace, options, simulated, machine)
    # What is left out of an open one ends it.
    ends = None if found.is_open and simulated < until else _ends(timetable, found, options)
    if as_json:
        shown = {} if ends is None else {"ends": {"p50": ends[0].isoformat(), "p90": ends[1].isoformat()}}
        print_json(_plain(contest, found, options, machine) | shown)
        return
    _print(contest, entrants, found, pace, options, machine)
    for line in _closing(found, simulated, ends, file.contest.ends_at):
        typer.echo(line)


def _closing(
    found: Forecast, until: int, ends: tuple[datetime, datetime] | None, ends_at: datetime | None
) -> Iterator[str]:
    if found.is_open and ends is None and ends_at is not None:
        yield (
            f"the contest has no end of its own: this is its first {span(until)} of play, and "
            f"contest.ends_at = {ends_at:%Y-%m-%dT%H:%M:%S} ends it"
        )
    elif found.is_open:
        yield f"the contest has no end of its own: it is closed after {span(until)} of play"
    if ends is not None:
        yield from _calendar(*ends, None if found.is_open else ends_at)


def _start(options: SimulateOptions) -> datetime:
    return (options.start or datetime.now()).astimezone().replace(second=0, microsecond=0)


def _closes_after(timetable: Timetable, options: SimulateOptions) -> int:
    """The milliseconds for which a contest without an end of its own is played."""
    if options.time is not None or timetable.ends_at is None:
        return duration(options.time or "1h", "--time")
    played = timetable.playing(_start(options), timetable.ends_at)
    return max(1, round(played / timedelta(milliseconds=1)))


def _ends(
    timetable: Timetable, found: Forecast, options: SimulateOptions
) -> tuple[datetime, datetime] | None:
    """When half of the contests are over, and nine of ten, if hours or an end are set."""
    if timetable.hours is None and timetable.ends_at is None:
        return None
    start, spread = _start(options), found.duration
    half, most = (timetable.after(start, timedelta(milliseconds=ms)) for ms in (spread.p50, spread.p90))
    return half, most


def _calendar(half: datetime, most: datetime, ends_at: datetime | None) -> Iterator[str]:
    yield f"over by {half:%Y-%m-%d %H:%M} (median), 9 of 10 by {most:%Y-%m-%d %H:%M}"
    if ends_at is not None and most > ends_at:
        yield (
            f"too long: contest.ends_at = {ends_at:%Y-%m-%dT%H:%M:%S} ends it before; plan fewer games, "
            "shorter clocks or longer hours"
        )


def _check_clock(file: ContestFile, pace: Pace) -> None:
    """Raise ConfigError for a share of no clock."""
    from arena_server.errors import ConfigError
    from arena_server.terms.terms import LONGEST_MS

    if file.game.clock == LONGEST_MS and not file.game.move_limit and pace.move_ms is None:
        raise ConfigError('--move-time: expected the time of a move, because game.clock is "none"')


def _forecast(
    contest: ContestConfig,
    entrants: list[Entrant],
    pace: Pace,
    options: SimulateOptions,
    until: int,
    machine: Processors,
) -> Forecast:
    from arena_server.host.forecast import forecast

    return forecast(
        contest, entrants, pace, options.seed, runs=options.runs, until=until, cores=machine.games
    )


# -- one format


def _plain(
    contest: ContestConfig, found: Forecast, options: SimulateOptions, machine: Processors
) -> dict[str, Any]:
    """The forecast as JSON types; times in milliseconds. `cores` is null if no bot runs on the machine."""
    return {
        "contest": contest.name,
        "format": contest.format,
        "seed": options.seed,
        "cores": machine.cores if machine.here else None,
        **asdict(found),
    }


def _print(
    contest: ContestConfig,
    entrants: list[Entrant],
    found: Forecast,
    pace: Pace,
    options: SimulateOptions,
    machine: Processors,
) -> None:
    from arena_server.core.formats import FORMATS

    word = FORMATS[contest.format].ROUND
    rows: list[list[Cell]] = [["games", *_numbers(found.games)]]
    rows.append(["games of a bot, least", *_numbers(found.least)])
    rows.append(["games of a bot, most", *_numbers(found.most)])
    rounds = found.rounds
    if rounds:
        rows.append([f"first {word} ends", *_times(rounds[0].ends)])
    rows.append(["closed" if found.is_open else "duration", *_times(found.duration)])
    count = "" if not rounds else f", 1 {word}" if len(rounds) == 1 else f", {len(rounds)} {word}s"
    title = f"{contest.name}: {contest.game}, {contest.format} of {len(entrants)} bots{count}"
    heads = [Column("", is_text=True), *map(Column, ("1 of 10 below", "median", "9 of 10 below"))]
    ResultTable(title, heads, rows).print()
    if len(rounds) > 1:
        _round_table(found, word).print()
    for line in _notes(contest, found, pace, options, machine):
        typer.echo(line)


def _round_table(found: Forecast, word: str) -> ResultTable:
    shown = list(enumerate(found.rounds, start=1))
    left_out = shown[SHOWN_ROUNDS - 1 : -1] if len(shown) > SHOWN_ROUNDS else []
    shown = [each for each in shown if each not in left_out]
    heads = [Column(word), *map(Column, ("games", "ends: 1 of 10 below", "median", "9 of 10 below", "in"))]
    rows: list[list[Cell]] = [
        [number, each.games.p50, *_times(each.ends), f"{each.in_runs / found.runs:.0%}"]
        for number, each in shown
    ]
    notes = (
        [f"{word}s {left_out[0][0]} to {left_out[-1][0]} are left out; --json has them"] if left_out else []
    )
    return ResultTable(f"{word}s, and in how many of the contests they are played", heads, rows, notes)


def _notes(
    contest: ContestConfig, found: Forecast, pace: Pace, options: SimulateOptions, machine: Processors
) -> Iterator[str]:
    games = "1 game" if found.at_once == 1 else f"{found.at_once} games"
    yield f"{found.runs} simulated contests, seed {options.seed}; at most {games} at once"
    yield _assumed(pace)
    if assumed := machine.assumed():
        yield assumed
    if machine.games is not None and found.at_once > machine.games:
        yield (
            f"{games} at once are more than these processors take without waiting: bots lose time on their "
            "clocks; lower the concurrency of the bots, or have workers play (arena tournament --on)"
        )
    if found.short:
        from arena_server.core.life import SHORT, reason_of

        yield f"short: {found.short} of {found.runs} contests end before their last round: {reason_of(SHORT)}"
    if contest.stop:
        yield f"stop = {contest.stop!r} hardly ever ends a contest of equals: with others it may end sooner"


def _assumed(pace: Pace) -> str:
    think = f"{pace.share:.0%} of its clock" if pace.move_ms is None else f"{pace.move_ms} ms a move"
    return f"assumed: all bots present, equally strong, without faults; in the mean a bot uses {think}"


def _numbers(spread: Spread) -> list[int]:
    return [spread.p10, spread.p50, spread.p90]


def _times(spread: Spread) -> list[str]:
    return list(map(span, _numbers(spread)))


# -- all formats


def _compare(
    contest: ContestConfig,
    entrants: list[Entrant],
    pace: Pace,
    options: SimulateOptions,
    until: int,
    machine: Processors,
    *,
    as_json: bool,
) -> None:
    from arena_server.core.formats import FORMATS
    from arena_server.terms.config import ContestConfigError

    plain: list[dict[str, Any]] = []
    rows: list[list[Cell]] = []
    notes = []
    for name, form in FORMATS.items():
        given = contest.format_options if name == contest.format else {}
        stop = contest.stop if form.MAY_STOP else ""
        other = replace(contest, format=name, format_options=given, stop=stop)
        try:
            found = _forecast(other, entrants, pace, options, until, machine)
        except ContestConfigError as error:
            notes.append(f"{name} is not possible: {error}")
            plain.append({"format": name, "error": str(error)})
            continue
        plain.append(_plain(other, found, options, machine))
        least, most = found.least.p50, found.most.p50
        mark = f"{name} (open)" if found.is_open else name
        games: list[Cell] = [len(found.rounds) or None, found.games.p50, least, most]
        rows.append([mark, *games, *_times(found.duration), found.at_once])
    if as_json:
        print_json(plain)
        return
    words = (
        "rounds",
        "games",
        "a bot, least",
        "most",
        "1 of 10 below",
        "duration",
        "9 of 10 below",
        "at once",
    )
    heads = [Column("format", is_text=True), *map(Column, words)]
    title = f"{contest.name}: {contest.game}, {len(entrants)} bots, {contest.games_per_pair} games a pair"
    closed = f"a format that is open is closed after {span(until)} of play; medians, seed {options.seed}"
    assumed = filter(None, (_assumed(pace), machine.assumed()))
    ResultTable(title, heads, rows, [*notes, closed, *assumed]).print()
