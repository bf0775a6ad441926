"""Sending transcripts: to seats at once, to spectators after the delay, to slow readers in chunks.

Every subscriber has a cursor in the transcript of a game. A subscriber that comes late, or reads
slowly, gets a chunk at a time: the next one follows when the last has reached its socket, and a
connection that does not take a chunk in time is closed. Spectators that are up to date share one
cursor per game, so a line is cut out once for all of them. No game waits for a spectator.

The web page is in the same process: `Show` says how far each transcript may be shown, by the rule
that counts for spectators, and the page reads the lines itself.
"""

from __future__ import annotations

from typing import Final

from arena_protocol.errors import ErrorCode, ProtocolError
from arena_server.core.clock import NS_PER_MS
from arena_server.core.cut import shown_until
from arena_server.core.deadlines import DeadlineKind, Deadlines
from arena_server.core.effects import ChunkMark, Send, Show
from arena_server.core.peers import Outbox, Peer
from arena_server.core.transcript import SPECTATORS, Transcript

#: Half of what the shell buffers for a slow reader.
CHUNK: Final = 32 * 1024
#: The target of WATCH that stands for every game.
EVERYTHING: Final = "*"
_CHUNK_MARK = ChunkMark()


class ChunkedSender:
    """Sends chunks; a connection may take `limit_ms` for each."""

    def __init__(self, out: Outbox, deadlines: Deadlines, limit_ms: int) -> None:
        self._out = out
        self._deadlines = deadlines
        self._limit = limit_ms * NS_PER_MS
        #: The connections to which a chunk is on its way.
        self.busy: set[int] = set()

    def send(self, peer: Peer, data: bytes, now: int) -> None:
        """Send a chunk after which there is more; its connection is `busy` until `flushed`."""
        self.busy.add(peer.conn)
        self._out.effects.append(Send(peer.conn, data, _CHUNK_MARK))
        self._deadlines.set((DeadlineKind.CHUNK, peer.conn), now + self._limit)

    def flushed(self, peer: Peer) -> None:
        """The chunk has reached the socket, or the connection is gone."""
        if peer.conn in self.busy:
            self.busy.remove(peer.conn)
            self._deadlines.set((DeadlineKind.CHUNK, peer.conn), None)


class _Watched:
    """A game that can be watched: `shown` lines are past the delay; `viewers` have been sent all of them."""

    __slots__ = ("game_id", "shown", "transcript", "viewers")

    def __init__(self, game_id: str, transcript: Transcript, viewers: dict[int, Peer]) -> None:
        self.game_id = game_id
        self.transcript = transcript
        self.viewers = viewers
        self.shown = 0


