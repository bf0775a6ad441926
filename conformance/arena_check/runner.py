"""Runs suites: one bench a case, closed whatever happens; a result for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar, cast

from arena_check.bot import games as bot_games
from arena_check.bot import lines as bot_lines
from arena_check.bot import messages as bot_messages
from arena_check.bot import plain as bot_plain
from arena_check.bot import resume as bot_resume
from arena_check.bot.bench import SUITE as BOT_SUITE
from arena_check.bot.bench import BotBench, BotSettings
from arena_check.bot.door import Door, Listening
from arena_check.cases import Case, CaseResult, Finding, LateFinding, Verdict
from arena_check.server import faults, games, lines, login, resume, spectators
from arena_check.server.bench import SUITE as SERVER_SUITE
from arena_check.server.bench import ServerBench, ServerSettings

if TYPE_CHECKING:
    from arena_check.bot.process import BotUnderTest
    from arena_check.wire import LoggedLine

__all__ = ["BOT_SUITE", "SERVER_SUITE", "check_at", "check_bot", "check_server"]

#: The modules that enter the cases into their suites.
CASES = (
    bot_plain,
    bot_lines,
    bot_messages,
    bot_games,
    bot_resume,
    lines,
    login,
    games,
    faults,
    resume,
    spectators,
)

B = TypeVar("B", BotBench, ServerBench)


def check_bot(
    bot: BotUnderTest, settings: BotSettings, cases: Iterable[Case[BotBench]]
) -> Iterator[CaseResult]:
    """Run these cases against a bot, one after the other; each result comes as soon as it is there.

    Raises OSError if the port cannot be opened or the bot not be started.
    """
    with closing(Listening(bot, settings.host, settings.port)) as door:
        yield from check_at(door, settings, cases)


def check_at(door: Door, settings: BotSettings, cases: Iterable[Case[BotBench]]) -> Iterator[CaseResult]:
    """Play the plain game, then run these cases and what they need, against the bot behind a door.

    If the plain game fails, its cause is one result, whatever the selection, and all else is not reached.
    """
    bench = BotBench(door, settings)
    game = _finish(bot_plain.play, bench)
    missed: dict[str, str] = {}
    cause = ""
    if game.found.verdict is not Verdict.OK:
        part = next(
            each for each in BOT_SUITE.cases.values() if each.plain and each.clause == game.found.clause
        )
        cause = part.id
        yield game.result(part)
    for case in BOT_SUITE.with_needs(cases):
        needed = cause or next((missed[each] for each in case.needs if each in missed), "")
        # It has had its line as the cause of all others.
        if case.id == cause:
            continue
        if needed:
            missed[case.id] = needed
            yield _not_run(case, needed)
        # Its game has been played: the case asks the same bench for what it has seen.
        elif case.plain:
            yield replace(game, found=_found(case.run, bench), seconds=0.0).result(case)
        else:
            result = _run_bot(case, door, settings)
            if result.verdict in (Verdict.FAILED, Verdict.NOT_REACHED):
                missed[case.id] = case.id
            yield result


def _run_bot(case: Case[BotBench], door: Door, settings: BotSettings) -> CaseResult:
    """Run one case, and once more if the bot was late: the second run counts, as the first may be chance."""
    finished = _finish(case.run, BotBench(door, settings))
    if isinstance(finished.found, LateFinding):
        # On a bench of its own: what the late answer has left behind is not judged.
        finished = _finish(case.run, BotBench(door, settings))
        if isinstance(finished.found, LateFinding):
            finished.found.actual += ", in the second of two tries"
    return finished.result(case)


def _not_run(case: Case[BotBench], needed: str) -> CaseResult:
    return CaseResult(
        cast("Case[object]", case), Verdict.NOT_REACHED, 0.0, f"{needed} to pass", "it failed", needed=needed
    )


def check_server(settings: ServerSettings, cases: Iterable[Case[ServerBench]]) -> Iterator[CaseResult]:
    """Run these cases against a server, one after the other; each result comes as soon as it is there."""
    keys: dict[str, str] = {}
    for case in cases:
        yield _run(case, ServerBench(settings, keys))


@dataclass(frozen=True, slots=True)
class _Finished:
    """What a run on a bench has shown."""

    found: Finding
    seconds: float
    entries: tuple[LoggedLine, ...]
    stderr: str

    def result(self, case: Case[B]) -> CaseResult:
        found = self.found
        return CaseResult(
            cast("Case[object]", case),
            found.verdict,
            self.seconds,
            found.expected,
            found.actual,
            self.entries,
            self.stderr,
            found.clause,
            found.advice,
        )


def _run(case: Case[B], bench: B) -> CaseResult:
    return _finish(case.run, bench).result(case)


def _finish(run: Callable[[B], None], bench: B) -> _Finished:
    """Run on a bench, and close it whatever happens."""
    try:
        found = _found(run, bench)
    finally:
        seconds = bench.log.now() - bench.log.began
        stderr = bench.close()
    return _Finished(found, seconds, tuple(bench.log.entries), stderr)


def _found(run: Callable[[B], None], bench: B) -> Finding:
    try:
        run(bench)
    except Finding as finding:
        return finding
    return Finding(Verdict.OK, "", "")
