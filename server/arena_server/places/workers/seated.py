"""The games of a worker: a host with one contest, whose bots stay connected from game to game.

    play(job) -> the table of the same bots, or a new one -> HandOut -> a record

A table is given back when the next game has other bots, when a bot was at fault, when it is idle, and when
the memory of the machine is short: its bots are ended, and start again with the next table.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Final

from arena_protocol.record import VOID, GameRecord
from arena_server.core.events import HandIn, HandOut
from arena_server.errors import ConfigError
from arena_server.places.base import LocalBot
from arena_server.places.forks import Forks
from arena_server.places.local import HostedBots, LocalRun, run_local
from arena_server.places.supervisor import STOPPING, ProgressListener
from arena_server.places.workers.base import GameJob
from arena_server.places.workers.process import JobRun
from arena_server.terms.config import HANDED
from arena_server.terms.spec import ContestSpec, entrant_of

#: Seconds without a game after which the bots are ended.
IDLE_S: Final = 60.0
#: Games after which a table is given back: its database grows by some kilobytes a game.
MOST_GAMES: Final = 1000
#: Seconds after a game for its bots to store what they have learnt of it, where they can.
LATE_S: Final = 0.1
#: The share of the memory of the machine that has to be free for bots to stay.
FREE_MEMORY: Final = 0.1
_MEMORY: Final = Path("/proc/meminfo")


class Tables:
    """Plays the games of jobs, one at a time, beside a loop in a thread of its own; `forks` start programs.

    The thread stays until `close`: what it has started ends with it.
    """

    def __init__(self, forks: Forks) -> None:
        self._forks = forks
        self._loop: asyncio.AbstractEventLoop | None = None
        self._table: SeatedBots | None = None
        self._idle: asyncio.Task[None] | None = None

    def play(self, job: GameJob, run: JobRun) -> GameRecord | None:
        """Play the game of a job; None if it has no result.

        What a signal raises here ends the game. Raises BotError for a bot that cannot start, ConfigError for
        a program that is not here.
        """
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, daemon=True).start()
        playing = asyncio.run_coroutine_threadsafe(self._play(job, run), self._loop)
        try:
            return playing.result()
        finally:
            playing.cancel()

    def close(self) -> None:
        """End all bots."""
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._give_back(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)

    async def _play(self, job: GameJob, run: JobRun) -> GameRecord | None:
        if self._idle is not None:
            self._idle.cancel()
        if self._table is not None and not self._table.fits(job):
            await self._give_back()
        if self._table is None:
            self._table = SeatedBots(job, run, self._forks)
        stays = False
        try:
            record = await self._table.play(job, run)
            stays = (
                record is not None
                and not any(fault.seat for fault in record.faults)
                and record.end != VOID
                and self._table.games < MOST_GAMES
                and not memory_is_short()
            )
            return record
        finally:
            if stays:
                self._idle = asyncio.create_task(self._end_idle())
            else:
                await self._give_back()

    async def _end_idle(self) -> None:
        await asyncio.sleep(IDLE_S)
        self._idle = None
        await self._give_back()

    async def _give_back(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        if self._table is not None:
            # Shielded: who is cancelled here leaves no bot either.
            ending = asyncio.ensure_future(self._table.close())
            await asyncio.shield(ending)
            self._table = None


class SeatedBots(ProgressListener):
    """A host with a contest of the bots of one job, which may play several games one after the other.

    Raises ConfigError for a program that is not here.
    """

    def __init__(self, job: GameJob, run: JobRun, forks: Forks) -> None:
        self.games = 0
        self._job = job
        self._forks = forks
        bots = [_here(bot, job.python) for bot in job.bots]
        most = max((bot.sandbox.limits.cpus for bot in bots if bot.sandbox is not None), default=1)
        cores = run.seat_cores(len(bots), most)
        #: Those of each bot, if each has its own.
        self._cores = {bot.name: own for bot, own in zip(bots, cores, strict=True)} if run.is_split else {}
        self._bots = [replace(bot, cores=own) for bot, own in zip(bots, cores, strict=True)]
        self._say: Callable[[str], None] = run.say
        #: What the server knows the bots to have stored.
        self._known = dict(job.stored)
        self._serving, self._interrupted = asyncio.Event(), asyncio.Event()
        self._played: asyncio.Future[GameRecord] | None = None
        self._running = asyncio.ensure_future(self._run())

    def fits(self, job: GameJob) -> bool:
        """Whether it can play this game, too."""
        mine, others = (
            (replace(each.config, dealt=None), sorted(each.bots, key=lambda bot: bot.name), each.python)
            for each in (self._job, job)
        )
        return not self._running.done() and mine == others

    async def play(self, job: GameJob, run: JobRun) -> GameRecord | None:
        """Play the game of a job; None if the contest ended without. Raises BotError."""
        self.games += 1
        self._say = run.say
        names = tuple(bot.name for bot in job.bots)
        if self._cores:
            run.split([self._cores[name] for name in names])
        await self._until(asyncio.ensure_future(self._serving.wait()))
        played = self._played = asyncio.get_running_loop().create_future()
        if not self._running.done():
            assert job.config.dealt is not None, "a worker has no secret to deal by"
            self._hand_in(job.stored)
            self._inside.feed(HandOut(names, job.config.dealt))
        await self._until(played)
        if not played.done() or played.cancelled():
            return None
        if job.config.storage_bytes and not self._running.done():
            await asyncio.wait([self._running], timeout=LATE_S)
            run.stored = self._newly_stored(names)
        record: GameRecord = played.result()
        return record

    def _hand_in(self, stored: Mapping[str, bytes]) -> None:
        """Let the bots that log in from now on get what the server has, where it has something else."""
        # Not all: a bot may have stored since its last result, and the server does not know of it.
        news = {name: data for name, data in stored.items() if data != self._known.get(name)}
        if news:
            self._known |= news
            self._inside.feed(HandIn(news))

    def _newly_stored(self, names: Sequence[str]) -> dict[str, bytes]:
        here = self._inside.kept
        news = {name: here[name] for name in names if here.get(name, b"") != self._known.get(name, b"")}
        self._known |= news
        return news

    async def _until(self, waiting: asyncio.Future[GameRecord] | asyncio.Task[bool]) -> None:
        """Wait for this, or the end of the host. Raises what ended it."""
        both: list[asyncio.Future[object]] = [waiting, self._running]  # type: ignore[list-item]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            waiting.cancel()
            self._running.result()

    async def close(self) -> None:
        """End the host and all bots."""
        self._interrupted.set()
        with suppress(Exception):  # what ended it was raised to who played
            await self._running

    async def _run(self) -> None:
        bots = self._bots
        spec = ContestSpec(
            config=replace(self._job.config, dealt=None, format=HANDED),
            entrants=[
                replace(
                    entrant_of(bot.name, bot.token),
                    ponders=bot.sandbox is None or bot.sandbox.limits.ponder,
                )
                for bot in bots
            ],
            new=True,
            keeps_plies=False,
            started=frozenset(bot.name for bot in bots),
        )
        with TemporaryDirectory(prefix="arena-", ignore_cleanup_errors=True) as folder, self._forks.used():
            database = Path(folder) / "arena.db"
            local = LocalRun(spec, database, bots, fork=self._forks.start, inside=self._enter)
            await run_local(local, self, self._interrupted)

    def _enter(self, inside: HostedBots) -> None:
        self._inside = inside

    # -- what the host says

    def listening(self, _address: str) -> None:
        if self._known:  # before a bot is there
            self._inside.feed(HandIn(self._known))
        self._serving.set()

    def record(self, record: GameRecord) -> None:
        if self._played is not None and not self._played.done():
            self._played.set_result(record)

    def say(self, line: str) -> None:
        if line != STOPPING:
            self._say(line)


def memory_is_short(path: Path = _MEMORY) -> bool:
    """Whether programs that stay would take memory that games need; False where the system does not say."""
    found: dict[str, int] = {}
    with suppress(OSError, ValueError, IndexError):
        for line in path.read_text().splitlines():
            key, _, value = line.partition(":")
            found[key] = int(value.split()[0])
    free, total = found.get("MemAvailable"), found.get("MemTotal")
    return free is not None and total is not None and free < FREE_MEMORY * total


def _here(bot: LocalBot, python: str) -> LocalBot:
    """A bot as it is started on this machine."""
    if bot.sandbox is not None:
        return bot
    program, *words = bot.command
    if program == python:
        return replace(bot, command=(sys.executable, *words))
    if which(program) is None:
        raise ConfigError(f"bot {bot.name}: no program {program!r} here or on the path of this worker")
    return bot
