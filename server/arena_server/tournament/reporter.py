"""The server's end of the pipe to `arena tournament`: progress out, and the end of the supervisor in."""

from __future__ import annotations

import asyncio
import json
import os

from arena_server.core.contest import Contest
from arena_server.core.standings import Progress, plain_row
from arena_server.driver import Driver
from arena_server.logs import LineWriter
from arena_server.server import ServerObserver, Service

STDIN, STDOUT = 0, 1
#: The interval of progress reports.
REPORT_S = 0.25


class Reporter(ServerObserver):
    """The connection to `arena tournament`: progress as JSON lines on stdout; the end of stdin is its end."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._lines = LineWriter(STDOUT)
        self._last: Progress | None = None
        self._contest: Contest | None = None
        self._timer: asyncio.TimerHandle | None = None

    def started(self, contest: Contest, driver: Driver) -> None:
        self._contest = contest
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(STDIN, self._read_stdin)
        self._report_often()

    def _read_stdin(self) -> None:
        if not os.read(STDIN, 4096):
            self._loop.remove_reader(STDIN)
            self._service.stop("the supervisor is gone")

    def _report_often(self) -> None:
        self._report()
        self._timer = self._loop.call_later(REPORT_S, self._report_often)

    def _report(self) -> None:
        """Write the progress if it has changed."""
        assert self._contest is not None
        progress = self._contest.progress()
        if progress != self._last:
            self._last = progress
            plain = {name: getattr(progress, name) for name in progress.__slots__ if name != "standings"}
            rows = [plain_row(row) for row in progress.standings]
            self._lines.write(json.dumps({**plain, "standings": rows}))

    def close(self) -> None:
        """Write the last report."""
        if self._timer is not None:
            self._timer.cancel()
            self._loop.remove_reader(STDIN)
            self._report()
        self._lines.close()
