"""The server's end of the pipe to `arena tournament`.

On stdout it writes JSON lines; times are milliseconds.

    {"web": URL}                  the address of the web page
    {"login": NAME, "slot": 1}    a bot has logged in for the first time
    {"silent": NAME, "slot": 1, "game": "g1"}
                                  a bot was too late in a game, and has sent nothing since
    {"result": {...}}             a game has a durable result, see `result_json`; not for void games
    {"says": "..."}               a line for a person, about a worker
    {"page": "kept"}              the contest is over, and the server stays for its page until SIGTERM
    {"rests": NAME, "slot": 1}    an order about a bot that is started here; so are "plays", "freeze", "thaw"
                                  and "measure", see `places/frozen_bots.py`
    {"done": 3, ...}              the fields of `core.overview.Progress`; `waiting`: see `waiting_json`

On stdin it reads JSON lines, and answers them:

    {"crashed": NAME, "slot": 1}                    -> the same with "game": the id of its game, or null
    {"abandoned": NAME, "slot": 1, "game": "g1", "exceeded": ""}
                                                    -> {"over": NAME, "slot": 1} when that game is over; until
                                                       then the referee plays for the bot
    {"thawed": NAME, ...}, {"measured": NAME, ...}  the answers to such orders

The end of stdin means that the supervisor has gone: the server stops.
"""

from __future__ import annotations

import asyncio
import json
import os
from hashlib import sha256
from typing import Any

from arena_protocol.record import VOID, GameRecord
from arena_server.core.log_events import BotSilent, LogEvent, LoggedIn
from arena_server.core.overview import Overview
from arena_server.host.host import Host, HostObserver
from arena_server.host.log_events import ContestDoubtful, MachineCrowded, worker_line
from arena_server.host.logs import LineWriter
from arena_server.host.observers import Attachment, PlayedElsewhere
from arena_server.host.run import ContestRun
from arena_server.host.waiting import held_now
from arena_server.places.frozen_bots import StartedBots
from arena_server.places.games import ObservedGames
from arena_server.stats.scores import PlayedGame
from arena_server.stats.standings import row_json

STDIN, STDOUT = 0, 1
#: The interval of progress reports.
REPORT_S = 0.25

_NOT_BEGUN: dict[str, Any] = {"ended": "stopped", "done": 0, "total": 0, "missing": [], "unplayed": {}}


