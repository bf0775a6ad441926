"""`arena match`: which player scores more, from paired deals. `match_run.py` plays them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import typer

from arena_cli.bot import is_scripted
from arena_cli.local_bots import is_command
from arena_cli.match_run import CONTEST, MatchPlan, MatchRun
from arena_cli.options import (
    Environment,
    GameOptions,
    Json,
    Library,
    duration,
    environment_of,
    game_options,
    interruptible,
    print_json,
    refuse,
    start_positions,
)
from arena_cli.workers import WorkerOptions
from arena_protocol.games import make_game
from arena_protocol.games.base import Game
from arena_server.errors import INTERRUPTED, ArenaError, ConfigError
from arena_server.stats.elo import Sprt
from arena_server.stats.scores import LeadTest, league_table, text_table
from arena_server.terms.config import MOST_SLOTS, ContestConfig
from arena_server.terms.sandbox import DEFAULT_LIMITS, ContainerLimits

#: How many deals are played if nothing is said; until there is a verdict.
DEALS, UNTIL_DECIDED = 20, 10_000

Players = Annotated[
    list[str],
    typer.Argument(
        metavar="A B ...",
        help="Engines, programs in quotes, or containers (image:NAME, build:FOLDER): as many as the game "
        "has seats; more engines play a league.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialTest:
    """The options of the test that stops a match."""

    sprt: Annotated[
        bool, typer.Option("--sprt", help="Stop as soon as it is decided whether A is better than B.")
    ] = False
    elo0: Annotated[float, typer.Option(help="The Elo difference of A that --sprt rejects.")] = 0.0
    elo1: Annotated[float, typer.Option(help="The Elo difference of A that --sprt accepts.")] = 50.0
    alpha: Annotated[
        float, typer.Option(min=0.001, max=0.4, help="The probability of `better` though elo0 is true.")
    ] = 0.05
    beta: Annotated[
        float, typer.Option(min=0.001, max=0.4, help="The probability of `no better` though elo1 is true.")
    ] = 0.05
    margin: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            max=1.0,
            help="--sprt tests this lead in points, as a share of all points, instead of Elo; "
            f"{LeadTest().margin} with three players and more.",
            show_default=False,
        ),
    ] = None

    def of(self, players: int, seats: int) -> Sprt | LeadTest | None:
        """Return the test for a match of these numbers. Raises ConfigError."""
        if not self.sprt:
            refuse(
                self,
                "expected with --sprt, whose test it describes",
                "elo0",
                "elo1",
                "alpha",
                "beta",
                "margin",
            )
            return None
        if players != seats:
            raise ConfigError(f"--sprt: expected {seats} players, got {players}")
        if seats > 2 or self.margin is not None:
            why = "with --margin" if seats == 2 else f"with {seats} players"
            why = f"{why} --sprt tests a lead in points, not a difference of Elo; leave it out"
            refuse(self, why, "elo0", "elo1")
            margin = LeadTest().margin if self.margin is None else self.margin
            return LeadTest(margin, self.alpha, self.beta)
        if self.elo0 >= self.elo1:
            raise ConfigError(f"--elo0: expected less than --elo1, {self.elo1:g}, got {self.elo0:g}")
        return Sprt(self.elo0, self.elo1, self.alpha, self.beta)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchOptions:
    """The options of `arena match`."""

    deals: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=UNTIL_DECIDED,
            help=f"The most deals; each is played from every seat. {DEALS} if nothing is said; with --sprt "
            f"as many as the verdict takes, up to {UNTIL_DECIDED:,}.",
            show_default=False,
        ),
    ] = None
    clock: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="The time of a seat for a game; 20s if nothing is said."),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Play as in this contest: its game, clocks, and limits of containers.",
            show_default=False,
        ),
    ] = None
    test: SequentialTest
    concurrency: Annotated[
        int, typer.Option(min=1, max=MOST_SLOTS, help="How many games are played at once, as processes.")
    ] = 1
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="DB",
            help="Keep the records in this SQLite file or database URL, for replay; the same command goes on "
            "with a match that was ended there.",
        ),
    ] = None
    new: Annotated[
        bool, typer.Option("--new", help="Begin a new match, though --keep has one to go on with.")
    ] = False
    logs: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the output of every process to a file here.")
    ] = None
    env: Environment = None
    seed: Annotated[int, typer.Option(min=0, help="The seed of the deals.")] = 2006
    game: Annotated[
        str | None, typer.Option(help="The game to play; insertion if nothing is said.", show_default=False)
    ] = None
    option: GameOptions = None
    library: Library = None
    workers: WorkerOptions
    json: Json = False

    def plan(self, players: int) -> tuple[Game[Any], MatchPlan]:
        """Return the game, and what this number of players plays. Raises ConfigError or GameError."""
        if self.workers.on is not None and self.concurrency > 1:
            raise ConfigError("--concurrency: expected without --on, which says how many games are played")
        like, limits = self._contest()
        if like is not None:
            name, settings = like.game, dict(like.options)
        else:
            name, settings = self.game or "insertion", game_options(self.option)
        rules = make_game(name, settings, allow_unknown=False)
        if self.library is not None:
            settings["board"] = start_positions(self.library, rules)
        test = self.test.of(players, rules.seats)
        plan = MatchPlan(
            game=name,
            options=settings,
            deals=self.deals or (UNTIL_DECIDED if test is not None else DEALS),
            until_decided=self.deals is None and test is not None,
            clock_ms=duration(self.clock or "20s", "--clock") if like is None else like.clock_ms,
            seed=self.seed,
            test=test,
            concurrency=self.concurrency,
            like=like,
            limits=limits,
            workers=self.workers,
            variables=environment_of(self.env),
        )
        return rules, plan

    def _contest(self) -> tuple[ContestConfig | None, ContainerLimits]:
        """The contest of --config, and what it lets a container use. Raises ConfigError."""
        from arena_server.terms.file import config_of, load_contest

        if self.config is None:
            return None, DEFAULT_LIMITS
        given = {
            "--game": self.game,
            "--clock": self.clock,
            "--option": self.option,
            "--library": self.library,
        }
        if twice := [option for option, value in given.items() if value is not None]:
            raise ConfigError(f"{twice[0]}: expected without --config, which decides it")
        file = load_contest(self.config, None)
        return config_of(file), file.container.limits()


def command(players: Players, options: MatchOptions) -> None:
    """Compare players by their points, with confidence intervals.

    A player with a blank or a slash before any colon is a program: it is started with ARENA_HOST,
    ARENA_PORT, ARENA_NAME and ARENA_TOKEN set, and plays over TCP. Of your environment it has few variables,
    such as PATH, and those of --env. Every deal is played from every
    seat. The 95 % intervals of points are a bootstrap over the deals, that of the Elo difference counts pairs
    of games. --sprt is a sequential test of Elo difference elo0 against elo1 with the error
    probabilities alpha and beta; the match ends with its verdict.

    `image:mybot:3` and `build:./mybot` run in a container that reaches the referee and nothing else, as in
    a contest; with --config it has the limits, the clocks and the game of that contest.

    With --on local:4 four processes of this machine play a game each; with engines alone these play in them.

    A line per finished game is printed on stderr. With a program, a scripted bot, --concurrency, --keep
    or --logs the referee seats processes; else engines play in this process, on the same deals and under
    the same rules and clocks.

    Example: arena match "python mybot.py" greedy --clock 2s --sprt --concurrency 2
    """
    if len(players) < 2:
        raise ConfigError(f"match: expected two players or more, got {len(players)}")
    rules, plan = options.plan(len(players))
    if options.new and options.keep is None:
        raise ConfigError("--new: expected with --keep, which has the matches before")
    if plan.variables and not any(is_command(player) for player in players):
        raise ConfigError("--env: expected with a program; engines have parameters, as in champion:depth=5")
    if isinstance(plan.test, Sprt) and "better" not in plan.test.reachable(plan.deals):
        typer.echo(
            f"match: --deals {plan.deals} leaves no room for the verdict `better`: it takes more pairs, even "
            "if A wins all of them; without --deals the match ends with a verdict",
            err=True,
        )
    seated = plan.concurrency > 1 or options.keep is not None or options.logs is not None
    seated = seated or options.workers.on is not None
    if seated or any(is_command(player) or is_scripted(player) for player in players):
        _play_processes(players, rules.seats, plan, options)
        return
    # Nothing is stored here: a signal may end the process in the middle of compiled code.
    with interruptible():
        if len(players) > rules.seats:
            answer = league(players, rules.seats, plan)
            print_json(answer) if options.json else typer.echo(league_table(answer))
            return
        run = _match(players, rules.seats, plan)
    _print_answer(run, None, options)
    run.check_first()


def _match(players: Sequence[str], seats: int, plan: MatchPlan) -> MatchRun:
    if len(players) != seats:
        raise ConfigError(f"a game of {seats} seats needs {seats} engines, got {len(players)}")
    run = MatchRun(plan, players)
    run.play_here()
    return run


def _play_processes(players: Sequence[str], seats: int, plan: MatchPlan, options: MatchOptions) -> None:
    """Play a match of processes and print the answer. Raises ArenaError if games could not be played."""
    from arena_cli.tournament import make_folder

    if len(players) != seats:
        where = " with --on" if options.workers.on is not None else ""
        raise ConfigError(
            f"match: expected {seats} players for {seats} seats{where}, got {len(players)}; arena tournament "
            f"plays a round-robin of more{where}"
        )
    keep = options.keep
    database = None if keep is None else keep if "://" in keep else f"sqlite:///{keep}"
    run = MatchRun(plan, players)
    make_folder(options.logs)
    if database is not None and not options.new:
        run.resume(database)
    try:
        interrupted = run.play_processes(database, options.logs)
    except ArenaError:
        if run.games:
            _print_answer(run, database, options)
        raise
    _print_answer(run, database, options)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    run.check_complete()
    run.check_first()


def _print_answer(run: MatchRun, database: str | None, options: MatchOptions) -> None:
    answer = run.answer() | ({} if database is None else {"database": database, "contest": CONTEST})
    if options.json:
        print_json(answer)
        return
    typer.echo(text_table(answer))
    if database is not None:
        typer.echo(f"replay a game: arena replay g1 --contest {CONTEST} --database {database}")


def league(players: Sequence[str], seats: int, plan: MatchPlan) -> dict[str, Any]:
    """Play a match between all groups of as many engines as the game has seats; return the standings.

    `standings` lists the engines by mean points a game, best first. With two seats `table[i][j]` is the
    mean points of engine i against engine j, None on the diagonal; with more seats `table` is None.
    """
    if twice := [player for player in players if players.count(player) > 1]:
        raise ConfigError(f"match: expected each engine of a league once, got {twice[0]} more than once")
    table: list[list[float | None]] = [[None] * len(players) for _ in players]
    points: list[list[float]] = [[] for _ in players]
    faults: dict[str, list[str]] = {}
    games = 0
    for group in combinations(range(len(players)), seats):
        run = MatchRun(plan, [players[at] for at in group], games)
        run.play_here()
        games += run.games
        result = run.answer()
        for at, mean in zip(group, result["points"], strict=True):
            points[at].append(mean)
        if seats == 2:
            one, other = group
            table[one][other], table[other][one] = result["points"]
        for name, found in result["faults"].items():
            faults.setdefault(name, []).extend(found)
    means = [sum(each) / len(each) for each in points]
    order = sorted(range(len(players)), key=lambda at: -means[at])
    return {
        "game": plan.game,
        "clock": plan.clock_ms,
        "deals": plan.deals,
        "seed": plan.seed,
        "engines": list(players),
        "table": table if seats == 2 else None,
        "standings": [{"engine": players[at], "points": round(means[at], 2)} for at in order],
        "faults": faults,
    }