class Spectators:
    """The games that can be watched, by number, and who watches them; `delay` is in ns."""

    def __init__(self, delay: int, chunks: ChunkedSender, out: Outbox, deadlines: Deadlines) -> None:
        self._delay = delay
        self._chunks = chunks
        self._out = out
        self._deadlines = deadlines
        self._games: dict[int, _Watched] = {}
        self._everything: dict[int, Peer] = {}
        #: The cursor of each connection in each game in which it is behind the viewers.
        self._behind: dict[int, dict[int, int]] = {}
        #: What has happened since then is not shown.
        self._frozen_at: int | None = None
        #: Whether the page of this process reads the transcripts.
        self._observed = False
        #: How many connections watch, with one for this process.
        self.watchers = 0

    @property
    def idle(self) -> bool:
        """Whether every line has been shown to all who watch."""
        return not self._games

    def open(self, number: int, game_id: str, transcript: Transcript) -> None:
        """Game `number` can be watched from now on."""
        self._games[number] = _Watched(game_id, transcript, dict(self._everything))

    def freeze(self, at: int) -> None:
        """Nothing that has happened since is shown to who watches."""
        self._frozen_at = at

    def watch(self, peer: Peer, target: str, now: int) -> None:
        """Subscribe `peer` to a game, or to every game (`*`). Raises ProtocolError: no-such-game."""
        if target == EVERYTHING:
            self._everything[peer.conn] = peer
            numbers = list(self._games)
        else:
            numbers = [number for number, game in self._games.items() if game.game_id == target]
            if not numbers:
                raise ProtocolError(ErrorCode.NO_SUCH_GAME, "no such game is being played")
        behind = self._behind.setdefault(peer.conn, {})
        self._count()
        for number in numbers:
            # Who watches `*` may ask for a game again, and must not get its lines twice.
            if peer.conn not in self._games[number].viewers:
                behind.setdefault(number, 0)
        self.serve(peer, now)

    def serve(self, peer: Peer, now: int) -> None:
        """Send `peer` the next chunk of the games in which it is behind, unless one is on its way."""
        behind = self._behind.get(peer.conn)
        # One chunk at a time bounds what is buffered for a slow reader.
        if not behind or peer.conn in self._chunks.busy:
            return
        data = b""
        while behind and len(data) < CHUNK:
            data += self._read_on(peer, behind, CHUNK - len(data), now)
        if behind:
            self._chunks.send(peer, data, now)
        else:
            self._send(peer, data)

    def _read_on(self, peer: Peer, behind: dict[int, int], size: int, now: int) -> bytes:
        """The next lines of the first game in which `peer` is behind, about `size` bytes."""
        number, begin = next(iter(behind.items()))
        self._show(number, now)
        game = self._games[number]
        data, behind[number], _ = game.transcript.read(begin, SPECTATORS, size, game.shown)
        if behind[number] == game.shown:
            del behind[number]
            game.viewers[peer.conn] = peer
            self._config(number)
        return data

    def leave(self, peer: Peer) -> None:
        """The connection is gone."""
        if self._everything.pop(peer.conn, None) is None and peer.conn not in self._behind:
            return
        for game in self._games.values():
            game.viewers.pop(peer.conn, None)
        for number in self._behind.pop(peer.conn, ()):
            self._config(number)
        self._count()

    def observe(self, now: int, *, on: bool) -> None:
        """Tell how far each transcript may be shown, now and from now on; or no longer."""
        self._observed = False  # a Show for each game, also for one of which nothing new may be shown
        for number, game in self._games.items() if on else ():
            self._show(number, now)
            if game.shown:
                self._out.effects.append(Show(game.transcript, game.shown))
        self._observed = on
        for number in list(self._games) if on else ():
            self._config(number)
        self._count()

    def _count(self) -> None:
        self.watchers = len(self._behind) + self._observed

    def update(self, number: int, now: int) -> None:
        """Lines were added to game `number`, or the delay of a line has passed."""
        game = self._games.get(number)
        # Without viewers nothing is cut out; who comes later reads from the first line.
        if game is not None and (game.viewers or self._observed or game.transcript.closed):
            self._show(number, now)
            self._config(number)

    def _show(self, number: int, now: int) -> None:
        """Show the lines whose delay has passed: to all viewers at once, if they fit into a chunk."""
        game = self._games[number]
        begin, moments = game.shown, game.transcript.moments
        until = shown_until(now, self._delay, self._frozen_at)
        if max(moments[begin:], default=until) <= until:  # nearly always, and of a whole game at its end
            game.shown = len(moments)
        while game.shown < len(moments) and moments[game.shown] <= until:
            game.shown += 1
        if self._observed and game.shown > begin:
            self._out.effects.append(Show(game.transcript, game.shown))
        if not game.viewers:
            return
        data, end, _ = game.transcript.read(begin, SPECTATORS, CHUNK, game.shown)
        if end == game.shown:
            for peer in game.viewers.values():
                self._send(peer, data)
            return
        # More than a chunk at once, as after a long stall: each viewer gets it at its own pace.
        late, game.viewers = game.viewers, {}
        for peer in late.values():
            self._behind[peer.conn][number] = begin
        for peer in late.values():
            self.serve(peer, now)

    def _send(self, peer: Peer, data: bytes) -> None:
        if data:
            self._out.effects.append(Send(peer.conn, data))

    def _config(self, number: int) -> None:
        """Set the moment of the next line, or forget a game that is closed and shown to all."""
        game = self._games[number]
        moments, at = game.transcript.moments, None
        if game.shown < len(moments):
            # Without readers only the last line counts, as the game is forgotten behind it: who comes
            # before is shown what may be shown then.
            added = moments[game.shown] if game.viewers or self._observed else moments[-1]
            at = added + self._delay
            if shown_until(at, self._delay, self._frozen_at) < added:
                at = None
        self._deadlines.set((DeadlineKind.FEED, number), at)
        # Kept until the slowest has read OVER.
        if game.transcript.closed and at is None and not self._awaited(number):
            del self._games[number]

    def _awaited(self, number: int) -> bool:
        return any(number in behind for behind in self._behind.values())
