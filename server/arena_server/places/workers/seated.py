"""One game on a worker: a host with one contest of one game, and its bots beside it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from arena_protocol.record import GameRecord
from arena_server.errors import ConfigError
from arena_server.host.interrupts import stop_signals
from arena_server.places.base import LocalBot
from arena_server.places.forks import Forks
from arena_server.places.local import LocalRun, run_local
from arena_server.places.supervisor import STOPPING, ProgressListener
from arena_server.places.workers.base import GameJob
from arena_server.places.workers.process import JobRun
from arena_server.terms.spec import ContestSpec, entrant_of


class _Listener(ProgressListener):
    """Keeps the record."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.played: GameRecord | None = None
        self._say = say

    def record(self, record: GameRecord) -> None:
        self.played = record

    def say(self, line: str) -> None:
        if line != STOPPING:
            self._say(line)


async def play_seated(job: GameJob, run: JobRun, forks: Forks) -> GameRecord | None:
    """Play the game of a job; None if it has no result, or after SIGTERM.

    Raises BotError for a bot that cannot start, ConfigError for a program that is not here.
    """
    bots = [_here(bot, job.python) for bot in job.bots]
    most = max((bot.sandbox.limits.cpus for bot in bots if bot.sandbox is not None), default=1)
    cores = run.seat_cores(len(bots), most)
    bots = [replace(bot, cores=own) for bot, own in zip(bots, cores, strict=True)]
    entrants = [
        replace(
            entrant_of(bot.name, bot.token),
            ponders=bot.sandbox is None or bot.sandbox.limits.ponder,
        )
        for bot in bots
    ]
    spec = ContestSpec(
        config=job.config,
        entrants=entrants,
        new=True,
        keeps_plies=False,
        contained=frozenset(bot.name for bot in bots if bot.sandbox is not None),
    )
    interrupted = asyncio.Event()
    for number in stop_signals(ctrl_c=False):
        asyncio.get_running_loop().add_signal_handler(number, interrupted.set)
    listener = _Listener(run.say)
    with TemporaryDirectory(prefix="arena-", ignore_cleanup_errors=True) as folder, forks.used():
        local = LocalRun(spec, Path(folder) / "arena.db", bots, fork=forks.start)
        await run_local(local, listener, interrupted)
    return None if interrupted.is_set() else listener.played


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
