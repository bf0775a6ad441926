"""Who watches what, and when they may see it.

All spectators of a game stand at the same line of its feed: what was said at least the
contest's delay ago. A newcomer gets all of that at once; if it wants many games, a few at a
time, so that it can read them. Nobody waits for a spectator: one that reads too slowly is
the shell's to drop.
It must not know: players, what a line means, how a game goes on.
"""

from __future__ import annotations

from collections import deque

from arena_protocol.errors import ErrorCode, ProtocolError
from arena_server.core.deadlines import Deadlines, Kind
from arena_server.core.effects import Send
from arena_server.core.feed import Feed
from arena_server.core.peer import Outbox, Peer

EVERYTHING = "*"

#: A newcomer gets no further snapshot once it got this much, until the pause is over: well
#: below what the shell keeps for a slow reader, and 3 MB a second all the same.
SNAPSHOT_BYTES = 32 * 1024
SNAPSHOT_PAUSE = 10_000_000


class Spectators:
    """The feeds that can be watched, by the number of their game, and who watches them."""

    def __init__(self, delay: int, out: Outbox, deadlines: Deadlines) -> None:
        self._delay = delay
        self._out = out
        self._deadlines = deadlines
        self._feeds: dict[int, Feed] = {}
        self._watchers: dict[int, dict[int, Peer]] = {}
        self._everything: dict[int, Peer] = {}
        #: The games that newcomers are still to be shown, by connection.
        self._waiting: dict[int, deque[int]] = {}

    @property
    def idle(self) -> bool:
        """Whether nothing is left that anybody has yet to see."""
        return not self._feeds

    def open(self, number: int, feed: Feed) -> None:
        """Game `number` can be watched from now on."""
        self._feeds[number] = feed
        self._watchers[number] = dict(self._everything)

    def watch(self, peer: Peer, target: str, now: int) -> None:
        """Show `peer` a game, or every game (`*`). Raises ProtocolError: no-such-game."""
        if target == EVERYTHING:
            self._everything[peer.conn] = peer
            numbers = list(self._feeds)
        else:
            numbers = [number for number, feed in self._feeds.items() if feed.game_id == target]
            if not numbers:
                raise ProtocolError(ErrorCode.NO_SUCH_GAME, "no such game is being played")
        waiting = self._waiting.setdefault(peer.conn, deque())
        pausing = bool(waiting)
        waiting.extend(
            number for number in numbers if peer.conn not in self._watchers[number] and number not in waiting
        )
        if not pausing:
            self.admit(peer, now)

    def admit(self, peer: Peer, now: int) -> None:
        """Show `peer` the games it waits for, as many as it may get at once."""
        waiting = self._waiting[peer.conn]
        size = 0
        while waiting and size < SNAPSHOT_BYTES:
            size += self._join(waiting.popleft(), peer, now)
        if waiting:
            self._deadlines.set((Kind.SNAPSHOT, peer.conn), now + SNAPSHOT_PAUSE)
        else:
            del self._waiting[peer.conn]

    def _join(self, number: int, peer: Peer, now: int) -> int:
        """Let `peer` watch a game from now on; the size of its snapshot in bytes."""
        self._show(number, now)
        self._watchers[number][peer.conn] = peer
        snapshot = self._feeds[number].snapshot()
        self._send(peer, snapshot)
        self._plan(number)
        return len(snapshot)

    def leave(self, peer: Peer) -> None:
        """`peer` watches no more."""
        self._everything.pop(peer.conn, None)
        self._deadlines.set((Kind.SNAPSHOT, peer.conn), None)
        for watchers in self._watchers.values():
            watchers.pop(peer.conn, None)
        for number in self._waiting.pop(peer.conn, ()):
            self._plan(number)

    def update(self, number: int, now: int) -> None:
        """Something was said in game `number`, or the moment has come to show it."""
        if number in self._feeds and (self._watchers[number] or self._feeds[number].closed):
            self._show(number, now)
            self._plan(number)

    def _show(self, number: int, now: int) -> None:
        data = self._feeds[number].show(now - self._delay)
        for peer in self._watchers[number].values():
            self._send(peer, data)

    def _send(self, peer: Peer, data: bytes) -> None:
        if data:
            self._out.add(Send(peer.conn, data))

    def _plan(self, number: int) -> None:
        """Set the moment to show more, or forget a game that is shown to its end."""
        feed = self._feeds[number]
        said = feed.next
        self._deadlines.set((Kind.FEED, number), None if said is None else said + self._delay)
        if feed.closed and said is None and not self._awaited(number):
            del self._feeds[number], self._watchers[number]

    def _awaited(self, number: int) -> bool:
        return any(number in waiting for waiting in self._waiting.values())
