"""`arena match`: which player scores more, from paired deals. `match_run.py` plays them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Annotated

import typer

from arena_cli.local_bots import is_command
from arena_cli.match_league import league, played_before
from arena_cli.match_options import MatchOptions
from arena_cli.match_run import CONTEST, MatchPlan, MatchRun, needs_processes
from arena_cli.options import (
    interruptible,
    named_here,
    refuse,
)
from arena_server.errors import INTERRUPTED, ArenaError, ConfigError
from arena_server.stats.elo import Sprt
from arena_server.stats.scores import league_table, text_table

Players = Annotated[
    list[str],
    typer.Argument(
        metavar="A B ...",
        help="Engines, programs in quotes, or containers (image:NAME, build:FOLDER): as many as the game "
        "has seats; more play a league.",
        show_default=False,
    ),
]


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
    _check(players, plan, options)
    stored = options.keep is not None or options.logs is not None or options.output.web
    if stored or needs_processes(players, plan):
        with named_here(database="--keep", new="by --new"):
            _play_processes(players, rules.seats, plan, options)
        return
    # Nothing is stored here: a signal may end the process in the middle of compiled code.
    with interruptible():
        if len(players) > rules.seats:
            answer, _ = league(players, rules.seats, plan)
            options.output.show(answer, league_table(answer))
            return
        run = _match(players, rules.seats, plan)
    verdict = _print_answer(run, None, options)
    run.check_first()
    options.output.end(verdict)


def _check(players: Sequence[str], plan: MatchPlan, options: MatchOptions) -> None:
    """Raise ConfigError for an option without its other one; warn of a test without room for a verdict."""
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
    if not options.output.web:
        refuse(options.output, "expected with --web, whose port it is", "web_port")
    if options.output.status and plan.test is None:
        raise ConfigError("--status: expected with --sprt, whose verdict it says")


def _match(players: Sequence[str], seats: int, plan: MatchPlan) -> MatchRun:
    if len(players) != seats:
        raise ConfigError(f"a game of {seats} seats needs {seats} engines, got {len(players)}")
    run = MatchRun(plan, players)
    run.play_here()
    return run


def _play_processes(players: Sequence[str], seats: int, plan: MatchPlan, options: MatchOptions) -> None:
    """Play a match of processes and print the answer. Raises ArenaError if games could not be played."""
    from arena_cli.tournament import make_folder

    if len(players) < seats:
        raise ConfigError(f"match: expected {seats} players for {seats} seats, got {len(players)}")
    if len(players) > seats:
        _play_league(players, seats, plan, options)
        return
    database = options.database()
    run = MatchRun(plan, players)
    make_folder(options.logs)
    if database is not None and not options.new:
        run.resume(database)
    site = options.output.site()
    with nullcontext() if site is None else site:
        try:
            interrupted = run.play_processes(database, options.logs, site)
        except ArenaError:
            if run.games:
                _print_answer(run, database, options)
            raise
    verdict = _print_answer(run, database, options)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    run.check_complete()
    run.check_first()
    options.output.end(verdict)


def _play_league(players: Sequence[str], seats: int, plan: MatchPlan, options: MatchOptions) -> None:
    """Play the matches of a league as processes, one match after the other, and print the answer."""
    from arena_cli.tournament import make_folder

    for option, value in {"--on": options.conditions.workers.on, "--web": options.output.web or None}.items():
        if value is not None:
            raise ConfigError(
                f"match: expected {seats} players for {seats} seats with {option}, got {len(players)}; arena "
                f"tournament plays a round-robin of more with {option}"
            )
    database = options.database()
    make_folder(options.logs)

    failed: list[ArenaError] = []
    over = played_before(players, seats, plan, database) if database is not None and not options.new else {}

    def play(run: MatchRun) -> bool:
        if database is not None and run.spec.name in over:
            run.count_all(database, over[run.spec.name])
            return False
        try:
            if database is not None and not options.new:
                run.resume(database)
            if run.play_processes(database, options.logs):
                return True
            run.check_complete()
        except ArenaError as error:  # after the table of what was played
            failed.append(error)
        return bool(failed)

    answer, interrupted = league(players, seats, plan, play, stored=database is not None)
    if answer["standings"] or not failed:  # no table without a row
        options.output.show(answer, league_table(answer))
    if failed:
        raise failed[0]
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _print_answer(run: MatchRun, database: str | None, options: MatchOptions) -> str:
    """Print the answer; return the verdict, empty without a test."""
    answer = run.answer() | ({} if database is None else {"database": database, "contest": CONTEST})
    text = text_table(answer)
    if database is not None:
        text += f"\nreplay a game: arena replay g1 --contest {CONTEST} --database {shlex.quote(database)}"
    options.output.show(answer, text)
    return str(answer.get("verdict", ""))
