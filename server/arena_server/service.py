"""The life of a contest server: start, serve, stop, in a stated order.

    start   writer thread (opens the database), signals, accept, freeze what is loaded
    serve   until a signal, the end of the contest if asked for, or a failure
    stop    accept no more; tell the contest; wait for its results to be durable and told;
            let connections drain; close the database; leave

It must not know: games, bots' programs, how progress is shown.
"""

from __future__ import annotations

import asyncio
import gc
import secrets
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

from arena_protocol.games import make_game
from arena_protocol.record import GameRecord
from arena_server.core.contest import Contest
from arena_server.core.effects import Note
from arena_server.core.events import Stop, Stored
from arena_server.core.plan import ContestPlan, Entrant
from arena_server.descriptors import connection_cap, raise_descriptor_limit
from arena_server.errors import ArenaError
from arena_server.host import Host
from arena_server.logs import Log
from arena_server.store.writer import Opening, Writer

#: What the database may take to make the last results durable before the server gives up on it.
SETTLE_S = 30.0
#: What connections may take to read their BYE; a little more than they linger by themselves.
DRAIN_S = 2.5

STOPPED = "stopped"

#: While the writer encodes a record, the loop may have to wait for the interpreter so long;
#: Python's own 5 ms would be seen in every bot's turn-round.
SWITCH_S = 0.0005


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a server serves. `until_finished`: it leaves after the last game."""

    plan: ContestPlan
    entrants: Sequence[Entrant]
    database: Path
    max_connections: int
    until_finished: bool = False


class Service:
    """One contest on one listening socket; `run` is its life."""

    def __init__(self, setup: Setup, sock: socket.socket, log: Log) -> None:
        self._setup = setup
        self._sock = sock
        self._log = log
        self._failure: ArenaError | None = None
        self._reason: str | None = None
        #: Somebody or something wants the server to end.
        self._leave = asyncio.Event()
        #: No result is awaited any more: all are told, or none will be.
        self._settled = asyncio.Event()
        #: Called with the contest and its host once both are there; for whoever looks on.
        self.on_start: Callable[[Contest, Host], None] = lambda contest, host: None

    async def run(self) -> str:
        """Serve to the end, and return how the contest ended: `finished` or `stopped`.

        Raises StoreError if the database failed, and ArenaError for a fault of our own.
        """
        sys.setswitchinterval(SWITCH_S)
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._crashed)
        contest = Contest(self._setup.plan, self._setup.entrants, secrets.token_hex, time.monotonic_ns())
        cap = connection_cap(self._setup.max_connections, raise_descriptor_limit())
        self._host = Host(contest, self, loop, cap)
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop, number.name)
        self._writer = self._open_store(loop)
        self._writer.start()
        listener = self._host.listen(self._sock)
        self.on_start(contest, self._host)
        gc.collect()
        gc.freeze()  # what is loaded now stays; the collector need not look at it again
        try:
            await self._leave.wait()
        finally:
            listener.close()
            await self._wind_up()
        if self._failure is not None:
            raise self._failure
        return self._reason or STOPPED

    def stop(self, why: str = "asked") -> None:
        """End the contest: running games are void, results so far are kept."""
        if not self._leave.is_set():
            self.note(Note("info", "stopping", {"why": why}))
            self._leave.set()

    async def _wind_up(self) -> None:
        try:
            if not self._settled.is_set():
                self._host.feed(Stop())
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._settled.wait(), SETTLE_S)
            self._host.close()
            await self._host.drained(DRAIN_S)
        finally:
            # Not on the loop's own thread: the writer may still have something to tell the loop.
            await asyncio.to_thread(self._writer.close, self._reason or STOPPED)

    def _open_store(self, loop: asyncio.AbstractEventLoop) -> Writer:
        plan, names = self._setup.plan, [entrant.name for entrant in self._setup.entrants]
        game = make_game(plan.game, plan.options)
        games = comb(len(names), game.seats) * plan.games_per_pair
        return Writer(
            self._setup.database,
            Opening(plan, game.options(), names, games),
            stored=lambda game_ids: _later(loop, self._stored, game_ids),
            failed=lambda error: _later(loop, self._fail, error),
        )

    def _stored(self, game_ids: list[str]) -> None:
        for game_id in game_ids:
            self._host.feed(Stored(game_id))

    def _fail(self, error: ArenaError) -> None:
        """Nothing more can be promised: leave, and say why."""
        if self._failure is None:
            self._failure = error
        self._settled.set()
        self._leave.set()

    def _crashed(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Stop at an exception in a callback: a fault of our own, after which no verdict could be trusted."""
        error = context.get("exception")
        for line in traceback.format_exception(error) if error else [str(context.get("message"))]:
            for part in line.rstrip().splitlines():
                self._log.note("error", "crash", {"trace": part})
        self._fail(ArenaError("the server stopped at a fault of its own; the log above tells where"))

    # -- what the host tells (host.Service)

    def store(self, game_id: str, record: GameRecord) -> None:
        """Queue a record for the writer."""
        self._writer.put(game_id, record)

    def note(self, note: Note) -> None:
        """Log what the contest has to say."""
        self._log.note(note.level, note.event, note.fields)

    def finished(self, reason: str) -> None:
        """Nothing more will be played."""
        self._reason = reason
        self._settled.set()
        if self._setup.until_finished:
            self._leave.set()


def _later(loop: asyncio.AbstractEventLoop, call: Callable[..., None], argument: object) -> None:
    """Call on the loop's thread; a loop that has ended needs no word any more."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(call, argument)
