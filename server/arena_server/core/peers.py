"""What the contest keeps of a connection and of a bot, and the way out for effects.

It must not know: games, the order of play, why something is sent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from arena_protocol.errors import ErrorCode, ProtocolError
from arena_protocol.messages import Error, ServerMessage, Turn
from arena_protocol.session import ServerSession
from arena_server.core.clock import Lag
from arena_server.core.effects import Close, Effect, Journal, Mute, Note, Send, Unmute
from arena_server.core.journal import Entry
from arena_server.core.ratelimit import Bucket

if TYPE_CHECKING:
    from arena_server.core.games import Table

FLOODED: Final = ProtocolError(ErrorCode.FLOOD, "too many lines that nothing asked for")


@dataclass(slots=True, eq=False)
class Peer:
    """One connection; `player` is None before log-in, and for one who may only watch.

    `turn` is a TURN on its way that the socket has not taken yet. `unasked` counts lines
    outside games. While it is `busy` a portion is on its way to its socket: see `portions.py`.
    """

    conn: int
    address: str
    session: ServerSession = field(default_factory=ServerSession)
    player: Player | None = None
    turn: tuple[Turn, bytes] | None = None
    unasked: int = 0
    chatter: Bucket = field(default_factory=Bucket)
    muted: bool = False
    lag: Lag = field(default_factory=Lag)
    busy: bool = False

    @property
    def seated(self) -> tuple[Player, Table] | None:
        """Its player and the table that this one sits at; None outside games."""
        player = self.player
        return None if player is None or player.table is None else (player, player.table)


@dataclass(slots=True, eq=False)
class Player:
    """One entrant; `table` and `seat` while it sits in a game. Who does not play may only watch.

    `resume` is the digest of its resume key. `barred`: paired no more, because of
    `faulty_games` beyond those `forgiven`, or because it was `kicked`. `gone`: away for so long
    that nobody waits for it.
    """

    number: int
    name: str
    token_sha256: str | None
    plays: bool = True
    peer: Peer | None = None
    resume: str | None = None
    table: Table | None = None
    seat: int = 0
    faulty_games: int = 0
    forgiven: int = 0
    kicked: bool = False
    barred: bool = False
    gone: bool = False


class Outbox:
    """Collects effects in order, and walks the session of each peer along."""

    __slots__ = ("_effects", "_entries")

    def __init__(self) -> None:
        self._effects: list[Effect] = []
        self._entries: list[Entry] = []

    def drain(self) -> list[Effect]:
        """All effects since the last call; what has to be durable before stands first."""
        effects, self._effects = self._effects, []
        if self._entries:
            effects.insert(0, Journal(tuple(self._entries)))
            self._entries = []
        return effects

    def journal(self, *entries: Entry) -> None:
        """Add what has to be durable before any effect of this event is carried out."""
        self._entries += entries

    def add(self, effect: Effect) -> None:
        """Add any effect."""
        self._effects.append(effect)

    def say(self, peer: Peer, message: ServerMessage) -> None:
        """Send one message."""
        self._effects.append(Send(peer.conn, peer.session.send(message)))

    def error(self, peer: Peer, problem: ProtocolError) -> None:
        """Send ERROR."""
        self.say(peer, Error(problem.code, problem.text, problem.retry_after))

    def close(self, peer: Peer) -> None:
        """Close the connection once all is sent."""
        self._effects.append(Close(peer.conn))

    def mute(self, peer: Peer) -> None:
        """Read nothing more from the peer."""
        peer.muted = True
        self._effects.append(Mute(peer.conn))

    def unmute(self, peer: Peer) -> None:
        """Read from the peer again."""
        if peer.muted:
            peer.muted = False
            self._effects.append(Unmute(peer.conn))

    def note(self, level: str, event: str, **fields: object) -> None:
        """Tell the log and the progress display."""
        self._effects.append(Note(level, event, fields))
