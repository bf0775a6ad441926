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

from arena_protocol import messages as wire
from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.lines import CLIENT_LINE_LIMIT
from arena_protocol.reasons import ByeReason
from arena_protocol.session import BEFORE_LOGIN, IN_GAME, State
from arena_server.core import events
from arena_server.core.check import check_numbers, game_of
from arena_server.core.clock import NS_PER_MS
from arena_server.core.deadlines import Deadlines, Kind
from arena_server.core.effects import Effect, Finished, Send
from arena_server.core.hall import Hall
from arena_server.core.ids import Secret
from arena_server.core.journal import CONTEST, KEY, Past
from arena_server.core.lag import WORD as LAG_WORD
from arena_server.core.lobby import DENIED, Lobby
from arena_server.core.orders import Gate, Orders
from arena_server.core.overview import BotState, Overview, where_is
from arena_server.core.peer import FLOODED, Outbox, Peer, Player
from arena_server.core.plan import ContestPlan, Entrant, PlanError
from arena_server.core.progress import Progress
from arena_server.core.recovery import recover
from arena_server.core.table import Table


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
        self._peers: dict[int, Peer] = {}
        self._orders = Orders(self._hall, self._lobby.players, self._out, self._dismiss)
        self._stopping = False
        self._ended: ByeReason | None = None
        for player in self._players:
            if player.plays:
                self._miss(player, now)
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

    def _opened(self, event: events.Opened, now: int) -> None:
        peer = Peer(event.conn, event.peer)
        self._peers[event.conn] = peer
        self._out.say(peer, wire.Arena(wire.VERSION, self._plan.software))
        self._deadlines.set((Kind.LOGIN, event.conn), now + self._plan.login_ms * NS_PER_MS)

    def _lost(self, event: events.Lost, now: int) -> None:
        if peer := self._peers.get(event.conn):
            self._note(peer, "info", "lost", reason=event.reason)
            self._forget(peer, now)

    def _hang_up(self, peer: Peer, reason: ByeReason, now: int) -> None:
        """Say BYE and close."""
        self._out.say(peer, wire.Bye(reason))
        self._out.close(peer)
        self._forget(peer, now)

    def _turn_away(self, peer: Peer, problem: ProtocolError, now: int) -> None:
        """Close after an ERROR that the session, too, counts as the end."""
        self._out.error(peer, problem)
        self._out.close(peer)
        self._note(peer, "warning", "refused", code=str(problem.code))
        self._forget(peer, now)

    def _forget(self, peer: Peer, now: int) -> None:
        """The connection is gone; its player may come back on another."""
        del self._peers[peer.conn]
        self._deadlines.set((Kind.LOGIN, peer.conn), None)
        self._hall.spectators.leave(peer)
        if peer.player is not None:
            peer.player.peer = None
            self._miss(peer.player, now)
            self._hall.depart(peer.player, now)

    def _note(self, peer: Peer, level: str, event: str, **fields: object) -> None:
        name = peer.player.name if peer.player is not None else None
        self._out.note(level, event, conn=peer.conn, peer=peer.address, bot=name, **fields)

    # -- lines

    def _received(self, event: events.Received, now: int) -> None:
        peer = self._peers.get(event.conn)
        if peer is None:
            return
        try:
            message = peer.session.receive(event.line)
        except ProtocolError as problem:
            self._refuse(peer, problem, event.line, now)
        else:
            self._MESSAGES[type(message)](self, peer, message, event, now)

    def _overlong(self, event: events.Overlong, now: int) -> None:
        if peer := self._peers.get(event.conn):
            text = f"a line may have {CLIENT_LINE_LIMIT} bytes at most"
            self._refuse(peer, ProtocolError(ErrorCode.TOO_LONG, text), event.head, now)

    def _refuse(self, peer: Peer, problem: ProtocolError, line: bytes, now: int) -> None:
        """A line that may not come now: its price depends on where the peer is."""
        player = peer.player
        if peer.session.state in BEFORE_LOGIN:
            self._turn_away(peer, problem, now)
        elif player is not None and player.table is not None:
            player.table.refuse(peer, player, problem, line, now)
            self._hall.settle(player.table, now)
        else:
            self._refuse_idle(peer, problem, now)

    def _refuse_idle(self, peer: Peer, problem: ProtocolError, now: int) -> None:
        """Outside a game lines are counted; what merely came late, as after OVER, is not answered."""
        peer.unasked += 1
        if peer.unasked >= self._plan.flood_limit:
            self._turn_away(peer, FLOODED, now)
        elif problem.code not in (ErrorCode.UNEXPECTED, ErrorCode.NOT_YOUR_TURN):
            self._out.error(peer, problem)

    def _hello(self, peer: Peer, hello: wire.Hello, _: events.Received, now: int) -> None:
        try:
            player = self._lobby.admit(hello, peer.address, now)
        except ProtocolError as problem:
            self._turn_away(peer, problem, now)
            return
        if player.peer is not None:
            self._hang_up(player.peer, ByeReason.REPLACED, now)
        self._out.say(peer, self._lobby.welcome(player, peer))
        self._note(peer, "info", "login", agent=hello.agent, resumed=hello.resume is not None)
        # Who may only watch has until the same deadline to say so: a bot that mistyped its
        # name is not to wait for games for ever.
        if player.plays:
            self._out.journal((CONTEST, KEY, player.name, player.resume))
            self._deadlines.set((Kind.LOGIN, peer.conn), None)
            self._deadlines.set((Kind.ABSENCE, player.number), None)
            self._hall.arrive(player, now)

    def _ready(self, peer: Peer, _: wire.Ready, event: events.Received, now: int) -> None:
        player, table = _seated(peer)
        table.ready(peer, player, event.line, event.arrived, now)
        self._hall.settle(table, now)
        self._measure(peer, now)

    def _move(self, peer: Peer, move: wire.Move, event: events.Received, now: int) -> None:
        player, table = _seated(peer)
        table.match.move(player.seat, move.move, event.line, event.arrived, now)
        self._hall.settle(table, now)
        self._measure(peer, now)

    def _measure(self, peer: Peer, now: int) -> None:
        """Ask for a PONG at a quiet moment: the client has just said what it had to say."""
        if not self._plan.lag_quota_ms or peer.turn is not None or peer.session.state not in IN_GAME:
            return
        if (number := peer.lag.ask(now)) is not None:
            line = peer.session.send(wire.Ping(f"{LAG_WORD}{number}"))
            self._out.add(Send(peer.conn, line, ("", number)))

    def _pong(self, peer: Peer, pong: wire.Pong, event: events.Received, now: int) -> None:
        player = peer.player
        if peer.lag.heard(pong.token, event.arrived) and player is not None and player.table is not None:
            player.table.match.lag(player.seat, peer.lag.ms, now)
        self._chat(peer, pong, event, now)

    def _handed(self, event: events.Handed, _now: int) -> None:
        table = self._hall.table(event.game_id)
        peer = self._peers.get(event.conn)
        if peer is not None and not event.game_id:
            peer.lag.handed(event.ply, event.at)
        player = peer.player if peer is not None else None
        if table is not None and peer is not None and player is not None and player.table is table:
            table.handed(peer, player, event.ply, event.at)
            self._hall.plan_deadline(table)

    def _ping(self, peer: Peer, ping: wire.Ping, event: events.Received, now: int) -> None:
        self._out.say(peer, wire.Pong(ping.token))
        self._chat(peer, ping, event, now)

    def _chat(self, peer: Peer, _: wire.Ping | wire.Pong | None, event: events.Received, now: int) -> None:
        """A line that asks for nothing, as PONG or a blank one: free, up to a limit."""
        if peer.chatter.overflows(now):
            self._flood(peer, event.line, now)

    def _flood(self, peer: Peer, line: bytes, now: int) -> None:
        player = peer.player
        if player is None or player.table is None:
            self._turn_away(peer, FLOODED, now)
        elif not peer.muted:
            player.table.flood(peer, player, line, now)
            self._hall.settle(player.table, now)

    def _watch(self, peer: Peer, watch: wire.Watch, event: events.Received, now: int) -> None:
        """Watching is instead of playing: a bot that does so is away."""
        if peer.player is not None:
            self._miss(peer.player, now)
            self._hall.depart(peer.player, now)
        try:
            self._hall.spectators.watch(peer, watch.target, now)
        except ProtocolError as problem:
            self._refuse_idle(peer, problem, now)
        else:
            self._deadlines.set((Kind.LOGIN, peer.conn), None)
            self._chat(peer, None, event, now)

    def _quit(self, peer: Peer, _: wire.Quit, _event: events.Received, now: int) -> None:
        """Leave in good order: nobody waits for who said so, unless the contest waits for ever."""
        self._hang_up(peer, ByeReason.QUIT, now)
        if peer.player is not None:
            peer.player.resume = None
            self._out.journal((CONTEST, KEY, peer.player.name, None))
            if self._plan.absent_ms is not None:
                self._absent(peer.player.number, now)
            self._hall.quit(peer.player, now)

    # -- deadlines

    def _miss(self, player: Player, now: int) -> None:
        """`player` is away from now on, and is waited for only so long."""
        if self._plan.absent_ms is not None:
            at = now + self._plan.absent_ms * NS_PER_MS
            self._deadlines.set((Kind.ABSENCE, player.number), at)

    def _tick(self, _: events.Tick, now: int) -> None:
        while key := self._deadlines.pop(now):
            kind, number = key
            self._DEADLINES[kind](self, number, now)

    def _login_expired(self, conn: int, now: int) -> None:
        peer = self._peers[conn]
        problem = ProtocolError(ErrorCode.TOKEN, f"{DENIED}; a guest says WATCH")
        if peer.session.state in BEFORE_LOGIN:
            text = f"the first line did not come within {self._plan.login_ms} ms"
            problem = ProtocolError(ErrorCode.LOGIN, text)
        self._turn_away(peer, problem, now)

    def _game_expired(self, number: int, now: int) -> None:
        slow = self._hall.expire(number, now)
        if slow is not None:
            assert slow.peer is not None
            self._hang_up(slow.peer, ByeReason.SLOW, now)

    def _absent(self, number: int, _now: int) -> None:
        player = self._players[number]
        player.gone = True
        self._deadlines.set((Kind.ABSENCE, number), None)
        self._out.note("warning", "absent", bot=player.name)

    def _snapshot_due(self, conn: int, now: int) -> None:
        self._hall.spectators.admit(self._peers[conn], now)

    def _catch_up_due(self, number: int, now: int) -> None:
        self._hall.catch_up(number, now)

    def _feed_due(self, number: int, now: int) -> None:
        self._hall.spectators.update(number, now)

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

    def _dismiss(self, player: Player, now: int) -> None:
        """The organiser has sent `player` away."""
        if player.peer is not None:
            self._hang_up(player.peer, ByeReason.KICKED, now)

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
        for peer in list(self._peers.values()):
            if self._hall.spectators.idle or peer.session.state is not State.WATCHING:
                self._hang_up(peer, reason, now)

    # -- what is done about what

    _EVENTS: Final[dict[type, Callable[[Contest, Any, int], None]]] = {
        events.Opened: _opened,
        events.Received: _received,
        events.Overlong: _overlong,
        events.Lost: _lost,
        events.Handed: _handed,
        events.Stored: lambda self, event, now: self._hall.stored(event.game_id, now),
        events.Tick: _tick,
        events.Stop: _stop,
        events.Stalled: _stalled,
        events.Command: lambda self, event, now: self._orders.obey(event, now),
    }
    _MESSAGES: Final[dict[type, Callable[[Contest, Peer, Any, events.Received, int], None]]] = {
        wire.Hello: _hello,
        wire.Ready: _ready,
        wire.Move: _move,
        wire.Quit: _quit,
        wire.Ping: _ping,
        wire.Pong: _pong,
        type(None): _chat,
        wire.Watch: _watch,
    }
    _DEADLINES: Final[dict[Kind, Callable[[Contest, int, int], None]]] = {
        Kind.LOGIN: _login_expired,
        Kind.GAME: _game_expired,
        Kind.ABSENCE: _absent,
        Kind.FEED: _feed_due,
        Kind.SNAPSHOT: _snapshot_due,
        Kind.CATCH_UP: _catch_up_due,
    }


def _seated(peer: Peer) -> tuple[Player, Table]:
    """The player and the table of a peer that, as its session says, is in a game."""
    assert peer.player is not None
    assert peer.player.table is not None
    return peer.player, peer.player.table
