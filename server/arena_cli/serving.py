"""The second half of `arena serve`: what is loaded once the port is open."""

from __future__ import annotations

import asyncio
import gc
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from arena_cli.serve import Prepared
from arena_server.core.contest import Contest
from arena_server.core.standings import Progress
from arena_server.driver import Driver
from arena_server.logs import LineWriter, Log
from arena_server.server import ServerObserver, Service, Setup

STDIN, STDOUT, STDERR = 0, 1, 2
#: How often a supervisor hears of progress at most.
REPORT_S = 0.25


def serve(
    prepared: Prepared, log: tuple[str, str], *, until_finished: bool, supervised: bool, new: bool
) -> None:
    """Serve to the end; `log` is its level and its form.

    Raises ArenaError, with one line, for what made it end too early.
    """
    gc.enable()
    log_lines = LineWriter(STDERR)
    setup = Setup(
        plan=prepared.plan,
        entrants=prepared.entrants,
        database=prepared.database,
        max_connections=prepared.max_connections,
        until_finished=until_finished,
        new=new,
        seeded=prepared.seeded,
        cipher=prepared.cipher,
    )
    try:
        asyncio.run(_serve(prepared, setup, Log(log_lines, *log), supervised))
    finally:
        log_lines.close()
    if until_finished and not supervised:
        _print_standings(prepared)


async def _serve(prepared: Prepared, setup: Setup, log: Log, supervised: bool) -> None:
    service = Service(setup, prepared.sock, log)
    supervisor = _Supervisor(service) if supervised else None
    try:
        with _admin(prepared, service, log):
            await service.run()
    finally:
        if supervisor is not None:
            supervisor.close()


@contextmanager
def _admin(prepared: Prepared, service: Service, log: Log) -> Iterator[None]:
    """Have the organiser's port open, if there is to be one; metrics are counted only then."""
    if prepared.admin is None:
        yield
        return
    from arena_server.admin.access import Access, AccessFile
    from arena_server.admin.office import open_office
    from arena_server.sockets import address_of

    sock, token = prepared.admin
    address = address_of(sock)
    with (
        AccessFile(prepared.database, prepared.plan.name, Access(address, token), os.environ),
        open_office(sock, token, service, prepared.plan, log),
    ):
        typer.echo(f"admin on http://{address}")
        yield


class _Supervisor(ServerObserver):
    """Whoever started this server: reads of its progress on our stdout, and is gone when stdin ends."""

    def __init__(self, service: Service) -> None:
        self._loop = asyncio.get_running_loop()
        self._service = service
        self._lines = LineWriter(STDOUT)
        self._last: Progress | None = None
        self._contest: Contest | None = None
        service.observe(self)

    def started(self, contest: Contest, driver: Driver) -> None:
        self._contest = contest
        self._loop.add_reader(STDIN, self._heard)
        self._report()

    def _heard(self) -> None:
        if not os.read(STDIN, 4096):
            self._loop.remove_reader(STDIN)
            self._service.stop("the supervisor is gone")

    def _report(self) -> None:
        """Say how far the contest is, if that has changed."""
        self._say()
        self._timer = self._loop.call_later(REPORT_S, self._report)

    def _say(self) -> None:
        assert self._contest is not None
        progress = self._contest.progress()
        if progress != self._last:
            self._last = progress
            self._lines.write(json.dumps(_plain(progress)))

    def close(self) -> None:
        """Say the last word."""
        if self._contest is not None:
            self._timer.cancel()
            self._loop.remove_reader(STDIN)
            self._say()
        self._lines.close()


def _plain(progress: Progress) -> dict[str, Any]:
    from arena_cli.results import plain_row

    plain = {name: getattr(progress, name) for name in progress.__slots__ if name != "standings"}
    return {**plain, "standings": [plain_row(row) for row in progress.standings]}


def _print_standings(prepared: Prepared) -> None:
    from arena_cli.results import print_standings
    from arena_server.store.reader import Results

    with Results(prepared.database) as results:
        print_standings(results, results.contest(prepared.plan.name))
