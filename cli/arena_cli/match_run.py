"""A match of `arena match`: one contest, played by engines in this process or by processes, and its tally.

    MatchRun.play_here        engines of the house: a game after the other in this process (`engine_games`)
    MatchRun.play_processes   programs, or more than one game at once: the referee seats processes
                              -> result -> Tally -> a line on stderr, and the state of the test

Both play the games of one `ContestSpec`, on the same deals, and `core.match` judges and times both.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import typer

from arena_cli.bot import is_scripted
from arena_cli.engine_games import play
from arena_cli.local_bots import compile_engines, is_command
from arena_cli.local_contest import LocalContest, RefereeThread, fault_lines, seat
from arena_cli.match_resume import earlier_results, programs_digest
from arena_cli.workers import WorkerOptions
from arena_engines.registry import create
from arena_protocol.games import make_game
from arena_protocol.record import GameRecord
from arena_server.core.deal import Setting
from arena_server.core.formats import format_of
from arena_server.errors import ArenaError
from arena_server.host.interrupts import handled
from arena_server.places.reporter import result_json
from arena_server.places.supervisor import ProgressListener
from arena_server.stats.elo import Sprt
from arena_server.stats.scores import (
    LeadTest,
    PlayedGame,
    Scores,
    elo_text,
    mean_text,
)
from arena_server.store.database import database_of
from arena_server.terms.config import ContestConfig
from arena_server.terms.sandbox import DEFAULT_LIMITS, ContainerLimits
from arena_server.terms.spec import ContestSpec

#: The name of the contest in the database of --keep.
CONTEST = "match"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchPlan:
    """What is played by any players: `deals` deals at most, each from every seat.

    `until_decided`: that number is far above what `test`, which ends the match, needs.
    """

    game: str
    options: Mapping[str, object]
    deals: int
    clock_ms: int
    seed: int
    test: Sprt | LeadTest | None = None
    until_decided: bool = False
    concurrency: int = 1
    #: The contest whose clocks and storage count, and what a container may use.
    like: ContestConfig | None = None
    limits: ContainerLimits = DEFAULT_LIMITS
    #: What the environment of the programs has beside that of a contest.
    variables: Mapping[str, str] = field(default_factory=dict)
    #: The name of the first player, instead of that of its program.
    first: str | None = None
    workers: WorkerOptions = field(default_factory=WorkerOptions)
    #: Whether programs that compute by turns are bound to cores.
    shares_cores: bool = True
    #: Whether the line of a game is JSON, on stdout.
    json_lines: bool = False


class Tally:
    """The scores of a match from the server's results, a deal as soon as all its games are played."""

    def __init__(self, players: Sequence[str]) -> None:
        self._players = players
        self.scores = Scores.empty(len(players))
        #: The games of incomplete deals, by deal, order of players and player of every seat. Two deals may be
        #: equal (in tic-tac-toe all are) and be played at the same time: each seating has a list.
        self._open: dict[tuple[str, tuple[int, ...]], dict[tuple[int, ...], list[PlayedGame]]] = {}

    def add(self, result: Mapping[str, Any], seating: tuple[int, ...]) -> bool:
        """Add a `reporter.result_json` with the player of every seat; True if its deal is complete."""
        faults: list[str | None] = [None] * len(seating)
        # The first fault of a seat counts, so it is written last.
        for fault in reversed(result["faults"]):
            faults[fault["seat"] - 1] = fault["kind"]
        game = PlayedGame(tuple(result["totals"]), tuple(faults), tuple(result["used_ms"]), ())
        # Seats that are moved on alike play the same deal: it is found by the order from the first player on.
        first = seating.index(0)
        deal = self._open.setdefault((result["deal"], seating[first:] + seating[:first]), {})
        deal.setdefault(seating, []).append(game)
        if len(deal) < len(seating) or not all(deal.values()):
            return False
        self.scores.add(self._players, [(each, played.pop(0)) for each, played in deal.items()])
        return True


