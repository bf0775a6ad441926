"""A whole contest as one machine: `handle(event, now)` gives what is to be done about it.

The same plan, entrants, secrets and events give the same effects to the byte. `handle`
raises on no sequence of events. A result is told to nobody before the event Stored.
It must not know: sockets, clocks, files, threads; nor how games are paired and played.

    Opened -> ARENA; HELLO -> WELCOME; two free bots -> GAME ... the last ply -> Store
    Stored -> OVER, standings, next game; no game left that can be played -> BYE, Finished
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from arena_protocol.errors import ByeReason
from arena_protocol.session import State
from arena_server.core import events
from arena_server.core.clock import NS_PER_MS
from arena_server.core.commands import Gate, Orders
from arena_server.core.config import ContestPlan, Entrant, PlanError, check_numbers, game_of
from arena_server.core.connections import Absence, Connections
from arena_server.core.deadlines import Deadlines, Kind
from arena_server.core.deal import Secret
from arena_server.core.effects import PING_TAKEN, PORTION_TAKEN, Effect, Finished, Reply
from arena_server.core.games import Hall
from arena_server.core.handlers import Hearing
from arena_server.core.journal import Past
from arena_server.core.login import Lobby
from arena_server.core.peers import Outbox
from arena_server.core.recovery import recover
from arena_server.core.standings import BotState, Overview, Progress, where_is


class Contest:
    """The referee of one contest.

    `secret(n)` gives n fresh secret bytes in hexadecimal (`secrets.token_hex`); `now` is when
    the contest begins, on the clock of the events. With a `past` it goes on where that ends;
    the first event then has the effects of taking it up, so give it a Tick at once. Raises
    PlanError for an impossible plan, JournalError for an impossible past.
    """

    def __init__(
        self,
        plan: ContestPlan,
        entrants: Sequence[Entrant],
        secret: Secret,
        now: int,
        past: Past | None = None,
    ) -> None:
        check_numbers(plan)
        self._plan = plan
        self._out = Outbox()
        self._deadlines = Deadlines()
        self._lobby = Lobby(plan.game, entrants, secret, plan.guests)
        self._players = list(self._lobby.players.values())
        try:
            self._hall = Hall(plan, game_of(plan), self._lobby.players, self._out, self._deadlines)
        except ValueError as error:
            raise PlanError(str(error)) from error
        self._absence = Absence(plan.absent_ms, self._out, self._deadlines)
        self._connections = Connections(plan, self._hall, self._absence, self._out, self._deadlines)
        self._hearing = Hearing(plan, self._connections, self._lobby, self._hall, self._absence, self._out)
        self._orders = Orders(self._hall, self._lobby.players, self._out, self._connections.dismiss)
        self._stopping = False
        self._ended: ByeReason | None = None
        for player in self._players:
            if player.plays:
                self._absence.begin(player, now)
        if past is not None:
            recover(past, self._hall, self._orders, self._lobby.players, now)

    @property
    def deadline(self) -> int | None:
        """When the event Tick is due, unless another event comes first; None: never."""
        return self._deadlines.next

    @property
    def ended(self) -> str | None:
        """Why nothing more will be played, None if something may."""
        return None if self._ended is None else str(self._ended)

    def handle(self, event: events.Event, now: int) -> list[Effect]:
        """Judge one event; the effects are to be carried out in order, before the next event."""
        self._EVENTS[type(event)](self, event, now)
        if not self._stopping and self._ended is None and self._orders.gate is Gate.OPEN:
            self._hall.pair(now)
        self._end_if_done(now)
        return self._out.drain()

    def progress(self) -> Progress:
        """How far the contest is; the work grows with the number of bots."""
        connected = sum(player.peer is not None for player in self._players)
        return self._hall.progress(connected, self._ended)

    def overview(self) -> Overview:
        """What the organiser wants to see; the work grows with the numbers of bots and of games."""
        bots = (player for player in self._players if player.plays)
        return Overview(
            gate=str(self._ended or self._orders.gate),
            progress=self.progress(),
            running=self._hall.running(),
            bots=tuple(
                BotState(
                    player.name,
                    where_is(player),
                    player.peer is not None,
                    player.faulty_games - player.forgiven,
                )
                for player in bots
            ),
        )

    # -- connections

    def _handed(self, event: events.Handed, now: int) -> None:
        peer = self._connections.get(event.conn)
        if peer is None:
            return
        if event.game_id == PING_TAKEN:
            peer.lag.handed(event.ply, event.at)
        elif event.game_id == PORTION_TAKEN:
            self._hall.go_on(peer, now)
        else:
            self._hall.handed(peer, event)

    # -- deadlines

    def _tick(self, _: events.Tick, now: int) -> None:
        while key := self._deadlines.pop(now):
            kind, number = key
            self._DEADLINES[kind](self, number, now)

    def _game_expired(self, number: int, now: int) -> None:
        slow = self._hall.expire(number, now)
        if slow is not None:
            assert slow.peer is not None
            self._connections.too_slow(slow.peer, now)

    def _portion_expired(self, conn: int, now: int) -> None:
        peer = self._connections.get(conn)
        assert peer is not None
        self._connections.too_slow(peer, now)

    # -- the end

    def _stop(self, _: events.Stop, now: int) -> None:
        """The organiser's word: what runs is void, what is over keeps its result."""
        self._stopping = True
        self._hall.void_all("stopped", now)

    def _stalled(self, event: events.Stalled, now: int) -> None:
        """The referee stood still: beyond the limit no clock that ran meanwhile can be trusted."""
        stall = (event.ended - event.began) // NS_PER_MS
        self._out.note("warning", "stall", ms=stall)
        if stall > self._plan.stall_ms:
            self._hall.void_all(f"stalled {stall} ms", now, running_at=event.ended)

    def _command(self, event: events.Command, now: int) -> None:
        """An order of the organiser's; a finished contest, all told farewell, is past all orders."""
        if self._ended is ByeReason.FINISHED:
            self._out.add(Reply(event.number, "the contest is over: finished"))
        else:
            self._orders.obey(event, now)

    def _end_if_done(self, now: int) -> None:
        """Say farewell once no result is awaited and no game is left that can be played."""
        if self._ended is None and self._hall.quiet:
            missing = {player.name for player in self._players if player.barred or player.gone}
            stopped = self._stopping or self._orders.gate is Gate.DRAINING
            if stopped or self._hall.exhausted(missing):
                self._ended = ByeReason.STOPPED if stopped else ByeReason.FINISHED
                self._farewell(self._ended, now)
                self._out.add(Finished(str(self._ended)))
        elif self._ended is not None:
            self._farewell(self._ended, now)

    def _farewell(self, reason: ByeReason, now: int) -> None:
        """Close whatever is open, but for spectators who have yet to see something."""
        for peer in self._connections.all:
            if self._hall.spectators.idle or peer.session.state is not State.WATCHING:
                self._connections.hang_up(peer, reason, now)

    # -- what is done about what

    _EVENTS: Final[dict[type, Callable[[Contest, Any, int], None]]] = {
        events.Opened: lambda self, event, now: self._connections.open(event.conn, event.peer, now),
        events.Received: lambda self, event, now: self._hearing.received(event, now),
        events.Overlong: lambda self, event, now: self._hearing.overlong(event, now),
        events.Lost: lambda self, event, now: self._connections.lost(event.conn, event.reason, now),
        events.Handed: _handed,
        events.Stored: lambda self, event, now: self._hall.stored(event.game_id, now),
        events.Tick: _tick,
        events.Stop: _stop,
        events.Stalled: _stalled,
        events.Command: _command,
    }
    _DEADLINES: Final[dict[Kind, Callable[[Contest, int, int], None]]] = {
        Kind.LOGIN: lambda self, conn, now: self._connections.login_expired(conn, now),
        Kind.GAME: _game_expired,
        Kind.ABSENCE: lambda self, number, now: self._absence.give_up(self._players[number]),
        Kind.FEED: lambda self, number, now: self._hall.spectators.update(number, now),
        Kind.PORTION: _portion_expired,
    }
