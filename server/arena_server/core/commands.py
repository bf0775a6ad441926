"""The organiser's commands; every command that is carried out is journaled.

pause         no game starts any more; running games go on
resume        games start again
drain         no game starts any more, and the contest stops once no game runs
abort         the contest ends at once, with the table as it is; running games are void
extend N      N more games for each group of players, or rounds, as the format has it
shorten N     N fewer of them, of those that have not begun
kick BOT      its connections are closed, its games are void, and it is paired no more
lift BOT      its faulty games do not count any more: it is paired again
void GAME     a running game is broken off, and not played again
replay GAME   a running or void game is (broken off and) played again
void-worker W nothing of a worker counts: its games are void and played again, and it gets none any more
add BOT       a late entrant, or one that was removed: it plays from now on
remove BOT    it is withdrawn: its games are void, and no other is played
invite OWNER  who has a code may register one bot of this owner
register BOT  the author of a bot adds it with such a code
token BOT     a new token: connections and keys by the old one end
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import Final

from arena_server.core.deal import number_of
from arena_server.core.effects import Reply
from arena_server.core.events import Command, Freeze, Hours, TimeUp
from arena_server.core.facts import Extended, Order, RunStateSet, Shortened
from arena_server.core.formats.length import MOST_GAMES, SUSPICIOUS, Length
from arena_server.core.games import REASON, GameManager
from arena_server.core.journal import JournalError
from arena_server.core.life import ABORTED, STOPPED
from arena_server.core.log_events import CommandDone, ContestBegun
from arena_server.core.orders import VERBS
from arena_server.core.parts.part import CommandError
from arena_server.core.parts.parts import Parts
from arena_server.core.peers import Bot, Outbox
from arena_server.terms.formats import FormatError

#: How the refusal of an order ends that would be carried out if it were `confirmed`.
UNCONFIRMED: Final = "; confirm it"

#: The state of a contest outside its hours, and of one that has not begun.
CLOSED, PLANNED = "closed", "planned"


class RunState(StrEnum):
    """Whether games may start."""

    OPEN = "open"
    PAUSED = "paused"
    DRAINING = "draining"
    ABORTED = "aborted"


class Commands:
    """Carries out the organiser's commands, and knows by them and by the hours whether games may start."""

    def __init__(
        self,
        games: GameManager,
        parts: Parts,
        out: Outbox,
    ) -> None:
        self.state = RunState.OPEN
        self.hours = Hours(is_open=True)
        #: Whether the contest has begun: before, no game starts and no bot is missed.
        self.begun = True
        self._quorum = 0
        #: Whether its state says so: games could start before.
        self._is_planned = False
        self._time_up = False
        #: Every order that was carried out, in order.
        self.orders: list[Order] = []
        self._games = games
        self._parts = parts
        self._out = out

    def wait_for(self, quorum: int, seats: int) -> None:
        """The contest, whose games have `seats` seats, begins once `quorum` bots are there."""
        self.begun, self._quorum, self._is_planned = quorum == 0, quorum, quorum > seats

    def begin(self, bots: Iterable[Bot]) -> None:
        """The contest begins if the quorum is there, within its hours."""
        if self.begun or not self.hours.is_open:
            return
        here = sum(bot.plays and self._parts.present(bot) for bot in bots)
        if here >= self._quorum:
            self.begun = True
            self._out.effects.append(ContestBegun(here))

    def restore(self, state: RunState) -> None:
        """Take the state that the journal has."""
        self.state = state

    def restore_order(self, order: Order) -> None:
        """Take an order that the journal has. Raises JournalError if it is not the next one."""
        if order.number != len(self.orders) + 1:
            raise JournalError(f"order {order.number} follows order {len(self.orders)}")
        self.orders.append(order)

    @property
    def may_start(self) -> bool:
        """Whether games may start."""
        return self.begun and self.state is RunState.OPEN and self.hours.is_open and not self._time_up

    @property
    def shown_state(self) -> str:
        """The state of the contest, for people."""
        if self.state is not RunState.OPEN:
            return str(self.state)
        if not self.hours.is_open:
            return CLOSED
        return PLANNED if self._is_planned and not self.begun else str(self.state)

    @property
    def length(self) -> Length | None:
        """What extends and shortens; None: nothing can."""
        try:
            return self._games.fixtures.length
        except FormatError:
            return None

    def keep_time(self, event: Hours | TimeUp | Freeze, now: int) -> None:
        """The clock on the wall has reached a moment of the timetable."""
        match event:
            case Hours():
                self.hours = event
            case TimeUp():
                self._time_up = True
            case Freeze(ago):
                self._games.spectators.freeze(now - ago)
        self._games.notes.reconsider()

    @property
    def is_aborted(self) -> bool:
        """Whether the organiser has ended the contest for good; games of it may still be stored."""
        return self.state is RunState.ABORTED

    def end(self, absent: Collection[str], *, stopping: bool = False) -> str | None:
        """How the contest ends now that no game runs, without the bots of `absent`; None: it goes on."""
        if self.is_aborted:
            return ABORTED
        if stopping or self.state is RunState.DRAINING:
            return STOPPED
        return self._games.fixtures.ending(absent, time_up=self._time_up)

    def handle(self, command: Command, now: int) -> None:
        """Carry `command` out, or send in the Reply why not."""
        try:
            self._carry_out(command, now)
        except CommandError as problem:
            self._out.effects.append(Reply(command.number, str(problem)))
            return
        number, (verb, target) = len(self.orders) + 1, (command.verb, command.target)
        order = Order(number, verb, target, command.who, command.at, command.reason)
        self.orders.append(order)
        self._out.fact(order)
        done = CommandDone(verb, target, command.who, command.reason)
        self._out.effects += done, Reply(command.number)

    def _carry_out(self, command: Command, now: int) -> None:
        target = command.target
        match command.verb:
            case "pause":
                self._set(RunState.PAUSED)
            case "resume":
                self._set(RunState.OPEN)
            case "drain":
                self._set(RunState.DRAINING)
            case "abort":
                self._set(RunState.ABORTED)
                self._games.void_all(REASON, now, again=False)
            case "extend" | "shorten":
                self._resize(command)
            case "void" | "replay":
                self._break_off(target, now, again=command.verb == "replay")
            case _ if self._parts.take(command, now):
                pass
            case "void-worker":  # VOID_WORKER would be a name here
                raise CommandError("no worker plays games of this contest: it has no --on")
            case _:
                raise CommandError(f"the commands are {', '.join(VERBS)}, not {command.verb!r:.40}")

    def _resize(self, command: Command) -> None:
        verb, text, fixtures = command.verb, command.target, self._games.fixtures
        if not (text.isascii() and text.isdigit() and 0 < int(text[:8]) <= MOST_GAMES):
            raise CommandError(f"{verb}: expected a number of games up to {MOST_GAMES:,}, got {text!r:.40}")
        by = int(text)
        try:
            length = fixtures.length
            if verb == "shorten":
                fixtures.resize(Shortened, by)
            elif length.is_suspicious(by) and length.longer(by) and not command.confirmed:
                now = f"{length.now:,} {length.unit}"
                raise CommandError(
                    f"extend by {by:,}: more than {SUSPICIOUS} times the {now} of now; confirm it"
                )
            else:
                fixtures.resize(Extended, by)
        except FormatError as error:
            raise CommandError(str(error)) from None
        self._games.notes.reconsider()

    def _set(self, state: RunState) -> None:
        self.state = state
        self._games.notes.reconsider()
        self._out.fact(RunStateSet("", str(state)))

    def _break_off(self, game_id: str, now: int, *, again: bool) -> None:
        live = self._games.find(game_id)
        if live is not None and not live.match.over:
            # A validation game that is broken off is always played again.
            self._games.void(live, REASON, now, again=again or not live.counts)
        elif not again:
            raise CommandError(f"no game {game_id!r:.40} is running")
        elif not self._games.play_again(number_of(game_id)):
            raise CommandError(f"no game {game_id!r:.40} is running or void; the result of any other stands")
