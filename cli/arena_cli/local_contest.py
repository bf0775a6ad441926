"""A contest on this machine whose bots are all started or seated here, for `arena match` and `arena play`.

    players on the command line -> `seat`: named bots -> LocalContest.spec -> RefereeThread: host and bots

One group of bots (`contest.format = "matches"`) plays paired deals, up to `concurrency` games at once; each
bot has a process for each of them.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import dropwhile, pairwise
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Self

import typer

from arena_cli.local_bots import engine_command, is_command, local_bot, parse_command
from arena_cli.options import numbers
from arena_cli.sandboxes import image_name, is_contained, player_sandbox
from arena_cli.workers import ARENA
from arena_protocol.games import GAMES
from arena_protocol.record import describe_fault
from arena_server.core.deal import REFEREE
from arena_server.host.host import Host
from arena_server.host.logs import Log
from arena_server.host.loop_link import LoopLink
from arena_server.places.base import LocalBot
from arena_server.places.local import LocalRun, run_local
from arena_server.places.supervisor import ProgressListener
from arena_server.places.workers.base import Workers
from arena_server.store.database import Database, database_of
from arena_server.store.preflight import check_writable
from arena_server.terms.config import ContestConfig, check_numbers, contest_of
from arena_server.terms.sandbox import DEFAULT_LIMITS, ContainerLimits
from arena_server.terms.spec import ContestSpec, entrant_of, fresh_seed
from arena_server.terms.terms import GameTerms

#: The games of a bot that stays away longer are not played.
ABSENT_MS = 30_000
#: The length of a bot's name without the letter of an equal one.
NAME_SIZE = 24
#: Programs that run the program that an argument names.
_INTERPRETER = re.compile(
    r"(python|pypy|perl|raku|ruby|node|nodejs|deno|bun|ts-node|tsx|qjs|lua|luajit|bash|sh|dash|zsh|ksh|fish"
    r"|java|Rscript|php|tclsh|wish|expect|awk|gawk|mawk|guile|racket|sbcl|clisp|swipl|julia|elixir|escript"
    r"|ocaml|runghc|runhaskell|octave|groovy|scala|kotlin|dotnet|mono|pwsh|gforth|wine|go)[0-9.]*"
)
#: Words before the program: `deno run mybot.ts`, `java -cp build Mybot`.
_RUN, _VALUED = ("run", "exec"), ("-cp", "-classpath", "--class-path")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalContest:
    """What is played: the bots of `group` play `deals` deals, each from every seat.

    A bot with neither command nor sandbox is not started, and with `workers` none is. With `shares_cores`
    those that compute by turns are bound to cores, as of `SharedCores`. An unfinished contest
    of equal terms, bots and `programs` goes on if it is `resumed`.
    Durations are milliseconds. The games have the clocks that are given here, or the terms of the contest
    `like`, and its bots store as many bytes.
    """

    name: str
    game: str
    options: Mapping[str, object]
    group: Sequence[LocalBot]
    deals: int
    clock_ms: int
    concurrency: int = 1
    byoyomi_ms: int = 0
    seed: int | None = None
    like: ContestConfig | None = None
    workers: Workers | None = None
    shares_cores: bool = False
    programs: str = ""
    resumed: bool = False

    def spec(self) -> ContestSpec:
        """Return the contest for a host. Raises ContestConfigError for a number out of its range."""
        terms = self.like or GameTerms(clock_ms=self.clock_ms, byoyomi_ms=self.byoyomi_ms)
        config = contest_of(
            replace(terms, game=self.game, options=numbers(self.options)),
            name=self.name,
            seed=fresh_seed() if self.seed is None else self.seed,
            format="matches",
            games_per_pair=self.deals * len(self.group),
            deals="paired",
            absent_ms=ABSENT_MS,
            probation=0,
            guests=False,
            storage_bytes=0 if self.like is None else self.like.storage_bytes,
            programs=self.programs,
        )
        check_numbers(config)
        # A container that stands still between the turns of its bot cannot think meanwhile.
        frozen = {bot.name for bot in self.group if bot.sandbox and not bot.sandbox.limits.ponder}
        entrants = [
            replace(entrant_of(bot.name, bot.token, self.concurrency), ponders=bot.name not in frozen)
            for bot in self.group
        ]
        return ContestSpec(
            config=config,
            entrants=entrants,
            new=not self.resumed,
            keeps_plies=False,  # bots end with their referee, and keep nothing of a game
            seeded=self.seed is not None,
            started=frozenset(bot.name for bot in self.processes()),
        )

    def processes(self) -> list[LocalBot]:
        """Return the bots to start, each once for every game that it may play at the same time."""
        if self.workers is not None:
            return []
        slots = range(1, self.concurrency + 1)
        return [replace(bot, slot=slot) for slot in slots for bot in self.group if bot.command or bot.sandbox]


class BotMessages(ProgressListener):
    """Prints messages about bots on stderr."""

    def say(self, line: str) -> None:
        typer.echo(line, err=True)


class RefereeThread:
    """Runs host and bots of a contest in a thread, in a `with` statement; `address` is HOST:PORT.

    The main thread stays free: neither a person nor a terminal that takes no text delays a clock there.
    `listener` is called in the thread. Without a `database` (a URL) no result is left at the end. A page
    for spectators is served on `page_socket`.
    """

    def __init__(
        self,
        contest: LocalContest,
        listener: ProgressListener,
        database: str | None = None,
        logs: Path | None = None,
        page_socket: socket.socket | None = None,
    ) -> None:
        # Without any of them what is stored would have no reader.
        stored = database is not None or page_socket is not None or contest.workers is not None
        self._spec = replace(contest.spec(), stored=stored)
        self._workers = contest.workers
        self._shares_cores = contest.shares_cores and contest.workers is None
        self._bots = contest.processes()
        self._database = None if database is None else database_of(database)
        if self._database is not None:
            check_writable(self._database)
        self._logs = logs
        self._page_socket = page_socket
        self._listener = listener
        self._ended: Future[bool] = Future()
        self._thread = Thread(target=self._run, name="referee")
        self._loop = asyncio.new_event_loop()
        self._stop, self._decided = asyncio.Event(), asyncio.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the contest."""
        self.stop()
        self._thread.join()
        self._loop.close()

    def stop(self) -> None:
        """End the contest early, if it is not over."""
        LoopLink(self._loop).post(self._stop.set)

    def decide(self) -> None:
        """End the contest for good: no game of it will be played any more."""
        LoopLink(self._loop).post(self._decided.set)

    def join(self) -> bool:
        """Wait until the contest has ended; False if it was stopped early. Raises what ended it."""
        return self._ended.result()

    def when_ended(self, call: Callable[[], object]) -> None:
        """Call in some thread when the contest has ended."""
        self._ended.add_done_callback(lambda _: call())

    def _run(self) -> None:
        try:
            with TemporaryDirectory(prefix="arena-", ignore_cleanup_errors=True) as folder:
                where = self._database or Path(folder) / "arena.db"
                local = LocalRun(
                    self._spec,
                    where,
                    self._bots,
                    self._logs,
                    workers=self._workers,
                    page=None if self._page_socket is None else partial(self._page, where, self._page_socket),
                    decided=self._decided,
                    # The threads of a page compute beside the referee.
                    shares_cores=self._shares_cores and self._page_socket is None,
                    is_kept=self._database is not None,
                )
                finished = self._loop.run_until_complete(run_local(local, self._listener, self._stop))
        except BaseException as error:  # raised again in the main thread
            self._ended.set_exception(error)
        else:
            self._ended.set_result(finished)

    @contextmanager
    def _page(
        self, database: Database, site: socket.socket, host: Host, sock: socket.socket, log: Log
    ) -> Iterator[None]:
        """Serve the page for spectators on `site`, without orders and games of visitors."""
        from arena_server.web.host_view import ServedHost
        from arena_server.web.ports import WebPorts
        from arena_server.web.thread import serve_web

        address = sock.getsockname()
        # The page is on this machine, and the port admits no guest.
        shown = replace(self._spec.config, guests=True, spectator_delay_ms=0)
        served = ServedHost(host, [shown], database, (address[0], address[1]))
        with serve_web(WebPorts(site), served, log):
            yield


