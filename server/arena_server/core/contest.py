"""A whole contest as a functional core: `handle(event, now)` returns the effects to carry out.

`feed`, `received` and `flushed` take events and collect their effects for `take`: a driver calls them
for all events of a batch.

    HELLO -> WELCOME; two free bots -> GAME ... the last ply -> Store
    Stored -> OVER, standings, next game; no game left that can be played -> BYE, Finished

The same config, entrants, secrets and events give the same effects to the byte. `handle` raises on
no sequence of events. No result is sent before the event Stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from arena_protocol.errors import ByeReason
from arena_protocol.messages import SPECTATOR, Hello, Ping
from arena_server.core.clock import NS_PER_MS
from arena_server.core.commands import Commands
from arena_server.core.connections import Connections
from arena_server.core.cut import ALWAYS, SeenEnd
from arena_server.core.deadlines import DeadlineKind, Deadlines
from arena_server.core.deal import Secret
from arena_server.core.effects import Effect, Finished, Journal, Marker, PingMark, Reply, TurnMark
from arena_server.core.events import (
    Abandoned,
    Command,
    DrawDone,
    Event,
    Flushed,
    Freeze,
    HandOut,
    Hours,
    LineTooLong,
    Lost,
    Observe,
    Received,
    Stalled,
    Stop,
    Stored,
    Suspend,
    Tick,
    TimeUp,
)
from arena_server.core.games import GameManager
from arena_server.core.handlers import Handlers
from arena_server.core.journal import Past
from arena_server.core.life import (
    ABORTED,
    FINISHED,
    STOPPED,
    Life,
)
from arena_server.core.log_events import LoopStalled
from arena_server.core.login import Authenticator
from arena_server.core.news import Begins, Expired
from arena_server.core.overview import causes_of_absence
from arena_server.core.parts.leases import LeasedGames
from arena_server.core.parts.parts import Parts
from arena_server.core.peers import NotFree, Outbox, Peer
from arena_server.core.recovery import recover
from arena_server.core.seat_lines import SeatLines
from arena_server.core.status import ContestStatus
from arena_server.terms.config import (
    ContestConfig,
    ContestConfigError,
    Entrant,
    check_numbers,
    game_of,
)

#: When a bot may log in for a contest that is planned, in ms after the end of the one before.
AGAIN_MS: Final = 2000


class Contest:
    """The referee of one contest.

    `secret(n)` gives n fresh secret bytes in hexadecimal (`secrets.token_hex`); `now` is when
    the contest begins, on the clock of the events. With a `past` it goes on where that ends;
    feed it a Tick at once, whose effects are those of the recovery. With `lease_ms` workers play the games
    (`parts/leases.py`), and lose one if they are silent for that long. One that has `ended` is shown as it
    is: it has no effects but BYE, and those of the order that archives it; it ended `ended_ago` ns ago. It
    begins, for the first time, once `quorum` bots are there. A game that is interrupted begins again unless
    it `keeps_plies`. Raises ContestConfigError for an impossible configuration, JournalError for an
    impossible past.
    """

    def __init__(
        self,
        config: ContestConfig,
        entrants: Sequence[Entrant],
        secret: Secret,
        now: int,
        past: Past | None = None,
        lease_ms: int | None = None,
        ended: str | None = None,
        quorum: int = 0,
        *,
        keeps_plies: bool = True,
        ended_ago: int = ALWAYS,
    ) -> None:
        check_numbers(config)
        self._config = config
        self.output = Outbox(keeps_plies=keeps_plies)
        self.deadlines = Deadlines()
        hosted = lease_ms is not None
        try:
            game = game_of(config)
            self._authenticator = authenticator = Authenticator(
                config.game,
                entrants,
                secret,
                config.guests,
                hosted=hosted,
                anonymous=config.anonymous,
                quota=config.storage_bytes,
            )
            bots = authenticator.bots
            self._bots = authenticator.roster
            common = config, game, bots, self.output, self.deadlines, now
            stored = self.stored = authenticator.stored
            self._games = GameManager(*common) if lease_ms is None else LeasedGames(*common, lease_ms, stored)
        except ValueError as error:
            raise ContestConfigError(str(error)) from error
        self._turns, self._notes = self._games.turns, self._games.notes
        self._connections = Connections(config, self._games, self.output, self.deadlines)
        self._seat_lines = SeatLines(config, self._turns, self.output)
        self._handlers = Handlers(
            config, self._connections, authenticator, self._games, self._seat_lines, self.output
        )
        self._parts = Parts(
            config, game.seats, authenticator, self._games, self._connections, self.output, self.deadlines
        )
        self.entrants = self._parts.late_entrants
        self.life = Life(quorum, quorum > game.seats, ended)
        self._commands = Commands(self.life, self._games, self._parts, self.output)
        self.status = ContestStatus(self.life, self._games, self._parts, self._commands, self._bots)
        self._was_over = ended is not None
        #: Whether contests are planned that may get bots from this one; for the shell to say.
        self.leads_on = False
        #: The bots whose programs end with the server, once it ends.
        self._leaving: frozenset[str] = frozenset()
        #: The ending of which the shell knows.
        self._reported = ended
        self.seen_end = SeenEnd(config.spectator_delay_ms * NS_PER_MS, ended, now - ended_ago)
        if past is not None:
            recover(past, self._games, self._commands, self._parts, bots, now)
        if not self._was_over:
            self._begin(now)

    def _begin(self, now: int) -> None:
        if not self._games.quiet or self._games.fixtures.results.stored > 0:
            # Of an earlier version, which had no fact of it.
            self._commands.restore_begun()
        self._notes.add(Begins())
        self._connections.set_waits(self.life.may_start, self._bots, self._parts.is_absent, now)

    @property
    def slots(self) -> int:
        """How many connections its bots may have."""
        return self.entrants.slots

    def holds(self, conn: int) -> bool:
        """Whether a connection that was passed on is still open."""
        return conn in self._connections.peers

    def outlives_input(self, conn: int) -> bytes | None:
        """A line for a client that has ended its input and only reads; None: it plays, and is gone."""
        peer = self._connections.peers.get(conn)
        if peer is None:  # it has been sent away, or gets a log: what it gets is under way
            return b""
        return peer.session.send(Ping("reading")) if peer.slot is None else None

    @property
    def deadline(self) -> int | None:
        """When the event Tick is due, unless another event comes first; None: never."""
        return self.deadlines.next

    @property
    def ended(self) -> str | None:
        """Why nothing more will be played, None if something may."""
        return self.life.ended

    @property
    def name(self) -> str:
        return self._config.name

    @property
    def login_ms(self) -> int:
        """How long a client may take to send HELLO, and a spectator to send WATCH."""
        return self._config.login_ms

    @property
    def bye_reason(self) -> ByeReason | None:
        """Why every client is sent away; None before the end."""
        if self.life.suspending:
            return None  # they come back to the next server
        return next((reason for reason in ByeReason if reason == self.life.ended), None)

    def tells_end(self, now: int) -> bool:
        """Whether others than its bots and the organiser may know now that it has ended."""
        if self.life.stopping:  # its server ends, as all see
            return True
        return self.life.ended is not None and self.seen_end.is_seen(now)

    def recognises(self, hello: Hello) -> bool:
        """Whether `hello` may watch this contest, or has the key of a bot that may log in to it."""
        return self._authenticator.recognises(hello)

    def log_in(self, peer: Peer, hello: Hello, now: int) -> None:
        """Take a connection, whose session has taken HELLO; all its further events are for this contest."""
        if self.life.suspending:
            self.output.close(peer)
            return
        self._connections.add(peer)
        if (reason := self.bye_reason) is not None:
            is_key = hello.role != SPECTATOR and self.recognises(hello)
            again = _again_ms(reason, leads_on=self.leads_on) if is_key and hello.role is None else None
            if again is not None or (self._was_over and (is_key or self.tells_end(now))):
                self._connections.close(peer, reason, now, again)
                return
        self._handlers.hello(peer, hello, now)
        if self._notes.changed or self.life.ended is not None:
            self._start_and_end(now)

    def handle(self, event: Event, now: int) -> list[Effect]:
        """Judge one event; the effects are to be carried out in order, before the next event."""
        self.feed(event, now)
        return self.take()

    def take(self) -> list[Effect]:
        """The effects of all events since the last call, in order, with one Journal in front."""
        out = self.output
        effects, out.effects = out.effects, []
        if out.entries:
            # In front: the entries of a batch have to be durable before any of its effects is
            # carried out.
            effects.insert(0, Journal(out.entries))
            out.entries = []
        return effects

    def received(self, conn: int, line: bytes, arrived: int, now: int) -> None:
        """Take the event Received."""
        peer = self._connections.peers.get(conn)
        if peer is None:
            return
        # Nearly every line is a MOVE: it takes neither an event object nor the parser.
        if (move := peer.session.moved(line)) is not None:
            self._turns.move(peer, move, line, arrived, now)
            if self._handlers.measures_lag:
                self._handlers.measure(peer, now)
        else:
            self._handlers.received(peer, line, arrived, now)
        if self._notes.changed or self.life.ended is not None:
            self._start_and_end(now)

    def flushed(self, conn: int, marker: Marker, at: int, now: int) -> None:
        """Take the event Flushed."""
        peer = self._connections.peers.get(conn)
        if peer is None:
            return
        if type(marker) is TurnMark:
            self._turns.turn_sent(peer, marker, at)
        elif type(marker) is PingMark:
            peer.lag.sent(marker.number, at)
        else:
            self._games.chunk_sent(peer, now)
            if self._notes.changed or self.life.ended is not None:
                self._start_and_end(now)

    def feed(self, event: Event, now: int) -> None:
        """Take any event."""
        match event:
            case Received(conn, line, arrived):
                self.received(conn, line, arrived, now)
                return
            case Flushed(conn, marker, at):
                self.flushed(conn, marker, at, now)
                return
            case LineTooLong():
                self._handlers.overlong(event, now)
            case Lost(conn, reason):
                self._connections.lost(conn, reason, now)
            case Stored(game_id):
                self._games.stored(game_id, now)
            case Command() | Observe():
                self._obey(event, now)
            case Tick():
                self._tick(now)
            case _ if self.life.suspending:
                return  # for the next server
            case Hours() | TimeUp() | Freeze():
                self._commands.keep_time(event, now)
            case Stop() | Suspend() | Stalled():
                self._interrupted(event, now)
            case Abandoned():
                self._handlers.abandoned(event, now)
            case DrawDone() | HandOut():
                self._planned(event)
            case _:
                self._parts.take(event, now)
        # Nothing can start or end unless a game ended or a player came or left; after the end
        # spectators are closed as soon as the last line has been sent to them.
        if self._notes.changed or self.life.ended is not None:
            self._start_and_end(now)

    # -- events

    def _tick(self, now: int) -> None:
        # A deadline may set the next one for the same moment, as a zombie's ply does.
        while key := self.deadlines.pop(now):
            kind, number = key
            match kind:
                case DeadlineKind.LOGIN | DeadlineKind.CHUNK:
                    self._connections.expired(kind, number, now)
                case DeadlineKind.GAME:
                    if (slow := self._games.expire(number, now)) is not None:
                        self._connections.too_slow(slow, now)
                case DeadlineKind.ABSENCE:
                    if self.ended is None:  # after the end every bot leaves, and none is awaited
                        self._connections.absence_expired(self._bots[number])
                case DeadlineKind.FEED:
                    self._games.spectators.update(number, now)
                    self._notes.reconsider()
                case DeadlineKind.END:
                    pass  # what follows from it is looked at below
                case DeadlineKind.REST:
                    slot = self._authenticator.slots[number]
                    slot.release(NotFree.RESTS)
                    self._notes.bot(slot.bot)
                case _:
                    self._parts.take(Expired(kind, number), now)

    def _interrupted(self, event: Stop | Suspend | Stalled, now: int) -> None:
        """The server ends, or stood still: beyond the limit no clock that ran meanwhile can be trusted."""
        match event:
            case Stop():
                self.life.stop()
                self._notes.reconsider()
                self._games.void_all("stopped", now)
            case Suspend(leaving) if not self.life.is_aborted:  # nothing runs in one that is
                self.life.suspend()
                self.deadlines.clear()
                self._leaving = leaving
                self._notes.reconsider()
            case Stalled(began, ended):
                stall = (ended - began) // NS_PER_MS
                self.output.effects.append(LoopStalled(stall))
                if stall > self._config.stall_ms:
                    self._games.void_all(f"stalled {stall} ms", now, running_at=ended)

    def _planned(self, event: DrawDone | HandOut) -> None:
        # A draw may take longer than the contest: its end, and its total, stand.
        if self.life.goes_on:
            self._games.planned(event)

    def _obey(self, command: Command | Observe, now: int) -> None:
        if isinstance(command, Observe):
            self._games.spectators.observe(now, on=command.on)
            self.output.effects.append(Reply(command.number))
        else:
            self._commands.handle(command, now)

    # -- the next game, or the end

    def _start_and_end(self, now: int) -> None:
        self._parts.spread(self._games.fixtures, self._notes, now)
        self._commands.begin(self._bots)
        life = self.life
        self._connections.set_waits(life.may_start, self._bots, self._parts.is_absent, now)
        goes_on = life.may_start and not life.stopping
        self._parts.due(now, may_start=goes_on)
        while self._parts.spread(self._games.fixtures, self._notes, now):
            self._parts.due(now, may_start=goes_on)
        self._notes.changed = False  # all that can start will be started now
        if goes_on:
            self._games.pair(now)
        if life.suspending:
            if self._connections.suspend(self._leaving):
                if life.ended is None:
                    life.end(STOPPED)
                self._report_end()  # also one that was to come behind the last lines for spectators
            return
        # While a game runs it may become void and be played again.
        if life.ended is None and self._games.quiet:
            causes = causes_of_absence(self._bots, self._parts.shown, patient=True)
            if self._commands.end(causes, goes_on=goes_on) not in (None, FINISHED):
                self.status.keep_missing()
        elif life.ended is not None and life.is_aborted:
            # Also after its last game, as a drained contest: no server goes on with it.
            life.end(ABORTED)
        if (bye_reason := self.bye_reason) is not None:
            self._tell_end(bye_reason, now)

    def _tell_end(self, bye_reason: ByeReason, now: int) -> None:
        if self.seen_end.ending != bye_reason:
            self.seen_end = self.seen_end._replace(ending=bye_reason, at=now)
        spectators, told = self._games.spectators, self.tells_end(now)
        again = _again_ms(bye_reason, leads_on=self.leads_on)
        self._connections.close_all(bye_reason, now, again, told=told)
        # The shell ends a server after Finished: spectators get the last lines before it.
        if not spectators.watchers or (told and spectators.idle):
            self._report_end(now - self.seen_end.at)
        if not told and (spectators.watchers or self._connections.peers):
            self.deadlines.set((DeadlineKind.END, 0), self.seen_end.seen_from)

    def _report_end(self, ago: int = 0) -> None:
        ended = self.life.ended
        if ended is not None and self._reported != ended:
            self._reported = ended
            self.output.effects.append(Finished(ended, ago))


def _again_ms(reason: ByeReason, *, leads_on: bool) -> int | None:
    """When a bot may log in again; None: it may not, or the server that will take it is another one."""
    return AGAIN_MS if leads_on and reason is not ByeReason.STOPPED else None
