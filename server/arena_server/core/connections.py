"""The open connections, how each of them ends, and how long a contest waits for an absent bot."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from arena_protocol import messages as wire
from arena_protocol.errors import ByeReason, ErrorCode, ProtocolError
from arena_protocol.session import State
from arena_server.core.clock import NS_PER_MS
from arena_server.core.deadlines import DeadlineKind, Deadlines
from arena_server.core.effects import ShowLog
from arena_server.core.games import REASON, GameManager
from arena_server.core.log_events import BotAbsent, BotLogRead, ConnectionLost, ConnectionRefused
from arena_server.core.login import DENIED
from arena_server.core.news import Disconnected
from arena_server.core.peers import Bot, NotFree, Outbox, Peer, Slot
from arena_server.terms.config import ContestConfig


class Connections:
    """All open connections by number, the oldest first: `peers`.

    A bot without a connection for longer than `absent_ms` is `gone`; `None` disables the timeout.
    """

    def __init__(self, config: ContestConfig, games: GameManager, out: Outbox, deadlines: Deadlines) -> None:
        self._config = config
        self._games = games
        self._out = out
        self._deadlines = deadlines
        self.peers: dict[int, Peer] = {}
        #: Whether absence counts.
        self._waits = False

    def add(self, peer: Peer) -> None:
        """A connection has sent HELLO to this contest; it has to log in, or send WATCH, before a deadline."""
        self.peers[peer.conn] = peer
        self._deadlines.set((DeadlineKind.LOGIN, peer.conn), peer.opened + self._config.login_ms * NS_PER_MS)

    def drop_login_deadline(self, peer: Peer) -> None:
        """The peer has logged in to play, or has sent WATCH: it has no login deadline any more."""
        self._deadlines.set((DeadlineKind.LOGIN, peer.conn), None)

    # -- how a connection ends

    def lost(self, conn: int, reason: str, now: int) -> None:
        """The client closed the connection, or it broke."""
        if peer := self.peers.get(conn):
            self._out.effects.append(ConnectionLost(conn, peer.address, peer.bot_name, reason))
            self._forget(peer, now)

    def close(self, peer: Peer, reason: ByeReason, now: int, again: int | None = None) -> None:
        """Send BYE, with when it may log in `again`, and close."""
        self._out.send(peer, wire.Bye(reason, again))
        self._out.close(peer)
        self._forget(peer, now)

    def close_all(self, reason: ByeReason, now: int, again: int | None, *, told: bool) -> None:
        """Close every connection; guests once they may be `told`, and when they have been sent all lines."""
        idle = self._games.spectators.idle
        for peer in list(self.peers.values()):
            watches = peer.session.state is State.WATCHING
            if (told or (peer.slot is not None and not watches)) and (idle or not watches):
                self.close(peer, reason, now, None if peer.slot is None else again)

    def suspend(self, leaving: Collection[str]) -> bool:
        """Close what awaits no OVER; without BYE, so that the client comes back. Returns whether all are.

        The bots `leaving` get BYE. That a connection is gone is no fact here: the next server awaits its bot.
        """
        for peer in list(self.peers.values()):
            if peer.game is not None and peer.game.is_storing:
                continue
            if peer.bot_name in leaving:
                self._out.send(peer, wire.Bye(ByeReason.STOPPED))
            self._out.close(peer)
            del self.peers[peer.conn]
            self._games.forget(peer)
            if peer.slot is not None:
                peer.slot.disconnect()
        return not self.peers

    def show_log(self, peer: Peer, bot: str, now: int) -> None:
        """Let the shell send the log of `bot`, BYE last, and close; the contest has no more of the peer."""
        self._out.effects.append(BotLogRead(peer.conn, peer.address, bot))
        self._out.effects.append(ShowLog(peer.conn, bot, peer.session.send(wire.Bye(ByeReason.LOG))))
        self._forget(peer, now)

    def refuse(self, peer: Peer, problem: ProtocolError, now: int) -> None:
        """Send an ERROR after which the connection ends, and close."""
        self._out.error(peer, problem)
        self._out.close(peer)
        self._out.effects.append(ConnectionRefused(peer.conn, peer.address, peer.bot_name, str(problem.code)))
        self._forget(peer, now)

    def expired(self, kind: DeadlineKind, conn: int, now: int) -> None:
        """The deadline of a connection has passed: a spectator sent no WATCH, or a client does not read."""
        if kind is DeadlineKind.CHUNK:
            self.too_slow(self.peers[conn], now)
            return
        problem = ProtocolError(ErrorCode.TOKEN, f"{DENIED}; a spectator sends WATCH")
        self.refuse(self.peers[conn], problem, now)

    def too_slow(self, peer: Peer, now: int) -> None:
        """The client does not read what it is sent."""
        self.close(peer, ByeReason.SLOW, now)

    def send_away(self, bot: Bot, now: int, *, ends_games: bool) -> None:
        """Close the connections of a bot by an order; its running games are broken off, or wait for it."""
        self._games.notes.bot(bot)
        for slot in bot.slots:
            if ends_games and slot.game is not None and not slot.game.announced:
                self._games.void(slot.game, REASON, now)
            if slot.peer is not None:
                self.close(slot.peer, ByeReason.KICKED, now)

    def keep_keys(self, bot: Bot) -> None:
        self._out.fact(bot.keys)
        self._out.fact(bot.former_keys)

    def drop_keys(self, bot: Bot) -> None:
        """No key resumes a seat of the bot."""
        for slot in bot.slots:
            slot.drop_keys()
        self.keep_keys(bot)

    def _forget(self, peer: Peer, now: int) -> None:
        """The connection is gone; its bot may come back on another."""
        del self.peers[peer.conn]
        self.drop_login_deadline(peer)
        self._games.forget(peer)
        # Departed last: what it does may seat others, and this connection must not be among them.
        if (slot := peer.slot) is not None:
            if NotFree.FROZEN in slot.not_free:
                self._games.turns.spare(slot, now)
            slot.disconnect()
            self._games.notes.add(Disconnected(slot))
            self.departed(slot, now)

    # -- bots without a connection

    def departed(self, slot: Slot, now: int) -> None:
        """`slot` has no connection any more, or watches instead of playing."""
        # A bot with several slots is absent only without any of them.
        if not any(other.peer is not None for other in slot.bot.slots if other is not slot):
            slot.bot.leave(now)
            self.absent_from(slot.bot, now)
        self._games.depart(slot, now)

    # -- absent bots

    def absent_from(self, bot: Bot, now: int) -> None:
        """`bot` has no connection, or cannot be paired before it connects again, from `now` on."""
        if self._waits and self._config.absent_ms is not None:
            self._deadlines.set((DeadlineKind.ABSENCE, bot.number), now + self._config.absent_ms * NS_PER_MS)

    def set_waits(self, waits: bool, bots: Iterable[Bot], is_absent: Callable[[Bot], bool], now: int) -> None:
        """Note whether games may start: in the night no bot is missed, and in the morning none is late."""
        if waits is self._waits:
            return
        self._waits = waits
        for bot in bots:
            if not waits:
                self.stop_waiting(bot)
            elif bot.plays and not bot.withdrawn and is_absent(bot):
                bot.set_awaited(True)
                self.absent_from(bot, now)

    def arrived(self, bot: Bot) -> None:
        """A slot of `bot` has a connection."""
        bot.set_awaited(True)
        self._deadlines.set((DeadlineKind.ABSENCE, bot.number), None)

    def stop_waiting(self, bot: Bot) -> None:
        """The contest does not wait for `bot`, and nothing is to be said of its absence."""
        self._deadlines.set((DeadlineKind.ABSENCE, bot.number), None)

    def quit(self, bot: Bot) -> None:
        """`bot` sent QUIT: the contest does not wait, unless it waits for ever or another slot stays."""
        # Another slot plays on; a contest that waits for ever waits for this bot, too.
        if self._waits and self._config.absent_ms is not None and not bot.connected:
            self.absence_expired(bot)

    def absence_expired(self, bot: Bot) -> None:
        """The contest does not wait for `bot` any longer."""
        self._deadlines.set((DeadlineKind.ABSENCE, bot.number), None)
        bot.set_awaited(False)
        self._games.notes.reconsider()
        self._out.effects.append(BotAbsent(bot.name))
