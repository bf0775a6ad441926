"""What is told late is told in portions: the next once the socket has taken the last.

A long game is more than the shell keeps for a slow reader. So whoever comes late to one, player
or spectator, is never sent more than a portion of it ahead of what it reads; and a connection
that does not take a portion in time is given up, lest anybody waits for it.
It must not know: what is told, games, who reads.
"""

from __future__ import annotations

from typing import Final

from arena_server.core.clock import NS_PER_MS
from arena_server.core.deadlines import Deadlines, Kind
from arena_server.core.effects import PORTION_TAKEN, Send
from arena_server.core.peer import Outbox, Peer

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