class MatchRun(ProgressListener):
    """One match between as many players as the game has seats.

    Call one of the `play_` methods, then `answer`. `last` is the last progress report of the referee;
    `decided`: the sequential test has ended the match.
    """

    def __init__(self, plan: MatchPlan, players: Sequence[str], before: int = 0, name: str = CONTEST) -> None:
        """Number the games from `before` + 1 on; `name` is that of the contest.

        Raises ConfigError or EngineError for a player that does not exist.
        """
        self.last: dict[str, Any] = {}
        self.decided = False
        self.games = 0
        #: Player, game and line of each.
        self._faults: list[tuple[int, str, str]] = []
        self._plan = plan
        self._players = players
        self._before = before
        self._title = "" if name == CONTEST else f"{name} "
        self._group = seat(players, plan.game, plan.limits, plan.first, plan.variables)
        self._seats = {bot.name: player for player, bot in enumerate(self._group)}
        self._tally = Tally(players)
        self._referee: RefereeThread | None = None
        #: The last game, for `json_lines`.
        self._last: dict[str, Any] = {}
        #: The worker of the last record, and with --on every result with its worker: it may be taken back.
        self._worker = ""
        self._results: list[tuple[str, dict[str, Any]]] = []
        self._contest = LocalContest(
            name=name,
            game=plan.game,
            options=plan.options,
            group=self._group,
            deals=plan.deals,
            clock_ms=plan.clock_ms,
            # Each slot starts a process of every program: more slots than games would start some for nothing.
            concurrency=min(plan.concurrency, plan.deals * len(players)),
            seed=plan.seed,
            like=plan.like,
            workers=plan.workers.workers(self._group, self._engines()),
            shares_cores=plan.shares_cores,
            programs=programs_digest(players, plan.variables),
        )

    def _engines(self) -> dict[str, str]:
        """The engine of each bot, if all players are engines: they need no process of their own."""
        if any(is_command(player) or is_scripted(player) for player in self._players):
            return {}
        return {name: self._players[at] for name, at in self._seats.items()}

    def play_here(self) -> None:
        """Let engines play in this process. Raises EngineError if one cannot play."""
        config = self._contest.spec().config
        rules = make_game(config.game, config.options)
        engines = {name: create(self._players[at], config.game) for name, at in self._seats.items()}
        # The clock of the first move would pay for compiling.
        for engine in engines.values():
            engine.warm_up()
        form = format_of(config, list(self._seats), rules.seats)
        assert form.total is not None, "a match is planned"
        for pairing in form.planned(1, form.total + 1):
            setting = Setting.of(config, rules, pairing)
            self.result(result_json(play(setting, [engines[name] for name in pairing.names])))
            if self.decided:
                return

    @property
    def spec(self) -> ContestSpec:
        """The match as a contest."""
        return self._contest.spec()

    def count_all(self, database: str, results: Sequence[dict[str, Any]]) -> None:
        """Count all games of the match, which `database` has; they are not played again."""
        for result in results:
            self._count(result)
        self.say(f"match: {database} has all {self.games} games of {self.spec.name}")

    def resume(self, database: str) -> None:
        """Go on with the unfinished match of the same command in `database`, if it has one without a verdict.

        Raises StoreError for a database that cannot be used.
        """
        spec = self.spec
        earlier = earlier_results(database_of(database), spec)
        if earlier is None:
            return
        # Without lines: they were printed when the games were played.
        for worker, result in earlier:
            self._count(result, worker)
        if self.decided:  # by the last server, which was killed before it could say so
            self._begin()
            self.decided = False
            return
        self._contest = replace(self._contest, resumed=True)
        total = "" if self._plan.until_decided else f" of {spec.config.games_per_pair}"
        self.say(f"match: {database} has {self.games}{total} games of it; it goes on (--new begins another)")

    def play_processes(
        self, database: str | None, logs: Path | None, page_socket: socket.socket | None = None
    ) -> bool:
        """Let the referee seat processes; return whether a signal interrupted the match.

        A page shows the games on `page_socket` meanwhile.

        Raises BotError for a program that cannot start.
        """
        engines = (player for player in self._players if not is_command(player))
        compile_engines(self._plan.game, engines, _step)
        calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        with (
            RefereeThread(self._contest, _Relay(self, calls), database, logs, page_socket) as referee,
            handled(lambda *_: referee.stop()),
        ):
            self._referee = referee
            referee.when_ended(lambda: calls.put(None))
            while (call := calls.get()) is not None:
                call()
            # A match that is decided was stopped as well, but by no signal.
            return not referee.join() and not self.decided

    def answer(self) -> dict[str, Any]:
        """Return the summary of the complete deals for JSON."""
        plan = self._plan
        return {
            "game": plan.game,
            "clock": plan.clock_ms,
            "seed": plan.seed,
            "concurrency": plan.concurrency,
            **self._tally.scores.summary(self._players, plan.test),
        }

    def faults_of(self, player: int) -> list[str]:
        return [line for at, _, line in self._faults if at == player]

    def check_complete(self) -> None:
        """Raise ArenaError if games of the referee have no result though no test was decided."""
        from arena_cli.results import unplayed_message

        if not self.decided and self.last.get("ended") != "finished":
            raise ArenaError(unplayed_message(self.last))

    def check_first(self) -> None:
        """Raise ArenaError if the first player was at fault in every game: no result says what it can do."""
        self.check_faults([0])

    def check_faults(self, players: Sequence[int]) -> None:
        """Raise ArenaError if all of these players were at fault in every game, with that of the first."""
        for player in players:
            if not self.games or len({game for at, game, _ in self._faults if at == player}) < self.games:
                return
        first = self.faults_of(players[0])[0]
        games = "the only game" if self.games == 1 else f"each of the {self.games} games"
        raise ArenaError(f"{self._label(players[0])} was at fault in {games}; the first time: {first}")

    # -- what happens (ProgressListener)

    def report(self, progress: dict[str, Any]) -> None:
        """Keep the server's last report."""
        self.last = progress

    def result(self, result: dict[str, Any]) -> None:
        """Print a line for the game; stop the match when the test is decided."""
        if self.decided:
            return  # it was still running when the test was decided
        lines = self._count(result, self._worker)
        self._show(lines)
        self._end_if_decided()

    def _end_if_decided(self) -> None:
        if self.decided and self._referee is not None:
            self._referee.decide()

    def record(self, record: GameRecord) -> None:
        """Take the worker of the next result."""
        self._worker = record.worker

    def voided(self, worker: str) -> None:
        """Count the results of the other workers alone."""
        if not self.decided:
            results = self._results
            self._begin()
            for by, result in results:
                if by != worker:
                    self._count(result, by)
            self._end_if_decided()

    def _begin(self) -> None:
        """Count from the first game on."""
        self._tally, self.games, self._faults, self._results = Tally(self._players), 0, [], []

    def _show(self, lines: Sequence[str]) -> None:
        """Say that the last game is over."""
        if self._plan.json_lines:
            typer.echo(json.dumps(self._last))
        else:
            for line in lines:
                typer.echo(line, err=True)

    def _count(self, result: dict[str, Any], worker: str = "") -> list[str]:
        """Count a game, and return its lines."""
        if self._plan.workers.on is not None:
            self._results.append((worker, result))
        seats = tuple(self._seats[name] for name in result["names"])
        complete = self._tally.add(result, seats)
        self.games += 1
        standing = self._tally.scores.standing(self._players, self._plan.test)
        number = f"{self._title}g{self._before + int(result['game'][1:])}"
        names = [self._label(player) for player in seats]
        deals = None if self._plan.until_decided else self._plan.deals
        faults = [f"{number}: {line}" for line in fault_lines(result | {"names": names}, self._plan.game)]
        for fault, line in zip(result["faults"], faults, strict=True):
            self._faults.append((seats[fault["seat"] - 1], number, line))
        players = [self._players[player] for player in seats]
        self._last = {"id": number, "players": players, **result, "standing": standing}
        self.decided |= complete and standing.get("verdict", "open") != "open"
        return [game_line(number, names, result["totals"], standing, deals), *faults]

    def _label(self, player: int) -> str:
        """How a line calls a player: an engine as it was given, a program by the name of its bot."""
        return self._group[player].name if is_command(self._players[player]) else self._players[player]

    def say(self, line: str) -> None:
        """Print a message on stderr; a decided match stops its running games silently."""
        if not self.decided:
            typer.echo(line, err=True)