def bot_names(players: Sequence[str], commands: Sequence[Sequence[str] | None]) -> list[str]:
    """Return names for the bots of these players: of the program, or of the engine with its parameters.

    `commands` has None for an engine. Equal names get a letter behind them, and so does that of the referee.
    """
    names: list[str] = []
    for player, command in zip(players, commands, strict=True):
        base = re.sub("[^A-Za-z0-9_-]+", "-", player if command is None else _program(command))
        base = base.strip("-_")[:NAME_SIZE] or "bot"
        letters = (f"{base}-{letter}" for letter in "bcdefghijklmnopqrstuvwxyz")
        free = base not in names and base != REFEREE
        names.append(base if free else next(name for name in letters if name not in names))
    return names


def _program(command: Sequence[str]) -> str:
    """Return the name of a program, of the file that its interpreter runs, or of what `arena` runs."""
    if tuple(command[: len(ARENA)]) == ARENA:
        return _arena_program(command[len(ARENA) :])
    name = PurePath(command[0]).name
    if name == "arena":
        return _arena_program(command[1:])
    if name == "env":
        rest = list(dropwhile(lambda word: word.startswith("-") or "=" in word, command[1:]))
        return _program(rest) if rest else name
    if _INTERPRETER.fullmatch(name):
        files = [
            word
            for option, word in pairwise(command)
            if not word.startswith("-") and word not in _RUN and option not in _VALUED
        ]
        if files and " " not in files[0]:
            name = PurePath(files[0]).name
    return name.partition(".")[0] or name


