"""Probation that ends by itself: after a while a bot gets a test game, one of its own of the contest.

    faulty games reach the limit -> on probation -> `probation_for_ms` later: a trial
    a game without a fault -> its faults are forgiven      a faulty one -> on probation again

Without `probation_for_ms` only the organiser ends it.
"""

from __future__ import annotations

from collections.abc import Iterable

from arena_server.core.clock import NS_PER_MS
from arena_server.core.config import ContestConfig
from arena_server.core.deadlines import DeadlineKind, Deadlines
from arena_server.core.journal import TrialSet
from arena_server.core.log_events import BotTried, ProbationOver
from arena_server.core.peers import Bot, Outbox


class Probation:
    """The trials of one contest. After `judge` and `expire` the bot may be paired, or not any more."""

    def __init__(self, config: ContestConfig, out: Outbox, deadlines: Deadlines) -> None:
        self._limit = config.probation
        self._time = config.probation_for_ms
        self._out = out
        self._deadlines = deadlines

    def begin(self, bots: Iterable[Bot], now: int) -> None:
        """Let the time of each that is on probation run, as after a restart."""
        for bot in bots:
            if self._time is not None and bot.on_probation:
                self._deadlines.set((DeadlineKind.PROBATION, bot.number), now + self._time * NS_PER_MS)

    def judge(self, bot: Bot, now: int, *, was_trial: bool) -> None:
        """A game of `bot` has a result, and its faults have been counted."""
        if bot.on_probation:
            self.begin([bot], now)
            if was_trial:
                self._out.fact(TrialSet(bot.name, trial=False))
        elif bot.trial:
            bot.lift()
            self._out.fact(bot.conduct)
            self._out.fact(TrialSet(bot.name, trial=False))
            self._out.effects.append(ProbationOver(bot.name))

    def expire(self, bot: Bot) -> None:
        """The time of `bot` is over: unless it was lifted or kicked meanwhile, its next game decides."""
        if bot.on_probation:
            bot.try_again(self._limit)
            self._out.fact(bot.conduct)
            self._out.fact(TrialSet(bot.name, trial=True))
            self._out.effects.append(BotTried(bot.name))