class HostReporter(HostObserver, Attachment):
    """Knows the progress of a host's contest; `supervised` means that it reports to the supervisor."""

    def __init__(self, host: Host, *, supervised: bool) -> None:
        self._host = host
        self._hosted: ContestRun | None = None
        self._lines = LineWriter(STDOUT) if supervised else None
        self._last: dict[str, Any] = {}
        self._started: StartedBots | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._logged_in: set[tuple[str, int]] = set()
        self._answering: set[asyncio.Task[None]] = set()
        #: The beginning of a line on stdin.
        self._rest = b""
        host.observe(self)

    def added(self, hosted: ContestRun) -> None:
        if self._hosted is None:
            self._hosted = hosted
            self._games = ObservedGames(hosted.feed)
            hosted.attach(self._games)
            hosted.attach(self)
            if self._lines is not None and hosted.spec.started and hosted.find(PlayedElsewhere) is None:
                lines = self._lines
                self._started = StartedBots(
                    hosted, hosted.spec.started, lambda order: lines.write(json.dumps(order))
                )

    def started(self) -> None:
        if self._lines is not None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(STDIN, self._read_stdin)
            self._write_often(self._lines)

    def happened(self, event: LogEvent) -> None:
        match event:
            case LoggedIn(bot=str(bot), slot=slot) if self._lines and (bot, slot) not in self._logged_in:
                # At once: a bot may end right after its log-in, and the supervisor has to know the order.
                self._logged_in.add((bot, slot))
                self._lines.write(json.dumps({"login": bot, "slot": slot}))
            case BotSilent(bot=name, slot=slot, game=game) if self._lines:
                self._lines.write(json.dumps({"silent": name, "slot": slot, "game": game}))
            case ContestDoubtful(text=text) | MachineCrowded(text=text) if self._lines:
                self._lines.write(json.dumps({"says": text}))
            case _ if self._lines and (line := worker_line(event)) is not None:
                self._lines.write(json.dumps({"says": line}))

    def recorded(self, record: GameRecord) -> None:
        if self._lines is not None and record.end != VOID:
            self._lines.write(json.dumps({"result": result_json(record)}))

    def stored(self) -> None:
        if self._lines is not None and not self._host.leaving:
            self._write(self._lines)
            self._lines.write(json.dumps({"page": "kept"}))

    def report(self) -> dict[str, Any]:
        """Return the progress as JSON types."""
        return _NOT_BEGUN if self._hosted is None else report_of(self._hosted)

    def _read_stdin(self) -> None:
        data = os.read(STDIN, 4096)
        if not data:
            self._loop.remove_reader(STDIN)
            self._host.suspend("the supervisor is gone")
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            answering = self._loop.create_task(self._answer(json.loads(line)))
            self._answering.add(answering)
            answering.add_done_callback(self._answering.discard)

    async def _answer(self, question: dict[str, Any]) -> None:
        """Answer a line of the supervisor, now or when a game is over."""
        assert self._lines is not None
        match question:
            case {"crashed": str(bot), "slot": int(slot)}:
                answer = question | {"game": await self._games.game_of(bot, slot)}
            case {"abandoned": str(bot), "slot": int(slot), "game": str(game), "exceeded": str(exceeded)}:
                await self._games.abandon(bot, slot, game, exceeded)
                answer = {"over": bot, "slot": slot}
            case _:
                if self._started is not None:
                    self._started.answered(question)
                return
        self._lines.write(json.dumps(answer))

    def _write_often(self, lines: LineWriter) -> None:
        self._write(lines)
        self._timer = self._loop.call_later(REPORT_S, self._write_often, lines)

    def _write(self, lines: LineWriter) -> None:
        """Write the progress if it has changed."""
        report = self.report()
        if report != self._last:
            self._last = report
            lines.write(json.dumps(report))

    def close(self) -> None:
        """Write the last report."""
        if self._lines is None:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._loop.remove_reader(STDIN)
            self._write(self._lines)
        self._lines.close()


def result_json(record: GameRecord) -> dict[str, Any]:
    """Return a game's result as JSON types; `deal` is equal for games on the same deal.

    `used_ms` is the time charged to each seat.
    """
    return {
        "game": record.game_id,
        "names": list(record.names),
        "totals": list(record.totals),
        "end": record.end,
        "plies": len(record.plies),
        "used_ms": list(PlayedGame.of(record).used),
        "faults": [
            {"seat": fault.seat, "ply": fault.ply, "kind": fault.kind, "line": fault.line.hex()}
            for fault in record.faults
        ],
        # Of board and sequence it would be a test for guesses: a short sequence could be tried out.
        "deal": sha256(f"{record.seed}".encode()).hexdigest()[:16],
    }


def report_of(hosted: ContestRun) -> dict[str, Any]:
    """Return the progress of a contest as JSON types; one that has not begun is stopped, without games."""
    if hosted.contest is None:
        return _NOT_BEGUN
    return report_json(hosted.contest.status.overview()) | {"scoring": hosted.spec.config.scoring}


def reports_of(host: Host) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Return the progress of the contests that are listed, and why others of them have failed."""
    failed = {hosted.name: str(hosted.failure) for hosted in host.listed if hosted.failure is not None}
    return {hosted.name: report_of(hosted) for hosted in host.listed if hosted.name not in failed}, failed


def report_json(overview: Overview) -> dict[str, Any]:
    """Return a progress report as JSON types."""
    progress = overview.progress
    plain = {name: getattr(progress, name) for name in progress.__slots__}
    return plain | {
        "connected": sum(bot.connected for bot in overview.bots),
        **held_now(progress.holds, progress.waiting),
        "missing": list(progress.missing),
        "unplayed": dict(progress.unplayed),
        "standings": [row_json(row) for row in progress.standings],
    }
