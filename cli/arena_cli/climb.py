"""`arena climb`: the rating of a bot, by paired games with players whose ratings are known.

ladder (climb_ladder.py) -> the rung nearest to the rating so far -> a match -> the rating (climb_rating.py)
                                                      (paired.py: that of `arena match`)
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from arena_cli.climb_ladder import RatedLadder
from arena_cli.climb_rating import Against, RatingRange, guess, place
from arena_cli.match_conditions import MatchConditions
from arena_cli.match_run import MatchPlan
from arena_cli.options import Json, named_here, print_json, refuse
from arena_cli.paired import play_paired
from arena_cli.tune_search import step_seed
from arena_protocol.games import make_game
from arena_server.errors import INTERRUPTED, ArenaError, ConfigError
from arena_server.host.interrupts import handled
from arena_server.stats.elo import PAIR_SCORES

#: How many games are played at most, how wide the interval may be, and the deals of a step.
GAMES, WIDTH, DEALS = 400, 120, 4
MOST_GAMES = 1_000_000
#: Of a bot that is certainly this much above the last rung, or below the first, the ladder cannot say more.
BEYOND = 200


@dataclass(frozen=True, slots=True)
class ClimbStep:
    """Games with a rung, by its index: `counts` is how often each of `PAIR_SCORES` came.

    `faults` are lines for the bot's and the rung's faults; `kept`: the games were played before.
    """

    rung: int
    counts: Sequence[int]
    faults: tuple[Sequence[str], Sequence[str]] = ((), ())
    kept: bool = False

    @property
    def games(self) -> int:
        return 2 * sum(self.counts)


@dataclass(frozen=True, slots=True)
class ClimbBounds:
    """When a climb is over, and how many deals a step has once the rating is finite."""

    games: int = GAMES
    width: float = WIDTH
    deals: int = DEALS


#: Plays the step of this number with a rung on some deals; None if a signal ended it.
Measure = Callable[[int, int, int], ClimbStep | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClimbOptions:
    """The options of `arena climb`."""

    games: Annotated[int, typer.Option(min=2, max=MOST_GAMES, help="The most games that are played.")] = GAMES
    width: Annotated[
        float,
        typer.Option(min=1, max=4_000, help="The climb ends when the 95 % interval is no wider than this."),
    ] = WIDTH
    deals: Annotated[
        int, typer.Option(min=1, max=1_000, help="The deals of a step, each from both seats.")
    ] = DEALS
    ladder: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The rungs; those of this version if nothing is said.", show_default=False
        ),
    ] = None
    list: Annotated[bool, typer.Option("--list", help="Print the rungs, and play nothing.")] = False
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="DB",
            help="Keep the games in this SQLite file or database URL; the same command goes on with them.",
            show_default=False,
        ),
    ] = None
    conditions: MatchConditions
    json: Json = False


def command(
    options: ClimbOptions,
    bot: Annotated[
        str | None,
        typer.Argument(metavar="BOT", help="A program in quotes or an engine.", show_default=False),
    ] = None,
) -> None:
    """Find the rung of a ladder of rated players on which a bot stands, and its rating.

    In each step the bot plays the rung whose rating is nearest to its own so far, on deals that are
    played from both seats, under the rules and clocks of `arena match`. 100 points of rating are an expected
    score of 64 %; the weakest rung has 0. The rung of a bot is the highest one that is not rated above it.
    Ctrl-C ends it with the answer so far.

    Example: arena climb "python mybot.py" --clock 2s --keep climb.db
    """
    ladder = RatedLadder.of(options.conditions.game or "insertion", options.ladder)
    if options.list:
        refuse(options, "expected without --list, which plays nothing", "keep")
        _print_rungs(ladder, options)
        return
    if bot is None:
        raise ConfigError("climb: expected a BOT, or --list")
    plan = _plan(ladder, options)
    steps: list[ClimbStep] = []
    bounds = ClimbBounds(options.games, options.width, options.deals)
    with named_here(database="--keep", new="in another file"):
        stopped = climb(ladder, bounds, _measure(bot, ladder, plan, options.keep), steps, bot)
    _print(bot, ladder, steps, options)
    if stopped:
        raise typer.Exit(INTERRUPTED)


def climb(
    ladder: RatedLadder, bounds: ClimbBounds, measure: Measure, steps: list[ClimbStep], bot: str
) -> bool:
    """Make steps until the climb is over, and add them to `steps`; return whether a stop signal ended it.

    Raises ArenaError if the bot was at fault in all games so far, and what `measure` raises.
    """
    signals: list[int] = []
    said = False
    with handled(lambda number, _: signals.append(number)):
        while not signals and (asked := _next(ladder, bounds, steps)) is not None:
            step = measure(len(steps) + 1, *asked)
            if step is None:
                return True
            steps.append(step)
            _check_faults(bot, steps)
            if step.kept:
                continue
            if not said and len(steps) > 1 and steps[-2].kept:
                games = sum(each.games for each in steps[:-1])
                typer.echo(f"climb: {games} games were played before; it goes on", err=True)
            said = True
            typer.echo(_line(ladder, steps), err=True)
    return bool(signals)


def _next(ladder: RatedLadder, bounds: ClimbBounds, steps: Sequence[ClimbStep]) -> tuple[int, int] | None:
    """The rung and the deals of the next step; None if the climb is over.

    It follows from the steps alone, so that a climb that goes on asks the same again.
    """
    played = _played(ladder, steps)
    now = place(played)
    ratings = ladder.ratings
    # While everything was won, or lost, a deal says enough to go on to another rung.
    deals = bounds.deals if math.isfinite(now.rating) else 1
    games = 2 * deals + sum(step.games for step in steps)
    if _is_beyond(ladder, now) or now.width <= bounds.width or games > bounds.games:
        return None
    return ladder.nearest(guess(played, ratings[len(ratings) // 2])), deals


def _is_beyond(ladder: RatedLadder, now: RatingRange) -> bool:
    """Whether the bot is certainly so far above the last rung, or below the first, that no game says more."""
    return now.low > ladder.ratings[-1] + BEYOND or now.high < ladder.ratings[0] - BEYOND


def _played(ladder: RatedLadder, steps: Sequence[ClimbStep]) -> list[Against]:
    """The pairs of each rung."""
    counts: dict[int, list[int]] = {}
    for step in steps:
        before = counts.setdefault(step.rung, [0] * len(PAIR_SCORES))
        counts[step.rung] = [one + two for one, two in zip(before, step.counts, strict=True)]
    return [Against(ladder.rungs[at].rating, each) for at, each in sorted(counts.items())]


def _check_faults(bot: str, steps: Sequence[ClimbStep]) -> None:
    games = sum(step.games for step in steps)
    if sum(len(step.faults[0]) for step in steps) >= games:
        first = steps[0].faults[0][0]
        raise ArenaError(f"{bot} was at fault in each of the {games} games; the first time: {first}")


def _plan(ladder: RatedLadder, options: ClimbOptions) -> MatchPlan:
    """What is played in each step. Raises ConfigError for a game that the ladder is not of."""
    given = options.conditions
    if given.game is not None and given.game != ladder.game:
        raise ConfigError(f"climb: {options.ladder} is a ladder of {ladder.game}, got --game {given.game}")
    if given.config is None and given.option is None and given.library is None:
        known = [f"{key}={value}" for key, value in ladder.options.items()]
        given = replace(given, game=ladder.game, option=known)
    rules, plan = given.plan(options.deals)
    wanted = make_game(ladder.game, ladder.options)
    if (rules.name, rules.seats, rules.options()) != (wanted.name, wanted.seats, wanted.options()):
        raise ConfigError(
            f"climb: the ratings are those of {_text(wanted.name, wanted.options())}, got "
            f"{_text(rules.name, rules.options())}; --ladder takes a ladder of it"
        )
    return plan


def _text(game: str, options: Mapping[str, str]) -> str:
    return " ".join([game, *(f"{key}={value:.40}" for key, value in options.items())])


def _measure(bot: str, ladder: RatedLadder, plan: MatchPlan, keep: str | None) -> Measure:
    database = keep if keep is None or "://" in keep else f"sqlite:///{keep}"

    def measure(number: int, rung: int, deals: int) -> ClimbStep | None:
        here = replace(plan, seed=step_seed(plan.seed, number), deals=deals)
        played = play_paired((bot, ladder.rungs[rung].player), here, f"climb-{number}", database)
        if played is None:
            return None
        one, two = played.faults
        return ClimbStep(rung, played.answer["pairs"], (one, two), played.kept)

    return measure


def _line(ladder: RatedLadder, steps: Sequence[ClimbStep]) -> str:
    """The line of the last step: whom the bot has met, and where it stands."""
    step, now = steps[-1], place(_played(ladder, steps))
    rung = ladder.rungs[step.rung]
    won = 2 * Against(rung.rating, step.counts).points
    ours, theirs = (len(each) for each in step.faults)
    faults = "".join(
        f", {number} faults of {whose}"
        for number, whose in ((ours, "the bot"), (theirs, "the rung"))
        if number
    )
    games = sum(each.games for each in steps)
    return (
        f"step {len(steps)}: {won:g} of {step.games} games won against {rung.player} ({rung.rating:g})"
        f"{faults} | {_where(ladder, now)}, {games} games"
    )


def _where(ladder: RatedLadder, now: RatingRange) -> str:
    """Rating, interval and rung in words."""
    low, high = (ladder.number(each) for each in (now.low, now.high))
    if math.isfinite(now.rating):
        rating = f"{now.rating:.0f} ({now.low:.0f} to {now.high:.0f})"
    else:
        rating = f"above {now.low:.0f}" if now.rating > 0 else f"below {now.high:.0f}"
    return f"rating {rating}, rung {ladder.number(now.rating)} of {len(ladder.rungs)} ({low} to {high})"


def _print_rungs(ladder: RatedLadder, options: ClimbOptions) -> None:
    rows = [
        {"rung": number, "player": rung.player, "rating": rung.rating, "margin": rung.margin}
        for number, rung in enumerate(ladder.rungs, 1)
    ]
    if options.json:
        print_json({"game": ladder.game, "options": dict(ladder.options), "rungs": rows})
        return
    typer.echo(f"{'rung':>4}  {'player':<32}{'rating':>8}  95 % interval")
    for number, rung in enumerate(ladder.rungs, 1):
        low, high = rung.rating - rung.margin, rung.rating + rung.margin
        typer.echo(f"{number:>4}  {rung.player:<32}{rung.rating:>8g}  {low:g} to {high:g}")


def _print(bot: str, ladder: RatedLadder, steps: Sequence[ClimbStep], options: ClimbOptions) -> None:
    """The answer: the rungs that were met, the rating, and the match that the next rung would be."""
    played = _played(ladder, steps)
    now, met = place(played), sorted({step.rung for step in steps})
    rows: list[dict[str, Any]] = [
        {
            "rung": at + 1,
            "player": ladder.rungs[at].player,
            "rating": each.rating,
            "pairs": list(each.counts),
            "score": round(each.points / each.pairs, 4),
        }
        for at, each in zip(met, played, strict=True)
    ]
    games, number = sum(step.games for step in steps), ladder.number(now.rating) if steps else None
    if options.json:
        print_json(
            {
                "bot": bot,
                "game": ladder.game,
                "rung": number,
                "rungs": len(ladder.rungs),
                "rung_interval": [ladder.number(now.low), ladder.number(now.high)],
                "player": ladder.rungs[number - 1].player if number else None,
                "rating": _finite(now.rating),
                "interval": [_finite(now.low), _finite(now.high)],
                "games": games,
                "faults": sum(len(step.faults[0]) for step in steps),
                "steps": len(steps),
                "met": rows,
            }
        )
        return
    if number is None:
        return
    typer.echo(f"{'rung':>4}  {'player':<32}{'rating':>8}{'pairs':>8}{'score':>8}")
    for row in rows:
        pairs = sum(row["pairs"])
        typer.echo(f"{row['rung']:>4}  {row['player']:<32}{row['rating']:>8g}{pairs:>8}{row['score']:>8.1%}")
    typer.echo(f"{_where(ladder, now)}, {games} games")
    typer.echo(_following(bot, ladder, now, games))


def _following(bot: str, ladder: RatedLadder, now: RatingRange, games: int) -> str:
    """What comes next, in a line."""
    number = ladder.number(now.rating)
    if not math.isfinite(now.rating) and not _is_beyond(ladder, now):
        return (
            f"all games were {'won' if now.rating > 0 else 'lost'}: more than {games} --games find the rung"
        )
    if number < len(ladder.rungs):
        return f"the next rung: {_match(bot, ladder, number)}"
    return "this is the last rung: nothing on this ladder is rated higher"


def _match(bot: str, ladder: RatedLadder, at: int) -> str:
    """The command of a match with a rung, under the rules of the ladder."""
    words = ["arena", "match", bot, ladder.rungs[at].player]
    if ladder.game != "insertion":
        words += ["--game", ladder.game]
    for key, value in ladder.options.items():
        words += ["--option", f"{key}={value}"]
    return shlex.join([*words, "--sprt"])


def _finite(value: float) -> float | None:
    return round(value, 1) if math.isfinite(value) else None
