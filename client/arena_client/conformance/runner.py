"""Runs suites: one bench a case, closed whatever happens; a result for each."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from time import monotonic
from typing import TYPE_CHECKING, TypeVar, cast

from arena_client.conformance.bot import games as bot_games
from arena_client.conformance.bot import lines as bot_lines
from arena_client.conformance.bot import messages as bot_messages
from arena_client.conformance.bot import resume as bot_resume
from arena_client.conformance.bot.bench import SUITE as BOT_SUITE
from arena_client.conformance.bot.bench import BotBench, BotSettings
from arena_client.conformance.cases import Case, Finding, Result, Verdict
from arena_client.conformance.server import faults, games, lines, login, resume, spectators
from arena_client.conformance.server.bench import SUITE as SERVER_SUITE
from arena_client.conformance.server.bench import ServerBench, ServerSettings

if TYPE_CHECKING:
    from arena_client.conformance.bot.process import BotUnderTest
    from arena_client.conformance.wire import Log

__all__ = ["BOT_SUITE", "SERVER_SUITE", "check_bot", "check_server", "listen"]

#: The modules that enter the cases into their suites.
CASES = (bot_lines, bot_messages, bot_games, bot_resume, lines, login, games, faults, resume, spectators)

B = TypeVar("B")


def listen(host: str, port: int) -> socket.socket:
    """Open the port on which the bot is to connect; 0 picks one. Raises OSError."""
    return socket.create_server((host, port))


def check_bot(bot: BotUnderTest, settings: BotSettings, cases: Iterable[Case[BotBench]]) -> Iterator[Result]:
    """Run these cases against a bot, one after the other; each result comes as soon as it is there.

    Raises OSError if the port cannot be opened or the bot not be started.
    """
    with closing(listen(settings.host, settings.port)) as listener:
        for case in cases:
            _drop_waiting(listener)
            bench = BotBench(bot, settings, listener)
            yield _result(case, bench, bench.log, bench.close)


def check_server(settings: ServerSettings, cases: Iterable[Case[ServerBench]]) -> Iterator[Result]:
    """Run these cases against a server, one after the other; each result comes as soon as it is there."""
    keys: dict[str, str] = {}
    for case in cases:
        bench = ServerBench(settings, keys)
        yield _result(case, bench, bench.log, bench.close)


def _drop_waiting(listener: socket.socket) -> None:
    """Drop connections of the bot of an earlier case that were not taken."""
    listener.setblocking(False)
    try:
        while True:
            listener.accept()[0].close()
    except BlockingIOError:
        pass
    finally:
        listener.setblocking(True)


def _result(case: Case[B], bench: B, log: Log, close: Callable[[], str]) -> Result:
    """Run one case on its bench."""
    began = monotonic()
    verdict, expected, actual = Verdict.OK, "", ""
    try:
        case.run(bench)
    except Finding as finding:
        verdict, expected, actual = finding.verdict, finding.expected, finding.actual
    finally:
        stderr = close()
    entries = tuple(log.entries)
    return Result(cast("Case[object]", case), verdict, monotonic() - began, expected, actual, entries, stderr)
