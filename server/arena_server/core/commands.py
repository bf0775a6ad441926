"""The organiser's commands; every command that is carried out is journaled.

pause         no game starts any more; running games go on
resume        games start again
drain         no game starts any more, and the contest stops once no game runs
abort         the contest ends at once, with the table as it is; running games are void
start         the contest begins, without its quorum and before its `starts_at`
archive       a contest that is over is shown, and served no more; one that could go on is aborted
extend N      N more games for each group of players, or rounds, as the format has it
shorten N     N fewer of them, of those that have not begun
pair ROUND    the organiser says who meets whom in a round of a Swiss
forbid PAIR   two bots do not meet in later rounds of a Swiss
allow PAIR    they may
kick BOT      its connections are closed, its games are void, and it is paired no more
lift BOT      its faulty games do not count any more: it is paired again
void GAME     a running game is broken off, and not played again
replay GAME   a running or void game is (broken off and) played again
void-worker W nothing of a worker counts: its games are void and played again, and it gets none any more
add BOT       a late entrant, or one that was removed: it plays from now on
remove BOT    it is withdrawn: its games are void, and no other is played
invite OWNER  who has a code may register one bot of this owner
registration N [OWNER]  who has a code may register up to N bots of OWNER, or of each owner; 0 closes it
forfeit GAME BOT     the bot has lost this game
correct GAME RESULT  the game has this result
disqualify BOT leave | lost  it is withdrawn; its games do not count, or the others have won them
penalty BOT POINTS   these points are taken from its score
undo          the last order that was not undone is taken back
register BOT  the author of a bot adds it with such a code
approve BOT   one that has registered, and waits, is added
reject BOT    it is not: its name is free
token BOT     a new token: connections and keys by the old one end
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from arena_server.core.deal import number_of
from arena_server.core.effects import Reply
from arena_server.core.events import Command, Freeze, Hours, TimeUp
from arena_server.core.facts import (
    Archived,
    Begun,
    Disqualified,
    Extended,
    Order,
    Penalised,
    RunStateSet,
    Shortened,
)
from arena_server.core.formats.length import MOST_GAMES, SUSPICIOUS, Length
from arena_server.core.games import REASON, GameManager
from arena_server.core.journal import JournalError
from arena_server.core.jury import Jury
from arena_server.core.life import ABORTED, FINAL, STOPPED, ContestPhase, Life, RunState
from arena_server.core.log_events import CommandDone, ContestBegun
from arena_server.core.orders import FIXED, ORDERS, refusal, standing, superfluous
from arena_server.core.parts.part import CommandError
from arena_server.core.parts.parts import Parts
from arena_server.core.peers import Bot, Outbox
from arena_server.core.rulings import JURY
from arena_server.terms.formats import FormatError

#: The state of a contest after an order.
STATE_OF: Final = {"pause": RunState.PAUSED, "resume": RunState.OPEN, "drain": RunState.DRAINING}
#: How the refusal of an order ends that would be carried out if it were `confirmed`.
UNCONFIRMED: Final = "; confirm it"


class Commands:
    """Carries out the organiser's commands, and moves the life of the contest as they and the clock say."""

    def __init__(self, life: Life, games: GameManager, parts: Parts, out: Outbox) -> None:
        #: Every order that was carried out, in order.
        self.orders: list[Order] = []
        self._life = life
        self._games = games
        self._parts = parts
        self._jury = Jury(games, parts.late_entrants.bots, parts.late_entrants, out)
        self._out = out

    def begin(self, bots: Iterable[Bot]) -> None:
        """The contest begins if the quorum is there, within its hours."""
        if self._life.phase is not ContestPhase.PLANNED or not self._life.is_open:
            return
        here = sum(bot.plays and self._parts.is_there(bot) for bot in bots)
        # An organiser who begins it knows who is missing, and waits for none of them.
        if here >= self._life.quorum or self._life.started:
            self._life.begin()
            self._out.fact(Begun("", here))
            self._out.effects.append(ContestBegun(here))

    def restore(self, fact: Begun | RunStateSet | Archived) -> None:
        """Take what the journal has of its life. Raises JournalError for a life that no contest has had."""
        if isinstance(fact, Begun):
            self.restore_begun()
        elif isinstance(fact, Archived):
            if self._life.phase is not ContestPhase.OVER:
                raise JournalError(f"a contest that is {self._life.phase} cannot be archived")
            self._life.archive()
        elif fact.state not in set(RunState):
            raise JournalError(f"expected one of {', '.join(RunState)}, found {fact.state!r:.40}")
        elif fact.state != RunState.DRAINING:  # it was drained to stop the server, which runs again
            self._life.order(RunState(fact.state))

    def restore_decision(self, fact: Penalised | Disqualified) -> None:
        """Take a decision of the jury that the journal has."""
        self._jury.restore(fact)

    def restore_begun(self) -> None:
        """It has begun before this server."""
        if self._life.phase is ContestPhase.PLANNED:
            self._life.begin()

    def restore_order(self, order: Order) -> None:
        """Take an order that the journal has. Raises JournalError if it is not the next one."""
        if order.number != len(self.orders) + 1:
            raise JournalError(f"order {order.number} follows order {len(self.orders)}")
        self.orders.append(order)
        if order.verb == "start":
            self._life.start()

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
            case Hours(is_open, until, starts_at):
                self._life.set_hours(is_open=is_open, until=until, starts_at=starts_at)
            case TimeUp():
                self._life.end_time()
            case Freeze(ago):
                self._games.spectators.freeze(now - ago)
        self._games.notes.reconsider()

    def end(self, absent: Collection[str], *, goes_on: bool) -> str | None:
        """End the contest, of which no game runs, or have a round drawn if one is due.

        The bots of `absent` are not waited for, if it `goes_on`: in the night, or in a pause, none is missed.
        Returns how it has ended; None: it goes on.
        """
        if goes_on:
            self._games.fixtures.next_round(absent)
        ending = self._ending(absent if goes_on else ())
        if ending is not None:
            self._life.end(ending)
        return ending

    def _ending(self, absent: Collection[str]) -> str | None:
        life = self._life
        if life.is_aborted:
            return ABORTED
        if life.stopping or life.run_state is RunState.DRAINING:
            return STOPPED
        if life.run_state is RunState.PAUSED and not life.time_up:
            return None  # the jury may still change results, and what is drawn after them
        return self._games.fixtures.ending(absent, time_up=life.time_up)

    def handle(self, command: Command, now: int) -> None:
        """Carry `command` out, or send in the Reply why not."""
        try:
            if (refused := refusal(command.verb, self._life.phase, self._life.ended)) is not None:
                raise CommandError(refused)
            if (excess := superfluous(command.verb, command.target)) is not None:
                raise CommandError(excess)
            if self._life.phase is ContestPhase.ARCHIVED:
                # Who has lost the answer asks again; nothing is added to a contest that is archived.
                self._out.effects.append(Reply(command.number))
                return
            target = self._undo(command, now) if command.verb == "undo" else command.target
            self._carry_out(command, now)
        except CommandError as problem:
            self._out.effects.append(Reply(command.number, str(problem)))
            return
        number, verb = len(self.orders) + 1, command.verb
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
            case "start":
                self._life.start()
                self._games.notes.reconsider()
            case "archive":
                self._archive()
            case "extend" | "shorten":
                self._resize(command)
            case "void" | "replay":
                self._break_off(target, now, again=command.verb == "replay")
            case verb if verb in JURY:
                self._jury.obey(command, len(self.orders) + 1, now)
            case "undo":
                pass
            case _:
                self._of_parts(command, now)

    def _of_parts(self, command: Command, now: int) -> None:
        match command.verb:
            case "add" | "approve":
                self._jury.check_may_play(command.target)
        if not self._parts.take(command, now):
            # VOID_WORKER would be a name here
            raise CommandError("no worker plays games of this contest: it has no --on")

    def _undo(self, command: Command, now: int) -> str:
        """Take the last order back that stands. Returns its number."""
        stood = standing(self.orders)
        if not stood:
            raise CommandError("no order stands that could be undone")
        last = stood.pop()
        if (why := FIXED.get(last.verb)) is not None:
            raise CommandError(f"order {last.number}, {last.verb} {last.target}, cannot be undone: {why}")
        if (refused := refusal(last.verb, self._life.phase, self._life.ended)) is not None:
            raise CommandError(refused)
        match last.verb:
            case "pause" | "resume" | "drain":
                states = [STATE_OF[order.verb] for order in stood if order.verb in STATE_OF]
                self._set(states[-1] if states else RunState.OPEN)
            case verb if verb in JURY:
                self._jury.undo(last, len(self.orders) + 1, now)
            case "remove":
                self._parts.late_entrants.bring_back(self._parts.late_entrants.bots[last.target], now)
            case verb:
                back = replace(command, verb=ORDERS[verb].inverse, target=last.target, confirmed=True)
                self._carry_out(back, now)
        return str(last.number)

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
        self._life.order(state)
        self._games.notes.reconsider()
        self._out.fact(RunStateSet("", str(state)))

    def _archive(self) -> None:
        if self._life.ended is None:
            raise CommandError("archive: the last games are being stored; give the order again")
        if self._life.ended not in FINAL:
            # Else the same command would go on with a contest that is archived.
            self._set(RunState.ABORTED)
        self._life.archive()
        self._out.fact(Archived(""))

    def _break_off(self, game_id: str, now: int, *, again: bool) -> None:
        live = self._games.find(game_id)
        if live is not None and not live.match.over:
            # A validation game that is broken off is always played again.
            self._games.void(live, REASON, now, again=again or not live.counts)
        elif not again:
            raise CommandError(f"no game {game_id!r:.40} is running")
        elif not self._games.play_again(number_of(game_id)):
            raise CommandError(f"no game {game_id!r:.40} is running or void; the result of any other stands")
