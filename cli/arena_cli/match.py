"""`arena match`: which player scores more, from paired deals.

Engines play in this process. As soon as one player is a program, all are seated as processes by the
real referee over loopback (`match_programs`), in one or more pairs of processes at the same time.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Annotated, Any

import typer

from arena_cli.bot import is_scripted
from arena_cli.local_bots import compile_engines, is_command
from arena_cli.local_contest import LocalContest, RefereeThread, fault_lines, seat
from arena_cli.options import (
    GameOptions,
    Json,
    Library,
    duration,
    game_options,
    interruptible,
    print_json,
    start_positions,
)
from arena_engines import match as games
from arena_engines.elo import Sprt
from arena_protocol.games import make_game
from arena_server.core.config import MOST_SLOTS
from arena_server.errors import INTERRUPTED, ArenaError, ConfigError
from arena_server.tournament.supervisor import ProgressListener

#: The lead, as a share of all points, that the test uses with three players and more.
MARGIN = 0.02
#: The name of the contest in the database of --keep.
CONTEST = "match"

Players = Annotated[
    list[str],
    typer.Argument(
        metavar="A B ...",
        help="Engines, or programs in quotes: as many as the game has seats; more engines play a league.",
        show_default=False,
    ),
]


def command(
    players: Players,
    deals: Annotated[int, typer.Option(min=1, help="The most deals; each is played from every seat.")] = 20,
    clock: Annotated[str, typer.Option(metavar="DURATION", help="The time of a seat for a game.")] = "20s",
    sprt: Annotated[
        bool, typer.Option("--sprt", help="Stop as soon as it is decided whether A is better than B.")
    ] = False,
    elo0: Annotated[float, typer.Option(help="The Elo difference of A that --sprt rejects.")] = 0.0,
    elo1: Annotated[float, typer.Option(help="The Elo difference of A that --sprt accepts.")] = 50.0,
    alpha: Annotated[
        float, typer.Option(min=0.001, max=0.4, help="The probability of `better` though elo0 is true.")
    ] = 0.05,
    beta: Annotated[
        float, typer.Option(min=0.001, max=0.4, help="The probability of `no better` though elo1 is true.")
    ] = 0.05,
    margin: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            max=1.0,
            help="--sprt tests this lead in points, as a share of all points, instead of Elo; "
            f"{MARGIN} with three players and more.",
            show_default=False,
        ),
    ] = None,
    concurrency: Annotated[
        int, typer.Option(min=1, max=MOST_SLOTS, help="How many games are played at once, as processes.")
    ] = 1,
    keep: Annotated[
        str | None,
        typer.Option(metavar="DB", help="Keep the records in this SQLite file or database URL, for replay."),
    ] = None,
    logs: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the output of every process to a file here.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the deals.")] = 2006,
    game: Annotated[str, typer.Option(help="The game to play.")] = "insertion",
    option: GameOptions = None,
    library: Library = None,
    json: Json = False,
) -> None:
    """Compare players by their points, with confidence intervals.

    A player with a blank or a slash before any colon is a program: it is started with ARENA_HOST,
    ARENA_PORT, ARENA_NAME and ARENA_TOKEN set, and plays over TCP. Every deal is played from every
    seat. The 95 % intervals of points are a bootstrap over the deals, that of the Elo difference counts pairs
    of games. --sprt is a sequential test of Elo difference elo0 against elo1 with the error
    probabilities alpha and beta.

    A line per finished game is printed on stderr. With a program, a scripted bot, --concurrency, --keep
    or --logs the real referee seats processes.

    Example: arena match "python mybot.py" greedy --clock 2s --sprt --concurrency 2
    """
    if len(players) < 2:
        raise ConfigError(f"match: expected two players or more, got {len(players)}")
    settings = game_options(option)
    rules = make_game(game, settings, allow_unknown=False)
    if library is not None:
        settings["board"] = start_positions(library, rules)
    seats = rules.seats
    clock_ms = duration(clock, "--clock")
    test: Sprt | float | None = None
    if sprt:
        if len(players) != seats:
            raise ConfigError(f"--sprt: expected {seats} players, got {len(players)}")
        if seats == 2 and margin is None:
            if elo0 >= elo1:
                raise ConfigError(f"--elo0: expected less than --elo1, {elo1:g}, got {elo0:g}")
            test = Sprt(elo0, elo1, alpha, beta)
        else:
            test = MARGIN if margin is None else margin
    processes = any(is_command(player) or is_scripted(player) for player in players)
    if concurrency > 1 or keep is not None or logs is not None or processes:
        if len(players) != seats:
            raise ConfigError(
                f"match: expected {seats} players for {seats} seats, got {len(players)}; "
                "arena tournament plays a league of programs"
            )
        programs = ProgramMatch(players, game, settings, deals, clock_ms, seed, test, concurrency)
        programs.play(keep, logs, json=json)
        return
    is_league = len(players) > seats
    if is_league and (twice := [player for player in players if players.count(player) > 1]):
        raise ConfigError(f"match: expected each engine of a league once, got {twice[0]} more than once")
    setting: dict[str, Any] = {
        "game": game,
        "options": settings,
        "deals": deals,
        "clock": clock_ms,
        "seed": seed,
        "progress": Lines(deals).report,
    }
    with interruptible():
        if is_league:
            answer, text = games.league(players, **setting), games.league_table
        else:
            answer = games.match(players, sprt=test, **setting)
            text = games.text_table
    print_json(answer) if json else typer.echo(text(answer))


class Lines:
    """Prints a line on stderr for each game of engines in this process, numbered g1, g2, ..."""

    def __init__(self, deals: int) -> None:
        self._deals = deals
        self._games = 0

    def report(self, names: Sequence[str], game: games.Played, standing: Mapping[str, Any]) -> None:
        """The engine of every seat, its game, and the standing after it."""
        self._games += 1
        print_game(f"g{self._games}", names, game.totals, standing, self._deals)
        for name, fault in zip(names, game.faults, strict=True):
            if fault is not None:
                typer.echo(f"g{self._games}: {name}: {fault}", err=True)


def print_game(
    game: str, names: Sequence[str], totals: Sequence[int], standing: Mapping[str, Any], deals: int
) -> None:
    """Print the line of a finished game on stderr: its points, and the standing of a match of `deals`."""
    points = ", ".join(f"{name} {total}" for name, total in zip(names, totals, strict=True))
    parts = [f"{standing['deals']} of {deals} deals"]
    if standing["deals"]:
        parts.append("points " + " : ".join(games.mean_text(each) for each in standing["points"]))
        if elo := games.elo_text(standing):
            parts.append(elo)
    if "llr" in standing:
        low, high = standing["bounds"]
        parts.append(f"LLR {standing['llr']:+.2f} ({low:.2f} to {high:.2f})")
    typer.echo(f"{game}: {points} | {', '.join(parts)}", err=True)


class Tally:
    """The scores of a match from the server's results, a deal as soon as all its games are played."""

    def __init__(self, players: Sequence[str]) -> None:
        self._players = players
        self.scores = games.Scores.empty(len(players))
        #: The games of incomplete deals, by deal, order of players and player of every seat. Two deals may be
        #: equal (in tic-tac-toe all are) and be played at the same time: each seating has a list.
        self._open: dict[tuple[str, tuple[int, ...]], dict[tuple[int, ...], list[games.Played]]] = {}

    def add(self, result: Mapping[str, Any], seating: tuple[int, ...]) -> bool:
        """Add a `reporter.plain_result` with the player of every seat; True if its deal is complete."""
        faults: list[str | None] = [None] * len(seating)
        for fault in reversed(result["faults"]):
            faults[fault["seat"] - 1] = fault["kind"]
        game = games.Played(tuple(result["totals"]), tuple(faults), tuple(result["used_ms"]), ())
        first = seating.index(0)
        deal = self._open.setdefault((result["deal"], seating[first:] + seating[:first]), {})
        deal.setdefault(seating, []).append(game)
        if len(deal) < len(seating) or not all(deal.values()):
            return False
        self.scores.add(self._players, [(each, played.pop(0)) for each, played in deal.items()])
        return True


