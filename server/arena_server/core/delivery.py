"""What is told late is told in portions: the next once the socket has taken the last.

A long game is more than the shell keeps for a slow reader. So whoever comes late to one, player
or spectator, is never sent more than a portion of it ahead of what it reads; and a connection
that does not take a portion in time is given up, lest anybody waits for it.
It must not know: what is told, games, who reads.

Who watches what, and when they may see it.

All who are up to date with a game stand at the same line of its feed: what was said at least
the contest's delay ago. A newcomer is behind; so are all when a lot is said at once, as when two
zombies play to the end. Who is behind is told in portions. Nobody waits for a spectator: one
that reads too slowly is dropped.
It must not know: players, what a line means, how a game goes on.
"""

from __future__ import annotations

from typing import Final

from arena_protocol.errors import ErrorCode, ProtocolError
from arena_server.core.clock import NS_PER_MS
from arena_server.core.deadlines import Deadlines, Kind
from arena_server.core.effects import PORTION_TAKEN, Send
from arena_server.core.peers import Outbox, Peer
from arena_server.core.transcript import Feed

#: Half of what the shell keeps for a slow reader.
PORTION: Final = 32 * 1024


class Portions:
    """Sends portions; a connection may take `limit_ms` for each."""

    def __init__(self, out: Outbox, deadlines: Deadlines, limit_ms: int) -> None:
        self._out = out
        self._deadlines = deadlines
        self._limit = limit_ms * NS_PER_MS

    def send(self, peer: Peer, data: bytes, now: int) -> None:
        """Send a portion after which there is more; till `taken` the peer is `busy`."""
        peer.busy = True
        self._out.add(Send(peer.conn, data, (PORTION_TAKEN, 0)))
        self._deadlines.set((Kind.PORTION, peer.conn), now + self._limit)

    def taken(self, peer: Peer) -> None:
        """The socket has the last portion, or the connection is gone."""
        peer.busy = False
        self._deadlines.set((Kind.PORTION, peer.conn), None)


EVERYTHING = "*"


class Spectators:
    """The feeds that can be watched, by the number of their game, and who watches them."""

    def __init__(self, delay: int, portions: Portions, out: Outbox, deadlines: Deadlines) -> None:
        self._delay = delay
        self._portions = portions
        self._out = out
        self._deadlines = deadlines
        self._feeds: dict[int, Feed] = {}
        self._watchers: dict[int, dict[int, Peer]] = {}
        self._everything: dict[int, Peer] = {}
        #: The line that each connection has come to, in each game in which it is behind.
        self._behind: dict[int, dict[int, int]] = {}

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
        behind = self._behind.setdefault(peer.conn, {})
        for number in numbers:
            if peer.conn not in self._watchers[number]:
                behind.setdefault(number, 0)
        self.serve(peer, now)

    def serve(self, peer: Peer, now: int) -> None:
        """Tell `peer` the next portion of all in which it is behind, if it can take one."""
        behind = self._behind.get(peer.conn)
        if not behind or peer.busy:
            return
        data = b""
        while behind and len(data) < PORTION:
            data += self._read_on(peer, behind, PORTION - len(data), now)
        if behind:
            self._portions.send(peer, data, now)
        else:
            self._send(peer, data)

    def _read_on(self, peer: Peer, behind: dict[int, int], size: int, now: int) -> bytes:
        """The next lines of the first game in which `peer` is behind, of about `size` bytes."""
        number, begin = next(iter(behind.items()))
        self._show(number, now)
        feed = self._feeds[number]
        text, behind[number] = feed.read(begin, size)
        if behind[number] == feed.shown:
            del behind[number]
            self._watchers[number][peer.conn] = peer
            self._plan(number)
        return text

    def leave(self, peer: Peer) -> None:
        """`peer` watches no more."""
        self._everything.pop(peer.conn, None)
        for watchers in self._watchers.values():
            watchers.pop(peer.conn, None)
        for number in self._behind.pop(peer.conn, ()):
            self._plan(number)

    def update(self, number: int, now: int) -> None:
        """Something was said in game `number`, or the moment has come to show it."""
        if number in self._feeds and (self._watchers[number] or self._feeds[number].closed):
            self._show(number, now)
            self._plan(number)

    def _show(self, number: int, now: int) -> None:
        """What may be seen by now is told to all who are up to date, at once if it is not too much."""
        feed, watchers = self._feeds[number], self._watchers[number]
        begin = feed.shown
        feed.show(now - self._delay)
        text, end = feed.read(begin, PORTION)
        if end == feed.shown:
            for peer in watchers.values():
                self._send(peer, text)
            return
        self._watchers[number] = {}
        for peer in watchers.values():
            self._behind[peer.conn][number] = begin
        for peer in watchers.values():
            self.serve(peer, now)

    def _send(self, peer: Peer, data: bytes) -> None:
        if data:
            self._out.add(Send(peer.conn, data))

    def _plan(self, number: int) -> None:
        """Set the moment to show more, or forget a game that all have seen to its end."""
        feed = self._feeds[number]
        said = feed.next
        self._deadlines.set((Kind.FEED, number), None if said is None else said + self._delay)
        if feed.closed and said is None and not self._awaited(number):
            del self._feeds[number], self._watchers[number]

    def _awaited(self, number: int) -> bool:
        return any(number in behind for behind in self._behind.values())