def _arena_program(words: Sequence[str]) -> str:
    """Return the name of the bot in `bot greedy --game insertion` or `bridge -- ./brain`."""
    if "--" in words and words[-1] != "--":
        return _program(words[words.index("--") + 1 :])
    named = [word for word in words[1:] if not word.startswith("-")] if words[:1] == ["bot"] else []
    return [*named, "arena"][0]


def seat(
    players: Sequence[str],
    game: str,
    limits: ContainerLimits = DEFAULT_LIMITS,
    first: str | None = None,
    variables: Mapping[str, str] | None = None,
) -> list[LocalBot]:
    """Return a bot for each player; `limits` are those of a container, `first` is the name of the first bot.

    The `variables` are for programs and containers. Raises ConfigError for an engine, a program or an image
    that does not exist.
    """
    from arena_cli.bot import check

    commands = [_command(player) for player in players]
    for player, command in zip(players, commands, strict=True):
        if command is None:
            check(player, game)
    named = commands if first is None else [[first], *commands[1:]]
    bots = [
        local_bot(name, engine_command(player, game))
        if command is None
        else replace(local_bot(name, command), variables=variables or {})
        for name, player, command in zip(bot_names(players, named), players, commands, strict=True)
    ]
    # Images come last: they are dear, and the other players may be wrong.
    return [
        replace(bot, command=(), sandbox=player_sandbox(player, limits)) if is_contained(player) else bot
        for bot, player in zip(bots, players, strict=True)
    ]


def _command(player: str) -> list[str] | None:
    """The program of a player, for a container a word that names it; None for an engine."""
    if is_contained(player):
        return [image_name(player)]
    return parse_command(player, "match") if is_command(player) else None


def fault_lines(result: Mapping[str, object], game: str) -> list[str]:
    """Return a sentence for each fault in a `result` of `reporter.result_json`."""
    names, faults = result["names"], result["faults"]
    assert isinstance(names, list)
    assert isinstance(faults, list)
    return [
        describe_fault(
            names[fault["seat"] - 1],
            fault["kind"],
            fault["ply"],
            bytes.fromhex(fault["line"]),
            zombie_move=GAMES[game].zombie_move,
        )
        for fault in faults
    ]