@dataclass
class ProgramMatch(ProgressListener):
    """A match whose players are processes, seated by the referee; durations are milliseconds."""

    players: Sequence[str]
    game: str
    options: Mapping[str, object]
    deals: int
    clock_ms: int
    seed: int
    test: Sprt | float | None
    concurrency: int
    last: dict[str, Any] = field(default_factory=dict)
    decided: bool = False

    def play(self, keep: str | None, logs: Path | None, *, json: bool) -> None:
        """Play to the end and print the answer.

        Raises ConfigError for a player that does not exist, BotError for a program that cannot start,
        and ArenaError if games could not be played.
        """
        from arena_cli.results import unplayed_message
        from arena_cli.tournament import make_folder

        database = None if keep is None else keep if "://" in keep else f"sqlite:///{keep}"
        group = seat(self.players, self.game)
        contest = LocalContest(
            name=CONTEST,
            game=self.game,
            options=self.options,
            group=group,
            deals=self.deals,
            clock_ms=self.clock_ms,
            concurrency=min(self.concurrency, self.deals * len(group)),
            seed=self.seed,
        )
        self._seats = {bot.name: player for player, bot in enumerate(group)}
        self._tally = Tally(self.players)
        self._games = 0
        make_folder(logs)
        compile_engines(self.game, (each for each in self.players if not is_command(each)), _step)
        interrupted = self._run(contest, database, logs)
        answer = self._answer()
        if database is not None:
            answer |= {"database": database, "contest": CONTEST}
        if json:
            print_json(answer)
        else:
            typer.echo(games.text_table(answer))
            if database is not None:
                typer.echo(f"replay a game: arena replay g1 --contest {CONTEST} --database {database}")
        if interrupted:
            raise typer.Exit(INTERRUPTED)
        if not self.decided and self.last.get("ended") != "finished":
            raise ArenaError(unplayed_message(self.last))

    def _run(self, contest: LocalContest, database: str | None, logs: Path | None) -> bool:
        """Return whether the match was interrupted by a signal."""
        calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        with (
            RefereeThread(contest, _Relay(self, calls), database, logs) as referee,
            stopped_by_signals(referee),
        ):
            self._referee = referee
            referee.when_ended(lambda: calls.put(None))
            while (call := calls.get()) is not None:
                call()
            return not referee.join() and not self.decided

    def report(self, progress: dict[str, Any]) -> None:
        """Keep the server's last report."""
        self.last = progress

    def result(self, result: dict[str, Any]) -> None:
        """Print a line for the game; stop the match when the test is decided."""
        if self.decided:
            return  # it was still running when the test was decided
        complete = self._tally.add(result, tuple(self._seats[name] for name in result["names"]))
        self._games += 1
        standing = self._tally.scores.standing(self.players, self.test)
        print_game(result["game"], result["names"], result["totals"], standing, self.deals)
        for line in fault_lines(result, self.game):
            typer.echo(f"{result['game']}: {line}", err=True)
        if complete and standing.get("verdict", "open") != "open":
            self.decided = True
            self._referee.stop()

    def say(self, line: str) -> None:
        """Print a message on stderr; a decided match stops its running games silently."""
        if not self.decided:
            typer.echo(line, err=True)

    def _answer(self) -> dict[str, Any]:
        """Return the summary of the complete deals for JSON."""
        return {
            "game": self.game,
            "clock": self.clock_ms,
            "seed": self.seed,
            "concurrency": self.concurrency,
            **self._tally.scores.summary(self.players, self.test),
        }


class _Relay(ProgressListener):
    """Has what the referee's thread reports handled by the main thread."""

    def __init__(self, listener: ProgressListener, calls: SimpleQueue[Callable[[], None] | None]) -> None:
        self._listener = listener
        self._calls = calls

    def report(self, progress: dict[str, Any]) -> None:
        self._calls.put(partial(self._listener.report, progress))

    def result(self, result: dict[str, Any]) -> None:
        self._calls.put(partial(self._listener.result, result))

    def say(self, line: str) -> None:
        self._calls.put(partial(self._listener.say, line))


@contextmanager
def stopped_by_signals(referee: RefereeThread) -> Iterator[None]:
    """Let SIGINT and SIGTERM stop the referee, inside the `with` statement."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: referee.stop()) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def _step(text: str) -> Iterator[None]:
    typer.echo(text, err=True)
    yield
