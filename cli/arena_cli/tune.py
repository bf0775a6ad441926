"""`arena tune`: numbers in the command of a bot, found by paired games.

command with {k} -> Spsa.ask: two points -> a match of their commands -> Spsa.tell -> --keep
(paired.py: that of `arena match`)
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from arena_cli.match_conditions import MatchConditions
from arena_cli.match_run import MatchPlan
from arena_cli.options import Json, print_json, repeated
from arena_cli.paired import play_paired
from arena_cli.tune_search import Param, Point, Spsa, filled, read_params, step_seed
from arena_cli.tune_state import TuneFile, TuneStep
from arena_server.errors import INTERRUPTED, ConfigError, StoreError
from arena_server.host.interrupts import handled

#: Games of a tuning, and deals of a step, if nothing is said: many short steps learn more than few long ones.
GAMES, DEALS = 1_000, 4
MOST_GAMES = 1_000_000

#: Plays the step of this number between two points; None if a signal ended it.
Measure = Callable[[int, Point, Point], TuneStep | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneOptions:
    """The options of `arena tune`."""

    param: Annotated[
        list[str] | None,
        repeated(
            "NAME=LOW:HIGH[:int][@START]",
            "A number to tune, {NAME} in the command, from LOW to HIGH; it starts in the middle, or at START",
            "--param",
        ),
    ] = None
    against: Annotated[
        str | None,
        typer.Option(
            metavar="PLAYER",
            help="Both points of a step play this engine or program; else they play each other.",
            show_default=False,
        ),
    ] = None
    games: Annotated[int, typer.Option(min=1, max=MOST_GAMES, help="How many games are played.")] = GAMES
    deals: Annotated[
        int, typer.Option(min=1, max=1_000, help="The deals of a step, each from both seats.")
    ] = DEALS
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep what was measured here after each step; the same command goes on.",
            show_default=False,
        ),
    ] = None
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the path of the parameters as SVG here.", show_default=False),
    ] = None
    conditions: MatchConditions
    json: Json = False


def command(
    bot: Annotated[
        str,
        typer.Argument(
            metavar="BOT",
            help="A program in quotes or an engine, with {NAME} for numbers.",
            show_default=False,
        ),
    ],
    options: TuneOptions,
) -> None:
    """Find the numbers in the command of a bot with which it scores most.

    In each step two values of every --param play a match on the same deals, each from both seats, under
    the rules and clocks of `arena match`: the next values are nearer to those that scored more (SPSA). What
    counts is the lead in points as a share of all points. The answer is the mean of the second half of
    the steps. Ctrl-C ends it with the answer so far.

    Example: arena tune "python mybot.py --greed {greed}" --param greed=0:2 --clock 2s --keep greed.json
    """
    params = read_params(options.param or (), bot)
    rules, plan = options.conditions.plan(options.deals)
    if rules.seats != 2:
        raise ConfigError(f"tune: expected a game of two seats, {plan.game} has {rules.seats} here")
    matches = 1 if options.against is None else 2
    steps = options.games // (matches * options.deals * rules.seats)
    if not steps:
        least = matches * options.deals * rules.seats
        raise ConfigError(f"--games: expected at least {least}, the games of a step, got {options.games}")
    for name, path in (("--keep", options.keep), ("--plot", options.plot)):
        _check_place(name, path)
    file = TuneFile(options.keep, same(bot, params, plan, options))
    search = Spsa(params, steps, plan.seed)
    with file.locked():
        done = file.read()
        for step in done:
            search.tell(step.lead)
        if done:
            typer.echo(f"tune: {options.keep} has {len(done)} of {steps} steps; it goes on", err=True)
        measure = _measure(bot, params, plan, options.against)
        stopped = tune(search, params, steps, measure, done, file.write)
    if options.plot is not None:
        _draw(options.plot, params, search, bot)
    _print(bot, params, search, done, options)
    if stopped:
        raise typer.Exit(INTERRUPTED)


def _check_place(name: str, path: Path | None) -> None:
    """Refuse a file that cannot be written, before the games whose result it is for."""
    if path is not None and path.is_dir():
        raise ConfigError(f"{name}: expected a file, got the folder {str(path)!r}")
    if path is not None and not path.parent.is_dir():
        raise ConfigError(f"{name}: {path}: the folder {str(path.parent)!r} does not exist")


def tune(
    search: Spsa,
    params: Sequence[Param],
    steps: int,
    measure: Measure,
    done: list[TuneStep],
    keep: Callable[[list[TuneStep]], None],
) -> bool:
    """Make steps up to this number, and add them to `done`; return whether a stop signal ended it.

    `keep` is called after each step. Raises what `measure` raises, after what was measured is kept.
    """
    signals: list[int] = []
    with handled(lambda number, _: signals.append(number)):
        while search.told < steps and not signals:
            step = measure(search.told + 1, *search.ask())
            if step is None:
                return True
            search.tell(step.lead)
            done.append(step)
            keep(done)
            typer.echo(_line(search, params, step, steps), err=True)
    return bool(signals)


def same(bot: str, params: Sequence[Param], plan: MatchPlan, options: TuneOptions) -> dict[str, Any]:
    """What makes it the same tuning; more `--games` go on with it."""
    return {
        "bot": bot,
        "param": [asdict(param) for param in params],
        "against": options.against,
        "game": plan.game,
        "option": {key: str(value) for key, value in plan.options.items()},
        "clock": plan.clock_ms,
        "config": None if options.conditions.config is None else str(options.conditions.config),
        "env": sorted(plan.variables.items()),
        "deals": plan.deals,
        "seed": plan.seed,
    }


def _measure(bot: str, params: Sequence[Param], plan: MatchPlan, against: str | None) -> Measure:
    def measure(number: int, plus: Point, minus: Point) -> TuneStep | None:
        here = replace(plan, seed=step_seed(plan.seed, number))
        one, two = (filled(bot, params, point) for point in (plus, minus))
        lead, games, faults = 0.0, 0, 0
        # Against a third player the points of both commands differ by what each has on the same deals.
        for sign, players in (
            [(1, (one, two))] if against is None else [(1, (one, against)), (-1, (two, against))]
        ):
            played = play_paired(players, here)
            if played is None:
                return None
            lead += sign * played.lead
            games += played.answer["games"]
            faults += sum(len(found) for name, found in played.answer["faults"].items() if name != against)
        return TuneStep(_values(params, plus), _values(params, minus), lead, games, faults)

    return measure


def _values(params: Sequence[Param], point: Point) -> dict[str, float]:
    return {param.name: param.value(place) for param, place in zip(params, point, strict=True)}


def _line(search: Spsa, params: Sequence[Param], step: TuneStep, steps: int) -> str:
    """The line of a step: what was compared, and where it leads."""
    plus, minus = (
        " ".join(f"{name}={value:g}" for name, value in each.items()) for each in (step.plus, step.minus)
    )
    now = " ".join(
        f"{param.name}={param.text(place)}" for param, place in zip(params, search.path[-1], strict=True)
    )
    faults = f", {step.faults} games with faults" if step.faults else ""
    return f"step {search.told} of {steps}: {plus} leads {minus} by {step.lead:+.1%}{faults} | now {now}"


def _draw(path: Path, params: Sequence[Param], search: Spsa, bot: str) -> None:
    from arena_cli.drawing import svg_text
    from arena_cli.tune_picture import chart

    try:
        path.write_text(
            svg_text(chart(params, search.path, search.best(), f"arena tune: {bot}")), encoding="utf-8"
        )
    except OSError as error:
        raise StoreError(f"--plot: {path}: cannot be written: {error.strerror}") from None


def _print(
    bot: str, params: Sequence[Param], search: Spsa, done: Sequence[TuneStep], options: TuneOptions
) -> None:
    """The answer: the values, how far they moved in the second half, and the commands to compare."""
    best, half = search.best(), search.path[(len(search.path) + 1) // 2 :] or search.path
    start, found = filled(bot, params, search.path[0]), filled(bot, params, best)
    rows: list[Mapping[str, Any]] = [
        {
            "name": param.name,
            "low": param.low,
            "high": param.high,
            "start": param.value(search.path[0][at]),
            "best": param.value(best[at]),
            "from": param.value(min(point[at] for point in half)),
            "to": param.value(max(point[at] for point in half)),
        }
        for at, param in enumerate(params)
    ]
    games = sum(step.games for step in done)
    if options.json:
        plain = {"bot": found, "start": start, "steps": len(done), "games": games, "parameters": rows}
        print_json(plain | {"history": [asdict(step) for step in done]})
        return
    typer.echo(f"{'parameter':<16}{'range':>16}{'start':>10}{'best':>10}   later steps")
    for row in rows:
        span = f"{row['low']:g} to {row['high']:g}"
        later = f"{row['from']:g} to {row['to']:g}"
        typer.echo(f"{row['name']:<16}{span:>16}{row['start']:>10g}{row['best']:>10g}   {later}")
    typer.echo(f"{len(done)} {'step' if len(done) == 1 else 'steps'}, {games} games")
    if found != start:
        typer.echo(f"is it better? arena match {shlex.quote(found)} {shlex.quote(start)} --sprt")
