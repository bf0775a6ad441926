"""What a contest says of itself: how far it is, what holds it up and whom it waits for, who is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from arena_server.core.commands import Commands
from arena_server.core.games import GameManager
from arena_server.core.life import DRAWING, NOT_BEGUN, WAITING, Hold, Life
from arena_server.core.overview import (
    PROBATION,
    Awaited,
    BotState,
    LinkState,
    Overview,
    Progress,
    absent_or_removed,
    causes_of_absence,
    where_is,
    why_waiting,
)
from arena_server.core.parts.parts import Parts
from arena_server.core.peers import Bot


class ContestStatus:
    """Reads the state of one contest, and changes nothing of it."""

    def __init__(
        self, life: Life, games: GameManager, parts: Parts, commands: Commands, bots: Sequence[Bot]
    ) -> None:
        self._life = life
        self._games = games
        self._parts = parts
        self._commands = commands
        self._bots = bots
        self._missing: tuple[str, ...] = ()

    def keep_missing(self) -> None:
        """Keep who is missing at the end: after it every bot leaves, and all would seem to be missing."""
        self._missing = absent_or_removed(self._bots, self._parts.shown)

    def progress(self) -> Progress:
        """The work grows with the number of bots."""
        connected = sum(bot.connected for bot in self._bots)
        progress = self._games.progress(
            connected, self._life.ended, causes_of_absence(self._bots, self._parts.shown)
        )
        holds, waiting = self.held()
        return replace(progress, missing=self._missing, waiting=waiting, holds=holds)

    def held(self) -> tuple[tuple[Hold, ...], tuple[Awaited, ...]]:
        """Why no game is offered, or not all; and whom it waits for, in the order of the entrants.

        Both are empty once it has ended.
        """
        if self._life.ended is not None:
            return (), ()
        here = sum(bot.plays and self._parts.is_there(bot) for bot in self._bots)
        drawing = (Hold(DRAWING),) if self._games.fixtures.drawing else ()
        probation = self._parts.probation
        waiting = tuple(
            Awaited.of(
                bot,
                reason,
                probation.faulty_games(bot),
                probation.faulty_trials(bot),
                returns=shown.returns,
            )
            for bot in self._bots
            if bot.plays
            and not bot.withdrawn
            and (reason := why_waiting(bot, shown := self._parts.shown(bot))) is not None
            and self._games.fixtures.has_games_left(bot.name)
        )
        return (*self._life.holds(here), *drawing, *((Hold(WAITING),) if waiting else ())), waiting

    def barred(self, name: str) -> Awaited | None:
        """A bot that plays only after an order of the organiser, whatever its author does."""
        bot = next((bot for bot in self._bots if bot.name == name and not bot.withdrawn), None)
        if bot is None or not (shown := self._parts.shown(bot)).barred or shown.returns:
            return None
        games, trials = self._parts.probation.faulty_games(bot), self._parts.probation.faulty_trials(bot)
        return Awaited.of(bot, shown.where or PROBATION, games, trials, returns=False)

    def link(self, digest: str, at: int) -> LinkState:
        """What the link to register by whose code has this digest can do at `at` (ms)."""
        return self._parts.link(digest, at)

    @property
    def idle(self) -> bool:
        """Whether games may start, or will once bots are there, and none runs."""
        holds = [hold.kind for hold in self._life.holds()]
        may_start = self._life.may_start or NOT_BEGUN in holds
        return self._life.ended is None and may_start and self._games.quiet

    def overview(self) -> Overview:
        """The organiser's view; the work grows with the numbers of bots and of games."""
        mean_move_ms = self._games.fixtures.results.mean_move_ms
        return Overview(
            phase=self._life.phase,
            state=self._life.shown_state,
            until=None if self._life.ended is not None else self._life.until,
            progress=self.progress(),
            running=self._games.running(),
            bots=tuple(
                BotState.of(
                    bot,
                    where_is(bot, self._parts.shown(bot)),
                    self._parts.probation.faulty_games(bot),
                    mean_move_ms(bot.name),
                )
                for bot in self._bots
                if bot.plays
            ),
            orders=tuple(self._commands.orders),
            length=None if self._life.ended is not None else self._commands.length,
            invitations=self._parts.invitations.listed(),
            registrations=self._parts.registration.states,
            applicants=self._parts.registration.applicants,
        )
