"""Who watches what, and when they may see it.

All spectators of a game stand at the same line of its feed: what was said at least the
contest's delay ago. A newcomer gets all of that at once. Nobody waits for a spectator: one
that reads too slowly is the shell's to drop.
It must not know: players, what a line means, how a game goes on.
"""

from __future__ import annotations

from arena_protocol.errors import ErrorCode, ProtocolError
from arena_server.core.deadlines import Deadlines, Kind
from arena_server.core.effects import Send
from arena_server.core.feed import Feed
from arena_server.core.peer import Outbox, Peer

EVERYTHING = "*"


class Spectators:
    """The feeds that can be watched, by the number of their game, and who watches them."""

    def __init__(self, delay: int, out: Outbox, deadlines: Deadlines) -> None:
        self._delay = delay
        self._out = out
        self._deadlines = deadlines
        self._feeds: dict[int, Feed] = {}
        self._watchers: dict[int, dict[int, Peer]] = {}
        self._everything: dict[int, Peer] = {}

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
        for number in numbers:
            self._join(number, peer, now)

    def _join(self, number: int, peer: Peer, now: int) -> None:
        if peer.conn in self._watchers[number]:
            return
        self._show(number, now)
        self._watchers[number][peer.conn] = peer
        self._send(peer, self._feeds[number].snapshot())
        self._plan(number)

    def leave(self, peer: Peer) -> None:
        """`peer` watches no more."""
        self._everything.pop(peer.conn, None)
        for watchers in self._watchers.values():
            watchers.pop(peer.conn, None)

    def update(self, number: int, now: int) -> None:
        """Something was said in game `number`, or the moment has come to show it."""
        if self._watchers[number] or self._feeds[number].closed:
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
        if feed.closed and said is None:
            del self._feeds[number], self._watchers[number]