def needs_processes(players: Sequence[str], plan: MatchPlan) -> bool:
    """Whether the referee seats processes for such a match; else engines play in this one."""
    if plan.concurrency > 1 or plan.workers.on is not None:
        return True
    return any(is_command(player) or is_scripted(player) for player in players)


def game_line(
    game: str, names: Sequence[str], totals: Sequence[int], standing: Mapping[str, Any], deals: int | None
) -> str:
    """Return the line of a finished game: its points, and the standing of a match of at most `deals`."""
    points = ", ".join(f"{name} {total}" for name, total in zip(names, totals, strict=True))
    parts = [f"{standing['deals']} deals" if deals is None else f"{standing['deals']} of {deals} deals"]
    if standing["deals"]:
        parts.append("points " + " : ".join(mean_text(each) for each in standing["points"]))
        if elo := elo_text(standing):
            parts.append(elo)
    if "llr" in standing:
        low, high = standing["bounds"]
        parts.append(f"LLR {standing['llr']:+.2f} ({low:.2f} to {high:.2f})")
    return f"{game}: {points} | {', '.join(parts)}"


class _Relay(ProgressListener):
    """Has what the referee's thread reports handled by the main thread."""

    def __init__(self, listener: ProgressListener, calls: SimpleQueue[Callable[[], None] | None]) -> None:
        self._listener = listener
        self._calls = calls
        self._record: GameRecord | None = None

    def report(self, progress: dict[str, Any]) -> None:
        self._calls.put(partial(self._listener.report, progress))

    def record(self, record: GameRecord) -> None:
        # It goes with its result, if there is one: each call wakes the main thread beside the next game.
        self._record = record

    def result(self, result: dict[str, Any]) -> None:
        self._calls.put(partial(self._take, self._record, result))

    def _take(self, record: GameRecord | None, result: dict[str, Any]) -> None:
        if record is not None:
            self._listener.record(record)
        self._listener.result(result)

    def voided(self, worker: str) -> None:
        self._calls.put(partial(self._listener.voided, worker))

    def say(self, line: str) -> None:
        self._calls.put(partial(self._listener.say, line))


@contextmanager
def _step(text: str) -> Iterator[None]:
    typer.echo(text, err=True)
    yield
