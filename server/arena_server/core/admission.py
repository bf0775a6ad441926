"""How many connections of each kind a server holds: no kind keeps out a bot with its key.

A connection is new until its HELLO. Then it is a player, in a slot of its bot, or a guest, which watches
or fetches a log.

    places      all connections, without one for each slot of the contests and a few that stay free
    guests      some places are kept for log-ins; an address has no more than its share
    new         the rest; where none is left, the oldest of the address with most of them gives way, so that a
                client that sends HELLO at once gets in
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from arena_protocol.errors import ErrorCode, ProtocolError
from arena_server.terms.config import GUESTS_PER_ADDRESS

#: Places that guests leave for log-ins, or half of them all. The listener accepts 500 connections a second,
#: so a silent flood takes half a second to push out a client that is about to say HELLO.
LOGIN_PLACES: Final = 256
#: Connections beyond all places: a new one is accepted before the oldest gives way, and a seat that is
#: taken over has two until the entry with its new key is durable and the old one is closed.
SPARE: Final = 8
#: Connections beside the slots without which a server does not start.
LEAST_PLACES: Final = 16
#: New connections at once: as many as the listener accepts in a burst, when all bots of a contest come.
MOST_NEW: Final = 1_000

CROWDED: Final = ProtocolError(
    ErrorCode.FULL, "too many clients have not said HELLO yet; say it at once, or try later"
)
_NO_GUESTS: Final = ProtocolError(ErrorCode.FULL, "the server has as many spectators as it may; try later")
_NO_MORE_OF_ADDRESS: Final = ProtocolError(
    ErrorCode.FULL, "the server has as many spectators of your address as it may; try later"
)


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The most connections of one server; `guests` None: all that is left without bots and log-ins."""

    connections: int
    guests: int | None = None
    guests_per_address: int = GUESTS_PER_ADDRESS


class Admission:
    """The open connections that are not players, by address. `reserved`: places for slots that may come."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.reserved = 0
        self._limits = limits
        self._new = _ByAddress()
        self._guests = _ByAddress()

    @property
    def _places(self) -> int:
        return max(2, self._limits.connections - self.reserved - SPARE)

    def check_places(self, slots: int) -> None:
        """Raise ValueError unless there are places for this many slots more."""
        needed = self.reserved + slots + LEAST_PLACES
        if needed > self._limits.connections:
            raise ValueError(
                f"no place for it: {self._limits.connections} connections are {self.reserved} slots of bots "
                f"and {LEAST_PLACES} for clients that log in or watch; raise server.max_connections"
            )

    def open(self, conn: int, host: str) -> int | None:
        """Count a new connection. Returns the one that has to give way, if there is no room for all."""
        self._new.add(conn, host)
        room = min(MOST_NEW, self._places - len(self._guests))
        return self._new.oldest_of_the_most() if len(self._new) > room else None

    def check_guest(self, host: str) -> None:
        """Raise ProtocolError, code `full`, if there is no place for one more guest of this address."""
        places = self._places
        most = places - min(LOGIN_PLACES, places // 2)
        if self._limits.guests is not None:
            most = min(most, self._limits.guests)
        if len(self._guests) >= most:
            raise _NO_GUESTS
        if self._guests.of(host) >= self._limits.guests_per_address:
            raise _NO_MORE_OF_ADDRESS

    def add_guest(self, conn: int, host: str) -> None:
        self._guests.add(conn, host)

    def logged_in(self, conn: int) -> None:
        """The connection is not new any more."""
        self._new.discard(conn)

    def released(self, conn: int) -> None:
        """The connection is gone."""
        self._new.discard(conn)
        self._guests.discard(conn)


class _ByAddress:
    """Connections by the network that they come from, the oldest first."""

    def __init__(self) -> None:
        self._of: dict[str, dict[int, None]] = {}
        self._networks: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._networks)

    def of(self, host: str) -> int:
        return len(self._of.get(network_of(host), ()))

    def add(self, conn: int, host: str) -> None:
        network = self._networks[conn] = network_of(host)
        self._of.setdefault(network, {})[conn] = None

    def discard(self, conn: int) -> None:
        if (network := self._networks.pop(conn, None)) is not None:
            conns = self._of[network]
            del conns[conn]
            if not conns:
                del self._of[network]

    def oldest_of_the_most(self) -> int:
        crowded = max(self._of, key=lambda network: len(self._of[network]))
        return next(iter(self._of[crowded]))


def network_of(host: str) -> str:
    """What counts as one address: of IPv6 the first 64 bits, all of which one customer has."""
    if ":" not in host:
        return host
    from ipaddress import IPv6Network  # 3 ms, for few servers

    try:
        return str(IPv6Network((host.partition("%")[0], 64), strict=False))
    except ValueError:
        return host
